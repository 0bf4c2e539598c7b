"""The one writer: lock, compare with the plan, record, change, and take everything back when one change fails.

The order is that of the specification's "Order of a mutation". It judges nothing and asks nobody.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace

from handrail.core.locks import Locks
from handrail.core.parents import missing_directories
from handrail.core.recording import Records, Step, receipt
from handrail.core.recovery import recover
from handrail.core.steps import Effect, as_counted, same, standing, take, take_back, take_each
from handrail.fs.protocol import WritableFileSystem
from handrail.guard.resolve import Resolver
from handrail.model.changes import Change
from handrail.model.errors import HandrailError, OutOfDate, Refused
from handrail.model.files import ABSENT, DirectoryState, FileState, State
from handrail.model.paths import RealPath, within
from handrail.model.records import Receipt
from handrail.store.protocol import Author, Store

log = logging.getLogger("handrail")


@dataclass(frozen=True, slots=True)
class Applied:
    """The changes as they were done (`before` is what stood there), and a receipt for each.

    Receipts of directories that were made for them come after those.
    """

    changes: tuple[Change, ...]
    receipts: tuple[Receipt, ...]


class Writer:
    """Changes files for everybody; safe from any number of threads and processes.

    `required=False` lets a change through that can't be recorded. `protected_roots` can't be removed or replaced.
    """

    def __init__(
        self,
        fs: WritableFileSystem,
        store: Store,
        locks: Locks,
        *,
        required: bool = True,
        protected_roots: Sequence[str] = (),
    ) -> None:
        self._fs = fs
        self._store = store
        self._locks = locks
        self._records = Records(store, required=required)
        self._protected = tuple(protected_roots)
        self._real = Resolver(fs, home="/", cwd="/").recorded

    def hold(self, paths: Iterable[RealPath]) -> AbstractContextManager[None]:
        """The locks of these paths, for who must see them while nobody changes them."""
        return self._locks.hold(paths)

    def apply(
        self,
        changes: Sequence[Change],
        author: Author,
        *,
        replan: Callable[[], Sequence[Change]] | None = None,
        witness: Callable[[Sequence[Change]], None] | None = None,
    ) -> Applied:
        """Do all changes or none. Raises `OutOfDate` `stale` where the disk isn't as planned.

        Then `replan`, where given, is asked once, under the locks, for new changes of the same paths. `witness` is
        called with the changes as done, before the locks are released.
        """
        missing = missing_directories(changes, self._fs, self._real)
        with self._locks.hold([*(c.path for c in changes), *missing]):
            planned = self._checked(changes, replan)
            parents = self._parents(planned, missing)
            steps = self._records.write([*parents, *planned], author)
            effects = self._do(steps)
            done = tuple(step.change for step in steps[len(parents) :])
            if witness is not None:
                _tell(witness, done)
        receipts = [receipt(step, effect, author) for step, effect in zip(steps, effects, strict=True)]
        return Applied(done, (*receipts[len(parents) :], *receipts[: len(parents)]))

    def apply_each(
        self, changes: Sequence[Change], author: Author, *, witness: Callable[[Sequence[Change]], None]
    ) -> Sequence[Applied | HandrailError]:
        """Each change by itself, as `apply` does one that needs no directory made; what may fail alone fails alone.

        They share the locks, the durable commit and the waiting for the disk.
        """
        with self._locks.hold(c.path for c in changes):
            found: list[Applied | HandrailError | Change] = [self._planned(change) for change in changes]
            ready = [index for index, change in enumerate(found) if isinstance(change, Change)]
            steps = self._records.write([c for c in found if isinstance(c, Change)], author) if ready else []
            effects = self._do_each(steps)
            _tell(witness, [s.change for s, e in zip(steps, effects, strict=True) if isinstance(e, Effect)])
        for index, step, effect in zip(ready, steps, effects, strict=True):
            found[index] = (
                Applied((step.change,), (receipt(step, effect, author),)) if isinstance(effect, Effect) else effect
            )
        return [outcome for outcome in found if not isinstance(outcome, Change)]

    def recover(self) -> int:
        """Decide what dead processes left undecided, by the bytes on disk; returns how many versions that were."""
        return recover(self._fs, self._store, self._locks, self._real)

    # before

    def _checked(self, changes: Sequence[Change], replan: Callable[[], Sequence[Change]] | None) -> list[Change]:
        """The changes with what stands there as their `before`."""
        there = {change.path: standing(self._fs, change.path, change.before) for change in changes}
        if replan is not None and not all(same(c.before, there[c.path]) for c in changes):
            again = replan()
            if {c.path for c in again} != there.keys():
                raise _stale(changes[0].path)
            changes = again
        for change in changes:
            if not same(change.before, there[change.path]):
                raise _stale(change.path)
            self._spare_roots(change)
        return [self._settled(change, there[change.path]) for change in changes]

    def _planned(self, change: Change) -> Change | HandrailError:
        try:
            return self._checked([change], None)[0]
        except HandrailError as error:
            return error

    def _settled(self, change: Change, there: State) -> Change:
        after = change.after
        if isinstance(after, FileState) and after.mode is None and isinstance(there, FileState):
            after = replace(after, mode=there.mode)
        if isinstance(there, FileState) and not isinstance(after, FileState):
            there = replace(there, belongings=self._fs.belongings(change.path))
        if isinstance(there, DirectoryState) and isinstance(change.before, DirectoryState):
            there = replace(change.before, mode=there.mode, trash=None)
            if there.entries and not isinstance(after, DirectoryState):
                if not as_counted(self._fs, change.path, there, self._real):
                    raise _other_things(change.path)
                there = replace(there, trash=self._store.trash_place())
        return replace(change, before=there, after=after)

    def _spare_roots(self, change: Change) -> None:
        if isinstance(change.after, DirectoryState):
            return
        for root in self._protected:
            if within(root, change.path.text):
                raise Refused(
                    "path_denied",
                    f"{change.path} is a root directory or holds one, and can't be removed.",
                    hint="Remove what lies in it, one by one.",
                    path=str(change.path),
                )

    def _parents(self, changes: Sequence[Change], locked: Sequence[RealPath]) -> list[Change]:
        still = missing_directories(changes, self._fs, self._real)
        if not set(still) <= set(locked):
            raise _stale(changes[0].path)
        planned = {change.path for change in changes}
        return [Change(path, ABSENT, DirectoryState(), "create") for path in still if path not in planned]

    # doing

    def _do(self, steps: Sequence[Step]) -> list[Effect]:
        effects: list[Effect] = []
        try:
            for step in steps:
                effects.append(take(self._fs, step.change))  # noqa: PERF401 -- what was done counts when one fails
        except BaseException as error:
            self._take_back(steps, len(effects), error)
            raise
        self._records.settle(steps, done=True)
        return effects

    def _do_each(self, steps: Sequence[Step]) -> Sequence[Effect | HandrailError]:
        try:
            effects = take_each(self._fs, [step.change for step in steps])
        except BaseException as error:
            for step in steps:
                self._take_back([step], 0, error)
            raise
        self._records.settle([s for s, e in zip(steps, effects, strict=True) if isinstance(e, Effect)], done=True)
        for step, effect in zip(steps, effects, strict=True):
            if isinstance(effect, HandrailError):
                self._take_back([step], 0, effect)
        return effects

    def _take_back(self, steps: Sequence[Step], failed: int, error: BaseException) -> None:
        """Undo what was done, newest first; a version keeps the outcome that the disk shows."""
        undone, stays = list(steps[failed + 1 :]), list[Step]()
        for index in range(failed, -1, -1):
            step = steps[index]
            try:
                there = standing(self._fs, step.change.path)
                if not same(there, step.change.before) or index < failed:
                    there = take_back(self._fs, step.change, there, self._store.content)
            except HandrailError as reason:
                log.warning("%s couldn't be taken back: %s", step.change.path, reason)
                continue  # its intent stays open, and the next start decides it by what is on disk
            if same(there, step.change.before):
                undone.append(step)
            elif index < failed or isinstance(error, OutOfDate):
                stays.append(step)
        self._records.settle(undone, done=False)
        self._records.settle(stays, done=True)
        for step in steps[: failed + 1]:
            with suppress(HandrailError):
                self._fs.sweep(self._real(step.change.path.parent))


def _tell(witness: Callable[[Sequence[Change]], None], done: Sequence[Change]) -> None:
    try:
        witness(done)
    except HandrailError as error:
        log.warning("a change that was done couldn't be noted: %s", error)  # it is done all the same


def _stale(path: RealPath) -> OutOfDate:
    return OutOfDate(
        "stale",
        f"{path} changed between the plan and the write; nothing was written.",
        hint="Read it again with read_files or Read, then send the change again.",
        path=str(path),
    )


def _other_things(path: RealPath) -> OutOfDate:
    return OutOfDate(
        "stale",
        f"{path} holds other things than were counted and shown; nothing was removed.",
        hint="Look at it with find_files mode=list recursive=true, or remove its parts one by one.",
        path=str(path),
    )
