"""Reads ripgrep's stream of JSON events: counts them as they come, decodes a row when it is looked at.

Bounded whatever one line of a file holds; it knows neither paths nor patterns.
"""

from array import array
from collections.abc import Iterator, Sequence
from typing import Final, overload

import msgspec

from handrail.fs.protocol import RawHits
from handrail.model.view import RowHit, Told

LONGEST: Final = 4 << 20
"""An event over this size, in bytes, is left out, and its file counts as `overlong`."""
KEPT: Final = 12 << 20
"""Bytes of events that one run keeps; of files beyond it only the counts."""
FIRST_ROWS: Final = 5

_MATCH, _CONTEXT, _BEGIN, _END = b"mcbe"
_KIND: Final = len(b'{"type":"')
_STRAY: Final = b'"lines":{"bytes":'
_NUMBER: Final = b'"line_number":'


class _Data(msgspec.Struct, gc=False):
    text: str | None = None
    raw: bytes | None = msgspec.field(name="bytes", default=None)

    def data(self) -> bytes:
        return self.text.encode() if self.text is not None else self.raw or b""

    def name(self) -> str:
        return self.text if self.text is not None else (self.raw or b"").decode("utf-8", "surrogateescape")


class _Span(msgspec.Struct, gc=False):
    start: int
    end: int


class _BeginData(msgspec.Struct, gc=False):
    path: _Data


class _RowData(msgspec.Struct, gc=False):
    lines: _Data
    line_number: int
    submatches: list[_Span]


class _EndData(msgspec.Struct, gc=False):
    binary_offset: int | None = None


class _Begin(msgspec.Struct, gc=False):
    data: _BeginData


class _Row(msgspec.Struct, gc=False):
    type: str
    data: _RowData


class _End(msgspec.Struct, gc=False):
    data: _EndData


_begin = msgspec.json.Decoder(_Begin).decode
_row = msgspec.json.Decoder(_Row).decode
_end = msgspec.json.Decoder(_End).decode


class Rows(Sequence[RowHit]):
    """The rows of one file as ripgrep told them, each decoded when it is looked at."""

    def __init__(self, events: Sequence[bytes]) -> None:
        self._events = events

    def __len__(self) -> int:
        return len(self._events)

    @overload
    def __getitem__(self, at: int) -> RowHit: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[RowHit]: ...

    def __getitem__(self, at: int | slice) -> RowHit | Sequence[RowHit]:
        return _hit(self._events[at]) if isinstance(at, int) else [_hit(event) for event in self._events[at]]


def _hit(event: bytes) -> RowHit:
    row = _row(event)
    spans = tuple((span.start, span.end) for span in row.data.submatches)
    return RowHit(row=row.data.line_number, data=row.data.lines.data(), spans=spans, context=row.type == "context")


class Splitter:
    """Cuts chunks into pieces that end with one byte; of a piece over `longest` comes only an empty one."""

    def __init__(self, end: bytes, *, longest: int | None = None) -> None:
        self._end = end
        self._longest = LONGEST if longest is None else longest
        self._kept: list[bytes] = []
        self._size = 0
        self._dropping = False

    def take(self, chunk: bytes) -> Iterator[bytes]:
        """The pieces that this chunk completes, without their end."""
        *whole, rest = chunk.split(self._end)
        if whole and (self._kept or self._dropping):
            first = b"" if self._dropping else b"".join((*self._kept, whole[0]))
            self._dropping = False
            self._kept.clear()
            self._size = 0
            yield first
            del whole[0]
        yield from whole
        if rest and not self._dropping:
            self._kept.append(rest)
            self._size += len(rest)
            if self._size > self._longest:
                self._kept.clear()
                self._dropping = True


class Reader:
    """Gathers events into one `RawHits` a file. `numbers`: the number of each matching row is wanted."""

    def __init__(self, *, numbers: bool, kept: int | None = None) -> None:
        self._numbers = numbers
        self._left = KEPT if kept is None else kept
        self._begin()

    def _begin(self) -> None:
        self._name: str | None = None
        self._events: list[bytes] = []
        self._size = 0
        self._count = 0
        self._rows = array("Q")
        self._stray = False
        self._returns = False
        self._overlong = False
        self._keeps = True

    def take(self, line: bytes) -> RawHits | None:
        """Read one event; the file's rows when it was the file's last."""
        kind = line[_KIND] if line else 0
        if kind in {_MATCH, _CONTEXT}:
            self._add(line, matches=kind == _MATCH)
        elif kind == _BEGIN:
            self._name = _begin(line).data.path.name()
        elif kind == _END:
            return self._done(binary=b'"binary_offset":null' not in line and _end(line).data.binary_offset is not None)
        elif not line:
            self._overlong = True
        return None

    def rest(self) -> RawHits | None:
        """The rows so far of a file whose end never came."""
        return self._done(binary=False) if self._name is not None and self._count else None

    def _add(self, line: bytes, *, matches: bool) -> None:
        if matches:
            self._count += 1
            if self._numbers or self._count <= FIRST_ROWS:
                start = line.rfind(_NUMBER) + len(_NUMBER)
                self._rows.append(int(line[start : line.index(b",", start)]))
            self._stray = self._stray or _STRAY in line
            self._returns = self._returns or b"\\r" in line
        if self._keeps:
            self._events.append(line)
            self._size += len(line)
            if self._size > self._left:
                self._keeps = False
                self._events = []

    def _done(self, *, binary: bool) -> RawHits:
        if self._keeps:
            self._left -= self._size
        told = Told(
            count=self._count,
            numbers=self._rows,
            rows=Rows(self._events) if self._keeps and not binary and not self._overlong else None,
            stray=self._stray,
            returns=self._returns,
            binary=binary,
            overlong=self._overlong,
        )
        found = RawHits(name=self._name or "", told=told)
        self._begin()
        return found
