"""Which files a query's glob names: below its directory, or the one file whose literal name it happens to be."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final

from handrail.model.answers import Listed
from handrail.model.errors import InvalidCall
from handrail.model.files import Stat
from handrail.model.paths import RealPath, shown, unescaped, within
from handrail.model.view import Tally, View
from handrail.search import links
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


def of_type(file_type: str | None, view: View) -> Callable[[str], bool] | None:
    """Whether a path's name is of a type that ripgrep knows; raises `InvalidCall` for a type it doesn't."""
    if file_type is None:
        return None
    known = view.file_types().get(file_type)
    if known is None:
        raise InvalidCall(
            "invalid_arguments",
            f"No such file type: {shown(file_type)}.",
            hint="Use one of ripgrep's type names, such as py, js, rust, md, or narrow by glob instead.",
        )
    match = Matcher(known).match
    return lambda path: match(path.rpartition("/")[2])


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


@dataclass(frozen=True, slots=True, order=True)
class Named:
    """A file that a glob named; the newest sorts first, ties by path."""

    age: int
    path: str
    size: int = field(compare=False)


def newest(scopes: Iterable[Scope], view: View, tally: Tally, *, respect_ignore: bool) -> list[Named]:
    """The files of all scopes, each once, newest modification first, ties by path."""
    found: dict[str, Named] = {}
    for one in scopes:
        for path, stat in _named(one, view, tally, respect_ignore=respect_ignore):
            if stat is not None and stat.kind == "file":
                found[path] = Named(-stat.mtime_ns, path, stat.size)
    return sorted(found.values(), key=attrgetter("age", "path"))


def listed(files: Iterable[Named]) -> list[Listed]:
    """The files as they are shown."""
    return [Listed(path=file.path, kind="file", size=file.size, mtime_ns=-file.age) for file in files]


def _named(one: Scope, view: View, tally: Tally, *, respect_ignore: bool) -> Iterator[tuple[str, Stat | None]]:
    if one.only is not None:
        yield one.only.text, view.stat(one.only)
        return
    if one.glob is not None and globs.is_literal(one.glob):
        named = literal(one.directory, one.glob, view)
        if named is not None:
            yield named.text, view.stat(named)
    for place, tree in links.spread(one.directory, view, tally, respect_ignore=respect_ignore):
        holds = place.accepting(one.holds)
        if not tree and holds(place.path.text):
            yield place.path.text, view.stat(place.path)
        for directory in tree:
            base = directory.path.text.rstrip("/") + "/"
            names = [name for name in directory.open if holds(base + name)]
            for loaded in view.load(directory, names, most=-1):
                unopened = view.stat(directory.child(loaded.name)) if loaded.unreadable else None
                yield base + loaded.name, loaded.stat or unopened
            for name in directory.sensitive:
                if holds(base + name):
                    yield base + name, view.stat(directory.child(name))


def check_glob(glob: str) -> None:
    """Refuse a glob that can't be read, before anything is walked; raises `InvalidCall` `invalid_glob`."""
    if "\0" in glob:
        raise InvalidCall("invalid_glob", "The glob holds a NUL character, which no name has.", facts={"position": 1})
    globs.to_regex(glob)
