"""Tasks: which piece of work a session is at, and which paths it touched."""

import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from handrail.model.records import UNDO, Task
from handrail.store import listing, rows
from handrail.store.database import Database

PAUSE_NS = 30 * 60 * 10**9
"""A session's task ends after this long without a call."""

_ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"
_COLUMNS = "SELECT id, session, objective, opened_at, touched_at FROM tasks"


_NET = """
SELECT p.path, before.kind, after.kind
FROM (
    SELECT path_id, min(id) AS first, max(id) AS last FROM versions WHERE task = ? AND status = 1 GROUP BY path_id
) own
JOIN paths p ON p.id = own.path_id
JOIN versions f ON f.id = own.first
JOIN versions after ON after.id = own.last
LEFT JOIN versions before ON before.id = f.previous
ORDER BY own.first DESC
"""


@dataclass(frozen=True, slots=True)
class Net:
    """What a task made of a path: the kinds of what stood there before and after it."""

    before: str
    after: str


def in_turn(net: Mapping[str, Net]) -> tuple[str, ...]:
    """A task's paths in the order in which they can be taken back.

    What stands is taken back first, the deepest first, so that directories that the task made are empty by then. What
    the task took away comes back after that, the outermost first; what it had changed or made in a directory before
    it took that away goes last.
    """

    def comes_back(path: str) -> bool:
        found = net[path].after == "absent"
        above = path.rpartition("/")[0]
        while above:
            around = net.get(above)
            if around is not None and around.after != "directory":
                found = True
            elif around is not None and around.before == "absent":
                found = False
            above = above.rpartition("/")[0]
        return found

    def depth(path: str) -> int:
        return path.count("/")

    back = [path for path in net if comes_back(path)]
    standing = net.keys() - back
    return (
        *sorted((path for path in net if path in standing), key=depth, reverse=True),
        *sorted((path for path in back if net[path].before != "absent"), key=depth),
        *sorted((path for path in back if net[path].before == "absent"), key=depth, reverse=True),
    )


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
        """The paths that the task changed, in the order in which they are taken back."""
        with self._database.reading() as db:
            found = db.execute(_NET, (rows.bind(name),)).fetchall()
        return in_turn({rows.path(path): Net(before or "absent", after) for path, before, after in found})


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
