"""What policy says of one directory, and by that of the names in it; found out once, ignore files aside."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from handrail.guard.globs import PathSet
from handrail.guard.halves import Here
from handrail.model.paths import within


@dataclass(frozen=True, slots=True)
class Standing:
    """A directory's files: none shows when it is `closed`; each is judged by its whole path where it is `odd`.

    Else a file shows that `denied` doesn't name and each of `allowed` does, unless an ignore file in one of `roots`
    or below hides it. `changing`: what was judged may be judged otherwise at any time.
    """

    closed: bool = False
    odd: bool = False
    changing: bool = False
    denied: Here | None = None
    allowed: tuple[Here, ...] = ()
    roots: tuple[str, ...] = ()

    def names(self, name: str) -> bool:
        """Whether lists and places let the name be seen."""
        if self.denied is not None and self.denied.match(name):
            return False
        return not self.allowed or all(allowed.match(name) for allowed in self.allowed)

    def those(self, names: Sequence[str]) -> Sequence[str]:
        """The names that they let be seen, in their order."""
        if self.denied is not None:
            denied = self.denied.those(names)
            names = [name for name in names if name not in denied] if denied else names
        for allowed in self.allowed:
            named = allowed.those(names)
            names = [name for name in names if name in named]
        return names


CLOSED: Final = Standing(closed=True)


@dataclass(frozen=True, kw_only=True)
class Lists:
    """The rules that need no look at a disk: lists, roots and kept places, all of them real paths."""

    roots: tuple[str, ...] | None
    allow: PathSet
    narrow: PathSet
    deny: PathSet
    own: tuple[str, ...]
    files: str | None
    output: str | None

    def standing(self, directory: str) -> Standing:
        """What they say of the files in a directory."""
        roots = self._roots(directory)
        if directory in self._holders:
            return Standing(odd=True, changing=self._is_output(directory), roots=roots)
        managed = self.files is not None and within(directory, self.files)
        denied = self.deny.here(directory) if self.deny else None
        if denied is not None and denied.everything:
            return CLOSED
        if not managed and any(within(directory, own) for own in self.own):
            return CLOSED
        lists = [allowed.here(directory) for allowed in (self.allow, self.narrow) if allowed]
        if any(here.nothing for here in lists):
            return CLOSED
        if not self.allow and not managed and self.roots is not None and not roots:
            return Standing(odd=True, changing=True) if self._is_output(directory) else CLOSED
        return Standing(
            denied=None if denied is None or denied.nothing else denied,
            allowed=tuple(here for here in lists if not here.everything),
            roots=roots,
        )

    @cached_property
    def _holders(self) -> frozenset[str]:
        """The directories in which a root or kept place lies itself."""
        kept = (*(self.roots or ()), *self.own, self.files, self.output)
        return frozenset(place.rpartition("/")[0] or "/" for place in kept if place is not None and place != "/")

    def _is_output(self, directory: str) -> bool:
        return self.output is not None and within(directory, self.output)

    def _roots(self, directory: str) -> tuple[str, ...]:
        return tuple(root for root in self.roots or () if within(directory, root))
