"""Cuts what was found into pages by count and by text."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from handrail.model.answers import Listed, MatchingFile, MatchingRow
from handrail.model.paths import RealPath, shown
from handrail.model.view import RowHit
from handrail.search.rows import shown as cut

_FACTS: Final = 48
"""Characters that an entry takes beside its name: size, time, counts."""
_EDGE: Final = 16

T = TypeVar("T")


def fitting(units: Sequence[T], size: Callable[[T], int], *, limit: int | None, cap: int) -> Sequence[T]:
    """The units from the start that a page has room for: at least one, at most `limit`, about `cap` of text."""
    taken = 0
    used = 0
    for unit in units[:limit]:
        used += size(unit)
        if taken and used > cap:
            break
        taken += 1
    return units[:taken]


def size_of_entry(entry: Listed | MatchingFile) -> int:
    """Bytes of text that an entry takes at most."""
    return len(shown(entry.path).encode(errors="replace")) + _FACTS


def size_of_row(row: MatchingRow) -> int:
    """Bytes of text that a row takes at most, its path repeated."""
    return len(shown(row.path).encode(errors="replace")) + len(row.text.encode(errors="replace")) + _EDGE


def rows_of(path: RealPath, rows: Sequence[RowHit]) -> list[MatchingRow]:
    """Rows of one file as they are shown."""
    shown = map(cut, rows)
    return [
        MatchingRow(
            path=path.text,
            row=row.row,
            text=row.text,
            match=row.match,
            context=row.context,
            cut=row.column is not None,
            column=row.column,
        )
        for row in shown
    ]


def part(rows: Sequence[RowHit], start: int, stop: int, *, before: int, after: int) -> Sequence[RowHit]:
    """The matching rows from `start` to `stop`, with the rows around just these, out of all that were kept.

    What matches on another page stands around here.
    """
    if not before and not after:
        return rows[start:stop]
    matching = [row.row for row in rows if not row.context][start:stop]
    chosen = set(matching)
    near = {n for row in matching for n in range(row - before, row + after + 1)}
    return [
        row if row.row in chosen or row.context else replace(row, spans=(), context=True)
        for row in rows
        if row.row in near
    ]
