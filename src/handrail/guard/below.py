"""Whether a directory may be taken away as a whole: what lies in it is judged name by name, links not followed.

It knows a judge and a backend; what else is asked about such a directory is the road's.
"""

from collections.abc import Callable
from typing import Final

from handrail.fs.protocol import ReadableFileSystem
from handrail.guard.resolve import Resolver
from handrail.model.errors import HandrailError

MOST: Final = 200_000
"""Entries that are looked at; a larger tree is refused, since nobody knows what lies in it."""


def obstacle(
    fs: ReadableFileSystem, resolver: Resolver, directory: str, *, may_go: Callable[[str, bool], bool]
) -> str | None:
    """Why the tree can't be taken away, without naming what is hidden; `None` = it can.

    `may_go` is asked about each path and whether it is a directory.
    """
    waiting, seen = [resolver.directory(directory)], 0
    while waiting:
        place = waiting.pop()
        try:
            children = fs.entries(place)
        except HandrailError:
            return "not all that lies in it can be looked at"
        seen += len(children)
        if seen > MOST:
            return f"more than {MOST} entries lie in it, too many to look at"
        for child in children:
            path = f"{place.text.rstrip('/')}/{child.name}"
            is_directory = child.stat.kind == "directory"
            if not may_go(path, is_directory):
                return "something lies in it that no tool may change"
            found = resolver.beneath(place, path) if is_directory else None
            if found is not None:
                waiting.append(found)
    return None
