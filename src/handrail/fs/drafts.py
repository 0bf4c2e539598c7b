"""Temporary files beside the file they will become: hard to guess, locked while their writer lives, swept after.

It also writes whole contents, however little the system takes at a time.
"""

import errno
import fcntl
import hashlib
import os
import re
import secrets
from contextlib import suppress
from typing import Final

from handrail.fs.descent import Spot, shut
from handrail.fs.failures import stale
from handrail.model.files import Content, in_memory
from handrail.model.paths import RealPath

TEMPORARY: Final = re.compile(r"\.handrail-[0-9a-f]{24}\.tmp")
_DRAFT: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def temporary_name() -> str:
    """A name that nobody can guess and `sweep` knows as ours."""
    return f".handrail-{secrets.token_hex(12)}.tmp"


def draft(at: Spot, mode: int) -> tuple[str, int]:
    """A new, empty temporary file beside a spot, held by a lock that says its writer lives."""
    while True:
        name = temporary_name()
        number = os.open(name, _DRAFT, mode, dir_fd=at.directory)
        try:
            if _hold(number):
                return name, number
        except BaseException:
            discard(at, name)
            shut(number)
            raise
        shut(number)


def _hold(number: int) -> bool:
    with suppress(OSError):
        fcntl.flock(number, fcntl.LOCK_EX)
    return os.fstat(number).st_nlink > 0


def discard(at: Spot, temporary: str) -> None:
    """Remove a temporary name, if it is still there."""
    with suppress(FileNotFoundError):
        os.unlink(temporary, dir_fd=at.directory)


def write_all(number: int, content: Content, path: RealPath) -> None:
    """Write a whole content, however little each write takes; its bytes must have its hash."""
    data = in_memory(content)
    if data is not None:
        write_piece(number, data)
        return
    whole = hashlib.sha256()
    for chunk in content.chunks():
        whole.update(chunk)
        write_piece(number, chunk)
    if whole.hexdigest() != content.hash:
        raise stale(path.text, "was to be replaced by a content that changed")


def write_piece(number: int, data: bytes) -> None:
    """Write all of `data`; a write that takes nothing is a fault of the disk."""
    rest = memoryview(data)
    while rest:
        taken = os.write(number, rest)
        if taken == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rest = rest[taken:]


def sweep(directory: int) -> int:
    """Remove our temporary files whose writer is gone from a directory that can be listed; returns how many.

    A living writer holds a lock on its own; a file system without locks keeps its strays.
    """
    removed = 0
    for name in os.listdir(directory):
        if TEMPORARY.fullmatch(name):
            with suppress(OSError):
                removed += _sweep_one(directory, name)
    return removed


def _sweep_one(directory: int, name: str) -> int:
    number = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            os.unlink(name, dir_fd=directory)
        except IsADirectoryError:
            import shutil

            shutil.rmtree(name, dir_fd=directory)
    finally:
        shut(number)
    return 1
