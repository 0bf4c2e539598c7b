"""What one session knows of each file, and whether that is enough to change it.

It keys by real path and compares by content: times may move, be coarse or lie. Searches, diffs, receipts never count.
"""

import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from handrail.guard import refusals
from handrail.guard.globs import PathSet, Place
from handrail.guard.rows import Ranges, joined, meets, moved, size, without
from handrail.model.answers import ReadBinary, ReadImage, ReadText
from handrail.model.changes import Change, Freshness
from handrail.model.errors import BackendFailed, HandrailError
from handrail.model.files import FileState, Stat
from handrail.model.view import Snapshot, View
from handrail.store.protocol import Known, LedgerStore
from handrail.text import codec, lines

Mode = Literal["strict", "region", "off"]

TEXT_BYTES: Final = 512 * 1024
"""A file's content is kept up to this size, to show later what changed in it."""
_KEPT_FILES: Final = 20_000
_KEPT_BYTES: Final = 32 << 20
_MARGIN: Final = 3
"""Rows on both sides of an anchor that must be as they were seen, in the mode `region`."""


@dataclass(frozen=True, slots=True)
class Freshened:
    """The file may be changed: rows in it that changed outside and were never shown again, and what to say of it."""

    unseen_rows: int = 0
    notes: tuple[str, ...] = ()


def modes(rules: Sequence[tuple[str, Mode]], place: Place) -> Callable[[str], Mode]:
    """The mode of a real path by `(policy glob, mode)` rules; the last that names it decides, else `strict`."""
    globs = PathSet([glob for glob, _ in rules], place)

    def mode(path: str) -> Mode:
        index = globs.last(path) if globs else -1
        return "strict" if index < 0 else rules[index][1]

    return mode


class Ledger:
    """One session's knowledge; safe from many threads. With a `store` it outlives the process (a named session)."""

    def __init__(
        self, session: str, store: LedgerStore | None = None, *, mode: Callable[[str], Mode] = lambda _: "strict"
    ) -> None:
        self._session = session
        self._store = store
        self._mode = mode
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, tuple[Known, _Text | None]] = OrderedDict()
        self._bytes = 0

    def known(self, path: str) -> Known | None:
        """What the session knows of the real path, the content it saw last included where that was kept."""
        with self._lock:
            entry = self._entries.get(path)
            if entry is not None:
                self._entries.move_to_end(path)
        if entry is not None:
            return entry[0] if entry[1] is None else replace(entry[0], text=entry[1].bytes())
        return self._remembered(path)

    def seen_hash(self, path: str) -> str | None:
        """SHA-256 of the bytes that the session saw or wrote last; `None` for a file it doesn't know."""
        with self._lock:
            entry = self._entries.get(path)
        if entry is not None:
            return entry[0].hash
        known = self._remembered(path)
        return None if known is None else known.hash

    def saw(self, answer: ReadText | ReadBinary | ReadImage, snapshot: Snapshot) -> None:
        """Note a read: the rows that it showed, of the bytes behind `snapshot`. One that showed nothing is none."""
        shown: Ranges | None = None
        if isinstance(answer, ReadText) and answer.unit == "line":
            shown = joined((row.row, row.row) for row in answer.rows if row.row is not None)
            if not shown and answer.total:
                return
        path, stat = answer.path.text, snapshot.stat
        text = snapshot.content().bytes() if stat.size <= TEXT_BYTES else None
        before = self.known(path)
        unseen: Ranges = ()
        if shown is not None and before is not None:
            unseen = without(_unseen(before, text, answer.hash), shown)
        self._keep(path, _fact(answer.hash, answer.size, stat, own=False, unseen=unseen), text)

    def wrote(self, change: Change, stat: Stat | None) -> None:
        """Note the session's own change, done: it counts as a fresh read of what stands there now."""
        path = change.path.text
        if not isinstance(change.after, FileState) or stat is None:
            self._forget(path)
            return
        content = change.after.content
        text = content.bytes() if content.size <= TEXT_BYTES else None
        self._keep(path, _fact(content.hash, content.size, stat, own=True, unseen=self._after(change, text)), text)

    def require(self, path: str, freshness: Freshness, *, read_call: str = "read_files") -> None:
        """Raise `OutOfDate` `not_read` when a file that stands at the path must have been read and wasn't."""
        if freshness in ("required", "read") and self._mode(path) != "off" and self.seen_hash(path) is None:
            raise refusals.not_read(path, read_call=read_call)

    def check(
        self,
        change: Change,
        freshness: Freshness,
        *,
        expected_hash: str | None = None,
        around: Sequence[int] = (),
        view: View | None = None,  # noqa: ARG002 -- part of the contract between rooms
        read_call: str = "read_files",
    ) -> Freshened:
        """Whether the session knows what stands before the change, by the rules of the families.

        `expected_hash` equal to the disk's stands for a read. `around`: rows of the anchors in what stands there now.
        Raises `OutOfDate`: `not_read`, `file_modified_since_read`, `stale`.
        """
        path = change.path.text
        disk = change.before.content if isinstance(change.before, FileState) else None
        if expected_hash is not None:
            if disk is None or disk.hash != expected_hash.strip().lower():
                raise refusals.stale(path, expected_hash, None if disk is None else disk.hash)
            return Freshened()
        if disk is None:
            return Freshened()
        known = self.known(path)
        mode = self._mode(path)
        if known is not None and known.hash == disk.hash:
            return Freshened(size(known.unseen))
        if freshness == "none" or mode == "off" or (freshness == "unchanged" and known is None):
            return Freshened()
        now = disk.bytes() if disk.size <= TEXT_BYTES else None
        if known is None:
            raise refusals.not_read(path, read_call=read_call, now=now, around=around)
        if mode == "region" and now is not None:
            spared = _spared(known, now, around)
            if spared is not None:
                return spared
        raise refusals.modified(path, known.text, now, read_call=read_call, around=around, own=known.own)

    def _after(self, change: Change, text: bytes | None) -> Ranges:
        """Rows that stay unseen when the session changes a file: not those that its own change put there."""
        before = change.before.content if isinstance(change.before, FileState) else None
        known = self.known(change.path.text)
        if before is None or known is None or text is None or before.size > TEXT_BYTES:
            return ()
        old = before.bytes()
        unseen = _unseen(known, old, before.hash)
        if not unseen:
            return ()
        a, b = _lines(old), _lines(text)
        return () if a is None or b is None else moved(a, b, unseen)[1]

    def _keep(self, path: str, fact: Known, text: bytes | None) -> None:
        with self._lock:
            self._drop(path)
            self._entries[path] = (fact, None if text is None else _Text(text))
            self._bytes += 0 if text is None else len(text)
            self._shrink()
        if self._store is not None:
            self._persist(path, replace(fact, text=text))

    def _persist(self, path: str, known: Known) -> None:
        assert self._store is not None  # noqa: S101 -- the caller looked
        try:
            self._store.know(self._session, {path: known})
        except BackendFailed:
            return  # this process still knows it; a later one asks for a read again

    def _forget(self, path: str) -> None:
        with self._lock:
            self._drop(path)
        if self._store is not None:
            self._persist(path, GONE)

    def _remembered(self, path: str) -> Known | None:
        if self._store is None:
            return None
        try:
            known = self._store.known(self._session, path)
        except BackendFailed:
            return None
        return None if known is None or not known.hash else known

    def _drop(self, path: str) -> None:
        _, text = self._entries.pop(path, (None, None))
        self._bytes -= 0 if text is None else text.size

    def _shrink(self) -> None:
        """Pack the contents of what was used longest ago, then forget them, then such files themselves."""
        while len(self._entries) > _KEPT_FILES:
            self._drop(next(iter(self._entries)))
        for smaller in (_Text.packed, _nothing) if self._bytes > _KEPT_BYTES else ():
            for path, (fact, text) in list(self._entries.items()):
                if text is not None and self._bytes > _KEPT_BYTES * 3 // 4:
                    less = smaller(text)
                    self._entries[path] = (fact, less)
                    self._bytes -= text.size - (0 if less is None else less.size)


@dataclass(frozen=True, slots=True)
class _Text:
    """A content that is kept, compressed only when room is short."""

    data: bytes
    is_packed: bool = False

    @property
    def size(self) -> int:
        return len(self.data)

    def packed(self) -> "_Text":
        return self if self.is_packed else _Text(zlib.compress(self.data, 1), is_packed=True)

    def bytes(self) -> bytes:
        return zlib.decompress(self.data) if self.is_packed else self.data


def _nothing(_: _Text) -> None:
    return None


GONE: Final = Known(hash="", size=0, mtime_ns=0, inode=0)
"""What is kept of a path where the session removed the file: it doesn't know the next one."""


def _fact(digest: str, length: int, stat: Stat, *, own: bool, unseen: Ranges) -> Known:
    return Known(hash=digest, size=length, mtime_ns=stat.mtime_ns, inode=stat.inode, own=own, unseen=unseen)


def _unseen(known: Known, now: bytes | None, digest: str) -> Ranges:
    """The rows of the content `now` that changed since the session saw them; none where that can't be said."""
    if known.hash == digest:
        return known.unseen
    old = None if known.text is None else _lines(known.text)
    new = None if now is None else _lines(now)
    if old is None or new is None:
        return ()
    changed, kept, _ = moved(old, new, known.unseen)
    return joined([*changed, *kept])


def _spared(known: Known, now: bytes, around: Sequence[int]) -> Freshened | None:
    """Fresh enough for the mode `region`: nothing changed near the anchors; `None` = not so."""
    old = None if known.text is None else _lines(known.text)
    new = _lines(now)
    if old is None or new is None or not around:
        return None
    changed, kept, removed = moved(old, new, known.unseen)
    if any(meets(joined([*changed, *removed]), row - _MARGIN, row + _MARGIN) for row in around):
        return None
    said = ", ".join(f"{a}-{b}" if a != b else str(a) for a, b in (changed or removed)[:20])
    return Freshened(
        size(joined([*changed, *kept])), (f"Rows {said} changed since they were read; the edit is elsewhere.",)
    )


def _lines(data: bytes) -> list[str] | None:
    try:
        return lines.split(codec.decode(data).text)
    except HandrailError:
        return None
