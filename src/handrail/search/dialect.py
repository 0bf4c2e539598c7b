r"""Says an RE2 expression in the dialect of ripgrep's engine; the expression is known to be good RE2.

RE2 has ASCII `\d \w \s \b`, literal `{`, and classes without set operations; rows have no line end, and may end in CR.
"""

import re
from dataclasses import dataclass
from typing import Final

NOTHING: Final = r"[^\s\S]"
"""Matches no character at all; a NUL is that too, for files that hold one aren't ripgrep's to search."""

_REPEAT: Final = re.compile(r"\{\d+(?:,\d*)?\}")
_REPEATS: Final = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})\??")
_GROUP: Final = re.compile(r"\(\?(?:P?<[^>]*>|(?P<flags>[imsU]*(?:-[imsU]*)?)(?P<end>[:)]))")
_ESCAPE: Final = re.compile(
    r"\\(?:(?P<unicode>[pP](?:\{\^?[^}]*\}|.))|x\{(?P<long>[0-9A-Fa-f]+)\}|x(?P<short>[0-9A-Fa-f]{2})"
    r"|(?P<octal>0[0-7]{0,2}|[1-7][0-7]{1,2})|(?P<other>.))",
    re.DOTALL,
)
_NAMED: Final = {"a": "\x07", "f": "\x0c", "n": "\n", "r": "\r", "t": "\t", "v": "\x0b"}
_PERL: Final = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\x0c\r\x20"}
_POSIX: Final = re.compile(r"\[:\^?[a-z]+:\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The translation. `sees_cr`: it may match a CR, or stop before one; `anchors`: it holds `\\A`, `\\z` or `(?-m)`.

    `needs_line_end`: a line end stands in it as a character.
    """

    text: str
    sees_cr: bool
    anchors: bool
    needs_line_end: bool


def translated(expression: str, *, multiline: bool) -> Said:
    """Translate a whole expression; in multiline its matches cover at least RE2's, with CR LF for a line end."""
    return _Translation(expression, multiline=multiline).run()


class _Translation:
    def __init__(self, expression: str, *, multiline: bool) -> None:
        self.expression = expression
        self.multiline = multiline
        self.at = 0
        self.sees_cr = False
        self.anchors = False
        self.needs_line_end = False

    def run(self) -> Said:
        pieces: list[str] = []
        while self.at < len(self.expression):
            pieces.append(self._next())
        return Said(
            text="".join(pieces),
            sees_cr=self.sees_cr,
            anchors=self.anchors,
            needs_line_end=self.needs_line_end,
        )

    def _next(self) -> str:
        character = self.expression[self.at]
        if character == "\\":
            return self._escape()
        if character == "[":
            return self._class()
        if character == "(":
            return self._group()
        self.at += 1
        if character == ".":
            return self._any(".")
        if character == "$":
            return self._end()
        if character == "{":
            return self._repeat()
        if character in "^)|*+?":
            return character
        return self._literal(character)

    def _group(self) -> str:
        found = _GROUP.match(self.expression, self.at)
        if found is None:
            self.at += 1
            return "("
        self.at = found.end()
        flags = found.group("flags")
        if flags is None:
            return "("
        on, _, off = flags.partition("-")
        self.anchors = self.anchors or "m" in flags
        on = "".join(dict.fromkeys(on.replace("m", "")))
        off = "".join(dict.fromkeys(off.replace("m", "")))
        on = "".join(c for c in on if c not in off)
        said = on + (f"-{off}" if off else "")
        if found.group("end") == ")":
            return self._repeats() + (f"(?{said})" if said else "")
        return f"(?{said}:"

    def _repeats(self) -> str:
        # RE2 lets flags stand between an atom and what repeats it.
        found = _REPEATS.match(self.expression, self.at)
        self.at = found.end() if found else self.at
        return found.group() if found else ""

    def _repeat(self) -> str:
        found = _REPEAT.match(self.expression, self.at - 1)
        if found is None:
            return r"\{"
        self.at = found.end()
        return found.group()

    def _escape(self) -> str:
        if self.expression.startswith("\\Q", self.at):
            end = self.expression.find("\\E", self.at)
            end = len(self.expression) if end < 0 else end
            text = self.expression[self.at + 2 : end]
            self.at = end + 2
            return "".join(self._literal(c) for c in text)
        found = self._escaped()
        if found.group("unicode"):
            return self._any(f"[{_unicode(found.group('unicode'))}]")
        other = found.group("other")
        if other in {"A", "z"}:
            self.anchors = True
            return "^" if other == "A" else self._end()
        if other in {"b", "B"}:
            self.sees_cr = self.sees_cr or other == "B"
            return rf"(?-u:\{other})"
        if other == "C":
            return self._any("(?s-u:.)")
        if other in {"d", "w"}:
            return f"[{_PERL[other]}]"
        if other in {"D", "W", "S", "s"}:
            return self._any(f"[{'' if other == 's' else '^'}{self._perl(other.lower(), negated=other != 's')}]")
        if other == "E":
            return ""
        return self._literal(_character(found))

    def _escaped(self) -> "re.Match[str]":
        found = _ESCAPE.match(self.expression, self.at)
        if found is None:
            raise AssertionError("RE2 accepts no lone escape")
        self.at = found.end()
        return found

    def _perl(self, name: str, *, negated: bool) -> str:
        return _PERL[name] if self.multiline or negated else _PERL[name].replace(r"\n", "")

    def _literal(self, character: str) -> str:
        if character == "\n":
            self.needs_line_end = True
            return r"(?:\r?\n)" if self.multiline else NOTHING
        if character == "\r":
            self.sees_cr = True
        return NOTHING if character == "\0" else _quoted(character)

    def _any(self, piece: str) -> str:
        self.sees_cr = True
        return rf"(?:\r\n|{piece})" if self.multiline else piece

    def _end(self) -> str:
        self.sees_cr = True
        return r"(?:\r?$)"

    def _class(self) -> str:
        self.at += 1
        negated = self.expression.startswith("^", self.at)
        self.at += negated
        members: list[str] = []
        first = True
        while first or self.expression[self.at] != "]":
            members.append(self._member())
            first = False
        self.at += 1
        inside = "".join(members)
        if not inside:
            return self._any(r"(?s:.)") if negated else NOTHING
        said = f"[{'^' if negated else ''}{inside}]"
        wide = negated or self.sees_cr or "\\p" in inside or "[" in inside
        return self._any(said) if wide else said

    def _member(self) -> str:
        posix = _POSIX.match(self.expression, self.at)
        if posix:
            self.at = posix.end()
            self.sees_cr = self.sees_cr or posix.group() == "[:space:]"
            return posix.group()
        if self.expression[self.at] == "\\":
            found = _ESCAPE.match(self.expression, self.at)
            if found and found.group("unicode"):
                self.at = found.end()
                return _unicode(found.group("unicode"))
            other = found.group("other") if found else None
            if found and other is not None and other in "dswDSW":
                self.at = found.end()
                self.sees_cr = self.sees_cr or other not in "dw"
                return _PERL[other] if other in _PERL else f"[^{_PERL[other.lower()]}]"
        low = self._bound()
        high = low
        if self.expression.startswith("-", self.at) and not self.expression.startswith("-]", self.at):
            self.at += 1
            high = self._bound()
        return self._range(low, high)

    def _bound(self) -> str:
        if self.expression[self.at] == "\\":
            return _character(self._escaped())
        self.at += 1
        return self.expression[self.at - 1]

    def _range(self, low: str, high: str) -> str:
        self.sees_cr = self.sees_cr or low <= "\r" <= high
        if self.multiline or not low <= "\n" <= high:
            if low == high:
                return "" if low == "\0" else _quoted(low)
            return f"{_quoted(low)}-{_quoted(high)}"
        parts = [part for part in ((low, "\t"), ("\x0b", high)) if part[0] <= part[1]]
        return "".join(f"{_quoted(a)}-{_quoted(b)}" for a, b in parts)


def _character(found: "re.Match[str]") -> str:
    if found.group("long"):
        return chr(int(found.group("long"), 16))
    if found.group("short"):
        return chr(int(found.group("short"), 16))
    if found.group("octal"):
        return chr(int(found.group("octal"), 8))
    other = found.group("other")
    return _NAMED.get(other, other)


def _unicode(text: str) -> str:
    name = text[2:-1] if text[1] == "{" else text[1]
    negated = (text[0] == "P") != name.startswith("^")
    name = name.removeprefix("^")
    if name == "Any":
        return NOTHING if negated else r"\x{0}-\x{10FFFF}"
    return rf"\{'P' if negated else 'p'}{{{name}}}"


def _quoted(character: str) -> str:
    if character.isalnum() and character.isascii():
        return character
    return rf"\x{{{ord(character):X}}}" if character < " " or character in "\x7f \"'<>" else _punctuated(character)


def _punctuated(character: str) -> str:
    return "\\" + character if character in r"\.+*?()|[]{}^$#&-~/" else character
