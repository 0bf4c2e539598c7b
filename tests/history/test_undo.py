"""A task is taken back, and what others changed since stays."""

from collections.abc import Iterator

import pytest
from history_world import World, make

from handrail.history.undo import UndoPlanner
from handrail.model.errors import HandrailError, OutOfDate
from handrail.model.files import DirectoryState
from handrail.model.operations import Undo


@pytest.fixture
def world(tmp_path) -> Iterator[World]:
    made = make(tmp_path / "store")
    yield made
    made.store.close()


LINES = b"one\ntwo\nthree\nfour\nfive\nsix\n"


def text(world: World, path: str = "/r/a") -> bytes:
    return world.said()[path][0]


def test_an_untouched_task_goes_back_whole(world):
    world.outside("/r/a", LINES, 0o755)
    world.write("t", "/r/a", b"other")
    world.write("t", "/r/new", b"x")
    world.remove("t", "/r/a")
    results = world.undo("t", as_task="u")
    assert world.said() == {"/r": "directory", "/r/a": (LINES, 0o755)}
    assert not any(isinstance(result, HandrailError) for result in results.values())


def test_undo_of_an_undo_is_the_identity(world):
    world.outside("/r/a", LINES)
    world.outside("/r/d/deep/b", b"in a tree")
    world.disk["/r/d"] = DirectoryState(mode=0o700)
    world.write("t", "/r/a", LINES.replace(b"two", b"TWO"))
    world.write("t", "/r/new/place/c", b"made")
    world.remove("t", "/r/d")
    after = world.said()
    world.undo("t", as_task="u1")
    assert sorted(world.said()) == ["/r", "/r/a", "/r/d", "/r/d/deep", "/r/d/deep/b"]
    before = world.said()
    world.undo("u1", as_task="u2")
    assert world.said() == after
    world.undo("u2", as_task="u3")
    assert world.said() == before
    assert world.undo("t", as_task="u4")
    assert world.said() == before, "what is taken back already changes nothing"


def test_a_persons_lines_are_kept(world):
    world.outside("/r/a", LINES)
    world.write("t", "/r/a", LINES.replace(b"two", b"TWO"))
    world.outside("/r/a", LINES.replace(b"two", b"TWO").replace(b"six", b"six, by hand"))
    results = world.undo("t", as_task="u")
    assert text(world) == LINES.replace(b"six", b"six, by hand")
    assert results["/r/a"].merged


def test_a_persons_lines_between_two_edits_of_the_task_are_kept(world):
    world.outside("/r/a", LINES)
    world.write("t", "/r/a", LINES.replace(b"one", b"ONE"))
    world.outside("/r/a", text(world).replace(b"six", b"by hand"))
    world.write("t", "/r/a", text(world).replace(b"three", b"THREE"))
    world.undo("t", as_task="u")
    assert text(world) == LINES.replace(b"six", b"by hand")


def test_another_tasks_changes_are_kept(world):
    world.outside("/r/a", LINES)
    world.write("t1", "/r/a", LINES.replace(b"one", b"ONE"))
    world.write("t2", "/r/a", text(world).replace(b"six", b"SIX"))
    world.undo("t1", as_task="u")
    assert text(world) == LINES.replace(b"six", b"SIX")
    world.undo("t2", as_task="u2")
    assert text(world) == LINES


def test_an_overlap_stays_as_it_is_and_offers_the_markers(world):
    world.outside("/r/a", LINES)
    world.write("t", "/r/a", LINES.replace(b"two", b"TWO"))
    world.write("t", "/r/b", b"also")
    world.outside("/r/a", LINES.replace(b"two", b"two by hand"))
    results = world.undo("t", as_task="u")
    assert text(world) == LINES.replace(b"two", b"two by hand")
    assert "/r/b" not in world.disk, "the other paths go on"
    conflict = results["/r/a"]
    assert isinstance(conflict, OutOfDate) and conflict.kind == "conflict" and not conflict.may_retry
    assert conflict.facts["conflicts"] == 1
    merge = str(conflict.facts["merge"])
    assert "<<<<<<< before task t\ntwo\n=======\ntwo by hand\n>>>>>>> on disk now\n" in merge


def test_the_markers_on_offer_are_bounded(world):
    world.outside("/r/a", b"old\n")
    world.write("t", "/r/a", b"new\n" * 9000)
    world.outside("/r/a", b"mine\n" * 9000)
    conflict = world.undo("t", as_task="u")["/r/a"]
    assert isinstance(conflict, OutOfDate)
    assert len(str(conflict.facts["merge"])) == 8000
    assert conflict.facts["merge_cut"] is True


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "gbk", "shift-jis", "latin-1"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_byte_of_both_sides_survives_a_merge(world, encoding, end):
    odd = {"gbk": "测试", "shift-jis": "テスト", "latin-1": "café"}.get(encoding, "ünï 🎈")
    rows = [f"{odd} line number {n} of this text" for n in range(12)]

    def encoded(rows: list[str]) -> bytes:
        text = end.join(rows)
        return b"\xfe\xff" + text.encode(encoding) if encoding == "utf-16-be" else text.encode(encoding)

    ours, both, theirs = list(rows), list(rows), list(rows)
    ours[1] = both[1] = "by the task " + odd
    theirs[10] = both[10] = "by hand " + odd
    world.outside("/r/a", encoded(rows))
    world.write("t", "/r/a", encoded(ours))
    world.outside("/r/a", encoded(both))
    world.undo("t", as_task="u")
    assert text(world) == encoded(theirs)


def test_stray_bytes_and_mixed_ends_survive_a_merge(world):
    world.outside("/r/a", b"\xff one\r\ntwo\n\x0cthree\rx\nfour\nfive\xfe")
    world.write("t", "/r/a", b"\xff ONE\r\ntwo\n\x0cthree\rx\nfour\nfive\xfe")
    world.outside("/r/a", b"\xff ONE\r\ntwo\n\x0cthree\rx\nfour\n5\xfe")
    world.undo("t", as_task="u")
    assert text(world) == b"\xff one\r\ntwo\n\x0cthree\rx\nfour\n5\xfe"


def test_a_binary_that_others_changed_is_a_conflict(world):
    world.outside("/r/a", b"\0\1\2" * 50)
    world.write("t", "/r/a", b"\0\1\3" * 50)
    world.outside("/r/a", b"\0\1\4" * 50)
    assert world.undo("t", as_task="u")["/r/a"].kind == "conflict"
    assert text(world) == b"\0\1\4" * 50


def test_a_mode_set_by_others_is_kept(world):
    world.outside("/r/a", LINES, 0o644)
    world.write("t", "/r/a", b"other")
    world.outside("/r/a", b"other", 0o755)
    world.undo("t", as_task="u")
    assert world.said()["/r/a"] == (LINES, 0o755)


def test_what_others_did_to_files_the_task_made_or_changed_is_not_lost(world):
    world.outside("/r/edited", LINES)
    world.outside("/r/removed", LINES)
    world.write("t", "/r/edited", b"e")
    world.write("t", "/r/made", b"m")
    world.write("t", "/r/made and gone", b"m")
    world.remove("t", "/r/removed")
    world.outside("/r/edited", None)
    world.outside("/r/made", b"m, by hand")
    world.outside("/r/made and gone", None)
    world.outside("/r/removed", b"new by hand")
    before = world.said()
    results = world.undo("t", as_task="u")
    assert world.said() == before
    kinds = {path: getattr(result, "kind", "unchanged") for path, result in results.items()}
    assert kinds == {
        "/r/edited": "conflict",
        "/r/made": "conflict",
        "/r/made and gone": "unchanged",
        "/r/removed": "conflict",
    }


def test_parents_that_a_create_made_are_removed_when_empty(world):
    world.write("t", "/r/d/e/a", b"1")
    world.write("t", "/r/d/b", b"2")
    world.undo("t", as_task="u")
    assert world.said() == {"/r": "directory"}
    world.undo("u", as_task="u2")
    world.outside("/r/d/e/mine", b"by hand")
    results = world.undo("t", as_task="u3")
    assert sorted(world.disk) == ["/r", "/r/d", "/r/d/e", "/r/d/e/mine"]
    assert results["/r/d"].unchanged and results["/r/d"].warnings


def test_a_directory_holding_what_the_task_did_not_make_stays(world):
    world.write("t", "/r/d/a", b"1")
    world.outside("/r/d/a", b"1 by hand")
    results = world.undo("t", as_task="u")
    assert results["/r/d/a"].kind == "conflict"
    assert results["/r/d"].unchanged
    assert text(world, "/r/d/a") == b"1 by hand"


def test_a_tree_and_what_was_changed_in_it_go_back_together(world):
    world.outside("/r/d/e/a", LINES)
    world.outside("/r/d/b", LINES)
    before = world.said()
    world.write("t", "/r/d/e/a", LINES.replace(b"two", b"TWO"))
    world.write("t", "/r/d/new", b"made")
    world.remove("t", "/r/d/b")
    world.remove("t", "/r/d/e")
    world.remove("t", "/r/d")
    after = world.said()
    for number in range(4):
        assert not any(
            isinstance(r, HandrailError)
            for r in world.undo(f"u{number - 1}" if number else "t", as_task=f"u{number}").values()
        )
        assert world.said() == (after if number % 2 else before)


def test_a_tree_that_others_changed_since_it_came_back_is_a_conflict(world):
    world.outside("/r/d/a", b"1")
    world.remove("t", "/r/d")
    world.undo("t", as_task="u")
    world.outside("/r/d/b", b"2")
    assert world.undo("u", as_task="u2")["/r/d"].kind == "conflict"
    assert text(world, "/r/d/b") == b"2"


@pytest.mark.parametrize(
    ("task", "path", "kind"), [("none", "/r/a", "task_not_found"), ("t", "/r/b", "version_not_found")]
)
def test_what_cannot_be_undone_is_said(world, task, path, kind):
    world.write("t", "/r/a", b"x")
    planner, operation = UndoPlanner(world.store), Undo(task=task, path=path)
    with pytest.raises(HandrailError) as caught:
        planner.plan(operation, world.targets(planner.wants(operation)), world)
    assert caught.value.kind == kind
