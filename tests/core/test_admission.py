"""What is refused at the door, and what a refusal is remembered for."""

from pathlib import Path

import pytest

import handrail


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "inner").mkdir(parents=True)
    (root / "a.txt").write_bytes(b"one\n")
    return root


def test_a_root_can_be_searched_after_its_removal_was_refused(tmp_path: Path, root: Path) -> None:
    with handrail.open(root=root, approve="auto", data_dir=tmp_path / "data") as files:
        assert files.call("edit_file", {"mode": "remove", "path": "."}).kind == "path_denied"
        assert files.call("find_files", {"queries": [{}]}).ok


def test_a_directory_that_was_refused_is_asked_for_again_when_the_roots_change(tmp_path: Path, root: Path) -> None:
    with handrail.open(root=root, data_dir=tmp_path / "data") as files:
        files.narrow([str(root / "inner")])
        assert files.call("find_files", {"queries": [{"dir": str(root)}]}).kind == "path_denied"
        files.narrow([str(root)])
        assert files.call("find_files", {"queries": [{"dir": str(root)}]}).ok


def test_a_tree_with_a_protected_place_in_it_is_not_moved_aside_without_a_person(tmp_path: Path, root: Path) -> None:
    for name in (".git/hooks/pre-commit", "keys/.env"):
        path = root / "inner" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x\n")
        with handrail.open(root=root, approve="auto", data_dir=tmp_path / "data") as files:
            assert files.call("edit_file", {"mode": "remove", "path": "inner"}).kind == "approval_unavailable"
        assert path.exists()
        path.unlink()


def test_a_workspace_that_requires_approval_holds_against_auto(tmp_path: Path, root: Path) -> None:
    (root / "handrail.toml").write_bytes(b"[tools.fs]\nrequire_approval = true\n")
    with handrail.open(root=root, approve="auto", data_dir=tmp_path / "data") as files:
        assert files.call("edit_file", {"path": "new.txt", "content": "x"}).kind == "approval_unavailable"


def test_a_recorded_secret_is_asked_for_when_its_file_is_gone(tmp_path: Path, root: Path) -> None:
    with handrail.open(root=root, approve=lambda _: True, data_dir=tmp_path / "data") as files:
        files.call("edit_file", {"path": ".env", "content": "KEY=secret-value\n"}).unwrap()
        files.call("edit_file", {"mode": "remove", "path": ".env"}).unwrap()
    assert not (root / ".env").exists()
    with handrail.open(root=root, approve="auto", data_dir=tmp_path / "data") as files:
        for arguments in ({"paths": [".env"]}, {"mode": "read", "version": 1}, {"mode": "read", "version": 2}):
            result = files.call("file_history", arguments)
            assert "secret-value" not in result.text + str(result.payload), arguments
