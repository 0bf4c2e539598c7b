"""Putting a content at a name in one step: a temporary file beside it, synced, checked, renamed, synced.

Falls back to `inplace` where a rename would break a promise. It knows nothing of history or of why.
"""

import errno
import os
import stat
from typing import Final

from handrail.fs import inplace, kernel
from handrail.fs.descent import Spot, spot
from handrail.fs.drafts import discard, draft, write_all
from handrail.fs.failures import stale, typed
from handrail.fs.metadata import CannotKeep, copy_metadata, give
from handrail.fs.protocol import Written
from handrail.fs.snapshot import IN_MEMORY, Handle, digest, facts, open_regular
from handrail.model.errors import BackendFailed
from handrail.model.files import Belongings, Content
from handrail.model.paths import RealPath

_NO_RENAME_HERE: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV})


def replace(
    path: RealPath,
    content: Content,
    *,
    mode: int | None,
    expect: str | None,
    belongings: Belongings | None = None,
) -> Written:
    """Put `content` at `path`; see `replace` of `fs/protocol.py`."""
    with typed(path.text), spot(path) as at:
        if expect is None:
            return _create(at, content, mode, belongings)
        handle = _standing(at)
        try:
            return _over(at, handle, content, mode, expect)
        finally:
            handle.close()


def _standing(at: Spot) -> Handle:
    try:
        return open_regular(at)
    except FileNotFoundError:
        raise stale(at.path.text, "is gone") from None


def _create(at: Spot, content: Content, mode: int | None, belongings: Belongings | None) -> Written:
    # Without a mode of its own the kernel applies umask and the directory's default rights, here as for anybody.
    temporary, number = draft(at, 0o666 if mode is None else mode & 0o600)
    try:
        write_all(number, content, at.path)
        notes = () if belongings is None else tuple(give(number, belongings))
        if mode is not None:
            os.fchmod(number, mode)
        os.fsync(number)
        _rename_new(at, temporary)
        discard(at, temporary)
        at.keep()
        return Written(stat=facts(os.fstat(number)), notes=notes)
    except FileExistsError:
        raise stale(at.path.text, "exists meanwhile") from None
    finally:
        os.close(number)
        discard(at, temporary)


def _rename_new(at: Spot, temporary: str) -> None:
    if kernel.rename_where_nothing_stands((at.directory, temporary), (at.directory, at.name)):
        return
    try:
        os.link(temporary, at.name, src_dir_fd=at.directory, dst_dir_fd=at.directory, follow_symlinks=False)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
        if _stat(at, at.name) is not None:
            raise FileExistsError from None
        os.rename(temporary, at.name, src_dir_fd=at.directory, dst_dir_fd=at.directory)


def _over(at: Spot, old: Handle, content: Content, mode: int | None, expect: str) -> Written:
    found = os.fstat(old.number)
    if not os.access(at.name, os.W_OK, dir_fd=at.directory, effective_ids=os.access in os.supports_effective_ids):
        raise BackendFailed(
            "permission_denied",
            f"{at.path} may not be written by this user.",
            hint="Its permissions forbid it; a person has to change them first.",
            path=str(at.path),
        )
    if content.hash == expect and digest(old) == expect:
        return _only_mode(old, mode)
    if found.st_nlink > 1:
        return inplace.rewrite(at, old, content, mode=mode, expect=expect, why="it has several hard links")
    try:
        temporary, number = draft(at, stat.S_IMODE(found.st_mode) & 0o600)
    except OSError as error:
        if error.errno not in _NO_RENAME_HERE:
            raise
        return inplace.rewrite(at, old, content, mode=mode, expect=expect, why="its directory can't be written")
    try:
        written = _by_rename(at, old, (temporary, number), content, mode=mode, expect=expect)
    finally:
        os.close(number)
        discard(at, temporary)
    if isinstance(written, str):
        return inplace.rewrite(at, old, content, mode=mode, expect=expect, why=written)
    at.keep()
    return written


def _only_mode(old: Handle, mode: int | None) -> Written:
    if mode is not None and mode != stat.S_IMODE(os.fstat(old.number).st_mode):
        os.fchmod(old.number, mode)
        os.fsync(old.number)
    return Written(stat=facts(os.fstat(old.number)))


def _by_rename(
    at: Spot, old: Handle, new: tuple[str, int], content: Content, *, mode: int | None, expect: str
) -> Written | str:
    """The normal way; a sentence = why it must be done in place instead, nothing touched."""
    temporary, number = new
    write_all(number, content, at.path)
    try:
        copy_metadata(old.number, number, mode)
    except CannotKeep as error:
        return str(error)
    os.fsync(number)
    if digest(old) != expect or not same_file(at, at.name, old):
        raise stale(at.path.text)
    judged = os.fstat(old.number)
    try:
        if not kernel.exchange(at.directory, temporary, at.name):
            os.rename(temporary, at.name, src_dir_fd=at.directory, dst_dir_fd=at.directory)
            return Written(stat=facts(os.fstat(number)))
    except OSError as error:
        if error.errno not in _NO_RENAME_HERE:
            raise
        return "it can't be renamed over"
    _judge_what_came_out(at, old, new, judged=judged, expect=expect)
    return Written(stat=facts(os.fstat(number)))


def _judge_what_came_out(at: Spot, old: Handle, new: tuple[str, int], *, judged: os.stat_result, expect: str) -> None:
    """After an exchange the old file has our temporary name; if it isn't what was judged, it goes back."""
    temporary, number = new
    if same_file(at, temporary, old) and unwritten(old, judged, expect):
        return
    kernel.exchange(at.directory, temporary, at.name)
    if not same_file(at, temporary, number):
        # Somebody replaced ours in between; theirs is the newest and must be the one that stays.
        kernel.exchange(at.directory, temporary, at.name)
    raise stale(at.path.text)


def unwritten(old: Handle, judged: os.stat_result, expect: str) -> bool:
    """Whether nobody wrote into an open file since it was judged; small ones are hashed again, clocks being coarse."""
    now = os.fstat(old.number)
    if (now.st_size, now.st_mtime_ns) != (judged.st_size, judged.st_mtime_ns):
        return False
    return now.st_size > IN_MEMORY or digest(old) == expect


def same_file(at: Spot, name: str, opened: Handle | int) -> bool:
    """Whether a name in the spot's directory is the file behind a handle."""
    there = _stat(at, name)
    known = os.fstat(opened if isinstance(opened, int) else opened.number)
    return there is not None and (there.st_dev, there.st_ino) == (known.st_dev, known.st_ino)


def _stat(at: Spot, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=at.directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
