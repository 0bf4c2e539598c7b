"""Three texts become one, line by line: what only one side changed is taken, what both changed is a conflict.

It knows texts, no files. What merges, merges as `git merge-file` has it, byte for byte; what conflicts there does here.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from handrail.history.alignment import Change, TooMuch, changes
from handrail.text import lines

Span = tuple[int, int]
Taken = Literal["ours", "theirs", "neither"]
_READABLE: Final = re.compile("[0-9A-Za-z]")
_NEAR: Final = 3
"""Lines that may lie between two conflicts that are shown as one."""


@dataclass(frozen=True, slots=True)
class Labels:
    """How the two sides are called behind the markers of a conflict."""

    ours: str = "ours"
    theirs: str = "theirs"


@dataclass(frozen=True, slots=True)
class Merged:
    """The text, with markers around each of its `conflicts`."""

    text: str
    conflicts: int


@dataclass(slots=True)
class _Part:
    """A stretch of the base and what it is on each side (half open); taken from one side, or a conflict."""

    taken: Taken
    base: Span
    ours: Span
    theirs: Span


def merge(base: str, ours: str, theirs: str, *, labels: Labels | None = None) -> Merged:
    """Merge two texts that both come from `base`.

    Changes that touch are one conflict, unless both sides say the same there; so git has it too. Line ends belong to
    their lines: a final line without one is another line than the same with one. Texts too different to be aligned in
    bounded effort are a conflict as a whole.
    """
    if ours == base:
        return Merged(theirs, 0)
    if theirs in (base, ours):
        return Merged(ours, 0)
    sides = [lines.split(text) for text in (base, ours, theirs)]
    try:
        parts = _joined(_parts(*_numbered(*sides)), sides[1])
    except TooMuch:
        whole = [(0, len(side)) for side in sides]
        parts = [_Part("neither", *whole)]
    return _written(parts, sides[1], sides[2], labels or Labels())


def _numbered(*texts: Sequence[str]) -> tuple[list[int], ...]:
    numbers: dict[str, int] = {}
    return tuple([numbers.setdefault(line, len(numbers)) for line in text] for text in texts)


def _parts(base: Sequence[int], ours: Sequence[int], theirs: Sequence[int]) -> list[_Part]:
    """All that changed, in order; of conflicts only the lines in which the two sides differ."""
    found: list[_Part] = []
    for part in _met(changes(base, ours), changes(base, theirs), ours, theirs):
        if part.taken == "neither" and _size(part.ours) and _size(part.theirs):
            found += _refined(part, ours, theirs)
        else:
            found.append(part)
    return found


def _met(left: Sequence[Change], right: Sequence[Change], ours: Sequence[int], theirs: Sequence[int]) -> list[_Part]:
    """The changes of both sides in one order, those that touch made one part."""
    parts: list[_Part] = []
    i = j = 0
    while i < len(left) or j < len(right):
        mine = left[i] if i < len(left) else None
        other = right[j] if j < len(right) else None
        if other is None or (mine is not None and mine.end < other.start):
            assert mine is not None  # noqa: S101 -- one of the two is left
            moved = (right[j - 1].last - right[j - 1].end) if j else 0
            span = (mine.start, mine.end)
            _add(parts, _Part("ours", span, (mine.first, mine.last), _shifted(span, moved)))
            i += 1
        elif mine is None or other.end < mine.start:
            moved = (left[i - 1].last - left[i - 1].end) if i else 0
            span = (other.start, other.end)
            _add(parts, _Part("theirs", span, _shifted(span, moved), (other.first, other.last)))
            j += 1
        else:
            if not _alike(mine, other, ours, theirs):
                _add(parts, _joint(mine, other))
            i, j = i + (mine.end <= other.end), j + (other.end <= mine.end)
    return parts


def _alike(mine: Change, other: Change, ours: Sequence[int], theirs: Sequence[int]) -> bool:
    same_place = (mine.start, mine.end) == (other.start, other.end)
    return same_place and ours[mine.first : mine.last] == theirs[other.first : other.last]


def _joint(mine: Change, other: Change) -> _Part:
    """A conflict over all that either of two changes covers."""
    start, end = min(mine.start, other.start), max(mine.end, other.end)
    return _Part(
        "neither",
        (start, end),
        (mine.first - (mine.start - start), mine.last + (end - mine.end)),
        (other.first - (other.start - start), other.last + (end - other.end)),
    )


def _add(parts: list[_Part], part: _Part) -> None:
    """Append a part, or join it to the last where they touch on a side; parts of both sides joined are a conflict."""
    last = parts[-1] if parts else None
    if last is None or (part.ours[0] > last.ours[1] and part.theirs[0] > last.theirs[1]):
        parts.append(part)
        return
    if part.taken != last.taken:
        last.taken = "neither"
    last.base = last.base[0], part.base[1]
    last.ours = last.ours[0], part.ours[1]
    last.theirs = last.theirs[0], part.theirs[1]


def _refined(part: _Part, ours: Sequence[int], theirs: Sequence[int]) -> Iterator[_Part]:
    """The places in which the two sides of a conflict differ; what both say alike is taken."""
    differing = changes(ours[slice(*part.ours)], theirs[slice(*part.theirs)])
    for change in differing:
        mine = _shifted((change.start, change.end), part.ours[0])
        other = _shifted((change.first, change.last), part.theirs[0])
        yield _Part("neither", part.base, mine, other)
    if not differing:
        yield _Part("ours", part.base, part.ours, part.theirs)


def _joined(parts: Sequence[_Part], ours: Sequence[str]) -> list[_Part]:
    """Conflicts that follow one another as one, where little or nothing to read lies between."""
    found: list[_Part] = []
    for part in parts:
        last = found[-1] if found else None
        if last is not None and last.taken == part.taken == "neither":
            between = ours[last.ours[1] : part.ours[0]]
            if len(between) <= _NEAR or not any(map(_READABLE.search, between)):
                last.ours = last.ours[0], part.ours[1]
                last.theirs = last.theirs[0], part.theirs[1]
                continue
        found.append(part)
    return found


def _shifted(span: Span, by: int) -> Span:
    return span[0] + by, span[1] + by


def _size(span: Span) -> int:
    return span[1] - span[0]


def _written(parts: Sequence[_Part], ours: Sequence[str], theirs: Sequence[str], labels: Labels) -> Merged:
    """Ours, with the parts that are theirs put in, and conflicts between markers."""
    out: list[str] = []
    at = 0
    for part in parts:
        out += ours[at : part.ours[0]]
        at = part.ours[1]
        mine, other = ours[slice(*part.ours)], theirs[slice(*part.theirs)]
        if part.taken == "neither":
            out += _marked(mine, other, labels, lines.dominant_end("".join((*ours, *theirs))))
        else:
            out += mine if part.taken == "ours" else other
    out += ours[at:]
    return Merged("".join(out), sum(part.taken == "neither" for part in parts))


def _marked(ours: Sequence[str], theirs: Sequence[str], labels: Labels, end: str) -> list[str]:
    return [
        f"<<<<<<< {labels.ours}{end}",
        *_ended(ours, end),
        f"======={end}",
        *_ended(theirs, end),
        f">>>>>>> {labels.theirs}{end}",
    ]


def _ended(side: Sequence[str], end: str) -> list[str]:
    """The lines, the last with an end, so that a marker starts a line of its own."""
    return [*side[:-1], side[-1] if side[-1].endswith("\n") else side[-1] + end] if side else []
