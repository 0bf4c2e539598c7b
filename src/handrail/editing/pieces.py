"""What really changes inside a matched place: the lines that differ, and of these the characters that differ.

Pure. All else keeps the file's own bytes, so mixed line ends and odd spellings in an anchor's context survive.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import eq

from handrail.editing.anchors import Manner, flat
from handrail.text import diff, lines, quotes

Piece = tuple[int, int, str]
"""A span of the text (characters, end exclusive) and what takes its place."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How the new text's line ends are written.

    `file`: the file's dominant end, for lines that are added. `kept`: a `\\r\\n` that was sent is meant (the anchor was
    found exactly). `literal`: the caller sees line ends (the anchor had both kinds, or nothing else is to change), so
    those sent are what is meant.
    """

    file: str
    kept: bool
    literal: bool

    def added(self, sent: str) -> str:
        """The end of a line that wasn't there before, by what was sent for it."""
        if not sent or self.literal:
            return sent
        return sent if sent == "\r\n" and self.kept else self.file

    def paired(self, sent: str, *, before: str, own: str) -> str:
        """The end of a line that takes another's place: sent as `before`, it keeps the file's `own` end."""
        if not sent or self.literal:
            return sent
        if not before:
            return self.added(sent)
        return sent if sent == "\r\n" and before == "\n" and self.kept else own


def pieces(found: str, *, old: str, new: str, manner: Manner, file_end: str) -> tuple[Piece, ...]:
    """The pieces, relative to the place, that turn `found` (where `old` was located) into `new`; none = no change."""
    exact = manner == "exact"
    literal = exact and (lines.has_mixed_ends(old) or flat(old) == flat(new))
    ending = Ending(file=file_end, kept=exact, literal=literal)
    written = quotes.like(flat(new), old=flat(old), found=flat(found)) if manner == "quotes" else new
    place = _Place(found, old, new, written, ending)
    return tuple(joined(place.changes()))


class _Place:
    """One place, as lines: what the file has, what was sent for it, what is to stand there."""

    def __init__(self, found: str, old: str, new: str, written: str, ending: Ending) -> None:
        self._found = lines.split(found)
        self._old = lines.split(old)
        self._new = lines.split(new)
        self._written = lines.split(written)
        self._ending = ending
        self._starts = [0]
        for line in self._found:
            self._starts.append(self._starts[-1] + len(line))

    def changes(self) -> Iterator[Piece]:
        """The pieces in order; they may touch."""
        for tag, a, b, c, d in _laid([flat(x) for x in self._old], [flat(x) for x in self._new]):
            if tag == "equal" and not self._ending.literal and not self._ending.kept:
                continue
            pairs = min(b - a, d - c)
            for step in range(pairs):
                yield from self._exchange(a + step, c + step)
            if a + pairs < b:
                yield self._starts[a + pairs], self._starts[b], ""
            if c + pairs < d:
                yield self._starts[b], self._starts[b], "".join(self._line(j) for j in range(c + pairs, d))

    def _line(self, j: int) -> str:
        sent = self._new[j][len(lines.chomp(self._new[j])) :]
        return lines.chomp(self._written[j]) + self._ending.added(sent)

    def _exchange(self, i: int, j: int) -> Iterator[Piece]:
        old, new, written = (lines.chomp(x) for x in (self._old[i], self._new[j], self._written[j]))
        body = lines.chomp(self._found[i])
        start, own = self._starts[i], self._found[i][len(body) :]
        end = self._ending.paired(self._new[j][len(new) :], before=self._old[i][len(old) :], own=own)
        if old != new:
            yield _differing(start, old, new, written)
        if end != own:
            yield start + len(body), start + len(self._found[i]), end


def _laid(old: Sequence[str], new: Sequence[str]) -> list[diff.Opcode]:
    """Which line became which: in its place where as many are equal so, else as a diff has it."""
    opcodes = diff.opcodes(old, new)
    equal = sum(b - a for tag, a, b, _, _ in opcodes if tag == "equal")
    if len(old) == len(new) and sum(map(eq, old, new)) >= equal:
        return [("replace", 0, len(old), 0, len(new))]
    return opcodes


def _differing(start: int, old: str, new: str, written: str) -> Piece:
    """Without what old and new begin and end with in common; the file's own characters stand there."""
    if len(written) != len(new):
        return start, start + len(old), written
    shorter = min(len(old), len(new))
    head = _common(old, new, shorter)
    tail = _common(old[::-1], new[::-1], shorter - head)
    return start + head, start + len(old) - tail, written[head : len(written) - tail]


def _common(one: str, other: str, most: int) -> int:
    if one[:most] == other[:most]:
        return most
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def joined(changes: Iterable[Piece]) -> list[Piece]:
    """Ordered pieces with those that touch made one."""
    groups: list[tuple[int, int, list[str]]] = []
    for start, end, text in changes:
        if groups and groups[-1][1] == start:
            groups[-1][2].append(text)
            groups[-1] = (groups[-1][0], end, groups[-1][2])
        else:
            groups.append((start, end, [text]))
    return [(start, end, "".join(texts)) for start, end, texts in groups]
