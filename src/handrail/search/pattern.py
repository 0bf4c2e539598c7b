r"""What a search pattern means: google-re2 judges it, and it is said again in the dialect of ripgrep's engine.

ripgrep's rows are a superset where the two see different text (a CR before the line end): `exact` says when they can't.
"""

from dataclasses import dataclass
from typing import Final

import re2

from handrail.model.errors import InvalidCall
from handrail.search.dialect import translated

LONGEST: Final = 64 << 10
"""Characters in a pattern."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A pattern that can be run. `rows` finds matches in one row without its end, or in a whole text (multiline).

    `scan` finds in a whole text where the next matching row may lie; it is `None` when rows must be tried one by one.
    `ripgrep` is the same in ripgrep's dialect; `exact`: its rows need no second look. `never`: it
    holds a line end, which no row has in it.
    """

    text: str
    literal: bool
    multiline: bool
    rows: "re2._Regexp"
    scan: "re2._Regexp | None"
    ripgrep: str
    exact: bool
    never: bool


def compile(  # noqa: A001 (the verb that regular expressions have everywhere)
    text: str, *, literal: bool = False, ignore_case: bool = False, multiline: bool = False
) -> Pattern:
    """Judge and translate a pattern; raises `InvalidCall` `invalid_pattern` with `position` (1-based character)."""
    if len(text) > LONGEST:
        raise InvalidCall("invalid_pattern", f"The pattern has more than {LONGEST} characters.")
    source = _source(text)
    expression = re2.escape(source) if literal else source
    flags = ("i" if ignore_case else "") + ("sm" if multiline else "")
    judged = _compiled(f"(?{flags}){expression}" if flags else expression, text)
    said = translated(expression, multiline=multiline)
    return Pattern(
        text=text,
        literal=literal,
        multiline=multiline,
        rows=judged,
        scan=None
        if multiline or said.anchors
        else _compiled(f"(?{'i' if ignore_case else ''}m){expression}", text, within_rows=True),
        ripgrep=(f"(?{flags})" if flags else "") + said.text,
        exact=not said.sees_cr and not multiline,
        never=said.needs_line_end and not multiline,
    )


def _source(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidCall(
            "invalid_pattern",
            f"The pattern holds a lone surrogate at character {error.start + 1}, which no text has.",
            facts={"position": error.start + 1},
        ) from None
    return text


def _compiled(expression: str, text: str, *, within_rows: bool = False) -> "re2._Regexp":
    options = re2.Options()
    options.never_nl = within_rows
    options.log_errors = False
    options.max_mem = 64 << 20
    try:
        return re2.compile(expression.encode(), options)
    except re2.error as error:
        said = error.args[0] if error.args else b""
        raise _refused(text, said.decode(errors="replace") if isinstance(said, bytes) else str(said)) from None


def _refused(text: str, said: str) -> InvalidCall:
    why, _, part = said.partition(": ")
    position = _position(text, why, part)
    plain = re2.escape(text)
    what = f"{why}: {part[:100]}" if part and part != text else why
    hint = "As literal text it is fine: set literal=true"
    hint += f", or escape it: {plain}" if len(plain) <= 200 else ", or put a \\ before each special character"
    if why.startswith("invalid perl operator"):
        hint = f"Expressions are RE2: no look-around, no back-references. {hint}"
    return InvalidCall(
        "invalid_pattern",
        f"The regular expression can't be read at character {position}: {what}.",
        hint=hint + ".",
        facts={"position": position},
    )


def _position(text: str, why: str, part: str) -> int:
    if why == "missing )":
        return _unclosed(text) + 1
    if why in {"missing ]", "trailing \\"} or not part:
        return max(text.rfind("[") if why == "missing ]" else len(text) - 1, 0) + 1
    if why == "unexpected )":
        return _unopened(text) + 1
    return max(text.find(part), 0) + 1


def _unclosed(text: str) -> int:
    opened: list[int] = []
    for at, character in _plain(text):
        if character == "(":
            opened.append(at)
        elif character == ")" and opened:
            opened.pop()
    return opened[-1] if opened else 0


def _unopened(text: str) -> int:
    depth = 0
    for at, character in _plain(text):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return at
    return 0


def _plain(text: str) -> list[tuple[int, str]]:
    """The characters that aren't escaped and stand in no class, with their places."""
    found: list[tuple[int, str]] = []
    at = 0
    inside = False
    while at < len(text):
        if text[at] == "\\":
            at += 2
            continue
        if inside:
            inside = text[at] != "]"
        elif text[at] == "[":
            inside = True
            at += len(text[at + 1 : at + 3]) - len(text[at + 1 : at + 3].removeprefix("^").removeprefix("]"))
        else:
            found.append((at, text[at]))
        at += 1
    return found
