"""Others who write at the worst moment: their bytes stay, ours are refused as stale."""

import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.fs import kernel, replace
from handrail.fs.host import HostFileSystem
from handrail.model.errors import OutOfDate
from handrail.model.files import Bytes
from handrail.model.paths import seal

FS = HostFileSystem()
OLD = hashlib.sha256(b"old").hexdigest()


def written_in_place(path: Path) -> None:
    path.write_bytes(b"their")


def renamed_over(path: Path) -> None:
    (path.parent / "other").write_bytes(b"their")
    os.rename(path.parent / "other", path)


def linked(path: Path) -> None:
    (path.parent / "target").write_bytes(b"their")
    path.unlink()
    path.symlink_to("target")


@pytest.mark.parametrize("intrude", [written_in_place, renamed_over, linked])
@pytest.mark.parametrize("verb", ["replace", "unlink"])
def test_a_writer_between_the_last_look_and_the_rename_keeps_its_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, intrude: Callable[[Path], None], verb: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    name = "exchange" if verb == "replace" else "rename_where_nothing_stands"
    plain = getattr(kernel, name)
    calls: list[int] = []

    def late(*arguments: object) -> bool:
        if not calls:
            intrude(path)
        calls.append(1)
        return bool(plain(*arguments))

    monkeypatch.setattr(kernel, name, late)
    real = seal(os.path.realpath(path))
    with pytest.raises(OutOfDate) as caught:
        FS.replace(real, Bytes(b"ours"), None, OLD) if verb == "replace" else FS.unlink(real, OLD)
    assert caught.value.kind == "stale"
    assert path.read_bytes() == b"their"
    assert path.is_symlink() == (intrude is linked)
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".handrail")]


def test_a_file_made_meanwhile_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    plain = kernel.rename_where_nothing_stands

    def late(source: tuple[int, str], destination: tuple[int, str]) -> bool:
        path.write_bytes(b"their")
        return plain(source, destination)

    monkeypatch.setattr(kernel, "rename_where_nothing_stands", late)
    with pytest.raises(OutOfDate):
        FS.replace(seal(os.path.realpath(path)), Bytes(b"ours"), None, None)
    assert path.read_bytes() == b"their"
    assert os.listdir(tmp_path) == ["file"]


def test_who_replaces_ours_before_it_is_swapped_back_is_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    plain = kernel.exchange
    calls: list[int] = []

    def late(directory: int, one: str, other: str) -> bool:
        if len(calls) < 2:
            (tmp_path / "other").write_bytes(b"their%d" % len(calls))
            os.rename(tmp_path / "other", path)
        calls.append(1)
        return plain(directory, one, other)

    monkeypatch.setattr(kernel, "exchange", late)
    with pytest.raises(OutOfDate):
        FS.replace(seal(os.path.realpath(path)), Bytes(b"ours"), None, OLD)
    assert path.read_bytes() == b"their1"
    assert os.listdir(tmp_path) == ["file"]


def test_readers_see_the_old_or_the_new_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    versions = [bytes([65 + i]) * 50_000 for i in range(4)]
    path.write_bytes(versions[0])
    real = seal(os.path.realpath(path))
    stop = threading.Event()
    torn: list[int] = []

    def read() -> None:
        while not stop.is_set():
            data = path.read_bytes()
            if data not in versions or FS.open(real).content().bytes() not in versions:
                torn.append(len(data))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for turn in range(100):
        old, new = versions[turn % 4], versions[(turn + 1) % 4]
        FS.replace(real, Bytes(new), None, hashlib.sha256(old).hexdigest())
    stop.set()
    for reader in readers:
        reader.join()
    assert torn == []


def test_a_living_writers_temporary_file_survives_a_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = seal(os.path.realpath(tmp_path / "file"))
    swept: list[int] = []
    plain = replace.write_all

    def slow(*arguments: object) -> None:
        swept.append(FS.sweep(seal(os.path.realpath(tmp_path))))
        plain(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(replace, "write_all", slow)
    FS.replace(real, Bytes(b"x"), None, None)
    assert swept == [0]
    assert (tmp_path / "file").read_bytes() == b"x"
