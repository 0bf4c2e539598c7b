"""Reads one directory of a tree by its handle, and knows whether what was read is still so; follows nothing."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from handrail.fs import ignores

WATCHED: Final = (*ignores.FILES, ".handrailignore")
"""Files that say what is seen of a directory and of all below it."""
RACY_NS: Final = 2_000_000_000
"""A stamp this young may stay the same when more changes: clocks of file systems tick in steps."""
_BATCH: Final = 4096

Stamp = tuple[int, int, int, int]
_NOTHING: Final = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Watched:
    """An ignore file as it was read, by its name in its directory or an absolute one.

    `settled`: whoever changes it from now on changes its stamp. `said`: its mode, by which it is read, and its bytes.
    """

    name: str
    stamp: Stamp
    settled: bool
    said: tuple[int, bytes]


@dataclass(slots=True, eq=False)
class Listing:
    """The names in a directory by what they are, `.git` aside; `whole` unless it was told to stop."""

    files: list[str]
    directories: list[str]
    links: list[str]
    others: int = 0
    repository: bool = False
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
    listing = Listing(files, directories, links)
    seen = 0
    with os.scandir(handle) as found:
        for entry in found:
            if entry.is_file(follow_symlinks=False):
                files.append(entry.name)
            elif entry.is_dir(follow_symlinks=False):
                directories.append(entry.name)
            elif entry.is_symlink():
                links.append(entry.name)
            else:
                listing.others += 1
            seen += 1
            if not seen % _BATCH and stop():
                listing.whole = False
                break
    for kind in (directories, files, links):
        if ".git" in kind:
            kind.remove(".git")
            listing.repository = True
    return listing


def watched(handle: int, listing: Listing) -> tuple[Watched, ...]:
    """The ignore files of an open directory, read now; of a repository's root its own excludes come last."""
    found = [_watched(handle, name) for name in WATCHED if name in listing.files]
    if listing.repository:
        found += [_watched(handle, ".git"), _watched(handle, ignores.exclude_file("", handle))]
    return tuple(found)


def _watched(handle: int, name: str) -> Watched:
    now = time.time_ns()
    try:
        found = os.stat(name, dir_fd=handle, follow_symlinks=False)
    except OSError:
        return Watched(name, _NOTHING, False, (0, b""))
    known = stamp(found)
    return Watched(name, known, settled(known, now), (found.st_mode, ignores.read(name, handle)))


def unchanged(files: Sequence[Watched], handle: int, place: str) -> bool:
    """Whether ignore files are what they were, by one look at each, relative to an open directory above."""
    for file in files:
        if not file.settled:
            return False
        try:
            found = os.stat(os.path.join(place, file.name), dir_fd=handle, follow_symlinks=False)
        except OSError:
            return False
        if stamp(found) != file.stamp:
            return False
    return True


def watch(path: str, *, follow: bool = False) -> Watched:
    """An ignore file by its absolute name."""
    now = time.time_ns()
    try:
        found = os.stat(path, follow_symlinks=follow)
    except (OSError, ValueError):
        return Watched(path, _NOTHING, True, (0, b""))
    known = stamp(found)
    return Watched(path, known, settled(known, now), (found.st_mode, ignores.read(path, follow=follow)))


def still(file: Watched, *, follow: bool = False) -> bool:
    """Whether what stands at an absolute name is what it was."""
    try:
        return file.settled and stamp(os.stat(file.name, follow_symlinks=follow)) == file.stamp
    except (OSError, ValueError):
        return file.stamp == _NOTHING
