"""From two versions of a text to the edits that an agent would send: hunks widened until their anchors are unique.

It acts as a careful model does under the rules of the tools: anchors are unique and disjoint, none occurs in the new
text of an earlier target; what must wait goes into the next call.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

CONTEXT = 1
Sent = dict[str, str]
"""One target or edit: `old_string` and `new_string`."""


@dataclass(frozen=True)
class Hunk:
    """Rows `[a, b)` of the old lines become rows `[c, d)` of the new ones."""

    a: int
    b: int
    c: int
    d: int


def as_sent(before: str, after: str) -> Callable[[str], str]:
    """How a text is spelled in a call: as the reader shows it, but with line ends where these are mixed or change."""
    for end in ("\n", "\r\n"):
        if all(_only(text, end) for text in (before, after)):
            return lambda text: text.replace("\r\n", "\n")
    return lambda text: text


def targets(before: str, after: str) -> list[Sent]:
    """The targets of one `edit_file` call, all located in `before`; what the rules forbid waits for the next call."""
    spell = as_sent(before, after)
    old, new = split(spell(before)), split(spell(after))
    chosen: list[Sent] = []
    for a, b, inside in stretches(old, new):
        c, d = inside[0].c - (inside[0].a - a), inside[-1].d + (b - inside[-1].b)
        sent = {"old_string": "".join(old[a:b]), "new_string": "".join(new[c:d])}
        if not any(sent["old_string"] in other["new_string"] for other in chosen):
            chosen.append(sent)
    return chosen


def edits(before: str, after: str) -> list[Sent]:
    """The edits of one `MultiEdit` call, each unique in what the ones before it made; from the last hunk up."""
    spell = as_sent(before, after)
    current, new = split(spell(before)), split(spell(after))
    made: list[Sent] = []
    for hunk in reversed(hunks(current, new)):
        a, b = anchor(hunk, current, "".join(current))
        body = current[a : hunk.a] + new[hunk.c : hunk.d] + current[hunk.b : b]
        made.append({"old_string": "".join(current[a:b]), "new_string": "".join(body)})
        current[hunk.a : hunk.b] = new[hunk.c : hunk.d]
    return made


def stretches(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, list[Hunk]]]:
    """Rows of `old` that make disjoint, unique anchors, and the hunks in each; anchors that would meet are one."""
    text = "".join(old)
    found: list[tuple[int, int, list[Hunk]]] = []
    for hunk in hunks(old, new):
        a, b = anchor(hunk, old, text)
        inside = [hunk]
        while found and a < found[-1][1]:
            first, last, others = found.pop()
            a, b, inside = min(a, first), max(b, last), others + inside
        found.append((a, b, inside))
    return found


def anchor(hunk: Hunk, lines: Sequence[str], text: str) -> tuple[int, int]:
    """Rows around a hunk, with one row of context at least, whose text occurs once."""
    a, b = max(0, hunk.a - CONTEXT), min(len(lines), hunk.b + CONTEXT)
    while a > 0 or b < len(lines):
        passage = "".join(lines[a:b])
        if text.find(passage, text.find(passage) + 1) < 0:
            break
        a, b = max(0, a - 1), min(len(lines), b + 1)
    return a, b


def hunks(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """The changed stretches, in order."""
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [Hunk(a, b, c, d) for tag, a, b, c, d in codes if tag != "equal"]


def split(text: str) -> list[str]:
    """Lines with their ends."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _only(text: str, end: str) -> bool:
    return text.count("\r\n") == (text.count("\n") if end == "\r\n" else 0)
