"""Who is alive: each open store holds a lock on a file of its own, which the kernel frees when its process ends.

It knows no version; `versions.py` asks it whose intents are orphans.
"""

import contextlib
import fcntl
import os
import re
import secrets
import weakref

from handrail.store.database import private_directory

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")


class Owner:
    """The sign of life of one open store; `name` is unique among all that ever were."""

    def __init__(self, directory: str, owner: str) -> None:
        self._directory = os.path.join(directory, "owners")
        private_directory(self._directory)
        self.name = f"{_UNSAFE.sub('_', owner)[:64]}-{os.getpid()}-{secrets.token_hex(6)}"
        self._handle = self._hold()
        _HELD.add(self)

    def gone(self, name: str) -> bool:
        """Whether the store of that name is no longer open in a living process."""
        if name == self.name:
            return False
        handle = _locked(os.path.join(self._directory, name))
        if handle is None:
            return False
        if handle >= 0:
            os.close(handle)
        return True

    def bury(self, keep: frozenset[str]) -> int:
        """Remove the signs of stores that are gone, but for those named; returns how many that were."""
        buried = 0
        for name in os.listdir(self._directory):
            if name == self.name or name in keep:
                continue
            path = os.path.join(self._directory, name)
            handle = _locked(path)
            if handle is not None and handle >= 0:
                with contextlib.suppress(OSError):
                    os.unlink(path)
                    buried += 1
                os.close(handle)
        return buried

    def close(self) -> None:
        """Give the lock back; without a file an owner is gone."""
        if self._handle >= 0:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(self._directory, self.name))
        self.let_go()

    def _hold(self) -> int:
        path = os.path.join(self._directory, self.name)
        while True:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(handle, fcntl.LOCK_EX)
            # Somebody who tidied up may have removed the file between the two calls.
            with contextlib.suppress(FileNotFoundError):
                if os.stat(path).st_ino == os.fstat(handle).st_ino:
                    return handle
            os.close(handle)

    def let_go(self) -> None:
        """Close our copy of the lock; in a forked child the parent's stays, and ends with the parent."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


def lives(directory: str, name: str) -> bool:
    """Whether the store of that name, in the store directory, is open in a living process."""
    handle = _locked(os.path.join(directory, "owners", name))
    if handle is not None and handle >= 0:
        os.close(handle)
    return handle is None


def living(directory: str) -> list[str]:
    """The names of the open stores of living processes."""
    try:
        names = os.listdir(os.path.join(directory, "owners"))
    except FileNotFoundError:
        return []
    return [name for name in names if lives(directory, name)]


def _let_go_in_child() -> None:
    for owner in list(_HELD):
        owner.let_go()


_HELD: weakref.WeakSet[Owner] = weakref.WeakSet()
os.register_at_fork(after_in_child=_let_go_in_child)


def _locked(path: str) -> int | None:
    """A handle that holds the lock; -1 where there is no file; `None` while a living process holds it."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return -1
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle
