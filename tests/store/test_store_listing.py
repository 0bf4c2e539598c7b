"""A listing is the same whichever look finds it: compared with a plain filter over everything."""

import itertools
import random

import pytest

from handrail.model.files import ABSENT
from handrail.model.paths import within
from handrail.model.records import Version
from handrail.store import listing
from handrail.store.protocol import Author, Draft, Filter
from handrail.store.sqlite import SqliteStore

PATHS = ["/r/a", "/r/a/b", "/r/a.b", "/r/ab", "/r/c/d/e", "/r/c/\udcff", "/s"]


def plain(versions: list[Version], wanted: Filter, limit: int, after: Version | None) -> list[int]:
    by_time = wanted.since is not None or wanted.until is not None

    def place(version: Version) -> tuple[int, int]:
        return (version.time_ns if by_time else 0, version.id)

    found = [
        v
        for v in versions
        if (wanted.under is None or within(v.path, wanted.under))
        and (wanted.contains is None or wanted.contains in v.path)
        and (wanted.task is None or v.task == wanted.task)
        and (wanted.since is None or v.time_ns >= wanted.since)
        and (wanted.until is None or v.time_ns <= wanted.until)
        and (after is None or place(v) < place(after))
    ]
    return [v.id for v in sorted(found, key=place, reverse=True)][:limit]


@pytest.mark.parametrize("looked_through", [0, 1, 7, 1000])
@pytest.mark.parametrize("few", [0, 1, 3, 1000])
def test_every_filter_finds_what_a_plain_filter_finds(tmp_path, monkeypatch, looked_through, few):
    monkeypatch.setattr(listing, "LOOKED_THROUGH", looked_through)
    monkeypatch.setattr(listing, "FEW_PATHS", few)
    chance = random.Random(looked_through)
    # A clock that was set back, as clocks are.
    times = itertools.chain(range(100, 140), range(90, 10**6))
    store = SqliteStore(str(tmp_path / "store"), owner="test", clock=lambda: next(times))
    for _ in range(120):
        author = Author(tool="t", session="s", task=chance.choice([None, "t1", "t2"]))
        drafts = [
            Draft(path=chance.choice(PATHS), state=ABSENT, action="remove") for _ in range(chance.choice([1, 1, 2]))
        ]
        store.record(drafts, author)
    everything = list(store.versions(Filter(), limit=10_000))
    for _ in range(150):
        wanted = Filter(
            under=chance.choice([None, None, "/", "/r", "/r/a", "/r/c", "/none"]),
            contains=chance.choice([None, None, "a", "\udcff", "zz"]),
            task=chance.choice([None, None, "t1", "none"]),
            since=chance.choice([None, None, 0, 95, 120, 10**9]),
            until=chance.choice([None, None, 0, 120, 135, 10**9]),
        )
        limit, after = chance.choice([1, 3, 500]), chance.choice([None, chance.choice(everything)])
        found = store.versions(wanted, limit=limit, after=None if after is None else after.id)
        assert [v.id for v in found] == plain(everything, wanted, limit, after), wanted
    store.close()


@pytest.mark.parametrize("looked_through", [0, 5, 1000])
def test_the_newest_task_below_a_path_is_found_however_long_ago(tmp_path, monkeypatch, looked_through):
    monkeypatch.setattr(listing, "LOOKED_THROUGH", looked_through)
    store = SqliteStore(str(tmp_path / "store"), owner="test")
    for number, path in enumerate(["/r/a", "/r/b", *["/s/c"] * 20]):
        store.open_task(f"s{number % 2}", task=f"t{number}", objective=None, now=number)
        author = Author(tool="t", session=f"s{number % 2}", task=f"t{number}")
        store.record([Draft(path=path, state=ABSENT, action="remove")], author)

    def newest(session: str | None, under: str) -> str | None:
        found = store.newest_task(session, under=under)
        return None if found is None else found.id

    assert newest(None, "/s") == "t21"
    assert newest("s0", "/s") == "t20"
    assert newest(None, "/r") == "t1"
    assert newest("s0", "/r") == "t0"
    assert newest("s0", "/r/b") is None
    assert newest(None, "/t") is None
    store.close()
