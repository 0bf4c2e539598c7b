"""Reads one directory of a tree by its handle, and knows whether what was read is still so; follows nothing."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from handrail.fs import ignores

WATCHED: Final = frozenset((*ignores.FILES, ".handrailignore"))
"""Files that say what is seen of a directory and of all below it."""
RACY_NS: Final = 2_000_000_000
"""A stamp this young may stay the same when more changes: clocks of file systems tick in steps."""
_BATCH: Final = 4096

Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Watched:
    """An ignore file as it was read; `settled` = whoever changes it from now on changes its stamp."""

    name: str
    stamp: Stamp
    settled: bool
    data: bytes


@dataclass(frozen=True, slots=True)
class Listing:
    """The names in a directory by what they are; `whole` unless it was told to stop."""

    files: tuple[str, ...]
    directories: tuple[str, ...]
    links: tuple[str, ...]
    others: int
    repository: bool
    whole: bool = True


def stamp(found: os.stat_result) -> Stamp:
    """What changes when a file or directory does, or when another stands in its place."""
    return found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev


def settled(known: Stamp, now: int) -> bool:
    """Whether what was read at `now`, or later, has changed for good to this stamp."""
    return known[0] < now - RACY_NS and known[1] < now - RACY_NS


def names(handle: int, stop: Callable[[], bool]) -> Listing:
    """The children of an open directory, without `.git`; `stop` is asked now and then."""
    files: list[str] = []
    directories: list[str] = []
    links: list[str] = []
    others = 0
    repository = False
    whole = True
    with os.scandir(handle) as found:
        while batch := list(islice(found, _BATCH)):
            for entry in batch:
                if entry.is_file(follow_symlinks=False):
                    files.append(entry.name)
                elif entry.is_dir(follow_symlinks=False):
                    directories.append(entry.name)
                elif entry.is_symlink():
                    links.append(entry.name)
                else:
                    others += 1
            if len(batch) == _BATCH and stop():
                whole = False
                break
    for kind in (files, directories, links):
        if ".git" in kind:
            kind.remove(".git")
            repository = True
    return Listing(tuple(files), tuple(directories), tuple(links), others, repository, whole)


def watched(handle: int, listing: Listing) -> tuple[Watched, ...]:
    """The ignore files of an open directory, read now."""
    here = WATCHED.intersection(listing.files)
    return tuple(_watched(handle, name) for name in sorted(here))


def _watched(handle: int, name: str) -> Watched:
    now = time.time_ns()
    try:
        known = stamp(os.stat(name, dir_fd=handle, follow_symlinks=False))
    except OSError:
        return Watched(name, (0, 0, 0, 0), False, b"")
    return Watched(name, known, settled(known, now), ignores.read(name, handle))


def unchanged(files: Sequence[Watched], handle: int, place: str) -> bool:
    """Whether ignore files are what they were, by one look at each, relative to an open directory above."""
    for file in files:
        if not file.settled:
            return False
        try:
            found = os.stat(f"{place}/{file.name}", dir_fd=handle, follow_symlinks=False)
        except OSError:
            return False
        if stamp(found) != file.stamp:
            return False
    return True


def stamps(paths: Sequence[str]) -> Iterator[Stamp | None]:
    """What stands at absolute names now, by stamp."""
    for path in paths:
        try:
            yield stamp(os.stat(path, follow_symlinks=False))
        except (OSError, ValueError):
            yield None
