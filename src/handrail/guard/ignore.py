"""What `.handrailignore` files hide: gitignore syntax, read in the roots and below, deciding for every tool alike.

A file that can't be read hides all that lies beside it: a rule that isn't understood never shows a file.
"""

import os
import re
import threading
import warnings
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final, Protocol

from handrail.fs.protocol import ReadableFileSystem
from handrail.guard.resolve import Resolver
from handrail.model.errors import HandrailError, NotThere
from handrail.model.files import Stat
from handrail.model.paths import within

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


@dataclass(frozen=True, slots=True)
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


@dataclass(slots=True)
class Look:
    """The files as one call sees them: each directory is asked once."""

    folders: dict[str, Folder] = field(default_factory=dict)


class IgnoreFiles:
    """All `.handrailignore` files of a workspace, parsed once for each state they are in; safe from many threads."""

    def __init__(self, fs: ReadableFileSystem, resolver: Resolver) -> None:
        self._fs = fs
        self._resolver = resolver
        self._lock = threading.Lock()
        self._parsed: OrderedDict[_Key, Rules] = OrderedDict()

    def hides(self, path: str, root: str, *, directory: bool, look: Look | None = None) -> bool:
        """Whether a file in `root` or below hides the real path, itself or a directory above it.

        Without a `look` the path is one that was named: whether it is a directory is seen here.
        """
        if path == root or not within(path, root):
            return False
        folder = self._folder(path.rpartition("/")[0] or "/", root, Look() if look is None else look)
        if folder.hidden or not folder.rules:
            return folder.hidden
        return folder.hides(path, directory=directory or (look is None and self._is_directory(path)))

    def _folder(self, directory: str, root: str, look: Look) -> Folder:
        missing = []
        known = look.folders.get(root + "\0" + directory)
        while known is None and directory != root:
            missing.append(directory)
            directory = directory.rpartition("/")[0] or "/"
            known = look.folders.get(root + "\0" + directory)
        if known is None:
            known = look.folders[root + "\0" + root] = Folder(False, self._read(root))
        for name in reversed(missing):
            if known.hidden or known.hides(name, directory=True):
                known = Folder(True, ())
            else:
                known = Folder(False, self._read(name) + known.rules)
            look.folders[root + "\0" + name] = known
        return known

    def _is_directory(self, path: str) -> bool:
        try:
            stat = self._fs.stat(self._resolver.directory(path))
        except HandrailError:
            return False
        return stat is not None and stat.kind == "directory"

    def _read(self, directory: str) -> tuple[Rules, ...]:
        try:
            path = self._resolver.directory(directory.rstrip("/") + "/" + NAME)
            stat = self._fs.stat(path)
            if stat is None or stat.kind == "directory":
                return ()
            return (self._kept(directory, path.text, stat) or self._parse(directory, path.text, stat),)
        except NotThere:
            return ()
        except HandrailError:
            return (Rules(directory, None),)

    def _kept(self, directory: str, path: str, stat: Stat) -> Rules | None:
        with self._lock:
            return self._parsed.get(_key(directory, path, stat))

    def _parse(self, directory: str, path: str, stat: Stat) -> Rules:
        snapshot = self._fs.open(self._resolver.directory(path))
        if snapshot.stat.size > MAX_BYTES:
            return Rules(directory, None)
        rules = Rules(directory, spec(snapshot.read(0, MAX_BYTES)))
        with self._lock:
            self._parsed[_key(directory, path, stat)] = rules
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
