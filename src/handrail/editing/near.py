"""Why an anchor wasn't found: nearest lines with their rows, what can't be seen made visible, what is there already.

Pure, and bounded in time and size whatever the file: it explains, it never decides what is edited.
"""

import heapq
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import Final

from handrail.editing.anchors import Haystack, Rows
from handrail.text import diff, lines
from handrail.text.codec import printable

SCANNED: Final = 4_000_000
"""Characters of the file that are looked through for something alike."""
SHOWN: Final = 160
"""Characters of a line that an explanation shows, around the first difference."""
_COMPARED_LINES: Final = 60
_CANDIDATES: Final = 24
_COMPARED: Final = 240
_WORD: Final = re.compile(r"\w+")
_PREFIX: Final = re.compile(r" *(\d+)(?:\t|\u2192)")


@dataclass(frozen=True, slots=True)
class Miss:
    """An explanation: sentences for the reader, and the same as facts."""

    hint: str
    facts: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Alike:
    """A row of the file beside the line of the anchor that it should have been."""

    row: int
    text: str
    sent: str
    said: str
    close: bool = False


def explain(hay: Haystack, old: str, *, new: str, file: str) -> Miss:
    """The most telling reason why `old` isn't in the text, and what to do about it.

    `file`: what the file says, where earlier edits of the same call already changed the text that was looked in.
    """
    bare = without_prefixes(old)
    if bare is not None and (len(lines.split(old)) > 1 or hay.contains(bare) is not None):
        hint = (
            "It carries the row numbers that the reader put before each line; they are not in the file. "
            "Send the lines without the number and the character after it, in old_string and new_string."
        )
        return Miss(hint, {"reader_prefixes": True})
    there = _rows_there(hay if hay.text == file else Haystack(file), new)
    alike = list(_nearest(hay.text[:SCANNED], old))
    shown = [{"row": a.row, "text": a.text, "sent": a.sent} for a in alike]
    facts: dict[str, object] = {"nearest": shown} if shown else {}
    told = _told(alike, old, hay)
    if hay.text != file:
        told = f"{told} Rows are counted as the edits before this one leave them."
    if there is None:
        return Miss(told, facts)
    already = f"The new text is already there, at row {there[0]}"
    facts |= {"already_there": True, "rows": [there[0]]}
    if alike and alike[0].close and not there[0] <= alike[0].row <= there[1]:
        return Miss(f"{told} {already}, too.", facts)
    return Miss(f"{already}: if that is this edit, it was made before; go on with the next one.", facts)


def without_prefixes(old: str) -> str | None:
    """The anchor without the reader's row numbers, `None` where it has none; a first line begun midway may lack one."""
    rows = lines.split(old)
    marks = [_PREFIX.match(row) for row in rows]
    numbers = [int(mark.group(1)) for mark in marks if mark]
    missing = [i for i, mark in enumerate(marks) if mark is None and lines.chomp(rows[i]).strip() not in {"", "..."}]
    if not numbers or any(i > 0 for i in missing) or numbers != sorted(set(numbers)):
        return None
    return "".join(row[mark.end() :] if mark else row for row, mark in zip(rows, marks, strict=True))


def _rows_there(hay: Haystack, new: str) -> tuple[int, int] | None:
    """The first and last row of the new text, where it stands in the file already."""
    place = hay.contains(new) if new.strip() else None
    if place is None:
        return None
    rows = Rows(hay.text)
    return rows.at(place[0]), rows.at(place[1] - 1)


def _scope(hay: Haystack) -> str:
    return f"'s first {SCANNED:,} characters" if len(hay.text) > SCANNED else ""


def _told(alike: Sequence[_Alike], old: str, hay: Haystack) -> str:
    if not alike:
        return f"Nothing like it is in the file{_scope(hay)}. Read the file and copy the anchor from there."
    best = alike[0]
    others = f" Also alike: row {', '.join(str(a.row) for a in alike[1:])}." if alike[1:] else ""
    stray = " The character U+FFFD stands for bytes that aren't text; leave them out." if "\ufffd" in old else ""
    count = lines.count(old)
    return (
        f"{best.said} Row {best.row} of the file is `{best.text}`, sent was `{best.sent}` "
        f"(→ is a tab, · a blank, ¶ a line end).{others}{stray} "
        f"Read rows {max(1, best.row - count)}-{best.row + count} again and copy the anchor from there."
    )


def _nearest(text: str, old: str) -> Iterator[_Alike]:
    """Up to three rows, the best first."""
    rows, sent = lines.split(text), lines.split(old)
    loose, wanted = "\n".join(_squeezed(r) for r in rows), "\n".join(_squeezed(r) for r in sent)
    if old.endswith("\n"):
        wanted += "\n"
    for said, hay, needle in (
        ("It differs in tabs or blanks only.", loose, wanted),
        ("It differs in upper and lower case.", loose.casefold(), wanted.casefold()),
    ):
        starts = _rows_of(hay, needle) if needle.strip() else []
        if starts:
            yield from (replace(_compared(rows, sent, start, said=said), close=True) for start in starts)
            return
    for start in _closest(rows, sent):
        yield _compared(rows, sent, start, said="The nearest lines differ in their words.")


def _squeezed(line: str) -> str:
    return "".join(line.split())


def _rows_of(hay: str, needle: str) -> list[int]:
    found: list[int] = []
    at, row, seen = hay.find(needle), 0, 0
    while at >= 0 and len(found) < 3:
        row += hay.count("\n", seen, at)
        found.append(row)
        seen, at = at, hay.find(needle, at + len(needle))
    return found


def _compared(rows: Sequence[str], sent: Sequence[str], start: int, *, said: str) -> _Alike:
    """The first line of the anchor that differs from the file's, when it is laid at row `start` (0-based)."""
    for step, line in enumerate(sent[:_COMPARED_LINES]):
        at = start + step
        row = rows[at] if 0 <= at < len(rows) else ""
        part = lines.chomp(line)
        if not _fits(lines.chomp(row), part, first=step == 0, last=step == len(sent) - 1):
            break
    else:
        step, at = 0, max(0, start)
        row, line = rows[at], sent[0]
    return _Alike(min(max(at, 0), len(rows)) + 1, *_visible(row, line), said)


def _fits(row: str, part: str, *, first: bool, last: bool) -> bool:
    if first and last:
        return part in row
    if first:
        return row.endswith(part)
    return row.startswith(part) if last else row == part


def _closest(rows: Sequence[str], sent: Sequence[str]) -> list[int]:
    """Rows at which the anchor would start so that its longest line lies beside something alike."""
    head = sent[:_COMPARED_LINES]
    key = max(range(len(head)), key=lambda i: len(head[i].strip()))
    words = set(_WORD.findall(head[key][:_COMPARED]))
    if not words:
        return []
    scored = ((len(words.intersection(_WORD.findall(row[:_COMPARED]))), -i) for i, row in enumerate(rows))
    best = heapq.nlargest(_CANDIDATES, (s for s in scored if s[0]))
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(head[key].strip()[:_COMPARED])
    ranked: list[tuple[float, int]] = []
    for _, place in best:
        matcher.set_seq1(rows[-place].strip()[:_COMPARED])
        start = -place - key
        equal = sum(
            lines.chomp(a) == lines.chomp(b)
            for a, b in zip(rows[max(start, 0) : max(start, 0) + len(head)], head, strict=False)
        )
        if (ratio := matcher.ratio()) >= 0.5 or equal:
            ranked.append((ratio + equal, start))
    return [start for _, start in heapq.nlargest(3, ranked)]


def _visible(row: str, line: str) -> tuple[str, str]:
    """Both lines as they can be seen, cut alike around their first difference."""
    same = next((i for i, (a, b) in enumerate(zip(row, line, strict=False)) if a != b), 0)
    start = max(0, same - SHOWN // 2) if max(len(row), len(line)) > SHOWN else 0

    def cut(text: str) -> str:
        part = printable(text[start : start + SHOWN])
        return ("…" if start else "") + diff.visible(part) + ("…" if len(text) > start + SHOWN else "")

    return cut(row), cut(line)
