"""What a workspace is opened with, and what it refuses to start with."""

from pathlib import Path

import pytest

import handrail
from handrail.model.errors import BackendFailed, InvalidCall


def test_a_sandbox_that_is_named_and_missing_is_never_silently_the_host(tmp_path: Path) -> None:
    with pytest.raises(BackendFailed) as refused:
        handrail.open(root=tmp_path, data_dir=tmp_path / "d", settings={"tools.exec.sandbox.backend": "podman"})
    assert refused.value.kind == "backend_unavailable"


def test_auto_without_a_sandbox_says_so_in_the_instructions(tmp_path: Path) -> None:
    settings = {"tools.exec.sandbox.backend": "auto"}
    with handrail.open(root=tmp_path, data_dir=tmp_path / "d", settings=settings) as files:
        assert "No sandbox" in files.instructions()


def test_an_unknown_setting_is_refused_with_the_nearest_known_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidCall, match=r"tools\.fs\.track_read ") as refused:
        handrail.open(root=tmp_path, data_dir=tmp_path / "d", settings={"tools.fs.track_read": True})
    assert "tools.fs.track_reads" in refused.value.hint


def test_a_root_that_is_no_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidCall):
        handrail.open(root=tmp_path / "missing", data_dir=tmp_path / "d")


def test_undoing_is_a_task_of_its_own_and_what_follows_is_another(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    undo = {"mode": "restore", "task_id": "current"}
    with handrail.open(root=root, approve="auto", data_dir=tmp_path / "d") as files:
        files.call("edit_file", {"path": "a.txt", "content": "one\n"}).unwrap()
        files.call("edit_file", undo).unwrap()
        assert not (root / "a.txt").exists()
        files.call("edit_file", undo).unwrap()
        assert (root / "a.txt").read_bytes() == b"one\n"
        files.call("edit_file", {"path": "b.txt", "content": "two\n"}).unwrap()
        files.call("edit_file", undo).unwrap()
        assert (root / "a.txt").exists() and not (root / "b.txt").exists()
