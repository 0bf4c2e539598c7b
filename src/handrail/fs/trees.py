"""Copying and dropping whole trees by directory handles, for moves that cross file systems. No link is followed."""

import fcntl
import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from handrail.fs.descent import enter
from handrail.fs.drafts import write_piece
from handrail.fs.metadata import CannotKeep, copy_metadata
from handrail.fs.snapshot import Handle, facts, not_regular, pieces
from handrail.model.errors import TooLarge
from handrail.model.paths import RealPath

MAX_DEPTH: Final = 400
Place = tuple[int, str]
"""A directory handle and a name in it."""
_Fact = tuple[int, int, int, int, int]


@dataclass(slots=True)
class Seen:
    """What a copy found, so that it can be told later whether the original is still that."""

    facts: dict[str, _Fact] = field(default_factory=dict)
    size: int = 0

    def changed(self, place: Place) -> bool:
        """Whether the tree, which may have been renamed, differs from what was copied."""
        again = Seen()
        _note_all(again, place, "")
        return again.facts != self.facts

    def note(self, name: str, found: os.stat_result) -> None:
        """Keep the facts that a change would alter; a directory's time alters with its own renaming."""
        plain = stat.S_ISREG(found.st_mode)
        self.facts[name] = (
            found.st_dev,
            found.st_ino,
            found.st_mode,
            found.st_size if plain else 0,
            found.st_mtime_ns if plain else 0,
        )


def copy_tree(source: Place, destination: Place, *, limit: int, path: RealPath) -> Seen:
    """Copy a tree with its modes, times and, where allowed, owners and attributes; synced when it returns.

    Raises `TooLarge` above `limit` bytes, `WrongContent` for sockets and devices; nothing is left behind then.
    """
    seen = Seen()
    try:
        _Copy(seen, limit, path).any(source, destination, "")
    except BaseException:
        drop_tree(destination)
        raise
    return seen


def drop_tree(place: Place) -> None:
    """Remove a tree, or nothing where nothing stands; closed directories in it are opened first."""
    import shutil

    directory, name = place
    with suppress(FileNotFoundError):
        if not stat.S_ISDIR(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=directory)
            return
        for _, _, _, handle in os.fwalk(name, dir_fd=directory, follow_symlinks=False):
            os.fchmod(handle, 0o700)
        shutil.rmtree(name, dir_fd=directory)


@dataclass(frozen=True, slots=True)
class _Copy:
    seen: Seen
    limit: int
    path: RealPath

    def any(self, source: Place, destination: Place, name: str) -> None:
        found = os.stat(source[1], dir_fd=source[0], follow_symlinks=False)
        self.seen.note(name, found)
        match facts(found).kind:
            case "directory":
                self._directory(source, destination, name)
            case "file":
                self._file(source, destination)
            case "symlink":
                os.symlink(os.readlink(source[1], dir_fd=source[0]), destination[1], dir_fd=destination[0])
            case "fifo":
                os.mkfifo(destination[1], stat.S_IMODE(found.st_mode), dir_fd=destination[0])
            case kind:
                raise not_regular(self.path, kind)

    def _directory(self, source: Place, destination: Place, name: str) -> None:
        if name.count("/") > MAX_DEPTH:
            raise TooLarge(
                "too_large",
                f"{self.path} is nested deeper than {MAX_DEPTH} directories and lies on another file system.",
                hint="Remove its parts one by one.",
                path=str(self.path),
            )
        os.mkdir(destination[1], 0o700, dir_fd=destination[0])
        old = Handle(enter(source[0], source[1]))
        new = Handle(enter(destination[0], destination[1]))
        with suppress(OSError):
            fcntl.flock(new.number, fcntl.LOCK_EX)  # a living copy isn't swept
        try:
            for child in os.listdir(old.number):
                self.any((old.number, child), (new.number, child), f"{name}/{child}")
            _like(old.number, new.number)
        finally:
            old.close()
            new.close()

    def _file(self, source: Place, destination: Place) -> None:
        reading = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        writing = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        old = Handle(os.open(source[1], reading, dir_fd=source[0]))
        new = Handle(os.open(destination[1], writing, 0o600, dir_fd=destination[0]))
        try:
            for data in pieces(old, None):
                self.seen.size += len(data)
                if self.seen.size > self.limit:
                    raise TooLarge(
                        "too_large",
                        f"{self.path} lies on another file system than the trash and holds more than"
                        f" {self.limit:,} bytes.",
                        hint="Remove its parts one by one, or ask the person to remove it.",
                        path=str(self.path),
                    )
                write_piece(new.number, data)
            _like(old.number, new.number)
        finally:
            old.close()
            new.close()


def _like(old: int, new: int) -> None:
    found = os.fstat(old)
    try:
        copy_metadata(old, new, None)
    except CannotKeep:
        os.fchmod(new, stat.S_IMODE(found.st_mode))
    os.utime(new, ns=(found.st_atime_ns, found.st_mtime_ns))
    os.fsync(new)


def _note_all(seen: Seen, place: Place, name: str) -> None:
    directory, own = place
    found = os.stat(own, dir_fd=directory, follow_symlinks=False)
    seen.note(name, found)
    if stat.S_ISDIR(found.st_mode):
        handle = Handle(enter(directory, own))
        try:
            for child in os.listdir(handle.number):
                _note_all(seen, (handle.number, child), f"{name}/{child}")
        finally:
            handle.close()
