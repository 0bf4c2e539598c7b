"""Put a recorded state back exactly, or take a path away so that it can be put back. Both only plan."""

from collections.abc import Sequence
from dataclasses import replace

from handrail.history import places
from handrail.history.states import exactly, said, standing
from handrail.model.answers import Changed
from handrail.model.changes import Action, Change, Plan
from handrail.model.errors import InvalidCall, NotThere, OutOfDate
from handrail.model.files import ABSENT, Absent, Bytes, DirectoryState, FileState, State
from handrail.model.operations import Remove, Restore, Want
from handrail.model.paths import RealPath, shown
from handrail.model.records import Version
from handrail.model.view import Target, View
from handrail.store.protocol import HistoryStore

COUNTED_BYTES = 8 * 1024 * 1024
"""Contents up to this size have their lines counted for the receipt."""
HELD_BYTES = 64 * 1024
"""Contents up to this size are held in memory by a plan; an undo may plan a thousand of them."""


class RestorePlanner:
    """Plans a `Restore`."""

    def __init__(self, store: HistoryStore) -> None:
        self._store = store

    def wants(self, operation: Restore) -> Sequence[Want]:
        """The version's path, or the one given; raises `NotThere` `version_not_found`."""
        version = find(self._store, operation.version)
        if operation.path is not None:
            return (Want(path=operation.path, access="write", follow=False),)
        return places.wants(version.path, "write")

    def plan(self, operation: Restore, targets: Sequence[Target], view: View) -> Plan:
        """The state of the version in place of what stands there now.

        Raises `NotThere` `not_restorable`, `OutOfDate` `conflict` when a directory that isn't empty is in the way.
        """
        version = find(self._store, operation.version)
        path = _meant(operation, version, targets)
        now = standing(view, path)
        if exactly(now, version.state):
            return Plan(changed(path, now, version.state, unchanged=True))
        check_restorable(version)
        check_way(path, now, version.state)
        return put(path, now, version.state)


class RemovePlanner:
    """Plans a `Remove`: of a file, of a link itself, of a directory with all that lies in it."""

    def wants(self, operation: Remove) -> Sequence[Want]:
        """The path itself; a last link is not followed."""
        return (Want(path=operation.path, access="write", follow=False),)

    def plan(self, operation: Remove, targets: Sequence[Target], view: View) -> Plan:
        """Nothing in place of what stands there; raises `NotThere` `not_found`, `OutOfDate` `stale`."""
        path = targets[0].real
        now = standing(view, path)
        if isinstance(now, Absent):
            raise NotThere(
                "not_found",
                f"Nothing stands at {path}, so nothing was removed.",
                hint="Look at the directory with find_files.",
                path=str(path),
            )
        if operation.expected_hash is not None and operation.expected_hash.lower() != hash_of(now):
            raise OutOfDate(
                "stale",
                f"{path} isn't the file that was expected; nothing was removed.",
                hint="Read it again with read_files, then send the call with the hash that it has now.",
                path=str(path),
            )
        return put(path, now, ABSENT, action="remove", unusual=_much(path, now))


def find(store: HistoryStore, number: int) -> Version:
    """The version by its id; raises `NotThere` `version_not_found`."""
    version = store.version(number)
    if version is None:
        raise NotThere(
            "version_not_found",
            f"There is no version {number}.",
            hint="List the versions with file_history mode=list.",
            facts={"version": number},
        )
    return version


def check_restorable(version: Version) -> None:
    """Raise `NotThere` `not_restorable` for a state that the store can't give back."""
    if not version.restorable:
        raise NotThere(
            "not_restorable",
            f"Version {version.id} of {shown(version.path)} can't be put back: {version.why_not or 'it was pruned'}.",
            hint="Look for another version with file_history mode=list.",
            path=shown(version.path),
            facts={"version": version.id},
        )


def check_way(path: RealPath, now: State, wanted: State) -> None:
    """Raise `OutOfDate` `conflict` when a directory stands in the way of a state that isn't the same directory."""
    if not isinstance(now, DirectoryState):
        return
    moved = isinstance(wanted, DirectoryState) and wanted.trash is not None
    if now.entries or moved:
        holds = f"holds {now.entries} entries" if now.entries else "is new"
        raise OutOfDate(
            "conflict",
            f"A directory stands at {path} and {holds}; it stays as it is.",
            hint="Move or remove it first (edit_file mode=remove), then repeat this call.",
            path=str(path),
            retryable=False,
        )


def put(
    path: RealPath, now: State, wanted: State, *, action: Action = "restore", unusual: tuple[str, ...] = ()
) -> Plan:
    """The plan that brings a path from one state to another; none where only the bits of a directory differ."""
    if isinstance(now, DirectoryState) and isinstance(wanted, DirectoryState):
        return Plan(changed(path, now, wanted, unchanged=True))
    wanted = _at_hand(wanted)
    change = Change(path, now, wanted, action, parents=not isinstance(wanted, Absent))
    return Plan(changed(path, now, wanted), (change,), unusual=unusual)


def changed(path: RealPath, now: State, wanted: State, *, unchanged: bool = False, merged: bool = False) -> Changed:
    """The answer for a path that goes from one state to another."""
    tree = now if isinstance(now, DirectoryState) and not unchanged else wanted
    size = wanted.content.size if isinstance(wanted, FileState) else 0
    return Changed(
        path=path,
        bytes_written=0 if unchanged else size,
        lines=_lines(wanted),
        emptied=isinstance(wanted, FileState) and size == 0 and isinstance(now, FileState) and now.content.size > 0,
        hash=hash_of(wanted),
        existed=not isinstance(now, Absent),
        unchanged=unchanged,
        merged=merged,
        manifest_entries=tree.entries if isinstance(tree, DirectoryState) else 0,
        manifest_size=tree.size if isinstance(tree, DirectoryState) else 0,
    )


def _at_hand(state: State) -> State:
    """The state with a small content in memory: it is shown, counted and written, and fetched but once."""
    if not isinstance(state, FileState) or state.content.size > HELD_BYTES:
        return state
    return replace(state, content=Bytes(state.content.bytes()))


def hash_of(state: State) -> str | None:
    """The SHA-256 of a file's bytes, `None` for anything else."""
    return state.content.hash if isinstance(state, FileState) else None


def _meant(operation: Restore, version: Version, targets: Sequence[Target]) -> RealPath:
    if operation.path is None or targets[0].real.text == version.path:
        return places.place(version.path, targets)
    raise InvalidCall(
        "invalid_arguments",
        f"Version {version.id} is of {shown(version.path)}, not of {targets[0].real}.",
        hint="Leave path out, or name a version of this path: file_history mode=list.",
        path=str(targets[0].real),
        facts={"version": version.id},
    )


def _lines(state: State) -> int:
    if not isinstance(state, FileState) or not 0 < state.content.size <= COUNTED_BYTES:
        return 0
    data = state.content.bytes()
    return data.count(b"\n") + (not data.endswith(b"\n"))


def _much(path: RealPath, now: State) -> tuple[str, ...]:
    if not isinstance(now, DirectoryState) or not now.entries:
        return ()
    return (f"{path} is {said(now)} with {now.entries} entries, {now.size} bytes, all of which are moved aside",)
