"""What every store promises. A new store joins by one line in `STORES`."""

import contextlib
import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from handrail.model.errors import BackendFailed
from handrail.model.files import ABSENT, Bytes, DirectoryState, FileState, LinkState, State
from handrail.model.records import Answered, ProposedChange, Request
from handrail.store.protocol import Author, Draft, Filter, Known, Limits, Rule, Store, Tally
from handrail.store.sqlite import SqliteStore

Open = Callable[[str], Store]
HOUR = 3600 * 10**9
ME = Author(tool="edit_file", session="s1", task="t1", objective="tidy", group="g1")
NAMES = ["/r/a", "/r/a b", "/r/nl\nx", "/r/\udcff\udcfe", "/r/-e", "/r/ünï", "/r/" + "x" * 255]


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1_000_000 * 10**9

    def __call__(self) -> int:
        self.now += 1000
        return self.now


CLOCK = Clock()
STORES: dict[str, Open] = {
    "sqlite": lambda place: SqliteStore(place, owner="test", clock=CLOCK),
    "sqlite, contents as files": lambda place: SqliteStore(place, owner="test", inline=3, clock=CLOCK),
}


@pytest.fixture(params=STORES)
def opened(request: pytest.FixtureRequest, tmp_path) -> Iterator[Open]:
    with contextlib.ExitStack() as stack:

        def open_(name: str = "store") -> Store:
            store = STORES[request.param](str(tmp_path / name))
            stack.callback(store.close)
            return store

        yield open_


@pytest.fixture
def store(opened) -> Store:
    return opened("store")


def file(text: bytes, mode: int = 0o644) -> FileState:
    return FileState(Bytes(text), mode)


def put(store: Store, path: str, state: State, author: Author = ME, *, action="modify") -> int:
    (version,) = store.record([Draft(path=path, state=state, action=action)], author)
    store.settle([version.id], done=True)
    return version.id


def ids(versions: Sequence) -> list[int]:
    return [v.id for v in versions]


def test_a_version_reads_as_it_was_recorded(store):
    states = [
        file(b"", 0o600),
        file(b"one\r\ntwo", 0o755),
        FileState(Bytes(os.urandom(70_000)), 0o4644),
        FileState(Bytes(b"x" * 3_000_000), None),
        LinkState("../else\udcff where"),
        DirectoryState(mode=0o700),
        DirectoryState(mode=0o755, entries=2, size=7, manifest=(("a/\udcff", "file", 7), ("a", "directory", 0))),
        ABSENT,
    ]
    for name in NAMES:
        for state in states:
            number = put(store, name, state)
            found = store.version(number)
            assert found is not None
            assert (found.path, found.tool, found.session, found.task) == (name, "edit_file", "s1", "t1")
            assert (found.objective, found.group, found.action, found.status) == ("tidy", "g1", "modify", "done")
            assert found.restorable
            if isinstance(state, FileState):
                assert isinstance(found.state, FileState)
                assert found.state.mode == state.mode
                assert found.state.content.hash == state.content.hash
                assert found.state.content.size == state.content.size
                assert found.state.content.bytes() == state.content.bytes()
                assert b"".join(found.state.content.chunks()) == state.content.bytes()
            else:
                assert found.state == state


def test_ids_rise_and_are_never_given_twice(store):
    first = put(store, "/r/a", file(b"1"))
    (taken_back,) = store.record([Draft(path="/r/a", state=file(b"2"), action="modify")], ME)
    store.settle([taken_back.id], done=False)
    assert first < taken_back.id < put(store, "/r/a", file(b"3"))


def test_previous_is_the_version_before_at_the_same_path(store):
    drafts = [
        Draft(path="/r/a", state=file(b"outside"), action="external"),
        Draft(path="/r/b", state=ABSENT, action="remove"),
        Draft(path="/r/a", state=file(b"ours"), action="modify"),
    ]
    outside, other, ours = store.record(drafts, ME)
    assert (outside.previous, other.previous, ours.previous) == (None, None, outside.id)
    assert (outside.status, ours.status) == ("done", "intended")


def test_what_was_taken_back_was_never_there(store):
    before = put(store, "/r/a", file(b"1"))
    (intent,) = store.record([Draft(path="/r/a", state=file(b"2"), action="modify")], ME)
    newest = store.newest("/r/a")
    assert newest is not None and newest.id == intent.id and newest.status == "intended"
    store.settle([intent.id], done=False)
    newest = store.newest("/r/a")
    assert newest is not None and newest.id == before
    assert store.version(intent.id) is None
    store.settle([before], done=False)
    assert store.version(before) is not None, "what is done stays done"


def test_outside_changes_belong_to_no_tool_and_no_task(store):
    store.open_task("s1", task="t1", objective=None, now=1)
    (outside,) = store.record([Draft(path="/r/a", state=file(b"1"), action="external")], ME)
    assert (outside.task, outside.tool, outside.session, outside.objective) == (None, "", "", None)
    assert store.task_paths("t1") == ()


def test_newest_is_of_exactly_this_path(store):
    number = put(store, "/r/a", file(b"1"))
    put(store, "/r/a/b", file(b"2"))
    put(store, "/r/A", file(b"2"))
    newest = store.newest("/r/a")
    assert newest is not None and newest.id == number
    assert store.newest("/r") is None
    assert store.newest("/r/\ud800") is None
    found = store.newest_of(["/r", "/r/a", "/r/\ud800"])
    assert {path: version.id for path, version in found.items()} == {"/r/a": number}
    assert store.version(10**30) is None


def test_lists_newest_first_and_in_pages(store):
    numbers = [put(store, f"/r/{n % 3}", file(b"%d" % n)) for n in range(20)][::-1]
    assert ids(store.versions(Filter(), limit=100)) == numbers
    first = store.versions(Filter(), limit=7)
    second = store.versions(Filter(), limit=7, after=first[-1].id)
    assert ids(first) + ids(second) == numbers[:14]


def test_a_filter_holds_in_every_part(store):
    CLOCK.now += HOUR
    early = CLOCK.now
    a = put(store, "/r/dir/a", file(b"1"))
    other = put(store, "/r/dir/b", file(b"1"), replace(ME, task="t2"))
    CLOCK.now += HOUR
    late = CLOCK.now
    c = put(store, "/r/dir2/a", file(b"1"))
    d = put(store, "/r/dir", file(b"2"))

    def listed(**wanted) -> list[int]:
        return ids(store.versions(Filter(**wanted), limit=10))

    assert listed(under="/r/dir") == [d, other, a]
    assert listed(under="/r/dir/") == [d, other, a] or listed(under="/r/dir/") == [other, a]
    assert listed(under="/") == [d, c, other, a]
    assert listed(under="/r/dir/a") == [a]
    assert listed(contains="dir2") == [c]
    assert listed(contains="%") == []
    assert listed(task="t2") == [other]
    assert listed(since=late) == [d, c]
    assert listed(until=late) == [other, a]
    assert listed(since=early, until=late, under="/r/dir", task="t1") == [a]
    assert listed(since=10**40) == []
    assert ids(store.versions(Filter(since=early), limit=10, after=d)) == [c, other, a]


def test_the_same_content_is_kept_once_and_found_by_its_hash(store):
    data = b"the same" * 20_000
    put(store, "/r/a", file(data))
    put(store, "/r/b", file(data))
    digest = hashlib.sha256(data).hexdigest()
    found = store.content(digest)
    assert found is not None and found.bytes() == data and found.size == len(data)
    assert store.content("0" * 64) is None
    assert store.content("no hash") is None
    assert store.content("AB" * 32) is None


def test_a_content_that_changes_while_it_is_recorded_is_refused(store):
    for data in (b"was this", b"x" * 100_000):
        lying = Bytes(data, hash="ab" * 32)
        with pytest.raises(BackendFailed):
            store.record([Draft(path="/r/a", state=FileState(lying), action="modify")], ME)
    assert store.newest("/r/a") is None
    assert store.content("ab" * 32) is None


def test_everything_outlives_the_store(opened):
    one = opened("again")
    number = put(one, "/r/a", file(b"x" * 100_000))
    one.open_task("s1", task="t1", objective="o", now=5)
    one.know("named", {"/r/a": Known(hash="cd" * 32, size=1, mtime_ns=2, inode=2**64 - 3)})
    one.close()
    two = opened("again")
    version = two.version(number)
    assert version is not None and isinstance(version.state, FileState)
    assert version.state.content.bytes() == b"x" * 100_000
    task = two.task("t1")
    assert task is not None and task.objective == "o"
    known = two.known("named", "/r/a")
    assert known is not None and known.inode == 2**64 - 3


def test_intents_of_the_living_are_not_up_for_recovery(opened):
    one, two = opened("shared"), opened("shared")
    (intent,) = one.record([Draft(path="/r/a", state=file(b"1"), action="create")], ME)
    assert two.intended() == ()
    assert one.intended() == ()
    one.close()
    assert ids(two.intended()) == [intent.id]
    two.settle([intent.id], done=True)
    assert two.intended() == ()
    assert two.version(intent.id).status == "done"


def test_places_in_the_trash_are_new_and_private(store):
    one, two = store.trash_place(), store.trash_place()
    assert one != two
    assert not os.path.lexists(one)
    assert os.stat(os.path.dirname(one)).st_mode & 0o777 == 0o700


def test_a_tree_moved_aside_is_restorable_until_it_is_put_back(store):
    place = store.trash_place()
    os.mkdir(place)
    number = put(store, "/r/d", DirectoryState(entries=1, trash=place))
    assert store.version(number).restorable
    os.rmdir(place)
    version = store.version(number)
    assert not version.restorable and version.why_not


def test_a_task_goes_on_for_half_an_hour_after_its_last_call(store):
    one = store.open_task("s1", task=None, objective=None, now=0)
    assert store.open_task("s1", task=None, objective=None, now=HOUR // 2).id == one.id
    store.touch_task(one.id, HOUR // 2 + 1)
    assert store.open_task("s1", task=None, objective=None, now=HOUR + 1).id == one.id
    later = store.open_task("s1", task=None, objective=None, now=2 * HOUR)
    assert later.id != one.id
    assert store.open_task("s2", task=None, objective=None, now=2 * HOUR).id not in (one.id, later.id)


def test_a_named_task_is_made_once_and_keeps_its_objective(store):
    made = store.open_task("s1", task="mine", objective="why", now=1)
    again = store.open_task("s2", task="mine", objective="other", now=9 * HOUR)
    assert (made.id, again.session, again.objective, again.opened_at) == ("mine", "s1", "why", 1)
    assert store.task("mine") == again
    assert store.task("nobody's") is None
    assert store.open_task("s1", task="odd \ud800\x00", objective="\ud800", now=1).id == "odd \ud800\x00"
    assert store.task("odd \ud800\x00") is not None


def test_a_new_objective_is_a_new_task(store):
    one = store.open_task("s1", task=None, objective="one", now=1)
    assert store.open_task("s1", task=None, objective="one", now=2).id == one.id
    assert store.open_task("s1", task=None, objective="two", now=3).id != one.id


def test_the_newest_task_is_the_one_that_changed_something_last(store):
    for number, name in enumerate(["t1", "t2", "idle"]):
        store.open_task("s1", task=name, objective=None, now=number)
    assert store.newest_task("s1") is None
    put(store, "/r/x/a", file(b"1"), replace(ME, task="t2"))
    put(store, "/r/y/a", file(b"1"), replace(ME, task="t1"))
    assert store.newest_task("s1").id == "t1"
    assert store.newest_task(None).id == "t1"
    assert store.newest_task("s2") is None
    assert store.newest_task(None, under="/r/x").id == "t2"
    assert store.newest_task(None, under="/r/z") is None


def test_a_tasks_paths_come_in_the_order_in_which_they_are_taken_back(store):
    made = DirectoryState()
    for name, state in [("/r/d", made), ("/r/d/e", made), ("/r/d/e/f", file(b"1")), ("/r/d", made)]:
        put(store, name, state)
    assert store.task_paths("t1") == ("/r/d/e/f", "/r/d/e", "/r/d")
    assert [v.path for v in store.task_versions("t1", "/r/d")] == ["/r/d", "/r/d"]
    assert store.task_versions("t1", "/r/d")[0].id < store.task_versions("t1", "/r/d")[1].id
    store.record([Draft(path="/r/d", state=ABSENT, action="remove")], ME)
    assert len(store.task_versions("t1", "/r/d")) == 2, "an intent isn't the task's yet"


def test_what_a_task_took_away_comes_before_what_lay_in_it(store):
    other = replace(ME, task="t2")
    put(store, "/r/d", DirectoryState(), other)
    put(store, "/r/d/a", file(b"1"), other)
    put(store, "/r/d/a", file(b"2"))
    put(store, "/r/d", ABSENT)
    put(store, "/r/new/b", file(b"3"))
    assert store.task_paths("t1") == ("/r/new/b", "/r/d", "/r/d/a")
    back = replace(ME, task="t3")
    put(store, "/r/d", DirectoryState(entries=1), back)
    put(store, "/r/d/a", file(b"1"), back)
    put(store, "/r/d/gone", ABSENT, back)
    assert store.task_paths("t3") == ("/r/d/gone", "/r/d/a", "/r/d")


def request(name: str = "q1", **changes) -> Request:
    made = Request(
        id=name,
        tool="edit_file",
        reason="mutation",
        changes=(ProposedChange(path="/r/\udcff", action="modify", diff="+\ud800\n", base_hash=None),),
        paths=("/r/\udcff",),
        session="s1",
        task=None,
        objective=None,
        interface="mcp",
        asked_at=CLOCK.now,
        expires_at=CLOCK.now + HOUR,
        unusual=("shrinks",),
        narrow=True,
    )
    return replace(made, **changes)


def test_a_request_waits_as_it_was_asked_until_it_is_answered(store):
    store.ask(request())
    store.ask(request("q0", asked_at=1))
    waiting = store.pending()
    assert [r.id for r in waiting] == ["q0", "q1"]
    assert waiting[1] == request(asked_at=waiting[1].asked_at, expires_at=waiting[1].expires_at)
    said = Answered(verdict="deny", by="terminal", scope="pattern", pattern="/r/**", reason="no \ud800", at=7)
    assert store.answered("q1") is None
    assert store.answer("q1", said)
    assert store.answered("q1") == said
    assert [r.id for r in store.pending()] == ["q0"]
    assert not store.answer("nobody's", said)
    assert store.answered("nobody's") is None


def test_the_first_answer_wins(store):
    store.ask(request())
    won = []
    start = threading.Barrier(8)

    def answer(number: int) -> None:
        start.wait()
        if store.answer("q1", Answered(verdict="allow", by=str(number))):
            won.append(str(number))

    threads = [threading.Thread(target=answer, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert store.answered("q1").by == won[0]


def test_nobody_answers_an_expired_request_but_it_can_be_closed(store):
    store.ask(request())
    CLOCK.now += 2 * HOUR
    assert store.pending() == ()
    assert not store.answer("q1", Answered(verdict="allow", by="late"))
    assert store.answer("q1", Answered(verdict="timeout", by="handrail"))


def test_a_change_is_noticed_from_another_store(opened):
    one, two = opened("shared"), opened("shared")
    before = two.changed()
    assert two.changed() == before
    one.ask(request())
    assert two.changed() != before
    before = one.changed()
    one.answer("q1", Answered(verdict="allow", by="me"))
    assert one.changed() != before


def test_watchers_are_those_whose_sign_is_recent(store):
    store.watch("terminal", 100)
    store.watch("page", 50)
    assert store.watchers(50) == ("page", "terminal")
    assert store.watchers(51) == ("terminal",)
    store.watch("page", 200)
    assert store.watchers(150) == ("page",)
    store.unwatch("page")
    store.unwatch("nobody")
    assert store.watchers(0) == ("terminal",)


def test_rules_are_kept_until_forgotten(store):
    always = Rule(id=0, session=None, task=None, pattern="/r/**", tool=None, created_at=1)
    narrow = Rule(id=0, session="s", task="t", pattern="/r/\udcff", tool="edit_file", created_at=2)
    one, two = store.remember(always), store.remember(narrow)
    assert store.rules() == (replace(always, id=one), replace(narrow, id=two))
    assert store.forget(one)
    assert not store.forget(one)
    assert store.rules() == (replace(narrow, id=two),)


def test_a_ledger_says_what_was_noted_last(store):
    known = Known(hash="ab" * 32, size=3, mtime_ns=4, inode=5, own=True, unseen=((1, 2), (4, 4)), text=b"\x00abc" * 99)
    store.know("s", {"/r/a": known, "/r/\udcff": replace(known, text=None)})
    assert store.known("s", "/r/a") == known
    assert store.known("s", "/r/\udcff") == replace(known, text=None)
    assert store.known("other", "/r/a") is None
    store.know("s", {"/r/a": replace(known, unseen=(), own=False)})
    assert store.known("s", "/r/a") == replace(known, unseen=(), own=False)


DAY = 24 * HOUR
ROOMY = Limits(age=30 * DAY, versions=200, bytes=2**40)


def pruned(store: Store, limits: Limits = ROOMY) -> Tally:
    CLOCK.now += DAY
    done = Tally()
    for tally in store.prune(limits, now=CLOCK.now):
        done = tally
    return done


def restorable(store: Store, path: str) -> list[int]:
    """Ids, newest first; each of them must give its content back."""
    kept = [v for v in store.versions(Filter(under=path), limit=10_000) if v.restorable]
    for version in kept:
        if isinstance(version.state, FileState):
            assert hashlib.sha256(version.state.content.bytes()).hexdigest() == version.state.content.hash
    return ids(kept)


def alone(number: int) -> Author:
    return replace(ME, task=f"alone {number}")


def test_within_the_limits_nothing_is_pruned(store):
    numbers = [put(store, f"/r/{n % 3}", file(b"%d" % n)) for n in range(30)]
    assert pruned(store).versions == 0
    assert restorable(store, "/r") == numbers[::-1]


def test_what_is_older_than_the_age_is_pruned_but_for_the_newest_of_a_path(store):
    old = [put(store, "/r/a", file(b"old %d" % n)) for n in range(5)]
    only = put(store, "/r/b", file(b"the only one"))
    CLOCK.now += 31 * DAY
    new = put(store, "/r/a", file(b"new"), alone(1))
    assert pruned(store).versions == 4
    assert restorable(store, "/r/a") == [new, old[-1]], "what stood there before a young task stays"
    assert restorable(store, "/r/b") == [only]
    CLOCK.now += 31 * DAY
    pruned(store)
    assert restorable(store, "/r/a") == [new]


def test_a_pruned_version_stays_listed_says_why_and_its_number_is_never_given_again(store):
    old = put(store, "/r/a", file(b"x" * 100_000))
    CLOCK.now += 31 * DAY
    new = put(store, "/r/a", file(b"new"))
    CLOCK.now += 31 * DAY
    pruned(store)
    listed = store.versions(Filter(under="/r/a"), limit=10)
    assert ids(listed) == [new, old]
    assert not listed[1].restorable
    assert "30 days" in listed[1].why_not
    assert listed[0].restorable
    assert store.content(hashlib.sha256(b"x" * 100_000).hexdigest()) is None
    with pytest.raises(BackendFailed):
        listed[1].state.content.bytes()
    assert put(store, "/r/a", file(b"newer")) > new


def test_of_a_path_only_so_many_versions_stay(store):
    numbers = [put(store, "/r/a", file(b"%d" % n)) for n in range(30)][::-1]
    few = replace(ROOMY, versions=10)
    assert pruned(store, few).versions == 20
    assert restorable(store, "/r/a") == numbers[:10]
    assert pruned(store, few).versions == 0
    more = put(store, "/r/a", file(b"more"))
    pruned(store, few)
    assert restorable(store, "/r/a") == [more, *numbers[:9]]


def test_new_limits_hold_for_unchanged_paths_within_a_day_or_at_once_where_that_is_asked_for(store):
    numbers = [put(store, "/r/a", file(b"%d" % n)) for n in range(30)][::-1]
    pruned(store)
    few = replace(ROOMY, versions=10)
    CLOCK.now -= DAY
    assert pruned(store, few).versions == 0
    for _ in store.prune(few, now=CLOCK.now, every_path=True):
        pass
    assert restorable(store, "/r/a") == numbers[:10]


def test_the_originals_of_young_tasks_stay_whatever_the_limits(store):
    numbers = []
    for n in range(12):
        store.open_task("s1", task=f"alone {n}", objective=None, now=CLOCK.now)
        numbers += [put(store, "/r/a", file(b"%d %d" % (n, k) * 50), alone(n)) for k in range(3)]
    pruned(store, Limits(age=30 * DAY, versions=1, bytes=1))
    last_of_each = set(numbers[2::3])
    assert set(restorable(store, "/r/a")) == last_of_each, "each is what stood before the next task, and after its own"
    CLOCK.now += 31 * DAY
    pruned(store, Limits(age=30 * DAY, versions=1, bytes=1))
    assert restorable(store, "/r/a") == [numbers[-1]]


def test_a_task_that_goes_on_keeps_its_originals(store):
    original = put(store, "/r/a", file(b"original"), alone(1))
    put(store, "/r/a", file(b"first"), alone(2))
    store.open_task("s1", task="alone 2", objective=None, now=CLOCK.now)
    CLOCK.now += 40 * DAY
    store.touch_task("alone 2", CLOCK.now)
    pruned(store)
    assert original in restorable(store, "/r/a")


def test_above_so_many_bytes_the_oldest_contents_go_first(store):
    numbers = [put(store, f"/r/{n % 4}", file(os.urandom(40_000))) for n in range(60)]
    CLOCK.now += 2 * DAY
    numbers += [put(store, f"/r/{n}", file(os.urandom(40_000)), alone(n)) for n in range(4)]
    limits = Limits(age=100 * DAY, versions=200, bytes=1_500_000)
    pruned(store, replace(limits, bytes=10**9))
    assert store.usage().bytes > 2_000_000
    pruned(store, limits)
    assert restorable(store, "/r")[::-1] == numbers[-len(restorable(store, "/r")) :], "the oldest went first"
    assert set(numbers[-8:]) <= set(restorable(store, "/r")), "what young tasks began and ended with stays"
    assert store.usage().bytes <= 1_500_000
    pruned(store, replace(limits, bytes=1))
    assert restorable(store, "/r")[::-1] == numbers[-8:]
    CLOCK.now += 101 * DAY
    pruned(store, replace(limits, bytes=1))
    assert restorable(store, "/r")[::-1] == numbers[-4:]


def test_a_content_that_another_version_needs_stays(store):
    old = put(store, "/r/a", file(b"shared" * 20_000))
    put(store, "/r/a", file(b"new"))
    other = put(store, "/r/b", file(b"shared" * 20_000))
    CLOCK.now += 61 * DAY
    assert pruned(store).contents == 0
    assert not store.version(old).restorable
    assert restorable(store, "/r/b") == [other]
    CLOCK.now += DAY
    put(store, "/r/b", ABSENT)
    CLOCK.now += 61 * DAY
    assert pruned(store).contents == 1


def test_what_was_pruned_can_be_recorded_again(store):
    put(store, "/r/a", file(b"again" * 20_000))
    put(store, "/r/a", file(b"new"))
    CLOCK.now += 61 * DAY
    pruned(store)
    again = put(store, "/r/a", file(b"again" * 20_000))
    assert restorable(store, "/r/a")[0] == again


def test_what_an_open_intent_needs_stays(store):
    before = put(store, "/r/a", file(b"before"))
    CLOCK.now += 61 * DAY
    (intent,) = store.record([Draft(path="/r/a", state=file(b"after"), action="modify")], alone(9))
    CLOCK.now += 61 * DAY
    pruned(store, Limits(age=DAY, versions=1, bytes=1))
    assert restorable(store, "/r/a") == [intent.id, before]


def test_a_moved_tree_goes_with_the_age_and_counts_apart(store):
    place, foreign = store.trash_place(), store.trash_place()
    for tree in (place, foreign):
        os.makedirs(f"{tree}/closed/inner")
        with open(f"{tree}/closed/file", "wb") as out:
            out.write(b"x" * 50_000)
        os.symlink("/", f"{tree}/closed/link")
        os.chmod(f"{tree}/closed", 0)
    number = put(store, "/r/d", DirectoryState(entries=3, trash=place))
    put(store, "/r/d", ABSENT)
    before = store.usage()
    assert before.trash >= 50_000
    pruned(store, replace(ROOMY, bytes=1))
    assert store.version(number).restorable and os.path.lexists(place), "the limit of bytes isn't for the trash"
    CLOCK.now += 61 * DAY
    assert pruned(store).trees == 1
    assert not os.path.lexists(place)
    assert os.path.lexists(foreign), "a tree that no version leads to stays until it is old itself"
    version = store.version(number)
    assert not version.restorable and "30 days" in version.why_not


def test_pruning_may_stop_after_any_step(opened):
    store = opened("store")
    for n in range(40):
        put(store, f"/r/{n % 2}", file(b"%d" % n * 40), alone(n))
    CLOCK.now += 61 * DAY
    limits = Limits(age=30 * DAY, versions=3, bytes=2**40)
    for steps in range(60):
        work = store.prune(limits, now=CLOCK.now)
        for _, _tally in zip(range(steps), work, strict=False):
            pass
        work.close()
        assert len(restorable(store, "/r")) >= 2
    assert len(restorable(store, "/r")) == 2


def test_work_is_due_for_one_of_all_who_ask(opened):
    one, two = opened("shared"), opened("shared")
    assert one.due("tidy", every=HOUR, now=10 * HOUR)
    assert not two.due("tidy", every=HOUR, now=10 * HOUR + 1)
    assert two.due("other", every=HOUR, now=10 * HOUR)
    assert two.due("tidy", every=HOUR, now=11 * HOUR)
    assert not one.due("tidy", every=HOUR, now=11 * HOUR)
    assert one.due("tidy", every=HOUR, now=5 * HOUR), "a clock that was set back stops nothing for ever"


def drafts_of_a_file() -> list[bytes]:
    """A file as somebody works on it, line by line."""
    lines = [b"line %d of many, each unlike the others: %s\n" % (n, os.urandom(20).hex().encode()) for n in range(150)]
    found = []
    for n in range(50):
        lines[n * 3] = b"changed %d\n" % n
        found.append(b"".join(lines))
    return found


def test_after_compacting_every_version_reads_as_before_and_takes_less_room(store):
    drafts = drafts_of_a_file()
    for n, data in enumerate(drafts):
        put(store, "/r/a", file(data))
        put(store, "/r/b", file(drafts[-n] if n % 3 else b""))
    put(store, "/r/c", file(os.urandom(100_000)))
    put(store, "/r/d", FileState(Bytes(b"x" * 9_000_000), None))
    numbers, before = restorable(store, "/r"), store.usage()
    done = Tally()
    for tally in store.compact():
        done = tally
    assert done.deltas > 40
    assert restorable(store, "/r") == numbers
    after = store.usage()
    assert before.bytes - after.bytes > 100_000
    assert (after.versions, after.contents) == (before.versions, before.contents)
    again = Tally()
    for tally in store.compact():
        again = tally
    assert again.deltas == 0, "what is done is done"
    put(store, "/r/a", file(drafts[0] + b"and one more\n"))
    put(store, "/r/a", file(drafts[3]))
    for _ in store.compact():
        pass
    assert len(restorable(store, "/r")) == len(numbers) + 2


def test_pruning_leaves_what_is_told_as_a_difference_from_something_pruned(store):
    drafts = drafts_of_a_file()
    put(store, "/r/a", file(drafts[0]))
    for n, data in enumerate(drafts[1:]):
        put(store, "/r/a", file(data), alone(n // 7))
    for _ in store.compact():
        pass
    pruned(store, Limits(age=30 * DAY, versions=2, bytes=2**40))
    left = restorable(store, "/r/a")
    assert 2 < len(left) < 20
    contents = store.usage().contents
    for _ in store.compact():
        pass
    assert restorable(store, "/r/a") == left
    assert store.usage().contents == len(left) < contents, "and compacting frees it"


def test_after_closing_every_call_fails_as_history_unavailable(opened):
    store = opened("store")
    store.close()
    store.close()
    for call in (store.pending, store.changed, lambda: store.newest("/r/a"), lambda: put(store, "/r/a", ABSENT)):
        with pytest.raises(BackendFailed) as caught:
            call()
        assert caught.value.kind == "history_unavailable"
