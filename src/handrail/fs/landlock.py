"""Confines the calling thread, and whatever it starts from then on, to reading below a few places; by Linux's Landlock.

It knows paths and rights, not what they are confined for. Where the kernel hasn't got it, `available` says so.
"""

import ctypes
import errno
import functools
import os
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from handrail.fs.descent import open_directory

_CREATE_RULESET: Final = 444  # the same numbers on every Linux architecture
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_VERSION: Final = 1
_PATH_BENEATH: Final = 1
_NO_NEW_PRIVILEGES: Final = 38

EXECUTE: Final = 1 << 0
READ_FILE: Final = 1 << 2
READ_DIRECTORY: Final = 1 << 3
_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 5: 16}
"""How many rights to files the kernel knows, by the version since which it does."""
_NETWORK_SINCE: Final = 4
_SCOPES_SINCE: Final = 6
_ANY_PATH: Final = getattr(os, "O_PATH", 0) | os.O_NOFOLLOW | os.O_CLOEXEC


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


@dataclass(frozen=True, slots=True)
class Allowed:
    """A real path and the rights below it; a path that a link stands in by now gives none."""

    path: str
    rights: int


@functools.cache
def available() -> int:
    """The version of Landlock that this kernel has in force; 0 for none, then nothing can be confined."""
    if sys.platform != "linux":
        return 0
    try:
        return max(0, _call(_CREATE_RULESET, None, 0, _VERSION))
    except (OSError, AttributeError):
        return 0


def confine(allowed: Sequence[Allowed]) -> None:
    """Leave the calling thread no more than these rights to files, no network, no rise in privileges; for good.

    `OSError` when that can't be done, and then nothing was.
    """
    version = available()
    if not version:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    known = (1 << max(count for since, count in _RIGHTS.items() if since <= version)) - 1
    whole = _Ruleset(known, 3 if version >= _NETWORK_SINCE else 0, 3 if version >= _SCOPES_SINCE else 0)
    size = 24 if version >= _SCOPES_SINCE else 16 if version >= _NETWORK_SINCE else 8
    ruleset = _call(_CREATE_RULESET, ctypes.byref(whole), size, 0)
    try:
        for each in allowed:
            _allow(ruleset, each)
        if _library().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, allowed: Allowed) -> None:
    try:
        handle = open_directory(allowed.path, _ANY_PATH)
    except OSError:
        return
    try:
        mode = os.fstat(handle).st_mode
        rights = allowed.rights if stat.S_ISDIR(mode) else allowed.rights & ~READ_DIRECTORY
        if rights and not stat.S_ISLNK(mode):
            _call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(_PathBeneath(rights, handle)), 0)
    finally:
        os.close(handle)


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    answer: int = _library().syscall(ctypes.c_long(number), *arguments)
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return answer
