"""What a backend is: a reading half that views use, and a writing half that only `core/apply.py` is handed.

Each verb takes a `RealPath` and follows no link in it: a component that became a link meanwhile is an error
(`OutOfDate` `stale`). Errors are those of `model/errors.py`; nothing else is raised.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from handrail.model.calls import Cancellation
from handrail.model.errors import HandrailError
from handrail.model.files import Belongings, Content, Directory, Entry, Loaded, Stat
from handrail.model.paths import RealPath
from handrail.model.view import Grep, Snapshot, Tally, Told


@dataclass(frozen=True, slots=True)
class Resolved:
    """A path after every link was followed: its absolute text, whether something stands there, and the last link.

    Missing tails are kept: `/real/dir/new/file` where `/real/dir` is the nearest thing that exists.
    """

    text: str
    exists: bool
    linked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How far a walk or a search may go, and what it must leave out.

    `leave_out`: globs in ripgrep's dialect relative to each root, added as negative globs. `inside`: the
    directories outside which the child may open nothing.
    """

    leave_out: Sequence[str] = ()
    inside: Sequence[str] = ()
    seconds: float = 20.0
    max_entries: int = 2_000_000
    cancellation: Cancellation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RawHits:
    """What was told of a file under its absolute name, before anybody judged it."""

    name: str
    told: Told


class ReadableFileSystem(Protocol):
    """The reading half."""

    name: str

    def resolve(self, path: str, *, follow: bool = True) -> Resolved:
        """Follow an absolute path's links; with `follow=False` not the last. Loops: `InvalidCall` `invalid_path`."""
        ...

    def stat(self, path: RealPath) -> Stat | None:
        """Facts of what stands there, `None` for nothing."""
        ...

    def read_link(self, path: RealPath) -> str:
        """Where a symbolic link points, as stored."""
        ...

    def open(self, path: RealPath) -> Snapshot:
        """Open a regular file for reading; never blocks on a FIFO or device (`WrongContent` `not_regular_file`)."""
        ...

    def entries(self, path: RealPath) -> Sequence[Entry]:
        """The children of a directory, in no order."""
        ...

    def walk(self, root: RealPath, bounds: Bounds, tally: Tally, *, respect_ignore: bool) -> Iterator[str]:
        """Absolute names of the files below `root`, in no order, links not followed."""
        ...

    def tree(
        self,
        root: RealPath,
        bounds: Bounds,
        tally: Tally,
        *,
        respect_ignore: bool = True,
        descend: Callable[[str], bool] = lambda _: True,
        most: int | None = None,
    ) -> Sequence[Directory] | None:
        """Every directory from `root` down, each before those in it, links not followed, read by this process.

        `descend` is asked of each absolute name before it is touched. `None` when there are over `most` files.
        Cheap when asked again: a directory that didn't change is the same object.
        """
        ...

    def load(self, directory: RealPath, names: Sequence[str], *, most: int) -> Iterator[Loaded]:
        """Read regular files of one directory whole, each by its handle, those up to `most` bytes."""
        ...

    def rewritten(self, directory: RealPath, names: Iterable[str], since: int) -> bool:
        """Whether one of these files of a directory changed since (ns); those that are gone haven't."""
        ...

    def changed(self, top: RealPath, directories: Collection[str], since: int) -> frozenset[str]:
        """Those of the absolute directories, `top` and below, to which a name may have led otherwise since (ns)."""
        ...

    def search(self, grep: Grep, bounds: Bounds, tally: Tally) -> Iterator[RawHits]:
        """Run ripgrep; one value a file, in no order of files. A refused pattern: `InvalidCall` `invalid_pattern`."""
        ...

    def file_types(self) -> Mapping[str, Sequence[str]]:
        """The globs of names, by file type as ripgrep calls it. Raises `BackendFailed` `backend_unavailable`."""
        ...

    def ignored(self, directory: RealPath, names: Sequence[str], bounds: Bounds) -> frozenset[str]:
        """Which of these children (directories with a trailing slash) the ignore rules leave out."""
        ...

    def launch(self, path: RealPath) -> str:
        """Open with the default application and return its name. Raises `BackendFailed` `opener_unavailable`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """How a content came to its place: by rename, or in place (hard links, bind mounts, closed directories)."""

    stat: Stat
    in_place: bool = False
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Put:
    """A content for a path, as `replace` takes it: over `expect` (`None`: nothing).

    `expect` is what must stand there, or its SHA-256; with the content at hand its bytes needn't be hashed.
    """

    path: RealPath
    content: Content
    mode: int | None
    expect: Content | str | None
    belongings: Belongings | None = None


class WritableFileSystem(ReadableFileSystem, Protocol):
    """The writing half: each verb is atomic or undone, durable when it returns, and leaves no stray file."""

    def replace(
        self,
        path: RealPath,
        content: Content,
        mode: int | None,
        expect: Content | str | None,
        belongings: Belongings | None = None,
    ) -> Written:
        """Put `content` at `path`, keeping owner, group, mode (unless given), attributes and hard links.

        Where something else stands than `expect` says (see `Put`): `OutOfDate` `stale`, nothing written.
        `belongings` are given to a file that is made; what may not be given is said in the notes.
        """
        ...

    def replace_all(self, puts: Sequence[Put]) -> Sequence[Written | HandrailError]:
        """`replace` for each of several different paths, which may fail alone; they share the waiting for the disk."""
        ...

    def belongings(self, path: RealPath) -> Belongings | None:
        """What the regular file there has that a new one wouldn't: a foreign owner, attributes, access lists."""
        ...

    def make_directory(self, path: RealPath, mode: int | None) -> None:
        """Make one directory whose parent exists."""
        ...

    def make_link(self, path: RealPath, target: str) -> None:
        """Make a symbolic link where nothing stands."""
        ...

    def unlink(self, path: RealPath, expect: str | None) -> None:
        """Remove a file or a link; `expect` as in `replace` (for a link, `None`)."""
        ...

    def remove_directory(self, path: RealPath) -> None:
        """Remove an empty directory."""
        ...

    def move_out(self, path: RealPath, destination: str, *, copy_limit: int = 0) -> bool:
        """Rename a tree to `destination`, a store's own place.

        Across devices it is copied, `copy_limit` bytes at most (`TooLarge` above); with 0: false, nothing done.
        """
        ...

    def move_in(self, source: str, path: RealPath, *, copy_limit: int = 0) -> bool:
        """The inverse of `move_out`, where nothing stands at `path`; else `OutOfDate` `stale`."""
        ...

    def sweep(self, directory: RealPath) -> int:
        """Remove our own stray temporary files from a directory, as a crash leaves them; returns how many."""
        ...
