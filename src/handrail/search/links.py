"""Where symbolic links in a tree lead: places that are searched too, each once, if they lie in what the view shows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from handrail.model.paths import RealPath, within
from handrail.model.view import Sifted, Tally, View
from handrail.search.asked import Accept

MOST: Final = 2000
"""Links of one tree that are followed."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A place with the name by which it was reached: through a link, `spelled` isn't its real path."""

    path: RealPath
    spelled: str

    def accepting(self, accept: Accept) -> Accept:
        """The question as asked of real paths in this place: a file may be named either way."""
        real, spelled = self.path.text, self.spelled
        if real == spelled:
            return accept
        return lambda path: accept(spelled + path[len(real) :]) or accept(path)


def spread(
    root: RealPath, view: View, tally: Tally, *, respect_ignore: bool
) -> Iterator[tuple[Reached, Sequence[Sifted]]]:
    """A directory's tree and those that links in it lead to, each once; a file that a link leads to has none."""
    waiting = [Reached(root, root.text)]
    known = {root}
    while waiting:
        place = waiting.pop(0)
        tree = view.tree(place.path, tally, respect_ignore=respect_ignore) or ()
        yield place, tree
        for more in reached(place, tree, view):
            if more.path not in known:
                known.add(more.path)
                waiting.append(more)


def reached(place: Reached, tree: Sequence[Sifted], view: View) -> Iterator[Reached]:
    """What the links of a tree lead to outside of it; what lies in the tree is found there anyway."""
    followed = 0
    root = place.path.text
    for one in tree:
        for name in one.directory.links:
            followed += 1
            if followed > MOST:
                return
            target = view.child(one.path, name)
            if target is None or within(target.text, root) or within(root, target.text):
                continue
            spelled = place.spelled + one.path.text[len(root) :]
            yield Reached(target, f"{spelled.rstrip('/')}/{name}")
