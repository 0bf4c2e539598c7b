"""Reads ripgrep's stream of JSON events into rows; bounded whatever one line of a file holds."""

from collections.abc import Iterator
from typing import Final

import msgspec

from handrail.fs.protocol import RawHits
from handrail.model.view import RowHit

LONGEST: Final = 64 << 20
"""An event over this size, in bytes, is left out; its row would never be shown."""
FIRST_ROWS: Final = 5


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


class _Begin(msgspec.Struct, tag_field="type", tag="begin", gc=False):
    data: _BeginData


class _Match(msgspec.Struct, tag_field="type", tag="match", gc=False):
    data: _RowData


class _Context(msgspec.Struct, tag_field="type", tag="context", gc=False):
    data: _RowData


class _End(msgspec.Struct, tag_field="type", tag="end", gc=False):
    data: _EndData


class _Summary(msgspec.Struct, tag_field="type", tag="summary", gc=False):
    pass


_Event = _Begin | _Match | _Context | _End | _Summary
_decode = msgspec.json.Decoder(_Event).decode


class Splitter:
    """Cuts chunks into pieces that end with one byte; pieces over `LONGEST` are dropped and counted."""

    def __init__(self, end: bytes) -> None:
        self.overlong = 0
        self._end = end
        self._kept: list[bytes] = []
        self._size = 0
        self._dropping = False

    def take(self, chunk: bytes) -> Iterator[bytes]:
        """The pieces that this chunk completes, without their end."""
        *whole, rest = chunk.split(self._end)
        for piece in whole:
            if self._dropping:
                self._dropping = False
            elif self._kept:
                self._kept.append(piece)
                yield b"".join(self._kept)
            else:
                yield piece
            self._kept.clear()
            self._size = 0
        if rest and not self._dropping:
            self._kept.append(rest)
            self._size += len(rest)
            if self._size > LONGEST:
                self._kept.clear()
                self._dropping = True
                self.overlong += 1


class Reader:
    """Gathers events into one `RawHits` a file. `few`: only the first rows, the rest counted; `bare`: no rows."""

    def __init__(self, *, few: bool, bare: bool) -> None:
        self._few = few
        self._bare = bare
        self._name: str | None = None
        self._hits: list[RowHit] = []
        self._count = 0
        self._strange = False

    def take(self, line: bytes) -> RawHits | None:
        """Read one event; the file's rows when it was the file's last."""
        event = _decode(line)
        if isinstance(event, _Match):
            self._count += 1
            if not self._bare:
                self._row(event.data, context=False)
        elif isinstance(event, _Context):
            if not self._bare:
                self._row(event.data, context=True)
        elif isinstance(event, _Begin):
            self._name = event.data.path.name()
        elif isinstance(event, _End):
            return self._done(event.data.binary_offset)
        return None

    def rest(self) -> RawHits | None:
        """The rows so far of a file whose end never came."""
        return self._done(None) if self._name is not None and self._hits else None

    def _row(self, row: _RowData, *, context: bool) -> None:
        if self._few and len(self._hits) >= FIRST_ROWS:
            text = row.lines.text
            if self._strange or (text is not None and "\r" not in text):
                return
            self._strange = True
        spans = tuple((span.start, span.end) for span in row.submatches)
        self._hits.append(RowHit(row=row.line_number, data=row.lines.data(), spans=spans, context=context))

    def _done(self, binary_at: int | None) -> RawHits:
        # In a file with a NUL, ripgrep's rows aren't the file's.
        hits = tuple(self._hits) if binary_at is None else ()
        found = RawHits(name=self._name or "", hits=hits, binary_at=binary_at, count=self._count)
        self._name, self._hits, self._count, self._strange = None, [], 0, False
        return found
