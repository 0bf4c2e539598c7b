"""Whole searches, their second pages and globs on a running engine, against `rg` alone on the same tree."""

import itertools
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import handrail
from search_rivals import newest, rg_alone, rg_rows
from search_table import Failed, Row, above, failed, interleaved, ratio, timed

OUTPUTS = ("files", "content")


@dataclass(frozen=True)
class Case:
    """One pattern; `rg` says the same where ripgrep's dialect reads `pattern` otherwise (`\\w` is ASCII in RE2)."""

    pattern: str
    literal: bool = False
    rg: str | None = None

    @property
    def name(self) -> str:
        return f"{'text' if self.literal else 'regex'} {self.pattern}"


WHOLE = (
    Case("zqxjvkwpy", literal=True),
    Case(r"zq[xj]+\w+vkwpy", rg="zq[xj]+[0-9A-Za-z_]+vkwpy"),
    Case("setUpTestData(", literal=True),
    Case("class [A-Z][a-z]+Mixin"),
    Case("ZeroDivisionError", literal=True),
    Case("für", literal=True),
    Case("getElementById|querySelector|addEventListener"),
    Case("import .*json"),
    Case("foo.*bar"),
    Case("(?i)todo"),
    Case("é", literal=True),
    Case(r"\w+Exception", rg="[0-9A-Za-z_]+Exception"),
    Case("#include <", literal=True),
    Case("def __repr__", literal=True),
    Case("isinstance", literal=True),
    Case("raise .*Error"),
    Case(r"\w+Error", rg="[0-9A-Za-z_]+Error"),
    Case("function", literal=True),
)
PROJECT = (
    Case("zqxjvkwpy", literal=True),
    Case("foo.*bar"),
    Case("def __repr__", literal=True),
    Case(r"raise \w+Error", rg="raise [0-9A-Za-z_]+Error"),
    Case("isinstance", literal=True),
    Case(r"\w+Error", rg="[0-9A-Za-z_]+Error"),
    Case("(?i)import"),
    Case("None", literal=True),
)
GLOBS = ("**/*.py", "**/*.{yml,yaml}", "**/*config*.py", "**/*serializ*")


class Ours:
    """A running engine. Each question comes from a session of its own, so that none is answered from an earlier one."""

    def __init__(self, rail: "handrail.Handrail") -> None:
        self._rail = rail
        self._numbers = itertools.count()

    def new_session(self) -> str:
        return f"bench-{next(self._numbers)}"

    def ask(self, tool: str, arguments: Mapping[str, object], session: str | None = None) -> Mapping[str, Any]:
        """The payload; raises Failed."""
        result = self._rail.call(tool, arguments, session=session or self.new_session(), named=False)
        if not result.ok:
            raise Failed(f"ours: {result.kind}: {result.payload.get('error')}")
        if result.payload.get("complete") is False:
            raise Failed("ours: the time ran out, the answer is partial")
        return result.payload


@contextmanager
def engine(root: Path) -> Iterator[Ours]:
    """Our engine on `root`, its history in a directory that is thrown away."""
    with tempfile.TemporaryDirectory() as data, handrail.open(root=root, data_dir=data) as rail:
        yield Ours(rail)


def question(case: Case, output: str, offset: int = 0) -> dict[str, object]:
    query = {"pattern": case.pattern, "file_pattern": "**/*"}
    return {"queries": [query], "mode": "search", "output": output, "literal": case.literal, "offset": offset}


def whole(tree: Path, rounds: int) -> Iterator[Row]:
    part = "Whole search on a running engine against `rg --json` alone, milliseconds"
    with engine(tree) as ours:
        for case in WHOLE:
            try:
                yield from _whole(ours, case, tree, rounds, part)
            except Failed as error:
                yield failed(part, case.name, error)


def _whole(ours: Ours, case: Case, tree: Path, rounds: int, part: str) -> Iterator[Row]:
    rows = ours.ask("find_files", question(case, "content"))["total"]
    found = _found(rows, case, tree)
    runs, seconds = _runs(ours, case, tree)
    best = interleaved(runs, rounds)
    limit = 1.6 if rows == 0 else 1.15 if rows <= 10_000 else 1.5
    for output in OUTPUTS:
        yield ratio(part, f"{case.name}, {output}", best[output], best["rg"], limit, found=found)
    for output in OUTPUTS:
        if seconds[output]:
            second = min(seconds[output][1:])
            yield ratio(part, f"{case.name}, {output}, second page", second, best[output], 0.05, found=found)


def _runs(ours: Ours, case: Case, tree: Path) -> tuple[dict[str, Callable[[], float]], dict[str, list[float]]]:
    """What is timed: the search by output, `rg`, and beside each search its second page, where there is one."""
    seconds: dict[str, list[float]] = {output: [] for output in OUTPUTS}

    def first(output: str) -> float:
        session = ours.new_session()
        answers: list[Mapping[str, Any]] = []
        took = timed(lambda: answers.append(ours.ask("find_files", question(case, output), session)))
        more = answers[0].get("next_offset")
        if more is not None:
            again = question(case, output, more)
            seconds[output].append(timed(lambda: ours.ask("find_files", again, session)))
        return took

    pattern = case.rg or case.pattern
    return {
        "files": lambda: first("files"),
        "content": lambda: first("content"),
        "rg": lambda: timed(lambda: rg_alone(pattern, tree, literal=case.literal)),
    }, seconds


def _found(rows: int, case: Case, tree: Path) -> str:
    """How many rows, and how many `rg` alone counts where that differs (encodings, binaries, secrets)."""
    theirs = rg_rows(case.rg or case.pattern, tree, literal=case.literal)
    return f"{rows:,}" if rows == theirs else f"{rows:,} (rg {theirs:,})"


def small(project: Path, rounds: int) -> Iterator[Row]:
    part = "A project of 300 files against `rg --json` alone, milliseconds"
    with engine(project) as ours:
        for case in PROJECT:
            try:
                rows = ours.ask("find_files", question(case, "content"))["total"]
                found = _found(rows, case, project)
                best = interleaved(_runs(ours, case, project)[0], rounds)
            except Failed as error:
                yield failed(part, case.name, error)
                continue
            for output in OUTPUTS:
                name = f"{case.name}, {output}"
                if rows <= 100:
                    yield ratio(part, name, best[output], best["rg"], 1.0, found=found)
                else:
                    yield above(part, name, best[output], best["rg"], 8, found=found)


def globs(tree: Path, rounds: int) -> Iterator[Row]:
    part = "Glob, newest first, against `rg --files -g`, one stat a file and a sort, milliseconds"
    with engine(tree) as ours:
        for glob in GLOBS:
            batch = {"queries": [{"pattern": glob}], "mode": "glob"}
            runs = {
                "find_files": lambda a=batch: timed(lambda: ours.ask("find_files", a)),
                "Glob": lambda g=glob: timed(lambda: ours.ask("Glob", {"pattern": g})),
                "rg": lambda g=glob: timed(lambda: newest(g, tree)),
            }
            try:
                total = ours.ask("find_files", batch)["total"]
                best = interleaved(runs, rounds)
            except Failed as error:
                yield failed(part, glob, error)
                continue
            theirs = len(newest(glob, tree))
            found = f"{total:,}" if total == theirs else f"{total:,} (rg {theirs:,})"
            for tool in ("find_files", "Glob"):
                yield ratio(part, f"{tool} {glob}", best[tool], best["rg"], 1.4, found=found)
