"""One call's operations through the stations between the tool policy and the answer: admitted, planned, judged, done.

It knows the order of the stations and nothing of any tool, format or file system.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from handrail.core.apply import Applied
from handrail.core.ground import Ground, Trail
from handrail.core.questions import Prepared, Questions
from handrail.core.sessions import Session
from handrail.core.showing import content_hash, diff_of
from handrail.core.together import runs
from handrail.core.tool import Outcome, Tool
from handrail.core.work import Work
from handrail.guard.view import CallView
from handrail.model.answers import Answer, Opened, ReadBinary, ReadImage, ReadText
from handrail.model.calls import Call
from handrail.model.changes import Change, Freshness, Plan
from handrail.model.errors import HandrailError, NotThere, OutOfDate
from handrail.model.files import FileState
from handrail.model.operations import Operation
from handrail.model.paths import RealPath
from handrail.model.planner import Planner
from handrail.model.records import Answered, Request
from handrail.model.view import Target

MADE_FOR_OTHER_BYTES = ("no_match", "ambiguous_match", "no_change")
"""Refusals of an edit that a file which changed since it was read explains."""
NOBODY_SAW = ("auto", "rule", "person")
"""Who answers without being shown this diff, so that it may be planned again on the session's own newer bytes."""


class Passage:
    """One call on its way; used by one thread."""

    def __init__(self, ground: Ground, call: Call, session: Session, trail: Trail, *, tool: Tool[Any]) -> None:
        self._ground = ground
        self._call = call
        self._session = session
        self._trail = trail
        self._diffs = tool.diffs
        self._read_call = tool.read_call
        self._view = ground.make_view(call, session)
        self._work = Work(ground.store, call, session=session.name, clock=ground.clock)
        self._questions = Questions(ground.sensitive, ground.approvals, call, task=self._work.task, clock=ground.clock)

    def travel(self, operations: Sequence[Operation]) -> Sequence[Outcome]:
        """Every operation's outcome, in order; those that need a person's word on a secret come last."""
        self._work.begin(operations)
        outcomes: dict[int, Outcome] = {}
        admitted: list[tuple[int, Operation, Sequence[Target], Sequence[RealPath]]] = []
        for index, operation in enumerate(operations):
            try:
                targets = self._ground.admission.admit(operation, self._planner(operation), self._session)
            except HandrailError as error:
                outcomes[index] = Outcome(operation=operation, error=error)
            else:
                self._trail.paths.extend(t.path.text for t in targets if t.path is not None)
                secrets = self._ground.admission.secrets(targets)
                admitted.append((index, operation, targets, secrets))
        plain = [(i, op, t) for i, op, t, secrets in admitted if not secrets or self._call.person]
        outcomes.update(self._go(plain))
        for index, operation, targets, secrets in admitted:
            if index not in outcomes:
                outcomes[index] = self._go_secretly(index, operation, targets, secrets)
        return [outcomes[index] for index in range(len(operations))]

    def _go_secretly(
        self, index: int, operation: Operation, targets: Sequence[Target], secrets: Sequence[RealPath]
    ) -> Outcome:
        try:
            for path in secrets:
                self._ask(self._questions.secret(path.text))
                self._view.grant(path)
        except HandrailError as error:
            return Outcome(operation=operation, error=error)
        return self._go([(index, operation, targets)])[index]

    def _go(self, admitted: Sequence[tuple[int, Operation, Sequence[Target]]]) -> dict[int, Outcome]:
        outcomes: dict[int, Outcome] = {}
        prepared: dict[int, Prepared] = {}
        for index, operation, targets in admitted:
            try:
                prepared[index] = self._prepare(operation, targets)
            except HandrailError as error:
                outcomes[index] = Outcome(operation=operation, error=error)
        answers = self._approve({i: p for i, p in prepared.items() if self._acts(p)})
        granted = {i: answer for i, answer in answers.items() if not isinstance(answer, HandrailError)}
        refused = {i: answer for i, answer in answers.items() if isinstance(answer, HandrailError)}
        outcomes |= {i: Outcome(operation=prepared.pop(i).operation, error=error) for i, error in refused.items()}
        for run in runs(prepared, self._is_directory):
            acting = {i: prepared[i] for i in run if self._acts(prepared[i])}
            if len(acting) > 1:
                outcomes.update(self._apply_each(acting))
            for index in run:
                if index not in outcomes:
                    outcomes[index] = self._perform(prepared[index], granted.get(index))
        return outcomes

    # planning and freshness

    def _planner(self, operation: Operation) -> Planner[Operation]:
        return self._ground.planners[operation.kind]

    def _prepare(self, operation: Operation, targets: Sequence[Target]) -> Prepared:
        try:
            return self._plan(operation, targets, self._view)
        except OutOfDate as error:
            if error.kind != "file_modified_since_read":
                raise
        # Another thread of this session may just have written it: behind the lock, disk and ledger agree.
        with self._ground.writer.hold([t.real for t in targets if t.path is not None]):
            return self._plan(operation, targets, self._ground.make_view(self._call, self._session))

    def _plan(self, operation: Operation, targets: Sequence[Target], view: CallView) -> Prepared:
        freshness: Freshness = getattr(operation, "freshness", "none")
        expected: str | None = getattr(operation, "expected_hash", None)
        if expected is None:
            self._was_read(targets, freshness)
        try:
            plan = self._planner(operation).plan(operation, targets, view)
        except HandrailError as error:
            if error.kind in MADE_FOR_OTHER_BYTES:
                self._out_of_date(operation, targets[0], view)
            raise
        unseen, notes = 0, list[str]()
        for change in plan.changes:
            freshened = self._session.ledger.check(
                change, freshness, expected_hash=expected, around=plan.around, view=view, read_call=self._read_call
            )
            unseen += freshened.unseen_rows
            notes.extend(freshened.notes)
        return Prepared(operation=operation, targets=targets, plan=plan, unseen_rows=unseen, notes=tuple(notes))

    def _out_of_date(self, operation: Operation, target: Target, view: CallView) -> None:
        """Say that the file is stale before what doesn't fit is blamed on the edit."""
        snapshot = view.look(target.real)
        stands = FileState(snapshot.content(), snapshot.stat.mode)
        self._session.ledger.check(
            Change(target.real, stands, stands, "modify"),
            getattr(operation, "freshness", "none"),
            expected_hash=getattr(operation, "expected_hash", None),
            view=view,
            read_call=self._read_call,
        )

    def _was_read(self, targets: Sequence[Target], freshness: Freshness) -> None:
        if freshness == "none":
            return
        for target in targets:
            if target.path is not None and target.want.access == "write" and self._is_file(target):
                self._session.ledger.require(target.path.text, freshness, read_call=self._read_call)

    def _is_directory(self, path: RealPath) -> bool:
        stat = self._ground.fs.stat(path)
        return stat is not None and stat.kind == "directory"

    def _is_file(self, target: Target) -> bool:
        stat = self._ground.fs.stat(target.real)
        return stat is not None and stat.kind == "file"

    # approval

    def _acts(self, ready: Prepared) -> bool:
        if getattr(ready.operation, "dry_run", False):
            return False
        return bool(ready.plan.changes) or (ready.plan.launch is not None and bool(ready.plan.unusual))

    def _approve(self, ready: Mapping[int, Prepared]) -> dict[int, Answered | HandrailError]:
        """Ask about what is plain in one question, and about each protected or sensitive one in its own."""
        plain = [i for i, p in ready.items() if not self._questions.guarded(p.plan)]
        answers: dict[int, Answered | HandrailError] = {}
        for indices in [plain, *([i] for i in ready if i not in plain)]:
            if not indices:
                continue
            try:
                answer: Answered | HandrailError = self._ask(self._questions.about([ready[i] for i in indices]))
            except HandrailError as error:
                answer = error
            answers.update(dict.fromkeys(indices, answer))
        return answers

    def _ask(self, request: Request) -> Answered:
        if self._call.person:
            answered = Answered(verdict="allow", by="person", at=request.asked_at)
        else:
            answered = self._ground.approvals.settle(
                request,
                channels=self._call.channels,
                cancellation=self._call.cancellation,
                progress=self._call.progress,
            )
        self._trail.approvals.append(answered)
        return answered

    # doing

    def _perform(self, ready: Prepared, answer: Answered | None) -> Outcome:
        outcome = self._outcome(ready)
        try:
            if not self._acts(ready):
                self._note_read(ready.plan)
                if ready.plan.launch is not None:
                    return replace(outcome, answer=self._launch(ready.plan))
                return replace(outcome, diff=self._diff(ready.plan.changes, outcome.dry_run))
            if ready.plan.launch is not None:
                return replace(outcome, answer=self._launch(ready.plan))
            return self._apply(ready, answer)
        except HandrailError as error:
            return Outcome(operation=ready.operation, error=error)

    def _outcome(self, ready: Prepared) -> Outcome:
        return Outcome(
            operation=ready.operation,
            answer=_answer(ready.plan),
            unseen_rows=ready.unseen_rows,
            notes=ready.notes,
            dry_run=getattr(ready.operation, "dry_run", False),
        )

    def _apply(self, ready: Prepared, answer: Answered | None) -> Outcome:
        latest = ready

        def replan() -> Sequence[Change]:
            nonlocal latest
            if answer is None or not answer.by.startswith(NOBODY_SAW) or not self._own(ready):
                raise _stale(ready.plan.changes)
            view = self._ground.make_view(self._call, self._session)
            latest = self._plan(ready.operation, ready.targets, view)
            return latest.plan.changes

        applied = self._ground.writer.apply(
            ready.plan.changes, self._work.author(), replan=replan, witness=self._note_written
        )
        return self._applied(latest, applied)

    def _applied(self, ready: Prepared, applied: Applied) -> Outcome:
        diff = self._diff(applied.changes, self._diffs)
        return replace(self._outcome(ready), receipts=applied.receipts, diff=diff)

    def _apply_each(self, ready: Mapping[int, Prepared]) -> dict[int, Outcome]:
        """What became of changes that are done together; those that must go alone after all are left out."""
        changes = [r.plan.changes[0] for r in ready.values()]
        try:
            found = self._ground.writer.apply_each(changes, self._work.author(), witness=self._note_written)
        except HandrailError as error:
            found = [error] * len(changes)
        outcomes: dict[int, Outcome] = {}
        for (index, one), applied in zip(ready.items(), found, strict=True):
            if isinstance(applied, Applied):
                outcomes[index] = self._applied(one, applied)
            elif not isinstance(applied, OutOfDate | NotThere):
                outcomes[index] = Outcome(operation=one.operation, error=applied)
        return outcomes

    def _own(self, ready: Prepared) -> bool:
        """Whether what stands on the disk now is this session's own write (or what it was)."""
        for change in ready.plan.changes:
            known = self._session.ledger.seen_hash(change.path.text)
            if known is None or known == content_hash(change.before):
                return False
        return True

    def _launch(self, plan: Plan) -> Answer:
        assert plan.launch is not None  # noqa: S101 -- the caller looked
        return Opened(path=plan.launch.path, program=self._ground.fs.launch(plan.launch.path))

    def _diff(self, changes: Sequence[Change], wanted: bool) -> str:
        return "".join(diff_of(change) for change in changes) if wanted else ""

    # what the session knows

    def _note_written(self, changes: Sequence[Change]) -> None:
        self._session.changed()
        for change in changes:
            self._trail.bytes += getattr(getattr(change.after, "content", None), "size", 0)
            self._session.ledger.wrote(change, self._ground.fs.stat(change.path))

    def _note_read(self, plan: Plan) -> None:
        answer = plan.answer
        if isinstance(answer, ReadText | ReadBinary | ReadImage):
            self._trail.bytes += answer.size
            self._session.ledger.saw(answer, self._view.look(answer.path))


def _answer(plan: Plan) -> Answer:
    return plan.answer  # type: ignore[return-value]


def _stale(changes: Sequence[Change]) -> OutOfDate:
    path = changes[0].path
    return OutOfDate(
        "stale",
        f"{path} changed between the plan and the write; nothing was written.",
        hint="Read it again, then send the edit again.",
        path=path.text,
    )
