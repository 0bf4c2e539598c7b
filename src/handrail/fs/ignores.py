"""The ignore rules that hold in a directory because of what lies above it, up to the repository's or workspace's root.

ripgrep reads the rules at and below the directory itself; it knows no boundary, so what lies above is gathered here.
"""

import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from handrail.fs.rules import Rules
from handrail.model.paths import within

FILES: Final = (".gitignore", ".ignore")
MAX_BYTES: Final = 1 << 20
"""A larger ignore file is cut there."""

_EXCLUDES: Final = re.compile(rb'(?im)^\s*excludesfile\s*=\s*"?([^"\n]+?)"?\s*$')
_GITDIR: Final = re.compile(rb"^gitdir:\s*(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Above:
    """What holds in a directory from above: `rules` are gitignore lines that are relative to `boundary`.

    `lifted`: the directory's own rules would hide all that is in it; who names such a directory wants to see it.
    """

    boundary: str
    rules: bytes
    lifted: bool = False


def above(directory: str, inside: Sequence[str]) -> Above:
    """The rules from above for a directory that somebody named, `inside` being the workspace's roots.

    A directory that these rules would hide, as such or by hiding each of its children, is free of them.
    """
    boundary = _boundary(directory, inside)
    if boundary == directory:
        return Above(boundary, b"")
    children = _children(directory)
    rules = _rules(boundary, _between(boundary, directory)[:-1])
    if rules and _hides(rules, boundary, directory, children):
        rules = b""
    own = _rules(directory, [directory], repository=False)
    return Above(boundary, rules, lifted=bool(own and children) and _hides(own, directory, directory, children))


def ignored(directory: str, names: Sequence[str], inside: Sequence[str]) -> frozenset[str]:
    """Which of the directory's children the rules leave out; a directory's name has a trailing slash."""
    boundary = _boundary(directory, inside)
    rules = _global() + _rules(boundary, _between(boundary, directory))
    matches = Rules(rules).ignore
    prefix = _relative(directory, boundary)
    return frozenset(name for name in names if name.rstrip("/") == ".git" or matches(prefix + name))


def _boundary(directory: str, inside: Sequence[str]) -> str:
    place = directory
    while place != "/":
        if os.path.lexists(os.path.join(place, ".git")):
            return place
        place = os.path.dirname(place)
    return max((root for root in inside if within(directory, root)), key=len, default=directory)


def _between(boundary: str, directory: str) -> list[str]:
    places = [directory]
    while places[-1] != boundary:
        places.append(os.path.dirname(places[-1]))
    return places[::-1]


def _children(directory: str) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            return [e.name + ("/" if e.is_dir(follow_symlinks=False) else "") for e in entries if e.name != ".git"]
    except OSError:
        return []


def _rules(boundary: str, places: Iterable[str], *, repository: bool = True) -> bytes:
    lines = [_read(_exclude_file(boundary))] if repository else []
    known = list(places)
    lines += [
        _anchored(_read(os.path.join(place, name)), _relative(place, boundary)) for name in FILES for place in known
    ]
    return b"\n".join(text for text in lines if text)


def _hides(rules: bytes, boundary: str, directory: str, children: Sequence[str]) -> bool:
    matches = Rules(rules).ignore
    prefix = _relative(directory, boundary)
    if prefix and matches(prefix):
        return True
    return bool(children) and all(matches(prefix + child) or child in FILES for child in children)


def _relative(place: str, boundary: str) -> str:
    return "" if place == boundary else place[len(boundary.rstrip("/")) + 1 :] + "/"


def _anchored(rules: bytes, prefix: str) -> bytes:
    """The lines of an ignore file that lies at `prefix` below the boundary, said relative to the boundary."""
    if not prefix or not rules:
        return rules
    if "\n" in prefix:
        return b""
    base = b"/" + re.sub(rb"[\\*?\[\]{}!# ]", lambda found: b"\\" + found.group(), os.fsencode(prefix))
    return b"\n".join(line for line in (_moved(line, base) for line in rules.split(b"\n")) if line)


def _moved(line: bytes, base: bytes) -> bytes:
    line = line.removesuffix(b"\r")
    if not line.strip() or line.startswith(b"#"):
        return b""
    sign, body = (b"!", line[1:]) if line.startswith(b"!") else (b"", line)
    if b"/" in body.rstrip().rstrip(b"/"):
        return sign + base + body.lstrip(b"/")
    return sign + base + b"**/" + body


def _exclude_file(boundary: str) -> str:
    git = os.path.join(boundary, ".git")
    found = _GITDIR.search(_read(git))
    if found:
        git = os.path.join(boundary, os.fsdecode(found.group(1)))
        common = _read(os.path.join(git, "commondir")).strip()
        git = os.path.join(git, os.fsdecode(common)) if common else git
    return os.path.join(git, "info", "exclude")


def _global() -> bytes:
    home = os.path.expanduser("~")
    config = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git")
    for place in (os.path.join(home, ".gitconfig"), os.path.join(config, "config")):
        found = _EXCLUDES.search(_read(place))
        if found:
            return _read(os.path.expanduser(os.fsdecode(found.group(1)))) + b"\n"
    return _read(os.path.join(config, "ignore")) + b"\n"


def _read(path: str) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(handle, MAX_BYTES) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(handle)
