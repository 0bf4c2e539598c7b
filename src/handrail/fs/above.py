"""The rules that hold at a tree's root from above, and by what it is known that they still do."""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from handrail.fs import ignores, listing
from handrail.fs.ignores import Context
from handrail.fs.listing import Stamp, Watched
from handrail.model.paths import within


@dataclass(frozen=True, slots=True, eq=False)
class Above:
    """What holds from above: the files that say it, the first of them by whatever links, and when it was found out.

    `root` is the root's own stamp if it was settled: rules that would hide all that is in it don't hold.
    """

    boundary: str
    root: Stamp | None
    files: tuple[Watched, ...]
    lifted: bool
    freed: bool
    context: Context


def above(root: str, inside: Sequence[str], last: Above | None, *, respect_ignore: bool) -> Above:
    """The rules from above a root; the same as long as no file that they come from changed."""
    boundary = ignores.boundary_of(root, inside)
    paths = [ignores.excludes_file(boundary), ignores.exclude_file(boundary), *_named(root, boundary, inside)]
    stamp = _stamp(root)
    if (
        last is not None
        and stamp is not None
        and (last.boundary, last.root) == (boundary, stamp)
        and [file.name for file in last.files] == paths
        and all(listing.still(file, follow=not at) for at, file in enumerate(last.files))
    ):
        return last
    files = tuple(listing.watch(path, follow=not at) for at, path in enumerate(paths))
    start = ignores.start(root, inside) if respect_ignore else ignores.Start(boundary, Context(lifted=True), b"", True)
    found = Above(boundary, stamp, files, start.lifted, start.freed, start.context)
    if last is not None and _said(last) == _said(found):
        return Above(boundary, stamp, files, start.lifted, start.freed, last.context)
    return found


def _said(known: Above) -> tuple[object, ...]:
    return known.boundary, known.lifted, known.freed, [(file.name, file.said) for file in known.files]


def _stamp(root: str) -> Stamp | None:
    now = time.time_ns()
    try:
        found = listing.stamp(os.stat(root, follow_symlinks=False))
    except (OSError, ValueError):
        return None
    return found if listing.settled(found, now) else None


def _named(root: str, boundary: str, inside: Sequence[str]) -> Iterator[str]:
    """The ignore files in the root and above, up to the boundary or the workspace's outermost root."""
    outermost = min((place for place in inside if within(root, place)), key=len, default=boundary)
    top = min(outermost, boundary, key=len)
    place = root
    while True:
        yield from (os.path.join(place, name) for name in listing.WATCHED)
        if place == top:
            return
        place = os.path.dirname(place)
