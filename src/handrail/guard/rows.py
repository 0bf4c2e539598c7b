"""Sets of rows as ranges, and how they move when a text changes; pure, it knows lines and nothing of files."""

from collections.abc import Iterable, Sequence

from handrail.text.diff import opcodes

Ranges = tuple[tuple[int, int], ...]
"""First and last row of each range, 1-based, ascending, apart from each other."""


def joined(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The ranges in order, those that overlap or touch made one."""
    out: list[tuple[int, int]] = []
    for first, last in sorted(r for r in ranges if r[0] <= r[1]):
        if out and first <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], last))
        else:
            out.append((first, last))
    return tuple(out)


def without(ranges: Ranges, taken: Iterable[tuple[int, int]]) -> Ranges:
    """The rows of `ranges` that are in none of `taken`."""
    for start, end in joined(taken):
        left: list[tuple[int, int]] = []
        for first, last in ranges:
            left += [(first, min(last, start - 1)), (max(first, end + 1), last)]
        ranges = joined(left)
    return ranges


def size(ranges: Ranges) -> int:
    """How many rows they are."""
    return sum(last - first + 1 for first, last in ranges)


def meets(ranges: Ranges, first: int, last: int) -> bool:
    """Whether any of the rows lies from `first` to `last`."""
    return any(a <= last and first <= b for a, b in ranges)


def moved(before: Sequence[str], after: Sequence[str], ranges: Ranges) -> tuple[Ranges, Ranges, Ranges]:
    """How lines `before` became `after`: rows that are new or changed, where `ranges` are now, places of a removal.

    A removal's place is the two rows that it left side by side.
    """
    changed, kept, removed = list[tuple[int, int]](), list[tuple[int, int]](), list[tuple[int, int]]()
    for tag, i, j, k, m in opcodes(before, after):
        if tag == "equal":
            for first, last in ranges:
                a, b = max(first, i + 1), min(last, j)
                if a <= b:
                    kept.append((a - i + k, b - i + k))
        else:
            changed.append((k + 1, m))
            if tag == "delete":
                removed.append((max(k, 1), k + 1))
    return joined(changed), joined(kept), joined(removed)
