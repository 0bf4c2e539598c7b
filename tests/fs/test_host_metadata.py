"""What a replacement keeps of the file that stood there."""

import hashlib
import os
from pathlib import Path

import pytest

from handrail.fs import kernel
from handrail.fs.host import HostFileSystem
from handrail.model.errors import BackendFailed
from handrail.model.files import Bytes
from handrail.model.paths import RealPath, seal

FS = HostFileSystem()
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def real(path: Path) -> RealPath:
    return seal(os.path.realpath(path))


def as_nobody(act: object) -> int:
    """Run `act` in a child without rights; 0 = it went well, 1 = it raised, 2 = permission denied, typed."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            act()  # type: ignore[operator]
            code = 0
        except BackendFailed as error:
            code = 2 if error.kind == "permission_denied" else 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture
def open_dir(tmp_path: Path) -> Path:
    """A directory that anybody can reach."""
    place = tmp_path
    while place != Path("/tmp") and place != place.parent:
        os.chmod(place, 0o755)
        place = place.parent
    return tmp_path


def test_extended_attributes_stay(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, "user.comment", b"hello")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    FS.replace(real(path), Bytes(b"new"), None, sha(b"old"))
    assert os.getxattr(path, "user.comment") == b"hello"
    assert path.read_bytes() == b"new"


def acl(*entries: tuple[int, int, int]) -> bytes:
    """An access list as the kernel stores it: version 2, then (tag, rights, id) a time."""
    return b"\2\0\0\0" + b"".join(
        tag.to_bytes(2, "little") + rights.to_bytes(2, "little") + number.to_bytes(4, "little", signed=False)
        for tag, rights, number in entries
    )


ANY = 0xFFFFFFFF
FOR_NOBODY = acl((1, 6, ANY), (2, 4, 65534), (4, 4, ANY), (16, 4, ANY), (32, 0, ANY))


def test_access_lists_stay(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, "system.posix_acl_access", FOR_NOBODY)
    except OSError:
        pytest.skip("this file system has no access lists")
    mode = os.stat(path).st_mode
    FS.replace(real(path), Bytes(b"new"), None, sha(b"old"))
    assert os.getxattr(path, "system.posix_acl_access") == FOR_NOBODY
    assert os.stat(path).st_mode == mode


def test_a_directorys_default_list_doesnt_widen_an_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    os.chmod(path, 0o660)
    try:
        os.setxattr(tmp_path, "system.posix_acl_default", FOR_NOBODY)
    except OSError:
        pytest.skip("this file system has no access lists")
    FS.replace(real(path), Bytes(b"new"), None, sha(b"old"))
    assert "system.posix_acl_access" not in os.listxattr(path)
    assert os.stat(path).st_mode & 0o777 == 0o660


@ROOT_ONLY
def test_owner_and_group_stay(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    os.chown(path, 65534, 65533)
    os.chmod(path, 0o4755)
    written = FS.replace(real(path), Bytes(b"new"), None, sha(b"old"))
    found = os.stat(path)
    assert (found.st_uid, found.st_gid, found.st_mode & 0o7777, written.in_place) == (65534, 65533, 0o4755, False)


@ROOT_ONLY
def test_an_owner_that_cant_be_given_is_kept_by_writing_in_place(open_dir: Path) -> None:
    os.chmod(open_dir, 0o777)
    path = open_dir / "file"
    path.write_bytes(b"old")
    os.chmod(path, 0o666)
    assert as_nobody(lambda: FS.replace(real(path), Bytes(b"new"), None, sha(b"old"))) == 0
    assert (os.stat(path).st_uid, path.read_bytes()) == (0, b"new")
    assert os.listdir(open_dir) == ["file"]


@ROOT_ONLY
def test_in_a_closed_directory_the_file_is_written_in_place(open_dir: Path) -> None:
    path = open_dir / "file"
    path.write_bytes(b"old")
    os.chown(path, 65534, 65534)
    os.chmod(open_dir, 0o555)
    assert as_nobody(lambda: FS.replace(real(path), Bytes(b"new and longer"), None, sha(b"old"))) == 0
    assert path.read_bytes() == b"new and longer"
    assert as_nobody(lambda: FS.replace(real(open_dir / "new"), Bytes(b"x"), None, None)) == 2


@ROOT_ONLY
def test_a_read_only_file_is_refused_though_its_directory_is_open(open_dir: Path) -> None:
    os.chmod(open_dir, 0o777)
    path = open_dir / "file"
    path.write_bytes(b"old")
    os.chown(path, 65534, 65534)
    os.chmod(path, 0o444)
    assert as_nobody(lambda: FS.replace(real(path), Bytes(b"new"), None, sha(b"old"))) == 2
    assert path.read_bytes() == b"old"
    assert os.listdir(open_dir) == ["file"]


@ROOT_ONLY
def test_unreadable_things_are_typed(open_dir: Path) -> None:
    path = open_dir / "file"
    path.write_bytes(b"old")
    os.chmod(path, 0)
    closed = open_dir / "closed"
    closed.mkdir(0o700)
    assert as_nobody(lambda: FS.open(real(path))) == 2
    assert as_nobody(lambda: FS.entries(real(closed))) == 2
    assert as_nobody(lambda: FS.stat(real(closed / "x"))) == 2
    assert as_nobody(lambda: FS.resolve(f"{open_dir}/closed/x/y")) == 2


def test_the_temporary_file_is_never_wider_than_the_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    os.chmod(path, 0o600)
    seen: list[int] = []
    exchange = kernel.exchange

    def watched(directory: int, one: str, other: str) -> bool:
        seen.append(os.stat(tmp_path / one).st_mode & 0o777)
        return exchange(directory, one, other)

    real_write = os.write

    def looked(number: int, data: bytes) -> int:
        seen.extend(os.stat(tmp_path / name).st_mode & 0o777 for name in os.listdir(tmp_path) if name != "file")
        return real_write(number, data)

    monkeypatch.setattr(kernel, "exchange", watched)
    monkeypatch.setattr(os, "write", looked)
    FS.replace(real(path), Bytes(b"new"), None, sha(b"old"))
    assert seen
    assert set(seen) == {0o600}


@pytest.mark.parametrize("call", ["exchange", "rename_where_nothing_stands"])
def test_without_the_kernels_help_the_same_things_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    monkeypatch.setattr(kernel, call, lambda *_: False)
    monkeypatch.setattr(kernel, "open_without_links", lambda *_: None)
    path = tmp_path / "file"
    FS.replace(real(path), Bytes(b"one"), None, None)
    os.chmod(path, 0o640)
    FS.replace(real(path), Bytes(b"two"), None, sha(b"one"))
    assert (path.read_bytes(), os.stat(path).st_mode & 0o777) == (b"two", 0o640)
    assert os.listdir(tmp_path) == ["file"]
    FS.unlink(real(path), sha(b"two"))
    assert os.listdir(tmp_path) == []
