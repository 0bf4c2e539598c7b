"""What is written down before a change and after it: what stands there, where nobody knows it yet, and what will.

It changes no file; `core/apply.py` decides when.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from handrail.core.recovery import outcome
from handrail.core.steps import Effect, exactly, knows_belongings
from handrail.model.changes import Change
from handrail.model.errors import BackendFailed
from handrail.model.files import Absent, DirectoryState, FileState, State
from handrail.model.records import Receipt, Version
from handrail.store.protocol import Author, Draft, Store

log = logging.getLogger("handrail")
UNRECORDED = "The history can't be written, so this change can't be undone."


@dataclass(frozen=True, slots=True)
class Step:
    """A change about to be done, and its versions: its own, and the one that stood before it."""

    change: Change
    version: int | None
    before_version: int | None


class Records:
    """The versions of changes; `required=False` lets a change through that can't be recorded."""

    def __init__(self, store: Store, *, required: bool) -> None:
        self._store = store
        self._required = required

    def write(self, changes: Sequence[Change], author: Author) -> list[Step]:
        """Write down what stands there, where nobody knows it yet, and what will; in one durable commit."""
        try:
            return self._write(changes, author)
        except BackendFailed as error:
            if self._required or error.kind not in ("history_unavailable", "disk_full"):
                raise
            log.warning("a change goes unrecorded: %s", error)
            return [Step(change, None, None) for change in changes]

    def settle(self, steps: Sequence[Step], *, done: bool) -> None:
        """Mark intents as done, or take them back."""
        numbers = [step.version for step in steps if step.version is not None]
        if not numbers:
            return
        try:
            self._store.settle(numbers, done=done)
        except BackendFailed as error:
            log.warning("versions stay open until the next start: %s", error)

    def _write(self, changes: Sequence[Change], author: Author) -> list[Step]:
        drafts: list[Draft] = []
        newest: list[tuple[Version | None, bool]] = []
        known = self._store.newest_of([change.path.text for change in changes])
        for change in changes:
            last = self._decided(change, known.get(change.path.text))
            unknown = _unknown(last, change.before)
            newest.append((last, unknown))
            if unknown:
                drafts.append(Draft(path=change.path.text, state=change.before, action="external"))
            drafts.append(Draft(path=change.path.text, state=change.after, action=change.action))
        versions = iter(self._store.record(drafts, author))
        steps: list[Step] = []
        for change, (last, unknown) in zip(changes, newest, strict=True):
            before = next(versions).id if unknown else (last.id if last is not None else None)
            steps.append(Step(change, next(versions).id, before))
        return steps

    def _decided(self, change: Change, last: Version | None) -> Version | None:
        """The newest version; one that its writer left open is decided now, as nobody can be at it under the lock."""
        while last is not None and last.status == "intended":
            self._store.settle([last.id], done=outcome(self._store, last, change.before) is not False)
            last = self._store.newest(change.path.text)
        return last


def receipt(step: Step, effect: Effect, author: Author) -> Receipt:
    """What the writer says of a change that was done."""
    notes = effect.notes if step.version is not None else (*effect.notes, UNRECORDED)
    return Receipt(
        path=step.change.path.text,
        version=step.version,
        before_version=step.before_version,
        task=author.task,
        in_place=effect.in_place,
        notes=notes,
    )


def _unknown(newest: Version | None, before: State) -> bool:
    """Whether what stands there is in no version yet, or in one that can't give it back."""
    if isinstance(before, DirectoryState) and before.trash is not None:
        return True
    if newest is None:
        return not isinstance(before, Absent)
    if not exactly(newest.state, before):
        return True
    return isinstance(before, FileState) and not (newest.restorable and knows_belongings(newest.state, before))
