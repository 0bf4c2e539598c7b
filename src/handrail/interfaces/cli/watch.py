"""`handrail approvals watch`: a second terminal in which each question appears and one key answers it."""

import os
import time
import uuid
from collections.abc import Callable
from dataclasses import replace

from handrail.interfaces.cli import asking, screen
from handrail.interfaces.cli.asking import Leave, Write, ask
from handrail.interfaces.cli.keys import Keys
from handrail.model.records import Answered, Request
from handrail.store.protocol import ApprovalStore

BEAT = 1.0
"""Seconds between two signs that somebody is there."""

FOLLOWS = 1.0
"""A question that appears within so many seconds after another takes no key at once."""

_HOW_IT_ENDED = {"timeout": "it ran out of time", "withdrawn": "the agent gave it up"}


class Watch:
    """One person's watch over the queue of a store."""

    def __init__(
        self,
        store: ApprovalStore,
        keys: Keys,
        write: Write,
        paint: screen.Paint,
        *,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._store = store
        self._keys = keys
        self._write = write
        self._paint = paint
        self._clock = clock
        self._name = f"watch-{os.getpid()}-{uuid.uuid4().hex[:6]}"
        self._beat_at = 0.0
        self._put_at = -FOLLOWS

    def run(self) -> None:
        """Answer questions as they come, oldest first, until the person leaves."""
        self._beat()
        try:
            self._write("Watching for questions of agents. q leaves.\n")
            while True:
                seen = self._store.changed()
                pending = self._store.pending()
                if pending:
                    if not self._put(pending[0], len(pending)):
                        return
                elif self._idle(seen) == "q":
                    return
        finally:
            self._store.unwatch(self._name)

    def _put(self, request: Request, count: int) -> bool:
        """One question; false when the person left."""
        self._write(self._paint(f"\n── {count} waiting ──", "dim") + "\n")
        said = ask(
            request,
            self._keys,
            self._write,
            paint=self._paint,
            stop=lambda: self._is_over(request),
            settle=asking.SETTLE if time.monotonic() - self._put_at < FOLLOWS else 0.0,
        )
        self._put_at = time.monotonic()
        if isinstance(said, Leave):
            return False
        if said is not None and self._store.answer(request.id, replace(said, by=f"watch: {said.by}", at=self._clock())):
            self._write(self._paint(_receipt(said), "green" if said.verdict == "allow" else "red") + "\n")
        else:
            self._write(self._paint(self._ended(request), "yellow") + "\n")
        return True

    def _idle(self, seen: int) -> str | None:
        """Wait for a key, or for a change of the queue."""

        def stop() -> bool:
            self._beat()
            return self._store.changed() != seen

        key = self._keys.key(stop)
        return "q" if key is None and not stop() else key

    def _is_over(self, request: Request) -> bool:
        self._beat()
        return self._clock() >= request.expires_at or self._store.answered(request.id) is not None

    def _ended(self, request: Request) -> str:
        answered = self._store.answered(request.id)
        if answered is None:
            return f"Too late: {_HOW_IT_ENDED['timeout']}."
        how = _HOW_IT_ENDED.get(answered.verdict, f"{screen.line(answered.by)} answered first")
        return f"No longer open: {how}."

    def _beat(self) -> None:
        now = time.monotonic()
        if now - self._beat_at >= BEAT:
            self._beat_at = now
            self._store.watch(self._name, self._clock())


def _receipt(answered: Answered) -> str:
    if answered.verdict == "deny":
        return "Denied." if not answered.reason else f"Denied: {screen.line(answered.reason)}"
    reach = {
        "once": "once",
        "file": "this file, for the task",
        "pattern": f"{screen.line(answered.pattern or '')}, for the task",
        "always": f"{screen.line(answered.pattern or '')}, always (handrail approvals rules shows it)",
    }
    return f"Allowed: {reach[answered.scope]}."
