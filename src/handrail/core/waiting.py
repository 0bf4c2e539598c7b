"""Who waits for an answer, and the one thread that looks at the queue for all of them; knows no channel."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from handrail.model.calls import Cancellation
from handrail.model.records import Request
from handrail.store.protocol import ApprovalStore, Rule

QUICK, CALM = 0.02, 0.05
"""Seconds between two looks: while the newest question is young, and later."""
YOUNG = 10.0


@dataclass(eq=False, slots=True, kw_only=True)
class Waiting:
    """One question on its way: `wake` is set when it is worth looking, `closed` when nobody need answer any more.

    `unsaid`: the channels that may still answer; `silent`: there is none left and nobody watches the queue.
    """

    request: Request
    cancellation: Cancellation
    unsaid: int
    since: float = field(default_factory=time.monotonic)
    wake: threading.Event = field(default_factory=threading.Event)
    closed: Cancellation = field(default_factory=Cancellation)
    silent: bool = False
    failure: Exception | None = None


class Lookout:
    """Looks at the store's queue while anybody waits, cheaply, and wakes who has an answer or gave up."""

    def __init__(self, store: ApprovalStore, remembered: Callable[[Request, Sequence[Rule]], bool]) -> None:
        """`remembered` answers a question by a rule, if one fits, and says whether it did."""
        self._store = store
        self._remembered = remembered
        self._lock = threading.Lock()
        self._waiting: dict[str, Waiting] = {}
        self._look = True
        self._running = False

    def join(self, waiting: Waiting) -> None:
        """Look for this question's answer from now on."""
        with self._lock:
            self._waiting[waiting.request.id] = waiting
            self._look = True
            if self._running:
                return
            self._running = True
        threading.Thread(target=self._run, name="handrail-approvals", daemon=True).start()

    def leave(self, waiting: Waiting) -> None:
        """Look no more for it."""
        with self._lock:
            self._waiting.pop(waiting.request.id, None)

    def look_again(self) -> None:
        """Something may have changed that the store's number doesn't show."""
        with self._lock:
            self._look = True

    def _run(self) -> None:
        seen: int | None = None
        while True:
            with self._lock:
                waiting = tuple(self._waiting.values())
                if not waiting:
                    self._running = False
                    return
                look, self._look = self._look, False
            try:
                number = self._store.changed()
                if look or number != seen:
                    seen = number
                    self._find_answers(waiting)
            except Exception as error:
                for each in waiting:
                    each.failure = error
                    each.wake.set()
            for each in waiting:
                if each.cancellation.cancelled:
                    each.wake.set()
            youngest = max(each.since for each in waiting)
            time.sleep(QUICK if time.monotonic() - youngest < YOUNG else CALM)

    def _find_answers(self, waiting: Sequence[Waiting]) -> None:
        rules = self._store.rules()
        for each in waiting:
            if self._store.answered(each.request.id) is not None or self._remembered(each.request, rules):
                each.wake.set()
