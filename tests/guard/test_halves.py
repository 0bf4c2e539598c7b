"""Globs taken apart at their last slash name what they name as a whole."""

from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.guard.halves import Halves, Names
from handrail.text.globs import Component, Matcher

_PART = st.sampled_from(
    [
        "a",
        "b",
        "**",
        "*",
        "?",
        "a*",
        "*.b",
        "{a,b}",
        "[ab]",
        "[!a]",
        "\\*",
        "a{,b/c}",
        ".",
        "é",
        "A",
        "\udcff",
        "[^/]b",
        "*.b.a",
        "*..",
        "*.*",
        "*b",
        "*.[b]",
    ]
)
_NAME = st.sampled_from(
    [
        "a",
        "b",
        "ab",
        "a.b",
        "c",
        "*",
        "é",
        "É",
        "A",
        "B",
        "\udcff",
        "x\ny",
        "a\x01",
        "**",
        "x.b.a",
        ".b",
        "..",
        "a..",
        "a.",
    ]
)
_GLOB = st.builds(
    lambda parts, end: "/" + "/".join(parts) + end, st.lists(_PART, max_size=5), st.sampled_from(["", "/"])
)


@settings(max_examples=2000, deadline=None)
@given(st.lists(_GLOB, max_size=4), st.lists(_NAME, max_size=4), st.lists(_NAME, max_size=5), st.booleans())
def test_a_set_of_globs_names_in_a_directory_what_it_names_by_whole_paths(
    globs: list[str], directory: list[str], names: list[str], ignore_case: bool
) -> None:
    whole = Matcher(globs, ignore_case=ignore_case)
    place = "/" + "/".join(directory)
    here = Halves(globs, ignore_case=ignore_case).here(place)
    named = [name for name in names if whole.match(place.rstrip("/") + "/" + name)]
    assert [name for name in names if here.match(name)] == named
    assert here.those(names) == frozenset(named)


def test_one_name_does_not_run_into_the_next_when_all_are_asked_at_once() -> None:
    names = Names(map(Component, ["a[^/]*b", "[^/x]c", "[\0-z]+q"]))
    assert set(names.those(["a1", "2b", "yc", "c", "az", "q"])) == {"yc"}
    assert list(names.those(["a-b"])) == ["a-b"]
    assert list(names.those([])) == []


def test_every_directory_below_a_named_one_is_named_as_a_whole() -> None:
    halves = Halves(["/r/s/**", "/r/*/t/**"])
    assert halves.here("/r/s/deep/er").everything and halves.here("/r/x/t").everything
    assert not halves.here("/r/x").everything
