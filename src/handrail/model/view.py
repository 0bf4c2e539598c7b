"""What a planner may see and use: the one window on files, time and workers, with everything hidden left out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from handrail.model.errors import HandrailError
from handrail.model.files import Content, Directory, Entry, Loaded, Stat
from handrail.model.operations import Want
from handrail.model.paths import RealPath

Visibility = Literal["open", "sensitive", "hidden"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A want, resolved. `path` is `None` only when the want was optional and `error` says why.

    `linked`: the path as given ends in a symbolic link. `exists` at the time of resolving.
    """

    want: Want
    path: RealPath | None
    linked: bool = False
    exists: bool = False
    error: HandrailError | None = None

    @property
    def real(self) -> RealPath:
        """The path of a target that must have one."""
        if self.path is None:
            raise AssertionError("an optional target without a path was used")
        return self.path


class Snapshot(Protocol):
    """One version of one file, held open for the whole call: what is judged, shown and approved is this."""

    path: RealPath
    stat: Stat

    def read(self, offset: int, size: int) -> bytes:
        """Up to `size` bytes from `offset`; fewer only at the end. Raises `BackendFailed`."""
        ...

    def content(self) -> Content:
        """The whole file as a content, hashed once; a large one stays behind its handle."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RowHit:
    """A row that matches or stands around one: raw bytes with or without their line end, spans of the matches in them.

    Of a very long row only a part is held, with `skipped` characters before it.
    """

    row: int
    data: bytes
    spans: tuple[tuple[int, int], ...]
    context: bool = False
    skipped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What ripgrep told of one file that it matched; nobody has compared it with the file yet.

    `count`: matching rows; `numbers`: the first of them, or all where that was asked. `rows`, in file order with those
    around them, are `None` when they weren't kept. `stray`: a matching row isn't UTF-8; `returns`: a CR may stand in
    one; `binary`: there is a NUL in the file; `overlong`: a row was too long to be told.
    """

    count: int
    numbers: Sequence[int]
    rows: Sequence[RowHit] | None = field(default=None, repr=False)
    stray: bool = False
    returns: bool = False
    binary: bool = False
    overlong: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHits:
    """One file that a search found and that policy shows. Its rows are had from `View.rows` alone.

    Not `sure`: what was told may be of another file, since a directory above was changed meanwhile.
    """

    path: RealPath
    told: Told
    sure: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Grep:
    """A search as the backend's ripgrep runs it. `pattern` is in ripgrep's dialect, already translated.

    `roots` are directories or single files; ignore rules hold below directories unless `respect_ignore` is false.
    `names`: globs of file names that may narrow the walk; others can still come. `numbers`: of each matching row.
    `odd`: there is no pattern; what comes are the files that hold NULs or escapes or aren't UTF-8.
    """

    pattern: str
    roots: Sequence[RealPath]
    literal: bool = False
    ignore_case: bool = False
    multiline: bool = False
    before: int = 0
    after: int = 0
    file_type: str | None = None
    respect_ignore: bool = True
    numbers: bool = False
    odd: bool = False
    names: Sequence[str] = ()
    max_file_bytes: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Sifted:
    """What policy shows of one directory of a tree; the same object again as long as nothing in it changed.

    `open` and `sensitive` are names of files; of the sensitive only names may be told. `directory.files` has hidden
    ones too and is for counting alone. `child` makes the real path of a file by its name.
    """

    path: RealPath
    directory: Directory
    open: frozenset[str]
    sensitive: frozenset[str] = frozenset()
    child: Callable[[str], RealPath] = field(repr=False, kw_only=True)


@dataclass(slots=True)
class Tally:
    """What a walk or search left out, by reason, and whether it came to its end; filled while it runs."""

    skipped: dict[str, int]
    complete: bool = True
    warnings: tuple[str, ...] = ()

    def skip(self, reason: str, count: int = 1) -> None:
        """Count something left out for this reason."""
        self.skipped[reason] = self.skipped.get(reason, 0) + count


class View(Protocol):
    """The files as the session may see them, one version each for the whole call, and the call's means."""

    @property
    def session(self) -> str:
        """Whose view it is."""
        ...

    def look(self, path: RealPath) -> Snapshot:
        """The regular file at `path`, pinned for this call; raises `NotThere`, `WrongContent`, `BackendFailed`."""
        ...

    def glance(self, path: RealPath) -> Snapshot:
        """The same, but not pinned: for a look into each of many files, none of which is answered with as a whole."""
        ...

    def stat(self, path: RealPath) -> Stat | None:
        """Facts of what stands at `path`, a link itself included; `None` where nothing does."""
        ...

    def link_target(self, path: RealPath) -> str:
        """Where the symbolic link at `path` points, as stored."""
        ...

    def entries(self, directory: RealPath) -> Sequence[Entry]:
        """The children that policy shows, in no order; raises `NotThere`, `WrongContent`, `BackendFailed`."""
        ...

    def child(self, directory: RealPath, name: str) -> RealPath | None:
        """The child by that name, links followed inside what is shown; `None` = hidden, outside or gone."""
        ...

    def visibility(self, path: str) -> Visibility:
        """How policy judges an absolute, real path by its name: open, sensitive (a person must be asked), hidden."""
        ...

    def walk(self, root: RealPath, tally: Tally, *, respect_ignore: bool = True) -> Iterator[RealPath]:
        """The files below `root` that policy and ignore rules show, in no order; sensitive names are included."""
        ...

    def tree(
        self, root: RealPath, tally: Tally, *, respect_ignore: bool = True, most: int | None = None
    ) -> Sequence[Sifted] | None:
        """Every directory from `root` down that policy and ignore rules show; `None` for over `most` files."""
        ...

    def load(self, place: Sifted, names: Sequence[str], *, most: int) -> Iterator[Loaded]:
        """Read open files of one directory whole, those up to `most` bytes; raises `BackendFailed`."""
        ...

    def rewritten(self, place: Sifted, since: int) -> bool:
        """Whether one of the open files of a directory changed since (ns)."""
        ...

    def search(self, grep: Grep, tally: Tally) -> Iterator[FileHits]:
        """Run ripgrep over what policy shows; sensitive and hidden files are left out and counted."""
        ...

    def rows(self, file: FileHits, start: int, stop: int) -> Sequence[RowHit] | None:
        """Rows that a search told of a file, `None` when they weren't kept or the true file doesn't hold them."""
        ...

    def file_types(self) -> Mapping[str, Sequence[str]]:
        """The globs of names, by file type as ripgrep calls it; raises `BackendFailed` `backend_unavailable`."""
        ...

    def ignored(self, directory: RealPath, names: Sequence[str]) -> frozenset[str]:
        """Which of these children (directories with a trailing slash) the ignore rules leave out."""
        ...

    def now(self) -> int:
        """Nanoseconds since the epoch."""
        ...

    def remaining(self) -> float:
        """Seconds until the call's deadline."""
        ...

    def check(self) -> None:
        """Raise `BackendFailed` `deadline_exceeded` or `cancelled` when it is time to stop."""
        ...

    def take_text(self, size: int) -> bool:
        """Take that many characters from the call's text budget; false, taking nothing, when it hasn't that much."""
        ...

    def progress(self, done: float, total: float | None, message: str) -> None:
        """Tell the caller how far the work is; never blocks."""
        ...
