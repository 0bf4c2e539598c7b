"""Ignore rules as git reads them: which names a list of gitignore lines leaves out; knows no file system."""

import os
import re
from dataclasses import dataclass
from typing import Final

import re2

_CLASS: Final = re.compile(rb"\[[!^]?\]?(?:\\.|\[:[a-z]+:\]|[^\]\\])*\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Rule:
    ignores: bool
    directories: bool
    regex: "re2._Regexp"


class Rules:
    """Lines of ignore files, all relative to one directory, the later ones deciding."""

    def __init__(self, lines: bytes) -> None:
        self._rules = [rule for rule in map(_rule, lines.split(b"\n")) if rule is not None][::-1]

    def ignore(self, path: str) -> bool:
        """Whether a relative path is left out, by itself or with a directory above it; a directory ends in `/`."""
        data = os.fsencode(path)
        parts = data.rstrip(b"/").split(b"/")
        for depth in range(1, len(parts) + 1):
            if self._exactly(b"/".join(parts[:depth]), directory=depth < len(parts) or data.endswith(b"/")):
                return True
        return False

    def _exactly(self, path: bytes, *, directory: bool) -> bool:
        for rule in self._rules:
            if (directory or not rule.directories) and rule.regex.fullmatch(path):
                return rule.ignores
        return False


def _rule(line: bytes) -> _Rule | None:
    line = _trimmed(line.removesuffix(b"\r"))
    if not line or line.startswith(b"#"):
        return None
    ignores = not line.startswith(b"!")
    body = line if ignores else line[1:]
    directories = body.endswith(b"/")
    body = body.removesuffix(b"/")
    if not body:
        return None
    anchored = b"/" in body
    regex = _regex(body.removeprefix(b"/"))
    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1
    options.never_capture = True
    try:
        return _Rule(ignores, directories, re2.compile(b"(?s)" + (b"" if anchored else b"(?:.*/)?") + regex, options))
    except re2.error:
        return None


def _trimmed(line: bytes) -> bytes:
    bare = line.rstrip(b" ")
    escaped = (len(bare) - len(bare.rstrip(b"\\"))) % 2 == 1 and bare != line
    return bare + b" " if escaped else bare


def _regex(body: bytes) -> bytes:
    done = b""
    at = 0
    while at < len(body):
        size, piece = _piece(body, at)
        done += piece
        at += size
    return done


def _piece(body: bytes, at: int) -> tuple[int, bytes]:
    start = at == 0 or body[at - 1 : at] == b"/"
    if start and body.startswith(b"**/", at):
        return 3, b"(?:.*/)?"
    if start and body[at:] == b"**":
        return 2, b".+"
    character = body[at : at + 1]
    if character == b"*":
        return len(body[at:]) - len(body[at:].lstrip(b"*")), b"[^/]*"
    if character == b"?":
        return 1, b"[^/]"
    if character == b"[":
        found = _CLASS.match(body, at)
        return (len(found.group()), _class(found.group())) if found else (1, b"\\[")
    if character == b"\\":
        return 2, re2.escape(body[at + 1 : at + 2])
    return 1, re2.escape(character)


def _class(text: bytes) -> bytes:
    negated = text[1:2] in {b"!", b"^"}
    inner = text[2 if negated else 1 : -1]
    safe = b"\\]" + inner[1:] if inner.startswith(b"]") else inner
    safe = re.sub(rb"\[(?!:)", rb"\\[", safe)
    return b"[^/" + safe + b"]" if negated else b"[" + safe + b"]"
