"""Text or binary, and in which encoding: decided once, by content, for every tool.

Rule: spec of the batch tools, "Text or binary is decided once". It sees bytes only, in pieces of any size.
"""

import codecs
import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from handrail.text import encodings

HEAD: Final = 8192
"""Bytes in which NULs and code units are looked for."""
BLOCK: Final = 1 << 18
"""Bytes that are fed at a time; always the same, so that every tool decides alike."""
_SAMPLE: Final = 1 << 16
_STRAY_SHARE: Final = 0.001
_CONTROLS: Final = bytes(c for c in range(32) if c not in b"\t\n\r\f\b\x1b\x00") + b"\x7f"
_ASCII: Final = bytes(range(128))
_ESCAPED: Final = re.compile("[\udc80-\udcff]")
_NEVER_TEXT: Final = (
    re.compile(rb"%PDF-\d"),
    re.compile(rb"PK(?:\x03\x04|\x05\x06|\x07\x08)"),
    re.compile(rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a[\x00-\xff]{2}[\x00-\xff]{2}[\x80-\xff]|\x1f\x8b\x08|BZh\d1AY&SY"),
    re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1|7z\xbc\xaf\x27\x1c|Rar!\x1a\x07|\xfd7zXZ|\x28\xb5\x2f\xfd|\x7fELF"),
)
"""Starts of formats that hold text by chance only; `reading/kinds.py` tells them apart."""
_DESIGNATED: Final = {
    "iso2022_jp": re.compile(rb"\x1b\$[@B]|\x1b\(J"),
    "iso2022_kr": re.compile(rb"\x1b\$\)C"),
}
"""Encodings that look like ASCII, and the escapes that give them away."""
_NARROW: Final = {
    "gb18030": "gbk",
    "cp932": "shift_jis",
    "cp949": "euc_kr",
    "big5hkscs": "big5",
    "euc_jis_2004": "euc_jp",
}
"""The plainer name of an encoding, taken where the text needs no more."""
_MULTIBYTE: Final = ("gb", "big5", "shift_jis", "cp932", "cp949", "euc", "johab")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How text stands in bytes. `encoding` is Python's and is shown; `confidence` is below 1 where it was guessed.

    `stray_nuls` and `stray_bytes` count NULs and bytes that don't decode, in what was looked at.
    """

    encoding: str = "utf-8"
    bom: bytes = b""
    confidence: float = 1.0
    stray_nuls: int = 0
    stray_bytes: int = 0


class Sniffer:
    """Decides the form of bytes that are fed in order; memory stays bounded whatever their number."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._size = self._nuls = self._high = self._wide = self._escapes = 0
        self._sample = bytearray()
        self._utf8 = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        if len(self._head) < HEAD:
            self._head += chunk[: HEAD - len(self._head)]
        self._size += len(chunk)
        self._nuls += chunk.count(0) if 0 in chunk else 0
        if chunk.isascii() and not self._utf8.getstate()[0]:
            return
        self._count(self._utf8.decode(chunk))
        self._high += len(chunk.translate(None, _ASCII))
        if len(self._sample) < _SAMPLE:
            self._sample += _telling(chunk, _SAMPLE - len(self._sample))

    def marked(self) -> Form | None:
        """The form that the first bytes show by a mark or by their units; enough to know how lines end."""
        head = bytes(self._head)
        return _by_bom(head) or _by_units(head) or _by_escapes(head)

    def form(self, *, whole: bool = True) -> Form | None:
        """The form of what was fed, `None` for binary; `whole` says that nothing follows."""
        head = bytes(self._head)
        if not head:
            return Form()
        marked = self.marked()
        if marked is not None and marked.encoding != "utf-8":
            return marked
        nuls = head.count(0)
        if marked is None and (nuls > _STRAY_SHARE * len(head) or any(p.match(head) for p in _NEVER_TEXT)):
            return None
        if whole:
            self._count(self._utf8.decode(b"", True))
        bom = marked.bom if marked else b""
        if marked or self._is_utf8():
            return Form(bom=bom, stray_nuls=self._nuls, stray_bytes=self._escapes)
        return self._guessed(bool(nuls))

    def _count(self, text: str) -> None:
        if not text.isascii():
            escapes = len(_ESCAPED.findall(text))
            self._escapes += escapes
            self._wide += len(re.findall("[^\x00-\x7f]", text)) - escapes

    def _is_utf8(self) -> bool:
        """No stray bytes, or so few beside real sequences that another encoding is unlikely.

        A sequence of two bytes happens by chance in legacy text and counts one, longer ones count three and five.
        """
        evidence = 2 * (self._high - self._escapes) - 3 * self._wide
        return self._escapes == 0 or evidence >= 2 * self._escapes

    def _guessed(self, has_nuls: bool) -> Form | None:
        sample = bytes(self._sample)
        if len(sample) - len(sample.translate(None, _CONTROLS)) > max(1, len(sample) // 50):
            return None
        found = _detected(sample)
        if found is None or (has_nuls and found[1] < 0.2):
            return None
        stray = sum(1 for _ in _ESCAPED.finditer(sample.decode(found[0], "surrogateescape")))
        return Form(encoding=found[0], confidence=found[1], stray_nuls=self._nuls, stray_bytes=stray)


def sniffed(data: bytes, *, whole: bool = True) -> Form | None:
    """The form of a whole content; the same as when it streams past a `Sniffer` in blocks of `BLOCK`."""
    sniffer = Sniffer()
    for start in range(0, len(data), BLOCK):
        sniffer.feed(data[start : start + BLOCK])
    return sniffer.form(whole=whole)


def is_plain(data: bytes) -> bool:
    """Whether a whole content is UTF-8 text beyond doubt; false says that it must be looked at, not that it isn't."""
    if b"\0" in data or b"\x1b" in data or any(p.match(data) for p in _NEVER_TEXT):
        return False
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def is_other_format(head: bytes) -> bool:
    """Whether the first bytes are those of a format that is no text, whatever it may decode to."""
    return any(pattern.match(head) for pattern in _NEVER_TEXT)


def _telling(chunk: bytes, room: int) -> bytes:
    """The lines that hold bytes beyond ASCII, the rest of a long text left out."""
    if len(chunk) <= room:
        return chunk
    lines = (line for line in chunk.split(b"\n") if not line.isascii())
    return b"\n".join(lines)[:room]


def _by_bom(head: bytes) -> Form | None:
    for bom, encoding in encodings.BOMS:
        if not head.startswith(bom):
            continue
        if encoding == "utf-8":
            return Form(bom=bom)
        text = _units(head[len(bom) :], encoding)
        if text is not None and sum(map(_is_odd, text)) <= len(text) // 20:
            return Form(encoding=encoding, bom=bom)
    return None


def _by_units(head: bytes) -> Form | None:
    """UTF-16 or UTF-32 without a mark: every unit a plausible character, some of them ASCII.

    Strings of ASCII between NULs look like Chinese when taken in pairs, so bytes that are all ASCII make none.
    """
    if 0 not in head or len(head) < 4:
        return None
    best: tuple[int, str] | None = None
    for encoding, size in encodings.WIDE.items():
        if len(head) % size and len(head) < HEAD:
            continue
        text = _units(head, encoding)
        if not text or any(map(_is_odd, text)):
            continue
        plain = sum(c < "\x80" for c in text)
        paired = head.isascii() and max(text) >= "\u2000"
        believable = plain == len(text) or (len(text) > 2 and not paired and plain > len(text) // 128)
        if believable and (best is None or plain > best[0]):
            best = plain, encoding
    return Form(encoding=best[1], confidence=0.95) if best else None


def _by_escapes(head: bytes) -> Form | None:
    """ISO-2022: ASCII throughout, with the escapes that designate its character sets, and it decodes."""
    if b"\x1b" not in head or not head.isascii():
        return None
    for encoding, escapes in _DESIGNATED.items():
        if escapes.search(head):
            try:
                codecs.getincrementaldecoder(encoding)("strict").decode(head)
            except UnicodeDecodeError:
                continue
            return Form(encoding=encoding, confidence=0.95)
    return None


def _units(data: bytes, encoding: str) -> str | None:
    """The text of whole units; half a character at the end is left out."""
    try:
        return codecs.getincrementaldecoder(encoding)("strict").decode(data)
    except UnicodeDecodeError:
        try:
            return data[: len(data) // 4 * 4].decode(encoding, "surrogatepass")
        except UnicodeDecodeError:
            return None


def _is_odd(character: str) -> bool:
    """Whether no text would hold it: a control, a lone surrogate, a code point that isn't assigned."""
    if character in "\t\n\r\f\b\x1b\x85":
        return False
    return unicodedata.category(character) in {"Cc", "Cs", "Cn", "Co"}


def _detected(sample: bytes) -> tuple[str, float] | None:
    """The likeliest encoding and how sure that is; `None` when it looks like no text."""
    import chardet  # 128 ms at first use

    found = chardet.detect(
        sample, include_encodings=encodings.LEGACY.split(), no_match_encoding="cp1252", compat_names=True
    )
    if found["encoding"] is None:
        return None
    name, confidence = encodings.named(found["encoding"]), round(float(found["confidence"]), 2)
    if confidence < 0.1 and not name.startswith(_MULTIBYTE) and not _has_words_beyond_ascii(sample):
        name = "cp1252"
    name = _NARROW.get(name, name) if _decodes(sample, _NARROW.get(name, name)) else name
    if name in {"latin-1", "cp1252"}:
        name = "cp1252" if _decodes(sample, "cp1252") else "latin-1"
    return name, min(max(confidence, 0.01), 0.99)


def _has_words_beyond_ascii(sample: bytes) -> bool:
    """Whether most bytes beyond ASCII stand in runs, as in Cyrillic or Greek, not alone, as accents do."""
    runs = re.findall(rb"[\x80-\xff]+", sample)
    return 2 * sum(len(r) for r in runs if len(r) >= 3) > sum(map(len, runs))


def _decodes(sample: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)("strict").decode(sample)
    except UnicodeDecodeError:
        return False
    return True
