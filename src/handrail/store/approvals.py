"""The approval queue that every channel reads, who watches it, and the answers that people said to remember."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict

from handrail.model.records import Answered, ProposedChange, Request
from handrail.store import rows
from handrail.store.database import Database
from handrail.store.protocol import Rule

KEPT_NS = 24 * 3600 * 10**9
"""Requests are forgotten this long after they expired."""


class Approvals:
    """Requests, watchers and rules of one store."""

    def __init__(self, database: Database, *, clock: Callable[[], int]) -> None:
        self._database = database
        self._clock = clock

    def ask(self, request: Request) -> None:
        """Put a request into the queue."""
        body = json.dumps(asdict(request))
        with self._database.writing(durable=False) as db:
            db.execute("DELETE FROM requests WHERE expires_at < ?", (self._clock() - KEPT_NS,))
            db.execute(
                "INSERT INTO requests (id, body, asked_at, expires_at) VALUES (?, ?, ?, ?)",
                (rows.bind(request.id), body, request.asked_at, request.expires_at),
            )

    def pending(self) -> Sequence[Request]:
        """What waits for an answer, oldest first."""
        query = "SELECT body FROM requests WHERE answer IS NULL AND expires_at > ? ORDER BY asked_at, rowid"
        with self._database.reading() as db:
            return tuple(_request(body) for (body,) in db.execute(query, (self._clock(),)))

    def answer(self, request: str, answered: Answered) -> bool:
        """Answer a request, if nobody did before; what closes one (time-out, withdrawal) may come after its time."""
        now = self._clock() if answered.verdict in ("allow", "deny") else -1
        with self._database.writing(durable=False) as db:
            cursor = db.execute(
                "UPDATE requests SET answer = ? WHERE id = ? AND answer IS NULL AND expires_at > ?",
                (json.dumps(asdict(answered)), rows.bind(request), now),
            )
            return cursor.rowcount == 1

    def answered(self, request: str) -> Answered | None:
        """The answer, if there is one."""
        with self._database.reading() as db:
            row = db.execute("SELECT answer FROM requests WHERE id = ?", (rows.bind(request),)).fetchone()
        return None if row is None or row[0] is None else Answered(**json.loads(row[0]))

    def watch(self, watcher: str, now: int) -> None:
        """Note that a watcher is there."""
        with self._database.writing(durable=False) as db:
            db.execute(
                "INSERT INTO watchers (id, seen_at) VALUES (?, ?)"
                " ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at",
                (rows.bind(watcher), now),
            )

    def watchers(self, since: int) -> Sequence[str]:
        """Who was there at that time or later."""
        with self._database.reading() as db:
            found = db.execute("SELECT id FROM watchers WHERE seen_at >= ? ORDER BY id", (since,)).fetchall()
        return tuple(rows.text(watcher) for (watcher,) in found)

    def unwatch(self, watcher: str) -> None:
        """Note that a watcher left."""
        with self._database.writing(durable=False) as db:
            db.execute("DELETE FROM watchers WHERE id = ?", (rows.bind(watcher),))

    def remember(self, rule: Rule) -> int:
        """Keep a rule; returns its id."""
        with self._database.writing(durable=True) as db:
            cursor = db.execute(
                "INSERT INTO rules (session, task, pattern, tool, created_at) VALUES (?, ?, ?, ?, ?)",
                (
                    rows.bind(rule.session),
                    rows.bind(rule.task),
                    rows.bind(rule.pattern),
                    rows.bind(rule.tool),
                    rule.created_at,
                ),
            )
            return int(cursor.lastrowid or 0)

    def rules(self) -> Sequence[Rule]:
        """All rules, oldest first."""
        query = "SELECT id, session, task, pattern, tool, created_at FROM rules ORDER BY id"
        with self._database.reading() as db:
            found = db.execute(query).fetchall()
        return tuple(
            Rule(
                id=number,
                session=rows.maybe(session),
                task=rows.maybe(task),
                pattern=rows.text(pattern),
                tool=rows.maybe(tool),
                created_at=created_at,
            )
            for number, session, task, pattern, tool, created_at in found
        )

    def forget(self, rule: int) -> bool:
        """Take a rule back, durably."""
        with self._database.writing(durable=True) as db:
            return db.execute("DELETE FROM rules WHERE id = ?", (rule,)).rowcount == 1


def _request(body: str) -> Request:
    fields = json.loads(body)
    fields["changes"] = tuple(ProposedChange(**change) for change in fields["changes"])
    fields["paths"] = tuple(fields["paths"])
    fields["unusual"] = tuple(fields["unusual"])
    return Request(**fields)
