"""Putting contents at names, each in one step: a temporary file beside it, synced, checked, renamed, synced.

Several files go from station to station together, so that they share the waiting for the disk. Falls back to `inplace`
where a rename would break a promise. It knows nothing of history or of why.
"""

import errno
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from handrail.fs import inplace, kernel
from handrail.fs.descent import Spot, open_spot, shut
from handrail.fs.drafts import discard, draft, write_all
from handrail.fs.failures import stale, typed
from handrail.fs.metadata import CannotKeep, copy_metadata, give
from handrail.fs.protocol import Put, Written
from handrail.fs.snapshot import IN_MEMORY, Handle, facts, hash_of, holds, open_regular
from handrail.model.errors import BackendFailed, HandrailError
from handrail.model.files import Content

_NO_RENAME_HERE: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV})
_SYNCING: Final = 8
"""Threads that wait for the disk at once: a journal writes down what they ask for in one go."""


def replace(put: Put) -> Written:
    """Put one content at its path; see `replace` of `fs/protocol.py`."""
    done = replace_all([put])[0]
    if isinstance(done, HandrailError):
        raise done
    return done


def replace_all(puts: Sequence[Put]) -> Sequence[Written | HandrailError]:
    """Put each content at its path, or say why not; see `replace_all` of `fs/protocol.py`."""
    turns = [_Turn(put) for put in puts]
    try:
        for turn in turns:
            turn.take(turn.draft)
        _sync(turns)
        for turn in turns:
            turn.take(turn.name)
        _keep(turns)
        return [turn.outcome() for turn in turns]
    finally:
        for turn in turns:
            turn.close()


def _sync(turns: Sequence["_Turn"]) -> None:
    if len(turns) == 1:
        turns[0].take(turns[0].sync)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_SYNCING) as pool:
        list(pool.map(lambda turn: turn.take(turn.sync), turns))


def _keep(turns: Sequence["_Turn"]) -> None:
    """Make the names durable: each directory is synced once, when all its files have their names."""
    last = {turn.directory: turn for turn in turns if turn.renamed}
    for turn in last.values():
        turn.take(turn.keep)
        for other in turns:
            if other.renamed and other.directory == turn.directory:
                other.error = turn.error


class _Turn:
    """One file on its way; what was opened for it stays open until `close`."""

    __slots__ = (
        "_at",
        "_notes",
        "_number",
        "_old",
        "_temporary",
        "_why",
        "_written",
        "directory",
        "error",
        "renamed",
        "wanted",
    )

    def __init__(self, put: Put) -> None:
        self.wanted = put
        self.directory = put.path.parent
        self.error: HandrailError | None = None
        self.renamed = False
        self._number = -1
        self._at: Spot | None = None
        self._old: Handle | None = None
        self._temporary = ""
        self._why = ""
        self._notes: tuple[str, ...] = ()
        self._written: Written | None = None

    def take(self, station: Callable[[], None]) -> None:
        """Do a station, unless an earlier one failed."""
        if self.error is None:
            try:
                with typed(self.wanted.path.text):
                    station()
            except HandrailError as error:
                self.error = error

    def outcome(self) -> Written | HandrailError:
        """What became of it."""
        if self.error is not None:
            return self.error
        assert self._written is not None  # noqa: S101 -- every station was passed
        return self._written

    # the stations

    def draft(self) -> None:
        """Write the new bytes to a temporary file, with all that the old file has; or see why that can't be."""
        put = self.wanted
        self._at = at = open_spot(put.path)
        if put.expect is None:
            # Without a mode of its own the kernel applies umask and the directory's default rights, as for anybody.
            self._temporary, self._number = draft(at, 0o666 if put.mode is None else put.mode & 0o600)
            write_all(self._number, put.content, put.path)
            self._notes = () if put.belongings is None else tuple(give(self._number, put.belongings))
            if put.mode is not None:
                os.fchmod(self._number, put.mode)
            return
        self._old = old = _standing(at)
        found = os.fstat(old.number)
        _writable(at)
        if put.content.hash == hash_of(put.expect) and holds(old, put.expect):
            self._written = _only_mode(old, put.mode)
        elif found.st_nlink > 1:
            self._why = "it has several hard links"
        else:
            self._beside(at, old, found)

    def _beside(self, at: Spot, old: Handle, found: os.stat_result) -> None:
        try:
            self._temporary, self._number = draft(at, stat.S_IMODE(found.st_mode) & 0o600)
        except OSError as error:
            if error.errno not in _NO_RENAME_HERE:
                raise
            self._why = "its directory can't be written"
            return
        write_all(self._number, self.wanted.content, at.path)
        try:
            copy_metadata(old.number, self._number, self.wanted.mode)
        except CannotKeep as error:
            self._why = str(error)

    def sync(self) -> None:
        """Wait until the new bytes are on the disk."""
        if self._number >= 0 and not self._why:
            os.fsync(self._number)

    def name(self) -> None:
        """Give the new file its name, where what stands there is what was expected."""
        at, put = self._at, self.wanted
        assert at is not None  # noqa: S101 -- the first station opened it
        if self._written is not None:
            return
        if put.expect is None:
            try:
                _rename_new(at, self._temporary)
            except FileExistsError:
                raise stale(at.path.text, "exists meanwhile") from None
            self._is_there(at)
            return
        assert self._old is not None  # noqa: S101 -- the first station opened it
        if not self._why:
            self._why = _over(at, self._old, (self._temporary, self._number), put.expect)
            if not self._why:
                self._is_there(at)
                return
        if self._temporary:
            discard(at, self._temporary)
        self._written = inplace.rewrite(
            at, self._old, put.content, mode=put.mode, expect=hash_of(put.expect), why=self._why
        )

    def _is_there(self, at: Spot) -> None:
        self._written = Written(stat=facts(os.fstat(self._number)), notes=self._notes)
        discard(at, self._temporary)
        self.renamed = True

    def keep(self) -> None:
        """Wait until the directory's names are on the disk."""
        if self._at is not None:
            self._at.keep()

    def close(self) -> None:
        """Give everything back; a temporary file that is left goes."""
        if self._number >= 0:
            shut(self._number)
        if self._old is not None:
            self._old.close()
        if self._at is not None:
            if self._temporary and not self.renamed:
                with suppress(OSError):
                    discard(self._at, self._temporary)
            shut(self._at.directory)


def _standing(at: Spot) -> Handle:
    try:
        return open_regular(at)
    except FileNotFoundError:
        raise stale(at.path.text, "is gone") from None


def _writable(at: Spot) -> None:
    if os.access(at.name, os.W_OK, dir_fd=at.directory, effective_ids=os.access in os.supports_effective_ids):
        return
    raise BackendFailed(
        "permission_denied",
        f"{at.path} may not be written by this user.",
        hint="Its permissions forbid it; a person has to change them first.",
        path=str(at.path),
    )


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


def _only_mode(old: Handle, mode: int | None) -> Written:
    if mode is not None and mode != stat.S_IMODE(os.fstat(old.number).st_mode):
        os.fchmod(old.number, mode)
        os.fsync(old.number)
    return Written(stat=facts(os.fstat(old.number)))


def _over(at: Spot, old: Handle, new: tuple[str, int], expect: Content | str) -> str:
    """The normal way; a sentence = why it must be done in place instead, nothing touched."""
    temporary, _ = new
    if not holds(old, expect) or not same_file(at, at.name, old):
        raise stale(at.path.text)
    judged = os.fstat(old.number)
    try:
        if not kernel.exchange(at.directory, temporary, at.name):
            os.rename(temporary, at.name, src_dir_fd=at.directory, dst_dir_fd=at.directory)
            return ""
    except OSError as error:
        if error.errno not in _NO_RENAME_HERE:
            raise
        return "it can't be renamed over"
    _judge_what_came_out(at, old, new, judged=judged, expect=expect)
    return ""


def _judge_what_came_out(
    at: Spot, old: Handle, new: tuple[str, int], *, judged: os.stat_result, expect: Content | str
) -> None:
    """After an exchange the old file has our temporary name; if it isn't what was judged, it goes back."""
    temporary, number = new
    if same_file(at, temporary, old) and unwritten(old, judged, expect):
        return
    kernel.exchange(at.directory, temporary, at.name)
    if not same_file(at, temporary, number):
        # Somebody replaced ours in between; theirs is the newest and must be the one that stays.
        kernel.exchange(at.directory, temporary, at.name)
    raise stale(at.path.text)


def unwritten(old: Handle, judged: os.stat_result, expect: Content | str) -> bool:
    """Whether nobody wrote into an open file since it was judged; small ones are read again, clocks being coarse."""
    now = os.fstat(old.number)
    if (now.st_size, now.st_mtime_ns) != (judged.st_size, judged.st_mtime_ns):
        return False
    return now.st_size > IN_MEMORY or holds(old, expect)


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
