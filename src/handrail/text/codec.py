"""Between a file's bytes and its characters, without losing one: decode, change a stretch, encode.

Which encoding it is, is decided in `detect.py`; what a line is, in `lines.py`.
"""

import codecs
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from handrail.model.errors import InvalidCall, WrongContent
from handrail.text import detect, encodings, spans
from handrail.text.detect import BLOCK, HEAD, Form, Sniffer

__all__ = [
    "BLOCK",
    "HEAD",
    "Form",
    "Sniffer",
    "Text",
    "characters",
    "chosen",
    "decode",
    "decoder",
    "encode",
    "form_of",
    "printable",
    "sniff",
]

_ESCAPED: Final = re.compile("[\udc80-\udcff]")
_LONE: Final = re.compile("[\ud800-\udfff]")
_STRAY_SHARE: Final = 100
"""With an encoding named by the caller, one byte in so many may be stray."""


@dataclass(frozen=True, slots=True)
class Text:
    """A file's bytes and the characters in them. `text` has no mark at its start, line ends as they are.

    Bytes that don't decode are lone surrogates in `text` (U+DC80 to U+DCFF); `printable` makes them fit to show.
    """

    data: bytes = field(repr=False)
    form: Form
    text: str

    def splice(self, edits: Sequence[tuple[int, int, str]]) -> bytes:
        """The bytes with each character span `[start, end)` replaced; every other byte is as it was.

        Spans stand in any order and don't overlap. Raises `WrongContent` `unencodable` for a character that the
        encoding lacks, `InvalidCall` `overlapping_edits`.
        """
        ordered = sorted(edits, key=lambda edit: edit[:2])
        flat = [at for start, end, _ in ordered for at in (start, end)]
        if flat != sorted(flat) or any(at < 0 or at > len(self.text) for at in flat):
            raise InvalidCall("overlapping_edits", "Two edits cover the same characters.")
        mark, body = len(self.form.bom), self.data[len(self.form.bom) :]
        places = spans.offsets(self.text, body, self.form.encoding, flat)
        out, at = [self.data[:mark]], 0
        for number, (_, _, new) in enumerate(ordered):
            start, end = places[2 * number], places[2 * number + 1]
            before, after = spans.shifted(body, self.form.encoding, start, end)
            piece = self._encoded(new)
            out += [body[at:start], before + piece + after if piece or before != after else b""]
            at = end
        out.append(body[at:])
        data = b"".join(out)
        self._verify(data, ordered)
        return data

    def is_regular(self) -> bool:
        """Whether any stretch of the text, encoded anew, gives the bytes that stand there."""
        if encodings.is_own_bytes(self.form.encoding):
            return True
        if encodings.joins_characters(self.form.encoding):
            return False
        try:
            again = self.text.encode(self.form.encoding, "surrogateescape")
        except UnicodeEncodeError:
            return False
        return again == self.data[len(self.form.bom) :]

    def _encoded(self, new: str) -> bytes:
        """New text alone; a stray byte may be moved about, not brought in."""
        strange = _LONE.search(new)
        if strange and strange.group() not in self.text:
            raise _unencodable(strange.group(), self.form.encoding)
        return _bytes(new, self.form.encoding, stray=True)

    def _verify(self, data: bytes, ordered: Sequence[tuple[int, int, str]]) -> None:
        """Decode what was made, in encodings where neighbours can change each other."""
        encoding = self.form.encoding
        if encodings.is_own_bytes(encoding):
            return
        parts, at = [], 0
        for start, end, new in ordered:
            parts += [self.text[at:start], new]
            at = end
        if _decoded(data[len(self.form.bom) :], encoding) != "".join([*parts, self.text[at:]]):
            raise WrongContent(
                "unencodable",
                f"This change can't be made in {encoding} without changing the characters beside it.",
                hint="Replace a larger stretch, from the start of a line to its end, or write the file as UTF-8.",
                facts={"encoding": encoding},
            )


def sniff(head: bytes, *, whole: bool) -> Form | None:
    """Text or binary by the first bytes of a file (8 KiB are enough for that), `None` = binary.

    Unless `head` is the whole file the encoding is that of the head: a file may turn out otherwise further down.
    """
    return detect.sniffed(head, whole=whole)


def decode(data: bytes, *, encoding: str | None = None) -> Text:
    """The text of a whole file; `encoding` instead of the one detected.

    Raises `WrongContent` `binary` or `undecodable`, `InvalidCall` for an encoding that nobody knows.
    """
    form = form_of(data, encoding=encoding)
    text = _decoded(data[len(form.bom) :], form.encoding)
    return Text(data, form, text)


def form_of(data: bytes, *, encoding: str | None = None) -> Form:
    """The form that `decode` uses; raises as it does."""
    if encoding is not None:
        return _named(data, encoding)
    form = detect.sniffed(data)
    if form is None:
        raise WrongContent(
            "binary",
            "This file is binary, not text.",
            hint="Name an encoding if it is text all the same; documents and pictures have their own reader.",
        )
    if form.confidence < 1 and form.encoding not in encodings.WIDE:
        stray = len(_ESCAPED.findall(_decoded(data, form.encoding)))
        form = replace(form, stray_bytes=stray)
    return form


def chosen(head: bytes, encoding: str) -> Form:
    """The form of a file whose encoding the caller named, by its first bytes; whether it fits isn't asked."""
    name = encodings.named(encoding)
    if name in {"utf-16", "utf-32"}:
        found = sniff(head, whole=False)
        name = found.encoding if found and found.encoding.startswith(name) else name + "-le"
    bom = next((bom for bom, marked in encodings.BOMS if marked == name and head.startswith(bom)), b"")
    return Form(encoding=name, bom=bom)


def _named(data: bytes, encoding: str) -> Form:
    form = chosen(data[:HEAD], encoding)
    body = data[len(form.bom) :]
    if form.encoding not in encodings.WIDE and data[:HEAD].count(0) > len(data[:HEAD]) // 1000:
        raise WrongContent(
            "binary",
            f"This file is binary, not text in {form.encoding}.",
            hint="If it is text, name its encoding: one with zero bytes is utf-16-le, utf-16-be or their 32 bit forms.",
        )
    try:
        body.decode(form.encoding)
    except UnicodeDecodeError as error:
        text = _decoded(body, form.encoding)
        stray = len(_LONE.findall(text))
        if stray * _STRAY_SHARE > max(len(body), _STRAY_SHARE):
            raise undecodable(form.encoding, body[error.start], error.start + len(form.bom)) from None
        return replace(form, stray_bytes=stray)
    return form


def undecodable(encoding: str, byte: int, offset: int) -> WrongContent:
    """The failure for bytes that aren't text in the encoding that the caller named."""
    return WrongContent(
        "undecodable",
        f"This file isn't text in {encoding}: byte 0x{byte:02x} at offset {offset} can't be decoded.",
        hint="Leave encoding out to have it detected.",
        facts={"encoding": encoding, "offset": offset},
    )


def decoder(form: Form) -> codecs.IncrementalDecoder:
    """A decoder for a file that streams, started behind the mark; it keeps bytes that don't decode, as `decode`."""
    made = codecs.getincrementaldecoder(form.encoding)(encodings.keeps_bytes(form.encoding))
    made.decode(encodings.PREAMBLE.get(form.encoding, b""))
    return made


def encode(text: str, form: Form) -> bytes:
    """The bytes of a whole text in this form, its mark first.

    Lone surrogates are stray bytes where the form has some, else they are refused. Raises `WrongContent`
    `unencodable` naming the character.
    """
    strange = None if form.stray_bytes else _LONE.search(text)
    if strange:
        raise _unencodable(strange.group(), form.encoding)
    return form.bom + _bytes(text, form.encoding, stray=form.stray_bytes > 0)


def printable(text: str) -> str:
    """The text with U+FFFD for every stray byte, so that it can travel as UTF-8; as long as it was."""
    return text if text.isascii() else _LONE.sub("\ufffd", text)


def characters(body: bytes, form: Form) -> str:
    """The text of bytes that start and end between characters, from anywhere behind the mark."""
    return _decoded(encodings.PREAMBLE.get(form.encoding, b"") + body, form.encoding)


def _decoded(body: bytes, encoding: str) -> str:
    """All characters; a unit cut off at the end of UTF-16 or UTF-32 becomes lone surrogates, one a byte."""
    try:
        if encoding not in encodings.WIDE:
            return body.decode(encoding, "surrogateescape")
        whole = len(body) // encodings.unit(encoding) * encodings.unit(encoding)
        rest = "".join(chr(0xDC00 + byte) for byte in body[whole:])
        return body[:whole].decode(encoding, "surrogatepass") + rest
    except UnicodeDecodeError as error:
        raise undecodable(encoding, body[error.start], error.start) from None


def _bytes(text: str, encoding: str, *, stray: bool) -> bytes:
    try:
        data = text.encode(encoding, encodings.keeps_bytes(encoding) if stray else "strict")
    except UnicodeEncodeError as error:
        raise _unencodable(text[error.start], encoding) from None
    if not encodings.is_own_bytes(encoding):
        for character in set() if _decoded(data, encoding) == text else set(text):
            if _decoded(character.encode(encoding, "surrogateescape"), encoding) != character:
                raise _unencodable(character, encoding)
    return data


def _unencodable(character: str, encoding: str) -> WrongContent:
    code = f"U+{ord(character):04X}"
    name = unicodedata.name(character, "no character")
    return WrongContent(
        "unencodable",
        f"{code} ({name}) can't be written in {encoding}, the encoding of this file.",
        hint=f"Use characters that {encoding} has, or write the whole file anew in UTF-8.",
        facts={"character": code, "name": name, "encoding": encoding},
    )
