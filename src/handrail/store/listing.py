"""Which rows a listing of versions is: first a look through the newest ones, then the whole index that fits best.

Most listings end in the first look, which costs the same however much was ever recorded. All SQL is made of pieces
that stand here; what comes from outside is bound.
"""
# ruff: noqa: S608

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from handrail.store import rows
from handrail.store.names import Names
from handrail.store.protocol import Filter
from handrail.store.rows import Column

COLUMNS: Final = (
    "SELECT v.id, p.path, v.kind, v.hash, v.size, v.mode, v.extra, v.action, v.tool, v.session, v.task, v.objective,"
    " v.time_ns, v.previous, v.part_of, v.status, v.why_not FROM versions v"
)
JOINED: Final = f"{COLUMNS} JOIN paths p ON p.id = v.path_id"
LOOKED_THROUGH: Final = 4096
"""Versions of the first look."""

# CROSS JOIN is SQLite's way to say in which order two tables are walked.
_NEWEST_FIRST: Final = f"{COLUMNS} CROSS JOIN paths p ON p.id = v.path_id"
_BELOW: Final = "(p.path = ? OR (p.path >= ? AND p.path < ?))"
_CONTAINS: Final = "instr(p.path, ?) > 0"
_BY_ID: Final = " ORDER BY v.id DESC"
_BY_TIME: Final = " ORDER BY v.time_ns DESC, v.id DESC"
_NO_END: Final = 2**63 - 1
_BY_NUMBERS: Final = " WHERE v.id IN (SELECT value FROM json_each(?))"
_NEWEST_OF: Final = """
SELECT v.id FROM versions v WHERE v.id < ? AND v.path_id IN (
    SELECT path_id FROM (
        SELECT h.id AS path_id, (SELECT max(o.id) FROM versions o WHERE o.path_id = h.id AND o.id < ?) AS last
        FROM ({}) h
    ) ORDER BY last DESC LIMIT ?
) ORDER BY +v.id DESC LIMIT ?
"""
FEW_PATHS: Final = 600
"""Paths whose newest versions are looked up one by one."""
Row = tuple[Column, ...]
_Edge = tuple[int, int]


def listed(
    db: sqlite3.Connection, wanted: Filter, *, limit: int, after: int | None, names: Names | None = None
) -> list[Row]:
    """The rows of `JOINED` that a filter lets through, newest first, older than the version `after`."""
    by_time = wanted.since is not None or wanted.until is not None
    order = _BY_TIME if by_time else _BY_ID
    window, values = _window(wanted, after, by_time=by_time)
    paths, bound = _paths(wanted)
    if not paths or wanted.task is not None:
        query = f"{_NEWEST_FIRST}{_where([*window, *paths])}{order} LIMIT ?"
        return db.execute(query, (*values, *bound, limit)).fetchall()
    if not by_time:
        few = _few(db, wanted, names)
        if few is not None:
            return _of_paths(db, "SELECT value AS id FROM json_each(?)", [json.dumps(few)], limit=limit, after=after)
    edge = _edge(db, window, values, order)
    found = _newest(db, wanted, edge, limit=limit, after=after)
    if len(found) == limit or edge is None:
        return found
    if not by_time:
        return _of_paths(db, f"SELECT p.id FROM paths p{_where(paths)}", bound, limit=limit, after=after)
    # The index of paths leads from here on; a `+` keeps SQLite off that of times.
    window = [condition.replace("v.time_ns", "+v.time_ns") for condition in window]
    order = order.replace("v.time_ns", "+v.time_ns")
    window.append(f"v.path_id IN (SELECT p.id FROM paths p{_where(paths)})")
    return db.execute(f"{JOINED}{_where(window)}{order} LIMIT ?", (*values, *bound, limit)).fetchall()


def _few(db: sqlite3.Connection, wanted: Filter, names: Names | None) -> list[int] | None:
    """The numbers of the paths that a filter lets through, where they are few and soon found."""
    if wanted.contains is not None:
        itself, stem, _ = rows.below(wanted.under) if wanted.under is not None else (b"", b"", b"")
        part = rows.name(wanted.contains)
        return None if names is None else names.holding(db, part, within=(itself, stem), most=FEW_PATHS)
    paths, bound = _paths(wanted)
    found = db.execute(f"SELECT p.id FROM paths p{_where(paths)} LIMIT ?", (*bound, FEW_PATHS + 1)).fetchall()
    return [number for (number,) in found] if len(found) <= FEW_PATHS else None


def _of_paths(
    db: sqlite3.Connection, paths: str, bound: Sequence[Column], *, limit: int, after: int | None
) -> list[Row]:
    """The newest rows of some paths: they are at the paths whose own newest versions are the newest."""
    older = _NO_END if after is None else after
    found = db.execute(_NEWEST_OF.format(paths), (older, older, *bound, limit, limit)).fetchall()
    return db.execute(f"{JOINED}{_BY_NUMBERS}{_BY_ID}", (json.dumps([number for (number,) in found]),)).fetchall()


def _newest(db: sqlite3.Connection, wanted: Filter, edge: _Edge | None, *, limit: int, after: int | None) -> list[Row]:
    """The first look: the rows that are newer than the edge."""
    by_time = wanted.since is not None or wanted.until is not None
    if edge is not None and by_time:
        wanted = replace(wanted, since=edge[0])
    window, values = _window(wanted, after, by_time=by_time)
    if edge is not None:
        window.append("(v.time_ns, v.id) > (?, ?)" if by_time else "v.id > ?")
        values += edge if by_time else edge[1:]
    paths, names = _paths(wanted)
    order = _BY_TIME if by_time else _BY_ID
    query = f"{_NEWEST_FIRST}{_where([*window, *paths])}{order} LIMIT ?"
    return db.execute(query, (*values, *names, limit)).fetchall()


def newest_task(db: sqlite3.Connection, session: str | None, under: str) -> Column:
    """The task of the newest version at or below a path."""
    conditions, values = ["v.task IS NOT NULL"], list[Column]()
    if session is not None:
        conditions.append("v.task IN (SELECT id FROM tasks WHERE session = ?)")
        values.append(rows.bind(session))
    below = list(rows.below(under))
    edge = _edge(db, [], [], _BY_ID)
    where = _where(["v.id > ?", *conditions, _BELOW])
    recent = f"SELECT v.task FROM versions v CROSS JOIN paths p ON p.id = v.path_id{where}"
    row = db.execute(f"{recent} ORDER BY v.id DESC LIMIT 1", (edge[1] if edge else 0, *values, *below)).fetchone()
    if row is None and edge:
        inside = f"v.path_id IN (SELECT p.id FROM paths p WHERE {_BELOW})"
        query = f"SELECT v.task FROM versions v{_where([*conditions, inside])} ORDER BY +v.id DESC LIMIT 1"
        row = db.execute(query, (*values, *below)).fetchone()
    return None if row is None else row[0]


def _window(wanted: Filter, after: int | None, *, by_time: bool) -> tuple[list[str], list[Column]]:
    """What bounds a listing along its order."""
    conditions, values = list[str](), list[Column]()
    for column, bound in (("v.time_ns >= ?", wanted.since), ("v.time_ns <= ?", wanted.until)):
        if bound is not None:
            conditions.append(column)
            values.append(max(-(2**63), min(bound, 2**63 - 1)))
    if wanted.task is not None:
        conditions.append("v.task = ?")
        values.append(rows.bind(wanted.task))
    if after is not None:
        conditions.append(
            "(v.time_ns, v.id) < (SELECT time_ns, id FROM versions WHERE id = ?)" if by_time else "v.id < ?"
        )
        values.append(after)
    return conditions, values


def _paths(wanted: Filter) -> tuple[list[str], list[Column]]:
    conditions, values = list[str](), list[Column]()
    if wanted.under is not None:
        conditions.append(_BELOW)
        values += rows.below(wanted.under)
    if wanted.contains is not None:
        conditions.append(_CONTAINS)
        values.append(rows.name(wanted.contains))
    return conditions, values


def _edge(db: sqlite3.Connection, window: list[str], values: list[Column], order: str) -> _Edge | None:
    """Time and id of the version at which the first look ends; `None` where it sees everything."""
    query = f"SELECT v.time_ns, v.id FROM versions v{_where(window)}{order} LIMIT 1 OFFSET ?"
    found: _Edge | None = db.execute(query, (*values, LOOKED_THROUGH)).fetchone()
    return found


def _where(conditions: list[str]) -> str:
    return " WHERE " + " AND ".join(conditions) if conditions else ""
