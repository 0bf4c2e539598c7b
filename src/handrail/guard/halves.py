"""Globs taken apart at their last slash: what a set of them names in one directory, for one name or for all at once.

It knows absolute globs and names, nothing of what they are for.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from handrail.model.paths import within
from handrail.text.globs import Component, components
from handrail.text.names import encoded, searcher

_KEPT: Final = 1 << 15


class Names:
    """Names by their texts, by what stands behind their last dot, and by expressions."""

    def __init__(self, parts: Iterable[Component], *, ignore_case: bool = False) -> None:
        texts, endings = set(), set()
        regexes: dict[str, None] = {}
        for part in parts:
            if part.text is not None and not ignore_case:
                texts.add(part.text)
            elif part.suffix is not None and part.suffix.rfind(".") == 0 and not ignore_case:
                endings.add(part.suffix[1:])
            else:
                regexes[part.regex] = None
        self._texts, self._endings, self._regexes = frozenset(texts), frozenset(endings), tuple(regexes)
        self._ignore_case = ignore_case
        self._known: dict[str, bool] = {}

    def match(self, name: str) -> bool:
        """Whether it is one of them; the same names stand in many directories, so each is thought about once."""
        known = self._known.get(name)
        if known is None:
            if len(self._known) >= _KEPT:
                self._known = {}
            known = self._known[name] = self._matches(name)
        return known

    def _matches(self, name: str) -> bool:
        if name in self._texts or ("." in name and name.rpartition(".")[2] in self._endings):
            return True
        return bool(self._regexes) and self._one(encoded(name)) is not None

    def those(self, names: Sequence[str]) -> Iterable[str]:
        """Which of the names are; where no expression finds one, which is usual, one search says so."""
        if self._regexes and self._any(encoded("\0" + "\0\0".join(names) + "\0")) is not None:
            return [name for name in names if self.match(name)]
        return self._texts.intersection(names).union(self._ends(names) if self._endings else ())

    def _ends(self, names: Sequence[str]) -> Sequence[str]:
        endings = self._endings
        return [name for name in names if name.rpartition(".")[2] in endings and "." in name]

    @cached_property
    def _one(self) -> Callable[[bytes], object]:
        return searcher([rf"\A(?s:{regex})\z" for regex in self._regexes], ignore_case=self._ignore_case)

    @cached_property
    def _any(self) -> Callable[[bytes], object]:
        # No name holds a NUL, so none but a class that somebody wrote with one reaches over it.
        inside = "|".join(f"(?:{regex})" for regex in self._regexes).replace("[^/", r"[^/\x00")
        return searcher([rf"\x00(?s:{inside})\x00"], ignore_case=self._ignore_case)


@dataclass(frozen=True, slots=True)
class Here:
    """What the globs name in one directory: all, or some by their names; `whole` is asked about absolute paths."""

    everything: bool
    names: tuple[Names, ...] = ()
    whole: Callable[[bytes], object] | None = None
    prefix: str = ""

    @property
    def nothing(self) -> bool:
        """Whether no name can be named."""
        return not (self.everything or self.names or self.whole)

    def match(self, name: str) -> bool:
        """Whether any glob names this child."""
        if self.everything:
            return True
        for names in self.names:
            if names.match(name):
                return True
        return self.whole is not None and self.whole(encoded(self.prefix + name)) is not None

    def those(self, names: Sequence[str]) -> frozenset[str]:
        """The children among these that the globs name."""
        if self.everything:
            return frozenset(names)
        found = frozenset().union(*(each.those(names) for each in self.names))
        if self.whole is None:
            return found
        return found.union(name for name in names if self.whole(encoded(self.prefix + name)) is not None)


_NOTHING = Here(everything=False)
_EVERYTHING = Here(everything=True)


class Halves:
    """A set of absolute globs that is asked directory by directory; each is thought about once."""

    def __init__(self, globs: Iterable[str], *, ignore_case: bool = False) -> None:
        self._ignore_case = ignore_case
        self._all_below: set[str] = set()
        self._one_level: dict[str, list[Component]] = {}
        self._any_depth: dict[str, list[Component]] = {}
        self._covers: list[str] = []
        self._prefixes: list[str] = []
        self._whole: list[str] = []
        for glob in globs:
            for parts in components(glob):
                if parts:
                    self._add(parts)
        self._deep = [(base, Names(parts, ignore_case=ignore_case)) for base, parts in self._any_depth.items()]

    def here(self, directory: str) -> Here:
        """What the globs name in the absolute directory."""
        data = encoded(directory.rstrip("/") + "/")
        if self._is_below(directory) or (self._covers and self._covered(data) is not None):
            return _EVERYTHING
        names = [found for base, found in self._deep if within(directory, base)]
        if directory in self._one_level:
            names.append(Names(self._one_level[directory], ignore_case=self._ignore_case))
        whole = self._full if self._prefixes and self._leads(data) is not None else None
        if not names and whole is None:
            return _NOTHING
        return Here(everything=False, names=tuple(names), whole=whole, prefix=directory.rstrip("/") + "/")

    def _add(self, parts: Sequence[Component]) -> None:
        *above, last = parts
        while above and above[-1].regex == last.regex == "**":
            above.pop()
        level = not above or above[-1].regex != "**"
        base = _text(above if level else above[:-1])
        if base is None or (self._ignore_case and base != "/"):
            self._add_wild(above, last.regex)
        elif last.regex == "**":
            self._all_below.add(base)
        else:
            groups = self._one_level if level else self._any_depth
            groups.setdefault(base, []).append(last)

    def _add_wild(self, above: Sequence[Component], regex: str) -> None:
        prefix = "/" + "".join("(?:.*/)?" if part.regex == "**" else part.regex + "/" for part in above)
        if regex == "**":
            self._covers.append(rf"\A(?s:{prefix})")
        else:
            self._prefixes.append(rf"\A(?s:{prefix})\z")
            self._whole.append(rf"\A(?s:{prefix}{regex})\z")

    def _is_below(self, directory: str) -> bool:
        places = self._all_below
        while places:
            if directory in places:
                return True
            if directory == "/":
                return False
            directory = directory.rpartition("/")[0] or "/"
        return False

    @cached_property
    def _covered(self) -> Callable[[bytes], object]:
        return searcher(self._covers, ignore_case=self._ignore_case)

    @cached_property
    def _leads(self) -> Callable[[bytes], object]:
        return searcher(list(dict.fromkeys(self._prefixes)), ignore_case=self._ignore_case)

    @cached_property
    def _full(self) -> Callable[[bytes], object]:
        return searcher(list(dict.fromkeys(self._whole)), ignore_case=self._ignore_case)


def _text(parts: Sequence[Component]) -> str | None:
    """The directory that components name, where no wildcard is among them."""
    texts = [part.text for part in parts if part.text is not None]
    return "/" + "/".join(texts) if len(texts) == len(parts) else None
