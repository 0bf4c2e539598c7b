"""Matching rows of one text, found by RE2; and rows cut for showing. It knows neither files nor who found a row."""

import codecs
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from handrail.model.view import RowHit
from handrail.search.pattern import Pattern
from handrail.text import codec, detect

LONGEST: Final = 512
"""Bytes of a row's text that are shown."""

FIRST: Final = 5
"""Rows that a file's summary names."""

Span = tuple[int, int]
ALL: Final = slice(0, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRow:
    """A row as it is shown: `text` is all of it, or the part around its first match that starts at `column`."""

    row: int
    text: str
    match: str | None
    context: bool
    column: int | None


def plain(data: bytes) -> bytes | None:
    """The text as RE2 sees it, rows ended by LF, of what is UTF-8 beyond doubt; else `None`."""
    if not detect.is_plain(data):
        return None
    text = data.removeprefix(codecs.BOM_UTF8)
    return text.replace(b"\r\n", b"\n") if b"\r" in text else text


def normal(text: str) -> bytes:
    """The same of a decoded text; stray bytes stay as they are."""
    return text.encode("utf-8", "surrogateescape").replace(b"\r\n", b"\n")


def holds(text: bytes, pattern: Pattern) -> bool:
    """Whether a row may match; a cheap look that spares most texts the dear one."""
    return pattern.scan is None or pattern.scan.search(text) is not None


def numbers(text: bytes, pattern: Pattern) -> "array[int]":
    """The numbers of all matching rows of a normal text."""
    return array("Q", (row for row, _ in _matches(text, pattern)))


def search(text: bytes, pattern: Pattern, *, before: int = 0, after: int = 0, wanted: slice = ALL) -> list[RowHit]:
    """The matching rows of a normal text that `wanted` counts, and those around them, in order, without line ends."""
    matches = dict(islice(_matches(text, pattern), wanted.start, wanted.stop))
    if not matches:
        return []
    lines = text.split(b"\n")
    last = len(lines) - (lines[-1] == b"")
    near = (
        {n for row in matches for n in range(max(row - before, 1), min(row + after, last) + 1)}
        if before or after
        else matches
    )
    return [
        RowHit(row=row, data=lines[row - 1], spans=tuple(matches.get(row, ())), context=row not in matches)
        for row in sorted(near)
    ]


def chomped(row: bytes) -> bytes:
    """The row without its line end."""
    return row.removesuffix(b"\n").removesuffix(b"\r") if row.endswith((b"\n", b"\r\n")) else row


class Numbers:
    """Counts rows that come one by one; keeps all their numbers, or those of the first."""

    def __init__(self, *, every: bool) -> None:
        self.count = 0
        self.rows = array("Q")
        self._every = every

    def add(self, row: int) -> None:
        """One more matching row."""
        self.count += 1
        if self._every or self.count <= FIRST:
            self.rows.append(row)


def shown(hit: RowHit) -> ShownRow:
    """Decode a row, cut to `LONGEST` bytes around its first match at character boundaries."""
    row = chomped(hit.data)
    start, end = hit.spans[0] if hit.spans else (0, 0)
    end = min(end, len(row))
    match = _text(row[start : min(end, _boundary(row, start + LONGEST))]) if hit.spans else None
    if len(row) <= LONGEST and not hit.skipped:
        return ShownRow(row=hit.row, text=_text(row), match=match, context=hit.context, column=None)
    spare = max(LONGEST - (end - start), 0)
    low = _boundary(row, min(max(start - spare // 2, 0), len(row) - LONGEST), up=True)
    high = _boundary(row, low + LONGEST)
    column = hit.skipped + len(row[:low].decode("utf-8", "surrogateescape")) + 1
    return ShownRow(row=hit.row, text=_text(row[low:high]), match=match, context=hit.context, column=column)


def _matches(text: bytes, pattern: Pattern) -> Iterator[tuple[int, list[Span]]]:
    return _spanned(text, pattern) if pattern.multiline else row_by_row(text, pattern)


def _text(data: bytes) -> str:
    return codec.printable(data.decode("utf-8", "surrogateescape"))


def _boundary(row: bytes, at: int, *, up: bool = False) -> int:
    """The nearest place that isn't inside a character; a row of stray bytes is cut where it is."""
    at = min(max(at, 0), len(row))
    for step in range(4):
        place = at + step if up else at - step
        if not 0 < place < len(row) or row[place] & 0xC0 != 0x80:
            return min(max(place, 0), len(row))
    return at


def row_by_row(text: bytes, pattern: Pattern) -> Iterator[tuple[int, list[Span]]]:
    """The numbers of the matching rows of a normal text, each with the span of its first match."""
    at = 0
    row = 1
    while at < len(text):
        if pattern.scan is not None:
            found = pattern.scan.search(text, at)
            if found is None:
                return
            start = text.rfind(b"\n", at, found.start()) + 1 or at
            row += text.count(b"\n", at, start)
            at = start
            if at >= len(text):
                return
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        match = pattern.rows.search(text[at:end])
        if match is not None:
            yield row, [match.span()]
        at = end + 1
        row += 1


def _spanned(text: bytes, pattern: Pattern) -> Iterator[tuple[int, list[Span]]]:
    starts = [0]
    place = text.find(b"\n")
    while place >= 0:
        starts.append(place + 1)
        place = text.find(b"\n", place + 1)
    if starts[-1] == len(text):
        starts.pop()
    rows: dict[int, list[Span]] = {}
    for match in pattern.rows.finditer(text):
        start, end = match.span()
        if start == len(text) and (not text or text.endswith(b"\n")):
            continue
        low, high = bisect_right(starts, start), bisect_right(starts, max(start, end - 1))
        for row in range(low, high + 1):
            base = starts[row - 1]
            rows.setdefault(row, []).append((max(start - base, 0), max(end - base, 0)))
    yield from rows.items()
