"""Interleaved runs and the table of what they came to; it knows nothing of searches."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

Run = Callable[[], float]
Verdict = Literal["ok", "BROKEN", "-", "FAILED"]
FAR_BEHIND = 4.0
ROUNDS_FOR_THE_SLOW = 3


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table. `ours` and `other` are milliseconds, or what `unit` says."""

    part: str
    case: str
    found: str = ""
    ours: float | None = None
    other: float | None = None
    figure: str = ""
    limit: str = ""
    verdict: Verdict = "-"
    note: str = ""


class Failed(Exception):
    """A contestant that can't be run, with the reason in words."""


def timed(act: Callable[[], object]) -> float:
    """Milliseconds that `act` took."""
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000


def interleaved(runs: Mapping[str, Run], rounds: int, *, patient: bool = True) -> dict[str, float]:
    """The least milliseconds of each, after one run that doesn't count; each round begins with another one.

    Unless `patient`, who is far behind the fastest after three rounds is not run again.
    """
    names = list(runs)
    best = {name: float("inf") for name in names}
    for name in names:
        runs[name]()
    for number in range(rounds):
        if not patient and number == ROUNDS_FOR_THE_SLOW:
            names = [name for name in names if best[name] <= FAR_BEHIND * min(best.values())]
        turn = number % len(names)
        for name in (*names[turn:], *names[:turn]):
            best[name] = min(best[name], runs[name]())
    return best


def ratio(
    part: str, case: str, ours: float, other: float, limit: float | None, *, found: str = "", note: str = ""
) -> Row:
    """A row that is broken where `ours` takes more than `limit` times `other`; None = no limit."""
    figure = ours / other
    return Row(
        part=part,
        case=case,
        found=found,
        ours=ours,
        other=other,
        figure=f"{figure:.2f} x",
        limit="" if limit is None else f"{limit:g} x",
        verdict="-" if limit is None else "ok" if figure <= limit else "BROKEN",
        note=note,
    )


def above(part: str, case: str, ours: float, other: float, limit: float, *, found: str = "") -> Row:
    """A row that is broken where `ours` takes over `limit` milliseconds more than `other`."""
    figure = ours - other
    verdict: Verdict = "ok" if figure <= limit else "BROKEN"
    text = f"{figure:+.1f} ms"
    return Row(
        part=part, case=case, found=found, ours=ours, other=other, figure=text, limit=f"+{limit:g} ms", verdict=verdict
    )


def failed(part: str, case: str, why: object, *, ours: bool = True) -> Row:
    """A row for what could not be measured; where it isn't `ours` no limit is broken by it."""
    return Row(part=part, case=case, verdict="FAILED" if ours else "-", note=str(why).replace("\n", " ")[:110])


class Table:
    """Prints each row as it comes, and counts those that are broken."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._part = ""

    def add(self, row: Row) -> None:
        if row.part != self._part:
            self._part = row.part
            print(f"\n{row.part}")
            print(f"  {'case':62} {'found':>15} {'ours':>9} {'other':>9} {'figure':>10} {'limit':>8}  verdict")
        self.rows.append(row)
        ours, other = ("" if value is None else f"{value:.1f}" for value in (row.ours, row.other))
        figures = f"{ours:>9} {other:>9} {row.figure:>10} {row.limit:>8}"
        print(f"  {row.case:62} {row.found:>15} {figures}  {row.verdict:7} {row.note}".rstrip(), flush=True)

    @property
    def broken(self) -> list[Row]:
        return [row for row in self.rows if row.verdict in {"BROKEN", "FAILED"}]
