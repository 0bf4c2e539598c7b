"""A recorded content dressed as a file: what a reader sees when it is shown a version instead of the disk."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from handrail.model.errors import NotThere
from handrail.model.files import Content, Entry, FileState, Loaded, Stat
from handrail.model.paths import RealPath
from handrail.model.records import Version
from handrail.model.view import FileHits, Grep, RowHit, Sifted, Snapshot, Tally, View, Visibility


@dataclass(slots=True)
class RecordedSnapshot:
    """A `Snapshot` of a version; reading on is cheap, going back starts over."""

    path: RealPath
    stat: Stat
    recorded: Content
    _pieces: Iterator[bytes] | None = field(default=None, init=False)
    _start: int = field(default=0, init=False)
    _held: bytes = field(default=b"", init=False)

    def read(self, offset: int, size: int) -> bytes:
        """Up to `size` bytes from `offset`; fewer only at the end."""
        if self._pieces is None or offset < self._start:
            self._pieces, self._start, self._held = self.recorded.chunks(), 0, b""
        while self._start + len(self._held) < offset + size:
            piece = next(self._pieces, None)
            if piece is None:
                break
            skipped = min(len(self._held), max(0, offset - self._start))
            self._held = self._held[skipped:] + piece
            self._start += skipped
        at = offset - self._start
        return self._held[at : at + size]

    def content(self) -> Content:
        """The whole content."""
        return self.recorded


@dataclass(frozen=True, slots=True)
class RecordedView:
    """A `View` in which one path holds a version; everything else is as in the view behind it."""

    behind: View
    path: RealPath
    version: Version

    @property
    def session(self) -> str:
        """Whose view it is."""
        return self.behind.session

    def look(self, path: RealPath) -> Snapshot:
        """The version's content at its path."""
        state = self.version.state
        if path != self.path:
            return self.behind.look(path)
        if not isinstance(state, FileState):
            raise NotThere("not_found", f"Version {self.version.id} holds no file.", path=str(path))
        return RecordedSnapshot(path, self._facts(state), state.content)

    def glance(self, path: RealPath) -> Snapshot:
        """The same."""
        return self.look(path) if path == self.path else self.behind.glance(path)

    def stat(self, path: RealPath) -> Stat | None:
        """The version's facts at its path."""
        state = self.version.state
        return self._facts(state) if path == self.path and isinstance(state, FileState) else self.behind.stat(path)

    def link_target(self, path: RealPath) -> str:
        """As in the view behind."""
        return self.behind.link_target(path)

    def entries(self, directory: RealPath) -> Sequence[Entry]:
        """As in the view behind."""
        return self.behind.entries(directory)

    def child(self, directory: RealPath, name: str) -> RealPath | None:
        """As in the view behind."""
        return self.behind.child(directory, name)

    def visibility(self, path: str) -> Visibility:
        """As in the view behind."""
        return self.behind.visibility(path)

    def walk(self, root: RealPath, tally: Tally, *, respect_ignore: bool = True) -> Iterator[RealPath]:
        """As in the view behind."""
        return self.behind.walk(root, tally, respect_ignore=respect_ignore)

    def tree(
        self, root: RealPath, tally: Tally, *, respect_ignore: bool = True, most: int | None = None
    ) -> Sequence[Sifted] | None:
        """As in the view behind."""
        return self.behind.tree(root, tally, respect_ignore=respect_ignore, most=most)

    def load(self, place: Sifted, names: Sequence[str], *, most: int) -> Iterator[Loaded]:
        """As in the view behind."""
        return self.behind.load(place, names, most=most)

    def rewritten(self, place: Sifted, since: int) -> bool:
        """As in the view behind."""
        return self.behind.rewritten(place, since)

    def search(self, grep: Grep, tally: Tally) -> Iterator[FileHits]:
        """As in the view behind."""
        return self.behind.search(grep, tally)

    def rows(self, file: FileHits, start: int, stop: int) -> Sequence[RowHit] | None:
        """As in the view behind."""
        return self.behind.rows(file, start, stop)

    def file_types(self) -> Mapping[str, Sequence[str]]:
        """As in the view behind."""
        return self.behind.file_types()

    def ignored(self, directory: RealPath, names: Sequence[str]) -> frozenset[str]:
        """As in the view behind."""
        return self.behind.ignored(directory, names)

    def now(self) -> int:
        """As in the view behind."""
        return self.behind.now()

    def remaining(self) -> float:
        """As in the view behind."""
        return self.behind.remaining()

    def check(self) -> None:
        """As in the view behind."""
        self.behind.check()

    def take_text(self, size: int) -> bool:
        """As in the view behind."""
        return self.behind.take_text(size)

    def progress(self, done: float, total: float | None, message: str) -> None:
        """As in the view behind."""
        self.behind.progress(done, total, message)

    def _facts(self, state: FileState) -> Stat:
        time = self.version.time_ns
        return Stat(
            kind="file",
            size=state.content.size,
            mode=state.mode if state.mode is not None else 0o644,
            mtime_ns=time,
            ctime_ns=time,
            device=0,
            inode=0,
            links=1,
            owner=0,
            group=0,
        )
