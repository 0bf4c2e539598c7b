"""Writing into the file that stands there, for where a rename would split hard links, lose an owner or can't be.

A reader can see it half written, so the caller records both contents first. A failure puts the old bytes back.
"""

import errno
import hashlib
import os
import stat
from contextlib import suppress
from typing import IO, Final

from handrail.fs.descent import Spot
from handrail.fs.drafts import write_piece
from handrail.fs.failures import stale
from handrail.fs.protocol import Written
from handrail.fs.snapshot import Handle, facts, pieces
from handrail.model.files import CHUNK, Content

_KEPT_IN_MEMORY: Final = 8 * CHUNK


def rewrite(at: Spot, old: Handle, content: Content, *, mode: int | None, expect: str, why: str) -> Written:
    """Write `content` over the bytes of the open file `old`, which must be those of `expect`."""
    import tempfile

    flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    target = Handle(os.open(at.name, flags, dir_fd=at.directory))
    try:
        if not os.path.samestat(os.fstat(target.number), os.fstat(old.number)):
            raise stale(at.path.text)
        with tempfile.SpooledTemporaryFile(_KEPT_IN_MEMORY) as kept:
            _keep(old, kept, at, expect)
            _overwrite(target.number, content, kept)
        if mode is not None and mode != stat.S_IMODE(os.fstat(target.number).st_mode):
            os.fchmod(target.number, mode)
            os.fsync(target.number)
        return Written(stat=facts(os.fstat(target.number)), in_place=True, notes=(f"Written in place, because {why}.",))
    finally:
        target.close()


def _keep(old: Handle, kept: IO[bytes], at: Spot, expect: str) -> None:
    whole = hashlib.sha256()
    for data in pieces(old, None):
        whole.update(data)
        kept.write(data)
    if whole.hexdigest() != expect:
        raise stale(at.path.text)


def _overwrite(number: int, content: Content, kept: IO[bytes]) -> None:
    size = kept.tell()
    try:
        _reserve(number, size, content.size)
        for chunk in content.chunks():
            write_piece(number, chunk)
        os.ftruncate(number, content.size)
        os.fsync(number)
    except BaseException:
        # What can't be put back either stays as an open intent of the history, which finishes it at the next start.
        with suppress(OSError):
            _put_back(number, kept, size)
        raise


def _reserve(number: int, size: int, wanted: int) -> None:
    """Find out that the disk is full before the first byte is changed."""
    if wanted <= size or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(number, size, wanted - size)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENODEV):
            raise


def _put_back(number: int, kept: IO[bytes], size: int) -> None:
    kept.seek(0)
    os.lseek(number, 0, os.SEEK_SET)
    while data := kept.read(CHUNK):
        write_piece(number, data)
    os.ftruncate(number, size)
    os.fsync(number)
