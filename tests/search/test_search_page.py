"""The page about searching tells what is so: its tables of globs and patterns are tried."""

import re
from pathlib import Path

import pytest

import handrail
from handrail.text.globs import Matcher

PAGE = Path(__file__).parents[2] / "docs" / "search.md"


def rows(*heads: str) -> list[list[list[str]]]:
    """The code spans of each cell, row by row, of the table with these heads."""
    _, _, table = PAGE.read_text().partition("| " + " | ".join(heads) + " |\n")
    return [
        [re.findall(r"`([^`]*)`", cell) or [cell.strip()] for cell in line.strip("|").split(" | ")]
        for line in table.partition("\n\n")[0].split("\n")[1:]
    ]


@pytest.mark.parametrize(("glob", "named", "others"), rows("glob", "names", "doesn't name"))
def test_a_glob_names_what_the_page_says(glob: list[str], named: list[str], others: list[str]) -> None:
    match = Matcher(glob).match
    assert [path for path in named if not match(path)] == []
    assert [path for path in others if match(path)] == []


@pytest.mark.parametrize(("pattern", "text", "found"), rows("pattern", "text", "found"))
def test_a_pattern_finds_what_the_page_says(
    pattern: list[str], text: list[str], found: list[str], tmp_path: Path
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.txt").write_text(text[0] + "\n")
    query = {"pattern": pattern[0], "file_pattern": "*.txt"}
    with handrail.open(root=root, data_dir=tmp_path / "data") as rail:
        answer = rail.call("find_files", {"queries": [query]}).unwrap()
    assert answer["total"] == (found == ["yes"])


def test_the_page_has_its_tables() -> None:
    assert len(rows("glob", "names", "doesn't name")) > 8
    assert len(rows("pattern", "text", "found")) > 8
