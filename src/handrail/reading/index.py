"""Where the lines of a file lie: one pass over its bytes, kept as a sparse index, so that any row is found at once.

Memory is a few bytes for each block of the file, whatever its size.
"""

import hashlib
import threading
from array import array
from bisect import bisect_left
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import AnyStr, Final

from handrail.model.files import Stat
from handrail.model.view import Snapshot, View
from handrail.text import codec, encodings

BLOCK: Final = codec.BLOCK
_KEPT: Final = 32
_SETTLED: Final = 2_000_000_000
_LAST_SECOND: Final = 1.0
_WHOLE: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """What one pass found. `form` is `None` for binary; `hash` is empty and `exact` false when time ran out.

    `before[n]` = line ends in front of block `n`; `ends` = all of them; `size` = the bytes that were seen.
    """

    form: codec.Form | None
    size: int
    hash: str
    ends: int
    crlf: int
    final: bool
    exact: bool
    before: "array[int]" = field(repr=False)

    @property
    def total(self) -> int:
        """How many lines there are."""
        body = self.size - (len(self.form.bom) if self.form else 0)
        return self.ends + (body > 0 and not self.final)

    @property
    def line_end(self) -> str:
        """The line end that most lines have."""
        return "\r\n" if 2 * self.crlf > self.ends else "\n"


class Pass:
    """The one pass: hash, form and line ends of bytes that are fed block by block."""

    def __init__(self, chosen: codec.Form | None) -> None:
        self._chosen = chosen
        self._sniffer = codec.Sniffer()
        self._hash = hashlib.sha256()
        self._before = array("Q")
        self._encoding = chosen.encoding if chosen else ""
        self._ends = self._crlf = self._size = 0
        self._last = b""

    def feed(self, block: bytes) -> None:
        """Take the next block; all but the last have `BLOCK` bytes."""
        self._hash.update(block)
        if self._chosen is None:
            self._sniffer.feed(block)
        if not self._encoding:
            marked = self._sniffer.marked()
            self._encoding = marked.encoding if marked else "utf-8"
        self._before.append(self._ends)
        ends, crlf = count(block, self._encoding)
        if self._last.endswith(b"\r") and block.startswith(b"\n") and self._encoding not in encodings.WIDE:
            crlf += 1
        self._ends += ends
        self._crlf += crlf
        self._size += len(block)
        self._last = (self._last + block)[-4:] if len(block) < 4 else block[-4:]

    def index(self, *, complete: bool) -> Index:
        """What was found; `complete` says that the file ended."""
        form = self._chosen or self._sniffer.form(whole=complete)
        newline = encodings.newline(self._encoding or "utf-8")
        return Index(
            form=form,
            size=self._size,
            hash=self._hash.hexdigest() if complete else "",
            ends=self._ends,
            crlf=self._crlf,
            final=self._size > 0 and self._last.endswith(newline),
            exact=complete,
            before=self._before,
        )


def count(block: bytes, encoding: str) -> tuple[int, int]:
    r"""Line ends of a block, and how many of them are `\r\n`."""
    if encoding in encodings.WIDE:
        text = units(block, encoding)
        return text.count("\n"), text.count("\r\n")
    newline = encodings.newline(encoding)
    return block.count(newline), block.count(b"\r" + newline) if b"\r" in block else 0


def units(block: bytes, encoding: str) -> str:
    """The characters of a block of UTF-16 or UTF-32; halves at its borders stay halves, so lengths add up."""
    size = encodings.unit(encoding)
    handler = "surrogatepass" if size == 2 else "replace"
    return block[: len(block) // size * size].decode(encoding, handler)


def scanned(snapshot: Snapshot, view: View, *, encoding: str | None) -> Index:
    """Pass over a whole file; stops in the last second before the deadline, and says so by `exact`."""
    chosen = _chosen(snapshot, encoding) if encoding else None
    scan = Pass(chosen)
    at = 0
    while True:
        block = _block(snapshot, at)
        if block:
            scan.feed(block)
            at += len(block)
        if len(block) < BLOCK:
            return scan.index(complete=True)
        view.check()
        if view.remaining() < _LAST_SECOND:
            return scan.index(complete=False)


def _chosen(snapshot: Snapshot, encoding: str) -> codec.Form:
    """The named form, refused when the first megabyte isn't text in it."""
    data = snapshot.read(0, _WHOLE)
    if len(data) == _WHOLE:
        data = data[: data.rfind(b"\n") // 4 * 4 or _WHOLE]
    return codec.form_of(data, encoding=encoding)


def _block(snapshot: Snapshot, at: int) -> bytes:
    """A full block, or what is left; a short read isn't taken for the end."""
    data = snapshot.read(at, BLOCK)
    while 0 < len(data) < BLOCK:
        more = snapshot.read(at + len(data), BLOCK - len(data))
        if not more:
            break
        data += more
    return data


class Indexes:
    """The indexes of files that were read lately; a file version is known by its facts once these have settled."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, ...], Index] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, snapshot: Snapshot, view: View, *, encoding: str | None = None) -> Index:
        """The index of this version of the file; what is small, fresh or on no disk is passed over anew."""
        stat = snapshot.stat
        settled = stat.inode and 0 < max(stat.mtime_ns, stat.ctime_ns) < view.now() - _SETTLED
        if stat.size < _WHOLE or not settled:
            return scanned(snapshot, view, encoding=encoding)
        key = (*_version(stat), snapshot.path.text, encoding)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        made = scanned(snapshot, view, encoding=encoding)
        if made.exact:
            with self._lock:
                self._kept[key] = made
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
        return made


def _version(stat: Stat) -> tuple[int, ...]:
    return stat.device, stat.inode, stat.size, stat.mtime_ns, stat.ctime_ns


def start_of(row: int, index: Index, snapshot: Snapshot) -> int:
    """The byte at which a 1-based row starts; the end of what was seen for a row past it."""
    assert index.form is not None  # noqa: S101 -- only text has rows
    if row <= 1:
        return len(index.form.bom)
    if row > index.ends + 1:
        return index.size
    number = bisect_left(index.before, row - 1) - 1
    return number * BLOCK + _after(
        _block(snapshot, number * BLOCK), row - 1 - index.before[number], index.form.encoding
    )


def _after(block: bytes, wanted: int, encoding: str) -> int:
    """The offset behind the line end of that number in a block; found by halving, each half counted at C speed."""
    if encoding in encodings.WIDE:
        text = units(block, encoding)
        at = _nth(text, "\n", wanted)
        return len(text[:at].encode(encoding, "surrogatepass"))
    return _nth(block, encodings.newline(encoding), wanted)


def _nth(whole: AnyStr, mark: AnyStr, wanted: int) -> int:
    low, high = 0, len(whole)
    while high - low > 256:
        middle = (low + high) // 2
        here = whole.count(mark, low, middle)
        if here >= wanted:
            high = middle
        else:
            low, wanted = middle, wanted - here
    for _ in range(wanted):
        low = whole.find(mark, low) + 1
    return low
