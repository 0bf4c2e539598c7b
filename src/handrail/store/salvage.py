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
_ROWS_OF_A_PAGE: Final = 100
_PATIENCE: Final = 100_000
"""Numbers without a readable row, one after the other, before the rest of a table is given up."""

_GAP: Final = 10_000
"""Numbers that are left out where it can't be read any more which ones were given."""


def problems(directory: str) -> list[str]:
    """What SQLite itself finds wrong with the database; empty where all is well or there is none."""
    place = os.path.join(directory, FILE_NAME)
    if not os.path.exists(place):
        return []
    try:
        with contextlib.closing(sqlite3.connect(place, isolation_level=None)) as db:
            said = "\n".join(str(row[0]) for row in db.execute("PRAGMA integrity_check(20)"))
    except sqlite3.Error as failure:
        return [str(failure)]
    return [row for row in said.split("\n") if row != "ok" and not row.startswith("***")]


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
        old.execute("PRAGMA cell_size_check = ON")
        fresh.execute("BEGIN")
        for table in TABLES if _opens(old) else ():
            marks = ", ".join("?" * _columns(fresh, table))
            insert = f"INSERT OR IGNORE INTO {table} VALUES ({marks})"  # noqa: S608 -- a table of our own
            for row in _rows(old, table):
                with contextlib.suppress(sqlite3.Error):
                    saved += fresh.execute(insert, row).rowcount
        _go_on_counting(old, fresh)
        fresh.execute("COMMIT")
    return saved


def _opens(db: sqlite3.Connection) -> bool:
    """Whether it is a database at all, whose tables may be looked for."""
    try:
        return bool(db.execute("SELECT count(*) FROM sqlite_master").fetchone())
    except sqlite3.Error:
        return False


def _columns(db: sqlite3.Connection, table: str) -> int:
    return len(db.execute(f"PRAGMA table_info({table})").fetchall())


def _rows(db: sqlite3.Connection, table: str) -> Iterator[tuple[object, ...]]:
    """The readable rows of a table, one by one: a damaged page in a range could hide what comes after it."""
    query = f"SELECT * FROM {table} WHERE rowid = ?"  # noqa: S608 -- a table of our own
    missed = 0
    for number in range(1, _last(db, table) + 1):
        try:
            row = db.execute(query, (number,)).fetchone()
        except sqlite3.Error:
            row = None
        missed = 0 if row is not None else missed + 1
        if row is not None:
            yield row
        elif missed > _PATIENCE:
            return


def _last(db: sqlite3.Connection, table: str) -> int:
    """The number of the last row, or, where a damaged page lies about it, of the last that there could be."""
    most = int(db.execute("PRAGMA page_count").fetchone()[0]) * _ROWS_OF_A_PAGE + _GAP
    try:
        last = int(db.execute(f"SELECT coalesce(max(rowid), 0) FROM {table}").fetchone()[0])  # noqa: S608
        first = int(db.execute(f"SELECT coalesce(min(rowid), 0) FROM {table}").fetchone()[0])  # noqa: S608
    except sqlite3.Error:
        return most
    return last if 0 <= first <= last <= most else most


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
