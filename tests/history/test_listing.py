"""What was recorded, and a version against the disk."""

from collections.abc import Iterator, Sequence

import pytest
from history_world import World, make

from handrail.history.listing import ComparePlanner, HistoryPlanner
from handrail.model.answers import Compared, ReadText, Row, Versions
from handrail.model.changes import Plan
from handrail.model.errors import HandrailError, WrongContent
from handrail.model.files import ABSENT, DirectoryState, LinkState
from handrail.model.operations import Compare, History, Read, Want
from handrail.model.view import Target, View


@pytest.fixture
def world(tmp_path) -> Iterator[World]:
    made = make(tmp_path / "store")
    yield made
    made.store.close()


class Reader:
    """Shows a file's first rows, as the real reader does."""

    def wants(self, operation: Read) -> Sequence[Want]:
        return (Want(path=operation.path, access="read"),)

    def plan(self, operation: Read, targets: Sequence[Target], view: View) -> Plan:
        snapshot = view.look(targets[0].real)
        data = snapshot.read(0, snapshot.stat.size)
        if b"\0" in data:
            raise WrongContent("binary", "This is no text.")
        rows = tuple(Row(row=n + 1, text=line) for n, line in enumerate(data.decode().split("\n")[: operation.limit]))
        answer = ReadText(
            path=targets[0].real,
            rows=rows,
            total=len(rows),
            first=1,
            last=len(rows),
            next_offset=None,
            hash=snapshot.content().hash,
            size=len(data),
            encoding="utf-8",
        )
        return Plan(answer)


def listed(world: World, **wanted) -> Versions:
    planner, operation = HistoryPlanner(world.store), History(**wanted)
    answer = planner.plan(operation, world.targets(planner.wants(operation)), world).answer
    assert isinstance(answer, Versions)
    return answer


def compared(world: World, **wanted) -> Compared:
    planner, operation = ComparePlanner(world.store, Reader()), Compare(**wanted)
    answer = planner.plan(operation, world.targets(planner.wants(operation)), world).answer
    assert isinstance(answer, Compared)
    return answer


def test_versions_come_newest_first_and_the_rest_is_counted(world):
    numbers = [world.write("t", "/r/a", b"%d" % n)[-1].id for n in range(7)]
    found = listed(world, limit=3)
    assert [v.id for v in found.versions] == numbers[:3:-1]
    assert (found.more, found.at_least) == (4, False)
    assert [v.id for v in listed(world, under="/r/a", limit=50).versions] == numbers[::-1]
    assert listed(world, under="/r/b").versions == ()


def test_very_many_more_are_at_least_so_many(world):
    for n in range(120):
        world.write("t", "/r/a", b"%d" % n)
    found = listed(world, limit=2)
    assert (found.more, found.at_least) == (100, True)


def test_what_policy_hides_is_neither_listed_nor_counted(world):
    for n in range(70):
        world.write("t", f"/r/{'hidden' if n % 2 else 'open'}", b"%d" % n)
    world.hidden.add("/r/hidden")
    found = listed(world, limit=2)
    assert {v.path for v in found.versions} == {"/r/open"}
    assert found.more == 33


def test_checkpoints_are_the_versions_before_a_tools_changes(world):
    world.outside("/r/a", b"original")
    external, first = world.write("t1", "/r/a", b"one")
    (second,) = world.write("t2", "/r/a", b"two")
    found = listed(world, before_mutations=True, limit=10).versions
    assert [(v.id, v.task) for v in found] == [(first.id, "t2"), (external.id, "t1")]
    assert found[0].time_ns == second.time_ns


def test_the_nothing_before_a_new_file_is_a_checkpoint_under_its_number(world):
    *_, made = world.write("t", "/r/new/file", b"x")
    found = listed(world, before_mutations=True, limit=10).versions
    assert [(v.id, v.path, v.state) for v in found] == [(made.id, "/r/new/file", ABSENT)]


def test_a_version_is_compared_with_the_disk(world):
    world.outside("/r/a", b"one\ntwo\nthree\n")
    external, _ = world.write("t", "/r/a", b"one\nTWO\nthree\n")
    found = compared(world, path="/r/a")
    assert (found.diff, found.said) == ("", "identical")
    found = compared(world, path="/r/a", version=external.id)
    assert "-two\n+TWO\n" in found.diff
    assert found.version is not None and found.version.id == external.id
    world.outside("/r/a", b"one\nTWO\nthree\nfour\n")
    assert compared(world, path="/r/a").diff.endswith("+four\n")


def test_with_a_version_its_content_comes_too_as_a_reader_shows_it(world):
    world.outside("/r/a", b"one\ntwo\n")
    external, _ = world.write("t", "/r/a", b"else")
    found = compared(world, version=external.id, content=Read(path="/r/a", limit=1))
    assert found.content is not None
    assert [row.text for row in found.content.rows] == ["one"]
    assert compared(world, path="/r/a").content is None


def test_a_missing_file_is_compared_with_nothing(world):
    world.write("t", "/r/a", b"one\n")
    world.outside("/r/a", None)
    found = compared(world, path="/r/a")
    assert found.said == "missing"
    assert "-one\n" in found.diff
    world.write("t", "/r/b", b"one\n")
    world.remove("t", "/r/b")
    assert compared(world, path="/r/b").said == "identical"


def test_what_has_no_lines_is_said_in_words(world):
    world.write("t", "/r/bin", b"\0\1\2" * 100)
    world.outside("/r/bin", b"\0\1" * 100)
    found = compared(world, path="/r/bin")
    assert (found.diff, found.said) == ("", "binary")
    version = world.store.newest("/r/bin")
    assert version is not None
    assert compared(world, version=version.id).content is None
    world.write("t", "/r/d", b"x")
    world.disk["/r/d"] = DirectoryState()
    assert compared(world, path="/r/d").said == "directory"
    world.write("t", "/r/big", b"x" * 5_000_000)
    world.outside("/r/big", b"y")
    assert compared(world, path="/r/big").said == "too_large"


def test_a_link_is_compared_by_where_it_points(world):
    world.write("t", "/r/a", b"x\n")
    world.disk["/r/a"] = LinkState("b")
    assert "+link to b" in compared(world, path="/r/a").diff


@pytest.mark.parametrize(
    ("wanted", "kind"),
    [
        ({"path": "/r/none"}, "not_found"),
        ({"path": "/r/there"}, "version_not_found"),
        ({"version": 99}, "version_not_found"),
        ({}, "invalid_arguments"),
        ({"path": "/r/there", "version": 1}, "invalid_arguments"),
    ],
)
def test_what_cannot_be_compared_is_said(world, wanted, kind):
    world.write("t", "/r/a", b"x")
    world.outside("/r/there", b"x")
    with pytest.raises(HandrailError) as caught:
        compared(world, **wanted)
    assert caught.value.kind == kind


def test_a_recorded_file_reads_from_any_place(world):
    data = bytes(range(256)) * 20_000
    (version,) = world.write("t", "/r/a", data)
    from handrail.history.snapshot import RecordedView

    (target,) = world.targets([Want(path="/r/a", access="read")])
    snapshot = RecordedView(world, target.real, version).look(target.real)
    for offset, size in [(0, 10), (5_000_000, 200), (3, 4), (2_000_000, 3_000_000), (10**9, 5), (5_119_990, 100)]:
        assert snapshot.read(offset, size) == data[offset : offset + size]
