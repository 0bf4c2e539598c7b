"""Whether names still lead where they led a while ago: the directories on the way changed neither then nor since.

It goes by the times at which directories changed, which nobody can set back; it opens nothing.
"""

import os
import stat
from collections.abc import Collection
from typing import Final

from handrail.model.paths import within

_TICK_NS: Final = 20_000_000
"""By how much such a time may lie before the change itself."""
_COARSE_NS: Final = 2_000_000_000
"""The same where a file system counts in seconds."""


def changed(top: str, directories: Collection[str], since: int) -> frozenset[str]:
    """Those of the directories, `top` and what lies below it, to which a name may have led otherwise since."""
    # Twice, so that a directory that was put elsewhere between two looks is seen at the second.
    moved: set[str] = set()
    for _ in range(2):
        known: dict[str, bool] = {}
        moved.update(name for name in directories if not _still(name, top, since, known))
    return frozenset(moved)


def _still(name: str, top: str, since: int, known: dict[str, bool]) -> bool:
    found = known.get(name)
    if found is None:
        above = name.rpartition("/")[0] or "/"
        found = within(name, top) and (name == top or _still(above, top, since, known)) and _unchanged(name, since)
        known[name] = found
    return found


def _unchanged(name: str, since: int) -> bool:
    try:
        facts = os.lstat(name)
    except (OSError, ValueError):
        return False
    tick = _TICK_NS if facts.st_ctime_ns % 1_000_000_000 else _COARSE_NS
    return stat.S_ISDIR(facts.st_mode) and facts.st_ctime_ns + tick < since
