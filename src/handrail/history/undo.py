"""Take one path back to before a task, and keep what others changed since.

Rule: the specification's "undo task". A task's own changes are taken back from the newest to the oldest; whatever
others did between or after them stays, or is reported as a conflict.
"""

from collections.abc import Sequence
from dataclasses import replace

from handrail.history import places
from handrail.history.forecast import Forecast, Stretch
from handrail.history.restore import changed, check_way, put
from handrail.history.rewind import Clash
from handrail.history.states import exactly
from handrail.model.answers import Changed
from handrail.model.changes import Plan
from handrail.model.errors import NotThere, OutOfDate
from handrail.model.files import ABSENT, Absent, DirectoryState
from handrail.model.operations import Undo, Want
from handrail.model.paths import RealPath, shown
from handrail.model.view import Target, View
from handrail.store.protocol import Store

MARKED_TEXT = 8000
"""Characters of a conflict's markers that an answer carries."""


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
        forecast = Forecast(self._store, operation.task, view)
        path, stretches = self._chosen(operation, targets, forecast)
        now = forecast.at_its_turn(path, stretches)
        found = forecast.left(path, now, stretches)
        if isinstance(found, Clash):
            raise _conflict(operation, path, found)
        if exactly(now, found.state):
            plan = Plan(changed(path, now, found.state, unchanged=True))
        elif isinstance(now, DirectoryState) and isinstance(found.state, Absent):
            plan = put(path, forecast.by_then(path, now), ABSENT)
        else:
            check_way(path, now, found.state)
            plan = put(path, now, found.state)
        warnings = (f"{path} stays: there is something in it that the task didn't make",) if found.kept else ()
        return Plan(replace(_answer(plan), merged=found.merged, warnings=warnings), plan.changes)

    def _chosen(
        self, operation: Undo, targets: Sequence[Target], forecast: Forecast
    ) -> tuple[RealPath, Sequence[Stretch]]:
        for target in targets:
            if target.path is not None:
                found = forecast.stretches(target.path.text)
                if found:
                    return target.path, found
        path = targets[0].real if len(targets) == 1 else places.place(operation.path, targets)
        raise NotThere(
            "version_not_found",
            f"Task {shown(operation.task)} didn't change {path}.",
            hint="Name a path that the task changed; file_history mode=list with this task_id shows them.",
            path=str(path),
            facts={"task": operation.task},
        )


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
