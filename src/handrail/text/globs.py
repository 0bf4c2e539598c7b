r"""The one glob dialect of tools and policies, translated to RE2; knows names, never a file system.

`*` and `?` stay inside a name, `**` as a whole component spans directories, `[a-z]` `[!a-z]`, `{a,b}`, `\` escapes.
Without a slash a glob is a name at any depth, with one it is anchored; `dir/**` and `dir/` mean all that lies below.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from handrail.model.errors import InvalidCall
from handrail.model.paths import shown
from handrail.text.names import NOTHING, encoded, searcher

MAX_ALTERNATIVES: Final = 1024
"""How many globs one with braces may stand for."""
MAX_LENGTH: Final = 4096
MAX_BRACES: Final = 100
MAX_PIECES: Final = 100_000
"""Characters in all of them together."""

_SYNTAX: Final = frozenset("*?[]{}/.")
_SPECIAL: Final = frozenset("\\.+*?()|[]{}^$-&~#")


class Matcher:
    """Several globs compiled as one: does any of them name this path, and which do.

    Relative globs are asked about paths relative to their directory, globs that start with `/` about absolute ones.
    Raises `InvalidCall` `invalid_glob`.
    """

    def __init__(self, globs: Sequence[str], *, ignore_case: bool = False) -> None:
        self.globs = tuple(globs)
        self._regexes = [to_regex(glob) for glob in self.globs]
        self._ignore_case = ignore_case
        self._search = searcher(self._regexes, ignore_case=ignore_case)

    def match(self, path: str) -> bool:
        """Whether any glob names the path; it has no leading `./`, no trailing slash."""
        return self._search(encoded(path)) is not None

    def which(self, path: str) -> list[int]:
        """The indices of the globs that name the path, ascending."""
        data = encoded(path)
        return [] if self._search(data) is None else [i for i, search in enumerate(self._single) if search(data)]

    @cached_property
    def _single(self) -> list[Callable[[bytes], object]]:
        return [searcher([regex], ignore_case=self._ignore_case) for regex in self._regexes]


def to_regex(glob: str) -> str:
    """The RE2 expression, anchored at both ends, for one glob; raises `InvalidCall` `invalid_glob` with `position`."""
    return "|".join(dict.fromkeys(_translated(alternative, glob) for alternative in _expanded(glob))) or NOTHING


class Component(NamedTuple):
    """What stands between two slashes of a glob: an expression, or `**`.

    `text` is the name it stands for when there is no wildcard in it, `suffix` what follows when `*` is all it starts
    with.
    """

    regex: str
    text: str | None = None
    suffix: str | None = None


def components(glob: str) -> list[list[Component]]:
    """Each alternative of an absolute glob by its components; one with a trailing slash ends in `**`."""
    return [_parts(each, glob)[1] for each in _expanded(glob)]


def expand(glob: str) -> list[str]:
    """The glob's braces taken apart, as a shell does: `a{b,c{d,e}}` is `ab`, `acd`, `ace`; escapes are kept."""
    return ["".join(piece for piece, _ in alternative) for alternative in _expanded(glob)]


def has_literal(glob: str) -> bool:
    """Whether anything stands in it but wildcards, slashes, dots and the commas of braces."""
    depth = 0
    for character in glob:
        depth += (character == "{") - (character == "}")
        if character not in _SYNTAX and not (character == "," and depth > 0):
            return True
    return False


def is_literal(glob: str) -> bool:
    """Whether no character of it has a meaning of its own."""
    return not any(c in "*?[]{}\\" for c in glob)


_ANY: Final = Component("**")
_Piece = tuple[str, int]
"""A token of a glob (a character, an escape or a whole class) and where it stood."""


def _expanded(glob: str) -> list[list[_Piece]]:
    if not glob:
        raise _invalid(glob, 0, "it is empty")
    if len(glob) > MAX_LENGTH or glob.count("{") > MAX_BRACES:
        raise _invalid(glob, 0, f"it has more than {MAX_LENGTH} characters or {MAX_BRACES} braces")
    tokens = _tokens(glob)
    alternatives, end = _sequence(tokens, 0, glob, inside=False)
    if end < len(tokens):
        raise _invalid(glob, tokens[end][1], "this } closes nothing", hint="Write \\} for the character itself.")
    if sum(len(alternative) for alternative in alternatives) > MAX_PIECES:
        raise _invalid(glob, 0, "with its braces taken apart it is too large")
    return [alternative for alternative in alternatives if alternative]


def _tokens(glob: str) -> list[_Piece]:
    tokens: list[_Piece] = []
    at = 0
    while at < len(glob):
        end = at + 1
        if glob[at] == "\\":
            if end == len(glob):
                raise _invalid(glob, at, "it ends in a lone \\", hint="Write \\\\ for the character itself.")
            end += 1
        elif glob[at] == "[":
            end = _class_end(glob, at)
        tokens.append((glob[at:end], at))
        at = end
    return tokens


def _class_end(glob: str, at: int) -> int:
    end = at + 1
    if glob[end : end + 1] in {"!", "^"}:
        end += 1
    first = end
    while end < len(glob):
        if glob[end] == "\\":
            end += 2
        elif glob[end] == "]" and end > first:
            return end + 1
        else:
            end += 1
    raise _invalid(glob, at, "this [ is never closed", hint="Write \\[ for the character itself.")


def _sequence(tokens: list[_Piece], at: int, glob: str, *, inside: bool) -> tuple[list[list[_Piece]], int]:
    done: list[list[_Piece]] = []
    current: list[list[_Piece]] = [[]]
    while at < len(tokens):
        piece, position = tokens[at]
        if piece == "}":
            break
        if piece == "," and inside:
            done += current
            current = [[]]
        elif piece == "{":
            inner, at = _sequence(tokens, at + 1, glob, inside=True)
            if at == len(tokens):
                raise _invalid(glob, position, "this { is never closed", hint="Write \\{ for the character itself.")
            if len(current) * len(inner) > MAX_ALTERNATIVES:
                raise _invalid(glob, position, f"its braces stand for more than {MAX_ALTERNATIVES} globs")
            current = [[*head, *tail] for head in current for tail in inner]
        else:
            for alternative in current:
                alternative.append((piece, position))
        at += 1
    done += current
    if len(done) > MAX_ALTERNATIVES:
        raise _invalid(glob, 0, f"its braces stand for more than {MAX_ALTERNATIVES} globs")
    return done, at


def _translated(pieces: list[_Piece], glob: str) -> str:
    absolute, parts = _parts(pieces, glob)
    return rf"\A(?s:{'/' if absolute else ''}{_joined([part.regex for part in parts])})\z"


def _parts(pieces: list[_Piece], glob: str) -> tuple[bool, list[Component]]:
    """Whether it is absolute, and its components."""
    split: list[list[_Piece]] = [[]]
    for piece in pieces:
        if piece[0] in {"/", "\\/"}:
            split.append([])
        else:
            split[-1].append(piece)
    anchored = len(split) > 1
    names = [c for c in split if c and not (anchored and _spelled(c) == ".")]
    for component in names:
        if _spelled(component) == "..":
            raise _invalid(glob, component[0][1], "a glob can't lead above its directory with ..")
    parts = [_ANY if _spans(c) else _component(c, glob) for c in names]
    if not anchored:
        parts.insert(0, _ANY)
    if anchored and not split[-1]:
        parts.append(_ANY)
    return anchored and not split[0], parts


def _component(component: list[_Piece], glob: str) -> Component:
    regex = "".join(_token(*piece, glob) for piece in component)
    return Component(regex, _fixed(component), _fixed(component[1:]) if component[0][0] == "*" else None)


def _fixed(component: list[_Piece]) -> str | None:
    if any(piece in {"*", "?"} or (piece[0] == "[" and len(piece) > 1) for piece, _ in component):
        return None
    return "".join(piece[-1] for piece, _ in component)


def _spelled(component: list[_Piece]) -> str:
    return "".join(token for token, _ in component)


def _spans(component: list[_Piece]) -> bool:
    return len(component) > 1 and all(piece == "*" for piece, _ in component)


def _joined(parts: list[str]) -> str:
    regex = ""
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part != "**":
            regex += part if last else part + "/"
        elif last:
            regex += ".+"
        elif parts[index + 1] != "**":
            regex += "(?:.*/)?"
    return regex


def _token(piece: str, position: int, glob: str) -> str:
    if piece == "*":
        return "[^/]*"
    if piece == "?":
        return "[^/]"
    if piece[0] == "[" and len(piece) > 1:
        return _class(piece, position, glob)
    return _quoted(piece[-1])


def _class(token: str, position: int, glob: str) -> str:
    negated = token[1] in "!^"
    at = 2 if negated else 1
    ranges: list[tuple[str, str]] = []
    while at < len(token) - 1:
        if token.startswith("[:", at) and ":]" in token[at:]:
            raise _invalid(glob, position + at, "named classes are not in this dialect", hint="Write [a-z], [0-9].")
        low, at = _member(token, at)
        high = low
        if token[at] == "-" and at + 1 < len(token) - 1:
            high, at = _member(token, at + 1)
        if high < low:
            raise _invalid(glob, position, f"the range {low}-{high} is the wrong way round")
        ranges.append((low, high))
    if negated:
        return "[^/" + "".join(f"{_quoted(low)}-{_quoted(high)}" for low, high in ranges) + "]"
    inside = [part for low, high in ranges for part in _without_slash(low, high)]
    return "[" + "".join(f"{_quoted(low)}-{_quoted(high)}" for low, high in inside) + "]" if inside else NOTHING


def _member(token: str, at: int) -> tuple[str, int]:
    return (token[at + 1], at + 2) if token[at] == "\\" else (token[at], at + 1)


def _without_slash(low: str, high: str) -> list[tuple[str, str]]:
    if not low <= "/" <= high:
        return [(low, high)]
    return [part for part in ((low, "."), ("0", high)) if part[0] <= part[1]]


def _quoted(character: str) -> str:
    if character in _SPECIAL:
        return "\\" + character
    return "\\x00" if character == "\0" else character


def _invalid(glob: str, at: int, why: str, *, hint: str = "") -> InvalidCall:
    return InvalidCall(
        "invalid_glob",
        f"The glob {shown(glob[:200])} can't be read: {why} (character {at + 1}).",
        hint=hint or "Globs know **, *, ?, [a-z], {a,b} and \\ before any of these characters.",
        facts={"glob": shown(glob[:MAX_LENGTH]), "position": at + 1},
    )
