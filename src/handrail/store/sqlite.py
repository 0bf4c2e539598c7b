"""The embedded store: one SQLite database (WAL) and content files in one directory, safe for many processes.

Each method is one sentence of `store/protocol.py`, guarded so that only `BackendFailed` leaves it.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from handrail.model.files import Content
from handrail.model.records import Answered, Request, Task, Version
from handrail.store.approvals import Approvals
from handrail.store.blobs import INLINE, Blobs
from handrail.store.database import Database, failures, private_directory
from handrail.store.ledgers import Ledgers
from handrail.store.owners import Owner
from handrail.store.protocol import Author, Draft, Filter, Known, Limits, Rule, Tally, Usage
from handrail.store.tasks import Tasks
from handrail.store.upkeep import Upkeep
from handrail.store.versions import Versions


class SqliteStore:
    """A `Store` in a directory, which is made (0700) where it is missing.

    `owner` says who has it open; intents of an owner whose process is gone are up for recovery. `inline`: bytes up
    to which a content lies in the database. `clock`: nanoseconds since the epoch.
    """

    def __init__(
        self, directory: str, *, owner: str, inline: int = INLINE, clock: Callable[[], int] = time.time_ns
    ) -> None:
        self.directory = directory
        with failures(directory):
            private_directory(directory)
            self._database = Database(directory)
            try:
                self._owner = Owner(directory, owner)
            except BaseException:
                self._database.close()
                raise
        self._blobs = Blobs(self._database, inline=inline)
        self._versions = Versions(self._database, self._blobs, self._owner, clock=clock)
        self._tasks = Tasks(self._database)
        self._approvals = Approvals(self._database, clock=clock)
        self._ledgers = Ledgers(self._database)
        self._upkeep = Upkeep(self._database, self._blobs)

    def newest(self, path: str) -> Version | None:
        """The newest version that is done or intended at exactly this path."""
        with failures(self.directory):
            return self._versions.newest(path)

    def newest_of(self, paths: Sequence[str]) -> Mapping[str, Version]:
        """The newest version at each of these paths that has one."""
        with failures(self.directory):
            return self._versions.newest_of(paths)

    def version(self, number: int) -> Version | None:
        """The version by its id."""
        with failures(self.directory):
            return self._versions.version(number)

    def versions(self, wanted: Filter, *, limit: int, after: int | None = None) -> Sequence[Version]:
        """Newest first, at most `limit`, older than the version `after`."""
        with failures(self.directory):
            return self._versions.versions(wanted, limit=limit, after=after)

    def record(self, drafts: Sequence[Draft], author: Author) -> Sequence[Version]:
        """Store contents and versions in one durable commit: `external` ones done, the others intended."""
        with failures(self.directory):
            return self._versions.record(drafts, author)

    def settle(self, numbers: Sequence[int], *, done: bool) -> None:
        """Mark intended versions as done, or take them back as if never intended."""
        with failures(self.directory):
            self._versions.settle(numbers, done=done)

    def intended(self) -> Sequence[Version]:
        """Versions whose outcome isn't known, of processes that are gone; oldest first."""
        with failures(self.directory):
            found = self._versions.intended()
            if self._versions.died:  # who was killed may have left files behind
                self._upkeep.sweep()
            return found

    def trash_place(self) -> str:
        """A new, unused absolute name in the trash, whose directory exists."""
        with failures(self.directory):
            return self._versions.trash_place()

    def open_task(self, session: str, *, task: str | None, objective: str | None, now: int) -> Task:
        """The named task, else the session's running one, else a new one."""
        with failures(self.directory):
            return self._tasks.open_task(session, task=task, objective=objective, now=now)

    def task(self, name: str) -> Task | None:
        """The task by its id."""
        with failures(self.directory):
            return self._tasks.task(name)

    def newest_task(self, session: str | None, *, under: str | None = None) -> Task | None:
        """The task of the newest version, of one session or of any."""
        with failures(self.directory):
            return self._tasks.newest_task(session, under=under)

    def touch_task(self, name: str, now: int) -> None:
        """Note that the task was called just now."""
        with failures(self.directory):
            self._tasks.touch_task(name, now)

    def task_paths(self, name: str) -> Sequence[str]:
        """The paths that the task changed, in the order in which they are taken back."""
        with failures(self.directory):
            return self._tasks.task_paths(name)

    def task_versions(self, name: str, path: str) -> Sequence[Version]:
        """The task's own done versions of one path, oldest first."""
        with failures(self.directory):
            return self._versions.of_task(name, path)

    def ask(self, request: Request) -> None:
        """Put a request into the queue."""
        with failures(self.directory):
            self._approvals.ask(request)

    def pending(self) -> Sequence[Request]:
        """What waits for an answer and hasn't expired, oldest first."""
        with failures(self.directory):
            return self._approvals.pending()

    def answer(self, request: str, answered: Answered) -> bool:
        """Answer a request; the first answer wins."""
        with failures(self.directory):
            return self._approvals.answer(request, answered)

    def answered(self, request: str) -> Answered | None:
        """The answer, if there is one."""
        with failures(self.directory):
            return self._approvals.answered(request)

    def changed(self) -> int:
        """A number that differs when anybody, in this process or another, wrote to the store."""
        with failures(self.directory):
            return self._database.changed()

    def watch(self, watcher: str, now: int) -> None:
        """Note that a person's terminal or page is there and watching the queue."""
        with failures(self.directory):
            self._approvals.watch(watcher, now)

    def watchers(self, since: int) -> Sequence[str]:
        """Who was watching at that time or later."""
        with failures(self.directory):
            return self._approvals.watchers(since)

    def unwatch(self, watcher: str) -> None:
        """Note that a watcher left."""
        with failures(self.directory):
            self._approvals.unwatch(watcher)

    def remember(self, rule: Rule) -> int:
        """Keep a rule (its `id` is ignored); returns the id given."""
        with failures(self.directory):
            return self._approvals.remember(rule)

    def rules(self) -> Sequence[Rule]:
        """All that is remembered, oldest first."""
        with failures(self.directory):
            return self._approvals.rules()

    def forget(self, rule: int) -> bool:
        """Take a rule back; false when there was none."""
        with failures(self.directory):
            return self._approvals.forget(rule)

    def known(self, session: str, path: str) -> Known | None:
        """What the session knows of the path."""
        with failures(self.directory):
            return self._ledgers.known(session, path)

    def know(self, session: str, entries: Mapping[str, Known]) -> None:
        """Note it."""
        with failures(self.directory):
            self._ledgers.know(session, entries)

    def due(self, work: str, *, every: int, now: int) -> bool:
        """Whether work of that name is due; then it counts as begun now, by us."""
        with failures(self.directory):
            return self._upkeep.due(work, every=every, now=now)

    def prune(self, limits: Limits, *, now: int, every_path: bool = False) -> Iterator[Tally]:
        """Bring the store within its limits, a short transaction a step."""
        with failures(self.directory):
            yield from self._upkeep.prune(limits, now=now, every_path=every_path)

    def compact(self) -> Iterator[Tally]:
        """Keep contents as deltas against their neighbours and give room back, a step at a time."""
        with failures(self.directory):
            yield from self._upkeep.compact()

    def usage(self) -> Usage:
        """How much room is taken."""
        with failures(self.directory):
            return self._upkeep.usage()

    def content(self, digest: str) -> Content | None:
        """The stored content by its SHA-256; `None` for what isn't kept, or is no SHA-256."""
        with failures(self.directory):
            return self._blobs.find(digest) if _is_digest(digest) else None

    def close(self) -> None:
        """Give everything back; calls after it fail. Intents that weren't settled become orphans."""
        with failures(self.directory):
            self._owner.close()
            self._database.close()


def _is_digest(text: str) -> bool:
    return len(text) == 64 and all(c in "0123456789abcdef" for c in text)
