"""One version of one regular file behind an open handle: the bytes that were judged are the bytes that are used."""

import hashlib
import os
import stat
import threading
from collections.abc import Iterator
from typing import Final

from handrail.fs.descent import Spot, shut, spot
from handrail.fs.failures import stale, typed
from handrail.model.errors import WrongContent
from handrail.model.files import CHUNK, Bytes, Content, FileKind, Stat, in_memory
from handrail.model.paths import RealPath

IN_MEMORY: Final = CHUNK
"""Files up to this many bytes are read whole, at once; larger ones stay behind their handle."""
_TRIES: Final = 5
_PAGE: Final = 4096
_KINDS: Final[dict[int, FileKind]] = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "directory",
    stat.S_IFLNK: "symlink",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
}


def facts(found: os.stat_result) -> Stat:
    """The system's stat in our words; `mode` is the permission bits."""
    return Stat(
        kind=kind_of(found),
        size=found.st_size,
        mode=stat.S_IMODE(found.st_mode),
        mtime_ns=found.st_mtime_ns,
        ctime_ns=found.st_ctime_ns,
        device=found.st_dev,
        inode=found.st_ino,
        links=found.st_nlink,
        owner=found.st_uid,
        group=found.st_gid,
    )


def kind_of(found: os.stat_result) -> FileKind:
    """What the system's stat is of."""
    return _KINDS.get(stat.S_IFMT(found.st_mode), "device")


def not_regular(path: RealPath, kind: FileKind) -> WrongContent:
    """The refusal to open what isn't a regular file."""
    a = {"directory": "a directory", "fifo": "a named pipe", "socket": "a socket"}.get(kind, "a device")
    hint = "List it with find_files mode=list." if kind == "directory" else "Only regular files can be read or written."
    return WrongContent("not_regular_file", f"{path} is {a}, not a file.", hint=hint, path=str(path))


def open_regular(at: Spot) -> "Handle":
    """Open the regular file at a spot for reading; anything else is refused before it is opened, and never waits."""
    kind = kind_of(at.facts())
    if kind == "symlink":
        raise stale(at.path.text, "became a link meanwhile")
    if kind != "file":
        raise not_regular(at.path, kind)
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
    handle = Handle(os.open(at.name, flags, dir_fd=at.directory))
    opened = kind_of(os.fstat(handle.number))
    if opened != "file":
        raise not_regular(at.path, opened)
    return handle


class Handle:
    """A file descriptor that is closed when nobody needs it any more."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def close(self) -> None:
        """Close it now; later uses fail."""
        if self.number >= 0:
            number, self.number = self.number, -1
            shut(number)

    def __del__(self) -> None:
        self.close()


def pieces(handle: Handle, size: int | None) -> Iterator[bytes]:
    """The bytes behind a handle from the start, `size` at most (`None`: to the end)."""
    at = 0
    end = os.fstat(handle.number).st_size if size is None else size
    while size is None or at < size:
        # A buffer of the size that is left: a whole chunk for each small file would cost more than the reading.
        left = end - at if size is not None else max(end - at, _PAGE)
        data = os.pread(handle.number, min(CHUNK, left), at)
        if not data:
            return
        at += len(data)
        yield data


def digest(handle: Handle) -> str:
    """SHA-256 of all the bytes that stand behind a handle now."""
    whole = hashlib.sha256()
    for data in pieces(handle, None):
        whole.update(data)
    return whole.hexdigest()


def holds(handle: Handle, expect: Content | str) -> bool:
    """Whether the bytes behind a handle are now those of a content, which may be named by its hash alone."""
    known = None if isinstance(expect, str) else in_memory(expect)
    if known is not None and os.pread(handle.number, len(known) + 1, 0) == known:
        return True
    return digest(handle) == hash_of(expect)


def hash_of(expect: Content | str) -> str:
    """The SHA-256 that an expected content has."""
    return expect if isinstance(expect, str) else expect.hash


class FileContent:
    """A large content behind its handle; bytes that no longer have the hash are refused (`OutOfDate` `stale`)."""

    __slots__ = ("_handle", "_path", "hash", "size")

    def __init__(self, handle: Handle, path: RealPath, size: int) -> None:
        self._handle = handle
        self._path = path
        whole = hashlib.sha256()
        self.size = 0
        for data in pieces(handle, size):
            whole.update(data)
            self.size += len(data)
        self.hash = whole.hexdigest()

    def chunks(self) -> Iterator[bytes]:
        """The bytes in order; the last step raises when they changed since they were hashed."""
        whole = hashlib.sha256()
        with typed(self._path.text):
            for data in pieces(self._handle, self.size):
                whole.update(data)
                yield data
        if whole.hexdigest() != self.hash:
            raise stale(self._path.text)

    def bytes(self) -> bytes:
        """All of it."""
        return b"".join(self.chunks())


class HostSnapshot:
    """A file as it was when it was opened; safe from many threads.

    Small ones are read whole at the first use. Of large ones what is appended later doesn't show, and `content`
    refuses what changed under it.
    """

    __slots__ = ("_content", "_data", "_handle", "_lock", "path", "stat")

    def __init__(self, path: RealPath) -> None:
        with typed(path.text), spot(path) as at:
            self._handle = open_regular(at)
            self.stat = facts(os.fstat(self._handle.number))
        self.path = path
        self._lock = threading.Lock()
        self._data: bytes | None = None
        self._content: Content | None = None

    def read(self, offset: int, size: int) -> bytes:
        """Up to `size` bytes from `offset`."""
        data = self._whole()
        if data is not None:
            return data[offset : offset + size]
        with typed(self.path.text):
            return os.pread(self._handle.number, max(0, min(size, self.stat.size - offset)), offset)

    def content(self) -> Content:
        """The whole file, hashed once."""
        data = self._whole()
        with self._lock:
            if self._content is None:
                with typed(self.path.text):
                    self._content = (
                        FileContent(self._handle, self.path, self.stat.size) if data is None else Bytes(data)
                    )
            return self._content

    def _whole(self) -> bytes | None:
        with self._lock:
            if self._data is None and self._handle.number >= 0 and self.stat.size <= IN_MEMORY:
                with typed(self.path.text):
                    self._load()
            return self._data

    def _load(self) -> None:
        """Read until no writer came in between, and keep the facts that belong to what was read."""
        for _ in range(_TRIES):
            before = os.fstat(self._handle.number)
            if before.st_size > IN_MEMORY:
                self.stat = facts(before)
                return
            data = b"".join(pieces(self._handle, None))
            after = os.fstat(self._handle.number)
            if (before.st_mtime_ns, before.st_ctime_ns) == (after.st_mtime_ns, after.st_ctime_ns):
                break
        self.stat = facts(after)
        self._data = data
        self._handle.close()
