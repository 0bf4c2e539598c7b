"""Walks directories by their handles under the ignore rules, and remembers each until it changes.

Nothing is reached through a link. What policy says of a name isn't known here: `descend` says it.
"""

import errno
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from handrail.fs import ignores, listing
from handrail.fs.above import Above, above
from handrail.fs.descent import LISTING, open_directory
from handrail.fs.failures import typed
from handrail.fs.ignores import Context
from handrail.fs.listing import Stamp, Watched, settled, stamp
from handrail.fs.protocol import Bounds
from handrail.fs.snapshot import Handle
from handrail.model.files import Directory
from handrail.model.paths import RealPath
from handrail.model.view import Tally

NAMES: Final = 500_000
"""Names that are remembered; the tree that wasn't asked for the longest is forgotten first."""
_EVERY: Final = 256
_DEEP: Final = 200
"""Handles that a walk may hold open; deeper directories are opened from the top."""
_GONE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
"""Something else stands there by now, perhaps a link."""
_FLAGS: Final = LISTING | os.O_NOFOLLOW

Descend = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class _Seen:
    """A directory as it was read: `inherited` are the rules from above, `own` those that hold in it."""

    stamp: Stamp
    settled: bool
    inherited: Context
    own: Context
    watched: tuple[Watched, ...]
    directory: Directory
    children: "tuple[_Node, ...]"
    size: int
    others: int


@dataclass(slots=True, eq=False)
class _Node:
    """A place in a tree, and what was last seen there; several threads may replace that, each by the truth."""

    name: str
    relative: str
    seen: _Seen | None = None
    narrowed: tuple[Directory, Directory] | None = None


@dataclass(slots=True, eq=False)
class _Tree:
    root: _Node
    above: Above | None = None
    names: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """What a caller wants of a walk beside its bounds."""

    respect_ignore: bool = True
    descend: Descend = lambda _: True
    most: int | None = None


class Trees:
    """What was walked, by root; for all sessions and safe from any number of threads."""

    def __init__(self, names: int = NAMES) -> None:
        self._most = names
        self._lock = threading.Lock()
        self._trees: OrderedDict[tuple[object, ...], _Tree] = OrderedDict()

    def walk(self, root: RealPath, asked: Asked, *, bounds: Bounds, tally: Tally) -> Sequence[Directory] | None:
        """See `ReadableFileSystem.tree`."""
        key = (root.text, asked.respect_ignore, tuple(bounds.inside))
        with self._lock:
            tree = self._trees.get(key) or _Tree(_Node(root.text, "."))
        with typed(root.text):
            handle = Handle(open_directory(root.text, LISTING))
        walk = _Walk(handle, asked, bounds=bounds, tally=tally)
        try:
            tree.above = above(root.text, bounds.inside, tree.above, respect_ignore=asked.respect_ignore)
            found = walk.run(tree.root, tree.above.context)
        finally:
            handle.close()
        if walk.changed:
            self._keep(key, tree, walk.names if walk.whole else max(walk.names, tree.names))
        elif tree.names:
            self._touch(key)
        return found

    def names(self, root: RealPath, bounds: Bounds, tally: Tally, *, respect_ignore: bool) -> Iterator[str]:
        """See `ReadableFileSystem.walk`."""
        sieve = Context().below(root.text, b"", "\n".join(bounds.leave_out).encode(errors="surrogateescape"))
        asked = Asked(respect_ignore, lambda name: not sieve.hides(name))
        left = bounds.max_entries
        for directory in self.walk(root, asked, bounds=bounds, tally=tally) or ():
            base = directory.name.rstrip("/") + "/"
            out = sieve.left_out(directory.name, directory.files, ())
            shown = [base + name for name in directory.files if name not in out]
            yield from shown[:left]
            left -= len(shown)
            if left < 0:
                tally.complete = False
                return

    def _keep(self, key: tuple[object, ...], tree: _Tree, names: int) -> None:
        with self._lock:
            tree.names = names
            self._trees[key] = tree
            self._trees.move_to_end(key)
            while sum(kept.names for kept in self._trees.values()) > self._most:
                self._trees.popitem(last=False)

    def _touch(self, key: tuple[object, ...]) -> None:
        with self._lock:
            if key in self._trees:
                self._trees.move_to_end(key)


class _Walk:
    """One walk: what it may spend, and what it found so far."""

    def __init__(self, handle: Handle, asked: Asked, *, bounds: Bounds, tally: Tally) -> None:
        self._root = handle
        self._asked = asked
        self._bounds = bounds
        self._tally = tally
        self._until = time.monotonic() + bounds.seconds
        self.names = 0
        self.changed = False
        self.whole = False

    def run(self, root: _Node, context: Context) -> Sequence[Directory] | None:
        """The directories from the root down, `None` when there are too many files."""
        found: list[Directory] = []
        files = 0
        most = self._asked.most
        stack: list[tuple[_Node, Context, Handle | None]] = [(root, context, None)]
        while stack:
            if not len(found) % _EVERY and self._is_over():
                return found
            node, inherited, above = stack.pop()
            seen = node.seen
            handle: Handle | None = None
            if seen is None or not self._still(node, seen, inherited):
                read = self._read(node, inherited, above, seen)
                if read is None:
                    continue
                seen, handle = read
            directory, children = self._narrowed(node, seen)
            found.append(directory)
            self.names += seen.size
            files += len(directory.files)
            if most is not None and files > most:
                return None
            if self.names > self._bounds.max_entries:
                self._tally.complete = False
                return found
            own = seen.own
            stack.extend([(child, own, handle) for child in children])
        self.whole = True
        return found

    def _still(self, node: _Node, seen: _Seen, inherited: Context) -> bool:
        """Whether a directory is as it was: one look at it, one at each of its ignore files."""
        if not seen.settled or seen.inherited is not inherited:
            return False
        try:
            found = os.stat(node.relative, dir_fd=self._root.number, follow_symlinks=False)
        except OSError:
            return False
        return stamp(found) == seen.stamp and (
            not seen.watched or listing.unchanged(seen.watched, self._root.number, node.relative)
        )

    def _read(
        self, node: _Node, inherited: Context, above: Handle | None, old: _Seen | None
    ) -> tuple[_Seen, Handle | None] | None:
        self.changed = True
        try:
            handle = self._open(node, above)
            now = time.time_ns()
            known = stamp(os.fstat(handle.number))
            names = listing.names(handle.number, self._is_over)
            watched = listing.watched(handle.number, names)
        except OSError as error:
            if error.errno not in _GONE:
                self._tally.skip("unreadable")
            return None
        own = _own(node, inherited, names, watched, old)
        seen = _seen(node, own, names, old)
        fresh = _Seen(known, names.whole and settled(known, now), inherited, own, watched, *seen, names.others)
        node.seen = fresh
        return fresh, handle if node.relative.count("/") < _DEEP else None

    def _open(self, node: _Node, above: Handle | None) -> Handle:
        if node.relative == ".":
            return Handle(os.dup(self._root.number))
        if above is None:
            return Handle(open_directory(node.name, LISTING))
        return Handle(os.open(node.relative.rpartition("/")[2], _FLAGS, dir_fd=above.number))

    def _narrowed(self, node: _Node, seen: _Seen) -> tuple[Directory, Sequence[_Node]]:
        """The directory with those children alone that the caller wants to be walked."""
        descend = self._asked.descend
        whole = seen.directory
        wanted = [child for child in seen.children if descend(child.name)]
        if len(wanted) == len(seen.children):
            return whole, wanted
        names = tuple(child.name.rpartition("/")[2] for child in wanted)
        last = node.narrowed
        if last is None or last[0] is not whole or last[1].directories != names:
            last = node.narrowed = (whole, Directory(whole.name, whole.files, names, whole.links, whole.ignored))
        return last[1], wanted

    def _is_over(self) -> bool:
        cancellation = self._bounds.cancellation
        if time.monotonic() < self._until and not (cancellation is not None and cancellation.cancelled):
            return False
        self._tally.complete = False
        return True


def _own(
    node: _Node, inherited: Context, names: listing.Listing, watched: tuple[Watched, ...], old: _Seen | None
) -> Context:
    """The rules that hold in a directory; the same object as before when neither they nor what is above changed."""
    if not watched and not names.repository:
        return inherited
    if old is not None and old.inherited is inherited and _same(old.watched, watched):
        return old.own
    said = {file.name: file.data for file in watched}
    gitignore, ignore = (said.get(name, b"") for name in ignores.FILES)
    if names.repository and node.relative != "." and not inherited.lifted:
        inherited = ignores.repository(node.name)
    return inherited.below(node.name, gitignore, ignore)


def _same(old: Sequence[Watched], new: Sequence[Watched]) -> bool:
    return [(file.name, file.data) for file in old] == [(file.name, file.data) for file in new]


def _seen(
    node: _Node, own: Context, names: listing.Listing, old: _Seen | None
) -> tuple[Directory, tuple[_Node, ...], int]:
    left = own.left_out(node.name, names.files + names.links, names.directories)
    files, directories, links = names.files, names.directories, names.links
    ignored: tuple[str, ...] = ()
    if left:
        ignored = tuple([n for n in files + links if n in left] + [n + "/" for n in directories if n in left])
        files, directories, links = (tuple(n for n in kind if n not in left) for kind in (files, directories, links))
    size = len(files) + len(directories) + len(links) + len(ignored)
    before = old.directory if old is not None and (old.own, old.others) == (own, names.others) else None
    known = {} if old is None else {child.name: child for child in old.children}
    base = node.name.rstrip("/") + "/"
    inner = "" if node.relative == "." else node.relative + "/"
    children = tuple([known.get(base + name) or _Node(base + name, inner + name) for name in directories])
    if before is not None and (before.files, before.directories, before.links, before.ignored) == (
        files,
        directories,
        links,
        ignored,
    ):
        return before, children, size
    return Directory(node.name, files, directories, links, ignored), children, size
