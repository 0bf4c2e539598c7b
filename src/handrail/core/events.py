"""What happens, told to whoever listens in this process; a slow or failing listener never slows or breaks a call."""

import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from handrail.model.records import Answered, Request

log = logging.getLogger("handrail")

KEPT = 1024
"""Events that wait for one slow sink; when there are more, the oldest are left out and counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted:
    """A call came in."""

    tool: str
    session: str
    interface: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded:
    """A call was answered: the kind of its payload, whether it went well, how long it took."""

    tool: str
    session: str
    kind: str
    ok: bool
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAsked:
    """A question was put to people."""

    request: Request


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAnswered:
    """A question was answered, withdrawn, or ran out of time."""

    request: Request
    answered: Answered


Event = CallStarted | CallEnded | ApprovalAsked | ApprovalAnswered
Sink = Callable[[Event], None]


class Events:
    """The sinks of one workspace; safe from any thread."""

    def __init__(self) -> None:
        self._feeds: tuple[_Feed, ...] = ()
        self._lock = threading.Lock()

    def subscribe(self, sink: Sink) -> Callable[[], None]:
        """Call `sink` with each event from now on, in order, on a thread of its own; returns how to stop."""
        feed = _Feed(sink)
        with self._lock:
            self._feeds = (*self._feeds, feed)

        def stop() -> None:
            with self._lock:
                self._feeds = tuple(f for f in self._feeds if f is not feed)
            feed.close()

        return stop

    def emit(self, event: Event) -> None:
        """Hand the event to every sink's queue; never blocks and never raises."""
        for feed in self._feeds:
            feed.put(event)

    def close(self) -> None:
        """Stop all sinks; what waits for them is left out."""
        with self._lock:
            feeds, self._feeds = self._feeds, ()
        for feed in feeds:
            feed.close()


class _Feed:
    """One sink's queue and its thread, which is started by the first event."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._queue: deque[Event] = deque()
        self._ready = threading.Condition()
        self._running = False
        self._closed = False
        self.left_out = 0

    def put(self, event: Event) -> None:
        with self._ready:
            if self._closed:
                return
            if len(self._queue) == KEPT:
                self._queue.popleft()
                self.left_out += 1
            self._queue.append(event)
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name="handrail-events", daemon=True).start()
            self._ready.notify()

    def close(self) -> None:
        with self._ready:
            self._closed = True
            self._queue.clear()
            self._ready.notify()

    def _run(self) -> None:
        while True:
            with self._ready:
                while not self._queue and not self._closed:
                    self._ready.wait()
                if self._closed:
                    return
                event = self._queue.popleft()
                left_out, self.left_out = self.left_out, 0
            if left_out:
                log.warning("an event sink is too slow: %d events were left out", left_out)
            try:
                self._sink(event)
            except Exception:
                log.exception("an event sink failed")
