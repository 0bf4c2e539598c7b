"""What may fail alone fails alone, and what was done by then is told."""

import errno
import sys
from pathlib import Path

import pytest

import handrail
from handrail.fs.failures import failure
from handrail.fs.host import HostFileSystem
from handrail.model.files import Stat
from handrail.model.paths import RealPath


def test_a_directory_that_cant_be_looked_at_fails_no_other_path_of_an_undo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    (root / "dir").mkdir(parents=True)
    (root / "a.txt").write_text("a\n")
    (root / "dir" / "b.txt").write_text("b\n")
    plain = HostFileSystem.stat

    def stat(self: HostFileSystem, path: RealPath) -> Stat | None:
        if path.name == "dir" and sys._getframe(1).f_code.co_name == "_is_directory":
            raise failure(OSError(errno.EIO, "Input/output error"), path.text)
        return plain(self, path)

    with handrail.open(root=root, approve="auto", data_dir=tmp_path / "data") as files:
        with files.task("remove") as task:
            files.call("edit_file", {"mode": "remove", "path": "a.txt"}).unwrap()
            files.call("edit_file", {"mode": "remove", "path": "dir/b.txt"}).unwrap()
        monkeypatch.setattr(HostFileSystem, "stat", stat)
        result = files.call("edit_file", {"mode": "restore", "task_id": task})
    assert result.ok
    assert [file["kind"] for file in result.payload["files"]] == ["restored", "restored"]
    assert (root / "a.txt").read_text() == "a\n"
    assert (root / "dir" / "b.txt").read_text() == "b\n"
