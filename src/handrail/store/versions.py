"""Versions: recorded before a change happens, settled after it, listed newest first."""

import os
import secrets
import sqlite3
from collections.abc import Callable, Mapping, Sequence

from handrail.model.files import Content, DirectoryState, FileState
from handrail.model.records import Version
from handrail.store import rows
from handrail.store.blobs import Blobs
from handrail.store.database import Database, private_directory
from handrail.store.listing import JOINED, listed
from handrail.store.names import Names
from handrail.store.owners import Owner
from handrail.store.protocol import Author, Draft, Filter

_INTENDED, _DONE = 0, 1
_LOOSEN = (
    "INSERT OR IGNORE INTO loose (hash) SELECT hash FROM versions WHERE id = ? AND status = 0 AND hash IS NOT NULL"
)
_PUT_BACK = "the tree that was moved aside has been put back or pruned"


class Versions:
    """The versions of one store."""

    def __init__(self, database: Database, blobs: Blobs, owner: Owner, *, clock: Callable[[], int]) -> None:
        self._database = database
        self._blobs = blobs
        self._owner = owner
        self._clock = clock
        self._names = Names()
        self._trash = os.path.join(database.directory, "trash")
        self.died = 0

    def newest(self, path: str) -> Version | None:
        """The newest version at exactly this path."""
        return self._one(f"{JOINED} WHERE p.path = ? ORDER BY v.id DESC LIMIT 1", rows.name(path))

    def newest_of(self, paths: Sequence[str]) -> Mapping[str, Version]:
        """The newest version at each of these paths that has one."""
        query = f"{JOINED} WHERE p.path = ? ORDER BY v.id DESC LIMIT 1"
        with self._database.peeking() as db:
            found = [(path, db.execute(query, (rows.name(path),)).fetchone()) for path in paths]
        return {path: self._version(row) for path, row in found if row is not None}

    def version(self, number: int) -> Version | None:
        """The version by its id."""
        return self._one(f"{JOINED} WHERE v.id = ?", number) if abs(number) < 2**63 else None

    def versions(self, wanted: Filter, *, limit: int, after: int | None) -> Sequence[Version]:
        """Newest first."""
        with self._database.reading() as db:
            return self._made(listed(db, wanted, limit=limit, after=after, names=self._names))

    def record(self, drafts: Sequence[Draft], author: Author) -> Sequence[Version]:
        """Store contents and versions in one durable commit."""
        contents: dict[str, Content] = {}
        for draft in drafts:
            if isinstance(draft.state, FileState):
                contents[draft.state.content.hash] = draft.state.content
        packed = self._blobs.prepare(contents)
        with self._database.writing(durable=True) as db:
            self._blobs.store(db, contents, packed)
            now = self._clock()
            found = [self._insert(db, draft, author, now) for draft in drafts]
            if author.task is not None and found:
                db.execute("UPDATE tasks SET last_version = ? WHERE id = ?", (found[-1][0], rows.bind(author.task)))
        return self._made(found)

    def settle(self, numbers: Sequence[int], *, done: bool) -> None:
        """Mark intended versions as done, or take them back."""
        statement = (
            "UPDATE versions SET status = 1, owner = NULL WHERE id = ? AND status = 0"
            if done
            else "DELETE FROM versions WHERE id = ? AND status = 0"
        )
        with self._database.writing(durable=False) as db:
            for number in numbers:
                if not done:
                    db.execute(_LOOSEN, (number,))
                db.execute(statement, (number,))

    def intended(self) -> Sequence[Version]:
        """Versions whose outcome isn't known, of processes that are gone."""
        with self._database.reading() as db:
            found = db.execute("SELECT DISTINCT owner FROM versions WHERE status = 0").fetchall()
            owners = [str(owner) for (owner,) in found]
            gone = [owner for owner in owners if self._owner.gone(owner)]
            pending: list[tuple[object, ...]] = []
            for owner in gone:
                pending += db.execute(f"{JOINED} WHERE v.status = 0 AND v.owner = ? ORDER BY v.id", (owner,)).fetchall()
        self.died = self._owner.bury(frozenset(owners)) + len(gone)
        return self._made(sorted(pending, key=lambda row: int(str(row[0]))))

    def of_task(self, task: str, path: str) -> Sequence[Version]:
        """A task's own done versions of one path, oldest first."""
        return self._all(
            f"{JOINED} WHERE v.task = ? AND p.path = ? AND v.status = 1 ORDER BY v.id",
            rows.bind(task),
            rows.name(path),
        )

    def trash_place(self) -> str:
        """A new name in the trash."""
        private_directory(self._trash)
        return os.path.join(self._trash, secrets.token_hex(16))

    def _insert(self, db: sqlite3.Connection, draft: Draft, author: Author, now: int) -> tuple[object, ...]:
        """The row of a new version, as a look at it would give it."""
        columns = rows.from_state(draft.state)
        key = rows.name(draft.path)
        known = db.execute(
            "SELECT p.id, (SELECT max(v.id) FROM versions v WHERE v.path_id = p.id) FROM paths p WHERE p.path = ?",
            (key,),
        ).fetchone()
        path_id, previous = known or (db.execute("INSERT INTO paths (path) VALUES (?)", (key,)).lastrowid, None)
        # What others did outside of our tools belongs to no tool, session or task.
        external = draft.action == "external"
        state = (columns.kind, columns.hash, columns.size, columns.mode, columns.extra)
        made = (
            *("" if external else rows.bind(text) for text in (author.tool, author.session)),
            *(None if external else rows.bind(text) for text in (author.task, author.objective)),
            now,
            previous,
            rows.bind(author.group),
            _DONE if external else _INTENDED,
        )
        cursor = db.execute(
            "INSERT INTO versions (path_id, kind, hash, size, mode, extra, action, tool, session, task, objective,"
            " time_ns, previous, part_of, status, owner) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (path_id, *state, draft.action, *made, None if external else self._owner.name),
        )
        return (cursor.lastrowid, key, *state, draft.action, *made, None)

    def _one(self, query: str, value: str | bytes | int | None) -> Version | None:
        with self._database.peeking() as db:
            found = db.execute(query, (value,)).fetchone()
        return None if found is None else self._version(found)

    def _all(self, query: str, *values: str | bytes | int | None) -> Sequence[Version]:
        with self._database.reading() as db:
            return self._made(db.execute(query, values).fetchall())

    def _made(self, found: Sequence[tuple[object, ...]]) -> Sequence[Version]:
        return tuple(self._version(row) for row in found)

    def _version(self, row: Sequence[object]) -> Version:
        (number, path, kind, digest, size, mode, extra, action, tool, session, task, objective) = row[:12]
        (time_ns, previous, group, status, why_not) = row[12:]
        columns = rows.StateColumns(kind, digest, size, mode, extra)  # type: ignore[arg-type]
        state = rows.to_state(columns, self._blobs)
        reason = rows.maybe(why_not)  # type: ignore[arg-type]
        if isinstance(state, DirectoryState) and state.trash is not None and not os.path.lexists(state.trash):
            reason = reason or _PUT_BACK
        return Version(
            id=number,  # type: ignore[arg-type]
            path=rows.path(path),  # type: ignore[arg-type]
            state=state,
            action=action,  # type: ignore[arg-type]
            tool=rows.text(tool),  # type: ignore[arg-type]
            session=rows.text(session),  # type: ignore[arg-type]
            task=rows.maybe(task),  # type: ignore[arg-type]
            objective=rows.maybe(objective),  # type: ignore[arg-type]
            time_ns=time_ns,  # type: ignore[arg-type]
            previous=previous,  # type: ignore[arg-type]
            group=rows.maybe(group),  # type: ignore[arg-type]
            status="done" if status == _DONE else "intended",
            restorable=reason is None,
            why_not=reason or "",
        )
