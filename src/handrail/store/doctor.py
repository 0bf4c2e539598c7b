"""What is wrong with a store, each thing in one sentence with what would be done about it; and doing it.

It opens a store that nobody else may be able to open, so it works on the directory. What becomes of open intents is
decided by who knows the users' files; here they are only found.
"""

import contextlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from handrail.model.errors import BackendFailed
from handrail.store import deltas, rows, salvage
from handrail.store.blobs import Blobs
from handrail.store.collecting import GONE, Collecting, abandoned
from handrail.store.database import FILE_NAME, Database, failures
from handrail.store.owners import lives, living
from handrail.store.protocol import Tally
from handrail.store.regaining import standing_on_disk

Kind = Literal["database", "permissions", "content", "orphan", "intent", "stray", "trash"]
_MEND: Final = "take it from the disk where it still stands, else say of these versions that they can't be restored"
_PUT: Final = (
    "INSERT INTO contents (hash, size, form, data) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (hash) DO UPDATE SET form = excluded.form, data = excluded.data"
)
_APART: Final = ("files",)
_CONTENT: Final = re.compile(r"[0-9a-f]{62}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong; `harmless` for what mends itself in time. `mended` once it is done."""

    kind: Kind
    said: str
    would: str
    mended: bool = False
    harmless: bool = False


def examine(directory: str, *, repair: bool) -> Iterator[Finding]:
    """Look at everything in a store's directory, and mend what can be mended where that is asked for.

    Raises `BackendFailed` where the directory itself can't be read.
    """
    with failures(directory):
        if not os.path.isdir(directory):
            return
        yield from _permissions(directory, repair=repair)
        damaged = salvage.problems(directory)
        if damaged:
            found = _database(directory, damaged, repair=repair)
            yield found
            if not found.mended:
                return  # what a damaged database says of the rest is no ground to judge it
        elif not os.path.exists(os.path.join(directory, FILE_NAME)):
            return
        database = Database(directory)
        try:
            yield from _Examined(database, repair=repair, keep_orphans=bool(damaged)).all()
        finally:
            database.close()


def _permissions(directory: str, *, repair: bool) -> Iterator[Finding]:
    """Our own directories are 0700, our files 0600; what lies in the trash keeps the rights it had."""
    open_ones: list[str] = []
    waiting = [directory]
    while waiting:
        place = waiting.pop()
        found = os.lstat(place)
        if stat.S_ISLNK(found.st_mode):
            continue
        wanted = 0o700 if stat.S_ISDIR(found.st_mode) else 0o600
        if stat.S_IMODE(found.st_mode) & 0o077:
            open_ones.append(place)
            if repair:
                os.chmod(place, wanted)
        if stat.S_ISDIR(found.st_mode) and place != os.path.join(directory, "trash"):
            names = os.listdir(place)
            waiting += [os.path.join(place, name) for name in names if place != directory or name not in _APART]
    if open_ones:
        others = f" and {len(open_ones) - 1} more" if len(open_ones) > 1 else ""
        yield Finding(
            kind="permissions",
            said=f"{open_ones[0]}{others} can be used by other users",
            would="take their rights away (directories 0700, files 0600)",
            mended=repair,
        )


def _database(directory: str, damaged: Sequence[str], *, repair: bool) -> Finding:
    said = f"the database is damaged: {damaged[0]}" + (f" (and {len(damaged) - 1} more)" if damaged[1:] else "")
    would = "make it anew from the rows that can still be read, and keep the damaged one beside it"
    if repair and not living(directory):
        saved, aside = salvage.rebuild(directory)
        return Finding(kind="database", said=said, would=f"{would}: {saved} rows saved, {aside} kept", mended=True)
    if repair:
        would = "do nothing while other processes have it open; end them, then run this again"
    return Finding(kind="database", said=said, would=would)


class _Examined:
    """A store whose database is sound."""

    def __init__(self, database: Database, *, repair: bool, keep_orphans: bool) -> None:
        self._database = database
        self._directory = database.directory
        self._blobs = Blobs(database)
        self._collecting = Collecting(database, self._blobs)
        self._repair = repair
        self._sweep = repair and not keep_orphans

    def all(self) -> Iterator[Finding]:
        yield from self._intents()
        yield from self._contents()
        yield from self._missing()
        yield from self._orphans()
        yield from self._files()
        yield from self._trash()

    def _intents(self) -> Iterator[Finding]:
        query = (
            "SELECT v.id, p.path, v.owner FROM versions v JOIN paths p ON p.id = v.path_id"
            " WHERE v.status = 0 ORDER BY v.id"
        )
        with self._database.reading() as db:
            found = [(number, rows.path(path), str(owner)) for number, path, owner in db.execute(query)]
        for number, path, owner in found:
            if not lives(self._directory, owner):
                yield Finding(
                    kind="intent",
                    said=f"version {number} of {path} was begun, and its process ended before it said how it went",
                    would="decide it by what stands on the disk, as every start does",
                )

    def _contents(self) -> Iterator[Finding]:
        """Every content is read and its hash verified; what is regained first may make others whole again."""
        bad = {digest: self._what(digest, form) for digest, form in self._all_contents() if not self._reads(digest)}
        regained = {digest for digest in bad if self._repair and self._regained(digest)}
        for digest, what in bad.items():
            yield self._unreadable(digest, what, regained=digest in regained or (self._repair and self._reads(digest)))

    def _all_contents(self) -> Iterator[tuple[bytes, int]]:
        after = 0
        while True:
            with self._database.reading() as db:
                query = "SELECT id, hash, form FROM contents WHERE id > ? ORDER BY id LIMIT 256"
                found = db.execute(query, (after,)).fetchall()
            if not found:
                return
            yield from ((bytes(digest), int(form)) for _, digest, form in found)
            after = found[-1][0]

    def _reads(self, digest: bytes) -> bool:
        with self._database.reading() as db:
            if db.execute("SELECT 1 FROM contents WHERE hash = ?", (digest,)).fetchone() is None:
                return True  # pruned meanwhile
        try:
            for _ in self._blobs.chunks(digest.hex()):
                pass
        except BackendFailed:
            return False
        return True

    def _what(self, digest: bytes, form: int) -> str:
        if form == deltas.DELTA:
            return "is kept as a difference from another one, and one of the two is damaged"
        missing = form == deltas.FILE and not os.path.exists(self._blobs.place(digest.hex()))
        return "is missing" if missing else "is damaged"

    def _unreadable(self, digest: bytes, what: str, *, regained: bool) -> Finding:
        said = f"the content {digest.hex()[:12]} {what}: {self._who(digest)}"
        if not self._repair:
            return Finding(kind="content", said=said, would=_MEND)
        return self._mended(said, digest, regained=regained)

    def _mended(self, said: str, digest: bytes, *, regained: bool) -> Finding:
        if not regained:
            self._give_up(digest, "its content was damaged or lost")
        done = "it reads again" if regained else "these versions are listed as not restorable"
        return Finding(kind="content", said=said, would=done, mended=True)

    def _who(self, digest: bytes) -> str:
        query = (
            "SELECT v.id, p.path FROM versions v JOIN paths p ON p.id = v.path_id"
            " WHERE v.hash = ? AND v.why_not IS NULL ORDER BY v.id DESC"
        )
        with self._database.reading() as db:
            found = db.execute(query, (digest,)).fetchall()
        if not found:
            return "no version needs it"
        more = f" and {len(found) - 1} more" if found[1:] else ""
        return f"version {found[0][0]} of {rows.path(found[0][1])}{more}"

    def _regained(self, digest: bytes) -> bool:
        query = "SELECT DISTINCT p.path FROM versions v JOIN paths p ON p.id = v.path_id WHERE v.hash = ?"
        with self._database.reading() as db:
            paths = [rows.path(path) for (path,) in db.execute(query, (digest,))]
        for path in paths:
            content = standing_on_disk(path, digest.hex())
            if content is None:
                continue
            with contextlib.suppress(BackendFailed, OSError):
                packed = self._blobs.pack(content)
                with self._database.writing(durable=True) as db:
                    db.execute(_PUT, (digest, content.size, packed.form, packed.data))
                    db.execute("DELETE FROM deltas WHERE content = (SELECT id FROM contents WHERE hash = ?)", (digest,))
                return True
        return False

    def _give_up(self, digest: bytes, why: str) -> None:
        """What can't be read is nobody's any more, so that the same bytes can be recorded again."""
        with self._database.writing(durable=True) as db:
            db.execute("UPDATE versions SET why_not = ? WHERE hash = ? AND why_not IS NULL", (why, digest))
            db.execute("DELETE FROM deltas WHERE content = (SELECT id FROM contents WHERE hash = ?)", (digest,))
            db.execute("DELETE FROM contents WHERE hash = ?", (digest,))
        self._collecting.files([digest.hex()], Tally())

    def _missing(self) -> Iterator[Finding]:
        query = (
            "SELECT DISTINCT v.hash FROM versions v WHERE v.hash IS NOT NULL AND v.why_not IS NULL"
            " AND NOT EXISTS (SELECT 1 FROM contents c WHERE c.hash = v.hash)"
        )
        with self._database.reading() as db:
            found = [bytes(digest) for (digest,) in db.execute(query)]
        for digest in found:
            said = f"the content {digest.hex()[:12]} is missing: {self._who(digest)}"
            if not self._repair:
                yield Finding(kind="content", said=said, would=_MEND)
                continue
            yield self._mended(said, digest, regained=self._regained(digest))

    def _orphans(self) -> Iterator[Finding]:
        wanted = (
            "FROM contents c WHERE NOT EXISTS (SELECT 1 FROM versions v WHERE v.hash = c.hash AND v.why_not IS NULL)"
            " AND NOT EXISTS (SELECT 1 FROM loose l WHERE l.hash = c.hash)"
            " AND NOT EXISTS (SELECT 1 FROM deltas d WHERE d.base = c.id)"
        )
        with self._database.reading() as db:
            count, size = db.execute(f"SELECT count(*), coalesce(sum(size), 0) {wanted}").fetchone()
        if not count:
            return
        if self._sweep:
            with self._database.writing(durable=False) as db:
                db.execute(f"INSERT OR IGNORE INTO loose (hash) SELECT c.hash {wanted}")
            for _ in self._collecting.contents(Tally()):
                pass
        said = f"{count} contents of {size:,} bytes belong to no version"
        yield Finding(kind="orphan", said=said, would="remove them", mended=self._sweep)

    def _files(self) -> Iterator[Finding]:
        """Files under `blobs/` that no content has, and what interrupted writers left."""
        orphans, strays = 0, 0
        with self._database.reading() as db:
            known = {bytes(row[0]).hex() for row in db.execute("SELECT hash FROM contents WHERE form = 2")}
        for directory, _, names in os.walk(self._collecting.blobs_directory):
            start = os.path.basename(directory)
            orphans += sum(bool(_CONTENT.fullmatch(name)) and start + name not in known for name in names)
            strays += sum(abandoned(os.path.join(directory, name)) for name in names)
        for count, kind, said in (
            (orphans, "orphan", "content files that no content has"),
            (strays, "stray", "temporary files of writers that were interrupted"),
        ):
            if count:
                yield Finding(kind=kind, said=f"{count} {said}", would="remove them", mended=self._sweep)  # type: ignore[arg-type]
        if self._sweep:
            for _ in self._collecting.strays(Tally()):
                pass

    def _trash(self) -> Iterator[Finding]:
        names: list[str] = []
        with contextlib.suppress(FileNotFoundError):
            names = os.listdir(self._collecting.trash)
        led_to = self._collecting.led_to() if names else frozenset()
        half_gone = [name for name in names if name.endswith(GONE)]
        if half_gone:
            if self._repair:
                for _ in self._collecting.trees(Tally(), 0):
                    pass
            said = f"{len(half_gone)} trees in the trash were being removed"
            yield Finding(kind="stray", said=said, would="go on removing them", mended=self._repair)
        for name in sorted(set(names) - set(half_gone)):
            place = os.path.join(self._collecting.trash, name)
            if place not in led_to:
                yield Finding(
                    kind="trash",
                    said=f"{place} was moved aside, and no version leads to it",
                    would="leave it to you; it is removed when it is as old as versions may become",
                    harmless=True,
                )
