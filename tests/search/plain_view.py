"""A view without any policy, over the real file system; names that hold "secret" are sensitive."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from handrail.fs.host import HostFileSystem
from handrail.fs.protocol import Bounds
from handrail.model.answers import Found
from handrail.model.errors import BackendFailed
from handrail.model.files import Directory, Entry, Loaded, Stat
from handrail.model.operations import Find, Query
from handrail.model.paths import RealPath, seal
from handrail.model.view import FileHits, Grep, RowHit, Sifted, Snapshot, Tally, Target, Visibility
from handrail.search.find import FindPlanner


class PlainView:
    session = "s"

    def __init__(self, root: Path, *, seconds: float = 20.0) -> None:
        self.fs = HostFileSystem()
        self.bounds = Bounds(inside=[str(root)], seconds=seconds)
        self.until = time.monotonic() + seconds
        self.searches: list[Grep] = []
        self.known: dict[Directory, Sifted] = {}

    def look(self, path: RealPath) -> Snapshot:
        return self.fs.open(path)

    def glance(self, path: RealPath) -> Snapshot:
        return self.fs.open(path)

    def stat(self, path: RealPath) -> Stat | None:
        return self.fs.stat(path)

    def link_target(self, path: RealPath) -> str:
        return self.fs.read_link(path)

    def entries(self, directory: RealPath) -> Sequence[Entry]:
        return self.fs.entries(directory)

    def child(self, directory: RealPath, name: str) -> RealPath | None:
        found = self.fs.resolve(os.path.join(directory.text, name))
        return seal(found.text) if found.exists else None

    def visibility(self, path: str) -> Visibility:
        return "sensitive" if "secret" in path.rpartition("/")[2] else "open"

    def walk(self, root: RealPath, tally: Tally, *, respect_ignore: bool = True) -> Iterator[RealPath]:
        yield from map(seal, self.fs.walk(root, self.bounds, tally, respect_ignore=respect_ignore))

    def tree(
        self, root: RealPath, tally: Tally, *, respect_ignore: bool = True, most: int | None = None
    ) -> Sequence[Sifted] | None:
        found = self.fs.tree(root, self.bounds, tally, respect_ignore=respect_ignore, most=most)
        return None if found is None else [self.sifted(directory) for directory in found]

    def sifted(self, directory: Directory) -> Sifted:
        if directory not in self.known:
            secret = frozenset(name for name in directory.files if "secret" in name)
            self.known[directory] = Sifted(
                seal(directory.name),
                directory,
                frozenset(directory.files) - secret,
                secret,
                child=lambda name: seal(os.path.join(directory.name, name)),
            )
        return self.known[directory]

    def load(self, place: Sifted, names: Sequence[str], *, most: int) -> Iterator[Loaded]:
        return self.fs.load(place.path, names, most=most)

    def rewritten(self, place: Sifted, since: int) -> bool:
        return self.fs.rewritten(place.path, place.open, since)

    def search(self, grep: Grep, tally: Tally) -> Iterator[FileHits]:
        self.searches.append(grep)
        for hits in self.fs.search(grep, self.bounds, tally):
            if self.visibility(hits.name) == "open":
                yield FileHits(path=seal(hits.name), told=hits.told)

    def rows(self, file: FileHits, start: int, stop: int) -> Sequence[RowHit] | None:
        told = file.told.rows
        return None if told is None else [*told][start:stop] if len(told) == file.told.count else None

    def file_types(self) -> Mapping[str, Sequence[str]]:
        return self.fs.file_types()

    def ignored(self, directory: RealPath, names: Sequence[str]) -> frozenset[str]:
        return self.fs.ignored(directory, names, self.bounds)

    def now(self) -> int:
        return time.time_ns()

    def remaining(self) -> float:
        return self.until - time.monotonic()

    def check(self) -> None:
        if self.remaining() < 0:
            raise BackendFailed("deadline_exceeded", "The time is up.")

    def take_text(self, size: int) -> bool:
        return True

    def progress(self, done: float, total: float | None, message: str) -> None:
        pass


def tree(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


class Finder:
    """Asks the planner about one tree, with paths relative to it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.planner = FindPlanner()
        self.view = PlainView(root)

    def find(self, operation: Find, *, view: PlainView | None = None) -> Found:
        view = view or self.view
        targets = []
        for want in self.planner.wants(operation):
            resolved = view.fs.resolve(os.path.join(self.root, want.path))
            targets.append(Target(want=want, path=seal(resolved.text), exists=resolved.exists))
        answer = self.planner.plan(operation, targets, view).answer
        assert isinstance(answer, Found)
        return answer

    def search(self, pattern: str, *directories: str, file_pattern: str | None = None, **asked: object) -> Found:
        queries = tuple(
            Query(directory=place, pattern=pattern, file_pattern=file_pattern) for place in directories or (".",)
        )
        return self.find(Find(mode="search", queries=queries, **asked))  # type: ignore[arg-type]

    def glob(self, *patterns: str, directory: str = ".", **asked: object) -> Found:
        queries = tuple(Query(directory=directory, pattern=pattern) for pattern in patterns)
        return self.find(Find(mode="glob", queries=queries, **asked))  # type: ignore[arg-type]

    def entries(self, *directories: str, recursive: bool = False, **asked: object) -> Found:
        queries = tuple(Query(directory=place, recursive=recursive) for place in directories or (".",))
        return self.find(Find(mode="list", queries=queries, **asked))  # type: ignore[arg-type]

    def name(self, path: str) -> str:
        return os.path.relpath(path, self.root)

    def files(self, found: Found) -> dict[str, tuple[int, tuple[int, ...]]]:
        return {self.name(file.path): (file.count, file.rows) for file in found.files}

    def rows(self, found: Found) -> list[tuple[str, int, str]]:
        return [(self.name(row.path), row.row, row.text) for row in found.rows if not row.context]

    def listed(self, found: Found) -> list[str]:
        return [self.name(entry.path) for entry in found.listed]
