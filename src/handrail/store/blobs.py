"""Contents, once per SHA-256 and compressed: small ones inside the database, large ones as files that stream.

It knows no version; what a content is needed for is not its business.
"""

import contextlib
import fcntl
import hashlib
import os
import secrets
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field

from handrail.model.files import CHUNK, Content, in_memory
from handrail.store import deltas
from handrail.store.database import Database, failures, private_directory, sync_directory, unavailable

INLINE = 64 * 1024
"""Contents up to this many bytes lie in the database, in the same commit as the intent."""

_LEVEL = 1
_TINY = 128
_PLAIN, _PACKED, _FILE = deltas.PLAIN, deltas.PACKED, deltas.FILE


@dataclass(frozen=True, slots=True)
class StoredContent:
    """A content of the store behind its hash: fetched when asked for, and checked against the hash each time."""

    hash: str
    size: int
    blobs: "Blobs" = field(repr=False, compare=False)

    def chunks(self) -> Iterator[bytes]:
        """The bytes in order; raises `BackendFailed` instead of giving the last piece of a damaged content."""
        return self.blobs.chunks(self.hash)

    def bytes(self) -> bytes:
        """All of it at once."""
        return b"".join(self.chunks())


@dataclass(frozen=True, slots=True)
class Packed:
    """A content as its row will hold it; `data` is `None` for one whose file is written."""

    form: int
    data: bytes | None


class Blobs:
    """The contents of one store."""

    def __init__(self, database: Database, *, inline: int = INLINE) -> None:
        self._database = database
        self._directory = os.path.join(database.directory, "blobs")
        self._inline = inline

    def handle(self, digest: str, size: int) -> Content:
        """The handle of a content that a version names, whether or not it is still kept."""
        return StoredContent(digest, size, self)

    def find(self, digest: str) -> Content | None:
        """The content by its SHA-256 in hex, if it is kept."""
        with self._database.reading() as db:
            row = db.execute("SELECT size FROM contents WHERE hash = ?", (_key(digest),)).fetchone()
        return None if row is None else StoredContent(digest, int(row[0]), self)

    def prepare(self, contents: dict[str, Content]) -> dict[str, Packed]:
        """Put large contents that aren't kept yet on the disk, durably; small ones go with the transaction."""
        large = [digest for digest, content in contents.items() if content.size > self._inline]
        if not large:
            return {}
        with self._database.reading() as db:
            missing = [digest for digest in large if not self._kept(db, digest)]
        return {digest: self.pack(contents[digest]) for digest in missing}

    def store(self, db: sqlite3.Connection, contents: dict[str, Content], packed: dict[str, Packed]) -> None:
        """Note the contents within a transaction, so that each of them is kept once it commits."""
        for digest, content in contents.items():
            if self._kept(db, digest):
                continue
            pack = packed.get(digest)
            if pack is None or (pack.form == _FILE and not os.path.isfile(self.place(digest))):
                # Small, or kept when we looked, or a file without its row, and pruned since: pack it now.
                pack = self.pack(content)
            db.execute(
                "INSERT INTO contents (hash, size, form, data) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (hash) DO UPDATE SET form = excluded.form, data = excluded.data",
                (_key(digest), content.size, pack.form, pack.data),
            )

    def chunks(self, digest: str) -> Iterator[bytes]:
        """The bytes of a content, checked; raises `BackendFailed` for what is missing or damaged."""
        directory = self._database.directory
        with failures(directory):
            total, last = hashlib.sha256(), None
            for piece in self._raw(digest):
                total.update(piece)
                if last is not None:
                    yield last
                last = piece
            if total.hexdigest() != digest:
                raise unavailable("a stored content is damaged", directory)
            if last is not None:
                yield last

    def whole(self, link: deltas.Link) -> bytes:
        """The unchecked bytes of a content that is kept whole."""
        return b"".join(self._pieces(link))

    def place(self, digest: str) -> str:
        """Where the file of a content lies, if it has one."""
        return os.path.join(self._directory, digest[:2], digest[2:])

    def _raw(self, digest: str) -> Iterator[bytes]:
        links = self._chain(digest)
        if links[-1].form == _FILE and not os.path.isfile(self.place(links[-1].hash.hex())):
            links = self._chain(digest)  # it may have become a delta since we looked
        if len(links) == 1:
            yield from self._pieces(links[0])
            return
        content = deltas.told(links, self.whole)
        for start in range(0, len(content), CHUNK):
            yield content[start : start + CHUNK]

    def _chain(self, digest: str) -> list[deltas.Link]:
        with self._database.reading() as db:
            links = deltas.chain(db, _key(digest))
        if not links:
            raise unavailable("a content isn't kept any more", self._database.directory)
        return links

    def _pieces(self, link: deltas.Link) -> Iterator[bytes]:
        if link.form == _FILE:
            yield from self._unpacked_file(link.hash.hex())
        elif link.form == _PLAIN:
            if link.data:
                yield bytes(link.data)
        else:
            yield _unpacked(link.data or b"")

    def _kept(self, db: sqlite3.Connection, digest: str) -> bool:
        row = db.execute("SELECT form FROM contents WHERE hash = ?", (_key(digest),)).fetchone()
        return row is not None and (row[0] != _FILE or os.path.isfile(self.place(digest)))

    def pack(self, content: Content) -> Packed:
        """A content by itself, in the form that it is kept in at first; a large one is on the disk by then."""
        if content.size > self._inline:
            self._write(content)
            return Packed(_FILE, None)
        data = content.bytes()
        if in_memory(content) is None and hashlib.sha256(data).hexdigest() != content.hash:
            raise unavailable("a file changed while it was recorded", self._database.directory)
        if len(data) >= _TINY:
            import zstandard  # 10 ms that opening a store need not pay

            packed = zstandard.ZstdCompressor(level=_LEVEL).compress(data)
            if len(packed) < len(data):
                return Packed(_PACKED, packed)
        return Packed(_PLAIN, data)

    def _write(self, content: Content) -> None:
        place = self.place(content.hash)
        parent = os.path.dirname(place)
        private_directory(self._directory)
        private_directory(parent)
        temporary, handle = _draft(place)
        try:
            with os.fdopen(handle, "wb") as file:
                os.fchmod(file.fileno(), 0o600)
                if _compress(content, file) != content.hash:
                    raise unavailable("a file changed while it was recorded", self._database.directory)
                file.flush()
                os.fsync(file.fileno())
                os.rename(temporary, place)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        for directory in (parent, self._directory, self._database.directory):
            sync_directory(directory)

    def _unpacked_file(self, digest: str) -> Iterator[bytes]:
        import zstandard

        try:
            with (
                open(self.place(digest), "rb") as file,
                zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=False) as reader,
            ):
                while piece := reader.read(CHUNK):
                    yield piece
        except zstandard.ZstdError as failure:
            raise unavailable("a stored content is damaged", self._database.directory) from failure


def _draft(place: str) -> tuple[str, int]:
    """A new file beside a place, locked: a file that is being written isn't swept."""
    while True:
        temporary = f"{place}.{secrets.token_hex(6)}.tmp"
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if os.fstat(handle).st_nlink:
                return temporary, handle
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            os.close(handle)
            raise
        os.close(handle)  # swept before it was locked


def _key(digest: str) -> bytes:
    return bytes.fromhex(digest)


def _unpacked(data: bytes) -> bytes:
    import zstandard

    try:
        return zstandard.ZstdDecompressor().decompress(data)
    except zstandard.ZstdError as failure:
        raise ValueError("a stored content is damaged") from failure


def _compress(content: Content, file: object) -> str:
    import zstandard

    total = hashlib.sha256()
    with zstandard.ZstdCompressor(level=_LEVEL).stream_writer(file, closefd=False) as writer:  # type: ignore[arg-type]
        for piece in content.chunks():
            total.update(piece)
            writer.write(piece)
    return total.hexdigest()
