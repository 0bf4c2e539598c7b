"""A small world for the planners: files in memory, a view of them, and a writer that keeps the store's rules."""

import errno
import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from handrail.history.restore import RemovePlanner, RestorePlanner
from handrail.history.undo import UndoPlanner
from handrail.model.answers import Changed
from handrail.model.changes import Change, Plan
from handrail.model.errors import NotThere, OutOfDate
from handrail.model.files import (
    ABSENT,
    Absent,
    Bytes,
    Content,
    DirectoryState,
    Entry,
    FileState,
    LinkState,
    Stat,
    State,
)
from handrail.model.operations import Remove, Restore, Undo, Want
from handrail.model.paths import RealPath, seal, within
from handrail.model.records import Version
from handrail.model.view import Target
from handrail.store.protocol import Author, Draft
from handrail.store.sqlite import SqliteStore

KINDS = {"file": "file", "symlink": "symlink", "directory": "directory"}


@dataclass(slots=True)
class MemorySnapshot:
    path: RealPath
    stat: Stat
    held: Content

    def read(self, offset: int, size: int) -> bytes:
        return self.held.bytes()[offset : offset + size]

    def content(self) -> Content:
        return self.held


@dataclass
class World:
    """`disk` maps every path that exists to its state; it is the view, the file system and the writer at once."""

    store: SqliteStore
    disk: dict[str, State] = field(default_factory=lambda: {"/r": DirectoryState(mode=0o755)})
    hidden: set[str] = field(default_factory=set)
    sensitive: set[str] = field(default_factory=set)
    aside: dict[str, dict[str, State]] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    clock: Callable[[], int] = itertools.count(1000).__next__
    session: str = "s"

    # the view

    def stat(self, path: RealPath) -> Stat | None:
        state = self.disk.get(path.text)
        if state is None:
            return None
        size = state.content.size if isinstance(state, FileState) else 0
        mode = getattr(state, "mode", None) or 0o644
        time = self.times.get(path.text, 1)
        return Stat(KINDS[state.kind], size, mode, time, time, 1, 1, 1, 0, 0)

    def look(self, path: RealPath) -> MemorySnapshot:
        state = self.disk[path.text]
        assert isinstance(state, FileState)
        stat = self.stat(path)
        assert stat is not None
        return MemorySnapshot(path, stat, state.content)

    def link_target(self, path: RealPath) -> str:
        state = self.disk[path.text]
        assert isinstance(state, LinkState)
        return state.target

    def entries(self, directory: RealPath) -> Sequence[Entry]:
        found = []
        for path in self.disk:
            parent, _, name = path.rpartition("/")
            if parent == directory.text and path not in self.hidden:
                stat = self.stat(seal(path))
                assert stat is not None
                found.append(Entry(name, stat))
        return found

    def child(self, directory: RealPath, name: str) -> RealPath | None:
        return seal(f"{directory.text}/{name}")

    def visibility(self, path: str) -> str:
        return "hidden" if path in self.hidden else "sensitive" if path in self.sensitive else "open"

    def check(self) -> None:
        return None

    # the resolver

    def targets(self, wants: Sequence[Want]) -> list[Target]:
        return [Target(want=want, path=seal(want.path), exists=want.path in self.disk) for want in wants]

    # the writer

    def apply(self, plan: Plan, task: str, *, tool: str = "edit_file") -> list[Version]:
        made: list[Version] = []
        for change in self._with_parents(plan.changes):
            made += self._one(change, task, tool)
        return made

    def _with_parents(self, changes: Sequence[Change]) -> list[Change]:
        found: list[Change] = []
        for change in changes:
            missing = []
            parent = change.path.parent
            while change.parents and parent not in self.disk:
                missing.append(Change(seal(parent), ABSENT, DirectoryState(), "create"))
                parent = parent.rpartition("/")[0]
            found += [*reversed(missing), change]
        return found

    def _one(self, change: Change, task: str, tool: str) -> list[Version]:
        path = change.path.text
        there = self.disk.get(path, ABSENT)
        if not _same(there, change.before):
            raise OutOfDate("stale", f"{path} isn't what was planned for.")
        before = there
        if isinstance(there, DirectoryState) and isinstance(change.before, DirectoryState):
            before = replace(change.before, trash=None)
            if before.entries:
                before = replace(before, trash=self.store.trash_place())
        last = self.store.newest(path)
        known = last is not None and last.state == before if not isinstance(before, FileState) else _known(last, before)
        drafts = [] if known or (last is None and isinstance(before, Absent)) else [(before, "external")]
        drafts.append((change.after, change.action))
        author = Author(tool=tool, session="s", task=task)
        made = self.store.record([Draft(path=path, state=s, action=a) for s, a in drafts], author)
        self._do(path, before, change.after)
        self.store.settle([made[-1].id], done=True)
        return list(made)

    def _do(self, path: str, before: State, after: State) -> None:
        below = [p for p in self.disk if within(p, path) and p != path]
        if isinstance(before, DirectoryState) and not isinstance(after, DirectoryState):
            if before.trash is None and below:
                raise OSError(errno.ENOTEMPTY, "not empty")
            if before.trash is not None:
                os.mkdir(before.trash)
                self.aside[before.trash] = {p[len(path) :]: self.disk.pop(p) for p in below}
        self.disk.pop(path, None)
        match after:
            case Absent():
                return
            case DirectoryState(trash=str(place)):
                os.rmdir(place)
                self.disk[path] = DirectoryState(mode=after.mode)
                self.disk |= {path + rest: state for rest, state in self.aside.pop(place).items()}
            case DirectoryState():
                self.disk[path] = DirectoryState(mode=after.mode)
            case _:
                self.disk[path] = after

    # what tests do

    def outside(self, path: str, data: bytes | None, mode: int = 0o644) -> None:
        """Somebody else writes or removes a file."""
        if data is None:
            self.disk.pop(path, None)
            return
        parent = path.rpartition("/")[0]
        while parent:
            self.disk.setdefault(parent, DirectoryState(mode=0o755))
            parent = parent.rpartition("/")[0]
        self.disk[path] = FileState(Bytes(data), mode)
        self.times[path] = self.clock()

    def write(self, task: str, path: str, data: bytes) -> list[Version]:
        """A tool writes a whole file."""
        self.open(task)
        before = self.disk.get(path, ABSENT)
        mode = before.mode if isinstance(before, FileState) else 0o644
        change = Change(seal(path), before, FileState(Bytes(data), mode), "modify", parents=True)
        return self.apply(Plan(None, (change,)), task)

    def open(self, task: str) -> None:
        self.store.open_task("s", task=task, objective=None, now=1)

    def remove(self, task: str, path: str) -> Changed:
        self.open(task)
        planner, operation = RemovePlanner(), Remove(path=path)
        plan = planner.plan(operation, self.targets(planner.wants(operation)), self)
        self.apply(plan, task)
        return plan.answer

    def restore(self, task: str, version: int) -> Changed:
        self.open(task)
        planner, operation = RestorePlanner(self.store), Restore(version=version)
        plan = planner.plan(operation, self.targets(planner.wants(operation)), self)
        self.apply(plan, task)
        return plan.answer

    def undo(self, task: str, *, as_task: str) -> dict[str, Changed | OutOfDate | NotThere]:
        """All paths of a task: planned first, then done, as the road does it."""
        planner = UndoPlanner(self.store)
        results: dict[str, Changed | OutOfDate | NotThere] = {}
        plans: dict[str, Plan] = {}
        for path in self.store.task_paths(task):
            operation = Undo(task=task, path=path)
            try:
                plans[path] = planner.plan(operation, self.targets(planner.wants(operation)), self)
            except (OutOfDate, NotThere) as error:
                results[path] = error
        self.open(as_task)
        for path, plan in plans.items():
            try:
                self.apply(plan, as_task)
                results[path] = plan.answer
            except OutOfDate as error:
                results[path] = error
        return results

    def said(self) -> dict[str, object]:
        """The disk in plain values."""
        return {
            path: (state.content.bytes(), state.mode) if isinstance(state, FileState) else replace_mode(state)
            for path, state in self.disk.items()
        }


def replace_mode(state: State) -> object:
    return "directory" if isinstance(state, DirectoryState) else state


def _same(one: State, other: State) -> bool:
    if isinstance(one, FileState) and isinstance(other, FileState):
        return one.content.hash == other.content.hash
    return one.kind == other.kind


def _known(last: Version | None, before: FileState) -> bool:
    if last is None or not isinstance(last.state, FileState):
        return False
    return last.state.content.hash == before.content.hash and last.state.mode == before.mode


def make(place: Path) -> World:
    """A world with an empty store."""
    clock = itertools.count(1000).__next__
    return World(SqliteStore(str(place), owner="test", clock=clock), clock=clock)
