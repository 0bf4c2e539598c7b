"""Which files a query's glob names: below its directory, or the one file whose literal name it happens to be."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from handrail.model.answers import Listed
from handrail.model.errors import InvalidCall
from handrail.model.paths import RealPath, unescaped, within
from handrail.model.view import Tally, View
from handrail.text import globs
from handrail.text.globs import Matcher

_PLAIN: Final = frozenset("/[]{}!\\:")
_MOST_NAMES: Final = 64


@dataclass(frozen=True, slots=True)
class Scope:
    """One query's files: everything below `directory` that `glob` names, or `directory` itself when it is a file."""

    directory: RealPath
    glob: str | None
    matches: Callable[[str], bool]
    only: RealPath | None = None

    def holds(self, path: str) -> bool:
        """Whether an absolute path is one of them."""
        if self.only is not None:
            return path == self.only.text
        if path == self.directory.text:
            return True
        return within(path, self.directory.text) and self.matches(path)


def scope(directory: RealPath, glob: str | None, view: View) -> Scope:
    """Compile a query's glob; a literal path that holds glob characters and exists wins over what they mean.

    Raises `InvalidCall` `invalid_glob`.
    """
    if glob is None:
        return Scope(directory, None, lambda _: True)
    only = None if globs.is_literal(glob) else literal(directory, glob, view)
    if only is not None:
        return Scope(directory, glob, lambda _: True, only)
    match = Matcher([glob]).match
    if glob.startswith("/"):
        return Scope(directory, glob, match)
    start = len(directory.text.rstrip("/")) + 1
    return Scope(directory, glob, lambda path: match(path[start:]))


def literal(directory: RealPath, name: str, view: View) -> RealPath | None:
    """The regular file at this name below the directory, if there is one that the view shows."""
    for spelled in dict.fromkeys((name, unescaped(name))):
        place: RealPath | None = directory
        for part in spelled.removeprefix("./").split("/"):
            if part in {"", ".", ".."} or "\0" in part or len(part) > 255:
                place = None
            place = view.child(place, part) if place is not None else None
            if place is None:
                break
        stat = view.stat(place) if place is not None else None
        if place is not None and stat is not None and stat.kind == "file":
            return place
    return None


def names(patterns: Sequence[str | None]) -> Sequence[str]:
    """Globs for the last component alone that all files of these globs have; empty where that says nothing."""
    found: dict[str, None] = {}
    for pattern in patterns:
        if pattern is None:
            return ()
        for alternative in globs.expand(pattern):
            name = alternative.rpartition("/")[2]
            if not name or "**" in name or name == "*" or not _PLAIN.isdisjoint(name) or not name.isprintable():
                return ()
            found[name] = None
    return tuple(found) if len(found) <= _MOST_NAMES else ()


def newest(scopes: Iterable[Scope], view: View, tally: Tally, *, respect_ignore: bool) -> list[Listed]:
    """The files of all scopes, each once, newest modification first, ties by path."""
    found: dict[str, Listed] = {}
    for one in scopes:
        for path in _named(one, view, tally, respect_ignore=respect_ignore):
            if path.text in found:
                continue
            stat = view.stat(path)
            if stat is not None and stat.kind == "file":
                found[path.text] = Listed(path=path.text, kind="file", size=stat.size, mtime_ns=stat.mtime_ns)
    return sorted(found.values(), key=lambda file: (-file.mtime_ns, file.path))


def _named(one: Scope, view: View, tally: Tally, *, respect_ignore: bool) -> Iterator[RealPath]:
    if one.only is not None:
        yield one.only
        return
    if one.glob is not None and globs.is_literal(one.glob):
        named = literal(one.directory, one.glob, view)
        if named is not None:
            yield named
    for path in view.walk(one.directory, tally, respect_ignore=respect_ignore):
        if one.holds(path.text):
            yield path


def check_glob(glob: str) -> None:
    """Refuse a glob that can't be read, before anything is walked; raises `InvalidCall` `invalid_glob`."""
    if "\0" in glob:
        raise InvalidCall("invalid_glob", "The glob holds a NUL character, which no name has.", facts={"position": 1})
    globs.to_regex(glob)
