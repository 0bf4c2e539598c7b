"""A task as a patch: for each file what stood there before the task, and what the task left there.

It reads the history only, never the disk, but for trees in the history's own trash. What can't be told is said.
"""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from handrail.model.errors import BackendFailed, NotThere
from handrail.model.files import ABSENT, Absent, Bytes, DirectoryState, FileState, LinkState, State
from handrail.model.paths import shown, within
from handrail.model.records import Version
from handrail.store.protocol import Store
from handrail.text.patch import LINK, Side, section

LARGEST: Final = 64 * 1024 * 1024
"""Bytes of a content that a patch takes; a patch is made, and read, in memory."""

OUTSIDE: Final = "it lies outside of the directory that the patch is for"
HIDDEN: Final = "policy hides it"
SENSITIVE: Final = "it is a sensitive file; name it to have it in the patch"
PRUNED: Final = "its content isn't kept any more"
TOO_LARGE: Final = f"it holds more than {LARGEST:,} bytes"
MOVED_BACK: Final = "a directory was put back as a whole, and what lay in it is in no version"
BETWEEN: Final = "others changed it while the task was at work, and the patch holds their changes too"


@dataclass(frozen=True, slots=True)
class Export:
    """The patch, what it leaves out and why, and what is worth knowing of what it holds; paths are absolute."""

    patch: bytes = field(repr=False)
    files: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    notes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _Net:
    """What a task made of one path; `at` is the number of its last version."""

    before: State
    after: State
    at: int


def export(store: Store, task: str, root: str, *, left_out: Callable[[str], str | None]) -> Export:
    """The patch of a task below a directory; `left_out` says why a path stays out, or `None`.

    Raises `NotThere` `task_not_found`.
    """
    if store.task(task) is None:
        raise NotThere(
            "task_not_found", f"There is no task {shown(task)}.", hint="file_history mode=list names each version's."
        )
    nets, out, notes = _nets(store, task)
    parts: list[bytes] = []
    files: list[str] = []
    for path in sorted(nets):
        net = nets[path]
        if any(isinstance(state, DirectoryState) for state in (net.before, net.after)):
            net = replace(net, before=_without_directory(net.before), after=_without_directory(net.after))
        why = OUTSIDE if not within(path, root) or path == root else left_out(path)
        if why is None and any(_too_large(state) for state in (net.before, net.after)):
            why = TOO_LARGE
        if why is not None:
            if net.before != net.after:
                out[path] = why
            continue
        try:
            part = section(os.fsencode(path[len(root.rstrip("/")) + 1 :]), _side(net.before), _side(net.after))
        except BackendFailed:
            out[path] = PRUNED
            continue
        if part:
            parts.append(part)
            files.append(path)
    told = tuple((path, note) for path, note in sorted(notes.items()) if path in files)
    return Export(b"".join(parts), tuple(files), tuple(sorted(out.items())), told)


def _nets(store: Store, task: str) -> tuple[dict[str, _Net], dict[str, str], dict[str, str]]:
    """What became of each path; paths that can't be told, and why; what others did meanwhile."""
    nets: dict[str, _Net] = {}
    out: dict[str, str] = {}
    notes: dict[str, str] = {}
    removed: list[tuple[str, Version, int]] = []
    for path in store.task_paths(task):
        versions = store.task_versions(task, path)
        first, last = versions[0], versions[-1]
        before = None if first.previous is None else store.version(first.previous)
        if _gone(before) or _gone(last):
            out[path] = PRUNED
            continue
        nets[path] = _Net(ABSENT if before is None else before.state, last.state, last.id)
        if any(newer.previous != older.id for older, newer in pairwise(versions)):
            notes[path] = BETWEEN
        for version in versions:
            aside = None if version.previous is None else store.version(version.previous)
            if aside is not None and isinstance(aside.state, DirectoryState) and aside.state.trash is not None:
                removed.append((path, aside, version.id))
            if isinstance(version.state, DirectoryState) and version.state.trash is not None:
                out[path] = MOVED_BACK
    for path, aside, at in removed:
        if aside.restorable:
            _take_tree(nets, path, aside, at)
        elif path in nets and not isinstance(nets[path].after, DirectoryState):
            out[path] = PRUNED
    return nets, out, notes


def _take_tree(nets: dict[str, _Net], path: str, aside: Version, at: int) -> None:
    """All that lay in a tree which the task removed is gone with it, but for what the task made there later."""
    assert isinstance(aside.state, DirectoryState) and aside.state.trash is not None  # noqa: S101
    for below, net in list(nets.items()):
        if within(below, path) and below != path and net.at < at:
            nets[below] = replace(net, after=ABSENT)
    for name, state in _tree(aside.state.trash):
        inner = f"{path}/{name}"
        if inner not in nets:
            nets[inner] = _Net(state, ABSENT, at)


def _tree(place: str) -> Iterator[tuple[str, State]]:
    """The files and links of a tree in the trash, by their names in it."""
    for directory, names, files in os.walk(place):
        for name in (*names, *files):
            full = os.path.join(directory, name)
            found = os.lstat(full)
            inner = os.path.relpath(full, place)
            if stat.S_ISLNK(found.st_mode):
                yield inner, LinkState(os.readlink(full))
            elif stat.S_ISREG(found.st_mode):
                if found.st_size > LARGEST:
                    yield inner, FileState(_Huge(found.st_size), stat.S_IMODE(found.st_mode))
                    continue
                with open(full, "rb") as file:
                    yield inner, FileState(Bytes(file.read()), stat.S_IMODE(found.st_mode))


@dataclass(frozen=True, slots=True)
class _Huge:
    """Stands for a content that no patch takes."""

    size: int
    hash: str = ""

    def chunks(self) -> Iterator[bytes]:
        return iter(())

    def bytes(self) -> bytes:
        return b""


def _side(state: State) -> Side | None:
    match state:
        case FileState(content=content, mode=mode):
            return Side("100755" if (mode or 0) & 0o100 else "100644", content.bytes())
        case LinkState(target=target):
            return Side(LINK, os.fsencode(target))
        case _:
            return None


def _without_directory(state: State) -> State:
    """Git knows no directories, only what lies in them."""
    return ABSENT if isinstance(state, DirectoryState | Absent) else state


def _too_large(state: State) -> bool:
    return isinstance(state, FileState) and state.content.size > LARGEST


def _gone(version: Version | None) -> bool:
    """Whether a version is a file whose content isn't kept any more."""
    return version is not None and not version.restorable and isinstance(version.state, FileState)
