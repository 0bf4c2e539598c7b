r"""One file's part of a patch, byte for byte as git writes it and `git apply` reads it.

It knows two states of a name: nothing, or bytes with a mode of git's (`100644`, `100755`, `120000`).
"""

import base64
import hashlib
import zlib
from dataclasses import dataclass, field
from typing import Final

from handrail.text import diff, lines

LINK: Final = "120000"
_CONTEXT: Final = 3
_NOWHERE: Final = b"0" * 40
_ESCAPES: Final = {
    7: b"\\a",
    8: b"\\b",
    9: b"\\t",
    10: b"\\n",
    11: b"\\v",
    12: b"\\f",
    13: b"\\r",
    34: b'\\"',
    92: b"\\\\",
}
_ROW: Final = 52


@dataclass(frozen=True, slots=True)
class Side:
    """What stands at a name before or after."""

    mode: str
    data: bytes = field(repr=False)


def section(name: bytes, before: Side | None, after: Side | None) -> bytes:
    """The part of a patch that brings a name (relative, with slashes) from one state to the other; empty for none.

    A file that becomes a link, or a link a file, goes first and comes then, as in git's own patches.
    """
    if before == after:
        return b""
    if before is not None and after is not None and (before.mode == LINK) != (after.mode == LINK):
        return section(name, before, None) + section(name, None, after)
    old, new = _quoted(b"a/" + name), _quoted(b"b/" + name)
    head = [b"diff --git " + old + b" " + new]
    if before is None and after is not None:
        head.append(b"new file mode " + after.mode.encode())
    elif after is None and before is not None:
        head.append(b"deleted file mode " + before.mode.encode())
    elif before is not None and after is not None and before.mode != after.mode:
        head += [b"old mode " + before.mode.encode(), b"new mode " + after.mode.encode()]
    was, will = (b"" if side is None else side.data for side in (before, after))
    if was == will and before is not None and after is not None:
        return _joined(head)
    index = b"index " + _object(before) + b".." + _object(after)
    if before is not None and after is not None and before.mode == after.mode:
        index += b" " + after.mode.encode()
    head.append(index)
    if was == will:
        return _joined(head)
    if b"\0" in was or b"\0" in will:
        return _joined([*head, b"GIT binary patch"]) + _literal(will) + _literal(was)
    head.append(b"--- " + (b"/dev/null" if before is None else _labelled(old)))
    head.append(b"+++ " + (b"/dev/null" if after is None else _labelled(new)))
    return _joined(head) + _hunks(was, will)


def _hunks(was: bytes, will: bytes) -> bytes:
    # Latin-1 gives every byte a character of its own, so the lines come out as they went in.
    a, b = (lines.split(data.decode("latin-1")) for data in (was, will))
    return "".join(diff.hunks(a, b, _CONTEXT)).encode("latin-1")


def _literal(data: bytes) -> bytes:
    """A whole content, deflated, in git's base 85; one goes forward, one back."""
    packed = zlib.compress(data)
    rows = [b"literal %d" % len(data)]
    for start in range(0, len(packed), _ROW):
        row = packed[start : start + _ROW]
        length = bytes([64 + len(row) if len(row) <= 26 else 70 + len(row)])
        rows.append(length + base64.b85encode(row, pad=True))
    return _joined([*rows, b""])


def _object(side: Side | None) -> bytes:
    """The name that git gives a content."""
    if side is None:
        return _NOWHERE
    head = b"blob %d\0" % len(side.data)
    return hashlib.sha1(head + side.data, usedforsecurity=False).hexdigest().encode()


def _quoted(name: bytes) -> bytes:
    if all(32 <= byte < 127 and byte not in _ESCAPES for byte in name):
        return name
    plain = (bytes([byte]) if 32 <= byte < 127 else b"\\%03o" % byte for byte in name)
    escaped = (_ESCAPES.get(byte, shown) for byte, shown in zip(name, plain, strict=True))
    return b'"' + b"".join(escaped) + b'"'


def _labelled(name: bytes) -> bytes:
    """A name in a header; a tab ends one that holds a blank."""
    return name + b"\t" if b" " in name and not name.startswith(b'"') else name


def _joined(rows: list[bytes]) -> bytes:
    return b"".join(row + b"\n" for row in rows)
