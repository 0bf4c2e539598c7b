"""What stands at a path: facts from the file system, contents as handles, states a change goes between."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, Protocol

FileKind = Literal["file", "directory", "symlink", "fifo", "socket", "device"]
CHUNK = 1 << 20
"""Bytes in a piece when a content streams."""


@dataclass(frozen=True, slots=True)
class Stat:
    """Facts of one path, never following a link; sizes in bytes, times in nanoseconds."""

    kind: FileKind
    size: int
    mode: int
    mtime_ns: int
    ctime_ns: int
    device: int
    inode: int
    links: int
    owner: int
    group: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One child of a directory: its name as the system has it, and its facts."""

    name: str
    stat: Stat


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Directory:
    """A directory of a tree, as the ignore rules show it; the same object again as long as nothing in it changed.

    `name` is absolute. `files` are regular files, `directories` those that are walked, `links` symbolic links;
    `ignored` is what the ignore rules leave out, directories with a trailing slash. `.git` stands nowhere.
    `others`: how many names are of none of these kinds, or weren't looked at.
    """

    name: str
    files: tuple[str, ...]
    directories: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    others: int = 0


@dataclass(frozen=True, slots=True)
class Loaded:
    """One file read in passing: `data` is all of it, or `None` for no regular file, a large one or one that failed.

    `stat` is `None` for what is gone or may not be opened; then `unreadable` tells the two apart.
    """

    name: str
    stat: Stat | None
    data: bytes | None = field(repr=False, default=None)
    unreadable: bool = False


class Content(Protocol):
    """A file's bytes behind a handle, so that size doesn't matter to a change."""

    @property
    def size(self) -> int:
        """Length in bytes."""
        ...

    @property
    def hash(self) -> str:
        """SHA-256 of the bytes, hex."""
        ...

    def chunks(self) -> Iterator[bytes]:
        """The bytes in order, in pieces of at most `CHUNK`; each call starts over."""
        ...

    def bytes(self) -> bytes:
        """All of it at once; for contents known to be small."""
        ...


@dataclass(frozen=True, slots=True)
class Bytes:
    """A content held in memory; `proven`: its hash was made of its bytes here, so nobody need make it again."""

    data: bytes = field(repr=False)
    hash: str = ""
    proven: bool = field(init=False, repr=False, compare=False, default=False)

    def __post_init__(self) -> None:
        if not self.hash:
            object.__setattr__(self, "hash", hashlib.sha256(self.data).hexdigest())
            object.__setattr__(self, "proven", True)

    @property
    def size(self) -> int:
        """Length in bytes."""
        return len(self.data)

    def chunks(self) -> Iterator[bytes]:
        """The bytes in order."""
        for start in range(0, len(self.data), CHUNK):
            yield self.data[start : start + CHUNK]

    def bytes(self) -> bytes:
        """All of it."""
        return self.data


def in_memory(content: Content) -> bytes | None:
    """The bytes of a content, where they are at hand and known to have its hash."""
    return content.data if isinstance(content, Bytes) and content.proven else None


@dataclass(frozen=True, slots=True)
class Absent:
    """Nothing stands at the path."""

    kind: Literal["absent"] = "absent"


@dataclass(frozen=True, slots=True)
class Belongings:
    """What a file has beside bytes and permission bits: owner, group, extended attributes (access lists among them)."""

    owner: int
    group: int
    attributes: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class FileState:
    """A regular file: its bytes and its permission bits (`None`: what stands there now, else the umask's).

    `belongings` are known of a file that was taken away, where it had any that a new file here wouldn't have.
    """

    content: Content
    mode: int | None = None
    kind: Literal["file"] = "file"
    belongings: Belongings | None = None


@dataclass(frozen=True, slots=True)
class LinkState:
    """A symbolic link and where it points, as stored."""

    target: str
    kind: Literal["symlink"] = "symlink"


@dataclass(frozen=True, slots=True)
class DirectoryState:
    """A directory with all that lies in it: entries and bytes counted, and where it was moved aside, once it was.

    `trash` is the store's name for the moved tree; `manifest` lists `(relative path, kind, size)`, capped by who
    makes it.
    """

    mode: int | None = None
    entries: int = 0
    size: int = 0
    manifest: tuple[tuple[str, str, int], ...] = ()
    trash: str | None = None
    kind: Literal["directory"] = "directory"


State = Absent | FileState | LinkState | DirectoryState
ABSENT = Absent()
