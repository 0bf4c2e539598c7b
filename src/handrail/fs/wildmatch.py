"""A glob of an ignore file said for RE2, to the letter of git's own matcher; bytes in, bytes out."""

from typing import Final

import re2

_SPECIAL: Final = b"*?[\\"
_ANY: Final = rb"[^/\x00]"
_NAMED: Final = {
    b"alnum": frozenset(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    b"alpha": frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    b"blank": frozenset(b" \t"),
    b"cntrl": frozenset([*range(1, 32), 127]),
    b"digit": frozenset(b"0123456789"),
    b"graph": frozenset(range(33, 127)),
    b"lower": frozenset(b"abcdefghijklmnopqrstuvwxyz"),
    b"print": frozenset(range(32, 127)),
    b"punct": frozenset(b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
    b"space": frozenset(b" \t\n\r"),
    b"upper": frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    b"xdigit": frozenset(b"0123456789abcdefABCDEF"),
}
"""As git has them, which differs from the C library in `space`."""


def is_literal(glob: bytes) -> bool:
    """Whether it matches itself alone."""
    return not any(special in glob for special in _SPECIAL)


def expression(glob: bytes, *, paths: bool) -> bytes | None:
    """The expression that matches whole names, or with `paths` whole relative paths; `None` = it matches nothing.

    What comes before the first special character is compared first, so a `**` right behind it counts as leading.
    """
    literal = len(glob) - len(glob.lstrip(bytes(set(range(256)) - set(_SPECIAL))))
    done = [re2.escape(glob[:literal])]
    rest = glob[literal:]
    at = 0
    while at < len(rest):
        piece, at = _piece(rest, at, paths=paths)
        if piece is None:
            return None
        done.append(piece)
    return b"".join(done)


def _piece(glob: bytes, at: int, *, paths: bool) -> tuple[bytes | None, int]:
    character = glob[at : at + 1]
    if character == b"*":
        return _stars(glob, at, paths=paths)
    if character == b"?":
        return _ANY, at + 1
    if character == b"[":
        return _bracket(glob, at)
    if character == b"\\":
        return (re2.escape(glob[at + 1 : at + 2]) if at + 1 < len(glob) else None), at + 2
    return re2.escape(character), at + 1


def _stars(glob: bytes, at: int, *, paths: bool) -> tuple[bytes, int]:
    end = at + len(glob) - at - len(glob[at:].lstrip(b"*"))
    leads = at == 0 or glob[at - 1 : at] == b"/"
    ends = end == len(glob) or glob[end : end + 1] == b"/" or glob[end : end + 2] == b"\\/"
    if not (paths and end - at > 1 and leads and ends):
        return _ANY + b"*", end
    if glob[end : end + 1] == b"/":
        return rb"(?:[^\x00]*/)?", end + 1
    return rb"[^\x00]*", end


def _bracket(glob: bytes, at: int) -> tuple[bytes | None, int]:
    at += 1
    negated = glob[at : at + 1] in {b"!", b"^"}
    at += negated
    members: set[int] = set()
    before = 0
    first = True
    while first or glob[at : at + 1] != b"]":
        first = False
        found = _member(glob, at, before)
        if found is None:
            return None, at
        more, before, at = found
        members |= more
    allowed = (set(range(1, 256)) - members if negated else members) - {ord("/")}
    return _class(allowed), at + 1


def _member(glob: bytes, at: int, before: int) -> tuple[frozenset[int] | set[int], int, int] | None:
    """What one step of a bracket adds, the character that a range may start with, and where the next step begins."""
    character = glob[at : at + 1]
    if not character:
        return None
    if character == b"\\":
        return ({glob[at + 1]}, glob[at + 1], at + 2) if at + 1 < len(glob) else None
    if character == b"-" and before and glob[at + 1 : at + 2] not in {b"", b"]"}:
        at += 2 if glob[at + 1 : at + 2] == b"\\" else 1
        return (set(range(before, glob[at] + 1)), 0, at + 1) if at < len(glob) else None
    if glob[at : at + 2] == b"[:":
        end = glob.find(b"]", at + 2)
        if end < 0:
            return None
        if end > at + 2 and glob[end - 1 : end] == b":":
            named = _NAMED.get(glob[at + 2 : end - 1])
            return None if named is None else (named, 0, end + 1)
    return {glob[at]}, glob[at], at + 1


def _class(members: set[int]) -> bytes | None:
    ranges: list[list[int]] = []
    for member in sorted(members):
        if ranges and ranges[-1][1] == member - 1:
            ranges[-1][1] = member
        else:
            ranges.append([member, member])
    return b"[" + b"".join(b"\\x%02x-\\x%02x" % (low, high) for low, high in ranges) + b"]" if ranges else None
