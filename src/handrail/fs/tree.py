"""Walks directories by their handles under the ignore rules, and remembers each until it changes.

Nothing is reached through a link. What policy says of a name isn't known here: `descend` says it.
"""

import errno
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from handrail.fs import listing
from handrail.fs.above import Above, above
from handrail.fs.descent import HANDLE, LISTING, open_directory, shut
from handrail.fs.failures import typed
from handrail.fs.ignores import Context
from handrail.fs.listing import settled, stamp
from handrail.fs.nodes import Node, Seen, own_rules, what_is_seen
from handrail.fs.omitted import Omitted, omitted
from handrail.fs.protocol import Bounds
from handrail.model.files import Directory
from handrail.model.paths import RealPath
from handrail.model.view import Tally

NAMES: Final = 500_000
"""Names that are remembered; the tree that wasn't asked for the longest is forgotten first."""
_EVERY: Final = 256
_DEEP: Final = 200
"""Handles that a walk may hold open; what lies deeper is opened from the top."""
_GONE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
"""Something else stands there by now, perhaps a link."""
_FLAGS: Final = LISTING | os.O_NOFOLLOW

Descend = Callable[[str], bool]


@dataclass(slots=True, eq=False)
class _Tree:
    root: Node
    above: Above | None = None
    names: int = 0
    whole: bool = False


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
            tree = self._trees.get(key) or _Tree(Node(root.text, "."))
        with typed(root.text):
            handle = open_directory(root.text, HANDLE)
        walk = _Walk(handle, asked, bounds=bounds, tally=tally)
        try:
            tree.above = above(root.text, bounds.inside, tree.above, respect_ignore=asked.respect_ignore)
            found = walk.run(tree.root, tree.above.context)
        finally:
            shut(handle)
        tree.whole = tree.whole or walk.whole
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

    def omitted(self, root: str, inside: Sequence[str]) -> Omitted | None:
        """What the ignore rules leave out below a root, as it was seen last; `None` = it isn't remembered."""
        with self._lock:
            tree = self._trees.get((root, True, tuple(inside)))
        return None if tree is None or not tree.whole else omitted(root, _ignored(tree.root))

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


_Stack = list[tuple[Iterator[Node], Context, int]]
"""For each directory on the way: which of its children are left, its rules and its handle, if it was read just now."""


class _Walk:
    """One walk: what it may spend, and what it found so far."""

    def __init__(self, handle: int, asked: Asked, *, bounds: Bounds, tally: Tally) -> None:
        self._root = handle
        self._asked = asked
        self._bounds = bounds
        self._tally = tally
        self._until = time.monotonic() + bounds.seconds
        self.names = 0
        self.changed = False
        self.whole = False

    def run(self, root: Node, context: Context) -> Sequence[Directory] | None:
        """The directories from the root down, `None` when there are too many files."""
        stack: _Stack = [(iter((root,)), context, -1)]
        try:
            return self._found(stack)
        finally:
            for _, _, handle in stack:
                if handle >= 0:
                    shut(handle)

    def _found(self, stack: _Stack) -> Sequence[Directory] | None:
        found: list[Directory] = []
        files = names = 0
        most = sys.maxsize if self._asked.most is None else self._asked.most
        while stack:
            nodes, inherited, above = stack[-1]
            for node in nodes:
                if not len(found) % _EVERY and self._is_over():
                    return found
                seen = node.seen
                handle = -1
                if seen is None or seen.inherited is not inherited or not self._still(node, seen):
                    seen, handle = self._read(node, inherited, above, keep=len(stack) < _DEEP)
                    if seen is None:
                        continue
                directory, children = self._narrowed(node, seen) if seen.children else (seen.directory, ())
                found.append(directory)
                files += len(directory.files)
                self.names = names = names + seen.size
                if children or handle >= 0:
                    stack.append((iter(children), seen.own, handle))
                if files > most:
                    return None
                if names > self._bounds.max_entries:
                    self._tally.complete = False
                    return found
                if children or handle >= 0:
                    break
            else:
                stack.pop()
                if above >= 0:
                    shut(above)
        self.whole = True
        return found

    def _still(self, node: Node, seen: Seen) -> bool:
        """Whether a directory is as it was: one look at it, one at each of its ignore files."""
        try:
            found = os.stat(node.relative, dir_fd=self._root, follow_symlinks=False)
        except OSError:
            return False
        return (
            seen.stamp == (found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev)
            and seen.settled
            and (not seen.watched or listing.unchanged(seen.watched, self._root, node.relative))
        )

    def _read(self, node: Node, inherited: Context, above: int, *, keep: bool) -> tuple[Seen | None, int]:
        """What stands there now and, to `keep`, its handle, which is the caller's to close."""
        self.changed = True
        handle = -1
        try:
            handle = self._open(node, above)
            now = time.time_ns()
            known = stamp(os.fstat(handle))
            names = listing.names(handle, self._is_over)
            watched = listing.watched(handle, names)
        except OSError as error:
            if error.errno not in _GONE:
                self._tally.skip("unreadable")
            if handle >= 0:
                shut(handle)
            return None, -1
        own = own_rules(node, inherited, names, watched)
        directory, children, size = what_is_seen(node, own, names)
        seen = Seen(
            known,
            names.whole and settled(known, now),
            inherited,
            own,
            watched,
            directory,
            children,
            size,
        )
        node.seen = seen
        if not keep:
            shut(handle)
        return seen, handle if keep else -1

    def _open(self, node: Node, above: int) -> int:
        if node.relative == ".":
            return os.open(".", _FLAGS, dir_fd=self._root)
        if above < 0:
            return open_directory(node.name, LISTING)
        return os.open(node.relative[node.relative.rfind("/") + 1 :], _FLAGS, dir_fd=above)

    def _narrowed(self, node: Node, seen: Seen) -> tuple[Directory, Sequence[Node]]:
        """The directory with those children alone that the caller wants to be walked."""
        descend = self._asked.descend
        whole = seen.directory
        wanted = [child for child in seen.children if descend(child.name)]
        if len(wanted) == len(seen.children):
            return whole, wanted
        names = tuple(child.name.rpartition("/")[2] for child in wanted)
        last = node.narrowed
        if last is None or last[0] is not whole or last[1].directories != names:
            last = node.narrowed = (whole, replace(whole, directories=names))
        return last[1], wanted

    def _is_over(self) -> bool:
        cancellation = self._bounds.cancellation
        if time.monotonic() < self._until and not (cancellation is not None and cancellation.cancelled):
            return False
        self._tally.complete = False
        return True


def _ignored(root: Node) -> Iterator[Sequence[str]]:
    stack = [root]
    while stack:
        node = stack.pop()
        seen = node.seen
        if seen is not None:
            stack += seen.children
            if seen.directory.ignored:
                base = node.name.rstrip("/") + "/"
                yield [base + name for name in seen.directory.ignored]
