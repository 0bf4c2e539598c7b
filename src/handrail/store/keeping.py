"""Which versions of a path may lose their content: a decision over plain rows, without a database.

Rule: the specification's "Keeping and pruning".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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

    The newest one; what an open intent goes from and to; and for each task that was at work since that time what stood
    there before and after it, for an undo starts from these.
    """
    stay = {version.id for version in versions if not version.done}
    newest = next((at for at, version in enumerate(versions) if version.done), len(versions))
    stay.update(version.id for version in versions[: newest + 1])
    first: dict[str | bytes, int] = {}
    last: dict[str | bytes, int] = {}
    young: set[str | bytes] = set()
    for at, version in enumerate(versions):
        if version.task is None:
            continue
        last.setdefault(version.task, at)
        first[version.task] = at
        if max(version.time_ns, version.touched or 0) >= since:
            young.add(version.task)
    for task in young:
        before = first[task] + 1
        stay.add(versions[last[task]].id)
        stay.update(version.id for version in versions[before : before + 1])
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
