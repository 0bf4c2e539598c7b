"""What stands at a path as a view shows it, and when two states are the same. Shared by the planners of this room."""

from dataclasses import replace
from typing import Final

from handrail.model.errors import InvalidCall, WrongContent
from handrail.model.files import ABSENT, Absent, DirectoryState, FileState, LinkState, Stat, State
from handrail.model.paths import RealPath
from handrail.model.view import View

MANIFEST_ROWS: Final = 1000
"""Entries of a tree that are listed by name; all of them are counted."""

TREE_ENTRIES: Final = 200_000
"""Entries of a tree that are counted; a larger one isn't moved aside as a whole."""


def standing(view: View, path: RealPath) -> State:
    """The state of a path now; a directory comes with all that lies in it counted.

    Raises `WrongContent` `not_regular_file` for pipes, sockets and devices.
    """
    stat = view.stat(path)
    if stat is None:
        return ABSENT
    match stat.kind:
        case "file":
            snapshot = view.look(path)
            return FileState(snapshot.content(), snapshot.stat.mode)
        case "symlink":
            return LinkState(view.link_target(path))
        case "directory":
            return tree(view, path, stat)
        case kind:
            raise WrongContent(
                "not_regular_file",
                f"{path} is a {kind}, not a file.",
                hint="Only regular files, links and directories are recorded and put back.",
                path=str(path),
            )


def tree(view: View, path: RealPath, stat: Stat) -> DirectoryState:
    """A directory and what lies below it, as policy shows it, in the order of names; links are not followed."""
    rows: list[tuple[str, str, int]] = []
    entries = size = 0
    waiting = [(path, "")]
    while waiting:
        view.check()
        directory, prefix = waiting.pop()
        for entry in sorted(view.entries(directory), key=lambda child: child.name):
            entries += 1
            size += entry.stat.size if entry.stat.kind == "file" else 0
            if entries > TREE_ENTRIES:
                raise _too_many(path)
            if len(rows) < MANIFEST_ROWS:
                rows.append((prefix + entry.name, entry.stat.kind, entry.stat.size))
            below = view.child(directory, entry.name) if entry.stat.kind == "directory" else None
            if below is not None:
                waiting.append((below, f"{prefix}{entry.name}/"))
    return DirectoryState(mode=stat.mode, entries=entries, size=size, manifest=tuple(rows))


def written(view: View, path: RealPath, *, but: frozenset[str]) -> int:
    """When a file in a tree was written last, in nanoseconds since the epoch; files named in `but` don't count."""
    newest = 0
    waiting = [(path, "")]
    while waiting:
        view.check()
        directory, prefix = waiting.pop()
        for entry in view.entries(directory):
            name = prefix + entry.name
            below = view.child(directory, entry.name) if entry.stat.kind == "directory" else None
            if below is not None:
                waiting.append((below, name + "/"))
            if entry.stat.kind == "file" and name not in but:
                newest = max(newest, entry.stat.mtime_ns)
    return newest


def same(one: State, other: State) -> bool:
    """Whether two states are equal in kind and content, permission bits aside; trees by what they list."""
    match one, other:
        case FileState(), FileState():
            return one.content.hash == other.content.hash
        case LinkState(), LinkState():
            return one.target == other.target
        case DirectoryState(), DirectoryState():
            return (one.entries, _listed(one)) == (other.entries, _listed(other))
        case _:
            return one.kind == other.kind


def exactly(one: State, other: State) -> bool:
    """Whether they are `same` and have the same permission bits, where both are known."""
    one_mode, other_mode = _mode(one), _mode(other)
    return same(one, other) and (one_mode == other_mode or None in (one_mode, other_mode))


def without(state: DirectoryState, names: frozenset[str]) -> DirectoryState:
    """A directory without these entries of its manifest, and what lies below them."""
    left = [row for row in state.manifest if not _named(row[0], names)]
    gone = sum(size for name, kind, size in state.manifest if kind == "file" and _named(name, names))
    entries = state.entries - len(state.manifest) + len(left)
    return replace(state, entries=entries, size=state.size - gone, manifest=tuple(left))


def with_mode(state: State, mode: int | None) -> State:
    """A file state with these permission bits; any other state as it is."""
    return replace(state, mode=mode) if isinstance(state, FileState) else state


def mode_of(state: State) -> int | None:
    """The permission bits of a file; `None` where there are none or they aren't known."""
    return state.mode if isinstance(state, FileState) else None


def said(state: State) -> str:
    """What it is, in words, for the messages of this room."""
    match state:
        case Absent():
            return "gone"
        case FileState():
            return "a file"
        case LinkState():
            return "a symbolic link"
        case DirectoryState():
            return "a directory"


def _named(name: str, names: frozenset[str]) -> bool:
    return name in names or any(name[:at] in names for at, character in enumerate(name) if character == "/")


def _listed(state: DirectoryState) -> frozenset[tuple[str, str, int]]:
    return frozenset((name, kind, size if kind == "file" else 0) for name, kind, size in state.manifest)


def _mode(state: State) -> int | None:
    return state.mode if isinstance(state, FileState | DirectoryState) else None


def _too_many(path: RealPath) -> InvalidCall:
    return InvalidCall(
        "invalid_arguments",
        f"{path} holds more than {TREE_ENTRIES} entries, too many to move aside at once.",
        hint="Name the directories in it, one by one.",
        path=str(path),
    )
