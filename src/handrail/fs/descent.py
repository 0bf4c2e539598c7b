"""Directory handles reached from `/` without following a link, so that every act happens where the path was judged."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from handrail.fs import kernel
from handrail.model.paths import RealPath

HANDLE: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
"""A directory opened only to reach what lies in it; needs no right to list it."""
LISTING: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_LONGEST: Final = 4096
"""The system takes no longer name at once."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One name in one open directory: what every verb acts on."""

    directory: int
    name: str
    path: RealPath

    def facts(self) -> os.stat_result:
        """What stands there, a link itself included; `FileNotFoundError` for nothing."""
        return os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)

    def keep(self) -> None:
        """Make the directory's entries durable."""
        keep_entries(self.directory)


@contextmanager
def spot(path: RealPath) -> Iterator[Spot]:
    """The path's name in its parent's handle; `OSError` ELOOP where a component above has become a link."""
    at = open_spot(path)
    try:
        yield at
    finally:
        shut(at.directory)


def open_spot(path: RealPath) -> Spot:
    """The same, for who closes the directory's handle later."""
    return Spot(open_directory(path.parent, HANDLE), path.name or ".", path)


@contextmanager
def listing(path: RealPath) -> Iterator[int]:
    """A handle that the directory itself can be listed by."""
    handle = open_directory(path.text, LISTING)
    try:
        yield handle
    finally:
        shut(handle)


def shut(number: int) -> None:
    """Give a handle back; what had to be safe was synced before, so that a fault only now takes nothing back."""
    with suppress(OSError):
        os.close(number)


def open_directory(text: str, flags: int) -> int:
    """Open an absolute directory name in which nothing is a link; `OSError` ELOOP where something is."""
    name = os.fsencode(text)
    handle = kernel.open_without_links(name, flags) if len(name) < _LONGEST else None
    return _step_by_step(text, flags) if handle is None else handle


def enter(directory: int, name: str, flags: int = LISTING) -> int:
    """Open one directory by its parent's handle; `OSError` ELOOP where a link stands instead."""
    try:
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=directory)
    except NotADirectoryError:
        if _is_no_way(directory, name):
            raise
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None


def _step_by_step(text: str, flags: int) -> int:
    steps = [step for step in text.split("/") if step]
    handle = os.open("/", HANDLE if steps else flags)
    for index, step in enumerate(steps):
        try:
            below = enter(handle, step, flags if index == len(steps) - 1 else HANDLE)
        finally:
            shut(handle)
        handle = below
    return handle


def _is_no_way(directory: int, name: str) -> bool:
    """Whether neither a directory nor a link stands there; a directory by now was a link a moment ago."""
    try:
        mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISLNK(mode) or stat.S_ISDIR(mode))


def keep_entries(directory: int) -> None:
    """Sync a directory by its handle; one that may not be listed can't be, and is left to the file system."""
    try:
        readable = os.open(".", LISTING, dir_fd=directory)
    except PermissionError:
        return
    try:
        os.fsync(readable)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
            raise
    finally:
        shut(readable)
