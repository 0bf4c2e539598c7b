"""Where a change stands that could stand in several places: far down, or beside a change of the other text.

It knows sequences of numbers, one a distinct line, and which of them changed.
"""

from collections.abc import Sequence


class Side:
    """One text: its lines, and which of them changed; one more, unchanged, stands after the last."""

    def __init__(self, lines: Sequence[int]) -> None:
        self.lines = lines
        self.changed = bytearray(len(lines) + 1)


def settle(mine: Side, other: Side) -> None:
    """Slide each run of changed lines to the end as far as it goes, but back to where the other side changed too."""
    run, across = _Run(mine), _Run(other)
    while True:
        if run.end > run.start:
            _settle_one(run, across)
        if not run.forward():
            return
        across.forward()


def _settle_one(run: "_Run", across: "_Run") -> None:
    while True:
        size = run.end - run.start
        met = -1
        while run.up():
            across.backward()
        first = run.end
        if across.end > across.start:
            met = run.end
        while run.down():
            across.forward()
            if across.end > across.start:
                met = run.end
        if run.end - run.start == size:
            break
    if run.end != first and met >= 0:
        while across.end == across.start:
            run.up()
            across.backward()


class _Run:
    """A run of changed lines, perhaps empty, that stands before an unchanged line (or the end)."""

    def __init__(self, side: Side) -> None:
        self._lines, self._changed = side.lines, side.changed
        self.start = self.end = 0
        self._stretch()

    def forward(self) -> bool:
        """Go to the next run; false at the last."""
        if self.end == len(self._lines):
            return False
        self.start = self.end = self.end + 1
        self._stretch()
        return True

    def backward(self) -> None:
        """Go to the run before."""
        self.start = self.end = self.start - 1
        self._stretch_back()

    def up(self) -> bool:
        """Slide one line towards the start, joining what it meets; false where it can't."""
        if self.start == 0 or self._lines[self.start - 1] != self._lines[self.end - 1]:
            return False
        self.start, self.end = self.start - 1, self.end - 1
        self._changed[self.start], self._changed[self.end] = 1, 0
        self._stretch_back()
        return True

    def down(self) -> bool:
        """Slide one line towards the end, joining what it meets; false where it can't."""
        if self.end == len(self._lines) or self._lines[self.start] != self._lines[self.end]:
            return False
        self._changed[self.start], self._changed[self.end] = 0, 1
        self.start, self.end = self.start + 1, self.end + 1
        self._stretch()
        return True

    def _stretch(self) -> None:
        while self._changed[self.end]:
            self.end += 1

    def _stretch_back(self) -> None:
        while self.start > 0 and self._changed[self.start - 1]:
            self.start -= 1
