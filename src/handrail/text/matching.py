"""Which lines of two texts are the same: the shortest way from one to the other, in bounded time.

Myers' algorithm on what is between common start and end; where that takes too long the text is split at lines that
are unique on both sides, and what is left over is one block.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

Match = tuple[int, int, int]
"""Where a run of equal lines starts in both texts, and its length."""
_WORK: Final = 2_000_000
"""Comparisons of lines, about half a second, after which the rest is one block."""
_FEW: Final = 64
_MANY: Final = 500


def matches(a: Sequence[str], b: Sequence[str]) -> list[Match]:
    """Runs of equal lines, in order and as long as they go; what is between them changed."""
    numbers: dict[str, int] = {}
    left = [numbers.setdefault(line, len(numbers)) for line in a]
    right = [numbers.setdefault(line, len(numbers)) for line in b]
    found: list[Match] = []
    work = _WORK
    parts = [(0, len(left), 0, len(right))]
    while parts:
        i, j, k, m = parts.pop()
        head = _common(left, right, i, k, min(j - i, m - k))
        tail = _common_end(left, right, j, m, min(j - i, m - k) - head)
        found += [(i, k, head), (j - tail, m - tail, tail)]
        i, j, k, m = i + head, j - tail, k + head, m - tail
        if i == j or k == m:
            continue
        old, new = left[i:j], right[k:m]
        runs, spent = _shortest(old, new, most=_FEW, work=min(work, 20 * (len(old) + len(new))))
        anchors = _unique(old, new) if runs is None else []
        work -= spent
        if runs is None and not anchors:
            runs, spent = _shortest(old, new, most=_MANY, work=work)
            work -= spent
        found += [(i + x, k + y, n) for x, y, n in runs or []]
        if anchors:
            found += [(i + x, k + y, 1) for x, y in anchors]
            edges = [(-1, -1), *anchors, (len(old), len(new))]
            parts += [(i + p + 1, i + r, k + q + 1, k + s) for (p, q), (r, s) in pairwise(edges)]
    return _joined(found)


def _common(left: list[int], right: list[int], i: int, k: int, most: int) -> int:
    size = 0
    while size < most and left[i + size] == right[k + size]:
        size += 1
    return size


def _common_end(left: list[int], right: list[int], j: int, m: int, most: int) -> int:
    size = 0
    while size < most and left[j - size - 1] == right[m - size - 1]:
        size += 1
    return size


def _shortest(old: list[int], new: list[int], *, most: int, work: int) -> tuple[list[Match] | None, int]:
    """The runs of a shortest edit script (Myers 1986), `None` when it takes over `most` edits or over `work` steps."""
    n, m = len(old), len(new)
    reach = {1: 0}
    trace: list[dict[int, int]] = []
    spent = 0
    for edits in range(most + 1):
        trace.append(dict(reach))
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and reach[k - 1] < reach[k + 1])
            start = x = reach[k + 1] if down else reach[k - 1] + 1
            while x < n and x - k < m and old[x] == new[x - k]:
                x += 1
            reach[k] = x
            spent += x - start + 1
            if x >= n and x - k >= m:
                return _back(trace, n, m), spent
        if spent > work:
            break
    return None, spent


def _back(trace: list[dict[int, int]], n: int, m: int) -> list[Match]:
    """The runs along the path that the reaches of each round tell, from its end."""
    runs: list[Match] = []
    x, y = n, m
    for edits in range(len(trace) - 1, -1, -1):
        reach, k = trace[edits], x - y
        down = k == -edits or (k != edits and reach[k - 1] < reach[k + 1])
        before = reach[k + 1] if down else reach[k - 1]
        start = before if down else before + 1
        if edits == 0:
            start = 0
        if x > start:
            runs.append((start, start - k, x - start))
        x, y = before, before - (k + 1 if down else k - 1)
    return runs


def _unique(old: list[int], new: list[int]) -> list[tuple[int, int]]:
    """The longest rising chain of lines that stand once on each side."""
    once_old, once_new = Counter(old), Counter(new)
    place = {line: at for at, line in enumerate(new) if once_new[line] == 1}
    pairs = [(at, place[line]) for at, line in enumerate(old) if once_old[line] == 1 and line in place]
    ends: list[int] = []
    last: list[int] = []
    previous: list[int] = []
    for number, (_, at) in enumerate(pairs):
        size = bisect_left(ends, at)
        previous.append(last[size - 1] if size else -1)
        ends[size : size + 1] = [at]
        last[size : size + 1] = [number]
    chain: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        chain.append(pairs[number])
        number = previous[number]
    return chain[::-1]


def _joined(found: list[Match]) -> list[Match]:
    joined: list[Match] = []
    for i, k, size in sorted(match for match in found if match[2]):
        if joined and (joined[-1][0] + joined[-1][2], joined[-1][1] + joined[-1][2]) == (i, k):
            joined[-1] = joined[-1][0], joined[-1][1], joined[-1][2] + size
        else:
            joined.append((i, k, size))
    return joined
