"""Where an anchor stands in a text: exactly, else with the file's line ends, else with its quote style.

Pure: it knows no file, no encoding, no tool. Tabs and blanks are never guessed.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from handrail.text import quotes

Manner = Literal["exact", "ends", "quotes"]
Span = tuple[int, int]
MOST = 300_000
"""Places that are looked at one by one for an anchor that is replaced everywhere; what has more is refused."""
MANY = 1000
"""Places counted one by one for an anchor that must be unique; beyond it the count is said as "at least"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """The places of an anchor, in order and disjoint when `everywhere` was asked.

    `manner` says what had to be overlooked to find them; `alike`: places left alone that differ in line ends only.
    """

    spans: tuple[Span, ...]
    manner: Manner
    alike: tuple[Span, ...] = ()


class Haystack:
    """A text made ready for finding: seen with `\\n` as the only line end, every place mapped back to the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.flat = flat(text)
        self._pairs: Sequence[int] | None = None
        self._folded: str | None = None

    def locate(self, old: str, *, everywhere: bool = False) -> Located:
        """All places of `old` (overlapping ones too, up to `MANY`, unless `everywhere`); no place is an empty tuple."""
        wanted = flat(old)
        spans = self._spans(self.flat, wanted, everywhere)
        if spans:
            return self._preferred(spans, old, everywhere)
        folded = quotes.fold(wanted)
        if self._folded is None:
            self._folded = quotes.fold(self.flat)
        if folded == wanted and self._folded == self.flat:
            return Located(spans=(), manner="exact")
        return Located(spans=self._spans(self._folded, folded, everywhere), manner="quotes")

    def contains(self, passage: str) -> Span | None:
        """The first place of `passage`, whatever its line ends."""
        at = self.flat.find(flat(passage))
        return None if at < 0 else self._back(at, at + len(flat(passage)))

    def _preferred(self, spans: tuple[Span, ...], old: str, everywhere: bool) -> Located:
        exact = tuple(s for s in spans if self.text[s[0] : s[1]] == old)
        # Who asks for all and can't see line ends means the places that look the same, too.
        if len(exact) == len(spans):
            return Located(spans=spans, manner="exact")
        if exact and not (everywhere and "\r\n" not in old):
            chosen = set(exact)
            return Located(spans=exact, manner="exact", alike=tuple(s for s in spans if s not in chosen))
        return Located(spans=spans, manner="ends")

    def _spans(self, hay: str, needle: str, everywhere: bool) -> tuple[Span, ...]:
        step = len(needle) if everywhere else 1
        found: list[Span] = []
        for at in _places(hay, needle, step):
            found.append(self._back(at, at + len(needle)))
            if len(found) > (MOST if everywhere else MANY - 1):
                break
        return tuple(found)

    def _back(self, start: int, end: int) -> Span:
        if len(self.flat) == len(self.text):
            return start, end
        if self._pairs is None:
            self._pairs = _pair_offsets(self.text)
        return start + bisect_left(self._pairs, start), end + bisect_left(self._pairs, end)


class Rows:
    """Rows (1-based) of offsets in one text, by the one rule that only `\\n` (so `\\r\\n` too) ends a line.

    It counts from the offset asked for last, so that many in order cost one pass.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._offset, self._row = 0, 1

    def at(self, offset: int) -> int:
        """The row that the character at `offset` is in; an end belongs to its line."""
        if offset >= self._offset:
            self._row += self._text.count("\n", self._offset, offset)
        else:
            self._row -= self._text.count("\n", offset, self._offset)
        self._offset = offset
        return self._row

    def of(self, spans: Sequence[Span], *, most: int = 10) -> tuple[int, ...]:
        """The rows where the spans start, in order, each once, `most` at most."""
        rows = dict.fromkeys(self.at(start) for start, _ in spans[: most * 20])
        return tuple(rows)[:most]


def flat(text: str) -> str:
    """The text with `\\n` for every line end; a lone `\\r` is a character like any other."""
    return text.replace("\r\n", "\n")


def _pair_offsets(text: str) -> Sequence[int]:
    """Where, in the flat text, the `\\n` of each `\\r\\n` of the text stands."""
    return array("L", (at - number for number, at in enumerate(_places(text, "\r\n", 2))))


def _places(hay: str, needle: str, step: int) -> Iterator[int]:
    at = hay.find(needle)
    while at >= 0:
        yield at
        at = hay.find(needle, at + step)
