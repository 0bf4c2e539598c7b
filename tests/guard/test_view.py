"""What planners see: nothing hidden, one version of each file, only rows that the true file holds."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from guarded import Guarded

from handrail.fs.protocol import Bounds, RawHits
from handrail.guard.view import Allowance, CallView
from handrail.guard.witness import bears_out
from handrail.model.calls import Cancellation
from handrail.model.errors import BackendFailed, NotThere, Refused
from handrail.model.paths import RealPath
from handrail.model.view import Grep, RowHit, Tally, Told


@pytest.fixture
def world(tmp_path: Path) -> Guarded:
    world = Guarded(tmp_path, deny=["denied"], own=[f"{tmp_path}/root/.data"])
    world.put(".handrailignore", "*.hid\n")
    for name in ("a.txt", "denied/x", ".data/db", "b.hid", ".env", ".env.example", "sub/c.txt", "sub/server.key"):
        world.put(name, f"needle in {name}\n")
    (world.base / "outside").write_text("needle outside\n")
    (world.root / "leak").symlink_to(world.base / "outside")
    (world.root / "in").symlink_to("a.txt")
    (world.root / "secret").symlink_to(".env")
    return world


def names(world: Guarded, found: Any) -> list[str]:
    return sorted(str(item.path)[len(str(world.root)) + 1 :] for item in found)


def walked(world: Guarded, view: CallView, **more: Any) -> list[str]:
    root = world.target(".").real
    return sorted(p.text[len(root.text) + 1 :] for p in view.walk(root, Tally({}), **more))


def searched(world: Guarded, view: CallView, *roots: str, tally: Tally | None = None, **more: Any) -> list[str]:
    grep = Grep(pattern="needle", roots=[world.target(r).real for r in roots or (".",)], **more)
    return names(world, view.search(grep, tally or Tally({})))


def test_a_file_has_one_version_for_the_whole_call(world: Guarded) -> None:
    view = world.view()
    path = world.target("a.txt").real
    first = view.look(path).content().bytes()
    world.put("a.txt", "changed\n")
    assert view.look(path).content().bytes() == first
    assert world.view().look(path).content().bytes() == b"changed\n"


@pytest.mark.parametrize("name", ["denied/x", ".data/db", "b.hid", "leak", "../outside"])
def test_what_policy_hides_is_not_there(world: Guarded, name: str) -> None:
    view, path = world.view(), world.target(name).real
    assert view.visibility(path.text) == "hidden"
    assert view.stat(path) is None
    with pytest.raises(NotThere):
        view.look(path)
    assert view.child(world.target(".").real, name.partition("/")[0]) is None or "/" in name


def test_entries_leave_out_what_is_hidden_and_name_what_is_sensitive(world: Guarded) -> None:
    found = {e.name for e in world.view().entries(world.target(".").real)}
    assert found == {"a.txt", ".handrailignore", ".env", ".env.example", "sub", "leak", "in", "secret"}
    with pytest.raises(NotThere):
        world.view().entries(world.target("denied").real)


def test_a_child_follows_its_link_only_inside_what_is_shown(world: Guarded) -> None:
    view, root = world.view(), world.target(".").real
    assert str(view.child(root, "in")) == str(world.root / "a.txt")
    assert view.child(root, "leak") is None
    assert view.child(root, "gone") is None
    assert view.child(root, "..") is None


def test_a_walk_names_sensitive_files_and_no_hidden_ones(world: Guarded) -> None:
    world.put(".gitignore", "sub/\n")
    shown = [".env", ".env.example", ".gitignore", ".handrailignore", "a.txt"]
    assert walked(world, world.view()) == shown
    assert walked(world, world.view(), respect_ignore=False) == [*shown, "sub/c.txt", "sub/server.key"]
    assert walked(world, world.view(respect_ignore=False)) == [*shown, "sub/c.txt", "sub/server.key"]


def test_a_sensitive_file_that_a_walk_named_is_not_looked_into_unasked(world: Guarded) -> None:
    view = world.view()
    path = world.target(".env").real
    assert view.look(path).stat.size
    walked(world, view)
    with pytest.raises(Refused):
        view.look(path)
    view.grant(path)
    assert view.look(path).stat.size
    assert view.child(world.target(".").real, "secret") == path
    with pytest.raises(Refused):
        view.look(path)


def test_a_search_leaves_out_hidden_and_sensitive_files(world: Guarded) -> None:
    assert searched(world, world.view()) == [".env.example", "a.txt", "sub/c.txt"]


def test_an_ignore_file_that_shows_a_secret_again_shows_it_to_no_search(world: Guarded) -> None:
    world.put(".ignore", "!.env\n!b.hid\n!denied\n!.data\n!*.key\n")
    for respect in (True, False):
        found = searched(world, world.view(), respect_ignore=respect)
        assert found == [".env.example", "a.txt", "sub/c.txt"]


class Led:
    """A backend whose search was led elsewhere: it names files and rows of its own."""

    def __init__(self, world: Guarded, hits: list[RawHits]) -> None:
        self._fs = world.fs
        self._hits = hits

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fs, name)

    def search(self, grep: Grep, bounds: Bounds, tally: Tally) -> Iterator[RawHits]:
        return iter(self._hits)


def test_rows_are_believed_only_when_the_true_file_holds_them(world: Guarded) -> None:
    (world.root / "door").symlink_to(world.base)

    def told(name: str, *rows: bytes) -> RawHits:
        hits = [RowHit(row=1, data=row, spans=()) for row in rows]
        return RawHits(name=f"{world.root}/{name}", told=Told(count=len(rows), numbers=(1,), rows=hits))

    led = Led(
        world,
        [
            told("a.txt", b"needle in a.txt\n"),
            told("sub/c.txt", b"needle outside\n"),
            told("door/outside", b"needle outside\n"),
            told("leak", b"needle outside\n"),
            told("../outside", b"needle outside\n"),
            told(".env", b"needle in .env\n"),
            told("b.hid", b"needle in b.hid\n"),
            told("gone", b"x"),
            RawHits(name=str(world.base / "outside"), told=Told(count=1, numbers=(1,))),
        ],
    )
    view = CallView(led, world.resolver, world.policy, session="s")
    grep = Grep(pattern="needle", roots=[world.target(".").real])
    found = list(view.search(grep, Tally({})))
    assert names(world, found) == ["a.txt", "door/outside", "gone", "leak", "sub/c.txt"], (
        "nothing hidden, sensitive or beyond"
    )
    assert names(world, [hits for hits in found if view.rows(hits, 0, 9) is not None]) == ["a.txt"]


def test_what_a_child_told_is_not_sure_where_a_directory_changed_meanwhile(world: Guarded) -> None:
    class Moved(Led):
        def search(self, grep: Grep, bounds: Bounds, tally: Tally) -> Iterator[RawHits]:
            return self._fs.search(grep, bounds, tally)

        def changed(self, top: RealPath, directories: Collection[str], since: int) -> frozenset[str]:
            assert (top.text, set(directories)) == (str(world.root), {str(world.root), f"{world.root}/sub"})
            return frozenset({f"{world.root}/sub"})

    view = CallView(Moved(world, []), world.resolver, world.policy, session="s")
    grep = Grep(pattern="needle", roots=[world.target(".").real])
    sure = {hits.path.name: hits.sure for hits in view.search(grep, Tally({}))}
    assert sure == {".env.example": True, "a.txt": True, "c.txt": False}


def test_a_row_is_found_across_pieces_and_in_wide_encodings(world: Guarded) -> None:
    def holds(data: bytes, *rows: bytes) -> bool:
        world.put("w", data)
        return bears_out(world.fs.open(world.target("w").real), [RowHit(row=1, data=row, spans=()) for row in rows])

    edge = b"x" * ((1 << 20) - 3) + b"needle\n" + b"y" * 10
    assert holds(edge, b"needle\n", b"yyy")
    assert not holds(edge, b"yyy", b"needle\n")
    assert not holds(b"one\n", b"one\n", b"one\n")
    assert holds(b"", b"")
    assert holds("\ufeffné\n".encode("utf-16-le"), "né\n".encode())
    assert not holds("\ufeffné\n".encode("utf-16-be"), b"other\n")


def test_time_that_is_up_ends_a_walk_and_a_search_with_what_was_found(world: Guarded) -> None:
    view = world.view(allowance=Allowance(seconds=0))
    tally = Tally({})
    assert list(view.walk(world.target(".").real, tally)) == []
    assert not tally.complete
    with pytest.raises(BackendFailed) as caught:
        view.check()
    assert caught.value.kind == "deadline_exceeded"
    assert view.remaining() == 0


def test_a_cancelled_call_stops(world: Guarded) -> None:
    cancellation = Cancellation()
    view = world.view(cancellation=cancellation)
    view.check()
    cancellation.cancel()
    with pytest.raises(BackendFailed) as caught:
        view.check()
    assert caught.value.kind == "cancelled"


def test_the_text_budget_is_taken_whole_or_not_at_all(world: Guarded) -> None:
    view = world.view(allowance=Allowance(text=10))
    assert [view.take_text(n) for n in (6, 5, 4, 1)] == [True, False, True, False]


def test_names_in_the_output_directory_stay_taken_though_the_files_are_hidden(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "theirs").write_text("x")
    world = Guarded(tmp_path, output_directory=str(out))
    view, path = world.view(), world.target(str(out / "theirs")).real
    assert view.stat(path) is not None
    assert view.visibility(path.text) == "hidden"
    assert view.entries(world.target(str(out)).real) == []
    with pytest.raises(NotThere):
        view.look(path)


def test_progress_is_told_where_somebody_listens(world: Guarded) -> None:
    heard: list[tuple[float, float | None, str]] = []
    world.view(progress=lambda *said: heard.append(said)).progress(1, 2, "half")
    world.view().progress(1, None, "nobody")
    assert heard == [(1, 2, "half")]


def test_time_and_session_are_those_of_the_call(world: Guarded) -> None:
    view = world.view(clock=lambda: 7)
    assert (view.now(), view.session) == (7, "s")
