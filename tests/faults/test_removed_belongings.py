"""A file that was removed comes back with what belonged to it: mode, owner, group, attributes, access lists."""

import os
from pathlib import Path

import pytest

import handrail

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def access_list(*entries: tuple[int, int, int]) -> bytes:
    """As the kernel stores it: version 2, then (tag, rights, id) a time."""
    return b"\2\0\0\0" + b"".join(
        tag.to_bytes(2, "little") + rights.to_bytes(2, "little") + number.to_bytes(4, "little")
        for tag, rights, number in entries
    )


ANY = 0xFFFFFFFF
FOR_NOBODY = access_list((1, 6, ANY), (2, 4, 65534), (4, 4, ANY), (16, 4, ANY), (32, 0, ANY))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    path = root / "file"
    path.write_bytes(b"old\n")
    try:
        os.setxattr(path, "user.comment", b"\x00hello\xff")
        os.setxattr(path, "system.posix_acl_access", FOR_NOBODY)
    except OSError:
        pytest.skip("this file system has no extended attributes or access lists")
    return path


def belongings(path: Path) -> tuple[object, ...]:
    found = os.stat(path)
    return found.st_uid, found.st_gid, found.st_mode, {name: os.getxattr(path, name) for name in os.listxattr(path)}


@pytest.mark.parametrize("read_before", [False, True])
@pytest.mark.parametrize("way", ["restore", "undo"])
def test_a_removed_file_comes_back_with_all_that_belonged_to_it(path: Path, way: str, read_before: bool) -> None:
    if os.geteuid() == 0:
        os.chown(path, 65534, 65533)
    before = belongings(path)
    with handrail.open(root=path.parent, approve="auto", data_dir=path.parents[1] / "data") as files:
        if read_before:  # so that the history knows its bytes already when it is removed
            files.call("Edit", {"file_path": str(path), "old_string": "old", "new_string": "new"}).unwrap()
            files.call("Edit", {"file_path": str(path), "old_string": "new", "new_string": "old"}).unwrap()
        with files.task("tidy up") as task:
            files.call("edit_file", {"path": "file", "mode": "remove"}).unwrap()
        assert not path.exists()
        if way == "undo":
            files.call("edit_file", {"mode": "restore", "task_id": task}).unwrap()
        else:
            versions = files.call("file_history", {"path": "file"}).unwrap()["versions"]
            number = next(v["version"] for v in versions if v["action"] != "remove")
            files.call("edit_file", {"path": "file", "mode": "restore", "version": number}).unwrap()
    assert (path.read_bytes(), belongings(path)) == (b"old\n", before)


@ROOT_ONLY
def test_what_may_not_be_given_back_is_said(tmp_path: Path, path: Path) -> None:
    for place in (tmp_path, *tmp_path.parents):
        if place != Path("/") and place != Path("/tmp"):
            os.chmod(place, 0o755)
    os.chmod(path.parent, 0o777)
    (tmp_path / "data").mkdir()
    os.chown(tmp_path / "data", 65534, 65534)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            os.environ["HOME"] = str(tmp_path / "data")
            os.setxattr(path, "user.comment", b"x") if os.access(path, os.W_OK) else None
            with handrail.open(root=path.parent, approve="auto", data_dir=tmp_path / "data" / "d") as files:
                removed = files.call("edit_file", {"path": "file", "mode": "remove"}).unwrap()
                assert removed["kind"] == "removed", removed
                back = files.call("edit_file", {"mode": "restore", "task_id": "current"}).unwrap()
                code = 0 if "couldn't be given back" in str(back) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert path.read_bytes() == b"old\n"
