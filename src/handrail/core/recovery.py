"""What a crash left undecided, decided by the bytes on disk: each open intent becomes done, or as if it never was.

Safe with several processes: each path is decided under its lock, and only what dead processes intended.
"""

import logging
from collections.abc import Callable
from typing import Final

from handrail.core.locks import Locks
from handrail.core.steps import same, standing, take
from handrail.fs.protocol import WritableFileSystem
from handrail.model.changes import Change
from handrail.model.errors import HandrailError
from handrail.model.files import ABSENT, Absent, FileState, State
from handrail.model.paths import RealPath
from handrail.model.records import Version
from handrail.store.protocol import Author, Draft, Store

log = logging.getLogger("handrail")
BLOCK: Final = 4096
"""Bytes that the system writes or doesn't write as one; the smallest pages there are."""


def recover(fs: WritableFileSystem, store: Store, locks: Locks, real: Callable[[str], RealPath]) -> int:
    """Decide every open intent of dead processes and remove their stray files; returns how many were decided."""
    decided = 0
    for version in store.intended():
        try:
            path = real(version.path)
            with locks.hold([path]):
                # Another process may have decided it while we waited.
                current = store.version(version.id)
                if current is not None and current.status == "intended":
                    store.settle([version.id], done=_happened(fs, store, version, path))
                    decided += 1
            _sweep(fs, real(path.parent))
        except HandrailError as error:
            log.warning("version %d of %s stays open: %s", version.id, version.path.encode(errors="replace"), error)
    if decided:
        store.intended()  # asked again: the store forgets a dead process once nothing of it is open
    return decided


def outcome(store: Store, version: Version, there: State) -> bool | None:
    """Whether an intended change happened, as what stands there says; `None` where that is neither old nor new."""
    if same(there, version.state):
        return True
    return False if same(there, _before(store, version)) else None


def _before(store: Store, version: Version) -> State:
    previous = None if version.previous is None else store.version(version.previous)
    return ABSENT if previous is None else previous.state


def _happened(fs: WritableFileSystem, store: Store, version: Version, path: RealPath) -> bool:
    """Whether the intended change is what the disk shows; one that was cut short is finished first.

    What is neither the old nor the new was changed by others since. Then the version counts as done: so no content is
    lost, and an undo finds its change already gone.
    """
    there = standing(fs, path)
    happened = outcome(store, version, there)
    if happened is not None:
        return happened
    if isinstance(there, Absent):
        take(fs, Change(path, there, version.state, version.action))
    elif _torn(_before(store, version), there, version.state):
        # Somebody might have made it look so: what stands there is kept before it is finished.
        drafts = [Draft(path=version.path, state=state, action="external") for state in (there, version.state)]
        store.record(drafts, Author(tool=version.tool, session=version.session, task=None))
        take(fs, Change(path, there, version.state, version.action))
    return True


def _torn(before: State, there: State, after: State) -> bool:
    """Whether a file is a mixture of its old and new bytes, block by block, as a write in place leaves it."""
    if not (isinstance(before, FileState) and isinstance(there, FileState) and isinstance(after, FileState)):
        return False
    if there.content.size > max(before.content.size, after.content.size):
        return False
    old, now, new = before.content.bytes(), there.content.bytes(), after.content.bytes()
    mixed = 0
    for start in range(0, len(now), BLOCK):
        block = now[start : start + BLOCK]
        # Past its end a file that was made longer first reads as zeros.
        was, will = (side[start : start + len(block)].ljust(len(block), b"\0") for side in (old, new))
        if block not in (was, will):
            mixed += 1
            if not _spliced(was, block, will):
                return False
    return mixed <= 1


def _spliced(was: bytes, block: bytes, will: bytes) -> bool:
    """Whether a block begins as the new one and ends as the old one."""
    common = next((i for i, (a, b) in enumerate(zip(block, will, strict=True)) if a != b), len(block))
    return any(block[cut:] == was[cut:] for cut in range(common + 1))


def _sweep(fs: WritableFileSystem, directory: RealPath) -> None:
    if fs.stat(directory) is not None:
        fs.sweep(directory)
