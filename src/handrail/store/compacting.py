"""Contents become deltas against their neighbours: an older version is told from the newer one beside it.

So the newest reads at once and the oldest, which goes first, is needed by no other. Chains stay short enough that the
oldest version still reads in milliseconds. Each delta is read back before it takes the place of what it tells.
"""

import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from handrail.model.errors import BackendFailed
from handrail.model.files import Bytes
from handrail.store import deltas
from handrail.store.blobs import Blobs
from handrail.store.collecting import Collecting
from handrail.store.database import Database
from handrail.store.protocol import Tally

DEPTH: Final = 50
"""Deltas between a version and a whole content, at most."""

_READ_AT_MOST: Final = 32 * 1024 * 1024
"""Bytes that reading one version may go through, which shortens the chains of large contents."""

_LARGEST_DELTA: Final = 1 << 20
_WORTH: Final = 0.8
_UP: Final = """
WITH RECURSIVE up (id, hops) AS (
    SELECT ?, 0 UNION ALL SELECT d.base, hops + 1 FROM up JOIN deltas d ON d.content = up.id WHERE hops < 1000
)
SELECT id FROM up ORDER BY hops
"""
_DOWN: Final = """
WITH RECURSIVE down (id, hops) AS (
    SELECT ?, 0 UNION ALL SELECT d.content, hops + 1 FROM down JOIN deltas d ON d.base = down.id WHERE hops < 1000
)
SELECT max(hops) FROM down
"""
_OF_PATH: Final = """
SELECT c.id, c.hash, c.size, c.form, coalesce(length(c.data), 0)
FROM versions v JOIN contents c ON c.hash = v.hash
WHERE v.path_id = ? AND v.why_not IS NULL AND v.hash IS NOT NULL
ORDER BY v.id DESC
"""


@dataclass(frozen=True, slots=True)
class _Content:
    id: int
    hash: bytes
    size: int
    form: int
    stored: int


class Compacting:
    """The deltas of one store, made; one process at a time."""

    def __init__(self, database: Database, blobs: Blobs, collecting: Collecting) -> None:
        self._database = database
        self._blobs = blobs
        self._collecting = collecting

    def run(self, tally: Tally) -> Iterator[None]:
        """Go through all paths, then free what only deltas still need; one content a step."""
        path = 0
        while True:
            with self._database.reading() as db:
                row = db.execute("SELECT id FROM paths WHERE id > ? ORDER BY id LIMIT 1", (path,)).fetchone()
            if row is None:
                break
            path = int(row[0])
            yield from self._path(path, tally)
        yield from self._free_bases(tally)

    def _path(self, path: int, tally: Tally) -> Iterator[None]:
        with self._database.reading() as db:
            found = [_Content(*row) for row in db.execute(_OF_PATH, (path,))]
        contents = list({content.id: content for content in found}.values())
        for at, content in enumerate(contents):
            if content.form == deltas.DELTA:
                continue
            if at and deltas.SMALLEST <= content.size <= deltas.LARGEST and self._tell(content, contents[at - 1]):
                tally.deltas += 1
                yield
            elif content.form in (deltas.PLAIN, deltas.PACKED) and self._tighten(content):
                yield

    def _tell(self, content: _Content, neighbour: _Content) -> bool:
        """Tell a content from its neighbour, or from what that is told from in the end; whether that was worth it."""
        with self._database.reading() as db:
            above = [int(row[0]) for row in db.execute(_UP, (neighbour.id,))]
            below = int(db.execute(_DOWN, (content.id,)).fetchone()[0])
        if content.id in above:
            return False
        longest = max(1, min(DEPTH, _READ_AT_MOST // max(content.size, neighbour.size)))
        base = above[0] if len(above) + below <= longest else above[-1]
        if 1 + below > longest:
            return False
        told = self._told(self._bytes(content.id), base)
        if told is None or len(told) > min(_LARGEST_DELTA, self._stored(content) * _WORTH):
            return False
        return self._replace(content, base, told)

    def _told(self, content: bytes | None, base: int) -> bytes | None:
        """The delta from a base, read back; `None` for what can't be told or a base that can't be one."""
        origin = self._bytes(base)
        if not content or origin is None or not deltas.SMALLEST <= len(origin) <= deltas.LARGEST:
            return None
        told = deltas.difference(origin, content)
        return told if deltas.applied(origin, told, len(content)) == content else None

    def _replace(self, content: _Content, base: int, told: bytes) -> bool:
        with self._database.writing(durable=content.form == deltas.FILE) as db:
            if not (_there(db, content.id) and _there(db, base)):
                return False  # pruned meanwhile
            db.execute("INSERT OR REPLACE INTO deltas (content, base, data) VALUES (?, ?, ?)", (content.id, base, told))
            # An update would leave the pages of the long rows nearly empty; a deletion lets them grow together.
            db.execute("DELETE FROM contents WHERE id = ?", (content.id,))
            query = "INSERT INTO contents (id, hash, size, form) VALUES (?, ?, ?, ?)"
            db.execute(query, (content.id, content.hash, content.size, deltas.DELTA))
        if content.form == deltas.FILE:
            self._collecting.files([content.hash.hex()], Tally())
        return True

    def _tighten(self, content: _Content) -> bool:
        """Keep a small whole content as small as it gets."""
        data = self._bytes(content.id)
        packed = deltas.tight(data or b"")
        if not data or len(packed) >= content.stored:
            return False
        with self._database.writing(durable=False) as db:
            query = "UPDATE contents SET form = ?, data = ? WHERE id = ? AND form IN (?, ?)"
            db.execute(query, (deltas.TIGHT, packed, content.id, deltas.PLAIN, deltas.PACKED))
        return True

    def _free_bases(self, tally: Tally) -> Iterator[None]:
        """What no version needs but others are told from: those are told from what it is told from itself."""
        query = (
            "SELECT c.id, c.hash FROM loose l JOIN contents c ON c.hash = l.hash JOIN deltas d ON d.base = c.id"
            " WHERE NOT EXISTS (SELECT 1 FROM versions v WHERE v.hash = c.hash AND v.why_not IS NULL) GROUP BY c.id"
        )
        with self._database.reading() as db:
            bases = [int(row[0]) for row in db.execute(query)]
        for base in bases:
            with self._database.reading() as db:
                above = db.execute("SELECT base FROM deltas WHERE content = ?", (base,)).fetchone()
                told = [int(row[0]) for row in db.execute("SELECT content FROM deltas WHERE base = ?", (base,))]
            stem = int(above[0]) if above else told.pop(0)
            if not above and not self._whole(stem):
                continue
            yield
            for content in told:
                self._retell(content, stem)
                tally.deltas += 1
                yield

    def _whole(self, content: int) -> bool:
        """Keep a delta as a whole content again; false for a damaged one."""
        data = self._bytes(content)
        if data is None:
            return False
        packed = self._blobs.pack(Bytes(data))
        with self._database.writing(durable=True) as db:
            if _there(db, content):
                query = "UPDATE contents SET form = ?, data = ? WHERE id = ?"
                db.execute(query, (packed.form, packed.data, content))
                db.execute("DELETE FROM deltas WHERE content = ?", (content,))
        return True

    def _retell(self, content: int, base: int) -> None:
        told = self._told(self._bytes(content), base)
        if told is None or len(told) > _LARGEST_DELTA:
            self._whole(content)
            return
        with self._database.writing(durable=False) as db:
            if _there(db, base):
                query = "UPDATE deltas SET base = ?, data = ? WHERE content = ?"
                db.execute(query, (base, told, content))

    def _bytes(self, content: int) -> bytes | None:
        """A content, checked; `None` for one that was pruned meanwhile or is damaged."""
        with self._database.reading() as db:
            row = db.execute("SELECT hash FROM contents WHERE id = ?", (content,)).fetchone()
        if row is None:
            return None
        try:
            return b"".join(self._blobs.chunks(bytes(row[0]).hex()))
        except BackendFailed:
            return None

    def _stored(self, content: _Content) -> int:
        if content.form != deltas.FILE:
            return content.stored
        return os.stat(self._blobs.place(content.hash.hex())).st_size


def _there(db: sqlite3.Connection, content: int) -> bool:
    return db.execute("SELECT 1 FROM contents WHERE id = ?", (content,)).fetchone() is not None
