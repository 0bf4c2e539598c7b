"""Which lines of two texts are the same lines: shortest edits by Myers' divide and conquer, then settled in place.

It knows sequences of numbers, one a distinct line; `merge.py` asks it more than once to tell what is ambiguous.
"""

from collections.abc import Iterator, Sequence

Pairs = list[tuple[int, int]]

EFFORT = 400_000
"""Steps that one alignment may take; past them the rest between two anchors counts as changed throughout."""


def align(a: Sequence[int], b: Sequence[int], *, backwards: bool = False) -> Pairs:
    """The matched positions, rising in both: one of the alignments with the fewest changes.

    Where a change could stand in several places it stands in the last, or beside a change of the other text. The
    search starts at the end when it goes `backwards`, which finds another one where there are several.
    """
    if backwards:
        found = [(len(a) - 1 - i, len(b) - 1 - j) for i, j in reversed(_shortest(a[::-1], b[::-1]))]
    else:
        found = _shortest(a, b)
    left = [-1, *(i for i, _ in found), len(a)]
    right = [-1, *(j for _, j in found), len(b)]
    _settle(a, left, right)
    _settle(b, right, left)
    return list(zip(left[1:-1], right[1:-1], strict=True))


def _shortest(a: Sequence[int], b: Sequence[int]) -> Pairs:
    """A shortest edit, sought among the lines that both texts have; others can't be matched."""
    common = set(a) & set(b)
    rows = [i for i, line in enumerate(a) if line in common]
    columns = [j for j, line in enumerate(b) if line in common]
    return [(rows[i], columns[j]) for i, j in _Search([a[i] for i in rows], [b[j] for j in columns]).run()]


def leftmost(a: Sequence[int], b: Sequence[int], pairs: Pairs) -> Pairs:
    """The same matched lines, each taken from the first place in both that comes after the match before."""
    found: Pairs = []
    row = column = 0
    for line in (a[i] for i, _ in pairs):
        while a[row] != line:
            row += 1
        while b[column] != line:
            column += 1
        found.append((row, column))
        row, column = row + 1, column + 1
    return found


def rightmost(a: Sequence[int], b: Sequence[int], pairs: Pairs) -> Pairs:
    """The same matched lines, each taken from the last place in both that comes before the match after."""
    mirrored = [(len(a) - 1 - i, len(b) - 1 - j) for i, j in reversed(pairs)]
    found = leftmost(a[::-1], b[::-1], mirrored)
    return [(len(a) - 1 - i, len(b) - 1 - j) for i, j in reversed(found)]


def _settle(lines: Sequence[int], mine: list[int], other: list[int]) -> None:
    """Slide each run of changed lines to the end as far as it goes, but back to where the other side changed too.

    Run `k` lies between the matches `mine[k]` and `mine[k + 1]`. To slide, a match takes over a line that reads the
    same; runs that meet become one.
    """
    for start in range(len(mine) - 1):
        run = start
        while mine[run + 1] - mine[run] > 1:
            size = mine[run + 1] - mine[run] - 1
            run = _up(lines, mine, run)
            run, met = _down(lines, mine, other, run)
            if mine[run + 1] - mine[run] - 1 != size:
                continue
            while met is not None and run > met:
                _take_back(mine, run)
                run -= 1
            break


def _up(lines: Sequence[int], mine: list[int], run: int) -> int:
    while run > 0 and mine[run + 1] - mine[run] > 1 and lines[mine[run]] == lines[mine[run + 1] - 1]:
        _take_back(mine, run)
        run -= 1
    return run


def _take_back(mine: list[int], run: int) -> None:
    mine[run] = mine[run + 1] - 1


def _down(lines: Sequence[int], mine: list[int], other: list[int], run: int) -> tuple[int, int | None]:
    met = run if other[run + 1] - other[run] > 1 else None
    last = len(mine) - 2
    while run < last and lines[mine[run] + 1] == lines[mine[run + 1]]:
        mine[run + 1] = mine[run] + 1
        run += 1
        if other[run + 1] - other[run] > 1:
            met = run
    return run, met


class _Search:
    """Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), the linear space refinement of section 4b."""

    def __init__(self, a: Sequence[int], b: Sequence[int]) -> None:
        self._a = a
        self._b = b
        self._steps = EFFORT
        self._pairs: Pairs = []

    def run(self) -> Pairs:
        """The matched positions."""
        boxes = [(0, len(self._a), 0, len(self._b))]
        while boxes:
            top, bottom, start, end = boxes.pop()
            top, start = self._head(top, bottom, start, end)
            bottom, end = self._tail(top, bottom, start, end)
            if top == bottom or start == end:
                continue
            middle = self._middle(top, bottom, start, end)
            if middle is not None:
                i, j = middle
                boxes += [(top, i, start, j), (i, bottom, j, end)]
        self._pairs.sort()
        return self._pairs

    def _head(self, top: int, bottom: int, start: int, end: int) -> tuple[int, int]:
        a, b = self._a, self._b
        while top < bottom and start < end and a[top] == b[start]:
            self._pairs.append((top, start))
            top, start = top + 1, start + 1
        return top, start

    def _tail(self, top: int, bottom: int, start: int, end: int) -> tuple[int, int]:
        a, b = self._a, self._b
        while bottom > top and end > start and a[bottom - 1] == b[end - 1]:
            bottom, end = bottom - 1, end - 1
            self._pairs.append((bottom, end))
        return bottom, end

    def _middle(self, top: int, bottom: int, start: int, end: int) -> tuple[int, int] | None:
        """A point on a shortest path through the box, found from both corners at once; `None` past the effort."""
        width, height = bottom - top, end - start
        ahead = _Front(self._a[top:bottom], self._b[start:end])
        behind = _Front(self._a[top:bottom][::-1], self._b[start:end][::-1])
        slant = width - height
        for cost in range((width + height + 1) // 2 + 1):
            self._steps -= 2 * cost + 2
            if self._steps < 0:
                return None
            for k, x in ahead.advance(cost):
                if slant % 2 and x + behind.reach(slant - k) >= width:
                    return top + x, start + x - k
            for k, x in behind.advance(cost):
                if not slant % 2 and x + ahead.reach(slant - k) >= width:
                    return bottom - x, end - (x - k)
        return None


class _Front:
    """How far one corner gets on each diagonal, at a rising cost."""

    def __init__(self, a: Sequence[int], b: Sequence[int]) -> None:
        self._a = a
        self._b = b
        self._reached = [-1] * (len(a) + len(b) + 3)

    def reach(self, k: int) -> int:
        """The farthest column on diagonal `k`; far below zero where it wasn't reached."""
        if not -len(self._b) <= k <= len(self._a):
            return -(1 << 60)
        found = self._reached[k + len(self._b) + 1]
        return found if found >= 0 else -(1 << 60)

    def advance(self, cost: int) -> Iterator[tuple[int, int]]:
        """Each diagonal that this cost reaches anew, with its farthest column."""
        a, b, reached = self._a, self._b, self._reached
        width, height = len(a), len(b)
        low, high = max(-cost, -height), min(cost, width)
        for k in range(low + (low + cost) % 2, high + 1, 2):
            at = k + height + 1
            right, down = reached[at - 1], reached[at + 1]
            x = right + 1 if 0 <= right < width else -1
            if down > x and down - k <= height:
                x = down
            if cost == 0:
                x = 0
            if x < 0:
                continue
            y = x - k
            if y > height:
                continue
            while x < width and y < height and a[x] == b[y]:
                x, y = x + 1, y + 1
            reached[at] = x
            yield k, x
