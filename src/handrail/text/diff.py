r"""Unified differences as GNU diff writes them and `git apply` reads them, in bounded time.

It knows texts and a name, no files. In shown text a carriage return can't hide: see `visible`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from handrail.model.paths import shown
from handrail.text import lines
from handrail.text.matching import matches

Opcode = tuple[str, int, int, int, int]
_NO_NEWLINE: Final = "\\ No newline at end of file\n"


def opcodes(a: Sequence[str], b: Sequence[str]) -> list[Opcode]:
    """How `a` becomes `b`, in difflib's form: `(tag, i, j, k, m)` says what `a[i:j]` is to `b[k:m]`."""
    found: list[Opcode] = []
    i = k = 0
    for start, other, size in [*matches(a, b), (len(a), len(b), 0)]:
        if i < start or k < other:
            tag = "replace" if i < start and k < other else "delete" if i < start else "insert"
            found.append((tag, i, start, k, other))
        i, k = start + size, other + size
        if size:
            found.append(("equal", start, i, other, k))
    return found


def unified(before: str, after: str, *, name: str, context: int = 3, max_lines: int | None = None) -> str:
    r"""The unified diff of two texts, empty where they are equal.

    Lines are those of `lines.split` and stand as they are, so that `git apply` takes the result; a last line
    without an end is followed by `\ No newline at end of file`. An empty text is still a file, never `/dev/null`.
    With `max_lines` the diff ends after that many lines and a line that says how many were left out.
    """
    if before == after:
        return ""
    a, b = lines.split(before), lines.split(after)
    out = [f"--- {_header('a/', name)}\n", f"+++ {_header('b/', name)}\n"]
    left_out = 0
    for line in hunks(a, b, context):
        if max_lines is not None and len(out) >= max_lines:
            left_out += 1
        else:
            out.append(line)
    if left_out:
        out.append(f"[{left_out} more lines of this diff are not shown]\n")
    return "".join(out)


def hunks(a: Sequence[str], b: Sequence[str], context: int) -> Iterator[str]:
    """The hunks of a unified diff, a line at a time, each with its end."""
    for group in _grouped(opcodes(a, b), context):
        first, last = group[0], group[-1]
        yield f"@@ -{_span(first[1], last[2])} +{_span(first[3], last[4])} @@\n"
        for tag, i, j, k, m in group:
            if tag == "equal":
                for line in a[i:j]:
                    yield from _line(" ", line)
                continue
            for line in a[i:j]:
                yield from _line("-", line)
            for line in b[k:m]:
                yield from _line("+", line)


def _grouped(codes: list[Opcode], context: int) -> Iterator[list[Opcode]]:
    """Changes with their surroundings; those whose surroundings touch share a hunk."""
    group: list[Opcode] = []
    for number, (tag, i, j, k, m) in enumerate(codes):
        if tag != "equal":
            group.append((tag, i, j, k, m))
            continue
        length = j - i
        is_last = number == len(codes) - 1
        if group and (length > 2 * context or is_last):
            keep = min(context, length)
            yield [*group, ("equal", i, i + keep, k, k + keep)]
            group = []
        elif group:
            group.append((tag, i, j, k, m))
            continue
        if not is_last:
            lead = min(context, length)
            group = [("equal", j - lead, j, m - lead, m)]
    if any(code[0] != "equal" for code in group):
        yield group


def _span(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _line(sign: str, line: str) -> Iterator[str]:
    if line.endswith("\n"):
        yield sign + line
    else:
        yield f"{sign}{line}\n"
        yield _NO_NEWLINE


def _header(prefix: str, name: str) -> str:
    """The name as it is shown; quoted as git does where it holds an escape, tabbed as GNU does where a space."""
    spelled = shown(name)
    label = prefix + spelled.lstrip("/")
    return label + "\t" if " " in label else label


def visible(line: str) -> str:
    r"""The line with what can't be seen made so: `→` tabs, `·` blanks at its ends, `␍` carriage returns, `¶` its end.

    Other controls and marks of direction are spelled as escapes; blanks between words stay, so it reads as it did.
    """
    body = lines.chomp(line)
    end = line[len(body) :]
    core = body.strip(" ")
    lead = len(body) - len(body.lstrip(" "))
    text = "·" * lead + core + "·" * (len(body) - lead - len(core))
    text = text.replace("\t", "→").replace("\r", "␍").replace("\u00a0", "⍽")
    return _without_controls(text) + {"": "", "\n": "¶", "\r\n": "␍¶"}[end]


def readable(text: str) -> str:
    r"""A diff as a person is shown it: `␍` for carriage returns, other controls and marks of direction as escapes.

    What can't be seen can't be forged: a real `␍` is an escape too. Tabs and line ends stay.
    """
    if text.isascii() and "\r" not in text and text.isprintable():
        return text
    rows = (_without_controls(part.replace("␍", "\\u240d")) for part in re.split("([\n\t\r])", text))
    return "".join({"\\n": "\n", "\\t": "\t", "\\r": "␍"}.get(row, row) for row in rows)


def _without_controls(text: str) -> str:
    r"""The text with every hostile character as an escape; a backslash in it stays single."""
    return "".join(c if c == "\\" else shown(c) for c in text)
