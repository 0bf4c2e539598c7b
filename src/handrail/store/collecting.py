"""Contents and moved trees that nothing needs any more are given up, a few at a time, so that a crash leaves no hole.

A content goes in one transaction with the proof that no version needs it and no other content is told from it. Its
file goes in a later one, which sees that the content is still gone: a file without a row is only waste, a row without
a file would be a loss.
"""

import contextlib
import fcntl
import os
import re
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from typing import Final

from handrail.store import deltas
from handrail.store.blobs import Blobs
from handrail.store.database import Database
from handrail.store.protocol import Tally

BATCH: Final = 16
"""Rows that one transaction touches; others wait no longer than that takes."""

GONE: Final = ".gone"
"""How the name of a moved tree ends that is being taken away; no version leads there."""

_PLACE: Final = re.compile(r"[0-9a-f]{32}")
_TEMPORARY: Final = re.compile(r"[0-9a-f]{62}\.[0-9a-f]{12}\.tmp")
_CONTENT: Final = re.compile(r"[0-9a-f]{62}")


class Collecting:
    """What nobody needs, in one store's directory."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self._database = database
        self._blobs = blobs
        self.blobs_directory = os.path.join(database.directory, "blobs")
        self.trash = os.path.join(database.directory, "trash")

    def contents(self, tally: Tally) -> Iterator[None]:
        """Give up the contents that are noted as loose and that nothing needs; one short transaction a step."""
        progress = True
        while progress:
            before, after = tally.contents, b""
            while True:
                with self._database.reading() as db:
                    batch = self._batch(db, after)
                if not batch:
                    break
                self._give_up(batch, tally)
                after = batch[-1]
                yield
            # What the given-up ones were told from may be free by now.
            progress = tally.contents > before

    def strays(self, tally: Tally) -> Iterator[None]:
        """Remove content files that no content has, and what interrupted writers left; one directory a step."""
        with contextlib.suppress(FileNotFoundError):
            for directory in sorted(os.listdir(self.blobs_directory)):
                self._sweep(os.path.join(self.blobs_directory, directory), tally)
                yield

    def trees(self, tally: Tally, before_ns: int) -> Iterator[None]:
        """Remove trees of the trash that no version leads to and that were moved there before that time."""
        names: list[str] = []
        with contextlib.suppress(FileNotFoundError):
            names = os.listdir(self.trash)
        led_to = self.led_to() if names else frozenset()
        for name in sorted(names):
            place = os.path.join(self.trash, name)
            if not name.endswith(GONE):
                if not _PLACE.fullmatch(name) or place in led_to or _moved_ns(place) >= before_ns:
                    continue
                place = self._out_of_reach(place)
            tally.trees += 1
            drop(place)
            yield

    def tree(self, place: str, tally: Tally) -> None:
        """Remove one tree of the trash, in one step for whoever looks for it there."""
        directory, _, name = place.rpartition("/")
        if directory != self.trash or not _PLACE.fullmatch(name):
            return  # a record may be damaged; nothing outside of the trash is ever taken away
        with contextlib.suppress(FileNotFoundError):
            drop(self._out_of_reach(place))
            tally.trees += 1

    def led_to(self) -> frozenset[str]:
        """The places in the trash that a version still gives back."""
        query = (
            "SELECT json_extract(extra, '$.trash') FROM versions"
            " WHERE kind = 'directory' AND why_not IS NULL AND json_extract(extra, '$.trash') IS NOT NULL"
        )
        with self._database.reading() as db:
            return frozenset(str(place) for (place,) in db.execute(query))

    def _batch(self, db: sqlite3.Connection, after: bytes) -> list[bytes]:
        found = db.execute("SELECT hash FROM loose WHERE hash > ? ORDER BY hash LIMIT ?", (after, BATCH))
        return [bytes(digest) for (digest,) in found]

    def _give_up(self, batch: list[bytes], tally: Tally) -> None:
        files: list[str] = []
        with self._database.reading() as db:
            on_disk = any(_form(db, digest) == deltas.FILE for digest in batch)
        # What stands on the disk may only vanish when it is sure that nobody will be told that it is there.
        with self._database.writing(durable=on_disk) as db:
            for digest in batch:
                if not _needed(db, digest):
                    if _form(db, digest) == deltas.FILE:
                        files.append(digest.hex())
                    tally.contents += _forget(db, digest)
                elif not _base(db, digest):
                    db.execute("DELETE FROM loose WHERE hash = ?", (digest,))
        self.files(files, tally)

    def files(self, digests: list[str], tally: Tally) -> None:
        """Remove the files of contents that are kept otherwise by now, or not at all."""
        if not digests:
            return
        with self._database.writing(durable=False) as db:
            for digest in digests:
                if _form(db, bytes.fromhex(digest)) == deltas.FILE:
                    continue
                with contextlib.suppress(FileNotFoundError):
                    place = self._blobs.place(digest)
                    size = os.stat(place).st_size
                    os.unlink(place)
                    tally.freed += size

    def _sweep(self, directory: str, tally: Tally) -> None:
        orphans: list[str] = []
        with contextlib.suppress(NotADirectoryError, FileNotFoundError):
            for name in os.listdir(directory):
                tally.strays += abandoned(os.path.join(directory, name), remove=True)
                if _CONTENT.fullmatch(name):
                    orphans.append(os.path.basename(directory) + name)
        with self._database.reading() as db:
            orphans = [digest for digest in orphans if _form(db, bytes.fromhex(digest)) != deltas.FILE]
        tally.strays += len(orphans)
        self.files(orphans, tally)

    def _out_of_reach(self, place: str) -> str:
        os.rename(place, place + GONE)
        return place + GONE


def drop(place: str) -> None:
    """Remove a tree with all that lies in it, closed directories too; no link is followed."""
    if not stat.S_ISDIR(os.lstat(place).st_mode):
        os.unlink(place)
        return
    os.chmod(place, 0o700)
    for directory, names, _ in os.walk(place):
        for name in names:
            inner = os.path.join(directory, name)
            if not os.path.islink(inner):
                os.chmod(inner, 0o700)
    shutil.rmtree(place)


def abandoned(path: str, *, remove: bool = False) -> bool:
    """Whether a file is a temporary one whose writer is gone; the living hold a lock, but for the very young."""
    if not _TEMPORARY.fullmatch(os.path.basename(path)):
        return False
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if remove:
            os.unlink(path)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _needed(db: sqlite3.Connection, digest: bytes) -> bool:
    """Whether a version gives this content back, or another content is told from it."""
    query = "SELECT 1 FROM versions WHERE hash = ? AND why_not IS NULL LIMIT 1"
    return db.execute(query, (digest,)).fetchone() is not None or _base(db, digest)


def _base(db: sqlite3.Connection, digest: bytes) -> bool:
    query = "SELECT 1 FROM deltas WHERE base = (SELECT id FROM contents WHERE hash = ?) LIMIT 1"
    return db.execute(query, (digest,)).fetchone() is not None


def _form(db: sqlite3.Connection, digest: bytes) -> int | None:
    row = db.execute("SELECT form FROM contents WHERE hash = ?", (digest,)).fetchone()
    return None if row is None else int(row[0])


def _forget(db: sqlite3.Connection, digest: bytes) -> int:
    """Take a content's row away; what it was told from becomes loose with it."""
    db.execute(
        "INSERT OR IGNORE INTO loose (hash) SELECT b.hash FROM contents c JOIN deltas d ON d.content = c.id"
        " JOIN contents b ON b.id = d.base WHERE c.hash = ?",
        (digest,),
    )
    db.execute("DELETE FROM deltas WHERE content = (SELECT id FROM contents WHERE hash = ?)", (digest,))
    gone = db.execute("DELETE FROM contents WHERE hash = ?", (digest,)).rowcount
    db.execute("DELETE FROM loose WHERE hash = ?", (digest,))
    return gone


def _moved_ns(place: str) -> int:
    """When a tree was moved here: its own change time."""
    with contextlib.suppress(FileNotFoundError):
        return os.lstat(place).st_ctime_ns
    return 0
