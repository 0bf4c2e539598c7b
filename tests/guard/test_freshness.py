"""Nothing is changed that was not read, or that changed since: by content, for each session of its own."""

import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from guarded import Guarded
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.guard.freshness import Freshened, Ledger, modes
from handrail.guard.rows import joined, moved, size, without
from handrail.model.answers import ReadBinary, ReadText, Row
from handrail.model.changes import Change, Freshness
from handrail.model.errors import BackendFailed, OutOfDate
from handrail.model.files import ABSENT, Bytes, FileState
from handrail.store.protocol import Known
from handrail.text import lines

TEN = b"".join(b"row %d\n" % n for n in range(1, 11))


class World(Guarded):
    """One file, read and changed by sessions that have a ledger each."""

    def write(self, data: bytes, name: str = "f") -> None:
        self.put(name, data)

    def read(self, ledger: Ledger, first: int = 1, last: int | None = None, name: str = "f") -> None:
        path = self.target(name).real
        snapshot = self.fs.open(path)
        content = snapshot.content()
        rows = lines.split(content.bytes().decode("latin-1"))
        last = len(rows) if last is None else last
        answer = ReadText(
            path=path,
            rows=tuple(Row(row=n, text=rows[n - 1]) for n in range(first, last + 1)),
            total=len(rows),
            first=first,
            last=last,
            next_offset=None,
            hash=content.hash,
            size=content.size,
            encoding="utf-8",
        )
        ledger.saw(answer, snapshot)

    def change(self, after: bytes, name: str = "f") -> Change:
        target = self.target(name)
        before = FileState(self.fs.open(target.real).content()) if target.exists else ABSENT
        return Change(target.real, before, FileState(Bytes(after)), "modify")

    def edit(self, ledger: Ledger, after: bytes, freshness: Freshness = "required", name: str = "f") -> Freshened:
        """Check, write, note: what the road does."""
        change = self.change(after, name)
        freshened = ledger.check(change, freshness)
        self.write(after, name)
        ledger.wrote(change, self.fs.stat(change.path))
        return freshened

    def refusal(self, ledger: Ledger, freshness: Freshness = "required", **more: object) -> OutOfDate:
        with pytest.raises(OutOfDate) as caught:
            ledger.check(self.change(b"new"), freshness, **more)  # type: ignore[arg-type]
        return caught.value


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.write(TEN)
    return world


@pytest.fixture
def ledger() -> Ledger:
    return Ledger("s")


def test_a_file_that_was_read_may_be_changed_and_a_write_counts_as_a_read(world: World, ledger: Ledger) -> None:
    world.read(ledger)
    assert world.edit(ledger, b"two\n") == Freshened()
    assert world.edit(ledger, b"three\n") == Freshened()


def test_any_part_that_was_read_is_enough(world: World, ledger: Ledger) -> None:
    world.read(ledger, 3, 3)
    assert world.edit(ledger, b"x") == Freshened()


def test_a_new_file_needs_no_read(world: World, ledger: Ledger) -> None:
    assert world.edit(ledger, b"x", name="new") == Freshened()


def test_a_file_never_read_is_refused_and_the_refusal_says_the_next_call(world: World, ledger: Ledger) -> None:
    error = world.refusal(ledger, around=[5])
    path = f"{world.root}/f"
    assert error.kind == "not_read"
    assert error.may_retry
    assert f'read_files(files=[{{"path": "{path}", "around": [5]}}])' in error.message
    assert error.facts["fresh_rows"] == [{"row": n, "text": f"row {n}"} for n in range(2, 9)]
    assert f'Read(file_path="{path}")' in world.refusal(ledger, read_call="Read").message


def test_a_read_that_showed_no_row_is_none(world: World, ledger: Ledger) -> None:
    world.read(ledger, 11, 10)
    assert world.refusal(ledger).kind == "not_read"
    world.write(b"")
    world.read(ledger)
    assert ledger.check(world.change(b"x"), "required") == Freshened()


def test_a_read_of_what_is_no_text_counts(world: World, ledger: Ledger) -> None:
    world.write(b"\0\1")
    snapshot = world.fs.open(world.target("f").real)
    content = snapshot.content()
    answer = ReadBinary(path=snapshot.path, media_type="x/y", size=2, hash=content.hash)
    ledger.saw(answer, snapshot)
    assert world.edit(ledger, b"x") == Freshened()


def test_an_outside_change_is_refused_with_a_short_diff_and_the_fresh_rows(world: World, ledger: Ledger) -> None:
    world.read(ledger)
    world.write(TEN.replace(b"row 9\n", b"row nine\n"))
    error = world.refusal(ledger, around=[9])
    assert error.kind == "file_modified_since_read"
    assert "-row 9\n+row nine\n" in str(error.facts["diff"])
    assert {"row": 9, "text": "row nine"} in error.facts["fresh_rows"]  # type: ignore[operator]
    assert "read_files(files=" in error.message


def test_the_refusal_comes_again_until_it_is_read_again_and_after_the_next_change_too(
    world: World, ledger: Ledger
) -> None:
    world.read(ledger)
    for text in (b"one\n", b"two\n"):
        world.write(text)
        assert world.refusal(ledger).kind == "file_modified_since_read"
        assert world.refusal(ledger).kind == "file_modified_since_read"
        world.read(ledger)
        assert ledger.check(world.change(b"x"), "required").unseen_rows == 0


def test_the_same_bytes_with_other_times_or_another_inode_are_fresh(world: World, ledger: Ledger) -> None:
    world.read(ledger)
    os.utime(world.root / "f", ns=(1, 1))
    assert ledger.check(world.change(b"x"), "required") == Freshened()
    (world.root / "g").write_bytes(TEN)
    (world.root / "g").replace(world.root / "f")
    assert ledger.check(world.change(b"x"), "required") == Freshened()


def test_a_change_that_keeps_size_and_time_is_noticed(world: World, ledger: Ledger) -> None:
    world.read(ledger)
    times = os.stat(world.root / "f")
    world.write(TEN.replace(b"1", b"2"))
    os.utime(world.root / "f", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert world.refusal(ledger).kind == "file_modified_since_read"


def test_a_file_read_by_another_spelling_is_the_same_file(world: World, ledger: Ledger) -> None:
    (world.root / "link").symlink_to("f")
    world.read(ledger, name="./link")
    assert world.edit(ledger, b"x") == Freshened()


def test_each_session_has_a_ledger_of_its_own(world: World) -> None:
    a, b = Ledger("a"), Ledger("b")
    world.read(a)
    assert world.refusal(b).kind == "not_read"
    world.read(b)
    world.edit(a, b"by a\n")
    assert world.refusal(b).kind == "file_modified_since_read"


def test_the_expected_hash_stands_for_a_read(world: World, ledger: Ledger) -> None:
    digest = Bytes(TEN).hash
    change = world.change(b"x")
    assert ledger.check(change, "required", expected_hash=digest.upper()) == Freshened()
    world.read(ledger)
    for wrong in ("0" * 64, "", "no hash"):
        with pytest.raises(OutOfDate) as caught:
            ledger.check(change, "none", expected_hash=wrong)
        assert caught.value.kind == "stale"
    with pytest.raises(OutOfDate):
        ledger.check(world.change(b"x", "none"), "required", expected_hash=digest)


@pytest.mark.parametrize(
    ("freshness", "unread", "changed"),
    [
        ("required", "not_read", "file_modified_since_read"),
        ("read", "not_read", "file_modified_since_read"),
        ("unchanged", "", "file_modified_since_read"),
        ("none", "", ""),
    ],
)
def test_the_families_ask_for_more_or_less(world: World, freshness: Freshness, unread: str, changed: str) -> None:
    def outcome(ledger: Ledger) -> str:
        try:
            ledger.check(world.change(b"x"), freshness)
        except OutOfDate as error:
            return error.kind
        return ""

    ledger = Ledger("s")
    assert outcome(ledger) == unread
    world.read(ledger)
    assert outcome(ledger) == ""
    world.write(b"else\n")
    assert outcome(ledger) == changed


def test_whether_it_was_read_can_be_asked_before_planning(world: World, ledger: Ledger) -> None:
    path = f"{world.root}/f"
    with pytest.raises(OutOfDate) as caught:
        ledger.require(path, "required")
    assert caught.value.kind == "not_read"
    ledger.require(path, "unchanged")
    world.read(ledger)
    ledger.require(path, "read")


def test_a_removed_file_is_forgotten(world: World, ledger: Ledger) -> None:
    world.read(ledger)
    change = Change(world.target("f").real, FileState(Bytes(TEN)), ABSENT, "remove")
    ledger.wrote(change, None)
    assert ledger.seen_hash(f"{world.root}/f") is None
    assert world.refusal(ledger).kind == "not_read"


# rows that changed and were never shown again


def test_rows_that_changed_outside_and_were_not_shown_again_are_counted(world: World, ledger: Ledger) -> None:
    world.read(ledger)
    world.write(TEN.replace(b"row 8\nrow 9\n", b"eight\nnine\nand more\n"))
    world.read(ledger, 1, 3)
    assert ledger.check(world.change(b"x"), "required").unseen_rows == 3
    world.read(ledger, 9, 9)
    assert ledger.check(world.change(b"x"), "required").unseen_rows == 2
    world.read(ledger)
    assert ledger.check(world.change(b"x"), "required").unseen_rows == 0


def test_unseen_rows_stay_unseen_through_the_sessions_own_edit_elsewhere(world: World, ledger: Ledger) -> None:
    world.read(ledger)
    changed = TEN.replace(b"row 9\n", b"nine\n")
    world.write(changed)
    world.read(ledger, 1, 1)
    assert world.edit(ledger, b"new\n" + changed).unseen_rows == 1
    known = ledger.known(f"{world.root}/f")
    assert known is not None and known.unseen == ((10, 10),) and known.own
    assert world.edit(ledger, b"all new\n").unseen_rows == 1
    assert ledger.check(world.change(b"x"), "required").unseen_rows == 0


def test_rows_never_read_are_not_unseen_changes(world: World, ledger: Ledger) -> None:
    world.read(ledger, 1, 2)
    assert ledger.check(world.change(b"x"), "required").unseen_rows == 0


# modes


def moded(world: World, *rules: tuple[str, str]) -> Ledger:
    return Ledger("s", mode=modes(rules, world.policy.place))  # type: ignore[arg-type]


def test_the_last_rule_that_names_the_path_decides_its_mode(world: World) -> None:
    mode = modes([("*", "off"), ("*.py", "strict"), ("sub/**", "region")], world.policy.place)
    root = world.root
    assert [mode(f"{root}/{n}") for n in ("a", "a.py", "sub/a.py")] == ["off", "strict", "region"]
    assert mode("/elsewhere/a") == "strict"


def test_off_lets_an_unread_file_be_changed(world: World) -> None:
    ledger = moded(world, ("f", "off"))
    assert ledger.check(world.change(b"x"), "required") == Freshened()
    ledger.require(f"{world.root}/f", "required")


def test_region_lets_an_edit_through_whose_surroundings_did_not_change(world: World) -> None:
    ledger = moded(world, ("f", "region"))
    assert world.refusal(ledger, around=[2]).kind == "not_read"
    world.read(ledger)
    world.write(TEN.replace(b"row 9\n", b"nine\n"))
    freshened = ledger.check(world.change(b"x"), "required", around=[2])
    assert freshened.unseen_rows == 1
    assert "Rows 9 changed" in freshened.notes[0]
    assert world.refusal(ledger, around=[7]).kind == "file_modified_since_read"
    assert world.refusal(ledger, around=[2, 10]).kind == "file_modified_since_read"
    assert world.refusal(ledger, around=()).kind == "file_modified_since_read"


def test_region_notices_rows_that_were_taken_away_near_the_anchor(world: World) -> None:
    ledger = moded(world, ("f", "region"))
    world.read(ledger)
    world.write(TEN.replace(b"row 9\n", b""))
    assert world.refusal(ledger, around=[9]).kind == "file_modified_since_read"
    assert "changed since" in ledger.check(world.change(b"x"), "required", around=[1]).notes[0]


# memory


class Memory:
    """A ledger store in a dictionary; `broken` as a store that can't be reached."""

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], Known] = {}
        self.broken = False

    def known(self, session: str, path: str) -> Known | None:
        self._reach()
        return self.entries.get((session, path))

    def know(self, session: str, entries: Mapping[str, Known]) -> None:
        self._reach()
        self.entries.update({(session, path): known for path, known in entries.items()})

    def _reach(self) -> None:
        if self.broken:
            raise BackendFailed("history_unavailable", "The history can't be reached.")


def test_a_named_sessions_ledger_outlives_its_process(world: World) -> None:
    store = Memory()
    world.read(Ledger("s", store))
    assert Ledger("s", store).check(world.change(b"x"), "required") == Freshened()
    assert world.refusal(Ledger("t", store)).kind == "not_read"
    world.write(b"else\n")
    later = Ledger("s", store)
    assert "+else" in str(world.refusal(later).facts["diff"])
    later.wrote(Change(world.target("f").real, FileState(Bytes(b"")), ABSENT, "remove"), None)
    assert world.refusal(Ledger("s", store)).kind == "not_read"


def test_a_store_that_fails_costs_no_read(world: World) -> None:
    store = Memory()
    store.broken = True
    ledger = Ledger("s", store)
    world.read(ledger)
    assert world.edit(ledger, b"x") == Freshened()


def test_a_file_too_large_to_keep_is_guarded_all_the_same(world: World, ledger: Ledger) -> None:
    world.write(b"x" * 700_000)
    world.read(ledger)
    assert ledger.check(world.change(b"x"), "required") == Freshened()
    world.write(b"y" * 700_000)
    assert "diff" not in world.refusal(ledger).facts


def test_many_threads_may_use_one_ledger(world: World, ledger: Ledger) -> None:
    for n in range(8):
        world.write(TEN, f"f{n}")
    failures: list[BaseException] = []

    def work(n: int) -> None:
        try:
            for turn in range(20):
                world.read(ledger, name=f"f{n}")
                world.edit(ledger, b"%d\n" % turn, name=f"f{n}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_what_is_kept_is_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handrail.guard.freshness._KEPT_BYTES", 100_000)
    ledger = Ledger("s")
    for n in range(20):
        world.write(os.urandom(15_000).hex().encode(), f"f{n}")
        world.read(ledger, name=f"f{n}")
    first, last = ledger.known(f"{world.root}/f0"), ledger.known(f"{world.root}/f19")
    assert first is not None and first.text is None
    assert last is not None and last.text is not None
    assert ledger._bytes <= 100_000


# rows as ranges

_RANGES = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), max_size=6)


def _set(ranges: Sequence[tuple[int, int]]) -> set[int]:
    return {n for a, b in ranges for n in range(a, b + 1)}


@given(_RANGES, _RANGES)
def test_ranges_are_sets_of_rows(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> None:
    assert _set(joined(a)) == _set(a)
    assert size(joined(a)) == len(_set(a))
    assert _set(without(joined(a), b)) == _set(a) - _set(b)


_LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=12)


@settings(max_examples=200, deadline=None)
@given(_LINES, _LINES)
def test_rows_that_move_are_the_same_lines(before: list[str], after: list[str]) -> None:
    changed, kept, _ = moved(before, after, joined([(1, len(before))]))
    assert _set(changed) | _set(kept) == set(range(1, len(after) + 1))
    assert not _set(changed) & _set(kept)
