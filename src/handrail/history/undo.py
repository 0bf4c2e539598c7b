"""Take one path back to before a task, and keep what others changed since.

Rule: the specification's "undo task". A task's own changes are taken back from the newest to the oldest; whatever
others did between or after them stays, or is reported as a conflict.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from handrail.history import places
from handrail.history.restore import changed, check_restorable, check_way, put
from handrail.history.rewind import Clash, Rewound, rewound
from handrail.history.states import exactly, same, standing, without
from handrail.model.answers import Changed
from handrail.model.changes import Plan
from handrail.model.errors import HandrailError, NotThere, OutOfDate
from handrail.model.files import ABSENT, Absent, DirectoryState, State
from handrail.model.operations import Undo, Want
from handrail.model.paths import RealPath, shown
from handrail.model.records import Version
from handrail.model.view import Target, View
from handrail.store.protocol import Store

MARKED_TEXT = 8000
"""Characters of a conflict's markers that an answer carries."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A task's changes of one path with nobody else's between them: from this state to that."""

    before: State
    after: State
    origin: Version | None


class UndoPlanner:
    """Plans an `Undo` of one path."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def wants(self, operation: Undo) -> Sequence[Want]:
        """The path; raises `NotThere` `task_not_found`."""
        if self._store.task(operation.task) is None:
            raise NotThere(
                "task_not_found",
                f"There is no task {shown(operation.task)}.",
                hint="file_history mode=list names the task of each version.",
                facts={"task": operation.task},
            )
        if not operation.path.startswith("/"):
            return (Want(path=operation.path, access="write", follow=False),)
        return places.wants(operation.path, "write")

    def plan(self, operation: Undo, targets: Sequence[Target], view: View) -> Plan:
        """The path without the task's changes; no change where they are gone already.

        Raises `OutOfDate` `conflict` with the merge's markers, `NotThere` `not_restorable`, `version_not_found`.
        """
        path, stretches = self._chosen(operation, targets)
        now = standing(view, path)
        found = self._without_task(operation.task, path, now, stretches, view)
        if isinstance(found, Clash):
            raise _conflict(operation, path, found)
        if exactly(now, found.state):
            plan = Plan(changed(path, now, found.state, unchanged=True))
        elif isinstance(now, DirectoryState) and isinstance(found.state, Absent):
            plan = put(path, self._left_by_then(operation.task, path, now, view), ABSENT)
        else:
            check_way(path, now, found.state)
            plan = put(path, now, found.state)
        warnings = (f"{path} stays: there is something in it that the task didn't make",) if found.kept else ()
        return Plan(replace(_answer(plan), merged=found.merged, warnings=warnings), plan.changes)

    def _without_task(
        self, task: str, path: RealPath, now: State, stretches: Sequence[_Stretch], view: View
    ) -> Rewound | Clash:
        if isinstance(now, DirectoryState):
            if _is_made(stretches):
                empty = self._all_goes(task, path, view)
                return Rewound(ABSENT if empty else now, kept=not empty)
            if self._is_as_left(task, path, now, stretches[-1].after):
                now = stretches[-1].after
        found = Rewound(now)
        for stretch in reversed(stretches):
            if stretch.origin is not None and not exactly(found.state, stretch.before):
                check_restorable(stretch.origin)
            step = rewound(stretch.after, stretch.before, found.state, label=f"before task {shown(task)}")
            if isinstance(step, Clash):
                return step
            found = Rewound(step.state, merged=found.merged or step.merged)
        return found

    def _chosen(self, operation: Undo, targets: Sequence[Target]) -> tuple[RealPath, list[_Stretch]]:
        for target in targets:
            if target.path is not None:
                own = self._store.task_versions(operation.task, target.path.text)
                if own:
                    return target.path, self._stretches(own)
        path = targets[0].real if len(targets) == 1 else places.place(operation.path, targets)
        raise NotThere(
            "version_not_found",
            f"Task {shown(operation.task)} didn't change {path}.",
            hint="Name a path that the task changed; file_history mode=list with this task_id shows them.",
            path=str(path),
            facts={"task": operation.task},
        )

    def _stretches(self, own: Sequence[Version]) -> list[_Stretch]:
        found: list[_Stretch] = []
        last: Version | None = None
        for version in own:
            if found and last is not None and version.previous == last.id:
                found[-1] = replace(found[-1], after=version.state)
            else:
                origin = None if version.previous is None else self._store.version(version.previous)
                if origin is None and version.previous is not None:
                    raise NotThere(
                        "not_restorable",
                        f"What stood at {shown(version.path)} before version {version.id} isn't kept any more.",
                        hint="Look for another version with file_history mode=list.",
                        path=shown(version.path),
                    )
                found.append(_Stretch(ABSENT if origin is None else origin.state, version.state, origin))
            last = version
        return found

    # directories: what the same undo does below them counts as done

    def _touched(self, task: str, path: RealPath) -> frozenset[str]:
        """Names below a directory, relative to it, that the undo sees to by themselves."""
        stem = path.text + "/"
        return frozenset(p[len(stem) :] for p in self._store.task_paths(task) if p.startswith(stem))

    def _is_as_left(self, task: str, path: RealPath, now: DirectoryState, after: State) -> bool:
        touched = self._touched(task, path)
        return isinstance(after, DirectoryState) and same(without(now, touched), without(after, touched))

    def _left_by_then(self, task: str, path: RealPath, now: DirectoryState, view: View) -> DirectoryState:
        """What is still in a directory when everything below it has been taken back."""
        gone = frozenset(name for name in self._touched(task, path) if self._goes(task, _below(path, name, view), view))
        return without(now, gone)

    def _all_goes(self, task: str, path: RealPath, view: View) -> bool:
        return all(self._goes(task, _below(path, entry.name, view), view) for entry in view.entries(path))

    def _goes(self, task: str, path: RealPath | None, view: View) -> bool:
        """Whether nothing is left at a path when the task is taken back."""
        view.check()
        own = () if path is None else self._store.task_versions(task, path.text)
        if path is None or not own:
            return False
        try:
            found = self._without_task(task, path, standing(view, path), self._stretches(own), view)
        except HandrailError:
            return False
        return isinstance(found, Rewound) and isinstance(found.state, Absent)


def _is_made(stretches: Sequence[_Stretch]) -> bool:
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


def _answer(plan: Plan) -> Changed:
    answer = plan.answer
    assert isinstance(answer, Changed)  # noqa: S101 -- `put` and `changed` make no other
    return answer


def _conflict(operation: Undo, path: RealPath, clash: Clash) -> OutOfDate:
    facts: dict[str, object] = {"task": operation.task, "conflicts": clash.count}
    if clash.marked:
        facts |= {"merge": clash.marked[:MARKED_TEXT], "merge_cut": len(clash.marked) > MARKED_TEXT}
    return OutOfDate(
        "conflict",
        f"{path} stays as it is: {clash.why}.",
        hint=(
            "Read it with read_files and edit it by hand; the markers in `merge` show both sides."
            if clash.marked
            else "Compare with file_history mode=read, then restore a version of it, or leave it."
        ),
        path=str(path),
        retryable=False,
        facts=facts,
    )
