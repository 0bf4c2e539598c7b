"""Names of encodings: which ones are text, how they are shown, and how their bytes are laid out.

It knows nothing of contents.
"""

import codecs
from typing import Final

from handrail.model.errors import InvalidCall

WIDE: Final = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}
"""Encodings of fixed code units, with the bytes of a unit."""
LEGACY: Final = """
    big5hkscs cp932 cp949 euc_jis_2004 euc_kr gb18030 johab
    cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258
    iso8859-1 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-10 iso8859-13
    iso8859-14 iso8859-15 iso8859-16 koi8-r koi8-u cp437 cp850 cp852 cp855 cp866 cp874 tis-620 mac-roman mac-cyrillic
"""
"""What is detected: encodings of files that people have, those of mainframes not among them."""
STATEFUL: Final = ("iso2022", "hz")
PREAMBLE: Final = {"iso2022_kr": b"\x1b$)C"}
"""What stands once at the start of a file and holds for all of it."""
BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks, the longer before the shorter that it starts with."""
_SHOWN: Final = {"iso8859-1": "latin-1", "ascii": "utf-8", "utf-8-sig": "utf-8"}
_NOT_FOR_FILES: Final = {
    "idna",
    "punycode",
    "unicode_escape",
    "raw_unicode_escape",
    "undefined",
    "utf-7",
    "mbcs",
    "oem",
}


def named(name: str) -> str:
    """The one spelling of an encoding's name (`gbk`, `shift_jis`, `cp1252`, `latin-1`), which Python knows too.

    `utf-16` and `utf-32` stay without a byte order. Raises `InvalidCall` `invalid_arguments` for what is none.
    """
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError, UnicodeError):
        found = None
    if found is None or not found._is_text_encoding or found.name.replace("-", "_") in _NOT_FOR_FILES | {"utf_7"}:
        raise InvalidCall(
            "invalid_arguments",
            f"{name[:60]!r} is no text encoding.",
            hint="Leave encoding out to have it detected, or name one: utf-8, utf-16-le, gbk, shift_jis, cp1252.",
        )
    return _SHOWN.get(found.name, found.name)


def unit(encoding: str) -> int:
    """Bytes of the smallest step in which a character can start."""
    return WIDE.get(encoding, 1)


def newline(encoding: str) -> bytes:
    r"""The bytes of `\n`."""
    return "\n".encode(encoding)[-unit(encoding) :]


def keeps_bytes(encoding: str) -> str:
    """The error handler under which undecodable bytes survive as lone surrogates."""
    return "surrogatepass" if encoding in WIDE else "surrogateescape"


def is_stateful(encoding: str) -> bool:
    """Whether what bytes mean depends on escape sequences before them."""
    return encoding.startswith(STATEFUL)


def joins_characters(encoding: str) -> bool:
    """Whether a character's bytes may depend on its neighbours."""
    return is_stateful(encoding) or encoding.endswith(("_2004", "x0213", "hkscs"))


def is_own_bytes(encoding: str) -> bool:
    """Whether every character has exactly one spelling in bytes, so that encoding gives back what was decoded."""
    return encoding == "utf-8" or encoding in WIDE
