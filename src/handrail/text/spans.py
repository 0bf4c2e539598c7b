"""Where characters lie in bytes: the byte span of any stretch of decoded text, in every encoding.

Bytes outside the stretches that change are never encoded again, so nothing outside them can change.
"""

import codecs
import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from handrail.text import encodings

_SHIFT: Final = re.compile(rb"\x1b(?:\([A-Z]|\$\(?[@-Z])|[\x0e\x0f]|~[{}]")
"""What switches the character set in ISO 2022 and HZ."""
_PLAIN: Final = {b"": b"", b"\x0e": b"\x0f", b"~{": b"~}", b"\x0f": b"", b"~}": b"", b"\x1b(B": b""}


def offsets(text: str, body: bytes, encoding: str, wanted: Sequence[int]) -> list[int]:
    """The byte offsets in `body` (which decoded to `text`) of rising character offsets.

    Where a shift sequence stands between two characters the offset lies before it.
    """
    if not encodings.is_stateful(encoding):
        if len(text) == len(body):
            return list(wanted)
        found = _by_length(text, body, encoding, wanted)
        if found is not None:
            return found
    ends = _ends(body, encoding)
    return [ends[at - 1] if at else 0 for at in wanted]


def _by_length(text: str, body: bytes, encoding: str, wanted: Sequence[int]) -> list[int] | None:
    """Offsets by encoding what lies between; `None` where that isn't how the bytes are."""
    out: list[int] = []
    at = 0
    for start, end in pairwise([0, *wanted, len(text)]):
        try:
            piece = text[start:end].encode(encoding, encodings.keeps_bytes(encoding))
        except UnicodeEncodeError:
            return None
        if not encodings.is_own_bytes(encoding) and body[at : at + len(piece)] != piece:
            return None
        at += len(piece)
        out.append(at)
    if encodings.is_own_bytes(encoding) or out[-1] == len(body):
        return out[:-1]
    return None


def _ends(body: bytes, encoding: str) -> list[int]:
    """Where each character's bytes end, found by decoding byte by byte: slow, and right for every encoding."""
    decoder = codecs.getincrementaldecoder(encoding)(encodings.keeps_bytes(encoding))
    ends: list[int] = []
    start = 0
    for at in range(len(body) + 1):
        got = decoder.decode(body[at : at + 1], at == len(body))
        end = min(at + 1, len(body))
        for number, character in enumerate(got):
            if "\udc80" <= character <= "\udcff" and number < len(got) - 1:
                start += 1
                ends.append(start)
            else:
                ends.append(end)
        start = end if got else start
    return ends


def shifted(body: bytes, encoding: str, start: int, end: int) -> tuple[bytes, bytes]:
    """What must surround new text put in place of `body[start:end]`: back to plain before, the old set again after."""
    if not encodings.is_stateful(encoding):
        return b"", b""
    before, after = _state(body, encoding, start), _state(body, encoding, end)
    plain = _PLAIN.get(before, b"\x1b(B")
    return plain, after if _PLAIN.get(after, b"\x1b(B") else b""


def _state(body: bytes, encoding: str, at: int) -> bytes:
    """The shift sequence in force at a byte offset; empty at the start."""
    marks = [m.start() for m in _SHIFT.finditer(body, 0, at)]
    if not marks:
        return b""
    last = _SHIFT.match(body, marks[bisect_right(marks, at) - 1])
    found = last.group() if last else b""
    if found.startswith((b"~", b"\x0e", b"\x0f")) or encoding.startswith("iso2022_kr") or encoding == "hz":
        return found if b"\n" not in body[marks[-1] : at] else b""
    return found
