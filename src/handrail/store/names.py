"""The recorded paths in one piece of memory, so that those which hold a text are found without asking for each.

It only grows, as the table does: the number of a path never comes to mean another one.
"""

import sqlite3
import threading
from array import array
from bisect import bisect_right
from itertools import accumulate
from typing import Final

MOST_NAMES: Final = 500_000
"""With more names than that the database is asked."""


class Names:
    """The paths of one store, read when first asked for; safe from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._text = bytearray()
        self._starts = array("Q")
        self._ids = array("Q")

    def holding(
        self, db: sqlite3.Connection, part: bytes, *, within: tuple[bytes, bytes], most: int
    ) -> list[int] | None:
        """The numbers of the paths that hold `part` and are the first of `within`, or begin with the second.

        `None` where there are more than `most`, or the database has to say.
        """
        if not part or b"\0" in part:
            return None
        with self._lock:
            if not self._read_on(db):
                return None
            return self._found(part, *within, most)

    def _read_on(self, db: sqlite3.Connection) -> bool:
        last = self._ids[-1] if self._ids else 0
        new = db.execute("SELECT id, path FROM paths WHERE id > ? ORDER BY id LIMIT ?", (last, MOST_NAMES)).fetchall()
        if new and len(self._ids) < MOST_NAMES:
            numbers, names = zip(*new, strict=True)
            self._ids.extend(numbers)
            # A name and the zero behind it; none has a zero of its own.
            self._starts.extend(accumulate((len(name) + 1 for name in names[:-1]), initial=len(self._text)))
            self._text += b"\0".join(names) + b"\0"
        return len(self._ids) < MOST_NAMES

    def _found(self, part: bytes, itself: bytes, stem: bytes, most: int) -> list[int] | None:
        found: list[int] = []
        at = self._text.find(part)
        while at >= 0:
            index = bisect_right(self._starts, at) - 1
            start = self._starts[index]
            end = self._starts[index + 1] if index + 1 < len(self._starts) else len(self._text)
            if self._text.startswith(stem, start) or self._text[start : end - 1] == itself:
                found.append(self._ids[index])
                if len(found) > most:
                    break
            at = self._text.find(part, end)
        return found if len(found) <= most else None
