"""What the road remembers of each session while the process lives: its ledger, refusals, repeated reads."""

import threading
from collections import OrderedDict
from collections.abc import Callable

from handrail.guard.freshness import Ledger
from handrail.store.protocol import Store

KEPT = 1024
"""Sessions remembered at once; the one unused for longest is forgotten first."""
REMINDER = 3
"""Identical reads in a row that make a warning."""
TOUCH_EVERY = 60 * 10**9
"""Nanoseconds between two notes in the store that a session's task is still being called."""


class Session:
    """One session's memory; safe from many threads."""

    def __init__(self, name: str, ledger: Ledger) -> None:
        self.name = name
        self.ledger = ledger
        self.touched_at = 0
        self._lock = threading.Lock()
        self._refused: dict[str, str] = {}
        self._last_read: tuple[str, int] = ("", 0)

    def refuse(self, directory: str, reason: str) -> None:
        """Remember that a directory was refused, so that it isn't tried again."""
        with self._lock:
            if len(self._refused) < KEPT:
                self._refused[directory] = reason

    def refused(self, directory: str) -> str | None:
        """Why the directory was refused, if it was."""
        return self._refused.get(directory)

    def forget_refusals(self) -> None:
        """Let refused directories be asked for again."""
        with self._lock:
            self._refused.clear()

    def repeated(self, call: str) -> bool:
        """Note a read; whether the same one came for at least the third time without a change in between."""
        with self._lock:
            last, count = self._last_read
            count = count + 1 if last == call else 1
            self._last_read = (call, count)
            return count >= REMINDER

    def changed(self) -> None:
        """Note that the session changed something: reading again makes sense."""
        with self._lock:
            self._last_read = ("", 0)


class Sessions:
    """All sessions of this process."""

    def __init__(self, store: Store, ledger: Callable[[str, Store | None], Ledger]) -> None:
        self._store = store
        self._ledger = ledger
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    def get(self, name: str, *, named: bool = False) -> Session:
        """The session by its name, made when new; a named one's ledger is kept in the store."""
        with self._lock:
            session = self._sessions.get(name)
            if session is None:
                session = Session(name, self._ledger(name, self._store if named else None))
                self._sessions[name] = session
                if len(self._sessions) > KEPT:
                    self._sessions.popitem(last=False)
            self._sessions.move_to_end(name)
            return session

    def forget_refusals(self) -> None:
        """Let every directory be asked for again: the roots have changed."""
        with self._lock:
            for session in self._sessions.values():
                session.forget_refusals()

    def touch(self, session: Session, now: int) -> None:
        """Note that the session called, so that its task stays open; the store hears of it once a minute."""
        if now - session.touched_at < TOUCH_EVERY:
            return
        session.touched_at = now
        task = self._store.newest_task(session.name)
        if task is not None and now - task.touched_at < 30 * TOUCH_EVERY:
            self._store.touch_task(task.id, now)
