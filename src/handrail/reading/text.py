"""What a text file says: a page of rows, windows around rows, or one long line read on inside it.

It knows rows and the call's room for text; where the bytes lie is known by `rows.py` and `index.py`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from handrail.model.answers import ReadText, Row
from handrail.model.errors import InvalidCall
from handrail.model.operations import Read
from handrail.model.view import Snapshot, View
from handrail.reading.index import Index
from handrail.reading.rows import Room, column_from, one_row, rows_from

PIECE: Final = 8
"""How many times the length of a cut line one call with `column` reads on."""
GAP: Final = Row(row=None, text="...")


class Page:
    """One read of one text file."""

    def __init__(self, operation: Read, index: Index, snapshot: Snapshot, view: View) -> None:
        self._operation = operation
        self._index = index
        self._snapshot = snapshot
        self._view = view
        self._notes: list[str] = _notes(operation, index)

    def answer(self) -> ReadText:
        """What the operation asks for."""
        if self._operation.around is not None:
            return self._around(self._operation.around)
        if self._operation.column is not None:
            return self._inside(self._operation.column)
        return self._page()

    def _page(self) -> ReadText:
        operation, total = self._operation, self._index.total
        first = self._first()
        limit = operation.max_rows if operation.limit is None else operation.limit
        if first > total or total == 0:
            return self._nothing(first)
        room = Room(operation.max_text)
        rows = rows_from(first, first + limit - 1, self._index, self._snapshot, max_line=operation.max_line, room=room)
        if not rows and limit > 0:
            rows = [one_row(first, self._index, self._snapshot, size=max(1, operation.max_text - 1))]
            room.used = len(rows[0].text.encode()) + 1
        fitting = self._affordable(rows, room.used)
        if len(fitting) < len(rows) and not fitting:
            self._notes.append(f"The text of this call is used up; ask for this file again with offset={first}.")
        last = first + len(fitting) - 1
        more = last < total or not self._index.exact
        return self._made(fitting, first if fitting else 0, last if fitting else 0, last + 1 if more else None)

    def _first(self) -> int:
        offset, total = self._operation.offset, self._index.total
        return max(1, offset) if offset >= 0 else max(1, total + offset + 1)

    def _nothing(self, first: int) -> ReadText:
        total = self._index.total
        if not self._index.exact:
            self._notes.append(f"Row {first} wasn't reached in time; the first {total} rows were.")
        elif total:
            plural = "line" if total == 1 else "lines"
            self._notes.append(f"The file has {total} {plural}; row {first} is past its end.")
        return self._made([], 0, 0, None)

    def _around(self, asked: Sequence[int]) -> ReadText:
        operation, total = self._operation, self._index.total
        if any(row < 1 for row in asked) or operation.context < 0:
            raise InvalidCall(
                "invalid_arguments", "around takes rows from 1 up, context a number from 0 up.", hint="Rows start at 1."
            )
        wanted = sorted(set(asked))
        windows = _windows([row for row in wanted if row <= total], operation.context, total)
        room, left = Room(operation.max_text), operation.max_rows
        out: list[Row] = []
        shown: list[tuple[int, int]] = []
        for first, last in windows:
            used = room.used
            rows = rows_from(
                first,
                min(last, first + left - 1),
                self._index,
                self._snapshot,
                max_line=operation.max_line,
                room=room,
            )
            rows = self._affordable(rows, room.used - used)
            if rows:
                out += [GAP, *rows] if out else rows
                shown.append((first, first + len(rows) - 1))
            left -= len(rows)
            if len(rows) < last - first + 1:
                break
        self._say_left_out(wanted, shown)
        made = self._made(out, shown[0][0] if shown else 0, shown[-1][1] if shown else 0, None)
        missing = tuple(row for row in wanted if row > total)
        return replace(made, missing_rows=missing, windows=tuple(shown))

    def _say_left_out(self, wanted: Sequence[int], shown: Sequence[tuple[int, int]]) -> None:
        total = self._index.total
        missed = [r for r in wanted if r <= total and not any(first <= r <= last for first, last in shown)]
        if missed:
            rows = ", ".join(map(str, missed[:50]))
            self._notes.append(f"Not everything fitted; ask again with around=[{rows}].")
        past = [r for r in wanted if r > total]
        if past:
            rows = ", ".join(map(str, past[:50]))
            self._notes.append(f"Past the end, which is row {total}: {rows}.")

    def _inside(self, column: int) -> ReadText:
        operation, total = self._operation, self._index.total
        if column < 1:
            raise InvalidCall("invalid_arguments", "column starts at 1.", hint="Leave column out to read whole lines.")
        row = self._first()
        if row > total:
            return self._nothing(row)
        length = max(1, min(operation.max_line * PIECE, operation.max_text // 4))
        text, goes_on = column_from(row, column, self._index, self._snapshot, length=length)
        rows = self._affordable([Row(row=row, text=text, cut=goes_on is not None)], len(text) + 1)
        if not rows:
            self._notes.append(f"The text of this call is used up; ask again with offset={row}, column={column}.")
        elif goes_on is not None:
            self._notes.append(f"Row {row} goes on; call again with offset={row}, column={goes_on}.")
        elif not text:
            self._notes.append(f"Row {row} ends before column {column}.")
        after = row if goes_on is not None or not rows else row + 1
        made = self._made(rows, row, row, after if after <= total else None)
        return replace(made, column=column, next_column=goes_on if rows else column)

    def _affordable(self, rows: list[Row], size: int) -> list[Row]:
        """The rows, of that size together, or as many from the first as the call still has room for; takes it."""
        if self._view.take_text(size):
            return rows
        out, step = 0, len(rows) // 2
        while step and out < len(rows):
            piece = rows[out : out + step]
            if self._view.take_text(sum(len(row.text.encode()) + 1 for row in piece)):
                out += len(piece)
            else:
                step //= 2
        return rows[:out]

    def _made(self, rows: Sequence[Row], first: int, last: int, next_offset: int | None) -> ReadText:
        index = self._index
        assert index.form is not None  # noqa: S101 -- only text has rows
        return ReadText(
            path=self._snapshot.path,
            rows=tuple(rows),
            total=index.total,
            first=first,
            last=last,
            next_offset=next_offset,
            hash=index.hash,
            size=index.size,
            encoding=index.form.encoding,
            encoding_confidence=index.form.confidence,
            bom=bool(index.form.bom),
            line_end=index.line_end,
            final_newline=index.final,
            exact=index.exact,
            notes=tuple(self._notes),
        )


def _windows(rows: Sequence[int], context: int, total: int) -> list[tuple[int, int]]:
    """Windows around rising rows, merged where they overlap or touch."""
    windows: list[tuple[int, int]] = []
    for row in rows:
        first, last = max(1, row - context), min(total, row + context)
        if windows and first <= windows[-1][1] + 1:
            windows[-1] = windows[-1][0], last
        else:
            windows.append((first, last))
    return windows


def _notes(operation: Read, index: Index) -> list[str]:
    form = index.form
    notes: list[str] = []
    if form is None:
        return notes
    if index.total == 0:
        notes.append("The file is empty.")
    if form.stray_nuls:
        notes.append(f"{form.stray_nuls} NUL bytes stand in this text.")
    if form.stray_bytes:
        notes.append(
            f"{form.stray_bytes} bytes aren't {form.encoding}; each shows as \ufffd here and stays as it is in an edit."
        )
    if not index.exact:
        notes.append(
            f"Time ran out before the end: there are at least {index.total} lines, and edits need a full read."
        )
    if operation.pages is not None or operation.sheet is not None:
        notes.append("This is a text file: pages and sheet mean nothing here.")
    return notes
