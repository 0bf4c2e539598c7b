"""RE2's own tables: each search finds what they say is found, with the span they give, in both engines."""

from itertools import islice
from pathlib import Path

import pytest
import re2_tables
from re2_questions import Asker

STEPS = {
    ("inside", re2_tables.WHOLE): 1,
    ("inside", re2_tables.SLICE): 3,
    ("ripgrep", re2_tables.WHOLE): 17,
    ("ripgrep", re2_tables.SLICE): 12,
}
"""A child a question is dear: here it is asked each so many of the expressions, by `make bench-judges` all of them."""

BOTH = [(name, multiline) for name in (re2_tables.WHOLE, re2_tables.SLICE) for multiline in (False, True)]


@pytest.fixture(scope="module")
def tables() -> Path:
    try:
        return re2_tables.directory()
    except re2_tables.Missing as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize(
    ("name", "multiline"),
    BOTH,
)
def test_what_re2_finds_is_found(tables: Path, tmp_path: Path, engine: str, name: str, multiline: bool) -> None:
    asker = Asker(tmp_path, multiline=multiline)
    cases = list(islice(re2_tables.cases(tables / name), 0, None, STEPS[engine, name]))
    assert len(cases) > 20
    assert [(case.expression, wrong) for case in cases if (wrong := asker.wrong(case))] == []
