"""Which files of a large tree aren't UTF-8 text as they stand: an index that is kept true by what changed in the tree.

ripgrep reads bytes; in these files its rows aren't those of the text, so they are looked at in the process. That a file
was rewritten in its place shows in no directory: `rewritten` looks at every file, which is done before absence is told.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final
from weakref import WeakKeyDictionary

from handrail.model.files import Directory
from handrail.model.view import Sifted, View
from handrail.search import rows

TREES: Final = 16
"""Trees whose odd files are remembered."""
LARGEST: Final = 64 << 20
"""Larger files aren't looked at."""
_FEW: Final = 0.2
_MARGIN: Final = 3_000_000_000
"""Nanoseconds by which a file's time of change may lag behind the clock."""


@dataclass(slots=True)
class _Known:
    seen: dict[str, Directory] = field(default_factory=dict)
    odd: dict[str, frozenset[str]] = field(default_factory=dict)
    looked: int = 0


class OddFiles:
    """The odd files of the trees that were searched last; safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._trees: OrderedDict[tuple[str, bool], _Known] = OrderedDict()
        self._binaries: WeakKeyDictionary[Directory, frozenset[str]] = WeakKeyDictionary()

    def binaries(self, directory: Directory) -> frozenset[str]:
        """Files of a directory that were looked at and are no text, as long as nothing in it changed."""
        return self._binaries.get(directory, frozenset())

    def note(self, directory: Directory, binary: str) -> None:
        """Remember that a file is no text."""
        with self._lock:
            self._binaries[directory] = self._binaries.get(directory, frozenset()) | {binary}

    def of(
        self, tree: Sequence[Sifted], view: View, *, respect_ignore: bool, find: Callable[[], Iterable[str]]
    ) -> dict[str, frozenset[str]]:
        """Names of the odd files by directory. `find` looks through the whole tree, where most of it is new."""
        with self._lock:
            known = self._trees.setdefault((tree[0].path.text, respect_ignore), _Known())
            self._trees.move_to_end((tree[0].path.text, respect_ignore))
            while len(self._trees) > TREES:
                self._trees.popitem(last=False)
        now = view.now()
        fresh = [place for place in tree if known.seen.get(place.directory.name) is not place.directory]
        if len(fresh) > _FEW * len(tree):
            odd = _grouped(find())
        else:
            odd = {name: known.odd[name] for name in known.odd if name in known.seen}
            for place in fresh:
                odd[place.directory.name] = _looked(place, known, view)
        seen = {place.directory.name: place.directory for place in tree}
        with self._lock:
            known.seen, known.odd, known.looked = seen, {name: found for name, found in odd.items() if found}, now
        return known.odd

    def rewritten(self, tree: Sequence[Sifted], view: View, *, respect_ignore: bool) -> bool:
        """Whether a file of a tree was rewritten in its place since the index was made; `of` then looks at it anew."""
        known = self._trees[tree[0].path.text, respect_ignore]
        since = known.looked - _MARGIN
        found = False
        for place in tree:
            view.check()
            if view.rewritten(place, since):
                found = True
                with self._lock:
                    known.seen.pop(place.directory.name, None)
                    self._binaries.pop(place.directory, None)
        return found


def _grouped(paths: Iterable[str]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for path in paths:
        directory, _, name = path.rpartition("/")
        found.setdefault(directory or "/", set()).add(name)
    return {directory: frozenset(names) for directory, names in found.items()}


def _looked(place: Sifted, known: _Known, view: View) -> frozenset[str]:
    """The odd files of a directory in which something changed; only what is new in it is read."""
    name = place.directory.name
    before = known.seen.get(name)
    old = frozenset(before.files) if before is not None else frozenset()
    odd = set(known.odd.get(name, frozenset()) & place.open)
    check = [file for file in place.open if file not in old]
    facts = view.load(place, [file for file in place.open if file in old], most=-1)
    since = known.looked - _MARGIN
    check += [loaded.name for loaded in facts if loaded.stat is not None and loaded.stat.ctime_ns > since]
    for loaded in view.load(place, check, most=LARGEST):
        odd.discard(loaded.name)
        if loaded.data is not None and rows.plain(loaded.data) is None:
            odd.add(loaded.name)
    return frozenset(odd)
