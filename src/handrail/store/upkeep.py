"""The upkeep of one store: whose turn it is, and the work itself as steps that others can come between."""

import contextlib
import fcntl
import os
from collections.abc import Iterator

from handrail.model.errors import BackendFailed
from handrail.store.blobs import Blobs
from handrail.store.collecting import Collecting
from handrail.store.compacting import Compacting
from handrail.store.database import Database
from handrail.store.protocol import Limits, Tally, Usage
from handrail.store.pruning import Pruning
from handrail.store.usage import usage


class Upkeep:
    """The upkeep of one store."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self._database = database
        self._collecting = Collecting(database, blobs)
        self._pruning = Pruning(database, self._collecting)
        self._compacting = Compacting(database, blobs, self._collecting)

    def due(self, work: str, *, every: int, now: int) -> bool:
        """Whether work was last begun so long ago; one of all who ask is told so."""
        query = "SELECT value FROM upkeep WHERE work = ? AND value > ? AND value <= ?"
        with self._database.reading() as db:
            if db.execute(query, (work, now - every, now)).fetchone() is not None:
                return False
        with self._database.writing(durable=False) as db:
            if db.execute(query, (work, now - every, now)).fetchone() is not None:
                return False
            db.execute("INSERT OR REPLACE INTO upkeep (work, value) VALUES (?, ?)", (work, now))
            return True

    def sweep(self) -> None:
        """Remove what killed writers left, at once."""
        for _ in self._collecting.strays(Tally()):
            pass

    def prune(self, limits: Limits, *, now: int, every_path: bool) -> Iterator[Tally]:
        """Bring the store within its limits."""
        tally = Tally()
        for _ in self._pruning.run(limits, now, tally, every_path=every_path):
            yield tally

    def compact(self) -> Iterator[Tally]:
        """Keep contents as deltas and give room back; raises `BackendFailed` `busy` while another process does."""
        tally = Tally()
        with self._alone():
            for work in (
                self._compacting.run(tally),
                self._collecting.contents(tally),
                self._collecting.strays(tally),
                self._pruning.give_back(0),
            ):
                for _ in work:
                    yield tally
        self._database.checkpoint()
        yield tally

    def usage(self) -> Usage:
        """How much room is taken."""
        return usage(self._database)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        place = os.path.join(self._database.directory, "compact.lock")
        handle = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise BackendFailed(
                "busy",
                "Another process is tidying up the history.",
                hint="Wait until it is done.",
                retryable=True,
            ) from None
        finally:
            os.close(handle)
