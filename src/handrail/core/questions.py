"""The questions that a call puts to people: about which changes, for what reason, with what they should notice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import uuid4

from handrail.core.approval import Approvals
from handrail.core.showing import proposed
from handrail.guard.sensitive import Sensitive
from handrail.model.calls import Call
from handrail.model.changes import Change, Plan
from handrail.model.files import DirectoryState
from handrail.model.operations import Operation
from handrail.model.records import Request, Task
from handrail.model.view import Target

Reason = Literal["mutation", "sensitive", "protected", "launch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An operation that was admitted and planned, and what the freshness guard noticed."""

    operation: Operation
    targets: Sequence[Target]
    plan: Plan
    unseen_rows: int = 0
    notes: tuple[str, ...] = ()


class Questions:
    """Makes the requests of one call; `task` opens the piece of work that an answer may be remembered for."""

    def __init__(
        self,
        sensitive: Sensitive,
        approvals: Approvals,
        call: Call,
        *,
        task: Callable[[], Task],
        clock: Callable[[], int],
    ) -> None:
        self._sensitive = sensitive
        self._approvals = approvals
        self._call = call
        self._task = task
        self._clock = clock

    def secret(self, path: str) -> Request:
        """May the content of this sensitive file be looked at?"""
        return self._request("sensitive", (), (path,))

    def guarded(self, plan: Plan) -> bool:
        """Whether the plan needs a question of its own, because of what it touches or starts."""
        return plan.launch is not None or any(self._reason(c) != "mutation" for c in plan.changes)

    def about(self, ready: Sequence[Prepared]) -> Request:
        """May these plans be carried out? One question for all."""
        changes = [c for p in ready for c in p.plan.changes]
        unusual = [s for p in ready for s in (*p.plan.unusual, *p.notes)]
        unusual += [f"{p.unseen_rows} changed rows were never shown to the agent" for p in ready if p.unseen_rows]
        launches = [p.plan.launch.path.text for p in ready if p.plan.launch is not None]
        if launches:
            return self._request("launch", (), launches, unusual)
        reasons = {self._reason(c) for c in changes}
        kinds: tuple[Reason, ...] = ("protected", "sensitive")
        reason: Reason = next((kind for kind in kinds if kind in reasons), "mutation")
        return self._request(reason, changes, [c.path.text for c in changes], unusual)

    def _reason(self, change: Change) -> Reason:
        paths = [change.path.text]
        for state in (change.before, change.after):
            if isinstance(state, DirectoryState):
                if len(state.manifest) < state.entries:
                    return "protected"  # too much to look through for what is protected
                paths += [f"{change.path.text}/{name}" for name, _, _ in state.manifest]
        if any(map(self._sensitive.protected, paths)):
            return "protected"
        return "sensitive" if any(map(self._sensitive.sensitive, paths)) else "mutation"

    def _request(
        self, reason: Reason, changes: Sequence[Change], paths: Sequence[str], unusual: Sequence[str] = ()
    ) -> Request:
        now, task = self._clock(), self._task()
        return Request(
            id=uuid4().hex,
            tool=self._call.tool,
            reason=reason,
            changes=proposed(changes) if self._approvals.shows(reason) else (),
            paths=tuple(paths),
            session=self._call.session,
            task=task.id,
            objective=task.objective,
            interface=self._call.interface,
            asked_at=now,
            expires_at=now + int(self._approvals.timeout * 1e9),
            unusual=tuple(unusual),
            narrow=reason != "mutation",
        )
