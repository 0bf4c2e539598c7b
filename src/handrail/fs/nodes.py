"""What is known of one directory of a tree: how it was seen last, and how it is seen by the rules that hold now."""

from collections.abc import Sequence
from dataclasses import dataclass

from handrail.fs import ignores
from handrail.fs.ignores import Context
from handrail.fs.listing import Listing, Stamp, Watched
from handrail.model.files import Directory


@dataclass(slots=True, eq=False)
class Seen:
    """A directory as it was read: `inherited` are the rules from above, `own` those that hold in it."""

    stamp: Stamp
    settled: bool
    inherited: Context
    own: Context
    watched: tuple[Watched, ...]
    directory: Directory
    children: "tuple[Node, ...]"
    size: int


@dataclass(slots=True, eq=False)
class Node:
    """A place in a tree, and what was last seen there; several threads may replace that, each by the truth."""

    name: str
    relative: str
    seen: Seen | None = None
    narrowed: tuple[Directory, Directory] | None = None


def own_rules(node: Node, inherited: Context, names: Listing, watched: tuple[Watched, ...]) -> Context:
    """The rules that hold in a directory; the same object as before when neither they nor what is above changed."""
    if not watched and not names.repository:
        return inherited
    old = node.seen
    if old is not None and old.inherited is inherited and _same(old.watched, watched):
        return old.own
    said = {file.name: file.said[1] for file in watched}
    gitignore, ignore = (said.get(name, b"") for name in ignores.FILES)
    if names.repository and node.relative != "." and not inherited.lifted:
        inherited = ignores.repository(node.name, watched[-1].said[1])
    return inherited.below(node.name, gitignore, ignore)


def _same(old: Sequence[Watched], new: Sequence[Watched]) -> bool:
    return [(file.name, file.said) for file in old] == [(file.name, file.said) for file in new]


def what_is_seen(node: Node, own: Context, names: Listing) -> tuple[Directory, tuple[Node, ...], int]:
    """The directory as its rules show it, its children and how many names that are; what didn't change stays itself."""
    old = node.seen
    files, directories, links = names.files, names.directories, names.links
    left = own.left_out(node.name, files + links if links else files, directories) if own.levels else ()
    ignored: list[str] = []
    if left:
        ignored = [n for n in files + links if n in left] + [n + "/" for n in directories if n in left]
        files, directories, links = ([n for n in kind if n not in left] for kind in (files, directories, links))
    base = node.name + "/" if node.name != "/" else "/"
    inner = node.relative + "/" if node.relative != "." else ""
    known = {} if old is None else {child.name: child for child in old.children}
    children = tuple([known.get(base + name) or Node(base + name, inner + name) for name in directories])
    size = len(files) + len(directories) + len(links) + len(ignored)
    others = names.others + (not names.whole)
    fresh = Directory(node.name, tuple(files), tuple(directories), tuple(links), tuple(ignored), others)
    if old is not None and old.own is own and _alike(old.directory, fresh):
        fresh = old.directory
    return fresh, children, size


def _alike(one: Directory, other: Directory) -> bool:
    return (one.files, one.directories, one.links, one.ignored, one.others) == (
        other.files,
        other.directories,
        other.links,
        other.ignored,
        other.others,
    )
