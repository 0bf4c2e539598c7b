"""A disk that is full, broken, slow to take bytes or interrupted: a typed refusal, or the whole change."""

import errno
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from dying import AUTHOR, NEW, OLD, SCENES, counted, scene, sha

from handrail.fs.host import HostFileSystem
from handrail.model.errors import BackendFailed, HandrailError
from handrail.model.files import Bytes
from handrail.model.paths import seal


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("name", SCENES)
def test_a_fault_at_any_call_leaves_everything_as_it_was(tmp_path: Path, name: str, number: int) -> None:
    def fail(_: str) -> None:
        raise OSError(number, os.strerror(number))

    refused = 0
    for call in range(1, 400):
        case = scene(tmp_path / str(call), name)
        store, writer = case.open(f"owner {call}")
        with ExitStack() as stack:
            for patch in counted(call, fail):
                stack.enter_context(patch)
            try:
                writer.apply(case.changes, AUTHOR)
                error = None
            except HandrailError as caught:
                error = caught
        store.close()
        outcome = case.judge()
        # A fault in what needn't succeed (a directory's sync after a sweep, say) may pass; then all is done.
        assert set(outcome) == ({"o"} if error else {"n"})
        shutil.rmtree(case.root)
        refused += error is not None
        if error is None and call > refused + 10:
            break
    assert refused > 5


def test_short_writes_and_interruptions_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = os.write
    monkeypatch.setattr(os, "write", lambda number, data: plain(number, bytes(data)[:997]))
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        fs, path = HostFileSystem(), seal(os.path.realpath(tmp_path / "a"))
        fs.replace(path, Bytes(OLD), None, None)
        for _ in range(5):
            fs.replace(path, Bytes(NEW), None, sha(OLD))
            fs.replace(path, Bytes(OLD), None, sha(NEW))
        os.link(path.text, f"{path.text}2")
        fs.replace(path, Bytes(NEW), None, sha(OLD))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert Path(path.text).read_bytes() == NEW


def test_a_write_that_takes_nothing_is_a_fault_not_a_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "write", lambda *_: 0)
    with pytest.raises(BackendFailed) as caught:
        HostFileSystem().replace(seal(os.path.realpath(tmp_path / "a")), Bytes(b"x"), None, None)
    assert caught.value.kind == "io_error"
    assert os.listdir(tmp_path) == []


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "tiny"
    place.mkdir()
    mounted = os.geteuid() == 0 and shutil.which("mount")
    if (
        not mounted
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tiny", str(place)], check=False).returncode
    ):
        pytest.skip("only root can mount a file system of 64 KiB")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("linked", [False, True])
def test_on_a_full_file_system_the_old_file_stays_whole(tiny: Path, linked: bool) -> None:
    path = tiny / "a"
    path.write_bytes(OLD)
    if linked:
        os.link(path, tiny / "b")
    with pytest.raises(BackendFailed) as caught:
        HostFileSystem().replace(seal(str(path)), Bytes(b"x" * 70_000), None, sha(OLD))
    assert caught.value.kind == "disk_full"
    assert path.read_bytes() == OLD
    assert sorted(os.listdir(tiny)) == (["a", "b"] if linked else ["a"])


def test_a_mounted_file_is_written_in_place(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(OLD)
    (tmp_path / "a").write_bytes(b"")
    command = ["mount", "--bind", str(tmp_path / "source"), str(tmp_path / "a")]
    if os.geteuid() or not shutil.which("mount") or subprocess.run(command, check=False).returncode:
        pytest.skip("only root can mount a file")
    try:
        written = HostFileSystem().replace(seal(os.path.realpath(tmp_path / "a")), Bytes(NEW), None, sha(OLD))
    finally:
        subprocess.run(["umount", str(tmp_path / "a")], check=True)
    assert written.in_place
    assert (tmp_path / "source").read_bytes() == NEW
    assert sorted(os.listdir(tmp_path)) == ["a", "source"]
