"""ripgrep itself on real trees: the same rows for patterns that RE2 and ripgrep read alike."""

import os
import random
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from plain_view import Finder

from handrail.fs.ripgrep import binary

WORDS = ["import", "self", "return", "None", "def", "class", "error", "name", "value", "str", "path", "TypeError", "x"]
PICKED = [
    "^import ", r"def __init__\(self", "TODO|FIXME", "[A-Z][a-z]+Error", "^[ \t]*$", "^class [A-Z]", "é|ñ|ü", "x*",
    r"self\.[a-z_]+\(", "(?i)copyright", "[0-9]{4}-[0-9]{2}-[0-9]{2}", "0x[0-9a-f]+", "https?://[^ )]+", r"\t", "^#",
    r"[^\x00-\x7f]", r"\{[^}]*\}", r"\\n", "-->", "(foo|bar|baz)[a-z]*", r"(?:[a-z]+\.){3}", "==", "^.{99,}$",
]  # fmt: skip
PIECES = [
    *WORDS,
    r"\(",
    r"\)",
    ":",
    r"\.",
    "=",
    " ",
    ",",
    '"',
    "[a-z]+",
    "[A-Z]",
    "[0-9]{2}",
    ".",
    ".*",
    "_",
    "(?:a|e)",
]
COUNT = 200


def patterns(*, seed: int = 11) -> list[str]:
    """Hand-picked ones, then random ones; none in which ripgrep's letters, digits or blanks are more than RE2's."""
    dice = random.Random(seed)
    made = ["".join(dice.choices(PIECES, k=dice.randrange(1, 5))) for _ in range(2 * COUNT)]
    return list(dict.fromkeys([*PICKED, *made]))[:COUNT]


def places() -> list[Path]:
    """Trees that are there wherever the tests run: packages, the standard library."""
    found = [Path(sysconfig.get_path("purelib")) / name for name in ("pathspec", "msgspec", "annotated_types")]
    found += [Path(sysconfig.get_path("stdlib")) / name for name in ("json", "email")]
    return [place.resolve() for place in found if place.is_dir()]


def ripgrep(pattern: str, place: Path) -> set[tuple[str, int]]:
    """Its rows, under no ignore rule."""
    return {(name, int(rest.partition(b":")[0])) for name, rest in _said(pattern, place, "-n")}


def counts(pattern: str, place: Path) -> dict[str, int]:
    """How many rows match in each file."""
    return {name: int(rest) for name, rest in _said(pattern, place, "-c")}


def _said(pattern: str, place: Path, *asked: str) -> Iterator[tuple[str, bytes]]:
    options = ["--no-config", "--no-ignore", "--hidden", "-g!.git", "--null", "-H", "--no-heading", "--color=never"]
    command = [binary(), *options, *asked, "-e", pattern, "--", str(place)]
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode in {0, 1}, done.stderr.decode()
    for line in done.stdout.split(b"\n"):
        name, nul, rest = line.partition(b"\0")
        if nul:
            yield os.path.relpath(os.fsdecode(name), place), rest


def utf8(place: Path) -> set[str]:
    """The files in which ripgrep sees the text that a person sees (UTF-8, no CR), and that the plain view shows."""
    names = set()
    for directory, _, files in os.walk(place):
        for name in files:
            path = Path(directory, name)
            data = path.read_bytes() if path.is_file() and not path.is_symlink() else b"\0"
            if (
                "secret" not in name
                and b"\0" not in data
                and b"\r" not in data
                and b"\x1b" not in data
                and not data.startswith(b"%PDF")
            ):
                try:
                    data.decode()
                except UnicodeDecodeError:
                    continue
                names.add(os.path.relpath(path, place))
    return names


@pytest.mark.parametrize("number", range(len(places())), ids=[place.name for place in places()])
def test_rows_are_those_of_ripgrep(engine: str, number: int) -> None:
    place = places()[number]
    finder = Finder(place)
    finder.view.until += 1 << 30
    judged = utf8(place)
    assert judged
    for pattern in patterns()[number :: len(places())]:
        found = finder.search(pattern, unit="content", text_cap=1 << 30, respect_ignore=False)
        mine = {(finder.name(row.path), row.row) for row in found.rows}
        right = ripgrep(pattern, place)
        assert {row for row in mine if row[0] in judged} == {row for row in right if row[0] in judged}, pattern
