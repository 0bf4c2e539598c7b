"""From what was typed to one real path."""

import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from guarded import Guarded
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.fs.following import resolve as follow
from handrail.model.errors import HandrailError, InvalidCall, OutOfDate
from handrail.model.operations import Want
from handrail.model.paths import shown, unescaped, within


@pytest.fixture
def guarded(tmp_path: Path) -> Guarded:
    return Guarded(tmp_path)


def test_a_tilde_is_home_and_a_relative_path_starts_at_the_root(guarded: Guarded) -> None:
    assert guarded.target("~").real.text == str(guarded.home)
    assert guarded.target("~/x/y").real.text == f"{guarded.home}/x/y"
    assert guarded.target("a/./b").real.text == f"{guarded.root}/a/b"
    assert guarded.target("~other").real.text == f"{guarded.root}/~other"
    assert guarded.target(".").real.text == str(guarded.root)
    assert guarded.target("-e").real.text == f"{guarded.root}/-e"


def test_dots_go_up_from_where_a_link_leads(guarded: Guarded) -> None:
    (guarded.base / "far" / "deep").mkdir(parents=True)
    (guarded.root / "link").symlink_to(guarded.base / "far" / "deep")
    assert guarded.target("link/../x").real.text == f"{guarded.base}/far/x"
    assert guarded.target("none/../x").real.text == f"{guarded.root}/x"


def test_a_link_above_a_missing_tail_is_followed(guarded: Guarded) -> None:
    (guarded.root / "link").symlink_to("/etc")
    target = guarded.target("link/new/file", "write")
    assert (target.real.text, target.exists, target.linked) == ("/etc/new/file", False, False)


def test_the_last_link_is_kept_where_it_is_meant_itself(guarded: Guarded) -> None:
    guarded.put("file")
    (guarded.root / "link").symlink_to("file")
    kept = guarded.target("link", "write", follow=False)
    assert (kept.real.name, kept.linked, kept.exists) == ("link", True, True)
    assert guarded.target("link").real.name == "file"


@pytest.mark.parametrize(
    "path", ["", "a\0b", "\ud800", "x" * 300, "a/" * 3000, "é" * 200, "/proc/self/fd/x\0", "loop", "loop/x"]
)
def test_what_no_file_can_be_named_is_an_invalid_path(guarded: Guarded, path: str) -> None:
    (guarded.root / "loop").symlink_to("loop")
    with pytest.raises(InvalidCall) as caught:
        guarded.target(path)
    assert caught.value.kind == "invalid_path"
    optional = guarded.target(path, optional=True)
    assert optional.path is None
    assert optional.error is not None and optional.error.kind == "invalid_path"


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "b\u202ec", "x\udcff", "a\\nb", "a\\\\b", "tab\t"])
def test_a_name_is_found_by_the_spelling_in_which_it_is_shown(guarded: Guarded, name: str) -> None:
    Path(os.fsdecode(os.fsencode(str(guarded.root)) + b"/" + os.fsencode(name))).touch()
    assert guarded.target(shown(name)).real.text == f"{guarded.root}/{name}"
    assert guarded.target(name).real.name in {name, unescaped(name)}


def test_a_name_that_looks_escaped_is_taken_as_typed_unless_the_other_exists(guarded: Guarded) -> None:
    assert guarded.target("C:\\temp\\new.txt", "write").real.name == "C:\\temp\\new.txt"
    assert guarded.target("gone\\nname", "history").real.name == "gone\nname"
    (guarded.root / "a\nb").mkdir()
    assert guarded.target("a\\nb/new\\t", "write").real.text == f"{guarded.root}/a\nb/new\\t"
    guarded.put("a\\nb")
    assert guarded.target("a\\nb").real.name == "a\nb"


def test_what_a_walk_names_is_taken_as_it_stands_and_only_below_its_root(guarded: Guarded) -> None:
    root = guarded.target(".").real
    assert guarded.resolver.beneath(root, f"{root.text}/a/b") is not None
    for name in (f"{root.text}-evil/a", f"{root.text}/../x", f"{root.text}/a//b", f"{root.text}/.", "/etc/passwd"):
        assert guarded.resolver.beneath(root, name) is None
    top = guarded.resolver.directory("/")
    found = guarded.resolver.beneath(top, "/etc/passwd")
    assert found is not None and found.text == "/etc/passwd"


def test_a_child_is_one_name_and_its_link_is_followed(guarded: Guarded) -> None:
    guarded.put("file")
    (guarded.root / "link").symlink_to("file")
    root = guarded.target(".").real
    assert guarded.resolver.child(root, "link").name == "file"
    for name in ("..", ".", "", "a/b"):
        with pytest.raises(InvalidCall):
            guarded.resolver.child(root, name)


def test_a_recorded_path_must_not_lead_elsewhere_now(guarded: Guarded) -> None:
    path = guarded.put("dir/file")
    assert guarded.resolver.recorded(str(path)).text == str(path)
    assert guarded.resolver.recorded(str(guarded.root / "gone" / "x")).name == "x"
    (guarded.root / "dir").rename(guarded.root / "old")
    (guarded.root / "dir").symlink_to("/etc")
    with pytest.raises(OutOfDate) as caught:
        guarded.resolver.recorded(str(path))
    assert caught.value.kind == "stale"
    (guarded.root / "link").symlink_to("old")
    assert guarded.resolver.recorded(str(guarded.root / "link")).name == "link"


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["..", ".", "", "in", "out", "up", "x", "file", "loop", "~", "\\n"]), max_size=8))
def test_what_is_resolved_holds_no_link_and_is_where_the_system_goes(parts: list[str]) -> None:
    world = _world()
    path = "/".join(parts) or "."
    try:
        real = world.resolver.resolve(Want(path=path, access="read")).real.text
    except HandrailError as error:
        assert error.kind == "invalid_path"
        return
    assert follow(real).text == real
    assert within(real, "/")
    if not path.startswith(("/", "~")) and "file/" not in path:
        assert real == os.path.realpath(world.root / path)


@cache
def _world() -> Guarded:
    world = Guarded(Path(_PLACE.name))
    (world.base / "out").mkdir()
    world.put("file")
    for name, where in {"in": "x", "out": "../out", "up": "..", "loop": "loop"}.items():
        (world.root / name).symlink_to(where)
    return world


_PLACE = TemporaryDirectory()
