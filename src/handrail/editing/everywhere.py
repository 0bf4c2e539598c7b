"""Text replaced at very many places: one piece from the first place to the last, made by the string's own `replace`.

Pure. It answers `None` where places could read differently; then each is looked at by itself.
"""

from dataclasses import dataclass
from typing import Final

from handrail.editing.anchors import Span
from handrail.editing.pieces import Piece, pieces

FROM: Final = 1000
"""Places up to which each one is looked at by itself."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """How many places there are, from where to where they lie, and what takes the place of all that."""

    count: int
    span: Span
    text: str

    @property
    def piece(self) -> Piece:
        """The change as one piece."""
        return (*self.span, self.text)


def sweep(text: str, old: str, new: str, *, file_end: str) -> Sweep | None:
    """All places of `old` in `text` replaced, where there are many, all of them spelled as `old` is."""
    if not _spelled_one_way(text, old) or (count := text.count(old)) <= FROM:
        return None
    written = _written(old, new, file_end)
    if written == old:
        return None
    start, end = text.find(old), text.rfind(old) + len(old)
    return Sweep(count, (start, end), text[start:end].replace(old, written))


def _spelled_one_way(text: str, old: str) -> bool:
    """Whether finding `old` as it is finds the same places as finding it whatever the line ends."""
    if "\r\n" in text:
        return old == "\r\n" or not ("\n" in old or "\r" in old)
    return "\r\n" not in old


def _written(old: str, new: str, file_end: str) -> str:
    out, at = list[str](), 0
    for start, end, text in pieces(old, old=old, new=new, manner="exact", file_end=file_end):
        out += (old[at:start], text)
        at = end
    return "".join((*out, old[at:]))
