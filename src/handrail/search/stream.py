"""Searches one file of any size, piece by piece, with memory that its size and its longest row don't change.

A row longer than `LONG` is searched through a window that slides; a match longer than `OVERLAP` may be missed in it.
"""

from collections.abc import Iterator
from typing import Final

from handrail.model.errors import WrongContent
from handrail.model.view import RowHit, Snapshot, View
from handrail.search import rows
from handrail.search.pattern import Pattern
from handrail.text import codec

BLOCK: Final = 1 << 20
LONG: Final = 4 << 20
OVERLAP: Final = 1 << 20
_SHOWN: Final = 4096
_UNBOUNDED: Final = frozenset("*+{")


class Stream:
    """One pass over one file. After `rows` ended, `unsure` says that a long row may hold a match that wasn't seen."""

    def __init__(self, file: Snapshot, pattern: Pattern, view: View) -> None:
        self.unsure = False
        self._file = file
        self._pattern = pattern
        self._view = view
        self._row = 1
        self._held = b""
        self._before = 0
        self._found = False

    def rows(self) -> Iterator[RowHit]:
        """The matching rows in order; raises `WrongContent` `binary`."""
        for piece in self._pieces():
            self._view.check()
            self._held += piece
            if self._before or self._found:
                yield from self._on()
            cut = self._held.rfind(b"\n") + 1
            if cut and not (self._before or self._found):
                yield from self._whole(self._held[:cut])
                self._held = self._held[cut:]
            if len(self._held) > LONG:
                yield from self._slide(last=False)
        if self._before or self._found:
            yield from self._slide(last=True)
        elif self._held:
            yield from self._whole(self._held)

    def _pieces(self) -> Iterator[bytes]:
        head = self._file.read(0, codec.HEAD)
        form = codec.sniff(head, whole=len(head) == self._file.stat.size)
        if form is None:
            raise WrongContent("binary", "It isn't text.")
        at = len(form.bom)
        decoder = None if form.encoding == "utf-8" else codec.decoder(form)
        kept = b""
        while data := self._file.read(at, BLOCK):
            at += len(data)
            text = data if decoder is None else decoder.decode(data).encode("utf-8", "surrogateescape")
            text = (kept + text).replace(b"\r\n", b"\n")
            kept = text[-1:] if text.endswith(b"\r") else b""
            yield text[: len(text) - len(kept)]
        if kept:
            yield kept

    def _whole(self, text: bytes) -> Iterator[RowHit]:
        """Rows that are held to their ends."""
        start, row = 0, 1
        for number, spans in rows.row_by_row(text, self._pattern):
            while row < number:
                start = text.index(b"\n", start) + 1
                row += 1
            end = text.find(b"\n", start)
            data = text[start : end if end >= 0 else len(text)]
            yield RowHit(row=self._row + number - 1, data=data, spans=tuple(spans))
        self._row += text.count(b"\n")

    def _on(self) -> Iterator[RowHit]:
        """Go on in a long row, to its end if that has come."""
        end = self._held.find(b"\n")
        if end < 0:
            return
        rest = self._held[end + 1 :]
        self._held = self._held[:end]
        yield from self._slide(last=True)
        self._held = rest
        self._row += 1
        self._before, self._found = 0, False

    def _slide(self, *, last: bool) -> Iterator[RowHit]:
        """Look at what is held of a long row, then let go of all but its end."""
        if not self._found:
            # One byte before where the last look ended stays, so that `^` and `\b` see what stands there.
            found = self._pattern.rows.search(self._held, 1 if self._before else 0)
            if found is not None and (last or found.end() < len(self._held)):
                self._found = True
                yield self._hit(found.start(), found.end())
            elif last:
                self.unsure = self.unsure or not _UNBOUNDED.isdisjoint(self._pattern.text)
        keep = 0 if self._found else OVERLAP
        while 0 < keep < len(self._held) and self._held[-keep] & 0xC0 == 0x80:
            keep += 1
        gone = self._held[: len(self._held) - keep]
        self._before += len(gone.decode("utf-8", "surrogateescape"))
        self._held = self._held[len(gone) :]

    def _hit(self, start: int, end: int) -> RowHit:
        low = max(start - _SHOWN, 0)
        while low and self._held[low] & 0xC0 == 0x80:
            low -= 1
        data = self._held[low : min(end, start + _SHOWN) + _SHOWN]
        skipped = self._before + len(self._held[:low].decode("utf-8", "surrogateescape"))
        return RowHit(row=self._row, data=data, spans=((start - low, min(end - low, len(data))),), skipped=skipped)
