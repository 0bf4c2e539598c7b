"""Matching rows of one file: found by RE2 in the text as it is read, or taken over from ripgrep; cut for showing."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from handrail.model.paths import RealPath
from handrail.model.view import RowHit
from handrail.search.pattern import Pattern
from handrail.text import codec

FIRST: Final = 5
"""Rows that a file's summary names."""
LONGEST: Final = 512
"""Bytes of a row's text that are shown."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRow:
    """A row as it is shown: `text` is all of it, or the part around its first match that starts at `column`."""

    row: int
    text: str
    match: str | None
    context: bool
    column: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRows:
    """A file's matching rows, counted; `rows`, with those around them, are `None` when they weren't kept."""

    path: RealPath
    count: int
    first: tuple[int, ...]
    rows: tuple[ShownRow, ...] | None = None


def normal(data: bytes, *, encoding: str | None = None) -> bytes:
    """A file's text as RE2 sees it: UTF-8, rows ended by LF, stray bytes as they are.

    Raises `WrongContent` (`binary`, `undecodable`).
    """
    text = codec.decode(data, encoding=encoding).text
    return text.encode("utf-8", "surrogateescape").replace(b"\r\n", b"\n")


def search(text: bytes, pattern: Pattern, *, before: int, after: int) -> list[RowHit]:
    """The matching rows of a normal text and those around them, in order, without line ends."""
    matches = dict(_spanned(text, pattern) if pattern.multiline else _row_by_row(text, pattern))
    if not matches:
        return []
    lines = text.split(b"\n")
    last = len(lines) - (lines[-1] == b"")
    wanted = sorted(
        {
            near
            for row in matches
            for near in (range(max(row - before, 1), min(row + after, last) + 1) if before or after else (row,))
        }
    )
    return [
        RowHit(row=row, data=lines[row - 1], spans=tuple(matches.get(row, ())), context=row not in matches)
        for row in wanted
    ]


def verified(hits: Sequence[RowHit], pattern: Pattern) -> list[RowHit] | None:
    """Rows from ripgrep, judged again where they hold a CR; `None` when one falls away and others stand around it."""
    done: list[RowHit] = []
    around = any(hit.context for hit in hits)
    for hit in hits:
        if hit.context or b"\r" not in hit.data:
            done.append(hit)
            continue
        row = chomped(hit.data)
        spans = tuple(match.span() for match in pattern.rows.finditer(row))
        if spans:
            done.append(RowHit(row=hit.row, data=row, spans=spans))
        elif around:
            return None
    return done


def kept(path: RealPath, hits: Sequence[RowHit], *, count: int | None = None, texts: bool) -> FileRows:
    """The file's entry: its count (of `hits` unless told), its first rows, and what is shown of each if wanted."""
    matching = [hit.row for hit in hits if not hit.context]
    return FileRows(
        path=path,
        count=len(matching) if count is None else count,
        first=tuple(matching[:FIRST]),
        rows=tuple(shown(hit) for hit in hits) if texts else None,
    )


def merged(one: FileRows, other: FileRows) -> FileRows:
    """Two patterns' rows of one file as one; a row that matches either is no context."""
    if one.rows is None or other.rows is None:
        raise AssertionError("rows are merged only where they are kept")
    rows = {row.row: row for row in (*one.rows, *other.rows) if row.context}
    rows |= {row.row: row for row in (*other.rows, *one.rows) if not row.context}
    ordered = tuple(rows[number] for number in sorted(rows))
    matching = [row.row for row in ordered if not row.context]
    return FileRows(path=one.path, count=len(matching), first=tuple(matching[:FIRST]), rows=ordered)


def chomped(row: bytes) -> bytes:
    """The row without its line end."""
    return row.removesuffix(b"\n").removesuffix(b"\r") if row.endswith((b"\n", b"\r\n")) else row


def shown(hit: RowHit) -> ShownRow:
    """Decode a row, cut to `LONGEST` bytes around its first match at character boundaries."""
    row = chomped(hit.data)
    start, end = hit.spans[0] if hit.spans else (0, 0)
    end = min(end, len(row))
    match = _text(row[start : min(end, _boundary(row, start + LONGEST))]) if hit.spans else None
    if len(row) <= LONGEST:
        return ShownRow(row=hit.row, text=_text(row), match=match, context=hit.context, column=None)
    spare = max(LONGEST - (end - start), 0)
    low = _boundary(row, min(max(start - spare // 2, 0), len(row) - LONGEST), up=True)
    high = _boundary(row, low + LONGEST)
    column = len(row[:low].decode("utf-8", "surrogateescape")) + 1
    return ShownRow(row=hit.row, text=_text(row[low:high]), match=match, context=hit.context, column=column)


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


def _row_by_row(text: bytes, pattern: Pattern) -> Iterator[tuple[int, list[Span]]]:
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
        spans = [match.span() for match in pattern.rows.finditer(text[at:end])]
        if spans:
            yield row, spans
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
