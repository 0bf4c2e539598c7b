"""What an undo of a whole task will leave at a path, and what stands there by the time its turn comes.

The paths of a task are planned before any of them is taken back, and a directory and what lies in it may both be
among them. A task's paths are taken back in the order of `task_paths`. Nothing is decided on a forecast alone: the
writer compares what it was planned for with the disk.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from handrail.history.restore import check_restorable
from handrail.history.rewind import Clash, Rewound, rewound
from handrail.history.states import exactly, same, standing, without, written
from handrail.model.errors import HandrailError, NotThere
from handrail.model.files import ABSENT, Absent, DirectoryState, FileState, State
from handrail.model.paths import RealPath, shown
from handrail.model.records import Version
from handrail.model.view import View
from handrail.store.protocol import Store

Row = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A task's changes of one path with nobody else's between them: from this state to that."""

    before: State
    after: State
    origin: Version | None
    last: Version


class Forecast:
    """One undo, looked at from one of its paths."""

    def __init__(self, store: Store, task: str, view: View) -> None:
        self._store = store
        self._task = task
        self._view = view

    def stretches(self, path: str) -> Sequence[Stretch]:
        """The task's changes of a path, oldest first; none for a path that it didn't change.

        Raises `NotThere` `not_restorable` when what stood there before isn't kept.
        """
        found: list[Stretch] = []
        last: Version | None = None
        for version in self._store.task_versions(self._task, path):
            if found and last is not None and version.previous == last.id:
                found[-1] = replace(found[-1], after=version.state, last=version)
            else:
                origin = None if version.previous is None else self._store.version(version.previous)
                if origin is None and version.previous is not None:
                    raise _not_kept(version)
                before = ABSENT if origin is None else origin.state
                found.append(Stretch(before, version.state, origin, version))
            last = version
        return found

    def at_its_turn(self, path: RealPath, stretches: Sequence[Stretch]) -> State:
        """What stands at a path when its turn comes."""
        now = standing(self._view, path)
        if isinstance(now, Absent):
            return self._brought_back(path.text, stretches[-1].after)
        return now

    def left(self, path: RealPath, now: State, stretches: Sequence[Stretch]) -> Rewound | Clash:
        """What will stand at a path without the task, where `now` stands at its turn."""
        if isinstance(now, DirectoryState):
            if _is_made(stretches):
                empty = self._all_goes(path, now)
                return Rewound(ABSENT if empty else now, kept=not empty)
            if self._is_as_left(path, now, stretches[-1]):
                now = stretches[-1].after
            elif not isinstance(stretches[-1].before, DirectoryState):
                return Clash("what stands there now was put there, or changed, by others since")
        found = Rewound(now)
        for stretch in reversed(stretches):
            if all(isinstance(s, DirectoryState) for s in (found.state, stretch.before, stretch.after)):
                continue  # a directory before and after; what lies in it has versions of its own
            if stretch.origin is not None and not exactly(found.state, stretch.before):
                check_restorable(stretch.origin)
            step = rewound(stretch.after, stretch.before, found.state, label=f"before task {shown(self._task)}")
            if isinstance(step, Clash):
                return step
            found = Rewound(step.state, merged=found.merged or step.merged)
        return found

    def by_then(self, path: RealPath, now: DirectoryState) -> DirectoryState:
        """A directory as it is when everything below it has been taken back."""
        touched = self._touched(path)
        rest = without(now, touched)
        left = [row for name in sorted(touched) if (row := self._row(path, name)) is not None]
        return replace(
            rest,
            entries=rest.entries + len(left),
            size=rest.size + sum(size for _, kind, size in left if kind == "file"),
            manifest=(*rest.manifest, *left),
        )

    def _row(self, top: RealPath, name: str) -> Row | None:
        """The entry that will be left below a directory; where that can't be told, the one that is there."""
        below = _below(top, name, self._view)
        now = standing(self._view, below) if below is not None else ABSENT
        found = self._ending(below, f"{top.text}/{name}", now)
        match found:
            case Absent():
                return None
            case FileState(content=content):
                return name, "file", content.size
            case state:
                return name, state.kind, 0

    def _ending(self, path: RealPath | None, text: str, now: State) -> State:
        self._view.check()
        try:
            stretches = self.stretches(text)
            if path is None or not stretches:
                # Nobody may look there: what the task would put back, if anything.
                return stretches[0].before if stretches else now
            found = self.left(path, now, stretches)
        except HandrailError:
            return now
        return found.state if isinstance(found, Rewound) else now

    def _touched(self, path: RealPath) -> frozenset[str]:
        """Names below a directory, relative to it, that the undo sees to by themselves."""
        stem = path.text + "/"
        return frozenset(p[len(stem) :] for p in self._store.task_paths(self._task) if p.startswith(stem))

    def _is_as_left(self, path: RealPath, now: DirectoryState, stretch: Stretch) -> bool:
        """Whether nobody else changed a tree: it lists what it listed, and no file in it was written since."""
        touched, after = self._touched(path), stretch.after
        if not isinstance(after, DirectoryState) or not same(without(now, touched), without(after, touched)):
            return False
        if self._view.stat(path) is None:
            return True
        listed = {name for name, _, _ in after.manifest}
        if any(self._others_between(f"{path.text}/{name}", stretch.last.id, name in listed) for name in touched):
            return False
        return written(self._view, path, but=touched) <= stretch.last.time_ns

    def _others_between(self, path: str, since: int, listed: bool) -> bool:
        """Whether others may have changed a path after that version and before the task did.

        What is first recorded as absent may have been so all the time, where the tree doesn't list it.
        """
        return any(
            stretch.origin is not None and stretch.origin.id > since and (listed or stretch.before != ABSENT)
            for stretch in self.stretches(path)
        )

    def _all_goes(self, path: RealPath, now: DirectoryState) -> bool:
        """Whether a directory will be empty; one that isn't there yet is judged by what it is to hold."""
        touched = self._touched(path)
        if self._view.stat(path) is None:
            return not without(now, touched).entries
        if any(self._row(path, name) is not None for name in touched):
            return False
        for entry in self._view.entries(path):
            below = _below(path, entry.name, self._view)
            if below is None or not self.stretches(below.text):
                return False
            if not isinstance(self._ending(below, below.text, standing(self._view, below)), Absent):
                return False
        return True

    def _brought_back(self, path: str, after: State) -> State:
        """What comes back at a path with a directory above it that the task took away, else nothing."""
        if isinstance(after, Absent):
            return ABSENT
        above = path.rpartition("/")[0]
        while above:
            found = self.stretches(above)
            if len(found) == 1 and isinstance(found[0].before, DirectoryState) and self._is_newest(found[0].last):
                return _in_tree(found[0].before, path[len(above) + 1 :], after)
            above = above.rpartition("/")[0]
        return ABSENT

    def _is_newest(self, version: Version) -> bool:
        newest = self._store.newest(version.path)
        return newest is not None and newest.id == version.id


def _in_tree(tree: DirectoryState, name: str, after: State) -> State:
    """The state that a task left, if a tree holds something like it under this name."""
    row = next((row for row in tree.manifest if row[0] == name), None)
    if row is None or row[1] != after.kind:
        return ABSENT
    if isinstance(after, FileState):
        return after if after.content.size == row[2] else ABSENT
    if not isinstance(after, DirectoryState):
        return after
    below = tuple((n[len(name) + 1 :], kind, size) for n, kind, size in tree.manifest if n.startswith(name + "/"))
    size = sum(size for _, kind, size in below if kind == "file")
    return DirectoryState(mode=after.mode, entries=len(below), size=size, manifest=below)


def _is_made(stretches: Sequence[Stretch]) -> bool:
    """Whether the task made this directory, empty, where nothing stood."""
    after = stretches[-1].after
    return isinstance(stretches[0].before, Absent) and isinstance(after, DirectoryState) and not after.entries


def _below(path: RealPath, name: str, view: View) -> RealPath | None:
    """A path below a directory, unless a link is on the way or policy hides it."""
    found: RealPath | None = path
    for part in name.split("/"):
        inner = view.child(found, part) if found is not None else None
        found = inner if inner is not None and found is not None and inner.parent == found.text else None
    return found


def _not_kept(version: Version) -> NotThere:
    return NotThere(
        "not_restorable",
        f"What stood at {shown(version.path)} before version {version.id} isn't kept any more.",
        hint="Look for another version with file_history mode=list.",
        path=shown(version.path),
    )
