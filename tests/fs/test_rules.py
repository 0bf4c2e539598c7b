"""Ignore rules, against git itself."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from handrail.fs.rules import Rules

NAMES = ["a", "b", "ab", "a.o", "#x", "!y", "a b", "[a]", "a{b}"]
FILES = [
    *(f"{name}/{inner}" for name in NAMES for inner in ("a", "b/a.o", "ab/b/#x", "a.o/a b", "[a]", "!y")),
    *(f"z{name}" for name in NAMES),
]
DIRECTORIES = sorted({path[:at] for path in FILES for at, c in enumerate(path) if c == "/"})
PIECE = st.sampled_from(
    ["a", "b", "o", ".", "*", "?", "[ab]", "[!a]", "[^b]", "**", "/", "/", "\\#", "\\!", "\\ ", " ", "{", "#", "!"]
)
# Beside other characters git itself takes `**` for `*` or not, by where its literal beginning ends.
CLEAR = re.compile(r"!?(?:(?:(?!\*\*)[^/])*|\*\*)(?:/(?:(?:(?!\*\*)[^/])*|\*\*))*").fullmatch
LINE = st.lists(PIECE, min_size=1, max_size=5).map("".join).filter(CLEAR)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("rules")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for path in FILES:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("")
    return root


@settings(max_examples=120, deadline=None)
@given(st.lists(LINE, min_size=1, max_size=4))
@example(["*", "!*/", "!*.o"])
@example(["a/**/b", "!a/b"])
@example(["/a", "b/"])
@example(["a  ", "\\#x", "\\!y"])
@example(["[[:alpha:]]", "**"])
@example(["a{b}"])
def test_rules_mean_what_git_means(repository: Path, lines: list[str]) -> None:
    (repository / ".gitignore").write_text("\n".join(lines) + "\n")
    listed = subprocess.run(
        ["git", "-C", str(repository), "check-ignore", "--no-index", "-z", "--stdin"],
        input=b"\0".join(os.fsencode(path) for path in [*FILES, *DIRECTORIES]),
        capture_output=True,
        check=False,
    ).stdout
    by_git = {os.fsdecode(name) for name in listed.split(b"\0") if name}
    rules = Rules("\n".join(lines).encode())
    ours = {path for path in FILES if rules.ignore(path)} | {path for path in DIRECTORIES if rules.ignore(path + "/")}
    assert ours == by_git
