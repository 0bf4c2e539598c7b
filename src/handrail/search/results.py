"""What a search found, file by file, and what is remembered of searches: the last few of them, and files' encodings."""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final

from handrail.model.files import Stat
from handrail.model.paths import RealPath
from handrail.model.view import FileHits, RowHit
from handrail.search.odd import OddFiles
from handrail.text.codec import Form

REMEMBERED: Final = 8
"""Searches that a planner keeps for their next pages."""
FORMS: Final = 100_000
"""Files whose encoding is remembered."""

Identity = tuple[int, int, int, int]
"""Device, inode, size and time of change of a file whose content was looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRows:
    """A file's matching rows, counted. `numbers`: the first of them, or all where several patterns were asked.

    `rows`, with those around them, were found by RE2; `told` by ripgrep. With neither they are found again when shown.
    """

    path: RealPath
    count: int
    numbers: Sequence[int]
    rows: Sequence[RowHit] | None = field(default=None, repr=False)
    told: FileHits | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """A finished search: its files in order, what was skipped, when it began (nanoseconds)."""

    files: Sequence[FileRows]
    skipped: dict[str, int]
    complete: bool
    at: int
    total_rows: int = field(default=0)


class Memory:
    """What a planner keeps between calls, by session and question or by file; safe for many threads."""

    def __init__(self) -> None:
        self.odd = OddFiles()
        self._lock = threading.Lock()
        self._results: OrderedDict[Hashable, Results] = OrderedDict()
        self._forms: dict[str, tuple[Identity, Form | None]] = {}

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

    def form(self, path: str, stat: Stat) -> tuple[Form | None] | None:
        """The form in which this very file was read before, `(None,)` for a binary; `None` when it is new."""
        known = self._forms.get(path)
        return (known[1],) if known is not None and known[0] == _identity(stat) else None

    def is_binary(self, path: str, stat: Stat | None) -> bool:
        """Whether this very file was found to be no text."""
        known = self._forms.get(path)
        return known is not None and known[1] is None and stat is not None and known[0] == _identity(stat)

    def note(self, path: str, stat: Stat, form: Form | None) -> None:
        """Remember in which form a file was read, `None` = it is binary."""
        with self._lock:
            if len(self._forms) >= FORMS:
                self._forms.clear()
            self._forms[path] = (_identity(stat), form)


def _identity(stat: Stat) -> Identity:
    return stat.device, stat.inode, stat.size, stat.ctime_ns
