"""A view over one directory of the real file system, with the budget of a call; names that hold "hidden" are hidden."""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from handrail.fs.host import HostFileSystem
from handrail.model.answers import ReadText
from handrail.model.errors import BackendFailed
from handrail.model.files import Entry, Stat
from handrail.model.operations import Read
from handrail.model.paths import RealPath, seal
from handrail.model.view import FileHits, Grep, Snapshot, Tally, Target, Visibility
from handrail.reading.read import ReadPlanner


class OneView:
    session = "s"

    def __init__(self, *, budget: int = 1 << 30, seconds: float = 60.0, later: int = 0) -> None:
        self.fs = HostFileSystem()
        self.budget = budget
        self.until = time.monotonic() + seconds
        self.later = later

    def look(self, path: RealPath) -> Snapshot:
        return self.fs.open(path)

    def glance(self, path: RealPath) -> Snapshot:
        return self.fs.open(path)

    def stat(self, path: RealPath) -> Stat | None:
        return self.fs.stat(path)

    def link_target(self, path: RealPath) -> str:
        return self.fs.read_link(path)

    def entries(self, directory: RealPath) -> Sequence[Entry]:
        return [e for e in self.fs.entries(directory) if "hidden" not in e.name]

    def child(self, directory: RealPath, name: str) -> RealPath | None:
        found = self.fs.resolve(os.path.join(directory.text, name))
        return seal(found.text) if found.exists else None

    def visibility(self, path: str) -> Visibility:
        return "hidden" if "hidden" in path.rpartition("/")[2] else "open"

    def walk(self, root: RealPath, tally: Tally, *, respect_ignore: bool = True) -> Iterator[RealPath]:
        raise NotImplementedError

    def search(self, grep: Grep, tally: Tally) -> Iterator[FileHits]:
        raise NotImplementedError

    def ignored(self, directory: RealPath, names: Sequence[str]) -> frozenset[str]:
        return frozenset()

    def now(self) -> int:
        return time.time_ns() + self.later

    def remaining(self) -> float:
        return self.until - time.monotonic()

    def check(self) -> None:
        if self.remaining() < 0:
            raise BackendFailed("deadline_exceeded", "The time is up.")

    def take_text(self, size: int) -> bool:
        if size > self.budget:
            return False
        self.budget -= size
        return True

    def progress(self, done: float, total: float | None, message: str) -> None:
        pass


def target(path: Path | str, planner: Any, operation: Any) -> Target:
    (want,) = planner.wants(operation)
    return Target(want=want, path=seal(os.path.realpath(path)), exists=os.path.exists(path))


def read(path: Path | str, *, view: OneView | None = None, planner: ReadPlanner | None = None, **fields: Any) -> Any:
    planner = planner or ReadPlanner()
    operation = Read(path=str(path), **fields)
    return planner.plan(operation, [target(path, planner, operation)], view or OneView()).answer


def texts(answer: ReadText) -> list[str]:
    return [row.text for row in answer.rows]


def numbers(answer: ReadText) -> list[int | None]:
    return [row.row for row in answer.rows]
