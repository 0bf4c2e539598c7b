"""What is declared of a file's text beforehand (configuration, `.editorconfig`), and whether the bytes bear it out.

It knows texts and bytes; which files say so is found out in `guard/declarations.py`.
"""

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from handrail.model.errors import HandrailError
from handrail.text import codec, detect, encodings, lines
from handrail.text.codec import Form, Text
from handrail.text.globs import Matcher

LOOKED_AT: Final = 1 << 20
"""Bytes from the start of a file that must be text in the declared encoding."""
_SECTION: Final = re.compile(r"\[(.*)\]\s*(?:[#;].*)?")
_RANGE: Final = re.compile(r"\{(-?\d+)\.\.(-?\d+)\}")
_MOST_NUMBERS: Final = 1000
_DEEP: Final = re.compile(r"(?<=/)\*\*(?=[^/*])")
_CHARSETS: Final = {
    "latin1": ("latin-1", False),
    "utf-8": ("utf-8", False),
    "utf-8-bom": ("utf-8", True),
    "utf-16be": ("utf-16-be", True),
    "utf-16le": ("utf-16-le", True),
}
_ENDS: Final[Mapping[str, lines.End]] = {"lf": "\n", "crlf": "\r\n"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What is declared: the encoding, and for new text the mark, the line end, whether a last line is ended."""

    encoding: str | None = None
    mark: bool = False
    end: lines.End | None = None
    final_newline: bool = False

    def encoding_of(self, head: bytes) -> str | None:
        """The declared encoding where bytes from the start of a file bear it out; `None`: have it detected."""
        head = head[:LOOKED_AT]
        if self.encoding is None or not head or any(head.startswith(bom) for bom, _ in encodings.BOMS):
            return None
        return self.encoding if _fits(head, self.encoding) else None

    def decode(self, data: bytes) -> Text:
        """The text of a whole file, in the declared encoding where it is that; raises as `codec.decode`."""
        if not data:
            return Text(data, self.form(), "")
        return codec.decode(data, encoding=self.encoding_of(data))

    def form(self) -> Form:
        """The form of a new file; what has wide units gets a mark, so that everybody can tell."""
        encoding = self.encoding or "utf-8"
        wants = self.mark or encoding in encodings.WIDE
        bom = next((bom for bom, marked in encodings.BOMS if marked == encoding), b"") if wants else b""
        return Form(encoding=encoding, bom=bom)


NOTHING: Final = Declared()


def _fits(head: bytes, encoding: str) -> bool:
    if detect.is_other_format(head):
        return False
    wide = encoding in encodings.WIDE
    if wide and 0 not in head and _text(head, "utf-8") is not None:
        return False
    text = _text(head, encoding)
    return text is not None and (wide or "\0" not in text[: detect.HEAD])


def _text(head: bytes, encoding: str) -> str | None:
    try:
        return codecs.getincrementaldecoder(encoding)("strict").decode(head, len(head) < LOOKED_AT)
    except UnicodeDecodeError:
        return None


class Sections:
    """The sections of one `.editorconfig`, in order; what can't be read in it is passed over, as editors do."""

    def __init__(self, text: str) -> None:
        self.root = False
        self._sections: list[tuple[Matcher, dict[str, str]]] = []
        current: dict[str, str] | None = None
        for line in map(str.strip, text.removeprefix("\ufeff").split("\n")):
            section = _SECTION.fullmatch(line)
            if section:
                current = {}
                self._sections += [(matcher, current) for matcher in _matcher(section.group(1))]
            elif line and line[0] not in "#;" and "=" in line:
                key, _, value = (part.strip().lower() for part in line.partition("="))
                value = re.split(r"\s[#;]", value)[0].strip()
                if current is not None:
                    current[key] = value
                elif key == "root":
                    self.root = value == "true"

    def of(self, name: str) -> dict[str, str]:
        """What they say of a file by its path relative to theirs; later sections win."""
        found: dict[str, str] = {}
        for matcher, properties in self._sections:
            if matcher.match("/" + name):
                found |= properties
        return found


def from_properties(properties: Mapping[str, str]) -> Declared:
    """What the properties of `.editorconfig` declare; unknown values declare nothing."""
    encoding, mark = _CHARSETS.get(properties.get("charset", ""), (None, False))
    return Declared(
        encoding=encoding,
        mark=mark,
        end=_ENDS.get(properties.get("end_of_line", "")),
        final_newline=properties.get("insert_final_newline") == "true",
    )


def _matcher(glob: str) -> Iterator[Matcher]:
    """The section's glob in our dialect, which is nearly the same; nothing where it is none."""
    glob = _DEEP.sub("{*,**/*}", _RANGE.sub(_numbers, glob))
    try:
        yield Matcher(["/" + glob.removeprefix("/") if "/" in glob else glob])
    except HandrailError:
        return


def _numbers(match: re.Match[str]) -> str:
    first, last = sorted((int(match.group(1)), int(match.group(2))))
    return "{" + ",".join(map(str, range(first, last + 1))) + "}" if last - first < _MOST_NUMBERS else match.group()
