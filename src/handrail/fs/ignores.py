"""Which ignore rules hold in a directory: those of its repository, else of its workspace, from the root down to it.

It reads the ignore files; what a line means stands in `fs/rules.py`, and who walks by it in `fs/tree.py`.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from handrail.fs.rules import Rules, joined, marked
from handrail.model.paths import within

FILES: Final = (".gitignore", ".ignore")
MAX_BYTES: Final = 1 << 20
"""A larger ignore file is cut there."""

_SETTING: Final = re.compile(
    rb"(?im)^[ \t]*(?:\[(?P<section>[^\]\n]*)\])?[ \t]*"
    rb"(?:(?P<key>excludesfile)[ \t]*=[ \t]*(?:\"(?P<quoted>[^\"\n]*)\"|(?P<bare>[^\n#;]*)))?"
)
_GITDIR: Final = re.compile(rb"^gitdir:\s*(.+?)\s*$", re.MULTILINE)
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Level:
    """One directory's rules; `base` is how many bytes of an absolute name come before what is relative to it.

    `depth`: how many slashes are in these.
    """

    rules: Rules
    base: int
    depth: int


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """The rules that hold for what lies in a directory, the nearest first; the same object as long as none changed.

    A `.ignore` file, however far up, decides before any `.gitignore` does.
    """

    ignore: tuple[Level, ...] = ()
    git: tuple[Level, ...] = ()
    lifted: bool = False
    levels: tuple[Level, ...] = field(init=False)
    plain: frozenset[str] = field(init=False)
    ends: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        levels = self.ignore + self.git
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "plain", frozenset().union(*(level.rules.plain for level in levels)))
        object.__setattr__(self, "ends", tuple({end for level in levels for end in level.rules.ends}))

    def below(self, place: str, gitignore: bytes, ignore: bytes) -> "Context":
        """What holds in `place`, a directory that has ignore files of its own."""
        if self.lifted:
            return Context(lifted=True)
        return Context(_level(ignore, place) + self.ignore, _level(gitignore, place) + self.git)

    def left_out(self, place: str, files: Sequence[str], directories: Sequence[str]) -> frozenset[str]:
        """Which children of the directory `place` the rules leave out, each judged for itself."""
        found = set(self.plain.intersection(files)) | self.plain.intersection(directories)
        if ends := self.ends:
            found.update([name for name in files if name.endswith(ends)])
            found.update([name for name in directories if name.endswith(ends)])
        depth = place.count("/") if place != "/" else 0
        asked = [level for level in self.levels if level.rules.reaches(depth + 1 - level.depth)]
        if not found and not asked:
            return frozenset()
        inside = os.fsencode(place.rstrip("/") + "/")
        if asked and (files or directories):
            texts = os.fsencode("\0".join(files)), os.fsencode("\0".join(directories))
            bare = marked(*texts)
            for level in asked:
                found.update(map(os.fsdecode, level.rules.suspects(inside[level.base :], *texts, names=bare)))
        known = frozenset(directories)
        return frozenset(name for name in found if self._decide(inside + os.fsencode(name), directory=name in known))

    def hides(self, path: str) -> bool:
        """Whether the rules leave out a directory, judged for itself."""
        return bool(self.levels) and self._decide(os.fsencode(path), directory=True)

    def _decide(self, path: bytes, *, directory: bool) -> bool:
        for level in self.levels:
            word = level.rules.says(path[level.base :], directory=directory)
            if word is not None:
                return word
        return False


@dataclass(frozen=True, slots=True)
class Start:
    """What holds in a directory from above that somebody named, before its own ignore files.

    `lines` say the same to ripgrep, relative to `boundary`. `freed`: the rules above would hide the directory or all
    that is in it, so they don't hold; `lifted`: its own rules would, so none hold.
    """

    boundary: str
    context: Context
    lines: bytes
    lifted: bool = False
    freed: bool = False


def start(directory: str, inside: Sequence[str]) -> Start:
    """Where a walk of a directory begins that somebody named, `inside` being the workspace's roots."""
    boundary = boundary_of(directory, inside)
    excludes = read(exclude_file(boundary))
    context = repository(boundary, excludes)
    lines = joined([read(excludes_file(boundary), follow=True), excludes])
    if boundary == directory:
        return Start(boundary, context, lines)
    files, directories = _children(directory)
    above = _between(boundary, directory)[:-1]
    hidden = False
    for place in above:
        hidden = hidden or (place != boundary and context.hides(place))
        context = context.below(place, *own(place))
    freed = hidden or context.hides(directory) or _hides_all(context, directory, files, directories)
    context, lines = (Context(), b"") if freed else (context, _lines(boundary, above, lines))
    alone = Context().below(directory, *own(directory))
    if _hides_all(alone, directory, files, directories):
        return Start(boundary, Context(lifted=True), b"", lifted=True)
    return Start(boundary, context, lines, freed=freed)


def ignored(directory: str, names: Sequence[str], inside: Sequence[str]) -> frozenset[str]:
    """Which of the directory's children the rules leave out; a directory's name has a trailing slash."""
    boundary = boundary_of(directory, inside)
    context = repository(boundary, read(exclude_file(boundary)))
    for place in _between(boundary, directory):
        if place != boundary and context.hides(place):
            return frozenset(names)
        context = context.below(place, *own(place))
    directories = [name.rstrip("/") for name in names if name.endswith("/")]
    found = context.left_out(directory, [name for name in names if not name.endswith("/")], [])
    found |= {name + "/" for name in context.left_out(directory, [], directories)}
    return found | {name for name in names if name.rstrip("/") == ".git"}


def repository(boundary: str, excludes: bytes) -> Context:
    """What holds in a repository's root, or a workspace's, before its own ignore files; `excludes` are its own."""
    return Context(git=_level(joined([read(excludes_file(boundary), follow=True), excludes]), boundary))


def boundary_of(directory: str, inside: Sequence[str]) -> str:
    """The root of the repository that holds a directory, else the workspace's root, else the directory."""
    place = directory
    while place != "/":
        if os.path.lexists(os.path.join(place, ".git")):
            return place
        place = os.path.dirname(place)
    return max((root for root in inside if within(directory, root)), key=len, default=directory)


def own(place: str) -> tuple[bytes, bytes]:
    """What a directory's `.gitignore` and `.ignore` say."""
    return read(os.path.join(place, FILES[0])), read(os.path.join(place, FILES[1]))


def read(path: str, directory: int | None = None, *, follow: bool = False) -> bytes:
    """The bytes of an ignore file, nothing for one that is no regular file or can't be read; git follows no link."""
    try:
        handle = os.open(path, _FLAGS if follow else _FLAGS | os.O_NOFOLLOW, dir_fd=directory)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(handle, MAX_BYTES) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(handle)


def _level(data: bytes, place: str) -> tuple[Level, ...]:
    rules = Rules(data) if data else None
    base = place.rstrip("/") + "/"
    return (Level(rules, len(os.fsencode(base)), base.count("/")),) if rules else ()


def _between(boundary: str, directory: str) -> list[str]:
    places = [directory]
    while places[-1] != boundary:
        places.append(os.path.dirname(places[-1]))
    return places[::-1]


def _children(directory: str) -> tuple[list[str], list[str]]:
    files: list[str] = []
    directories: list[str] = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.name != ".git" and entry.name not in FILES:
                    (directories if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
    except OSError:
        return [], []
    return files, directories


def _hides_all(context: Context, directory: str, files: Sequence[str], directories: Sequence[str]) -> bool:
    names = len(files) + len(directories)
    return bool(names) and len(context.left_out(directory, files, directories)) == names


def _lines(boundary: str, places: Sequence[str], common: bytes) -> bytes:
    base = len(boundary.rstrip("/")) + 1
    said = [_anchored(read(os.path.join(place, name)), place[base:]) for name in FILES for place in places]
    return b"\n".join([common, *said])


def _anchored(rules: bytes, prefix: str) -> bytes:
    """The lines of an ignore file that lies at `prefix` below the boundary, said relative to the boundary."""
    if not prefix or not rules:
        return rules
    if "\n" in prefix:
        return b""
    base = b"/" + re.sub(rb"[\\*?\[\]{}!# ]", lambda found: b"\\" + found.group(), os.fsencode(prefix)) + b"/"
    return b"\n".join(_moved(rules.removeprefix(b"\xef\xbb\xbf").split(b"\n"), base))


def _moved(lines: Sequence[bytes], base: bytes) -> Iterator[bytes]:
    for line in (line.removesuffix(b"\r") for line in lines):
        if not line.strip() or line.startswith(b"#"):
            continue
        sign, body = (b"!", line[1:]) if line.startswith(b"!") else (b"", line)
        if b"/" in body.rstrip().rstrip(b"/"):
            yield sign + base + body.lstrip(b"/")
        else:
            yield sign + base + b"**/" + body


def exclude_file(boundary: str, directory: int | None = None) -> str:
    """Where a repository's own excludes stand; `boundary` may be relative to an open directory."""
    git = os.path.join(boundary, ".git")
    found = _GITDIR.search(read(git, directory))
    if found:
        git = os.path.join(boundary, os.fsdecode(found.group(1)))
        common = read(os.path.join(git, "commondir"), directory).strip()
        git = os.path.join(git, os.fsdecode(common)) if common else git
    return os.path.join(git, "info", "exclude")


def excludes_file(boundary: str) -> str:
    """Where git's excludes for all repositories stand: the last configuration file that names them decides."""
    home = os.path.expanduser("~")
    shared = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git")
    configurations = ["/etc/gitconfig"] if os.environ.get("GIT_CONFIG_NOSYSTEM") is None else []
    if os.environ.get("GIT_CONFIG_GLOBAL") is not None:
        configurations.append(os.environ["GIT_CONFIG_GLOBAL"])
    else:
        configurations += [os.path.join(shared, "config"), os.path.join(home, ".gitconfig")]
    configurations.append(os.path.join(boundary, ".git", "config"))
    named = [value for place in configurations for value in _configured(read(place, follow=True))]
    return os.path.expanduser(os.fsdecode(named[-1])) if named else os.path.join(shared, "ignore")


def _configured(text: bytes) -> Iterator[bytes]:
    section = b""
    for found in _SETTING.finditer(text):
        section = (found["section"] or section).strip().lower()
        if section == b"core" and found["key"] is not None:
            yield found["quoted"] if found["quoted"] is not None else found["bare"].strip()
