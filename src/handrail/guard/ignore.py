"""What `.handrailignore` files hide: gitignore syntax, read in the roots and below, deciding for every tool alike.

A file that can't be read hides all that lies beside it: a rule that isn't understood never shows a file.
"""

import os
import re
import threading
import warnings
from collections import OrderedDict
from collections.abc import Container
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Protocol

from handrail.fs.protocol import ReadableFileSystem
from handrail.guard.resolve import Resolver
from handrail.guard.standing import Standing
from handrail.model.errors import HandrailError, NotThere, OutOfDate
from handrail.model.files import Stat
from handrail.model.paths import RealPath, within

NAME: Final = ".handrailignore"
MAX_BYTES: Final = 1 << 20
"""A larger file isn't read, so it hides all that lies beside it."""
_KEPT: Final = 4096

_Key = tuple[str, int, int, int, int]


class Said(Protocol):
    """A file's word on one path."""

    @property
    def include(self) -> bool | None:
        """Hidden, shown again, or not named."""
        ...


class Spec(Protocol):
    """Compiled gitignore rules."""

    def check_file(self, file: str, /) -> Said:
        """What the last pattern that names the relative path says; a directory ends in a slash."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """The rules of one file, relative to `directory`; `None` = it couldn't be read."""

    directory: str
    spec: Spec | None

    def says(self, path: str, *, directory: bool) -> bool | None:
        """Whether the path below the directory is hidden (`True`), shown again (`False`) or not named."""
        if self.spec is None:
            return True
        relative = path[len(self.directory.rstrip("/")) + 1 :]
        return self.spec.check_file(relative + "/" if directory else relative).include


@dataclass(frozen=True, slots=True)
class Folder:
    """A directory: whether it is hidden as a whole, and the rules that hold for its children, the nearest first."""

    hidden: bool
    rules: tuple[Rules, ...]

    def hides(self, path: str, *, directory: bool) -> bool:
        """Whether a child is hidden: the word of the nearest file that names it."""
        for rules in self.rules:
            word = rules.says(path, directory=directory)
            if word is not None:
                return word
        return self.hidden


_HIDDEN: Final = Folder(True, ())


@dataclass(slots=True)
class Look:
    """The files as one call sees them: each directory of a root is asked once.

    `bare`: directories that are known to hold no such file; `bearers`: those in which one was found. `places`: what a
    policy found out of each directory.
    """

    folders: dict[str, dict[str, Folder]] = field(default_factory=dict)
    bare: Container[str] = frozenset()
    bearers: set[str] = field(default_factory=set)
    places: dict[str, tuple[Standing, tuple[Folder, ...], bool]] = field(default_factory=dict)

    def below(self, root: str) -> dict[str, Folder]:
        """What is known of the directories of a root."""
        found = self.folders.get(root)
        if found is None:
            found = self.folders[root] = {}
        return found


class IgnoreFiles:
    """All `.handrailignore` files of a workspace, parsed once for each state they are in; safe from many threads."""

    def __init__(self, fs: ReadableFileSystem, resolver: Resolver) -> None:
        self._fs = fs
        self._resolver = resolver
        self._top = resolver.directory("/")
        self._lock = threading.Lock()
        self._parsed: OrderedDict[_Key, Rules] = OrderedDict()

    def hides(self, path: str, root: str, *, directory: bool, look: Look | None = None) -> bool:
        """Whether a file in `root` or below hides the real path, itself or a directory above it.

        Without a `look` the path is one that was named: whether it is a directory is seen here.
        """
        if path == root or not within(path, root):
            return False
        folder = self.folder(path.rpartition("/")[0] or "/", root, Look() if look is None else look)
        if folder.hidden or not folder.rules:
            return folder.hidden
        return folder.hides(path, directory=directory or (look is None and self._is_directory(path)))

    def folder(self, directory: str, root: str, look: Look) -> Folder:
        """The rules that hold in a directory, the root or one below it."""
        known = look.below(root)
        found = known.get(directory)
        if found is not None:
            return found
        if directory == root:
            found = Folder(False, self.read(root, look))
        else:
            above = self.folder(directory.rpartition("/")[0] or "/", root, look)
            if above.hidden or above.hides(directory, directory=True):
                found = _HIDDEN
            else:
                rules = self.read(directory, look)
                found = Folder(False, rules + above.rules) if rules else above
        if found.rules and found.rules[0].directory == directory:
            look.bearers.add(directory)
        known[directory] = found
        return found

    def read(self, directory: str, look: Look) -> tuple[Rules, ...]:
        """The rules of the file in a directory: none, or one, the same object as long as the file is the same."""
        if directory in look.bare:
            return ()
        name = directory.rstrip("/") + "/" + NAME
        try:
            path, stat = self._standing(name)
            if stat is None or stat.kind == "directory":
                return ()
            return (self._kept(directory, path.text, stat) or self._parse(directory, path, stat),)
        except NotThere:
            return ()
        except HandrailError:
            return (Rules(directory, None),)

    def _standing(self, name: str) -> tuple[RealPath, Stat | None]:
        """What stands at the name, its links followed; there are none as a rule, so they are looked for last."""
        path = self._resolver.beneath(self._top, name)
        if path is not None:
            with suppress(OutOfDate):
                stat = self._fs.stat(path)
                if stat is None or stat.kind != "symlink":
                    return path, stat
        path = self._resolver.directory(name)
        return path, self._fs.stat(path)

    def _is_directory(self, path: str) -> bool:
        try:
            stat = self._fs.stat(self._resolver.directory(path))
        except HandrailError:
            return False
        return stat is not None and stat.kind == "directory"

    def _kept(self, directory: str, path: str, stat: Stat) -> Rules | None:
        with self._lock:
            return self._parsed.get(_key(directory, path, stat))

    def _parse(self, directory: str, path: RealPath, stat: Stat) -> Rules:
        snapshot = self._fs.open(path)
        if snapshot.stat.size > MAX_BYTES:
            return Rules(directory, None)
        rules = Rules(directory, spec(snapshot.read(0, MAX_BYTES)))
        with self._lock:
            self._parsed[_key(directory, path.text, stat)] = rules
            while len(self._parsed) > _KEPT:
                self._parsed.popitem(last=False)
        return rules


def spec(data: bytes) -> Spec:
    """The rules of a file's bytes; a line that is no pattern names nothing, as in git."""
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore import GitIgnorePatternError

    def is_pattern(line: str) -> bool:
        try:
            GitIgnoreSpec.from_lines([line], backend="simple")
        except (GitIgnorePatternError, re.error):
            return False
        return True

    lines = [os.fsdecode(line.removesuffix(b"\r")) for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # `[[` in somebody's pattern is no concern of the log's
        found: Spec = GitIgnoreSpec.from_lines([line for line in lines if is_pattern(line)], backend="simple")
    return found


def _key(directory: str, path: str, stat: Stat) -> _Key:
    return (f"{directory}\0{path}", stat.mtime_ns, stat.ctime_ns, stat.size, stat.inode)
