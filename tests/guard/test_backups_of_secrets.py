"""A backup copy of a secret is a secret."""

from pathlib import Path

import pytest

import handrail
from handrail.guard.sensitive import Sensitive


@pytest.mark.parametrize(
    "name",
    [
        "server.key~",
        "k.pem.bak",
        ".npmrc.bak",
        "id_rsa.old",
        ".server.key.swp",
        "a.p12.orig.bak",
        ".netrc.save",
        "K.PEM.BAK",
    ],
)
def test_a_backup_copy_of_a_secret_is_a_secret(tmp_path: Path, name: str) -> None:
    assert Sensitive().sensitive(f"/p/{name}")
    root = tmp_path / "project"
    root.mkdir()
    (root / name).write_bytes(b"SECRET42\n")
    with handrail.open(root=root, approve="auto", data_dir=tmp_path / "data") as files:
        found = files.call("Grep", {"pattern": "SECRET42", "path": str(root), "output_mode": "content"})
        assert "SECRET42" not in str(found.payload.get("matches"))
        assert found.payload["skipped"] == {"sensitive": 1}
        assert files.call("read_files", {"files": [{"path": name}]}).kind == "approval_unavailable"


@pytest.mark.parametrize("name", ["notes.bak", "main.py~", ".env.example", "swp", "~", ".bak"])
def test_other_backups_are_not(name: str) -> None:
    assert not Sensitive().sensitive(f"/p/{name}")
