"""What policy shows of a tree: which directories are walked, which names in each are open, sensitive or hidden.

It remembers by `Directory` object what it said of each, and says it again as long as no rule changed. Safe from many
threads.
"""

import operator
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final
from weakref import WeakKeyDictionary

from handrail.fs.protocol import Bounds, ReadableFileSystem
from handrail.guard.ignore import NAME, Look, Rules
from handrail.guard.policy import Policy
from handrail.guard.resolve import Resolver
from handrail.guard.standing import Standing
from handrail.model.files import Directory
from handrail.model.paths import RealPath, within
from handrail.model.view import Sifted, Tally

_TREES: Final = 8
_STATES: Final = 8
_KEPT: Final = 1 << 18
_TRIES: Final = 3

_Key = tuple[tuple[str, tuple[Rules, ...]], ...]
_InForce = tuple[tuple[Rules, ...], ...]
"""The rules of ignore files that hold in a directory, for each root that it lies in."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree as policy shows it, by the names of its directories too; `secrets` are paths of sensitive files in it."""

    places: Sequence[Sifted]
    by_name: Mapping[str, Sifted]
    secrets: frozenset[str]


class _Walked(dict[str, bool]):
    """Whether each directory may be walked, found out when it is first asked for."""

    def __init__(self, policy: Policy, look: Look) -> None:
        super().__init__()
        self._policy = policy
        self._look = look

    def __missing__(self, directory: str) -> bool:
        may = self[directory] = self._policy.may_walk(directory, self._look)
        return may


@dataclass(slots=True, eq=False)
class _State:
    """What follows from one state of the ignore files; `spoilt` by a file that `key` doesn't tell of."""

    key: _Key
    look: Look
    walked: _Walked
    spoilt: bool = False


@dataclass(frozen=True, slots=True)
class _Kept:
    state: _State
    directories: Sequence[Directory]
    tree: Tree


@dataclass(frozen=True, slots=True)
class Request:
    """What a tree is asked for: see `View.tree`."""

    root: RealPath
    bounds: Bounds
    respect_ignore: bool = True
    most: int | None = None


class Sieve:
    """The sifting of one policy."""

    def __init__(self, policy: Policy, resolver: Resolver) -> None:
        self._policy = policy
        self._resolver = resolver
        self._lock = threading.Lock()
        self._bearers: set[str] = set()
        self._bare: set[str] = set()
        self._states: OrderedDict[_Key, _State] = OrderedDict()
        self._trees: OrderedDict[tuple[str, bool], _Kept] = OrderedDict()
        self._sifted: WeakKeyDictionary[Directory, tuple[_InForce, Sifted]] = WeakKeyDictionary()

    def tree(self, fs: ReadableFileSystem, request: Request, tally: Tally) -> Tree | None:
        """The tree below a directory that may be walked itself; `None` for too many files.

        A directory that may not be walked is never touched; only where an ignore file is new since the last call,
        what it hides may be touched once, and shows nowhere: then the backend, which remembers, is asked again.
        """
        seen: Sequence[Directory] = ()
        for _ in range(_TRIES):
            state = self._state(request.root.text)
            directories = fs.tree(
                request.root,
                request.bounds,
                tally,
                respect_ignore=request.respect_ignore,
                descend=state.walked.__getitem__,
                most=request.most,
            )
            if directories is None:
                if not state.look.bearers <= {name for name, _ in state.key}:
                    self._spoil(state)
                return None
            kept = self._trees.get((request.root.text, request.respect_ignore))
            if kept is not None and kept.state is state and _same(kept.directories, directories):
                return kept.tree
            if not self._notices(directories, state):
                return self._tree(request, directories, state)
            seen = directories
            self._spoil(state)
        return self._tree(request, seen, self._state(request.root.text))

    def _tree(self, request: Request, directories: Sequence[Directory], state: _State) -> Tree:
        places: list[Sifted] = []
        changing = False
        for directory in directories:
            if not state.walked[directory.name]:
                continue
            standing = self._policy.standing(directory.name)
            changing = changing or standing.changing
            place = self._place(request.root, directory, standing, state)
            if place is not None:
                places.append(place)
        secrets = (f"{p.directory.name.rstrip('/')}/{name}" for p in places if p.sensitive for name in p.sensitive)
        tree = Tree(places, {place.directory.name: place for place in places}, frozenset(secrets))
        if not changing:
            self._keep(request, directories, state, tree)
        return tree

    def _place(self, root: RealPath, directory: Directory, standing: Standing, state: _State) -> Sifted | None:
        rules: _InForce = tuple(
            self._policy.ignores.folder(directory.name, each, state.look).rules for each in standing.roots
        )
        known = self._sifted.get(directory)
        if known is not None and known[0] == rules and not standing.changing:
            return known[1]
        path = self._resolver.beneath(root, directory.name)
        if path is None:
            return None
        names = self._shown(directory, standing, state)
        sensitive = frozenset(self._policy.sensitive.those(directory.name, names)) if names else _NONE
        place = Sifted(
            path,
            directory,
            frozenset(names) - sensitive if sensitive else frozenset(names),
            sensitive,
            child=partial(self._resolver.listed, path),
        )
        if not standing.changing:
            self._sifted[directory] = (rules, place)
        return place

    def _shown(self, directory: Directory, standing: Standing, state: _State) -> Sequence[str]:
        base = directory.name.rstrip("/") + "/"
        if standing.closed:
            return ()
        if standing.odd:
            return [n for n in directory.files if self._policy.visibility(base + n, look=state.look) != "hidden"]
        names = standing.those(directory.files)
        for root in standing.roots:
            folder = self._policy.ignores.folder(directory.name, root, state.look)
            if folder.hidden:
                return ()
            if folder.rules:
                names = [name for name in names if not folder.hides(base + name, directory=False)]
        return names

    # which ignore files there are

    def _state(self, root: str) -> _State:
        now = {name: self._policy.ignores.read(name, Look()) for name in {*self._bearers, *self._above(root)}}
        key = tuple(sorted((name, rules) for name, rules in now.items() if rules))
        with self._lock:
            self._bearers.difference_update(name for name, rules in now.items() if not rules)
            self._bearers.update(name for name, _ in key)
            self._bare.difference_update(self._bearers)
            known = self._states.get(key)
        if known is not None:
            return known
        look = Look(bare=self._bare)
        return _State(key, look, _Walked(self._policy, look))

    def _above(self, directory: str) -> Iterator[str]:
        for root in self._policy.roots or ():
            place = directory
            while within(place, root):
                yield place
                if place in (root, "/"):
                    break
                place = place.rpartition("/")[0] or "/"

    def _notices(self, directories: Sequence[Directory], state: _State) -> bool:
        """Whether a directory that is seen for the first time, or anew, holds an ignore file nobody knew of."""
        found = set()
        for directory in directories:
            name = directory.name
            if directory in self._sifted or not state.walked[name] or not self._policy.standing(name).roots:
                continue
            if not _may_bear(directory) or not self._policy.ignores.read(name, Look()):
                self._bare.add(name)
            elif name not in self._bearers:
                found.add(name)
        with self._lock:
            self._bare.difference_update(found)
            self._bearers.update(found)
        return bool(found)

    def _spoil(self, state: _State) -> None:
        with self._lock:
            state.spoilt = True
            if self._states.get(state.key) is state:
                del self._states[state.key]

    def _keep(self, request: Request, directories: Sequence[Directory], state: _State, tree: Tree) -> None:
        with self._lock:
            if len(self._bare) > _KEPT:
                self._bare.clear()
            if state.spoilt or len(state.walked) > _KEPT:
                return
            self._states[state.key] = state
            self._trees[request.root.text, request.respect_ignore] = _Kept(state, directories, tree)
            if len(self._states) > _STATES:
                self._states.popitem(last=False)
            if len(self._trees) > _TREES:
                self._trees.popitem(last=False)


_NONE: Final[frozenset[str]] = frozenset()


def _may_bear(directory: Directory) -> bool:
    """Whether an ignore file may stand there, of whatever kind."""
    kinds = (directory.files, directory.links, directory.ignored)
    return directory.others > 0 or any(NAME in names for names in kinds)


def _same(known: Sequence[Directory], now: Sequence[Directory]) -> bool:
    return known is now or (len(known) == len(now) and all(map(operator.is_, known, now)))
