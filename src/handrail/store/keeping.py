"""Which versions of a path may lose their content: a decision over plain rows, without a database.

Rule: the specification's "Keeping and pruning".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from handrail.store.protocol import Limits

AGE, COUNT, SPACE = "age", "count", "space"
_DAY_NS: Final = 24 * 3600 * 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One version of a path. `heavy`: there is a content or a moved tree that it still gives back.

    `touched`: when its task was called last, in nanoseconds; `None` for a version of no task.
    """

    id: int
    time_ns: int
    task: str | bytes | None
    touched: int | None
    done: bool
    heavy: bool


def needed(versions: Sequence[Kept], since: int) -> frozenset[int]:
    """The ids of the versions that stay whatever the limits say; `versions` are those of one path, newest first.

    The newest one; what an open intent goes from and to; and what stood there before and after each stretch of work of
    a task that was at work since that time, for an undo takes it back stretch by stretch.
    """
    stay = {version.id for version in versions if not version.done}
    newest = next((at for at, version in enumerate(versions) if version.done), len(versions))
    stay.update(version.id for version in versions[: newest + 1])
    young = {v.task for v in versions if v.task is not None and max(v.time_ns, v.touched or 0) >= since}
    for newer, older in pairwise(versions):
        if newer.task != older.task and (newer.task in young or older.task in young):
            stay.add(older.id)
    return frozenset(stay)


def surplus(versions: Sequence[Kept], limits: Limits, now: int) -> Mapping[int, str]:
    """The ids of one path's versions (newest first) that are over the limits of age and number, and over which."""
    since = now - limits.age
    stay = needed(versions, since)
    found: dict[int, str] = {}
    heavy = 0
    for version in versions:
        if not version.heavy:
            continue
        heavy += 1
        if version.id in stay:
            continue
        if version.time_ns < since:
            found[version.id] = AGE
        elif heavy > limits.versions:
            found[version.id] = COUNT
    return found


def reason(why: str, limits: Limits) -> str:
    """Why a version lost its content, in words for its listing."""
    if why == AGE:
        days = limits.age / _DAY_NS
        return f"it was pruned: it was older than {days:g} day{'s' if days != 1 else ''}"
    if why == COUNT:
        return f"it was pruned: the file had more than {limits.versions} newer or needed versions"
    return f"it was pruned: the history took more than {limits.bytes:,} bytes"
