"""Two calls that Python's `os` lacks, opening without links and renaming under a condition, through ctypes.

Each says by its answer when this kernel or file system hasn't got it. It knows nothing of what is being done.
"""

import ctypes
import errno
import functools
import os
from typing import Final

_AT_FDCWD: Final = -100
_OPENAT2: Final = 437  # the same number on every Linux architecture
_NO_MAGIC_LINKS: Final = 0x02
_NO_LINKS: Final = 0x04
_NO_REPLACE: Final = 1
_EXCHANGE: Final = 2
_LACKING: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP})


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@functools.cache
def _opens_without_links() -> bool:
    try:
        os.close(_openat2(b"/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    except (OSError, AttributeError):
        return False
    return True


def _openat2(name: bytes, flags: int) -> int:
    how = _OpenHow(flags=flags, mode=0, resolve=_NO_LINKS | _NO_MAGIC_LINKS)
    while True:
        handle: int = _library().syscall(_OPENAT2, _AT_FDCWD, name, ctypes.byref(how), ctypes.sizeof(how))
        if handle >= 0:
            return handle
        code = ctypes.get_errno()
        if code != errno.EINTR:
            raise OSError(code, os.strerror(code))


def open_without_links(name: bytes, flags: int) -> int | None:
    """Open an absolute name in which no component is a link (`OSError` ELOOP else); `None` = the kernel can't."""
    return _openat2(name, flags | os.O_CLOEXEC) if _opens_without_links() else None


def _renameat2(source: tuple[int, str], destination: tuple[int, str], how: int) -> bool:
    call = getattr(_library(), "renameat2", None)
    if call is None:
        return False
    (old_directory, old), (new_directory, new) = source, destination
    if call(old_directory, os.fsencode(old), new_directory, os.fsencode(new), how) == 0:
        return True
    code = ctypes.get_errno()
    if code in _LACKING:
        return False
    raise OSError(code, os.strerror(code))


def rename_where_nothing_stands(source: tuple[int, str], destination: tuple[int, str]) -> bool:
    """Rename (directory handle, name) pairs, `OSError` EEXIST where something stands; false = not done, can't."""
    return _renameat2(source, destination, _NO_REPLACE)


def exchange(directory: int, one: str, other: str) -> bool:
    """Swap two names of one directory in one step; false = not done, the file system can't."""
    return _renameat2((directory, one), (directory, other), _EXCHANGE)
