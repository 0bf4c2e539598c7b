"""Which lines of two texts are the same lines: Myers' shortest edits in linear space, told as git tells them.

It knows sequences of numbers, one a distinct line. Where several alignments are as short, the same one is chosen as git
chooses, since people have learned what its merges do: lines without a partner are set aside first, long searches are
cut short by the same measures, and a change that could stand in several places settles in the same one.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from handrail.history.settling import Side, settle

EFFORT: Final = 6_000_000
"""Steps that one alignment may take."""
_FAR: Final = 1 << 60
_SNAKE: Final = 20
"""Equal lines in a row that make a diagonal a good one."""
_PATIENCE: Final = 256
"""Changes up to which a search goes on in any case."""
_WORTH: Final = 4
"""How many times its cost a diagonal must have come forward to be taken."""
_OFTEN: Final = 1024
_WINDOW: Final = 100
_FEW: Final = 4


class TooMuch(Exception):
    """The two texts differ so much that they aren't aligned within the effort."""


@dataclass(frozen=True, slots=True)
class Change:
    """Lines `start` to `end` of the one become lines `first` to `last` of the other; half open."""

    start: int
    end: int
    first: int
    last: int


def changes(a: Sequence[int], b: Sequence[int]) -> list[Change]:
    """What changed from `a` to `b`, in order, apart from each other; raises `TooMuch`."""
    old, new = Side(a), Side(b)
    _Search(old, new).run()
    settle(old, new)
    settle(new, old)
    return list(_told(old.changed, new.changed))


def _told(old: bytearray, new: bytearray) -> Iterator[Change]:
    i = j = 0
    while i < len(old):
        start, first = i, j
        while old[i]:
            i += 1
        while new[j]:
            j += 1
        if i > start or j > first:
            yield Change(start, i, first, j)
        i, j = i + 1, j + 1


# which lines are compared


def _root(number: int) -> int:
    """A power of two near the square root, above it."""
    return 1 << (number.bit_length() + 1) // 2


def _compared(side: Side, other: Counter[int], start: int, end: int) -> list[int]:
    """Positions from `start` to `end` that take part: what has no partner, or far too many, counts as changed."""
    often = min(_root(len(side.lines)), _OFTEN)
    partners = [other[line] for line in side.lines[start:end]]
    ranks = bytes(0 if n == 0 else 2 if n >= often else 1 for n in partners)
    kept: list[int] = []
    for at, rank in enumerate(ranks):
        if rank == 1 or (rank == 2 and not _is_noise(ranks, at)):
            kept.append(start + at)
        else:
            side.changed[start + at] = 1
    return kept


def _is_noise(ranks: bytes, at: int) -> bool:
    """Whether a frequent line stands among lines of which most have no partner at all."""
    alone_before, often_before = _run(ranks[max(0, at - _WINDOW) : at][::-1])
    if not alone_before:
        return False
    alone_after, often_after = _run(ranks[at + 1 : at + 1 + _WINDOW])
    if not alone_after:
        return False
    often, alone = often_before + often_after + 2, alone_before + alone_after
    return often * _FEW < often + alone


def _run(ranks: bytes) -> tuple[int, int]:
    """In the run up to the first proper line: how many have no partner, how many have too many."""
    end = ranks.find(1)
    run = ranks if end < 0 else ranks[:end]
    return run.count(0), run.count(2)


# the search


class _Search:
    """Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), the linear space refinement of section 4b."""

    def __init__(self, old: Side, new: Side) -> None:
        a, b = old.lines, new.lines
        limit = min(len(a), len(b))
        head = 0
        while head < limit and a[head] == b[head]:
            head += 1
        tail = 0
        while tail < limit - head and a[-1 - tail] == b[-1 - tail]:
            tail += 1
        self._old, self._new = old, new
        self._rows = _compared(old, Counter(b), head, len(a) - tail)
        self._columns = _compared(new, Counter(a), head, len(b) - tail)
        self._a = [a[i] for i in self._rows]
        self._b = [b[j] for j in self._columns]
        size = len(self._a) + len(self._b) + 3
        self._most = max(_root(size), _PATIENCE)
        self._ahead = [0] * (2 * size)
        self._behind = [0] * (2 * size)
        self._zero = len(self._b) + 1
        self._steps = EFFORT

    def run(self) -> None:
        """Mark what changed on both sides."""
        boxes = [(0, len(self._a), 0, len(self._b), False)]
        while boxes:
            top, bottom, left, right, thorough = boxes.pop()
            a, b = self._a, self._b
            while top < bottom and left < right and a[top] == b[left]:
                top, left = top + 1, left + 1
            while top < bottom and left < right and a[bottom - 1] == b[right - 1]:
                bottom, right = bottom - 1, right - 1
            if top == bottom or left == right:
                for i in self._rows[top:bottom]:
                    self._old.changed[i] = 1
                for j in self._columns[left:right]:
                    self._new.changed[j] = 1
                continue
            i, j, first, second = self._split(_Box(top, bottom, left, right), thorough)
            boxes += [(top, i, left, j, first), (i, bottom, j, right, second)]

    def _split(self, box: "_Box", thorough: bool) -> tuple[int, int, bool, bool]:
        """A point that a shortest (or good) path goes through, and whether the two halves need the shortest."""
        front, back = box.top - box.left, box.bottom - box.right
        ahead, behind = _Wave(self._ahead, self._zero, front), _Wave(self._behind, self._zero, back)
        ahead.reach[self._zero + front], behind.reach[self._zero + back] = box.top, box.bottom
        odd = (front - back) % 2 == 1
        cost = 0
        while True:
            cost += 1
            ahead.widen(box, nothing=-1)
            met, snake = self._forth(box, ahead, behind if odd else None)
            if met is None:
                behind.widen(box, nothing=_FAR)
                met, other = self._back(box, behind, None if odd else ahead)
                snake = snake or other
            if met is not None:
                return *met, True, True
            self._steps -= ahead.high - ahead.low + behind.high - behind.low + 2
            if self._steps < 0:
                raise TooMuch
            if thorough:
                continue
            found = self._good(box, cost, ahead, behind) if snake and cost > _PATIENCE else None
            if found is not None:
                return found
            if cost >= self._most:
                return _farthest(box, ahead, behind)

    def _forth(self, box: "_Box", wave: "_Wave", other: "_Wave | None") -> tuple[tuple[int, int] | None, bool]:
        """One more change from the front: where it meets the other wave, and whether many equal lines came by."""
        a, b, bottom, right, reach = self._a, self._b, box.bottom, box.right, wave.reach
        snake = False
        for k in range(wave.high, wave.low - 1, -2):
            at = wave.zero + k
            before, after = reach[at - 1], reach[at + 1]
            x = start = before + 1 if before >= after else after
            y = x - k
            while x < bottom and y < right and a[x] == b[y]:
                x, y = x + 1, y + 1
            snake = snake or x - start > _SNAKE
            reach[at] = x
            if other is not None and other.low <= k <= other.high and other.reach[at] <= x:
                return (x, y), snake
        return None, snake

    def _back(self, box: "_Box", wave: "_Wave", other: "_Wave | None") -> tuple[tuple[int, int] | None, bool]:
        """The same from the back."""
        a, b, top, left, reach = self._a, self._b, box.top, box.left, wave.reach
        snake = False
        for k in range(wave.high, wave.low - 1, -2):
            at = wave.zero + k
            before, after = reach[at - 1], reach[at + 1]
            x = start = before if before < after else after - 1
            y = x - k
            while x > top and y > left and a[x - 1] == b[y - 1]:
                x, y = x - 1, y - 1
            snake = snake or start - x > _SNAKE
            reach[at] = x
            if other is not None and other.low <= k <= other.high and x <= other.reach[at]:
                return (x, y), snake
        return None, snake

    def _good(self, box: "_Box", cost: int, ahead: "_Wave", behind: "_Wave") -> tuple[int, int, bool, bool] | None:
        """A point far along a diagonal that ends in many equal lines, from the front or else from the back."""
        a, b = self._a, self._b
        best, found = _WORTH * cost, None
        for k, x in ahead.points():
            y = x - k
            worth = (x - box.top) + (y - box.left) - abs(k - (box.top - box.left))
            fits = box.top + _SNAKE <= x < box.bottom and box.left + _SNAKE <= y < box.right
            if worth > best and fits and a[x - _SNAKE : x] == b[y - _SNAKE : y]:
                best, found = worth, (x, y, True, False)
        if found is not None:
            return found
        for k, x in behind.points():
            y = x - k
            worth = (box.bottom - x) + (box.right - y) - abs(k - (box.bottom - box.right))
            fits = box.top < x <= box.bottom - _SNAKE and box.left < y <= box.right - _SNAKE
            if worth > best and fits and a[x : x + _SNAKE] == b[y : y + _SNAKE]:
                best, found = worth, (x, y, False, True)
        return found


@dataclass(frozen=True, slots=True)
class _Box:
    top: int
    bottom: int
    left: int
    right: int


class _Wave:
    """How far one corner got: on each diagonal from `low` to `high`, every second one, the row it reached."""

    def __init__(self, reach: list[int], zero: int, start: int) -> None:
        self.reach, self.zero = reach, zero
        self.low = self.high = start

    def widen(self, box: _Box, *, nothing: int) -> None:
        """The diagonals of the next round; beyond the outermost `nothing` is reached."""
        if self.low > box.top - box.right:
            self.low -= 1
            self.reach[self.zero + self.low - 1] = nothing
        else:
            self.low += 1
        if self.high < box.bottom - box.left:
            self.high += 1
            self.reach[self.zero + self.high + 1] = nothing
        else:
            self.high -= 1

    def points(self) -> Iterator[tuple[int, int]]:
        """Each diagonal and its row, the highest first."""
        return ((k, self.reach[self.zero + k]) for k in range(self.high, self.low - 1, -2))


def _farthest(box: _Box, ahead: _Wave, behind: _Wave) -> tuple[int, int, bool, bool]:
    """The point that came farthest from either corner, when it is enough."""
    front, back = (-1, -1), (_FAR, _FAR)
    for k, reached in ahead.points():
        x = min(reached, box.bottom, box.right + k)
        front = (2 * x - k, x) if 2 * x - k > front[0] else front
    for k, reached in behind.points():
        x = max(reached, box.top, box.left + k)
        back = (2 * x - k, x) if 2 * x - k < back[0] else back
    if box.bottom + box.right - back[0] < front[0] - (box.top + box.left):
        return front[1], front[0] - front[1], True, False
    return back[1], back[0] - back[1], False, True
