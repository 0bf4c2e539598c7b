"""Take one path back to before a task, and keep what others changed since.

Rule: the specification's "undo task". A task's own changes are taken back from the newest to the oldest; whatever
others did between or after them stays, or is reported as a conflict.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from handrail.history import places
from handrail.history.restore import changed, check_restorable, check_way, put
from handrail.history.rewind import Clash, rewound
from handrail.history.states import exactly, same, standing
from handrail.model.changes import Plan
from handrail.model.errors import NotThere, OutOfDate
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
        if self._is_made_directory(stretches, now):
            return self._emptied(operation.task, path, now, view)
        wanted, merged = now, False
        for stretch in reversed(stretches):
            if stretch.origin is not None and not exactly(wanted, stretch.before):
                check_restorable(stretch.origin)
            found = rewound(stretch.after, stretch.before, wanted, label=f"before task {shown(operation.task)}")
            if isinstance(found, Clash):
                raise _conflict(operation, path, found)
            wanted, merged = found.state, merged or found.merged
        if exactly(now, wanted):
            return Plan(changed(path, now, wanted, unchanged=True))
        if not (isinstance(now, DirectoryState) and isinstance(wanted, Absent)):
            check_way(path, now, wanted)
        plan = put(path, now, wanted)
        return Plan(replace(changed(path, now, wanted), merged=merged), plan.changes)

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

    # directories that the task made

    def _is_made_directory(self, stretches: Sequence[_Stretch], now: State) -> bool:
        first, last = stretches[0].before, stretches[-1].after
        if not (isinstance(first, Absent) and isinstance(last, DirectoryState) and isinstance(now, DirectoryState)):
            return False
        return last.entries == 0

    def _emptied(self, task: str, path: RealPath, now: State, view: View) -> Plan:
        """A directory made by the task goes when nothing is left in it but what this undo removes too."""
        if self._all_goes(task, path, view, frozenset(self._store.task_paths(task))):
            stat = view.stat(path)
            gone = DirectoryState(mode=stat.mode if stat is not None else None)
            return put(path, gone, ABSENT)
        answer = changed(path, now, now, unchanged=True)
        return Plan(replace(answer, warnings=(f"{path} stays: there is something in it that the task didn't make",)))

    def _all_goes(self, task: str, path: RealPath, view: View, touched: frozenset[str]) -> bool:
        view.check()
        for entry in view.entries(path):
            child = view.child(path, entry.name) if entry.stat.kind != "symlink" else None
            if child is None or child.text not in touched or not self._goes(task, child, view, touched):
                return False
        return True

    def _goes(self, task: str, path: RealPath, view: View, touched: frozenset[str]) -> bool:
        stretches = self._stretches(self._store.task_versions(task, path.text))
        if not isinstance(stretches[0].before, Absent) or len(stretches) > 1:
            return False
        stat = view.stat(path)
        if stat is not None and stat.kind == "directory":
            return self._all_goes(task, path, view, touched)
        return same(standing(view, path), stretches[0].after)


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
