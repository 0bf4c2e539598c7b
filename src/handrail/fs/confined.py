"""Starts a program so that it can read below given places only: by a thread that confined itself and does nothing else.

A confinement can't be taken off a thread again, so there is one thread for each, few are kept, and they end in time.
"""

import atexit
import functools
import gc
import os
import subprocess
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Final, Generic, TypeVar

from handrail.fs import landlock
from handrail.fs.landlock import EXECUTE, READ_DIRECTORY, READ_FILE, Allowed

T = TypeVar("T")

THREADS: Final = 8
_LIBRARIES: Final = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/nix/store")
_FACTS: Final = ("/etc/ld.so.cache", "/sys/fs/cgroup", "/sys/devices/system/cpu", "/dev/null")
_SECONDS: Final = 5


@dataclass(frozen=True, slots=True)
class Places:
    """Where a program may read: files and directories as a whole, and directories of which it may list names alone."""

    inside: Sequence[str]
    listed: Sequence[str] = ()


ANYWHERE: Final = Places(())


def start(program: str, places: Places, begin: Callable[[], T]) -> T:
    """What `begin`, which starts the program, answers or raises, called where the program will be confined.

    Without places, and where a confinement can't be had, it is called at once and the program is as free as we are.
    """
    if not places.inside or not confines(program):
        return begin()
    with _lock:
        job = _Job(begin)
        thread = _thread(program, places)
        if thread is not None:
            thread.jobs.put(job.run)
    return begin() if thread is None else job.outcome()


@functools.cache
def confines(program: str) -> bool:
    """Whether this machine can confine the program, tried once by asking the program for its version."""
    if not landlock.available():
        return False
    thread = _Confined(_allowed(program, ANYWHERE))
    try:
        if not thread.confined:
            return False
        job: _Job[subprocess.CompletedProcess[bytes]] = _Job(lambda: _version(program))
        thread.jobs.put(job.run)
        return job.outcome().returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False
    finally:
        thread.jobs.put(None)


class _Job(Generic[T]):
    """One start, and how it went."""

    def __init__(self, begin: Callable[[], T]) -> None:
        self._begin = begin
        self._done = threading.Event()
        self._answer: list[T] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            with _collection.paused():
                self._answer.append(self._begin())
        except BaseException as error:
            self._error = error
        self._done.set()

    def outcome(self) -> T:
        self._done.wait()
        try:
            if self._error is not None:
                raise self._error
            return self._answer[0]
        finally:
            del self._begin, self._error


class _Confined:
    """A thread under one confinement; `confined` is false when it couldn't be had, and then it has ended."""

    def __init__(self, allowed: Sequence[Allowed]) -> None:
        self.jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.confined = False
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(allowed,), name="handrail-confined", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            return
        self._ready.wait()

    def end(self) -> None:
        """Let it finish what it has to do, and end."""
        self.jobs.put(None)
        self._thread.join(_SECONDS)

    def _run(self, allowed: Sequence[Allowed]) -> None:
        try:
            landlock.confine(allowed)
            self.confined = True
        except OSError:
            return
        finally:
            self._ready.set()
        while (run := self.jobs.get()) is not None:
            run()
            del run


_lock = threading.Lock()
_threads: "OrderedDict[tuple[object, ...], _Confined]" = OrderedDict()


def _thread(program: str, places: Places) -> _Confined | None:
    """The thread for these places as they stand now: a directory that was made anew is another place."""
    key = (program, *map(_identity, places.inside), None, *map(_identity, places.listed))
    found = _threads.get(key)
    if found is not None:
        _threads.move_to_end(key)
        return found
    made = _Confined(_allowed(program, places))
    if not made.confined:
        return None
    _threads[key] = made
    while len(_threads) > THREADS:
        _threads.popitem(last=False)[1].jobs.put(None)
    return made


def _identity(path: str) -> tuple[str, int, int]:
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return path, 0, 0
    return path, found.st_dev, found.st_ino


def _allowed(program: str, places: Places) -> Sequence[Allowed]:
    # Of /proc nothing: what belongs to other programs lies there too. Programs do without their own part of it.
    needed = [os.path.realpath(program), *map(os.path.realpath, _LIBRARIES)]
    return [
        *(Allowed(path, READ_FILE | EXECUTE) for path in dict.fromkeys(needed)),
        *(Allowed(path, READ_FILE) for path in _FACTS),
        *(Allowed(path, READ_FILE | READ_DIRECTORY) for path in places.inside),
        *(Allowed(path, READ_DIRECTORY) for path in places.listed),
    ]


def _version(program: str) -> "subprocess.CompletedProcess[bytes]":
    with open(os.devnull, "rb") as nothing:
        return subprocess.run([program, "--version"], stdin=nothing, capture_output=True, timeout=_SECONDS, check=False)


class _Collection:
    """Keeps the finalizers of other people's objects from running in a thread that may touch no file."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pauses = 0
        self._was_on = False

    @contextmanager
    def paused(self) -> Iterator[None]:
        """No garbage is collected meanwhile, by any thread."""
        with self._lock:
            if not self._pauses:
                self._was_on = gc.isenabled()
                gc.disable()
            self._pauses += 1
        try:
            yield
        finally:
            with self._lock:
                self._pauses -= 1
                if not self._pauses:
                    self.resume()

    def resume(self) -> None:
        """As it was before."""
        if self._was_on:
            self._was_on = False
            gc.enable()


_collection = _Collection()


def _end_all() -> None:
    with _lock:
        ending = list(_threads.values())
        _threads.clear()
    for thread in ending:
        thread.end()


def _after_fork() -> None:
    """In a forked child there are no such threads, and nobody gives the locks back."""
    global _lock, _collection
    _collection.resume()
    _lock, _collection = threading.Lock(), _Collection()
    _threads.clear()


atexit.register(_end_all)
os.register_at_fork(after_in_child=_after_fork)
