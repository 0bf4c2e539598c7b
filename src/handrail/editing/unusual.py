"""What a person should notice before text is written: a file that shrinks, a placeholder where text was meant.

Pure. It compares texts; it never refuses.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from handrail.model.errors import WrongContent
from handrail.text import lines
from handrail.text.declared import Declared

_SHRINKS_FROM: Final = 20
"""Rows below which a file that loses most of itself is nothing unusual."""
_LOOKED_AT: Final = 400
"""Characters of a line that are looked at."""
_OPENS: Final = r"^\s*(?:#+|//+|/\*+|\*+|--+|;+|%+|<!--|\{/\*|'''|\"\"\"|\(\*)?\s*[\[(<{]?\s*"
_WHOLE: Final = r"(?:code|file|function|method|class|content|contents|text|document|section|implementation|lines?)"
_MAYBE: Final = ("...", "\u2026", "rest", "remain", "existing", "\u0131", "i\u0307", "\u017f")
"""What any placeholder holds, in small letters, and what is none but passes for one; most texts have none of it."""
_ELLIPSIS: Final = re.compile(
    _OPENS + r"(?:\.{3,}|\u2026)\s*[\[(<{]?\s*(?:(?:the|keep|all|your|of|and)\s+)*"
    r"(?:rest|remaining|remainder|existing|unchanged|omitted|previous|same|other)\b",
    re.IGNORECASE,
)
_SAID: Final = re.compile(
    _OPENS
    + r"(?:(?:the|keep|all|your)\s+)*(?:rest|remaining|remainder|existing)\s+(?:of\s+)?(?:(?:the|this|your)\s+)*"
    + _WHOLE
    + r"(?:\s+(?:is|are|stays?|remains?|goes|continues))?\s*"
    + r"(?:\.{3,}|\u2026|unchanged|omitted|the same|same as|as is|as before|here\b)",
    re.IGNORECASE,
)


def placeholders(before: str, after: str, *, rows: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Added lines that stand for text instead of being it ("// ... rest of the code"); at most three.

    Looked at are the ranges `rows` (1-based, ends included) of the lines of `after`.
    """
    small = after.lower()
    if not any(part in small for part in _MAYBE):
        return
    new = lines.split(after)
    looks_like = (
        (row, text)
        for first, last in rows
        for row in range(first, last + 1)
        if _is_placeholder(text := lines.chomp(new[row - 1])[:_LOOKED_AT])
    )
    old: set[str] | None = None
    found = 0
    for row, text in looks_like:
        if old is None:
            old = {line.strip()[:_LOOKED_AT] for line in lines.split(before)}
        if text.strip() not in old:
            yield f"Row {row} looks like a placeholder for text that was left out: `{text.strip()[:80]}`."
            found += 1
        if found == 3:
            return


def _is_placeholder(text: str) -> bool:
    return _ELLIPSIS.match(text) is not None or _SAID.match(text) is not None


def shrinkage(before: int, after: int) -> str:
    """A sentence when a file of `before` lines keeps less than half of them, else nothing."""
    if before < _SHRINKS_FROM or 2 * after >= before:
        return ""
    return f"The file shrinks from {before} lines to {after}."


def misread(data: bytes, text: str, declared: Declared) -> Iterator[str]:
    """A sentence when these bytes, being neither plain nor marked, will be taken for something else than `text`."""
    if "\0" not in text and declared.encoding is None and _is_utf8(data):
        return
    try:
        found = declared.decode(data)
    except WrongContent:
        yield "The file will be taken for binary from now on."
        return
    if found.text != text:
        yield f"The file will be taken for {found.form.encoding} from now on; name its encoding when you read it."


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
