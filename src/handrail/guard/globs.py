"""Policy globs: absolute, `~`-led, or relative to each root; compiled once into sets that are asked about real paths.

It knows the rules' texts and where they came from, not what they are for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from handrail.guard.halves import Halves, Here
from handrail.model.paths import within
from handrail.text.globs import Matcher, is_literal

Real = Callable[[str], str]
"""Follows the links of an absolute path, missing tails allowed."""

_KEPT: Final = 1 << 16
_SYNTAX: Final = frozenset("*?[]{}\\")


@dataclass(frozen=True, slots=True)
class Place:
    """Where policy globs stand: the real roots that relative ones start from, what `~` is, how links are followed."""

    roots: Sequence[str]
    home: str
    real: Real

    def spread(self, glob: str) -> list[str]:
        """The absolute globs that one stands for, its fixed beginning both as written and with links followed."""
        bare = glob.removeprefix("./").rstrip("/") or "/"
        if bare == "~" or bare.startswith("~/"):
            bare = quoted(self.home.rstrip("/")) + bare[1:]
        if bare.startswith("/"):
            return self._both(bare)
        joint = "/" if "/" in bare else "/**/"
        return [quoted(root.rstrip("/")) + joint + bare for root in self.roots or ("/",)]

    def _both(self, glob: str) -> list[str]:
        fixed, rest = fixed_part(glob)
        real = self.real(unquoted(fixed))
        resolved = quoted(real.rstrip("/")) + rest if rest else quoted(real)
        return list(dict.fromkeys((glob, resolved)))


class PathSet:
    """Globs that name paths and, with them, all that lies below a path that they name.

    `below_literals`: only a glob without wildcards reaches below what it names, as an allow list is read.
    """

    def __init__(
        self, globs: Sequence[str], place: Place, *, ignore_case: bool = False, below_literals: bool = False
    ) -> None:
        self.globs = tuple(globs)
        self._spread: list[tuple[int, str]] = []
        for index, glob in enumerate(self.globs):
            for one in place.spread(glob):
                reaches = one != "/" and (not below_literals or is_literal(_plain(one)))
                self._spread.append((index, one))
                if (reaches and not one.endswith("/**")) or one == "/":
                    self._spread.append((index, one.rstrip("/") + "/**"))
        self._ignore_case = ignore_case
        self._halves = Halves([glob for _, glob in self._spread], ignore_case=ignore_case)
        self._known: dict[str, Here] = {}

    def __bool__(self) -> bool:
        return bool(self.globs)

    @property
    def absolute(self) -> Sequence[str]:
        """The absolute globs in use."""
        return [glob for _, glob in self._spread]

    def match(self, path: str) -> bool:
        """Whether any glob names the absolute path or something above it."""
        if not self.globs:
            return False
        directory, _, name = path.rpartition("/")
        return self.here(directory or "/").match(name) if name else self._matcher.match(path)

    def here(self, directory: str) -> Here:
        """What the globs name in an absolute directory, found out once."""
        known = self._known.get(directory)
        if known is None:
            if len(self._known) >= _KEPT:
                self._known = {}
            known = self._known[directory] = self._halves.here(directory)
        return known

    def first(self, path: str) -> int:
        """The index of the first glob that does; -1 for none."""
        found = self._which(path)
        return min(found) if found else -1

    def last(self, path: str) -> int:
        """The index of the last glob that does; -1 for none."""
        found = self._which(path)
        return max(found) if found else -1

    def may_hold(self, directory: str) -> bool:
        """Whether something below the directory could be named, by the fixed beginnings of the globs."""
        return any(within(start, directory) or within(directory, start) for start in self.starts)

    @cached_property
    def starts(self) -> Sequence[str]:
        """The directories or files with which the globs begin."""
        return list(dict.fromkeys(unquoted(fixed_part(glob)[0]) or "/" for _, glob in self._spread))

    @cached_property
    def _matcher(self) -> Matcher:
        return Matcher(self.absolute, ignore_case=self._ignore_case)

    def _which(self, path: str) -> set[int]:
        return {self._spread[i][0] for i in self._matcher.which(path)} if self.match(path) else set()


def fixed_part(glob: str) -> tuple[str, str]:
    """The whole components of a glob that come before its first wildcard, and the rest with its slash."""
    components = glob.split("/")
    for index, component in enumerate(components):
        if not is_literal(_plain(component)):
            return "/".join(components[:index]), "/" + "/".join(components[index:])
    return glob, ""


def quoted(path: str) -> str:
    """A path as a glob that names it alone."""
    return "".join("\\" + c if c in _SYNTAX else c for c in path)


def unquoted(glob: str) -> str:
    """The path that a glob without wildcards names."""
    out, at = [], 0
    while at < len(glob):
        at += glob[at] == "\\" and at + 1 < len(glob)
        out.append(glob[at])
        at += 1
    return "".join(out)


def _plain(glob: str) -> str:
    """The glob without its escapes, to look for wildcards."""
    out, at = [], 0
    while at < len(glob):
        if glob[at] == "\\":
            at += 2
            continue
        out.append(glob[at])
        at += 1
    return "".join(out)
