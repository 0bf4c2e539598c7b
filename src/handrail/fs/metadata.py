"""What a new file takes over from the one it replaces: owner, group, attributes and access lists, permission bits.

What can't be taken over is said by `CannotKeep`, so that the old file itself is written instead.
"""

import errno
import os
import stat
from collections.abc import Iterator
from typing import Final

from handrail.model.files import Belongings

_NOT_TAKEN: Final = frozenset({"security.capability", "security.ima", "security.evm"})
"""Rights and seals that the kernel itself drops when a file's bytes change."""
_ABSENT: Final = frozenset({errno.ENODATA, errno.EOPNOTSUPP, errno.ENOSYS})


class CannotKeep(Exception):
    """Something of the old file can't be given to a new one; the text says what."""


def copy_metadata(old: int, new: int, mode: int | None) -> None:
    """Give the file behind `new` all that the one behind `old` has but its bytes; `mode` replaces the permission bits.

    Done in this order because a change of owner drops bits, and a change of bits narrows an access list.
    """
    found, made = os.fstat(old), os.fstat(new)
    if (found.st_uid, found.st_gid) != (made.st_uid, made.st_gid):
        try:
            os.fchown(new, found.st_uid, found.st_gid)
        except OSError as error:
            raise CannotKeep("its owner and group can't be given to a new file") from error
    if hasattr(os, "listxattr"):
        _copy_attributes(old, new)
    os.fchmod(new, stat.S_IMODE(found.st_mode) if mode is None else mode)


def belongings(number: int) -> Belongings | None:
    """What the file behind a handle has that a new one of this process wouldn't have; `None` for nothing."""
    found = os.fstat(number)
    attributes = tuple(sorted(_attributes(number).items())) if hasattr(os, "listxattr") else ()
    if not attributes and (found.st_uid, found.st_gid) == (os.geteuid(), os.getegid()):
        return None
    return Belongings(found.st_uid, found.st_gid, attributes)


def give(number: int, wanted: Belongings) -> Iterator[str]:
    """Give a new file what another one had; a sentence for each thing that this process may not give."""
    made = os.fstat(number)
    if (wanted.owner, wanted.group) != (made.st_uid, made.st_gid):
        try:
            os.fchown(number, wanted.owner, wanted.group)
        except OSError:
            yield f"Its owner {wanted.owner} and group {wanted.group} couldn't be given back."
    for name, value in wanted.attributes:
        try:
            os.setxattr(number, name, value)
        except OSError:
            yield f"Its attribute {name} couldn't be given back."


def _copy_attributes(old: int, new: int) -> None:
    wanted, there = _attributes(old), _attributes(new)
    for name in there.keys() - wanted.keys():
        if not name.startswith("security."):
            os.removexattr(new, name)  # access lists that the directory gave to the new file
    for name, value in wanted.items():
        if there.get(name) == value or name in _NOT_TAKEN:
            continue
        try:
            os.setxattr(new, name, value)
        except OSError as error:
            if not name.startswith(("security.", "trusted.")):
                raise CannotKeep(f"its attribute {name} can't be given to a new file") from error


def _attributes(number: int) -> dict[str, bytes]:
    try:
        names = os.listxattr(number)
    except OSError as error:
        if error.errno in _ABSENT:
            return {}
        raise
    found: dict[str, bytes] = {}
    for name in names:
        try:
            found[name] = os.getxattr(number, name)
        except OSError as error:
            if error.errno not in _ABSENT:
                raise
    return found
