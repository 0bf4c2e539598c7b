"""What a crash left open is decided by the bytes on disk, once, and loses nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.core.apply import Writer
from handrail.core.locks import Locks
from handrail.core.recovery import BLOCK, _torn
from handrail.fs.host import HostFileSystem
from handrail.model.changes import Change
from handrail.model.files import ABSENT, Bytes, FileState, State
from handrail.model.paths import seal
from handrail.store.protocol import Author, Draft, Filter
from handrail.store.sqlite import SqliteStore

AUTHOR = Author(tool="edit_file", session="s", task=None)


def text(data: bytes) -> FileState:
    return FileState(Bytes(data))


@dataclass
class Ground:
    """A directory, and a history in which a dead process left things open."""

    root: Path
    data: Path
    store: SqliteStore

    def name(self, name: str) -> str:
        return f"{self.root}/{name}"

    def dead(self, name: str, *states: State) -> None:
        """Let a process record `states` of a path (the last one as an intent) and die."""
        script = (
            "import os, sys, pickle\n"
            "from handrail.store.sqlite import SqliteStore\n"
            "store = SqliteStore(sys.argv[1], owner='dead')\n"
            "drafts, author = pickle.load(sys.stdin.buffer)\n"
            "store.record(drafts, author)\n"
            "os.kill(os.getpid(), 9)\n"
        )
        import pickle

        drafts = [Draft(path=self.name(name), state=s, action="external") for s in states[:-1]]
        drafts.append(Draft(path=self.name(name), state=states[-1], action="modify"))
        subprocess.run(
            [sys.executable, "-c", script, str(self.data)], input=pickle.dumps((drafts, AUTHOR)), check=False
        )

    def writer(self) -> Writer:
        return Writer(HostFileSystem(), self.store, Locks(str(self.data / "locks")))

    def story(self, name: str) -> list[tuple[str, bytes]]:
        found = self.store.versions(Filter(under=self.name(name)), limit=100)
        assert all(v.status == "done" for v in found)
        return [(v.action, getattr(v.state, "content", Bytes(b"")).bytes()) for v in reversed(found)]


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    root = Path(os.path.realpath(tmp_path / "root"))
    root.mkdir()
    store = SqliteStore(str(tmp_path / "data"), owner="living")
    yield Ground(root, tmp_path / "data", store)
    store.close()


def test_new_bytes_on_disk_mean_it_happened(ground: Ground) -> None:
    (ground.root / "a").write_bytes(b"new")
    ground.dead("a", text(b"old"), text(b"new"))
    assert ground.writer().recover() == 1
    assert ground.story("a") == [("external", b"old"), ("modify", b"new")]
    assert ground.writer().recover() == 0


def test_old_bytes_on_disk_mean_it_never_did(ground: Ground) -> None:
    (ground.root / "a").write_bytes(b"old")
    ground.dead("a", text(b"old"), text(b"new"))
    ground.dead("b", text(b"new"))
    assert ground.writer().recover() == 2
    assert ground.story("a") == [("external", b"old")]
    assert ground.story("b") == []


def test_what_others_wrote_since_stays(ground: Ground) -> None:
    (ground.root / "a").write_bytes(b"their own")
    ground.dead("a", text(b"old"), text(b"new"))
    assert ground.writer().recover() == 1
    assert (ground.root / "a").read_bytes() == b"their own"
    assert ground.story("a") == [("external", b"old"), ("modify", b"new")]


def test_a_torn_write_in_place_is_finished_and_what_stood_there_kept(ground: Ground) -> None:
    old, new = b"o" * 3 * BLOCK, b"n" * 2 * BLOCK
    torn = new[:5000] + old[5000:]
    (ground.root / "a").write_bytes(torn)
    os.link(ground.root / "a", ground.root / "twin")
    ground.dead("a", text(old), text(new))
    assert ground.writer().recover() == 1
    assert (ground.root / "twin").read_bytes() == new
    assert ground.story("a") == [("external", old), ("modify", new), ("external", torn), ("external", new)]


def test_strays_of_the_dead_are_swept(ground: Ground) -> None:
    (ground.root / "a").write_bytes(b"old")
    (ground.root / f".handrail-{'a' * 24}.tmp").write_bytes(b"half")
    ground.dead("a", text(b"old"), text(b"new"))
    ground.writer().recover()
    assert os.listdir(ground.root) == ["a"]


def test_a_directory_that_is_gone_or_a_link_now_stops_nothing(ground: Ground) -> None:
    ground.dead("gone/a", text(b"old"), text(b"new"))
    ground.dead("link/b", text(b"old"), text(b"new"))
    ground.dead("c", text(b"new"))
    (ground.root / "elsewhere").mkdir()
    (ground.root / "link").symlink_to("elsewhere")
    ground.writer().recover()
    assert ground.story("c") == []
    assert os.listdir(ground.root / "elsewhere") == []


def test_the_intents_of_the_living_are_left_alone(ground: Ground, tmp_path: Path) -> None:
    other = SqliteStore(str(ground.data), owner="other, alive")
    other.record([Draft(path=ground.name("a"), state=text(b"new"), action="create")], AUTHOR)
    assert ground.writer().recover() == 0
    newest = ground.store.newest(ground.name("a"))
    assert newest is not None
    assert newest.status == "intended"
    other.close()


@pytest.mark.parametrize(("disk", "kept"), [(b"new", True), (b"old", False)])
def test_an_open_intent_is_decided_by_the_next_change_of_its_path(ground: Ground, disk: bytes, kept: bool) -> None:
    (ground.root / "a").write_bytes(disk)
    ground.dead("a", text(b"old"), text(b"new"))
    ground.writer().apply([Change(seal(ground.name("a")), text(disk), text(b"newest"), "modify")], AUTHOR)
    middle = [("modify", b"new")] if kept else []
    assert ground.story("a") == [("external", b"old"), *middle, ("modify", b"newest")]


SIDES = st.integers(0, 3 * BLOCK).map(lambda n: n)


@given(SIDES, SIDES, st.data())
def test_any_prefix_of_the_new_over_the_old_is_torn(old_size: int, new_size: int, data: st.DataObject) -> None:
    old, new = b"o" * old_size, b"n" * new_size
    cut = data.draw(st.integers(0, new_size))
    grown = old.ljust(new_size, b"\0") if data.draw(st.booleans()) else old
    disk = new[:cut] + grown[cut:]
    assert _torn(text(old), text(disk), text(new))


@given(st.binary(max_size=200), st.integers(0, 5000))
def test_other_bytes_are_not_torn(extra: bytes, at: int) -> None:
    old, new = b"o" * 6000, b"n" * 7000
    disk = old[:at] + b"x" + extra + old[at:]
    assert not _torn(text(old), text(disk), text(new))
    assert not _torn(ABSENT, text(disk), text(new))
