"""A damaged database made anew from the rows of it that can still be read. The damaged one is kept beside it.

It knows tables, not what they mean; what the rows say is verified afterwards, by the doctor.
"""

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from typing import Final

from handrail.store import schema
from handrail.store.database import FILE_NAME, make_file

TABLES: Final = ("paths", "contents", "versions", "tasks", "rules", "deltas", "requests", "ledger")
_AT_ONCE: Final = 64
_GAP: Final = 1_000_000
"""Numbers that are left out where it can't be read any more which ones were given."""


def problems(directory: str) -> list[str]:
    """What SQLite itself finds wrong with the database; empty where all is well or there is none."""
    place = os.path.join(directory, FILE_NAME)
    if not os.path.exists(place):
        return []
    try:
        with contextlib.closing(sqlite3.connect(place, isolation_level=None)) as db:
            found = [str(row[0]) for row in db.execute("PRAGMA integrity_check(20)")]
    except sqlite3.Error as failure:
        return [str(failure)]
    return [] if found == ["ok"] else found


def rebuild(directory: str) -> tuple[int, str]:
    """Put a new database in place of the damaged one; returns the rows saved, and where the damaged one is now."""
    place = os.path.join(directory, FILE_NAME)
    aside = f"{place}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    new = f"{place}.new"
    for leftover in (new, f"{new}-wal", f"{new}-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(leftover)
    make_file(new)
    with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as fresh:
        schema.migrate(fresh)
        saved = _save(place, fresh)
        fresh.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    os.link(place, aside)
    for end in ("-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.rename(place + end, aside + end)  # the new database must not take the old one's log for its own
    os.rename(new, place)
    return saved, aside


def _save(damaged: str, fresh: sqlite3.Connection) -> int:
    saved = 0
    with contextlib.closing(sqlite3.connect(damaged, isolation_level=None)) as old:
        fresh.execute("BEGIN")
        for table in TABLES:
            marks = ", ".join("?" * _columns(fresh, table))
            insert = f"INSERT OR IGNORE INTO {table} VALUES ({marks})"  # noqa: S608 -- a table of our own
            for row in _rows(old, table):
                with contextlib.suppress(sqlite3.Error):
                    saved += fresh.execute(insert, row).rowcount
        _go_on_counting(old, fresh)
        fresh.execute("COMMIT")
    return saved


def _columns(db: sqlite3.Connection, table: str) -> int:
    return len(db.execute(f"PRAGMA table_info({table})").fetchall())


def _rows(db: sqlite3.Connection, table: str) -> Iterator[tuple[object, ...]]:
    """The readable rows of a table: ranges of row numbers, halved around what can't be read."""
    try:
        last = int(db.execute(f"SELECT coalesce(max(rowid), 0) FROM {table}").fetchone()[0])  # noqa: S608
    except sqlite3.Error:
        last = 1 << 32
    waiting = [(1, last)]
    query = f"SELECT * FROM {table} WHERE rowid BETWEEN ? AND ? ORDER BY rowid LIMIT {_AT_ONCE}"  # noqa: S608
    numbers = query.replace("*", "rowid")
    while waiting:
        low, high = waiting.pop()
        if low > high:
            continue
        try:
            found = db.execute(query, (low, high)).fetchall()
            seen = [int(row[0]) for row in db.execute(numbers, (low, high))]
        except sqlite3.Error:
            middle = (low + high) // 2
            if low < high:
                waiting += [(middle + 1, high), (low, middle)]
            continue
        yield from found
        if len(seen) == _AT_ONCE:
            waiting.append((seen[-1] + 1, high))


def _go_on_counting(old: sqlite3.Connection, fresh: sqlite3.Connection) -> None:
    """Numbers of versions and rules that were given once are never given again."""
    for table in ("versions", "rules"):
        highest = int(fresh.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0])  # noqa: S608
        try:
            row = old.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
            given = max(highest, int(row[0]) if row else 0)
        except sqlite3.Error:
            given = highest + _GAP
        fresh.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
        fresh.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, given))
