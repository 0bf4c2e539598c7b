"""The one writer: all or nothing, recorded before it happens, never over somebody else's bytes."""

import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from handrail.core.apply import Applied, Writer
from handrail.core.locks import Locks
from handrail.core.recording import UNRECORDED
from handrail.fs.host import HostFileSystem
from handrail.model.changes import Change
from handrail.model.errors import BackendFailed, HandrailError, InvalidCall, NotThere, OutOfDate, Refused
from handrail.model.files import ABSENT, Bytes, DirectoryState, FileState, LinkState, State
from handrail.model.paths import RealPath, seal
from handrail.store.protocol import Author, Filter
from handrail.store.sqlite import SqliteStore

AUTHOR = Author(tool="edit_file", session="s", task=None)


@dataclass
class Ground:
    """A writer over a directory, and its history."""

    root: Path
    store: SqliteStore
    writer: Writer
    fs: HostFileSystem

    def at(self, name: str) -> RealPath:
        return seal(f"{self.root}/{name}")

    def change(self, name: str, before: State, after: State, **more: bool) -> Change:
        action = "create" if before is ABSENT else "remove" if after is ABSENT else "modify"
        return Change(self.at(name), before, after, action, **more)

    def apply(self, *changes: Change, **more: object) -> Applied:
        return self.writer.apply(changes, AUTHOR, **more)  # type: ignore[arg-type]

    def story(self, name: str) -> list[tuple[str, str]]:
        """The versions of a path, oldest first: action and status."""
        found = self.store.versions(Filter(under=self.at(name).text), limit=100)
        return [(v.action, v.status) for v in reversed(found) if v.path == self.at(name).text]

    def left(self) -> list[str]:
        return sorted(
            os.path.relpath(os.path.join(d, n), self.root) for d, ds, fs in os.walk(self.root) for n in ds + fs
        )


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    root = Path(os.path.realpath(tmp_path / "root"))
    root.mkdir()
    store = SqliteStore(str(tmp_path / "data"), owner="test")
    fs = HostFileSystem()
    locks = Locks(str(tmp_path / "data" / "locks"), patience=5.0)
    yield Ground(root, store, Writer(fs, store, locks, protected_roots=(str(root),)), fs)
    store.close()


def text(data: bytes, mode: int | None = None) -> FileState:
    return FileState(Bytes(data), mode)


# one file


def test_a_new_file_is_written_and_recorded(ground: Ground) -> None:
    applied = ground.apply(ground.change("a", ABSENT, text(b"one")))
    assert (ground.root / "a").read_bytes() == b"one"
    assert ground.story("a") == [("create", "done")]
    (receipt,) = applied.receipts
    assert (receipt.path, receipt.before_version, receipt.notes) == (ground.at("a").text, None, ())
    version = ground.store.version(receipt.version or 0)
    assert version is not None
    assert version.state == text(b"one") or version.state.content.bytes() == b"one"  # type: ignore[union-attr]


def test_the_original_is_recorded_before_the_first_change(ground: Ground) -> None:
    (ground.root / "a").write_bytes(b"theirs")
    os.chmod(ground.root / "a", 0o640)
    (receipt,) = ground.apply(ground.change("a", text(b"theirs"), text(b"ours"))).receipts
    assert ground.story("a") == [("external", "done"), ("modify", "done")]
    original = ground.store.version(receipt.before_version or 0)
    assert original is not None
    assert isinstance(original.state, FileState)
    assert (original.state.content.bytes(), original.state.mode) == (b"theirs", 0o640)


def test_a_known_state_is_not_recorded_again(ground: Ground) -> None:
    first = ground.apply(ground.change("a", ABSENT, text(b"1"))).receipts[0]
    second = ground.apply(ground.change("a", text(b"1"), text(b"2"))).receipts[0]
    assert ground.story("a") == [("create", "done"), ("modify", "done")]
    assert second.before_version == first.version


@pytest.mark.parametrize("what", ["content", "mode", "gone", "link"])
def test_outside_changes_are_recorded_first(ground: Ground, what: str) -> None:
    ground.apply(ground.change("a", ABSENT, text(b"1", 0o644)))
    path, before = ground.root / "a", text(b"1")
    if what == "content":
        path.write_bytes(b"outside")
        before = text(b"outside")
    elif what == "mode":
        os.chmod(path, 0o755)
    else:
        path.unlink()
        before = ABSENT  # type: ignore[assignment]
        if what == "link":
            path.symlink_to("x")
            before = LinkState("x")  # type: ignore[assignment]
    ground.apply(ground.change("a", before, text(b"2")))
    assert [action for action, _ in ground.story("a")][1] == "external"
    assert path.read_bytes() == b"2"


def test_what_isnt_as_planned_is_stale_and_unrecorded(ground: Ground) -> None:
    (ground.root / "a").write_bytes(b"theirs")
    for before in (ABSENT, text(b"other"), LinkState("theirs"), DirectoryState()):
        with pytest.raises(OutOfDate) as caught:
            ground.apply(ground.change("a", before, text(b"ours")))
        assert caught.value.kind == "stale"
    assert (ground.root / "a").read_bytes() == b"theirs"
    assert ground.story("a") == []


def test_a_new_plan_is_made_once_under_the_lock(ground: Ground) -> None:
    (ground.root / "a").write_bytes(b"newer")
    calls: list[int] = []

    def replan() -> Sequence[Change]:
        calls.append(1)
        return [ground.change("a", text(b"newer"), text(b"newer, edited"))]

    applied = ground.apply(ground.change("a", text(b"old"), text(b"old, edited")), replan=replan)
    assert (ground.root / "a").read_bytes() == b"newer, edited"
    assert calls == [1]
    assert applied.changes[0].after.content.bytes() == b"newer, edited"  # type: ignore[union-attr]


def test_a_new_plan_that_is_stale_too_or_of_other_paths_is_refused(ground: Ground) -> None:
    (ground.root / "a").write_bytes(b"newer")
    for again in (ground.change("a", text(b"old"), text(b"x")), ground.change("b", ABSENT, text(b"x"))):
        with pytest.raises(OutOfDate):
            ground.apply(ground.change("a", text(b"old"), text(b"x")), replan=lambda again=again: [again])
    assert ground.left() == ["a"]


def test_the_witness_sees_the_change_done_and_still_locked(ground: Ground) -> None:
    seen: list[bytes] = []

    def witness(changes: Sequence[Change]) -> None:
        seen.append((ground.root / "a").read_bytes())
        impatient = Locks(ground.writer._locks._directory, patience=0.0)
        with pytest.raises(BackendFailed), impatient.hold([changes[0].path]):
            pass

    ground.apply(ground.change("a", ABSENT, text(b"x")), witness=witness)
    assert seen == [b"x"]


def test_a_witness_that_fails_doesnt_unmake_the_change(ground: Ground) -> None:
    def witness(_: Sequence[Change]) -> None:
        raise BackendFailed("io_error", "No.")

    ground.apply(ground.change("a", ABSENT, text(b"x")), witness=witness)
    assert ground.story("a") == [("create", "done")]


def test_a_mode_alone_is_a_change(ground: Ground) -> None:
    (ground.root / "a").write_bytes(b"x")
    ground.apply(ground.change("a", text(b"x"), text(b"x", 0o700)))
    assert os.stat(ground.root / "a").st_mode & 0o777 == 0o700


def test_hard_links_are_written_in_place_and_said(ground: Ground) -> None:
    (ground.root / "a").write_bytes(b"old")
    os.link(ground.root / "a", ground.root / "b")
    (receipt,) = ground.apply(ground.change("a", text(b"old"), text(b"new"))).receipts
    assert receipt.in_place
    assert receipt.notes
    assert (ground.root / "b").read_bytes() == b"new"


# kinds


STATES: list[State] = [ABSENT, text(b"file"), LinkState("to"), DirectoryState()]


@pytest.mark.parametrize("before", STATES, ids=lambda s: s.kind)
@pytest.mark.parametrize("after", STATES, ids=lambda s: s.kind)
def test_any_kind_can_become_any_other_and_go_back(ground: Ground, before: State, after: State) -> None:
    if before is not ABSENT:
        ground.apply(ground.change("a", ABSENT, before))
    ground.apply(ground.change("a", before, after))
    found = ground.fs.stat(ground.at("a"))
    assert (found.kind if found else "absent") == after.kind
    ground.apply(ground.change("a", after, before))
    found = ground.fs.stat(ground.at("a"))
    assert (found.kind if found else "absent") == before.kind
    assert ground.store.newest(ground.at("a").text).state.kind == before.kind if ground.story("a") else True


def test_a_directory_is_moved_aside_and_comes_back(ground: Ground) -> None:
    (ground.root / "dir" / "sub").mkdir(parents=True)
    (ground.root / "dir" / "sub" / "file").write_bytes(b"precious")
    counted = DirectoryState(entries=2, size=8, manifest=(("sub", "directory", 0), ("sub/file", "file", 8)))
    (receipt,) = ground.apply(ground.change("dir", counted, ABSENT)).receipts
    assert ground.left() == []
    before = ground.store.version(receipt.before_version or 0)
    assert before is not None
    assert isinstance(before.state, DirectoryState)
    assert before.restorable
    assert (before.state.entries, before.state.manifest) == (2, counted.manifest)
    ground.apply(ground.change("dir", ABSENT, before.state))
    assert (ground.root / "dir" / "sub" / "file").read_bytes() == b"precious"
    again = ground.store.version(before.id)
    assert again is not None
    assert not again.restorable
    (ground.root / "dir").rename(ground.root / "away")
    with pytest.raises(NotThere) as caught:
        ground.apply(ground.change("dir", ABSENT, before.state))
    assert caught.value.kind == "not_restorable"
    assert ground.left() == ["away", "away/sub", "away/sub/file"]


def test_a_directory_that_holds_other_things_than_were_shown_is_stale(ground: Ground) -> None:
    (ground.root / "dir").mkdir()
    (ground.root / "dir" / "file").write_bytes(b"8 bytes!")
    counted = DirectoryState(entries=1, size=8, manifest=(("file", "file", 8),))
    (ground.root / "dir" / "new").write_bytes(b"came later")
    with pytest.raises(OutOfDate) as caught:
        ground.apply(ground.change("dir", counted, ABSENT))
    assert caught.value.kind == "stale"
    assert ground.left() == ["dir", "dir/file", "dir/new"]
    assert ground.story("dir") == []


def test_a_capped_manifest_is_compared_by_its_count(ground: Ground) -> None:
    (ground.root / "dir" / "sub").mkdir(parents=True)
    (ground.root / "dir" / "file").write_bytes(b"")
    with pytest.raises(OutOfDate):
        ground.apply(ground.change("dir", DirectoryState(entries=1), ABSENT))
    with pytest.raises(OutOfDate):
        ground.apply(ground.change("dir", DirectoryState(entries=3), ABSENT))
    ground.apply(ground.change("dir", DirectoryState(entries=2), ABSENT))
    assert ground.left() == []


def test_a_directory_thought_empty_is_never_emptied(ground: Ground) -> None:
    (ground.root / "dir").mkdir()
    (ground.root / "dir" / "new").write_bytes(b"")
    with pytest.raises(OutOfDate) as caught:
        ground.apply(ground.change("dir", DirectoryState(), ABSENT))
    assert caught.value.kind == "conflict"
    assert ground.left() == ["dir", "dir/new"]


def test_roots_and_what_holds_them_stay(ground: Ground) -> None:
    (ground.root / "file").write_bytes(b"")
    for path in (ground.root, ground.root.parent):
        for after in (ABSENT, text(b"x"), LinkState("x")):
            with pytest.raises(Refused) as caught:
                ground.apply(Change(seal(str(path)), DirectoryState(entries=1), after, "remove"))
            assert caught.value.kind == "path_denied"
    assert ground.left() == ["file"]


def test_pipes_and_sockets_are_refused(ground: Ground) -> None:
    os.mkfifo(ground.root / "pipe")
    with pytest.raises(HandrailError) as caught:
        ground.apply(ground.change("pipe", ABSENT, text(b"x")))
    assert caught.value.kind == "not_regular_file"


# parents


def test_missing_parents_are_made_and_recorded(ground: Ground) -> None:
    applied = ground.apply(ground.change("x/y/file", ABSENT, text(b"1"), parents=True))
    assert ground.left() == ["x", "x/y", "x/y/file"]
    assert ground.story("x") == ground.story("x/y") == [("create", "done")]
    assert [os.path.basename(r.path) for r in applied.receipts] == ["file", "x", "y"]
    assert len(applied.changes) == 1


def test_without_leave_no_parent_is_made(ground: Ground) -> None:
    with pytest.raises(NotThere):
        ground.apply(ground.change("x/file", ABSENT, text(b"1")))
    assert ground.left() == []
    assert ground.story("x/file") == []


def test_nothing_is_made_below_a_file(ground: Ground) -> None:
    (ground.root / "file").write_bytes(b"")
    with pytest.raises(InvalidCall) as caught:
        ground.apply(ground.change("file/x/y", ABSENT, text(b"1"), parents=True))
    assert caught.value.kind == "invalid_path"


def test_two_who_need_the_same_parent_both_succeed(ground: Ground) -> None:
    errors: list[HandrailError] = []

    def make(number: int) -> None:
        try:
            ground.apply(ground.change(f"deep/er/{number}", ABSENT, text(b"x"), parents=True))
        except HandrailError as error:
            errors.append(error)

    threads = [threading.Thread(target=make, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(os.listdir(ground.root / "deep" / "er")) == 8
    assert ground.story("deep") == [("create", "done")]


# all or nothing


class Failing(HostFileSystem):
    """A host whose n-th replacement fails, before or after it was done."""

    def __init__(self, at: int, *, after: bool) -> None:
        self._left = at
        self._after = after

    def replace(self, path: RealPath, *more: object) -> object:  # type: ignore[override]
        self._left -= 1
        if self._left == 0 and not self._after:
            raise BackendFailed("disk_full", "No space.")
        written = super().replace(path, *more)  # type: ignore[arg-type]
        if self._left == 0:
            raise BackendFailed("io_error", "The directory can't be synced.")
        return written


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", [1, 2, 3])
def test_when_one_fails_all_are_as_before(ground: Ground, at: int, after: bool) -> None:
    (ground.root / "a").write_bytes(b"a")
    os.chmod(ground.root / "a", 0o751)
    (ground.root / "link").symlink_to("a")
    (ground.root / "dir").mkdir()
    (ground.root / "dir" / "kept").write_bytes(b"kept")
    writer = Writer(Failing(at, after=after), ground.store, ground.writer._locks)
    changes = [
        ground.change("a", text(b"a"), text(b"A")),
        ground.change("link", LinkState("a"), ABSENT),
        ground.change("dir", DirectoryState(entries=1, manifest=(("kept", "file", 4),)), ABSENT),
        ground.change("new/b", ABSENT, text(b"b"), parents=True),
        ground.change("c", ABSENT, text(b"c")),
    ]
    with pytest.raises(BackendFailed) as caught:
        writer.apply(changes, AUTHOR)
    assert caught.value.kind in ("disk_full", "io_error")
    assert ground.left() == ["a", "dir", "dir/kept", "link"]
    assert (ground.root / "a").read_bytes() == b"a"
    assert os.stat(ground.root / "a").st_mode & 0o777 == 0o751
    assert os.readlink(ground.root / "link") == "a"
    assert {action for name in ("a", "link", "new", "new/b", "c") for action, _ in ground.story(name)} == {"external"}


def test_an_edit_on_top_of_ours_isnt_taken_back(ground: Ground) -> None:
    (ground.root / "a").write_bytes(b"a")

    class Intruder(HostFileSystem):
        def make_link(self, path: RealPath, target: str) -> None:
            (ground.root / "a").write_bytes(b"theirs, on top")
            raise BackendFailed("io_error", "No.")

    writer = Writer(Intruder(), ground.store, ground.writer._locks)
    with pytest.raises(BackendFailed):
        writer.apply([ground.change("a", text(b"a"), text(b"A")), ground.change("l", ABSENT, LinkState("x"))], AUTHOR)
    assert (ground.root / "a").read_bytes() == b"theirs, on top"
    assert ground.story("a") == [("external", "done"), ("modify", "done")]
    assert ground.story("l") == []


# the history


class Unwritable(SqliteStore):
    """A store that can't record."""

    def record(self, *_: object) -> Sequence[object]:  # type: ignore[override]
        raise BackendFailed("history_unavailable", "The history can't be written.")


def test_what_cant_be_recorded_isnt_done(ground: Ground, tmp_path: Path) -> None:
    store = Unwritable(str(tmp_path / "other"), owner="o")
    (ground.root / "a").write_bytes(b"a")
    with pytest.raises(BackendFailed) as caught:
        Writer(ground.fs, store, ground.writer._locks).apply([ground.change("a", text(b"a"), text(b"b"))], AUTHOR)
    assert caught.value.kind == "history_unavailable"
    assert (ground.root / "a").read_bytes() == b"a"
    lax = Writer(ground.fs, store, ground.writer._locks, required=False)
    (receipt,) = lax.apply([ground.change("a", text(b"a"), text(b"b"))], AUTHOR).receipts
    assert (ground.root / "a").read_bytes() == b"b"
    assert (receipt.version, receipt.notes) == (None, (UNRECORDED,))
    store.close()


def test_the_intent_stands_before_the_first_byte_moves(ground: Ground) -> None:
    seen: list[list[tuple[str, str]]] = []

    class Looking(HostFileSystem):
        def replace(self, *arguments: object) -> object:  # type: ignore[override]
            seen.append(ground.story("a"))
            return super().replace(*arguments)  # type: ignore[arg-type]

    Writer(Looking(), ground.store, ground.writer._locks).apply([ground.change("a", ABSENT, text(b"x"))], AUTHOR)
    assert seen == [[("create", "intended")]]


def test_many_threads_that_plan_again_lose_nothing(ground: Ground) -> None:
    ground.apply(ground.change("a", ABSENT, text(b"")))
    path = ground.root / "a"

    def plan(number: int) -> Callable[[], Sequence[Change]]:
        def again() -> Sequence[Change]:
            now = path.read_bytes()
            return [ground.change("a", text(now), text(now + b"%02d\n" % number))]

        return again

    threads = [
        threading.Thread(target=lambda n=n: ground.apply(*plan(n)(), replan=plan(n)))  # type: ignore[misc]
        for n in range(24)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(path.read_bytes().split()) == [b"%02d" % n for n in range(24)]
    assert len(ground.story("a")) == 25


def test_the_hash_of_an_unchanged_plan_is_what_is_on_disk(ground: Ground) -> None:
    change = ground.change("a", ABSENT, text(b"x"))
    (done,) = ground.apply(change).changes
    assert done == replace(change, before=ABSENT)
    assert hashlib.sha256((ground.root / "a").read_bytes()).hexdigest() == done.after.content.hash  # type: ignore[union-attr]


# each by itself


def test_changes_done_together_fail_alone(ground: Ground) -> None:
    for name in ("a", "b", "gone", "stale"):
        (ground.root / name).write_bytes(b"old")
    changes = [
        ground.change("a", text(b"old"), text(b"new")),
        ground.change("stale", text(b"other"), text(b"new")),
        ground.change("made", ABSENT, text(b"new")),
        ground.change("gone", text(b"old"), ABSENT),
        ground.change("nowhere/made", ABSENT, text(b"new")),
        ground.change("b", text(b"old"), text(b"new")),
    ]
    told: list[Sequence[Change]] = []
    found = ground.writer.apply_each(changes, AUTHOR, witness=told.append)
    kinds = [o.kind if isinstance(o, HandrailError) else "done" for o in found]
    assert kinds == ["done", "stale", "done", "done", "not_found", "done"]
    assert [c.path.name for c in told[0]] == ["a", "made", "gone", "b"]
    assert ground.left() == ["a", "b", "made", "stale"]
    assert (ground.root / "b").read_bytes() == b"new"
    assert ground.story("a") == [("external", "done"), ("modify", "done")]
    assert ground.story("gone") == [("external", "done"), ("remove", "done")]
    assert ground.story("nowhere/made") == ground.story("stale") == []


def test_what_is_done_together_is_recorded_before_any_byte_moves(ground: Ground) -> None:
    (ground.root / "a").write_bytes(b"old")
    seen: list[list[tuple[str, str]]] = []

    class Looking(HostFileSystem):
        def replace_all(self, puts: object) -> object:  # type: ignore[override]
            seen.extend([ground.story("a"), ground.story("b")])
            assert (ground.root / "a").read_bytes() == b"old"
            return super().replace_all(puts)  # type: ignore[arg-type]

    changes = [ground.change("a", text(b"old"), text(b"new")), ground.change("b", ABSENT, text(b"new"))]
    Writer(Looking(), ground.store, ground.writer._locks).apply_each(changes, AUTHOR, witness=lambda _: None)
    assert seen == [[("external", "done"), ("modify", "intended")], [("create", "intended")]]
    assert ground.story("b") == [("create", "done")]


def test_what_was_cut_short_in_a_group_is_as_before(ground: Ground) -> None:
    (ground.root / "a").write_bytes(b"old")

    class Stopped(HostFileSystem):
        def replace_all(self, puts: Sequence[object]) -> object:  # type: ignore[override]
            super().replace_all(puts[:1])  # type: ignore[arg-type]
            raise KeyboardInterrupt

    writer = Writer(Stopped(), ground.store, ground.writer._locks)
    changes = [ground.change("a", text(b"old"), text(b"new")), ground.change("b", ABSENT, text(b"new"))]
    with pytest.raises(KeyboardInterrupt):
        writer.apply_each(changes, AUTHOR, witness=lambda _: None)
    assert ground.left() == ["a"]
    assert (ground.root / "a").read_bytes() == b"old"
    assert ground.story("a") == [("external", "done")]
