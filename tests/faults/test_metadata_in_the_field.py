"""Every fault kind of "File metadata and atomic writes" that was seen in the field, over both families.

| seen in the field | shown here by |
| --- | --- |
| the mode is dropped, the temporary file wider | `test_the_mode_stays`, tests/fs/test_host_metadata.py |
| new files ignore the umask | `test_new_files_follow_the_umask` |
| a link is replaced by a file | `test_an_edit_through_a_link_...`, `test_loops_and_links_to_nothing_...` |
| hard links are split | `test_hard_links_stay_one_file_and_the_receipt_says_how` |
| the owner changes | `test_owner_group_attributes_and_access_lists_stay` |
| a reader's own handle blocks the file | `test_a_read_leaves_no_handle_behind` |
| truncate, then write | tests/faults/test_kill.py, tests/faults/test_disk.py |
| a closed temporary file isn't there yet when it is opened again | `test_a_temporary_file_is_opened_once` |
"""

import os
from pathlib import Path

import pytest
from either_family import both, good, opened

from handrail.fs.drafts import TEMPORARY


@both
@pytest.mark.parametrize("mode", [0o755, 0o640, 0o600, 0o444 | 0o200, 0o4755, 0o777])
def test_the_mode_stays(tmp_path: Path, family: str, mode: int) -> None:
    with opened(tmp_path, family) as tools:
        path = tools.root / "a.txt"
        path.write_bytes(b"old\n")
        path.chmod(mode)
        tools.read("a.txt")
        assert good(tools.edit("a.txt", "old", "new"))
        assert path.stat().st_mode & 0o7777 == mode
        assert good(tools.write("a.txt", "newer\n"))
        assert (path.stat().st_mode & 0o7777, path.read_bytes()) == (mode, b"newer\n")


@both
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_new_files_follow_the_umask(tmp_path: Path, family: str, umask: int) -> None:
    before = os.umask(umask)
    try:
        with opened(tmp_path, family) as tools:
            tools.write("a.txt", "new\n")
            assert (tools.root / "a.txt").stat().st_mode & 0o777 == 0o666 & ~umask
    finally:
        os.umask(before)


@both
def test_an_edit_through_a_link_changes_its_target(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        (tools.root / "real").write_bytes(b"old\n")
        (tools.root / "link").symlink_to("real")
        tools.read("link")
        assert good(tools.edit("link", "old", "new"))
        assert (os.readlink(tools.root / "link"), (tools.root / "real").read_bytes()) == ("real", b"new\n")
        (tmp_path / "outside").write_bytes(b"old\n")
        (tools.root / "out").symlink_to("../outside")
        assert tools.edit("out", "old", "new")["kind"] == "path_denied"
        assert (tmp_path / "outside").read_bytes() == b"old\n"


@both
def test_loops_and_links_to_nothing_are_said(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        (tools.root / "loop").symlink_to("loop")
        (tools.root / "dangling").symlink_to("nothing")
        assert tools.edit("loop", "a", "b")["kind"] == "invalid_path"
        assert tools.write("loop", "a")["kind"] in ("invalid_path", "symlink_refused")
        assert tools.edit("dangling", "a", "b")["kind"] == "not_found"
        assert tools.write("dangling", "a")["kind"] == "symlink_refused"
        assert sorted(os.listdir(tools.root)) == ["dangling", "loop"]


@both
def test_hard_links_stay_one_file_and_the_receipt_says_how(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        one, other = tools.root / "a", tools.root / "b"
        one.write_bytes(b"old\n")
        os.link(one, other)
        tools.read("a")
        answer = tools.edit("a", "old", "new")
        assert good(answer)
        assert (other.read_bytes(), os.path.samefile(one, other)) == (b"new\n", True)
        if family == "batch":
            assert "hard links" in str(answer)


@both
def test_owner_group_attributes_and_access_lists_stay(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        path = tools.root / "a"
        path.write_bytes(b"old\n")
        path.chmod(0o664)
        try:
            os.setxattr(path, "user.comment", b"kept")
        except OSError:
            pytest.skip("this file system has no extended attributes")
        if os.geteuid() == 0:
            os.chown(path, 65534, 65533)
        before = path.stat()
        tools.read("a")
        assert good(tools.edit("a", "old", "new"))
        assert good(tools.write("a", "newer\n"))
        after = path.stat()
        assert (after.st_uid, after.st_gid, after.st_mode) == (before.st_uid, before.st_gid, before.st_mode)
        assert os.getxattr(path, "user.comment") == b"kept"


@both
def test_a_read_leaves_no_handle_behind(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        path = tools.root / "big"
        path.write_bytes(b"a line of a large file\n" * 100_000)
        tools.read("big", limit=10)
        held = [
            os.readlink(f"/proc/self/fd/{n}")
            for n in os.listdir("/proc/self/fd")
            if os.path.islink(f"/proc/self/fd/{n}")
        ]
        assert str(path) not in held


@both
def test_a_temporary_file_is_opened_once(tmp_path: Path, family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opening, made = os.open, list[str]()

    def watched(name: object, flags: int, *more: object, **options: object) -> int:
        if isinstance(name, str) and name in made:
            raise FileNotFoundError(name)  # as a mount has it that shows what was closed only later
        if flags & os.O_CREAT and isinstance(name, str) and TEMPORARY.fullmatch(name):
            made.append(name)
        return opening(name, flags, *more, **options)  # type: ignore[arg-type]

    with opened(tmp_path, family) as tools:
        path = tools.root / "a"
        path.write_bytes(b"old\n")
        tools.read("a")
        monkeypatch.setattr(os, "open", watched)
        assert good(tools.edit("a", "old", "new"))
        monkeypatch.undo()
        assert (made != [], path.read_bytes()) == (True, b"new\n")
