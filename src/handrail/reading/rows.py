"""Rows of a text file as they are shown: whole lines up to a size, long ones cut, nothing held that isn't shown.

It knows an index and bytes, no tools and no budgets of calls.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, repeat
from typing import Final

from handrail.model.answers import Row
from handrail.model.view import Snapshot
from handrail.reading.index import BLOCK, Index, start_of
from handrail.text import codec, encodings, lines

_WIDEST: Final = 8
"""Bytes that a character takes at most, shift sequences in front of it among them."""


@dataclass(slots=True)
class Room:
    """Bytes of text that may still be shown, as UTF-8 with a line end each, and those that were."""

    left: int
    used: int = 0


def rows_from(first: int, last: int, index: Index, snapshot: Snapshot, *, max_line: int, room: Room) -> list[Row]:
    """The rows from `first` to `last` (1-based, inclusive), fewer where the file ends or the room is used up."""
    out: list[Row] = []
    last = min(last, index.total)
    if last < first:
        return out
    form = _form(index)
    newline = encodings.newline(form.encoding)
    at, end = start_of(first, index, snapshot), start_of(last + 1, index, snapshot)
    while at < end and room.left > 0:
        data = snapshot.read(at, min(BLOCK, end - at))
        if not data:
            break
        row = first + len(out)
        stop = len(data) if at + len(data) >= end else _last_line_end(data, newline)
        if stop:
            out += _fitted(codec.characters(data[:stop], form), row, max_line, room, is_part=False)
            at += stop
        else:
            start = codec.decoder(form).decode(data[: (max_line + 1) * _WIDEST])
            out += _fitted(start, row, max_line, room, is_part=True)
            at = start_of(row + 1, index, snapshot)
    return out


def one_row(row: int, index: Index, snapshot: Snapshot, *, size: int) -> Row:
    """The start of a row that is larger than all the room there is, cut to `size` bytes of UTF-8."""
    text, _ = column_from(row, 1, index, snapshot, length=size)
    return Row(row=row, text=text.encode()[:size].decode(errors="ignore"), cut=True)


def _last_line_end(data: bytes, newline: bytes) -> int:
    """Where the last line end in the bytes ends, on the boundary of a unit; 0 for none."""
    stop = len(data)
    while (stop := data.rfind(newline, 0, stop)) >= 0:
        if stop % len(newline) == 0:
            return stop + len(newline)
        stop += len(newline) - 1
    return 0


def _fitted(text: str, row: int, max_line: int, room: Room, *, is_part: bool) -> list[Row]:
    """The lines of the text as rows, as many whole ones as there is room for."""
    shown = codec.printable(text)
    parts = (shown.replace("\r\n", "\n") if "\r" in shown else shown).split("\n")
    if not parts[-1]:
        parts.pop()
    lengths = list(map(len, parts))
    cuts: Iterable[bool] = repeat(False)
    if is_part or max(lengths, default=0) > max_line:
        cuts = [is_part or length > max_line for length in lengths]
        parts = [part[:max_line] for part in parts]
        lengths = list(map(len, parts))
    sizes = lengths if shown.isascii() else [len(part.encode()) for part in parts]
    size = sum(sizes) + len(sizes)
    if size > room.left:
        whole = list(accumulate(size + 1 for size in sizes))
        fitting = bisect_right(whole, room.left)
        parts, size = parts[:fitting], whole[fitting - 1] if fitting else 0
        room.left = size
    room.left -= size
    room.used += size
    return list(map(Row._make, zip(range(row, row + len(parts)), parts, cuts, strict=False)))


def column_from(row: int, column: int, index: Index, snapshot: Snapshot, *, length: int) -> tuple[str, int | None]:
    """What a row says from a 1-based column on, `length` characters at most, and the column where it goes on."""
    form = _form(index)
    at, end = start_of(row, index, snapshot), start_of(row + 1, index, snapshot)
    decoder = codec.decoder(form)
    passed, kept = 0, ""
    while at < end and len(kept) <= length + 2:
        data = snapshot.read(at, min(BLOCK, end - at))
        if not data:
            break
        at += len(data)
        text = decoder.decode(data, at >= end and form.encoding not in encodings.WIDE)
        skip = max(0, column - 1 - passed)
        kept += text[skip : skip + length + 3]
        passed += len(text)
    kept = lines.chomp(kept) if at >= end else kept
    goes_on = len(kept) > length
    return codec.printable(kept[:length]), column + length if goes_on else None


def _form(index: Index) -> codec.Form:
    assert index.form is not None  # noqa: S101 -- only text has rows
    return index.form
