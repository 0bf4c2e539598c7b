"""Rows of a text file as they are shown: whole lines up to a size, long ones cut, nothing held that isn't shown.

It knows an index and bytes, no tools and no budgets of calls.
"""

from collections.abc import Iterable, Iterator
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
    """Bytes of text that may still be shown, as UTF-8 with a line end each."""

    left: int


def rows_from(first: int, last: int, index: Index, snapshot: Snapshot, *, max_line: int, room: Room) -> list[Row]:
    """The rows from `first` to `last` (1-based, inclusive), fewer where the file ends or the room is used up."""
    out: list[Row] = []
    last = min(last, index.total)
    if last < first:
        return out
    for text, is_part in _stretches(first, last, index, snapshot, max_line=max_line):
        out += _fitted(text, first + len(out), max_line, room, is_part=is_part)
        if room.left <= 0:
            break
    return out


def one_row(row: int, index: Index, snapshot: Snapshot, *, size: int) -> Row:
    """The start of a row that is larger than all the room there is, cut to `size` bytes of UTF-8."""
    text, _ = column_from(row, 1, index, snapshot, length=size)
    return Row(row=row, text=text.encode()[:size].decode(errors="ignore"), cut=True)


def _stretches(first: int, last: int, index: Index, snapshot: Snapshot, *, max_line: int) -> Iterator[tuple[str, bool]]:
    """The text of the rows in stretches of whole lines; of a line longer than a block only its start, and true."""
    form = _form(index)
    newline = encodings.newline(form.encoding)
    row, at, end = first, start_of(first, index, snapshot), start_of(last + 1, index, snapshot)
    while at < end:
        data = snapshot.read(at, min(BLOCK, end - at))
        if not data:
            return
        stop = len(data) if at + len(data) >= end else _last_line_end(data, newline)
        if stop:
            text = codec.characters(data[:stop], form)
            yield text, False
            at, row = at + stop, row + text.count("\n")
        else:
            yield codec.decoder(form).decode(data[: (max_line + 1) * _WIDEST]), True
            row += 1
            at = start_of(row, index, snapshot)


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
    cuts: Iterable[bool] = repeat(False)
    if is_part or max(map(len, parts), default=0) > max_line:
        cuts = [is_part or len(part) > max_line for part in parts]
        parts = [part[:max_line] for part in parts]
    length = len if shown.isascii() else _bytes
    sizes = list(accumulate(map(length, parts)))
    fitting = len(parts)
    if sizes and sizes[-1] + len(parts) > room.left:
        fitting = next(n for n, size in enumerate(sizes) if size + n + 1 > room.left)
    room.left = room.left - sizes[-1] - len(parts) if fitting == len(parts) and parts else 0
    return list(map(Row._make, zip(range(row, row + fitting), parts, cuts, strict=False)))


def _bytes(text: str) -> int:
    return len(text.encode())


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
