"""Exactly the recorded state comes back, and what is taken away can come back."""

from collections.abc import Iterator

import pytest
from history_world import World, make

from handrail.history.places import place, wants
from handrail.history.restore import RemovePlanner, RestorePlanner
from handrail.model.errors import HandrailError, OutOfDate
from handrail.model.files import ABSENT, Bytes, DirectoryState, FileState, LinkState
from handrail.model.operations import Remove, Restore, Want
from handrail.model.paths import seal
from handrail.model.view import Target


@pytest.fixture
def world(tmp_path) -> Iterator[World]:
    made = make(tmp_path / "store")
    yield made
    made.store.close()


def test_bytes_and_mode_come_back_and_the_state_before_is_kept(world):
    world.outside("/r/a", b"\xff one\r\n", 0o755)
    external, _ = world.write("t", "/r/a", b"two")
    world.outside("/r/a", b"three", 0o600)
    answer = world.restore("t2", external.id)
    assert world.said()["/r/a"] == (b"\xff one\r\n", 0o755)
    assert (answer.bytes_written, answer.lines, answer.existed) == (7, 1, True)
    newest = world.store.newest("/r/a")
    kept = world.store.version(newest.previous)
    assert (kept.action, kept.state.content.bytes(), kept.state.mode) == ("external", b"three", 0o600)


def test_a_version_that_says_absent_restores_by_removing(world):
    (made,) = world.write("t", "/r/new", b"x")
    world.remove("t", "/r/new")
    gone = world.store.newest("/r/new")
    world.restore("t", made.id)
    world.restore("t", gone.id)
    assert "/r/new" not in world.disk


def test_what_is_already_so_changes_nothing(world):
    (made,) = world.write("t", "/r/a", b"x")
    before = world.store.newest("/r/a")
    assert world.restore("t", made.id).unchanged
    assert world.store.newest("/r/a") == before
    world.outside("/r/a", b"x", 0o600)
    assert not world.restore("t", made.id).unchanged, "other permission bits are another state"
    assert world.said()["/r/a"] == (b"x", 0o644)


def test_missing_parents_are_made(world):
    (made,) = [v for v in world.write("t", "/r/d/e/f", b"x") if v.path == "/r/d/e/f"]
    world.remove("t", "/r/d")
    world.restore("t", made.id)
    assert world.said()["/r/d/e/f"] == (b"x", 0o644)


def test_a_directory_that_is_not_empty_is_not_overwritten(world):
    (made,) = world.write("t", "/r/a", b"x")
    world.outside("/r/a", None)
    world.outside("/r/a/inside", b"keep")
    with pytest.raises(OutOfDate) as caught:
        world.restore("t", made.id)
    assert caught.value.kind == "conflict"
    assert world.said()["/r/a/inside"] == (b"keep", 0o644)
    world.outside("/r/a/inside", None)
    world.restore("t", made.id)
    assert world.said()["/r/a"] == (b"x", 0o644)


def test_a_removed_tree_comes_back_whole(world):
    for name in ("a", "sub/b", "sub/deep/c"):
        world.outside(f"/r/d/{name}", name.encode())
    world.disk["/r/d/sub"] = DirectoryState(mode=0o700)
    world.disk["/r/d/sub/deep"] = DirectoryState(mode=0o755)
    before = world.said()
    answer = world.remove("t", "/r/d")
    assert (answer.manifest_entries, answer.manifest_size) == (5, 1 + 5 + 10)
    assert [p for p in world.disk if p.startswith("/r/d")] == []
    gone = world.store.newest("/r/d")
    tree = world.store.version(gone.previous)
    assert ("sub/deep/c", "file", 10) in tree.state.manifest
    world.restore("t", tree.id)
    assert world.said() == before
    with pytest.raises(HandrailError) as caught:
        world.remove("t", "/r/d/a")
        world.restore("t", tree.id)
    assert caught.value.kind == "not_restorable", "the tree was put back already"


def test_a_link_is_removed_and_restored_as_a_link(world):
    world.disk["/r/l"] = LinkState("a/b\udcff")
    world.remove("t", "/r/l")
    gone = world.store.newest("/r/l")
    world.restore("t", gone.previous)
    assert world.disk["/r/l"] == LinkState("a/b\udcff")


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        (Restore(version=99), "version_not_found"),
        (Restore(version=-1), "version_not_found"),
        (Restore(version=1, path="/r/other"), "invalid_arguments"),
        (Remove(path="/r/none"), "not_found"),
        (Remove(path="/r/a", expected_hash="00"), "stale"),
    ],
)
def test_what_cannot_be_done_is_said(world, operation, kind):
    world.write("t", "/r/a", b"x")
    planner = RestorePlanner(world.store) if isinstance(operation, Restore) else RemovePlanner()
    with pytest.raises(HandrailError) as caught:
        planner.plan(operation, world.targets(planner.wants(operation)), world)
    assert caught.value.kind == kind


def test_a_remove_with_the_right_hash_passes(world):
    world.write("t", "/r/a", b"x")
    operation = Remove(path="/r/a", expected_hash=Bytes(b"x").hash.upper())
    plan = RemovePlanner().plan(operation, world.targets(RemovePlanner().wants(operation)), world)
    assert plan.changes[0].after == ABSENT


def test_a_large_tree_is_said_to_whoever_approves(world):
    world.outside("/r/d/a", b"x")
    operation = Remove(path="/r/d")
    plan = RemovePlanner().plan(operation, world.targets(RemovePlanner().wants(operation)), world)
    assert "1 entries" in plan.unusual[0]


def test_a_recorded_name_leads_to_its_own_place_or_nowhere():
    odd = "/r/a\\nb"
    assert [want.path for want in wants(odd, "write")] == ["/r/a\\nb", "/r/a\\\\nb"]
    assert [want.path for want in wants("/r/a\nb", "write")] == ["/r/a\nb"]

    def at(path: str) -> Target:
        return Target(want=Want(path=path, access="write"), path=seal(path))

    assert place(odd, [at("/r/a\nb"), at(odd)]).text == odd
    with pytest.raises(OutOfDate) as caught:
        place("/r/link/a", [at("/elsewhere/a")])
    assert caught.value.kind == "stale"


def test_states_know_files_from_empty_files(world):
    world.disk["/r/a"] = FileState(Bytes(b""), 0o644)
    world.remove("t", "/r/a")
    gone = world.store.newest("/r/a")
    world.restore("t", gone.previous)
    assert world.said()["/r/a"] == (b"", 0o644)
