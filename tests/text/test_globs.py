"""The glob dialect, against git's own pathspecs where the two agree."""

import os
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from handrail.model.errors import InvalidCall
from handrail.text import globs
from handrail.text.globs import Matcher


@pytest.mark.parametrize(
    ("glob", "named", "not_named"),
    [
        ("*.py", ["x.py", "a/x.py", ".py"], ["x.pyc", "a.py/x"]),
        ("src/*.py", ["src/x.py"], ["a/src/x.py", "src/a/x.py"]),
        ("src/**", ["src/x", "src/a/b"], ["src", "asrc/x"]),
        ("src/", ["src/x", "src/a/b"], ["src"]),
        ("**/x", ["x", "a/x", "a/b/x"], ["ax"]),
        ("a/**/b", ["a/b", "a/c/b", "a/c/d/b"], ["ab", "a/cb"]),
        ("***/x", ["x", "a/b/x"], ["ax"]),
        ("a**b", ["ab", "axxb", "q/axb"], ["a/b"]),
        ("*.{json,xml}", ["a.json", "b.xml"], ["a.jsonx", "a.yml"]),
        ("{a,b/{c,d}}.x", ["a.x", "q/a.x", "b/c.x", "b/d.x"], ["c.x", "q/b/c.x"]),
        ("[!a]?", ["bb", "q/b1"], ["ab", "b/", "b"]),
        ("[+-9]x", ["+x", "9x", ".x"], ["/x", "a/x:"]),
        (r"\*\{", ["*{"], ["a{", "**{"]),
        ("[]-]", ["]", "-"], ["a"]),
        (r"[\]]", ["]"], ["\\"]),
        ("?", ["é", "\n", os.fsdecode(b"\xff")], ["ab", ""]),
        ("/etc/**", ["/etc/a/b"], ["etc/a", "/etc"]),
        ("2026/07/26.md", ["2026/07/26.md"], ["a/2026/07/26.md"]),
        ("{,}", [], ["", "a"]),
        ("**", ["a", "a/b"], []),
    ],
)
def test_the_dialect(glob: str, named: list[str], not_named: list[str]) -> None:
    match = Matcher([glob]).match
    assert [path for path in named if not match(path)] == []
    assert [path for path in not_named if match(path)] == []


@pytest.mark.parametrize(
    ("glob", "position"),
    [("", 1), ("a[b", 2), ("x{a", 2), ("a}", 2), ("a\\", 2), ("[z-a]", 1), ("a/../x", 3), ("[[:alpha:]]", 2)],
)
def test_what_cannot_be_read_names_its_position(glob: str, position: int) -> None:
    with pytest.raises(InvalidCall) as refused:
        globs.to_regex(glob)
    assert (refused.value.kind, refused.value.facts["position"]) == ("invalid_glob", position)


def test_huge_globs_are_refused() -> None:
    for glob in ("{a,b}" * 50, "{" * 5000, "{" * 90, "x" * 5000, "{" + "," * 4000 + "}", "{a,b,c}" * 6 + "x" * 3000):
        with pytest.raises(InvalidCall):
            globs.to_regex(glob)


def test_which_names_the_globs_that_match() -> None:
    assert Matcher(["*.py", "a/**", "x"]).which("a/x.py") == [0, 1]
    assert Matcher([]).which("a") == []
    assert not Matcher([]).match("a")
    assert Matcher(["*.PEM"], ignore_case=True).match("a/b.pem")


@pytest.mark.parametrize("glob", ["**/*", "*.*", "?", "[]", "{*,?}", "./*", "../."])
def test_these_hold_no_literal(glob: str) -> None:
    assert not globs.has_literal(glob)


@pytest.mark.parametrize("glob", ["a*", r"\*", "[a]", "*.c", "{*,a}"])
def test_these_hold_a_literal(glob: str) -> None:
    assert globs.has_literal(glob)


NAMES = ["a", "b", "ab", "a.c", "b.c", ".c", "a b", "[a]", "-"]
PATHS = sorted(
    {"/".join(parts) for x in NAMES for y in NAMES for parts in ((x,), (x, y))} | {"a/b/c", "a/b/a.c", "a/a/a/b"}
)
PIECE = st.sampled_from(["a", "b", "c", ".", "*", "?", "[ab]", "[!a]", "[a-c]", "**", "-", r"\["])
COMPONENT = st.lists(PIECE, min_size=1, max_size=3).map("".join)
GLOB = st.lists(st.one_of(COMPONENT, st.just("**")), min_size=1, max_size=4).map("/".join)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that holds each path in a directory of its own; git's wildcards are of bytes, so all are ASCII."""
    root = tmp_path_factory.mktemp("indexed")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for number, path in enumerate(PATHS):
        place = root / str(number) / path
        place.parent.mkdir(parents=True)
        place.write_text("")
    subprocess.run(["git", "-C", str(root), "add", "-A"], check=True)
    return root


@settings(max_examples=80, deadline=None)
@given(glob=GLOB)
@example(glob="a/**/b")
@example(glob="**/a.c")
@example(glob="**")
@example(glob="[!a]*/*")
def test_globs_with_a_slash_mean_what_git_means(indexed: Path, glob: str) -> None:
    anchored = glob if "/" in glob else f"**/{glob}"
    parts = anchored.split("/")
    if any(part in {".", ".."} for part in parts):
        return
    listed = subprocess.run(
        ["git", "-C", str(indexed), "ls-files", "-z", "--", f":(glob)*/{anchored}"], capture_output=True, check=True
    ).stdout
    # A pathspec that names a directory means all below it; ours names it alone.
    by_git = {os.fsdecode(name).partition("/")[2] for name in listed.split(b"\0") if name}
    match = Matcher([glob]).match
    ours = {path for path in PATHS if match(path)}
    below = {path for path in PATHS if any(match(path[:at]) for at, c in enumerate(path) if c == "/")}
    assert ours | below == by_git | below
    assert ours <= by_git


@settings(max_examples=200, deadline=None)
@given(glob=COMPONENT, name=st.text(st.sampled_from("abc.é-["), min_size=1, max_size=4))
def test_globs_of_one_name_mean_what_fnmatch_means(glob: str, name: str) -> None:
    if glob == "..":
        return
    assert Matcher([glob]).match(name) == fnmatchcase(name, glob.replace(r"\[", "[[]"))


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab*?[]{}!\\/,.-^é\n\0\udcff$()|+#& "), max_size=12), st.text(max_size=6))
def test_any_text_is_read_or_refused(glob: str, path: str) -> None:
    try:
        Matcher([glob]).match(path)
        globs.expand(glob)
    except InvalidCall as refused:
        assert refused.kind == "invalid_glob"
