"""The lines of an ignore file as git reads them: which names they leave out; knows no file system."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import re2

from handrail.fs.wildmatch import expression, is_literal

_CHUNK: Final = 200
"""Rules in one expression; with more of them RE2 may run out of its memory for states."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """`depth`: how many names a path has that an anchored rule matches, 0 for any number."""

    ignores: bool
    directories: bool
    anchored: bool
    depth: int
    glob: bytes
    expression: bytes


@dataclass(frozen=True, slots=True)
class _Run:
    """Rules that follow on each other and say the same."""

    ignores: bool
    regexes: "tuple[re2._Regexp, ...]"


class Rules:
    """Lines of ignore files, all relative to one directory, the later ones deciding.

    A path is relative, in bytes. Each is judged for itself, not by what lies above it. `plain` names and those with one
    of the `ends` may be left out at any depth: most rules say no more than that.
    """

    __slots__ = ("_depths", "_named", "_pathed", "_runs", "ends", "plain")

    def __init__(self, lines: bytes) -> None:
        rules = [rule for rule in map(_rule, lines.removeprefix(b"\xef\xbb\xbf").split(b"\n")) if rule is not None]
        self._runs = [_run(run) for run in _alike(rules)][::-1]
        named = [rule for rule in rules if rule.ignores and not rule.anchored]
        pathed = [rule for rule in rules if rule.ignores and rule.anchored]
        self.plain = frozenset(os.fsdecode(rule.glob) for rule in named if is_literal(rule.glob))
        self.ends = tuple({end for end in map(_end, named) if end is not None})
        self._named = _regexes([r for r in named if not is_literal(r.glob) and _end(r) is None], bare=True)
        self._pathed = _regexes(pathed)
        self._depths = frozenset(rule.depth for rule in pathed)

    def reaches(self, depth: int) -> bool:
        """Whether more than `plain` names and `ends` of names may be left out of a directory that many levels down."""
        return bool(self._named) or 0 in self._depths or depth + 1 in self._depths

    def says(self, path: bytes, *, directory: bool) -> bool | None:
        """What the last rule that names a path says: left out, shown again, or nothing."""
        text = (b"\0/" if directory else b"\0=") + path + b"\0"
        for run in self._runs:
            for regex in run.regexes:
                if regex.fullmatch(text):
                    return run.ignores
        return None

    def suspects(self, prefix: bytes, files: bytes, directories: bytes, *, names: bytes) -> Iterator[bytes]:
        """The names that some rule would leave out, of many that are joined by NULs and lie at `prefix`.

        Those that `plain` and `ends` say aren't among them. `names`: all of them as `marked` has them without a prefix.
        """
        for regex in self._named:
            for found in regex.finditer(names):
                yield names[found.start() + 2 : found.end() - 1]
        if self._pathed and not self._depths.isdisjoint((0, prefix.count(b"/") + 1)):
            text = marked(files, directories, prefix)
            start = len(prefix) + 2
            for regex in self._pathed:
                for found in regex.finditer(text):
                    yield text[found.start() + start : found.end() - 1]

    def ignore(self, path: str) -> bool:
        """Whether a relative path is left out, by itself or with a directory above it; a directory ends in `/`."""
        data = os.fsencode(path)
        above = [at for at, byte in enumerate(data) if byte == 0x2F]
        return any(self.says(data[:end], directory=True) for end in above) or (
            not data.endswith(b"/") and bool(self.says(data, directory=False))
        )


def marked(files: bytes, directories: bytes, prefix: bytes = b"") -> bytes:
    """Names that are joined by NULs as one text in which rules find those that they name."""
    text = b""
    if files:
        mark = b"\0=" + prefix
        text = mark + files.replace(b"\0", b"\0" + mark) + b"\0"
    if directories:
        mark = b"\0/" + prefix
        text += mark + directories.replace(b"\0", b"\0" + mark) + b"\0"
    return text


def joined(files: Sequence[bytes]) -> bytes:
    """Several files' lines as one, the later ones deciding."""
    return b"\n".join(data.removeprefix(b"\xef\xbb\xbf") for data in files if data)


def _alike(rules: Sequence[_Rule]) -> Iterator[Sequence[_Rule]]:
    start = 0
    for at in range(1, len(rules) + 1):
        if at == len(rules) or rules[at].ignores != rules[start].ignores:
            yield rules[start:at]
            start = at


def _run(rules: Sequence[_Rule]) -> _Run:
    return _Run(rules[0].ignores, _regexes(rules))


def _regexes(rules: Sequence[_Rule], *, bare: bool = False) -> "tuple[re2._Regexp, ...]":
    """Expressions for `marked` texts; `bare`: of names alone."""
    pieces = [rules[at : at + _CHUNK] for at in range(0, len(rules), _CHUNK)]
    return tuple(regex for piece in pieces for regex in _compiled([_whole(rule, bare=bare) for rule in piece]))


def _whole(rule: _Rule, *, bare: bool) -> bytes:
    above = b"" if bare or rule.anchored else rb"(?:[^\x00]*/)?"
    return (b"/" if rule.directories else b"[=/]") + above + rule.expression


def _compiled(expressions: Sequence[bytes]) -> "Iterator[re2._Regexp]":
    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1
    options.never_capture = True
    # The mark behind the NUL tells directories, and keeps a rule for an empty name from matching between two names.
    text = rb"(?s)\x00(?:" + b"|".join(expressions) + rb")\x00"
    try:
        yield re2.compile(text, options)
    except re2.error:
        if len(expressions) > 1:
            yield from _compiled(expressions[: len(expressions) // 2])
            yield from _compiled(expressions[len(expressions) // 2 :])


def _end(rule: _Rule) -> str | None:
    """What names end in that the rule matches, if that is all it says; whole characters, so that it holds for text."""
    if not rule.glob.startswith(b"*") or not is_literal(rule.glob[1:]):
        return None
    try:
        return rule.glob[1:].decode()
    except UnicodeDecodeError:
        return None


def _rule(line: bytes) -> _Rule | None:
    if line.startswith(b"#"):
        return None
    body = _trimmed(line.removesuffix(b"\r").partition(b"\0")[0])
    ignores = not body.startswith(b"!")
    body = body if ignores else body[1:]
    directories = body.endswith(b"/")
    body = body.removesuffix(b"/")
    anchored = b"/" in body
    found = expression(body.removeprefix(b"/"), paths=anchored)
    if not body or found is None:
        return None
    depth = 0 if b"**" in body or b"[" in body else body.removeprefix(b"/").count(b"/") + 1
    return _Rule(ignores, directories, anchored, depth, body, found)


def _trimmed(line: bytes) -> bytes:
    """Without the blanks at its end, of which one behind a backslash is kept."""
    bare = line.rstrip(b" ")
    escaped = (len(bare) - len(bare.rstrip(b"\\"))) % 2 == 1 and bare != line
    return bare + b" " if escaped else bare
