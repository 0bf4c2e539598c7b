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
from handrail.store.protocol import Store

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
    return decided


def _happened(fs: WritableFileSystem, store: Store, version: Version, path: RealPath) -> bool:
    """Whether the intended change is what the disk shows; one that was cut short is finished first.

    What is neither the old nor the new was changed by others since. Then the version counts as done: so no content is
    lost, and an undo finds its change already gone.
    """
    previous = None if version.previous is None else store.version(version.previous)
    before: State = ABSENT if previous is None else previous.state
    there = standing(fs, path)
    if same(there, version.state):
        return True
    if same(there, before):
        return False
    if isinstance(there, Absent) or _torn(before, there, version.state):
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
        was, will = old[start : start + BLOCK], new[start : start + BLOCK]
        if block not in (was, will, was[: len(block)], will[: len(block)]) and block.strip(b"\0"):
            mixed += 1
            if not _spliced(was, block, will):
                return False
    return mixed <= 1


def _spliced(was: bytes, block: bytes, will: bytes) -> bool:
    """Whether a block begins as the new one and ends as the old one."""
    common = next((i for i, (a, b) in enumerate(zip(block, will, strict=False)) if a != b), min(len(block), len(will)))
    return any(block[cut:] == was[cut : len(block)] for cut in range(common + 1))


def _sweep(fs: WritableFileSystem, directory: RealPath) -> None:
    if fs.stat(directory) is not None:
        fs.sweep(directory)
