"""Tasks: which piece of work a session is at, and which paths it touched."""

import secrets
import sqlite3
from collections.abc import Sequence

from handrail.model.records import UNDO, Task
from handrail.store import listing, rows
from handrail.store.database import Database

PAUSE_NS = 30 * 60 * 10**9
"""A session's task ends after this long without a call."""

_ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"
_COLUMNS = "SELECT id, session, objective, opened_at, touched_at FROM tasks"


class Tasks:
    """The tasks of one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open_task(self, session: str, *, task: str | None, objective: str | None, now: int) -> Task:
        """The named task, else the session's running one (of the same objective, if one is given), else a new one."""
        with self._database.writing(durable=False) as db:
            found = _named(db, task) if task is not None else _running(db, session, objective, now)
            if found is None:
                name = task if task is not None else _new_name()
                found = Task(id=name, session=session, objective=objective, opened_at=now, touched_at=now)
                db.execute(
                    "INSERT INTO tasks (id, session, objective, opened_at, touched_at) VALUES (?, ?, ?, ?, ?)",
                    (rows.bind(name), rows.bind(session), rows.bind(objective), now, now),
                )
                return found
            touched = Task(
                id=found.id,
                session=found.session,
                objective=found.objective if found.objective is not None else objective,
                opened_at=found.opened_at,
                touched_at=max(found.touched_at, now),
            )
            db.execute(
                "UPDATE tasks SET touched_at = ?, objective = ? WHERE id = ?",
                (touched.touched_at, rows.bind(touched.objective), rows.bind(touched.id)),
            )
            return touched

    def task(self, name: str) -> Task | None:
        """The task by its id."""
        with self._database.reading() as db:
            return _named(db, name)

    def newest_task(self, session: str | None, *, under: str | None) -> Task | None:
        """The task whose version is the newest, of those that still have one (at or below `under`)."""
        with self._database.reading() as db:
            if under is not None:
                found = listing.newest_task(db, session, under)
                return None if found is None else _named(db, rows.text(found))
            conditions = ["last_version IS NOT NULL", "EXISTS (SELECT 1 FROM versions v WHERE v.task = tasks.id)"]
            values = list[str | bytes | None]()
            if session is not None:
                conditions.append("session = ?")
                values.append(rows.bind(session))
            query = f"{_COLUMNS} WHERE {' AND '.join(conditions)} ORDER BY last_version DESC LIMIT 1"
            return _made(db.execute(query, values).fetchone())

    def touch_task(self, name: str, now: int) -> None:
        """Note that the task was called just now."""
        with self._database.writing(durable=False) as db:
            db.execute("UPDATE tasks SET touched_at = max(touched_at, ?) WHERE id = ?", (now, rows.bind(name)))

    def task_paths(self, name: str) -> Sequence[str]:
        """The paths that the task changed, the one it came to last first."""
        query = (
            "SELECT p.path FROM versions v JOIN paths p ON p.id = v.path_id WHERE v.task = ? AND v.status = 1"
            " GROUP BY v.path_id ORDER BY min(v.id) DESC"
        )
        with self._database.reading() as db:
            return tuple(rows.path(path) for (path,) in db.execute(query, (rows.bind(name),)))


def _named(db: sqlite3.Connection, name: str) -> Task | None:
    return _made(db.execute(f"{_COLUMNS} WHERE id = ?", (rows.bind(name),)).fetchone())


def _running(db: sqlite3.Connection, session: str, objective: str | None, now: int) -> Task | None:
    query = f"{_COLUMNS} WHERE session = ? AND touched_at >= ? ORDER BY touched_at DESC, rowid DESC LIMIT 1"
    found = _made(db.execute(query, (rows.bind(session), now - PAUSE_NS)).fetchone())
    if found is None or found.id.startswith(UNDO):
        return None
    return found if objective in (None, found.objective) else None


def _new_name() -> str:
    return "t-" + "".join(secrets.choice(_ALPHABET) for _ in range(10))


def _made(row: tuple[str | bytes, str | bytes, str | bytes | None, int, int] | None) -> Task | None:
    if row is None:
        return None
    name, session, objective, opened_at, touched_at = row
    return Task(
        id=rows.text(name),
        session=rows.text(session),
        objective=rows.maybe(objective),
        opened_at=opened_at,
        touched_at=touched_at,
    )
