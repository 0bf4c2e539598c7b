"""What the configuration and the `.editorconfig` files above a path declare of its text.

`.editorconfig` is looked for in each directory from the file's up to its root, or to one that says `root = true`; it is
read as any file is: through no link, and not where policy hides it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from handrail.fs.protocol import ReadableFileSystem
from handrail.guard.globs import PathSet, Place
from handrail.guard.resolve import Resolver
from handrail.model.errors import HandrailError
from handrail.model.files import Stat
from handrail.model.paths import RealPath, within
from handrail.text.declared import NOTHING, Declared, Sections, from_properties

NAME: Final = ".editorconfig"
MAX_BYTES: Final = 128 * 1024
_KEPT: Final = 256


class Declarations:
    """The one place to ask; safe from many threads.

    `rules`: `(policy glob, encoding)`, the last that names a path decides, before any `.editorconfig`.
    """

    def __init__(
        self,
        fs: ReadableFileSystem,
        resolver: Resolver,
        place: Place,
        *,
        rules: Sequence[tuple[str, str]] = (),
        shows: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._fs = fs
        self._resolver = resolver
        self._top = resolver.directory("/")
        self._roots = tuple(sorted(place.roots or ("/",), key=len))
        self._globs = PathSet([glob for glob, _ in rules], place)
        self._rules = tuple(rules)
        self._shows = shows
        self._parsed: dict[str, tuple[tuple[int, ...], Sections]] = {}

    def of(self, path: RealPath) -> Declared:
        """What is declared of the file; a file that can't be read declares nothing."""
        found = from_properties(self._properties(path.text)) if self._root(path.text) else NOTHING
        index = self._globs.last(path.text) if self._globs else -1
        return found if index < 0 else replace(found, encoding=self._rules[index][1], mark=False)

    def _root(self, path: str) -> str:
        return next((root for root in self._roots if within(path, root)), "")

    def _properties(self, path: str) -> dict[str, str]:
        root = self._root(path).rstrip("/")
        found: dict[str, str] = {}
        directory = path.rpartition("/")[0]
        while True:
            sections = self._sections(directory)
            if sections is not None:
                found = sections.of(path[len(directory) + 1 :]) | found
                if sections.root:
                    return found
            if directory == root or not directory:
                return found
            directory = directory.rpartition("/")[0]

    def _sections(self, directory: str) -> Sections | None:
        try:
            path = self._resolver.beneath(self._top, f"{directory}/{NAME}")
            stat = None if path is None else self._fs.stat(path)
            if path is None or stat is None or stat.kind != "file" or stat.size > MAX_BYTES:
                return None
            return self._read(path, stat) if self._shows(path.text) else None
        except HandrailError:
            return None

    def _read(self, path: RealPath, stat: Stat) -> Sections:
        version = stat.device, stat.inode, stat.size, stat.mtime_ns, stat.ctime_ns
        known = self._parsed.get(path.text)
        if known is not None and known[0] == version:
            return known[1]
        parsed = Sections(self._fs.open(path).read(0, MAX_BYTES).decode("utf-8", "replace"))
        if len(self._parsed) >= _KEPT:
            self._parsed = {}
        self._parsed[path.text] = version, parsed
        return parsed
