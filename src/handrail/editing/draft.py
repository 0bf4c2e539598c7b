"""A text and the changes to it so far, as runs of the original and of new text: what stays keeps its own bytes.

Pure; it knows nothing of anchors. Edits that see each other's output end as one splice of the original.
"""

from collections import deque
from collections.abc import Sequence

from handrail.editing.anchors import Rows
from handrail.editing.pieces import Piece
from handrail.text.codec import Text

Run = tuple[int, int] | str
"""A span of the original, or new text."""


class Draft:
    """The original text, and the current one as runs; `end` is what ends a line that is added."""

    def __init__(self, original: Text, *, end: str = "\n") -> None:
        self.original = original
        self.end = end
        self.current = original.text
        self._runs: deque[Run] = deque([(0, len(original.text))])
        self._pieces: list[Piece] | None = []

    def replace(self, pieces: Sequence[Piece]) -> None:
        """Change the current text by ordered, disjoint pieces over it."""
        kept: deque[Run] = deque()
        parts: list[str] = []
        at = 0
        for start, end, new in pieces:
            kept += self._take(start - at)
            self._take(end - start)
            parts += (self.current[at:start], new)
            if new:
                kept.append(new)
            at = end
        self._runs = kept + self._runs
        self._pieces = None
        self.current = "".join((*parts, self.current[at:]))

    def pieces(self) -> Sequence[Piece]:
        """What differs from the original, as ordered, disjoint pieces over it."""
        if self._pieces is None:
            self._pieces = self._differences()
        return self._pieces

    def data(self) -> bytes:
        """The bytes of the current text; raises `WrongContent` `unencodable`."""
        return self.original.splice(self.pieces())

    def changed_rows(self) -> tuple[tuple[int, int], ...]:
        """The rows of the current text that hold new characters, or where something went; ranges, ends included."""
        if not self.current:
            return ()
        rows = Rows(self.current)
        last = len(self.current) - 1
        ranges: list[tuple[int, int]] = []
        shift = 0
        for start, end, new in self.pieces():
            begins = start + shift
            shift += len(new) - (end - start)
            first = rows.at(min(begins, last))
            final = max(first, rows.at(min(begins + max(len(new), 1) - 1, last)))
            if ranges and first <= ranges[-1][1] + 1:
                ranges[-1] = (ranges[-1][0], final)
            else:
                ranges.append((first, final))
        return tuple(ranges)

    def _differences(self) -> list[Piece]:
        pieces: list[Piece] = []
        at, new = 0, list[str]()
        for run in (*self._runs, (len(self.original.text), len(self.original.text))):
            if isinstance(run, str):
                new.append(run)
                continue
            if run[0] > at or new:
                pieces.append((at, run[0], "".join(new)))
                new.clear()
            at = run[1]
        return pieces

    def _take(self, size: int) -> list[Run]:
        """Take the first `size` characters off the runs."""
        taken: list[Run] = []
        while size:
            run = self._runs.popleft()
            length = len(run) if isinstance(run, str) else run[1] - run[0]
            if length > size:
                head, rest = _cut(run, size)
                self._runs.appendleft(rest)
                run, length = head, size
            taken.append(run)
            size -= length
        return taken


def _cut(run: Run, size: int) -> tuple[Run, Run]:
    if isinstance(run, str):
        return run[:size], run[size:]
    middle = run[0] + size
    return (run[0], middle), (middle, run[1])
