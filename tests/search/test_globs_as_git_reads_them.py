"""git on random globs, where both dialects read alike (git sees bytes): the files that a glob names are git's too."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_view import Finder, tree

NAMES = ["a", "ab", "b.py", ".a", "a.b", "A", "x y", "[a]", "a*", "a?b", "{a,b}", "-e", "a ", "a]b", "a,b", "!a"]
FOLDERS = ["", "a/", "ab/", "a/b/", ".h/", "x y/", "[a]/", "a/a/a/"]
TOP = {folder.split("/")[0] for folder in FOLDERS}
FILES = [folder + name for folder in FOLDERS for name in NAMES if folder + name not in TOP | {"a/a", "a/b", "a/a/a"}]

WILD = ["*", "?", "[ab]", "[!a]", "[a-c]", "[^.]", r"\*", r"\[", r"\?"]
PARTS = st.lists(
    st.sampled_from(
        ["a", "b", ".", "x", " ", "é", "*", "?", "[ab]", "[!a]", "[a-c]", "[^.]", r"\*", r"\[", r"\?", "]"]
    ),
    min_size=1,
    max_size=4,
).map("".join)
COMPONENTS = st.one_of(PARTS, st.just("**"), st.sampled_from(["a", "ab", "*", ".h"]))
GLOBS = st.lists(COMPONENTS, min_size=1, max_size=4).map("/".join)


def alike(glob: str) -> bool:
    """Whether both read it the same: to git one without a wildcard is a directory too, and `**` in a name is `*`."""
    parts = glob.split("/")
    wild = any(character in plain(glob) for character in "*?[")
    return wild and not any(part in {".", ".."} or ("**" in part and part != "**") for part in parts)


def plain(glob: str) -> str:
    return glob.replace(r"\*", "").replace(r"\[", "").replace(r"\?", "")


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> Finder:
    found = Finder(tree(tmp_path_factory.mktemp("globs").resolve(), dict.fromkeys(FILES, "needle\n")))
    found.view.until += 1 << 30
    for command in (["init", "-q"], ["add", "-A", "--force", "."]):
        subprocess.run(["git", "-c", "core.excludesFile=", *command], cwd=found.root, check=True, capture_output=True)
    return found


def git_names(root: Path, glob: str) -> set[str]:
    spec = f":(glob){glob}"
    done = subprocess.run(["git", "ls-files", "-z", "--", spec], cwd=root, capture_output=True, check=True)
    return {os.fsdecode(name) for name in done.stdout.split(b"\0") if name}


@settings(max_examples=100)
@given(glob=GLOBS.filter(alike))
def test_globs_name_what_git_names(finder: Finder, glob: str) -> None:
    # Without a slash a glob is a name at any depth here; an existing name that holds glob characters wins.
    wanted = git_names(finder.root, glob if "/" in glob else f"**/{glob}")
    if (finder.root / glob).is_file():
        wanted = {glob}
    assert set(finder.listed(finder.glob(glob, text_cap=1 << 30))) == wanted


@settings(max_examples=15)
@given(glob=GLOBS.filter(alike))
def test_a_search_is_narrowed_by_the_same_globs(engine: str, finder: Finder, glob: str) -> None:
    named = set(finder.listed(finder.glob(glob, text_cap=1 << 30)))
    assert set(finder.files(finder.search("needle", file_pattern=glob, text_cap=1 << 30))) == named


@settings(max_examples=40)
@given(heads=st.lists(PARTS, min_size=1, max_size=3), tail=st.sampled_from(["", "*", ".py", "/**", "/b"]))
def test_braces_stand_for_each_of_their_alternatives(finder: Finder, heads: list[str], tail: str) -> None:
    heads = [head for head in heads if head not in {".", ".."} and "**" not in head + tail[:1]] or ["a"]
    each = [set(finder.listed(finder.glob(head + tail, text_cap=1 << 30))) for head in heads]
    if not any((finder.root / (head + tail)).is_file() for head in heads):
        found = set(finder.listed(finder.glob("{" + ",".join(heads) + "}" + tail, text_cap=1 << 30)))
        assert found == set().union(*each)
        assert set(finder.listed(finder.glob("./" + heads[0] + tail))) == (
            each[0] if "/" in tail else {name for name in each[0] if "/" not in name}
        )
