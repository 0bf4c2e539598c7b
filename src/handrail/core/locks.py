"""A lock for each real path, across threads and processes; what is locked for and what happens then it doesn't know.

Paths share a bounded number of lock files, by their hash. Several are taken in one order, so nobody deadlocks.
"""

import errno
import fcntl
import hashlib
import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

from handrail.model.errors import BackendFailed
from handrail.model.paths import RealPath

SLOTS: Final = 1024
_FIRST_PAUSE: Final = 0.0005
_LONGEST_PAUSE: Final = 0.02


class Locks:
    """Locks in a directory of their own; made when first needed. A thread that holds some must not ask for more."""

    def __init__(self, directory: str, *, patience: float = 10.0) -> None:
        self._directory = directory
        self._patience = patience
        self._threads: dict[int, threading.Lock] = {}
        self._guard = threading.Lock()

    @contextmanager
    def hold(self, paths: Iterable[RealPath]) -> Iterator[None]:
        """Hold the locks of all these paths; `BackendFailed` `busy` when that takes more than `patience` seconds."""
        wanted = {slot(path): path for path in paths}
        deadline = time.monotonic() + self._patience
        with ExitStack() as held:
            for number in sorted(wanted):
                held.enter_context(self._one(number, deadline, wanted[number]))
            yield

    @contextmanager
    def _one(self, number: int, deadline: float, path: RealPath) -> Iterator[None]:
        with self._guard:
            own = self._threads.setdefault(number, threading.Lock())
        if not own.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise _busy(path)
        try:
            handle = self._open(number)
            try:
                _lock(handle, deadline, path)
                yield
            finally:
                with suppress(OSError):  # the kernel has let go of it by then, whatever it says
                    os.close(handle)
        finally:
            own.release()

    def _open(self, number: int) -> int:
        name = f"{self._directory}/{number:03x}"
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            try:
                return os.open(name, flags, 0o600)
            except FileNotFoundError:
                os.makedirs(self._directory, mode=0o700, exist_ok=True)
                return os.open(name, flags, 0o600)
        except OSError as error:
            raise BackendFailed(
                "history_unavailable",
                f"The directory for locks can't be used ({error.strerror}); nothing was changed.",
                hint="Make the data directory writable, or name another with HANDRAIL_DATA_DIR.",
            ) from error


def slot(path: RealPath) -> int:
    """Which of the lock files a path shares."""
    digest = hashlib.blake2b(os.fsencode(path.text), digest_size=4).digest()
    return int.from_bytes(digest, "big") % SLOTS


def _lock(handle: int, deadline: float, path: RealPath) -> None:
    pause = _FIRST_PAUSE
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EINTR):
                raise BackendFailed("io_error", f"The lock of {path} can't be taken ({error.strerror}).") from error
        else:
            return
        if time.monotonic() >= deadline:
            raise _busy(path)
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)


def _busy(path: RealPath) -> BackendFailed:
    return BackendFailed(
        "busy",
        f"Another call is changing {path} and hasn't finished; nothing was changed.",
        hint="Wait a little, then repeat the call.",
        path=str(path),
        retryable=True,
    )
