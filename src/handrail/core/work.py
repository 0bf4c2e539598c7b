"""The piece of work that one call belongs to, opened when it is first needed. It knows the store and no tool."""

import uuid
from collections.abc import Callable, Sequence

from handrail.model.calls import Call
from handrail.model.operations import Operation, Undo
from handrail.model.records import UNDO, Task
from handrail.store.protocol import Author, Store


class Work:
    """One call's task, and who its versions are by; used by one thread."""

    def __init__(self, store: Store, call: Call, *, session: str, clock: Callable[[], int]) -> None:
        self._store = store
        self._call = call
        self._session = session
        self._clock = clock
        self._group: str | None = None
        self._undone: str | None = None
        self._task: Task | None = None

    def begin(self, operations: Sequence[Operation]) -> None:
        """Several operations of one call share a group; taking a task back is a piece of work of its own."""
        self._group = uuid.uuid4().hex if len(operations) > 1 else None
        self._undone = next((op.task for op in operations if isinstance(op, Undo)), None)

    def task(self) -> Task:
        """The piece of work, opened now if it wasn't yet."""
        if self._task is None:
            name, objective = self._call.task, self._call.objective
            if self._undone is not None:
                name, objective = UNDO + uuid.uuid4().hex[:10], f"take back {self._undone}"
            self._task = self._store.open_task(self._session, task=name, objective=objective, now=self._clock())
        return self._task

    def author(self) -> Author:
        """Who the versions are by."""
        task = self.task()
        return Author(
            tool=self._call.tool,
            session=self._session,
            task=task.id,
            objective=task.objective,
            group=self._group,
        )
