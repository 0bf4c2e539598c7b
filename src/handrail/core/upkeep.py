"""Keeping the history within its limits beside the calls: a thread of its own, short steps, long pauses.

It knows when to begin and how to give way; what is pruned is the store's business.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

from handrail.core.config import HistorySettings
from handrail.model.errors import HandrailError
from handrail.store.protocol import Limits, Store

log = logging.getLogger("handrail")
EVERY_NS: Final = 10 * 60 * 10**9
"""How often the limits are looked at, by one of all processes that share a store."""

WORK: Final = "prune"
_DAY_NS: Final = 24 * 3600 * 10**9
_REST: Final = 4
_LONGEST_REST: Final = 1.0


def limits(settings: HistorySettings) -> Limits:
    """The limits that a configuration sets."""
    return Limits(
        age=settings.max_age_days * _DAY_NS, versions=settings.max_versions_per_path, bytes=settings.max_bytes
    )


class Upkeep:
    """The upkeep that one workspace does for the store that it shares with others."""

    def __init__(self, store: Store, *, clock: Callable[[], int]) -> None:
        self._store = store
        self._clock = clock
        self._stop = threading.Event()
        self._guard = threading.Lock()
        self._next = 0.0
        self._thread: threading.Thread | None = None

    def after_call(self, settings: HistorySettings) -> None:
        """Begin, where it is time; returns at once."""
        now = time.monotonic()
        with self._guard:
            running = self._thread is not None and self._thread.is_alive()
            if now < self._next or running or self._stop.is_set():
                return
            self._next = now + EVERY_NS / 10**9
            work = limits(settings)
            self._thread = threading.Thread(target=self._run, args=(work,), name="handrail-upkeep", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop after the step that is being done; what is left is done another time."""
        with self._guard:
            self._stop.set()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self, work: Limits) -> None:
        try:
            now = self._clock()
            if self._store.due(WORK, every=EVERY_NS, now=now):
                self._prune(work, now)
        except HandrailError as error:
            log.warning("the history wasn't pruned: %s", error)
        except Exception:
            log.exception("the history wasn't pruned")

    def _prune(self, work: Limits, now: int) -> None:
        began = time.monotonic()
        for _ in self._store.prune(work, now=now):
            # One step, then four times as long a rest, so that calls find the store free.
            took = time.monotonic() - began
            if self._stop.wait(min(took * _REST, _LONGEST_REST)):
                self._store.due(WORK, every=0, now=now - EVERY_NS)  # the next process goes on
                return
            began = time.monotonic()
