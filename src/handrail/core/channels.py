"""Ways to ask a person that need no interface, and the threads in which channels are asked; knows no tool."""

import threading
from collections import deque
from collections.abc import Callable

from handrail.model.calls import Cancellation
from handrail.model.records import Answered, Request

Reply = Answered | bool | str | None


class CallbackChannel:
    """A Python function that is asked: `True` allows once, `False` denies, a string denies with it as the reason.

    An `Answered` is taken as it is; `None`, or an exception, means that the function can't say.
    """

    def __init__(self, fn: Callable[[Request], Reply], name: str = "callback") -> None:
        self.name = name
        self._fn = fn

    def ask(self, request: Request, closed: Cancellation) -> Answered | None:  # noqa: ARG002 -- it can't be stopped
        """Call the function."""
        reply = self._fn(request)
        if isinstance(reply, bool):
            return Answered(verdict="allow" if reply else "deny", by=self.name)
        if isinstance(reply, str):
            return Answered(verdict="deny", by=self.name, reason=reply)
        return reply


class Askers:
    """A limited number of threads that block in channels; what is over the limit waits for a free one.

    The threads end when nothing is left to do, and never keep a process alive.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._running = 0
        self._waiting: deque[Callable[[], None]] = deque()
        self._lock = threading.Lock()

    def run(self, work: Callable[[], None]) -> None:
        """Have the work done soon; it handles its own failures."""
        with self._lock:
            self._waiting.append(work)
            if self._running == self._limit:
                return
            self._running += 1
        threading.Thread(target=self._work, name="handrail-asker", daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._running -= 1
                    return
                work = self._waiting.popleft()
            work()
