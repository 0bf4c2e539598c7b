"""The rules that hold at a tree's root from above, and by what it is known that they still do."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from handrail.fs import ignores, listing
from handrail.fs.ignores import Context
from handrail.model.paths import within


@dataclass(frozen=True, slots=True, eq=False)
class Above:
    """What holds from above: `known` are the files looked at with their stamps, `said` what they held."""

    known: tuple[object, ...]
    settled: bool
    said: tuple[object, ...]
    context: Context


def above(root: str, inside: Sequence[str], last: Above | None, *, respect_ignore: bool) -> Above:
    """The rules from above a root; the same as long as no file that they come from changed."""
    boundary = ignores.boundary_of(root, inside)
    outermost = min((place for place in inside if within(root, place)), key=len, default=boundary)
    top = min(outermost, boundary, key=len)
    paths = [root, *ignores.common_files(boundary)]
    place = root
    while place != top:
        paths += [f"{place.rstrip('/')}/{name}" for name in listing.WATCHED]
        place = os.path.dirname(place)
    paths += [f"{place.rstrip('/')}/{name}" for name in listing.WATCHED]
    now = time.time_ns()
    stamps = tuple(listing.stamps(paths))
    known = (*paths, *stamps)
    if last is not None and last.settled and last.known == known:
        return last
    said: tuple[object, ...] = (boundary, *(ignores.read(path) for path in paths[1:]))
    context = Context(lifted=True)
    if respect_ignore:
        found = ignores.start(root, inside)
        said = (*said, found.lifted, found.lines, len(found.context.levels))
        context = found.context
    if last is not None and last.said == said:
        context = last.context
    return Above(known, all(s is None or listing.settled(s, now) for s in stamps), said, context)
