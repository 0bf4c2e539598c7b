"""Pruning: versions over the limits lose what they would give back, a few in each short transaction.

The rows stay, so that a listing says what is gone and why. Whoever drives it sets the pace and may stop anywhere.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from handrail.store.collecting import BATCH, Collecting
from handrail.store.database import Database
from handrail.store.keeping import SPACE, Kept, needed, reason, surplus
from handrail.store.protocol import Limits, Tally
from handrail.store.usage import database_bytes, tree_bytes

EVERY_PATH_NS: Final = 24 * 3600 * 10**9
"""How often paths are looked at that nobody changed meanwhile: they only grow older."""

_WINDOW: Final = 1024
_MANY: Final = 8
_PATHS: Final = 64
_LOOKED_AT: Final = 8
_ENOUGH: Final = 0.9
_FREE_PAGES: Final = 1024
_HEAVY: Final = (
    "(v.why_not IS NULL AND (v.hash IS NOT NULL OR"
    " (v.kind = 'directory' AND json_extract(v.extra, '$.trash') IS NOT NULL)))"
)
_OF_PATH: Final = (
    f"SELECT v.id, v.time_ns, v.task, t.touched_at, v.status, {_HEAVY}"  # noqa: S608 -- all of it stands here
    " FROM versions v LEFT JOIN tasks t ON t.id = v.task WHERE v.path_id = ? ORDER BY v.id DESC"
)


class Pruning:
    """The limits of one store, kept."""

    def __init__(self, database: Database, collecting: Collecting) -> None:
        self._database = database
        self._collecting = collecting

    def run(self, limits: Limits, now: int, tally: Tally, *, every_path: bool) -> Iterator[None]:
        """Bring the store within its limits as far as what must stay allows; one short transaction a step."""
        if every_path or self._behind():
            self._begin_all_paths()
        yield from self._changed_paths(limits, now, tally)
        yield from self._all_paths(limits, now, tally)
        yield from self._collecting.contents(tally)
        yield from self._space(limits, now, tally)
        yield from self._collecting.strays(tally)
        yield from self._collecting.trees(tally, now - limits.age)
        yield from self.give_back(_FREE_PAGES)

    def give_back(self, spare: int) -> Iterator[None]:
        """Return free pages of the database to the file system until few are left."""
        while True:
            with self._database.writing(durable=False) as db:
                free = int(db.execute("PRAGMA freelist_count").fetchone()[0])
                if free > spare:
                    db.execute("PRAGMA incremental_vacuum(256)").fetchall()
                left = int(db.execute("PRAGMA freelist_count").fetchone()[0])
            if left == free or left <= spare:
                return
            yield

    def _behind(self) -> bool:
        """Whether so much was recorded since we looked last that most paths changed."""
        with self._database.reading() as db:
            newest = int(db.execute("SELECT coalesce(max(id), 0) FROM versions").fetchone()[0])
            return newest - _value(db, "pruned_to") > _MANY * _WINDOW

    def _begin_all_paths(self) -> None:
        with self._database.writing(durable=False) as db:
            newest = int(db.execute("SELECT coalesce(max(id), 0) FROM versions").fetchone()[0])
            notes = [("pruned_to", newest), ("path_to", 0), ("all_paths_at", 0)]
            db.executemany("INSERT OR REPLACE INTO upkeep (work, value) VALUES (?, ?)", notes)

    def _changed_paths(self, limits: Limits, now: int, tally: Tally) -> Iterator[None]:
        """Every path that got a version since we looked last."""
        while True:
            with self._database.reading() as db:
                start = _value(db, "pruned_to")
                query = "SELECT id, path_id FROM versions WHERE id > ? ORDER BY id LIMIT ?"
                found = db.execute(query, (start, _WINDOW)).fetchall()
            if not found:
                return
            yield from self._paths(sorted({path for _, path in found}), limits, now, tally)
            self._note("pruned_to", found[-1][0])
            yield

    def _all_paths(self, limits: Limits, now: int, tally: Tally) -> Iterator[None]:
        with self._database.reading() as db:
            if now - _value(db, "all_paths_at") < EVERY_PATH_NS:
                return
        while True:
            with self._database.reading() as db:
                start = _value(db, "path_to")
                found = db.execute("SELECT id FROM paths WHERE id > ? ORDER BY id LIMIT ?", (start, _PATHS)).fetchall()
            if not found:
                break
            yield from self._paths([path for (path,) in found], limits, now, tally)
            self._note("path_to", found[-1][0])
            yield
        self._note("path_to", 0)
        self._note("all_paths_at", now)

    def _paths(self, paths: Sequence[int], limits: Limits, now: int, tally: Tally) -> Iterator[None]:
        for at, path in enumerate(paths, 1):
            yield from self._path(path, limits, now, tally)
            if at % _LOOKED_AT == 0:
                yield  # looking takes time too

    def _path(self, path: int, limits: Limits, now: int, tally: Tally) -> Iterator[None]:
        over = list(surplus(self._of_path(path), limits, now).items())
        for start in range(0, len(over), BATCH):
            batch = {number: reason(why, limits) for number, why in over[start : start + BATCH]}
            self._mark(batch, tally)
            yield

    def _space(self, limits: Limits, now: int, tally: Tally) -> Iterator[None]:
        """The oldest contents go first, whatever path they belong to, until a tenth of the space is free again."""
        files = tree_bytes(self._collecting.blobs_directory) + tally.freed

        def used() -> int:
            return database_bytes(self._database) + files - tally.freed

        if used() <= limits.bytes:
            return
        stay: dict[int, frozenset[int]] = {}
        after = 0
        while used() > limits.bytes * _ENOUGH:
            with self._database.reading() as db:
                query = (
                    "SELECT id, path_id FROM versions WHERE id > ? AND why_not IS NULL AND hash IS NOT NULL"
                    " ORDER BY id LIMIT ?"
                )
                found = db.execute(query, (after, BATCH)).fetchall()
            if not found:
                return
            after = found[-1][0]
            for _, path in found:
                if path not in stay:
                    stay[path] = needed(self._of_path(path), now - limits.age)
            over = {number: reason(SPACE, limits) for number, path in found if number not in stay[path]}
            if over:
                self._mark(over, tally)
                yield
                yield from self._collecting.contents(tally)

    def _of_path(self, path: int) -> Sequence[Kept]:
        with self._database.reading() as db:
            return [
                Kept(id=number, time_ns=time_ns, task=task, touched=touched, done=status == 1, heavy=bool(heavy))
                for number, time_ns, task, touched, status, heavy in db.execute(_OF_PATH, (path,))
            ]

    def _mark(self, over: Mapping[int, str], tally: Tally) -> None:
        """Say of these versions that they give nothing back any more, and note what they held as loose."""
        places: list[str] = []
        with self._database.reading() as db:
            for number in over:
                query = "SELECT json_extract(extra, '$.trash') FROM versions WHERE id = ? AND kind = 'directory'"
                places += [str(place) for (place,) in db.execute(query, (number,)) if place is not None]
        with self._database.writing(durable=bool(places)) as db:
            for number, why in over.items():
                query = "UPDATE versions SET why_not = ? WHERE id = ? AND why_not IS NULL AND status = 1"
                tally.versions += db.execute(query, (why, number)).rowcount
                db.execute(
                    "INSERT OR IGNORE INTO loose (hash) SELECT hash FROM versions WHERE id = ? AND hash IS NOT NULL",
                    (number,),
                )
        for place in places:
            self._collecting.tree(place, tally)

    def _note(self, work: str, value: int) -> None:
        with self._database.writing(durable=False) as db:
            db.execute("INSERT OR REPLACE INTO upkeep (work, value) VALUES (?, ?)", (work, value))


def _value(db: sqlite3.Connection, work: str) -> int:
    row = db.execute("SELECT value FROM upkeep WHERE work = ?", (work,)).fetchone()
    return 0 if row is None else int(row[0])
