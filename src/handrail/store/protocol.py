"""What a store is: durable, safe for many threads and processes, the same answers from every implementation.

Failures are `BackendFailed` `history_unavailable` (or `disk_full`); nothing else is raised.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from handrail.model.changes import Action
from handrail.model.files import Content, State
from handrail.model.records import Answered, Request, Task, Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A version about to be recorded; its number is the store's to give. `external` drafts are done at once."""

    path: str
    state: State
    action: Action


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who makes a version, for what, with which tool."""

    tool: str
    session: str
    task: str | None
    objective: str | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which versions: all that is given must hold. `under`: that path or below; times in nanoseconds."""

    under: str | None = None
    contains: str | None = None
    task: str | None = None
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A remembered answer. `task` is `None` for one that holds always; `pattern` is an absolute policy glob."""

    id: int
    session: str | None
    task: str | None
    pattern: str
    tool: str | None
    created_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a session knows of a file: the bytes it saw last (SHA-256, size), and which rows it never saw since.

    `text` is the content as it was seen, kept for small files so that a refusal can show what changed.
    """

    hash: str
    size: int
    mtime_ns: int
    inode: int
    own: bool = False
    unseen: tuple[tuple[int, int], ...] = ()
    text: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much is kept: nanoseconds, versions of one path, bytes of all of it (the trash apart)."""

    age: int
    versions: int
    bytes: int


@dataclass(slots=True)
class Tally:
    """What upkeep did so far: versions that lost their content, contents and moved trees given up, stray files
    removed, contents told as deltas; `freed`: bytes of content files.
    """

    versions: int = 0
    contents: int = 0
    trees: int = 0
    strays: int = 0
    deltas: int = 0
    freed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Bytes of what the limit of space counts, and of the trash, which it doesn't; and how much there is."""

    bytes: int
    trash: int
    versions: int
    contents: int
    deltas: int


class HistoryStore(Protocol):
    """Versions and their contents."""

    def newest(self, path: str) -> Version | None:
        """The newest version that is done or intended at exactly this path."""
        ...

    def newest_of(self, paths: Sequence[str]) -> Mapping[str, Version]:
        """`newest` of each of these paths that has one."""
        ...

    def version(self, number: int) -> Version | None:
        """The version by its id."""
        ...

    def versions(self, wanted: Filter, *, limit: int, after: int | None = None) -> Sequence[Version]:
        """Newest first, at most `limit`, older than the version `after`."""
        ...

    def record(self, drafts: Sequence[Draft], author: Author) -> Sequence[Version]:
        """Store contents and versions in one durable commit: `external` ones done, the others intended."""
        ...

    def settle(self, numbers: Sequence[int], *, done: bool) -> None:
        """Mark intended versions as done, or take them back as if never intended; may be lazy about durability."""
        ...

    def intended(self) -> Sequence[Version]:
        """Versions whose outcome isn't known, of processes that are gone; for recovery."""
        ...

    def trash_place(self) -> str:
        """A new, unused absolute name in the trash, on the store's file system."""
        ...


class TaskStore(Protocol):
    """Tasks and which paths they touched."""

    def open_task(self, session: str, *, task: str | None, objective: str | None, now: int) -> Task:
        """The named task (made if new), else the session's newest touched within 30 minutes, else a new one."""
        ...

    def task(self, name: str) -> Task | None:
        """The task by its id."""
        ...

    def newest_task(self, session: str | None, *, under: str | None = None) -> Task | None:
        """The newest task of a session (`None`: of any) that recorded a version, at or below `under` if given."""
        ...

    def touch_task(self, name: str, now: int) -> None:
        """Note that the task was called just now."""
        ...

    def task_paths(self, name: str) -> Sequence[str]:
        """The paths that the task changed, in the order in which they can be taken back one by one.

        What it made before the directories that it made around it; directories that it took away before what lay in
        them.
        """
        ...

    def task_versions(self, name: str, path: str) -> Sequence[Version]:
        """The task's own versions of one path, oldest first (done ones; external ones not among them)."""
        ...


class ApprovalStore(Protocol):
    """The queue that every channel reads, and what people said to remember."""

    def ask(self, request: Request) -> None:
        """Put a request into the queue."""
        ...

    def pending(self) -> Sequence[Request]:
        """What waits for an answer and hasn't expired, oldest first."""
        ...

    def answer(self, request: str, answered: Answered) -> bool:
        """Answer a request; false when it was answered, withdrawn or had expired before."""
        ...

    def answered(self, request: str) -> Answered | None:
        """The answer, if there is one."""
        ...

    def changed(self) -> int:
        """A number that differs when another connection wrote; cheap enough to ask often."""
        ...

    def watch(self, watcher: str, now: int) -> None:
        """Note that a person's terminal or page is there and watching the queue."""
        ...

    def watchers(self, since: int) -> Sequence[str]:
        """Who was watching at that time or later."""
        ...

    def unwatch(self, watcher: str) -> None:
        """Note that a watcher left."""
        ...

    def remember(self, rule: Rule) -> int:
        """Keep a rule (its `id` is ignored); returns the id given."""
        ...

    def rules(self) -> Sequence[Rule]:
        """All that is remembered, oldest first."""
        ...

    def forget(self, rule: int) -> bool:
        """Take a rule back; false when there was none."""
        ...


class LedgerStore(Protocol):
    """What named sessions know, so that it outlives their process."""

    def known(self, session: str, path: str) -> Known | None:
        """What the session knows of the path."""
        ...

    def know(self, session: str, entries: Mapping[str, Known]) -> None:
        """Note it."""
        ...


class UpkeepStore(Protocol):
    """Limits kept and room given back, in steps so short that no tool waits; stopped anywhere, nothing is lost."""

    def due(self, work: str, *, every: int, now: int) -> bool:
        """Whether work of that name was last begun so many nanoseconds ago; then it counts as begun now, by us."""
        ...

    def prune(self, limits: Limits, *, now: int, every_path: bool = False) -> Iterator[Tally]:
        """Bring the store within its limits, a short transaction a step.

        Paths that nobody changed since the last time are looked at once a day, or where `every_path` asks for it.
        Versions stay listed, with `restorable` false and `why_not`. Never touched: the newest version of a path, what
        open intents need, and what stood before and after each task that was at work within the age.
        """
        ...

    def compact(self) -> Iterator[Tally]:
        """Keep contents as deltas against their neighbours and give room back, a step at a time."""
        ...

    def usage(self) -> Usage:
        """How much room is taken, counted now."""
        ...


class Store(HistoryStore, TaskStore, ApprovalStore, LedgerStore, UpkeepStore, Protocol):
    """All of it, as one database keeps it."""

    def content(self, digest: str) -> Content | None:
        """The stored content by its SHA-256."""
        ...

    def close(self) -> None:
        """Give everything back; calls after it fail."""
        ...
