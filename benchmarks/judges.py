"""The judges of search, at length: RE2's tables whole, thousands of patterns, real trees; a mismatch fails the run.

`python benchmarks/judges.py [--engine inside|ripgrep] [--share N] [tables|texts|ripgrep|all]`; `--share 10` asks every
tenth question of the exhaustive table, which by the child takes hours.
"""

import argparse
import sys
import sysconfig
import tempfile
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "search"))

import re2_tables
import test_ripgrep_on_real_trees as by_ripgrep
import test_rows_of_any_text as any_text
from engines import ENGINES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_view import Finder, PlainView
from re2_questions import Asker

from handrail.model.errors import HandrailError
from handrail.search import inside

EXAMPLES = 2000


def tables(engine: str, share: int) -> int:
    """Both tables, row by row and across rows."""
    wrong = 0
    for name in (re2_tables.WHOLE, re2_tables.EXHAUSTIVE):
        step = 1 if name == re2_tables.WHOLE else share
        for multiline in (False, True):
            with tempfile.TemporaryDirectory() as place:
                asker = Asker(Path(place).resolve(), multiline=multiline)
                tried = bad = 0
                for case in islice(re2_tables.cases(re2_tables.directory() / name), 0, None, step):
                    tried += 1
                    found = asker.wrong(case)
                    if found:
                        bad += 1
                        if bad <= 5:
                            print(f"    {case.expression!r}: {found[:2]}")
            how = "across rows" if multiline else "row by row"
            print(f"{engine:8} {name} {how}: {tried} expressions, {bad} differ", flush=True)
            wrong += bad
    return wrong


def texts(engine: str, _share: int) -> int:
    """Patterns made by hypothesis on texts of every encoding."""
    wrong = 0
    with tempfile.TemporaryDirectory() as place:
        judge = any_text.Judge(Path(place).resolve())
        for multiline in (False, True):

            @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
            @given(pattern=any_text.PATTERNS, ignore_case=st.booleans())
            def same(pattern: str, ignore_case: bool, *, multiline: bool = multiline) -> None:
                judge.compare(pattern, ignore_case=ignore_case, multiline=multiline)

            try:
                same()
            except Exception as failure:
                print(f"    {failure}")
                wrong += 1
            print(f"{engine:8} {EXAMPLES} patterns on texts of every encoding, multiline={multiline}", flush=True)
    return wrong


def ripgrep(engine: str, _share: int) -> int:
    """ripgrep on all packages and the headers of the system."""
    wrong = 0
    for place in filter(Path.is_dir, (Path(sysconfig.get_path("purelib")), Path("/usr/include"))):
        finder = Finder(place.resolve())
        finder.view = PlainView(finder.root, seconds=1 << 20)
        judged = by_ripgrep.utf8(finder.root)
        bad = 0
        for pattern in by_ripgrep.patterns():
            mine = _counted(finder, pattern)
            right = by_ripgrep.counts(pattern, finder.root)
            if any(mine.get(name) != right.get(name) for name in judged):
                bad += 1
                print(f"    {pattern!r}")
        print(f"{engine:8} {len(by_ripgrep.patterns())} patterns on {place}: {bad} differ", flush=True)
        wrong += bad
    return wrong


def _counted(finder: Finder, pattern: str) -> dict[str, int]:
    try:
        found = finder.search(pattern, text_cap=1 << 40, respect_ignore=False)
    except HandrailError as failure:
        print(f"    {failure.kind}: {failure}")
        return {}
    return {name: count for name, (count, _) in finder.files(found).items()}


JUDGES = {"tables": tables, "texts": texts, "ripgrep": ripgrep}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("judge", nargs="?", choices=[*JUDGES, "all"], default="all")
    parser.add_argument("--engine", choices=sorted(ENGINES))
    parser.add_argument("--share", type=int, default=10)
    asked = parser.parse_args()
    wrong = 0
    for engine in [asked.engine] if asked.engine else sorted(ENGINES):
        inside.SMALL = ENGINES[engine]
        for name, judge in JUDGES.items():
            if asked.judge in {name, "all"}:
                wrong += judge(engine, asked.share)
    print("No mismatch." if not wrong else f"{wrong} mismatches.")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
