"""Where symbolic links in a tree lead: places that are searched too, each once, if they lie in what the view shows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from handrail.model.paths import RealPath, within
from handrail.model.view import Sifted, Tally, View
from handrail.search.asked import Accept

MOST: Final = 2000
"""Links of one tree that are followed."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A place with the names by which it was reached; through links they aren't its real path."""

    path: RealPath
    spelled: tuple[str, ...]

    def accepting(self, accept: Accept) -> Accept:
        """The question as asked of real paths in this place: a file may be named either way."""
        real = self.path.text
        if self.spelled == (real,):
            return accept
        return lambda path: accept(path) or any(accept(name + path[len(real) :]) for name in self.spelled)


def spread(
    root: RealPath, view: View, tally: Tally, *, respect_ignore: bool
) -> Iterator[tuple[Reached, Sequence[Sifted]]]:
    """A directory's tree and those that links in it lead to, each once; a file that a link leads to has none."""
    waiting = [Reached(root, (root.text,))]
    known = {root}
    while waiting:
        place = waiting.pop(0)
        stat = view.stat(place.path)
        tree: Sequence[Sifted] = ()
        if stat is not None and stat.kind == "directory":
            tree = view.tree(place.path, tally, respect_ignore=respect_ignore) or ()
        yield place, tree
        waiting += [more for more in reached(place, tree, view) if more.path not in known]
        known |= {more.path for more in waiting}


def reached(place: Reached, tree: Sequence[Sifted], view: View) -> list[Reached]:
    """What the links of a tree lead to outside of it; what lies in the tree is found there anyway."""
    found: dict[RealPath, list[str]] = {}
    root = place.path.text
    every = ((one, name) for one in tree for name in one.directory.links)
    for one, name in islice(every, MOST):
        target = view.child(one.path, name)
        if target is None or within(target.text, root) or within(root, target.text):
            continue
        below = one.path.text[len(root) :]
        found.setdefault(target, []).extend(f"{start}{below}".rstrip("/") + f"/{name}" for start in place.spelled)
    return [Reached(path, tuple(names)) for path, names in found.items()]
