r"""Unified differences as GNU diff writes them and `git apply` reads them, in bounded time.

It knows texts and a name, no files. In shown text a carriage return can't hide: see `visible`.
"""

import difflib
from collections.abc import Iterator, Sequence
from typing import Final

from handrail.model.paths import shown
from handrail.text import lines

Opcode = tuple[str, int, int, int, int]
_EFFORT: Final = 25_000_000
"""Most pairs of lines that difflib is given; beyond it the middle is one block."""
_NO_NEWLINE: Final = "\\ No newline at end of file\n"


def opcodes(a: Sequence[str], b: Sequence[str]) -> list[Opcode]:
    """How `a` becomes `b`, in difflib's form; only what lies between common start and end is compared."""
    head = 0
    limit = min(len(a), len(b))
    while head < limit and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < limit - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    old, new = a[head : len(a) - tail], b[head : len(b) - tail]
    found: list[Opcode] = [("equal", 0, head, 0, head)] if head else []
    found += [(tag, i + head, j + head, k + head, m + head) for tag, i, j, k, m in _compared(old, new)]
    if tail:
        found.append(("equal", len(a) - tail, len(a), len(b) - tail, len(b)))
    return found


def _compared(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    if not old and not new:
        return []
    if not old:
        return [("insert", 0, 0, 0, len(new))]
    if not new:
        return [("delete", 0, len(old), 0, 0)]
    if _effort(old, new) > _EFFORT:
        return [("replace", 0, len(old), 0, len(new))]
    return list(difflib.SequenceMatcher(None, old, new, autojunk=len(old) * len(new) > 1_000_000).get_opcodes())


def _effort(old: Sequence[str], new: Sequence[str]) -> int:
    """Pairs of equal lines: what difflib walks through, at least once."""
    counts: dict[str, int] = {}
    for line in new:
        counts[line] = counts.get(line, 0) + 1
    frequent = len(new) // 100 + 1 if len(new) >= 200 and len(old) * len(new) > 1_000_000 else len(new)
    walked = sum(n for line in old if (n := counts.get(line, 0)) <= frequent)
    return walked * 8 + (len(old) + len(new)) * 40


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
    for line in _hunks(a, b, context):
        if max_lines is not None and len(out) >= max_lines:
            left_out += 1
        else:
            out.append(line)
    if left_out:
        out.append(f"[{left_out} more lines of this diff are not shown]\n")
    return "".join(out)


def _hunks(a: Sequence[str], b: Sequence[str], context: int) -> Iterator[str]:
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


def _without_controls(text: str) -> str:
    r"""The text with every hostile character as an escape; a backslash in it stays single."""
    return "".join(c if c == "\\" else shown(c) for c in text)
