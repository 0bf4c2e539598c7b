"""Following an absolute path's links by hand, so that missing tails, loops and hostile names have typed answers."""

import errno
import os
import re
from typing import Final, NamedTuple

from handrail.fs.failures import failure
from handrail.fs.protocol import Resolved
from handrail.model.errors import InvalidCall
from handrail.model.paths import shown

MAX_LINKS: Final = 40
MAX_NAME: Final = 255
MAX_PATH: Final = 4096
_OPEN_THING: Final = re.compile(r"(?:[a-z_]+:\[|anon_inode:|/memfd:|/dmabuf:)")
_MISSING: Final = (errno.ENOENT, errno.ENOTDIR)


def resolve(path: str, *, follow: bool = True) -> Resolved:
    """Where `path` leads, by the links that stand now; see `ReadableFileSystem.resolve`.

    `..` goes up from where the links led. Below something missing, names are taken as they are written.
    """
    _check(path, path)
    given = _steps(path)
    rest = [(step, index == len(given) - 1) for index, step in enumerate(given)][::-1]
    real: list[str] = []
    missing_from: int | None = None
    followed, linked = 0, False
    while rest:
        step, last = rest.pop()
        if step == "..":
            del real[-1:]
            missing_from = None if missing_from is None or len(real) <= missing_from else missing_from
            continue
        found = _Found(None, missing=True) if missing_from is not None else _look(real, step, path)
        if found.missing and missing_from is None:
            missing_from = len(real)
        linked = linked or (last and found.target is not None)
        if found.target is None or (last and not follow):
            real.append(step)
            continue
        followed += 1
        if followed > MAX_LINKS:
            raise _refused(path, "goes round in a loop of links")
        if found.target.startswith("/"):
            real.clear()
        rest.extend((s, False) for s in reversed(_steps(found.target)))
    text = "/" + "/".join(real)
    _check(text, path)
    return Resolved(text=text, exists=missing_from is None, linked=linked)


class _Found(NamedTuple):
    """Where a link points (`None`: no link), or that nothing stands there."""

    target: str | None
    missing: bool = False


def _look(real: list[str], step: str, path: str) -> _Found:
    name = "/".join(["", *real, step])
    try:
        target = os.readlink(name)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return _Found(None)
        if error.errno in _MISSING:
            return _Found(None, missing=True)
        raise failure(error, path) from error
    if _OPEN_THING.match(target) and real[:1] == ["proc"]:
        raise _refused(path, "names something that a program holds open, not a file")
    return _Found(target)


def _steps(path: str) -> list[str]:
    return [step for step in path.split("/") if step not in ("", ".")]


def _check(path: str, given: str) -> None:
    if not path.startswith("/"):
        raise _refused(given, "isn't an absolute path")
    if "\0" in path:
        raise _refused(given, "holds a NUL byte, which no name can")
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        raise _refused(given, "holds half of a surrogate pair, which no name can") from None
    if len(encoded) >= MAX_PATH or any(len(step) > MAX_NAME for step in encoded.split(b"/")):
        raise _refused(given, f"is too long: {MAX_NAME} bytes a name and {MAX_PATH - 1} in all are the most")


def _refused(path: str, why: str) -> InvalidCall:
    name = shown(path) if len(path) <= 400 else f"{shown(path[:200])}..."
    name = name.encode("utf-8", "replace").decode("utf-8")
    return InvalidCall("invalid_path", f"{name!r} {why}.", hint="Name an existing path, or a new one beside it.")
