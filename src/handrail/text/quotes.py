"""Curly and straight quotes: comparing without the difference, and writing new text in the style that was found."""

from typing import Final

_SINGLE: Final = "\u2018\u2019\u201a\u201b"
_DOUBLE: Final = "\u201c\u201d\u201e\u201f"
_STRAIGHT: Final = {ord(c): "'" for c in _SINGLE} | {ord(c): '"' for c in _DOUBLE}
_OPENS_AFTER: Final = "([{<\u2014\u2013-=/"


def fold(text: str) -> str:
    """The text with straight quotes for curly ones; as long as it was, so offsets hold."""
    return text.translate(_STRAIGHT)


def like(new: str, *, old: str, found: str) -> str:
    """`new` in the quote style of `found`, which `old` matched but for its quotes.

    What `new` has in common with `old` at its start and end is taken from `found`; in between the quotes of a kind
    (single, double) that `old` and `found` spell differently change to the style of `found`.
    """
    plain_old, plain_new = fold(old), fold(new)
    if old == found or plain_old != fold(found):
        return new
    head = _common(plain_old, plain_new)
    tail = _common(plain_old[head:][::-1], plain_new[head:][::-1])
    middle = new[head : len(new) - tail]
    kept_head, kept_tail = found[:head], found[len(found) - tail :] if tail else ""
    for straight, curly in (("'", _SINGLE), ('"', _DOUBLE)):
        pairs = [(o, f) for o, f in zip(old, found, strict=True) if f == straight or f in curly]
        if all(o == f for o, f in pairs):
            continue
        if any(f != straight for _, f in pairs):
            opening, closing = _pair(curly, [f for _, f in pairs])
            middle = _curled(middle, straight, opening, closing, before=kept_head[-1:])
        else:
            middle = "".join(straight if c in curly else c for c in middle)
    return kept_head + middle + kept_tail


def _common(a: str, b: str) -> int:
    """How many characters both start with."""
    limit = min(len(a), len(b))
    if a[:limit] == b[:limit]:
        return limit
    low, high = 0, limit
    while low < high:
        half = (low + high + 1) // 2
        low, high = (half, high) if a[:half] == b[:half] else (low, half - 1)
    return low


def _pair(curly: str, used: list[str]) -> tuple[str, str]:
    """Opening and closing quote as the found text has them; `\u201e` opens where it occurs."""
    left, right, low = curly[:1], curly[1:2], curly[2:3]
    if low in used:
        return low, right if right in used else left
    return left, right


def _curled(text: str, straight: str, opening: str, closing: str, *, before: str) -> str:
    out = []
    for character in text:
        if character == straight:
            opens = not before or before.isspace() or before in _OPENS_AFTER or before in _SINGLE[0] + _DOUBLE[0]
            character = opening if opens else closing  # noqa: PLW2901
        out.append(character)
        before = character
    return "".join(out)
