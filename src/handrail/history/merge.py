"""Three texts become one, line by line: what only one side changed is taken, what both changed is a conflict.

It knows texts, no files. It would rather report a conflict than guess: where the changed lines could be told apart in
more than one way, all ways must lead to the same text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from handrail.history.alignment import Pairs, align, leftmost, rightmost
from handrail.text import lines


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


@dataclass(frozen=True, slots=True)
class _Change:
    """Lines `start` to `end` of the base become lines `first` to `last` of a side; half open."""

    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _Sides:
    base: Sequence[str]
    ours: Sequence[str]
    theirs: Sequence[str]


def merge(base: str, ours: str, theirs: str, *, labels: Labels | None = None) -> Merged:
    """Merge two texts that both come from `base`.

    Changes that touch are one conflict, unless both sides say the same there; so git has it too. Line ends belong to
    their lines: a final line without one is another line than the same with one.
    """
    if ours == base:
        return Merged(theirs, 0)
    if theirs in (base, ours):
        return Merged(ours, 0)
    labels = labels or Labels()
    sides = _Sides(lines.split(base), lines.split(ours), lines.split(theirs))
    made: list[Merged] = []
    for left, right in _readings(sides):
        found = _merged(sides, left, right, labels, touching=not made)
        if found.conflicts:
            return found
        made.append(found)
    if all(other.text == made[0].text for other in made):
        return made[0]
    return _one_conflict(sides, labels)


def _readings(sides: _Sides) -> Iterator[tuple[list[_Change], list[_Change]]]:
    """The ways in which both sides' changes may be told apart, the usual one first."""
    numbers: dict[str, int] = {}

    def numbered(text: Sequence[str]) -> list[int]:
        return [numbers.setdefault(line, len(numbers)) for line in text]

    base, ours, theirs = numbered(sides.base), numbered(sides.ours), numbered(sides.theirs)
    left, right = align(base, ours), align(base, theirs)
    yield _changes(left, base, ours), _changes(right, base, theirs)
    for shift in (leftmost, rightmost):
        yield _changes(shift(base, ours, left), base, ours), _changes(shift(base, theirs, right), base, theirs)
    left, right = align(base, ours, backwards=True), align(base, theirs, backwards=True)
    yield _changes(left, base, ours), _changes(right, base, theirs)


def _changes(pairs: Pairs, base: Sequence[int], side: Sequence[int]) -> list[_Change]:
    found: list[_Change] = []
    row = column = 0
    for i, j in (*pairs, (len(base), len(side))):
        if i > row or j > column:
            found.append(_Change(row, i, column, j))
        row, column = i + 1, j + 1
    return found


def _merged(sides: _Sides, left: list[_Change], right: list[_Change], labels: Labels, *, touching: bool) -> Merged:
    out: list[str] = []
    conflicts = at = 0
    for group_left, group_right in _groups(left, right, touching=touching):
        start = min(change.start for change in (*group_left, *group_right))
        end = max(change.end for change in (*group_left, *group_right))
        out += sides.base[at:start]
        at = end
        mine = _side(sides.base, sides.ours, group_left, start, end)
        other = _side(sides.base, sides.theirs, group_right, start, end)
        if not group_right or mine == other:
            out += mine
        elif not group_left:
            out += other
        else:
            conflicts += 1
            out += _marked(mine, other, labels, sides)
    out += sides.base[at:]
    return Merged("".join(out), conflicts)


def _groups(
    left: list[_Change], right: list[_Change], *, touching: bool
) -> Iterator[tuple[list[_Change], list[_Change]]]:
    """The changes of both sides in order; those that touch one of the other side stand together."""
    i = j = 0
    while i < len(left) or j < len(right):
        mine: list[_Change] = []
        other: list[_Change] = []
        if j == len(right) or (i < len(left) and left[i].start <= right[j].start):
            mine.append(left[i])
            i += 1
        else:
            other.append(right[j])
            j += 1
        head = (*mine, *other)[0]
        start, end = head.start, head.end
        while True:
            if i < len(left) and other and _meet(left[i], start, end, touching):
                mine.append(left[i])
                end = max(end, left[i].end)
                i += 1
            elif j < len(right) and mine and _meet(right[j], start, end, touching):
                other.append(right[j])
                end = max(end, right[j].end)
                j += 1
            else:
                break
        yield mine, other


def _meet(change: _Change, start: int, end: int, touching: bool) -> bool:
    return change.start <= end if touching else change.start < end or change.start == start


def _side(base: Sequence[str], side: Sequence[str], changes: list[_Change], start: int, end: int) -> list[str]:
    """What one side says in place of the base's lines `start` to `end`."""
    if not changes:
        return list(base[start:end])
    before, after = changes[0], changes[-1]
    return [*base[start : before.start], *side[before.first : after.last], *base[after.end : end]]


def _one_conflict(sides: _Sides, labels: Labels) -> Merged:
    """All that lies between the common start and the common end of the three texts, as one conflict."""
    base, ours, theirs = sides.base, sides.ours, sides.theirs
    limit = min(len(base), len(ours), len(theirs))
    head = 0
    while head < limit and base[head] == ours[head] == theirs[head]:
        head += 1
    tail = 0
    while tail < limit - head and base[-1 - tail] == ours[-1 - tail] == theirs[-1 - tail]:
        tail += 1
    marked = _marked(ours[head : len(ours) - tail], theirs[head : len(theirs) - tail], labels, sides)
    return Merged("".join([*base[:head], *marked, *base[len(base) - tail :]]), 1)


def _marked(ours: Sequence[str], theirs: Sequence[str], labels: Labels, sides: _Sides) -> list[str]:
    end = lines.dominant_end("".join((*sides.ours, *sides.theirs)))
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
