r"""The one line splitter: only `\n` and `\r\n` end a line. Every tool that counts rows counts these."""

import re
from typing import Final, Literal

End = Literal["\n", "\r\n"]
_BARE: Final = re.compile(r"(?<!\r)\n")


def split(text: str) -> list[str]:
    """The lines, each with its end; joined they are the text again. Empty text has no line."""
    if not text:
        return []
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    if last:
        lines.append(last)
    return lines


def chomp(line: str) -> str:
    """The line without its end."""
    if line.endswith("\r\n"):
        return line[:-2]
    return line.removesuffix("\n")


def count(text: str) -> int:
    """How many lines `split` makes."""
    return text.count("\n") + (text[-1:] not in {"", "\n"})


def dominant_end(text: str) -> End:
    r"""The line end that most lines have; `\n` for a tie or none."""
    crlf = text.count("\r\n")
    return "\r\n" if 2 * crlf > text.count("\n") else "\n"


def added_end(text: str, declared: End | None) -> End:
    """The end that a line added to the text gets: that of its lines; where they differ or are none, as declared."""
    return declared if declared and ("\n" not in text or has_mixed_ends(text)) else dominant_end(text)


def with_ends(text: str, end: str) -> str:
    """The text with every line end made `end`; what ends no line stays."""
    plain = text.replace("\r\n", "\n")
    return plain if end == "\n" else plain.replace("\n", end)


def row_at(text: str, offset: int) -> int:
    """The 1-based row that holds the character at `offset`; the end of a line belongs to it."""
    return text.count("\n", 0, offset) + 1


def offset_of(text: str, row: int) -> int:
    """Where the 1-based row starts; the length of the text for a row past the end."""
    at = 0
    for _ in range(row - 1):
        at = text.find("\n", at) + 1
        if at == 0:
            return len(text)
    return at


def has_mixed_ends(text: str) -> bool:
    """Whether some lines end one way and some the other."""
    return "\r\n" in text and _BARE.search(text) is not None
