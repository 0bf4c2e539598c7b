"""Reads many small files of one directory by its handle; no name is followed and none is waited for."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from handrail.fs.descent import HANDLE, open_directory, shut
from handrail.fs.failures import typed
from handrail.fs.snapshot import facts
from handrail.model.files import Loaded
from handrail.model.paths import RealPath

_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_GONE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EILSEQ})


def load(directory: RealPath, names: Sequence[str], *, most: int) -> Iterator[Loaded]:
    """Regular files of up to `most` bytes whole; see `ReadableFileSystem.load`."""
    with typed(directory.text):
        handle = open_directory(directory.text, HANDLE)
    try:
        for name in names:
            yield _loaded(handle, name, most)
    finally:
        shut(handle)


def rewritten(directory: RealPath, names: Iterable[str], since: int) -> bool:
    """Whether one of these files changed since then; see `ReadableFileSystem.rewritten`."""
    base = directory.text.rstrip("/") + "/"
    for name in names:
        try:
            if os.lstat(base + name).st_ctime_ns > since:
                return True
        except OSError:
            continue
    return False


def _loaded(directory: int, name: str, most: int) -> Loaded:
    if "/" in name:
        return Loaded(name, None)
    try:
        handle = os.open(name, _FLAGS, dir_fd=directory)
    except OSError as error:
        return _unopened(directory, name, error)
    except ValueError:
        return Loaded(name, None)
    try:
        found = os.fstat(handle)
        seen = facts(found)
        if not stat.S_ISREG(found.st_mode) or found.st_size > most:
            return Loaded(name, seen)
        return Loaded(name, seen, _whole(handle, found.st_size, most))
    except OSError:
        return Loaded(name, None, unreadable=True)
    finally:
        shut(handle)


def _whole(handle: int, size: int, most: int) -> bytes | None:
    """All the bytes; a file that grew while it was read may be too large now."""
    data = os.read(handle, size + 1)
    if len(data) == size:
        return data
    pieces = [data]
    length = len(data)
    while data and length <= most:
        data = os.read(handle, min(1 << 20, most + 1 - length))
        pieces.append(data)
        length += len(data)
    return b"".join(pieces) if length <= most else None


def _unopened(directory: int, name: str, error: OSError) -> Loaded:
    """A link, a socket and what may not be opened still have their facts."""
    if error.errno == errno.ENOENT:
        return Loaded(name, None)
    try:
        found = facts(os.stat(name, dir_fd=directory, follow_symlinks=False))
    except (OSError, ValueError):
        return Loaded(name, None, unreadable=error.errno not in _GONE)
    if found.kind == "file":
        return Loaded(name, None, unreadable=True)
    return Loaded(name, found)
