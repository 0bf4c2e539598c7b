"""Taking names away: files and links checked while nobody can reach them, trees moved to a store's place and back."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from handrail.fs import kernel
from handrail.fs.descent import HANDLE, Spot, keep_entries, shut, spot
from handrail.fs.drafts import discard, temporary_name
from handrail.fs.failures import stale, typed
from handrail.fs.replace import same_file, unwritten
from handrail.fs.snapshot import digest, facts, not_regular, open_regular
from handrail.fs.trees import Place, copy_tree, drop_tree
from handrail.model.paths import RealPath

GONE: Final = ".gone"
"""How the name ends of what is being taken away from a store's place; its upkeep knows it by that."""


def unlink(path: RealPath, expect: str | None) -> None:
    """Remove a file whose hash is `expect`, or a link (`None`); see `unlink` of `fs/protocol.py`."""
    with typed(path.text), spot(path) as at:
        if expect is None:
            _unlink_link(at)
        else:
            _unlink_file(at, expect)
        at.keep()


def _unlink_link(at: Spot) -> None:
    if not stat.S_ISLNK(at.facts().st_mode):
        raise stale(at.path.text, "isn't a link any more")
    os.unlink(at.name, dir_fd=at.directory)


def _unlink_file(at: Spot, expect: str) -> None:
    old = open_regular(at)
    try:
        if digest(old) != expect:
            raise stale(at.path.text)
        judged = os.fstat(old.number)
        aside = temporary_name()
        if not kernel.rename_where_nothing_stands((at.directory, at.name), (at.directory, aside)):
            if not same_file(at, at.name, old):
                raise stale(at.path.text)
            os.unlink(at.name, dir_fd=at.directory)
        elif same_file(at, aside, old) and unwritten(old, judged, expect):
            discard(at, aside)
        else:
            with suppress(FileExistsError):
                kernel.rename_where_nothing_stands((at.directory, aside), (at.directory, at.name))
            discard(at, aside)  # only where something newer already took its place
            raise stale(at.path.text)
    finally:
        old.close()


def remove_directory(path: RealPath) -> None:
    """Remove an empty directory."""
    with typed(path.text), spot(path) as at:
        os.rmdir(at.name, dir_fd=at.directory)
        at.keep()


def move_out(path: RealPath, destination: str, copy_limit: int) -> bool:
    """Move what stands at `path` to a store's place; across file systems by a copy of at most `copy_limit` bytes."""
    with typed(path.text), spot(path) as at, _place(destination) as there:
        kind = facts(at.facts()).kind
        if kind not in ("directory", "file", "symlink"):
            raise not_regular(path, kind)
        if not _renamed((at.directory, at.name), there):
            if copy_limit <= 0:
                return False
            _copied_out(at, there, copy_limit)
        keep_entries(there[0])
        at.keep()
        return True


def _copied_out(at: Spot, there: Place, limit: int) -> None:
    """Copy, take the original out of sight in one step, see that it is what was copied, then drop it."""
    seen = copy_tree((at.directory, at.name), there, limit=limit, path=at.path)
    keep_entries(there[0])
    aside = temporary_name()
    os.rename(at.name, aside, src_dir_fd=at.directory, dst_dir_fd=at.directory)
    if seen.changed((at.directory, aside)):
        os.rename(aside, at.name, src_dir_fd=at.directory, dst_dir_fd=at.directory)
        drop_tree(there)
        raise stale(at.path.text)
    at.keep()
    drop_tree((at.directory, aside))


def move_in(source: str, path: RealPath, copy_limit: int) -> bool:
    """The inverse of `move_out`; a copy is made beside `path` and put in place in one step."""
    with typed(path.text), spot(path) as at, _place(source) as there:
        if _renamed(there, (at.directory, at.name)):
            at.keep()
            keep_entries(there[0])
            return True
        if copy_limit <= 0:
            return False
        _copied_in(at, there, copy_limit)
        return True


def _copied_in(at: Spot, there: Place, limit: int) -> None:
    draft, place = (at.directory, temporary_name()), (at.directory, at.name)
    copy_tree(there, draft, limit=limit, path=at.path)
    try:
        _rename_new(draft, place)
        try:
            at.keep()
        except BaseException:
            _rename_new(place, draft)
            raise
    except BaseException:
        drop_tree(draft)
        raise
    _give_up(there)


def _give_up(there: Place) -> None:
    """Take away what was copied back: out of reach in one step, as half of it must not be found there again.

    What can't be dropped now goes with the store's upkeep; the tree is back all the same.
    """
    gone = (there[0], there[1] + GONE)
    with suppress(OSError):
        os.rename(there[1], gone[1], src_dir_fd=there[0], dst_dir_fd=there[0])
        keep_entries(there[0])
        drop_tree(gone)


def _renamed(source: Place, destination: Place) -> bool:
    """Rename where nothing stands; false where that crosses file systems."""
    try:
        _rename_new(source, destination)
    except OSError as error:
        if error.errno == errno.EXDEV:
            return False
        raise
    return True


def _rename_new(source: Place, destination: Place) -> None:
    if kernel.rename_where_nothing_stands(source, destination):
        return
    with suppress(FileNotFoundError):
        os.stat(destination[1], dir_fd=destination[0], follow_symlinks=False)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    os.rename(source[1], destination[1], src_dir_fd=source[0], dst_dir_fd=destination[0])


@contextmanager
def _place(text: str) -> Iterator[Place]:
    """A store's own place; the store made its directory, so links above it are its own."""
    parent, _, name = text.rpartition("/")
    handle = os.open(parent or "/", HANDLE)
    try:
        yield handle, name
    finally:
        shut(handle)
