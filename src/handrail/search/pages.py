"""Cuts what was found into pages by count and by text, and remembers a search so that its next page costs little."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from handrail.model.answers import Listed, MatchingFile, MatchingRow
from handrail.model.paths import shown
from handrail.search.rows import FileRows

REMEMBERED: Final = 8
"""Searches that a planner keeps for their next pages."""

_FACTS: Final = 48
"""Characters that an entry takes beside its name: size, time, counts."""
_EDGE: Final = 16

T = TypeVar("T")
Identity = tuple[int, int, int, int]
"""Device, inode, size and time of change of a file whose content was looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """A finished search: its files in order, what was skipped, when it began (nanoseconds)."""

    files: Sequence[FileRows]
    skipped: dict[str, int]
    complete: bool
    at: int
    total_rows: int = field(default=0)


class Memory:
    """The last few searches, by session and question, and which files are no text; safe for many threads."""

    def __init__(self) -> None:
        self.binaries: dict[str, Identity] = {}
        self._lock = threading.Lock()
        self._results: OrderedDict[Hashable, Results] = OrderedDict()

    def put(self, key: Hashable, results: Results) -> None:
        """Remember a search; the oldest is forgotten."""
        with self._lock:
            self._results[key] = results
            self._results.move_to_end(key)
            while len(self._results) > REMEMBERED:
                self._results.popitem(last=False)

    def get(self, key: Hashable) -> Results | None:
        """The search that answered this question last."""
        with self._lock:
            return self._results.get(key)


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


def rows_of(file: FileRows, *, skip: int, take: int, before: int, after: int) -> list[MatchingRow]:
    """The file's matching rows from `skip` on, `take` at most, with the rows around just these."""
    rows = file.rows or ()
    matching = [row.row for row in rows if not row.context][skip : skip + take]
    near = {n for row in matching for n in range(row - before, row + after + 1)} if before or after else set()
    chosen = set(matching)
    return [
        MatchingRow(
            path=file.path.text,
            row=row.row,
            text=row.text,
            match=row.match,
            context=row.context,
            cut=row.column is not None,
            column=row.column,
        )
        for row in rows
        if row.row in chosen or (row.context and row.row in near)
    ]
