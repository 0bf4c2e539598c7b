"""The window that planners look through: what policy hides isn't there, and each file has one version a call.

It knows one call's session, deadline and budget; it changes nothing and decides nothing that policy didn't.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from handrail.fs.protocol import Bounds, ReadableFileSystem
from handrail.guard.child import Child
from handrail.guard.policy import Policy
from handrail.guard.refusals import missing, too_long, unconfirmed
from handrail.guard.resolve import Resolver
from handrail.guard.sift import Request, Sieve
from handrail.guard.witness import around, bears_out
from handrail.model.calls import Cancellation, Progress
from handrail.model.errors import BackendFailed, HandrailError
from handrail.model.files import Entry, Loaded, Stat
from handrail.model.paths import RealPath
from handrail.model.view import FileHits, Grep, RowHit, Sifted, Snapshot, Tally, Visibility

_EVERY = 256
"""Names between two looks at the clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What one call may spend: seconds, characters of text, entries of a walk."""

    seconds: float = 20.0
    text: int = 1 << 20
    entries: int = 2_000_000


@dataclass(slots=True)
class _Seen:
    """What this call has seen: pinned files, judged ignore files, secrets that a walk told the name of, trees."""

    pinned: dict[str, Snapshot] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    trees: dict[str, Mapping[str, Sifted]] = field(default_factory=dict)


class CallView:
    """A `View` for one call; `respect_ignore=False` lifts gitignore rules whatever a planner asks for.

    `sieve` is the policy's, which remembers trees from call to call.
    """

    def __init__(
        self,
        fs: ReadableFileSystem,
        resolver: Resolver,
        policy: Policy,
        *,
        session: str,
        allowance: Allowance | None = None,
        cancellation: Cancellation | None = None,
        progress: Progress | None = None,
        respect_ignore: bool = True,
        clock: Callable[[], int] = time.time_ns,
        sieve: Sieve | None = None,
    ) -> None:
        self._fs = fs
        self._resolver = resolver
        self._policy = policy
        self._sieve = sieve or Sieve(policy, resolver)
        self._child = Child(fs, resolver, policy.areas)
        self._session = session
        self._allowance = allowance or Allowance()
        self._cancellation = cancellation or Cancellation()
        self._progress = progress
        self._respect_ignore = respect_ignore
        self._clock = clock
        self._until = time.monotonic() + self._allowance.seconds
        self._text = self._allowance.text
        self._look = policy.look()
        self._seen = _Seen()

    @property
    def session(self) -> str:
        """Whose view it is."""
        return self._session

    def grant(self, path: RealPath) -> None:
        """Let a sensitive file be looked at that a walk had named before: a person said yes."""
        self._seen.told.discard(path.text)

    def look(self, path: RealPath) -> Snapshot:
        """The regular file at `path`, pinned for this call."""
        return self._seen.pinned.setdefault(path.text, self.glance(path))

    def glance(self, path: RealPath) -> Snapshot:
        """The same, kept by nobody but the caller: for a look into each of many files."""
        self._must_show(path)
        if path.text in self._seen.told:
            raise unconfirmed(path)
        return self._seen.pinned.get(path.text) or self._fs.open(path)

    def stat(self, path: RealPath) -> Stat | None:
        """Facts of what stands at `path`; in the output directory also of foreign files, so that names stay free."""
        verdict = self._policy.judge(path.text, "read", look=self._look)
        if verdict.allowed or verdict.rule == "output directory":
            return self._fs.stat(path)
        return self._fs.stat(path) if self._shows_directory(path.text) else None

    def link_target(self, path: RealPath) -> str:
        """Where the symbolic link at `path` points, as stored."""
        self._must_show(path)
        return self._fs.read_link(path)

    def entries(self, directory: RealPath) -> Sequence[Entry]:
        """The children that policy shows; a link shows by its own name."""
        if not self._shows_directory(directory.text):
            raise missing(directory)
        base = directory.text.rstrip("/") + "/"
        return [e for e in self._fs.entries(directory) if self._shows(base + e.name, e.stat.kind == "directory")]

    def child(self, directory: RealPath, name: str) -> RealPath | None:
        """The child by that name, links followed inside what is shown; `None` = hidden, outside or gone."""
        try:
            found = self._resolver.child(directory, name)
            stat = self._fs.stat(found)
        except HandrailError:
            return None
        given = f"{directory.text.rstrip('/')}/{name}"
        is_directory = stat is not None and stat.kind == "directory"
        if stat is None or not (self._shows(given, is_directory) and self._shows(found.text, is_directory)):
            return None
        if not is_directory and (self._is_secret(given) or self._is_secret(found.text)):
            self._seen.told.add(found.text)
        return found

    def visibility(self, path: str) -> Visibility:
        """How policy judges an absolute, real path by its name."""
        return self._policy.visibility(path, look=self._look)

    def walk(self, root: RealPath, tally: Tally, *, respect_ignore: bool = True) -> Iterator[RealPath]:
        """The files below `root` that policy and ignore rules show, in no order; sensitive names are included."""
        if not self._shows_directory(root.text):
            return
        bounds = self._bounds(self._policy.leave_out(root.text, secrets=False))
        names = self._fs.walk(root, bounds, tally, respect_ignore=respect_ignore and self._respect_ignore)
        for count, name in enumerate(names):
            if count % _EVERY == 0 and self._is_over(tally):
                return
            path = self._resolver.beneath(root, name)
            if path is None:
                continue
            seen = self.visibility(name)
            if seen == "sensitive":
                self._seen.told.add(name)
            if seen != "hidden":
                yield path

    def tree(
        self, root: RealPath, tally: Tally, *, respect_ignore: bool = True, most: int | None = None
    ) -> Sequence[Sifted] | None:
        """Every directory from `root` down that policy and ignore rules show; `None` for over `most` files."""
        if not self._shows_directory(root.text):
            return ()
        respect = respect_ignore and self._respect_ignore
        request = Request(root, self._bounds(()), respect_ignore=respect, most=most)
        tree = self._sieve.tree(self._fs, request, tally)
        if tree is None:
            return None
        self._seen.trees[root.text] = tree.by_name
        self._seen.told |= tree.secrets
        return tree.places

    def load(self, place: Sifted, names: Sequence[str], *, most: int) -> Iterator[Loaded]:
        """Read open files of one directory whole; a file that is pinned as it was pinned. No other is read."""
        known = any(tree.get(place.directory.name) is place for tree in self._seen.trees.values())
        for name in names:
            path = place.child(name)
            if name in place.sensitive or path.text in self._seen.told:
                raise unconfirmed(path)
            if name not in place.open or not (known or self.visibility(path.text) == "open"):
                raise missing(path)
        return self._loaded(place, names, most)

    def rewritten(self, place: Sifted, since: int) -> bool:
        """Whether one of the open files of a directory changed since (ns)."""
        return self._fs.rewritten(place.path, place.open, since)

    def search(self, grep: Grep, tally: Tally) -> Iterator[FileHits]:
        """Run ripgrep over what policy shows; each file it names is judged, its rows are compared by `rows`."""
        grep = replace(grep, respect_ignore=grep.respect_ignore and self._respect_ignore)
        for root in grep.roots:
            if not self._shows_directory(root.text):
                continue
            bounds = self._bounds(self._policy.leave_out(root.text, secrets=True))
            since = time.time_ns()
            told = self._fs.search(replace(grep, roots=[root]), bounds, tally)
            while batch := list(islice(told, _EVERY)):
                hits = self._child.told(root, batch, self._seen.trees.get(root.text, {}), self.visibility)
                yield from hits if grep.odd else self._child.believed(root, hits, since)
                if self._is_over(tally):
                    return

    def rows(self, file: FileHits, start: int, stop: int) -> Sequence[RowHit] | None:
        """Matching rows that were told of a file, by number from 0, with those around, if the true file has them."""
        told = file.told.rows
        if told is None:
            return None
        chosen = told[start:stop] if len(told) == file.told.count else around(told[:], start, stop)
        try:
            return chosen if bears_out(self.glance(file.path), chosen) else None
        except HandrailError as error:
            if error.kind in {"stale", "not_found", "permission_denied", "io_error", "not_regular_file"}:
                return None
            raise

    def file_types(self) -> Mapping[str, Sequence[str]]:
        """The globs of names, by file type as ripgrep calls it."""
        return self._fs.file_types()

    def ignored(self, directory: RealPath, names: Sequence[str]) -> frozenset[str]:
        """Which of these children (directories with a trailing slash) the ignore rules leave out."""
        return self._fs.ignored(directory, names, self._bounds(()))

    # the call's means

    def now(self) -> int:
        """Nanoseconds since the epoch."""
        return self._clock()

    def remaining(self) -> float:
        """Seconds until the call's deadline; 0 when it has passed."""
        return max(0.0, self._until - time.monotonic())

    def check(self) -> None:
        """Raise `BackendFailed` when it is time to stop."""
        if self._cancellation.cancelled:
            raise BackendFailed("cancelled", "The call was cancelled.", hint="Nothing was changed.")
        if self.remaining() <= 0:
            raise too_long(self._allowance.seconds)

    def take_text(self, size: int) -> bool:
        """Take that many characters from the call's text budget."""
        if size > self._text:
            return False
        self._text -= size
        return True

    def progress(self, done: float, total: float | None, message: str) -> None:
        """Tell the caller how far the work is."""
        if self._progress is not None:
            self._progress(done, total, message)

    # judging what comes

    def _loaded(self, place: Sifted, names: Sequence[str], most: int) -> Iterator[Loaded]:
        for loaded in self._read(place, names, most):
            pinned = self._seen.pinned.get(place.child(loaded.name).text) if self._seen.pinned else None
            if pinned is None:
                yield loaded
            else:
                data = pinned.content().bytes() if pinned.stat.size <= most else None
                yield Loaded(loaded.name, pinned.stat, data)

    def _read(self, place: Sifted, names: Sequence[str], most: int) -> Iterator[Loaded]:
        try:
            yield from self._fs.load(place.path, names, most=most)
        except HandrailError as error:
            if error.kind not in {"stale", "not_found", "permission_denied"}:
                raise
            yield from (Loaded(name, None, unreadable=error.kind == "permission_denied") for name in names)

    def _bounds(self, leave_out: Sequence[str]) -> Bounds:
        return Bounds(
            leave_out=leave_out,
            inside=self._policy.areas,
            seconds=self.remaining(),
            max_entries=self._allowance.entries,
            cancellation=self._cancellation,
        )

    def _is_over(self, tally: Tally) -> bool:
        if self._cancellation.cancelled:
            self.check()
        if self.remaining() > 0:
            return False
        tally.complete = False
        return True

    def _is_secret(self, path: str) -> bool:
        return self._policy.sensitive.sensitive(path)

    def _shows_directory(self, path: str) -> bool:
        return self._shows(path, True)

    def _shows(self, path: str, directory: bool) -> bool:
        return self._policy.judge(path, "read", directory=directory, look=self._look).allowed

    def _must_show(self, path: RealPath) -> None:
        if not self._shows(path.text, False):
            raise missing(path)
