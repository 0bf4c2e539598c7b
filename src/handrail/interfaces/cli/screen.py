"""What reaches a terminal: cleaned text, tables, coloured diffs, JSON. It never lets a control character through."""

import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TextIO

_HOSTILE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_CODES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}

LINE_SHOWN: Final = 2000
"""Characters of one line of a diff; the rest is counted."""

Paint = Callable[[str, str], str]

_NEXT = {
    "version_not_found": "`handrail history` lists the versions.",
    "task_not_found": "`handrail history` lists the tasks.",
    "not_restorable": "`handrail history` lists the versions that can be put back.",
}
"""What a person does next, by the kind of failure, where the tool's own hint names a tool."""


def block(text: str) -> str:
    """The text with everything spelled out that a terminal would obey or hide; line ends and tabs stay."""
    return _HOSTILE.sub(_spelled, text)


def line(text: str) -> str:
    """The same for text that must stay on one line."""
    return block(text).replace("\n", "\\n").replace("\t", "\\t")


def painter(stream: TextIO) -> Paint:
    """How to colour a piece of clean text for this stream; without colours where it isn't a terminal that has them."""
    wanted = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return _paint if wanted else lambda text, _: text


def diff(text: str, paint: Paint, *, rows: int | None = None) -> str:
    """A unified diff, cleaned and coloured, `rows` lines at most; what is left out is counted."""
    lines = text.removesuffix("\n").split("\n")
    shown = lines if rows is None else lines[:rows]
    body = False
    painted = []
    for row in shown:
        body = body or row.startswith("@@")
        painted.append(_diff_line(row, body, paint, whole=rows is None))
    if len(shown) < len(lines):
        painted.append(paint(f"... {len(lines) - len(shown)} more lines", "yellow"))
    return "\n".join(painted) + "\n"


def as_json(value: object, *, indent: int | None = None) -> str:
    """JSON that is readable in any script and safe on a terminal: what is hostile is written as an escape."""
    return _HOSTILE.sub(_json_escape, json.dumps(value, ensure_ascii=False, indent=indent, default=str))


def write_json(value: object) -> None:
    """JSON on standard output, in UTF-8 whatever the locale; spread out on a terminal."""
    text = as_json(value, indent=2 if sys.stdout.isatty() else None) + "\n"
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def write_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str) -> None:
    """A table on a terminal; elsewhere lines of columns divided by tabs. Cells are cleaned here.

    That there is no row is said on standard error where the output is read by a program.
    """
    clean = [[line(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in [list(columns), *clean] if clean else []:
            say("\t".join(row) + "\n")
        if not clean:
            whisper(empty + "\n")
        return
    if not clean:
        say(empty + "\n")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in clean:
        table.add_row(*(Text(cell) for cell in row))
    Console(highlight=False, markup=False).print(table)


def complain(message: str, hint: str = "") -> None:
    """One sentence, and what to do next, on standard error."""
    paint = painter(sys.stderr)
    whisper(f"{paint('handrail:', 'red')} {block(message)}\n" + (f"  {block(hint)}\n" if hint else ""))


def complain_of(payload: Mapping[str, object]) -> None:
    """A failed call in the words of the command line: what to do next is a command here, not a tool."""
    hint = _NEXT.get(str(payload.get("kind")), payload.get("hint", ""))
    complain(str(payload.get("error", "")), str(hint))


def say(text: str) -> None:
    """Clean text, as it is, on standard output."""
    sys.stdout.write(text)
    sys.stdout.flush()


def whisper(text: str) -> None:
    """Clean text, as it is, on standard error, where it is in no program's way."""
    sys.stderr.write(text)
    sys.stderr.flush()


def _paint(text: str, style: str) -> str:
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m"


def _diff_line(row: str, body: bool, paint: Paint, *, whole: bool) -> str:
    carriage = body and row.endswith("\r")
    text = block(row[:-1] if carriage else row)
    more = "" if whole or len(text) <= LINE_SHOWN else f" ... {len(text) - LINE_SHOWN} more characters"
    if more:
        text = text[:LINE_SHOWN]
    style = {"@": "cyan", "+": "green", "-": "red"}.get(row[:1]) if body else "bold"
    return (paint(text, style) if style and text else text) + (paint("␍", "dim") if carriage else "") + more


def _spelled(match: re.Match[str]) -> str:
    code = ord(match.group())
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return "\\r" if code == 0x0D else f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(match: re.Match[str]) -> str:
    return json.dumps(match.group())[1:-1] if ord(match.group()) != 0x7F else "\\u007f"
