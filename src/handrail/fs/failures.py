"""What each error number of the system means to a caller: one table from errno to the errors of `model/errors.py`."""

import errno
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from handrail.model.errors import (
    BackendFailed,
    HandrailError,
    InvalidCall,
    NotThere,
    OutOfDate,
    TooLarge,
    WrongContent,
)
from handrail.model.paths import shown

_Row = tuple[Callable[..., HandrailError], str, str, str]

_GONE: Final[_Row] = (NotThere, "not_found", "doesn't exist", "Look at the directory with find_files mode=list.")
_STALE: Final[_Row] = (
    OutOfDate,
    "stale",
    "was replaced by a link or by something else meanwhile",
    "Nothing was written; look at the path again, then repeat the call.",
)
_CLOSED: Final[_Row] = (
    BackendFailed,
    "permission_denied",
    "may not be accessed by this user",
    "Its owner has to change the permissions; repeating the call gives the same answer.",
)
_FULL: Final[_Row] = (
    BackendFailed,
    "disk_full",
    "doesn't fit: no space is left on its file system",
    "Nothing was changed; free some space, then repeat the call.",
)
_BUSY: Final[_Row] = (
    BackendFailed,
    "busy",
    "is in use by another program or the system is out of handles",
    "Wait a little, then repeat the call.",
)
_NAME: Final[_Row] = (InvalidCall, "invalid_path", "isn't a name that this file system can hold", "Use a shorter name.")
_AWAY: Final[_Row] = (
    BackendFailed,
    "backend_unavailable",
    "lies on a file system that doesn't answer",
    "Its mount has to come back first.",
)

TABLE: Final[Mapping[int, _Row]] = {
    errno.ENOENT: _GONE,
    errno.ENOTDIR: (
        WrongContent,
        "not_regular_file",
        "leads through something that isn't a directory",
        "Look at its parent with find_files mode=list.",
    ),
    errno.ELOOP: _STALE,
    errno.EEXIST: _STALE,
    errno.EXDEV: _STALE,
    errno.EACCES: _CLOSED,
    errno.EPERM: _CLOSED,
    errno.EROFS: (
        BackendFailed,
        "permission_denied",
        "lies on a read-only file system",
        "Write somewhere else; repeating the call gives the same answer.",
    ),
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: (TooLarge, "too_large", "is larger than its file system allows", "Write it in parts."),
    errno.ENAMETOOLONG: _NAME,
    errno.EILSEQ: _NAME,
    errno.EINVAL: _NAME,
    errno.EISDIR: (
        WrongContent,
        "not_regular_file",
        "is a directory",
        "List it with find_files mode=list.",
    ),
    errno.ENOTEMPTY: (
        OutOfDate,
        "conflict",
        "isn't empty",
        "Look at what lies in it with find_files mode=list.",
    ),
    errno.EBUSY: _BUSY,
    errno.ETXTBSY: _BUSY,
    errno.EAGAIN: _BUSY,
    errno.ENOLCK: _BUSY,
    errno.EMFILE: _BUSY,
    errno.ENFILE: _BUSY,
    errno.ENOMEM: _BUSY,
    errno.ETIMEDOUT: _AWAY,
    errno.ENOTCONN: _AWAY,
    errno.EHOSTDOWN: _AWAY,
    errno.ESTALE: _AWAY,
}
_OTHER: Final[_Row] = (
    BackendFailed,
    "io_error",
    "couldn't be accessed",
    "The disk or its driver reports a fault; tell the person.",
)


def failure(error: OSError, path: str) -> HandrailError:
    """The typed error for what the system said about `path` (an inner name)."""
    make, kind, sentence, hint = TABLE.get(error.errno or 0, _OTHER)
    name = shown(path)
    why = f" ({error.strerror})" if make is BackendFailed and error.strerror else ""
    return make(
        kind, f"{_short(name)} {sentence}{why}.", hint=hint, path=name, retryable=True if kind == "busy" else None
    )


@contextmanager
def typed(path: str) -> Iterator[None]:
    """Turn every `OSError` inside into its typed error about `path`."""
    try:
        yield
    except OSError as error:
        raise failure(error, path) from error


def stale(path: str, what: str = "changed meanwhile") -> OutOfDate:
    """The refusal to touch something that isn't what was expected."""
    name = shown(path)
    return OutOfDate(
        "stale",
        f"{_short(name)} {what}; nothing was written.",
        hint="Read it again with read_files or Read, then repeat the call.",
        path=name,
    )


def _short(name: str) -> str:
    return name if len(name) <= 400 else f"{name[:200]}...{name[-100:]}"
