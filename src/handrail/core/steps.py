"""One change done with a backend's verbs, and how the state of a path is told and compared.

It knows neither locks nor history; `core/apply.py` decides when a step is taken or taken back.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from handrail.fs.protocol import Put, WritableFileSystem, Written
from handrail.model.changes import Change
from handrail.model.errors import BackendFailed, HandrailError, NotThere, WrongContent
from handrail.model.files import ABSENT, Absent, Content, DirectoryState, FileState, LinkState, State, in_memory
from handrail.model.paths import RealPath

COPY_LIMIT: Final = 1 << 30
"""Bytes of a tree that are copied to or from a trash on another file system."""


@dataclass(frozen=True, slots=True)
class Effect:
    """How a step was done, where that is worth saying."""

    in_place: bool = False
    notes: tuple[str, ...] = ()


def standing(fs: WritableFileSystem, path: RealPath, supposed: State = ABSENT) -> State:
    """What stands at a path now; contents are pinned by their handle. Pipes, sockets, devices: `WrongContent`.

    Bytes that are those of a `supposed` file needn't be hashed.
    """
    if isinstance(supposed, FileState):
        with suppress(HandrailError):
            return _file(fs, path, supposed)
    found = fs.stat(path)
    if found is None:
        return ABSENT
    match found.kind:
        case "file":
            return _file(fs, path, supposed)
        case "symlink":
            return LinkState(fs.read_link(path))
        case "directory":
            return DirectoryState(mode=found.mode)
        case kind:
            raise WrongContent(
                "not_regular_file",
                f"{path} is a {kind}, not a file.",
                hint="Only regular files, links and directories can be changed.",
                path=str(path),
            )


def _file(fs: WritableFileSystem, path: RealPath, supposed: State) -> FileState:
    snapshot = fs.open(path)
    known = in_memory(supposed.content) if isinstance(supposed, FileState) else None
    if known is not None and isinstance(supposed, FileState) and snapshot.read(0, len(known) + 1) == known:
        return FileState(supposed.content, snapshot.stat.mode)
    return FileState(snapshot.content(), snapshot.stat.mode)


def same(one: State, other: State) -> bool:
    """Whether two states are equal in kind and content; permission bits are not compared."""
    match one, other:
        case FileState(), FileState():
            return one.content.hash == other.content.hash
        case LinkState(), LinkState():
            return one.target == other.target
        case _:
            return one.kind == other.kind


def exactly(one: State, other: State) -> bool:
    """Whether they are `same` and their permission bits are, where both are known."""
    if not same(one, other):
        return False
    match one, other:
        case ((FileState() | DirectoryState()), (FileState() | DirectoryState())):
            return one.mode is None or other.mode is None or one.mode == other.mode
        case _:
            return True


def knows_belongings(known: State, file: FileState) -> bool:
    """Whether a state tells what belongs to the file, where it has anything."""
    return file.belongings is None or (isinstance(known, FileState) and known.belongings == file.belongings)


def as_counted(
    fs: WritableFileSystem, path: RealPath, counted: DirectoryState, real: Callable[[str], RealPath]
) -> bool:
    """Whether a directory holds as many entries as were counted, and, where the manifest names all, just those."""
    names = {name for name, _, _ in counted.manifest} if len(counted.manifest) == counted.entries else None
    below, count = [path], 0
    while below:
        directory = below.pop()
        for entry in fs.entries(directory):
            text = f"{directory.text}/{entry.name}"
            count += 1
            if count > counted.entries or (names is not None and text[len(path.text) + 1 :] not in names):
                return False
            if entry.stat.kind == "directory":
                below.append(real(text))
    return count == counted.entries


def take(fs: WritableFileSystem, change: Change) -> Effect:
    """Bring a path from `before`, which stands there, to `after`; a state of another kind is cleared away first."""
    before, after = change.before, change.after
    match after:
        case FileState():
            expect = before.content if isinstance(before, FileState) else None
            if expect is None:
                _clear(fs, change.path, before)
            written = fs.replace(change.path, after.content, after.mode, expect, after.belongings)
            return _effect(written)
        case LinkState():
            if not same(before, after):
                _clear(fs, change.path, before)
                fs.make_link(change.path, after.target)
        case DirectoryState():
            if not isinstance(before, DirectoryState):
                _clear(fs, change.path, before)
                _make(fs, change.path, after)
        case Absent():
            _clear(fs, change.path, before)
    return Effect()


def take_each(fs: WritableFileSystem, changes: Sequence[Change]) -> Sequence[Effect | HandrailError]:
    """Take several steps that don't depend on one another, each of which may fail alone."""
    effects: dict[RealPath, Effect | HandrailError] = {}
    puts: list[Put] = []
    for change in changes:
        if isinstance(change.after, FileState) and isinstance(change.before, FileState | Absent):
            puts.append(_put(change.path, change.before, change.after))
            continue
        try:
            effects[change.path] = take(fs, change)
        except HandrailError as error:
            effects[change.path] = error
    for put, written in zip(puts, fs.replace_all(puts), strict=True):
        effects[put.path] = written if isinstance(written, HandrailError) else _effect(written)
    return [effects[change.path] for change in changes]


def _put(path: RealPath, before: State, after: FileState) -> Put:
    expect = before.content if isinstance(before, FileState) else None
    return Put(path, after.content, after.mode, expect, after.belongings)


def _effect(written: Written) -> Effect:
    return Effect(written.in_place, tuple(written.notes))


def take_back(fs: WritableFileSystem, change: Change, there: State, stored: Callable[[str], Content | None]) -> State:
    """Go back to `before` from what was made, or from nothing where a change of kind was cut short; what stands then.

    What is somebody else's by now is left alone. `stored` gives a content of the history by its hash.
    """
    before = change.before
    if not (same(there, change.after) or isinstance(there, Absent)):
        return there
    if isinstance(before, FileState):
        before = replace(before, content=stored(before.content.hash) or before.content)
    if isinstance(there, DirectoryState) and isinstance(change.after, DirectoryState):
        there = replace(there, trash=change.after.trash)
    take(fs, Change(change.path, there, before, change.action))
    return before


def _clear(fs: WritableFileSystem, path: RealPath, state: State) -> None:
    match state:
        case FileState():
            fs.unlink(path, state.content.hash)
        case LinkState():
            fs.unlink(path, None)
        case DirectoryState(trash=None):
            fs.remove_directory(path)
        case DirectoryState(trash=str(place)):
            if not fs.move_out(path, place, copy_limit=COPY_LIMIT):
                raise BackendFailed(
                    "io_error",
                    f"{path} can't be moved to the trash; nothing was removed.",
                    hint="Remove its files one by one.",
                    path=str(path),
                )
        case _:
            return


def _make(fs: WritableFileSystem, path: RealPath, state: DirectoryState) -> None:
    if state.trash is None:
        fs.make_directory(path, state.mode)
        return
    try:
        moved = fs.move_in(state.trash, path, copy_limit=COPY_LIMIT)
    except NotThere:
        moved = False
    if not moved:
        raise NotThere(
            "not_restorable",
            f"What was moved aside from {path} is no longer in the trash.",
            hint="Look for a newer version with file_history mode=list.",
            path=str(path),
        )
