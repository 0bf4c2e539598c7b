"""One SQLite file shared by threads and processes: connections, transactions, and failures as typed errors.

It knows no table.
"""

import contextlib
import errno
import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator

from handrail.model.errors import BackendFailed
from handrail.store import schema

WAIT_MS = 15_000
"""How long a statement waits for another process's write before the store counts as unavailable."""

FILE_NAME = "history.sqlite3"
CACHE_KIB = 16 * 1024
"""Of the database as much as a connection keeps in memory, once it has read it."""

_IDLE = 4
_FULL_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT})


@contextlib.contextmanager
def failures(directory: str) -> Iterator[None]:
    """Turn whatever SQLite, the system or damaged data raise into `BackendFailed`."""
    try:
        yield
    except sqlite3.Error as failure:
        raise _from_sqlite(failure, directory) from failure
    except OSError as failure:
        kind = "disk_full" if failure.errno in _FULL_ERRNOS else "history_unavailable"
        raise _unavailable(kind, failure.strerror or type(failure).__name__, directory) from failure
    except (ValueError, KeyError, TypeError, IndexError) as failure:
        raise _unavailable("history_unavailable", "it is damaged", directory) from failure


def unavailable(why: str, directory: str) -> BackendFailed:
    """The failure `history_unavailable`, with its reason."""
    return _unavailable("history_unavailable", why, directory)


class Database:
    """The connections to one file: readers taken from a small pool, one writer behind a lock, one that watches."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self._file = os.path.join(directory, FILE_NAME)
        self._idle: list[sqlite3.Connection] = []
        self._pool = threading.Lock()
        self._writing = threading.RLock()
        self._watching = threading.Lock()
        self._watch: sqlite3.Connection | None = None
        self._synchronous = ""
        self._closed = False
        self._writer = self._first()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for one or more reads; it goes back to the pool afterwards."""
        db = self._take()
        try:
            yield db
        finally:
            self._give(db)

    @contextlib.contextmanager
    def peeking(self) -> Iterator[sqlite3.Connection]:
        """A connection for a few rows at once: the writer's own, which need not read again what it wrote, if free."""
        if not self._writing.acquire(blocking=False):
            with self.reading() as db:
                yield db
            return
        try:
            self._open_or_fail()
            yield self._writer
        finally:
            self._writing.release()

    @contextlib.contextmanager
    def writing(self, *, durable: bool) -> Iterator[sqlite3.Connection]:
        """One transaction, committed when the block ends well; a durable one is on the disk by then."""
        with self._writing:
            self._open_or_fail()
            level = "FULL" if durable else "NORMAL"
            if level != self._synchronous:
                self._writer.execute(f"PRAGMA synchronous = {level}")
                self._synchronous = level
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._writer.execute("ROLLBACK")
                raise

    def changed(self) -> int:
        """A number that differs when any other connection, of this process or another, has committed."""
        with self._watching:
            self._open_or_fail()
            if self._watch is None:
                self._watch = self._connect()
            return int(self._watch.execute("PRAGMA data_version").fetchone()[0])

    def checkpoint(self) -> None:
        """Bring the log into the database and cut it off; where others are at work it waits but a moment."""
        db = self._connect()
        try:
            db.execute("PRAGMA busy_timeout = 200")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            db.close()

    def close(self) -> None:
        """Close every connection; later calls fail."""
        with self._writing, self._watching, self._pool:
            self._closed = True
            for db in (*self._idle, self._watch, self._writer):
                if db is not None:
                    db.close()
            self._idle.clear()
            self._watch = None

    def _open_or_fail(self) -> None:
        if self._closed:
            raise unavailable("it was closed", self.directory)

    def _take(self) -> sqlite3.Connection:
        with self._pool:
            self._open_or_fail()
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def _give(self, db: sqlite3.Connection) -> None:
        with self._pool:
            if not self._closed and len(self._idle) < _IDLE:
                self._idle.append(db)
                return
        db.close()

    def _connect(self) -> sqlite3.Connection:
        # Autocommit: transactions begin where we say so. The pool and the lock keep a connection to one thread.
        db = sqlite3.connect(self._file, timeout=WAIT_MS / 1000, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA cell_size_check = ON")
            db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        except BaseException:
            db.close()
            raise
        return db

    def _first(self) -> sqlite3.Connection:
        make_file(self._file)
        db = self._connect()
        try:
            if not schema.current(db):
                # The switch to WAL doesn't wait for others by itself.
                with _alone(os.path.join(self.directory, "open.lock")):
                    schema.migrate(db)
        except BaseException:
            db.close()
            raise
        return db


def private_directory(path: str) -> None:
    """Make a directory for our eyes only, whatever the umask; its name outlives a loss of power.

    One that has things in it is left as it is.
    """
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if os.stat(path).st_mode & 0o077 and not os.listdir(path):
            os.chmod(path, 0o700)
        return
    except FileNotFoundError:
        _make_above(os.path.dirname(path))
        private_directory(path)
        return
    os.chmod(path, 0o700)
    sync_directory(os.path.dirname(path))


def _make_above(path: str) -> None:
    above = os.path.dirname(path)
    if above != path and not os.path.isdir(above):
        _make_above(above)
    with contextlib.suppress(FileExistsError):
        os.mkdir(path)
        sync_directory(above)


def sync_directory(path: str) -> None:
    """Make the names in a directory durable; one that may not be read, or whose file system can't, is left to it."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError:
        return
    try:
        os.fsync(handle)
    except OSError as failure:
        if failure.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
            raise
    finally:
        os.close(handle)


def make_file(path: str) -> None:
    """Make a database file for our eyes only, whatever the umask; one that is there stays."""
    # SQLite gives its side files the mode of the main file.
    with contextlib.suppress(FileExistsError):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(handle, 0o600)
        finally:
            os.close(handle)


@contextlib.contextmanager
def _alone(path: str) -> Iterator[None]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _from_sqlite(failure: sqlite3.Error, directory: str) -> BackendFailed:
    code = getattr(failure, "sqlite_errorcode", None)
    basic = code & 0xFF if isinstance(code, int) else None
    if basic == sqlite3.SQLITE_FULL or (basic == sqlite3.SQLITE_IOERR and _no_room(directory)):
        return _unavailable("disk_full", "the disk is full", directory)
    busy = basic in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    why = "another process holds it" if busy else str(failure)
    return _unavailable("history_unavailable", why, directory, retryable=busy)


def _no_room(directory: str) -> bool:
    try:
        return os.statvfs(directory).f_bavail == 0
    except OSError:
        return False


def _unavailable(kind: str, why: str, directory: str, *, retryable: bool = False) -> BackendFailed:
    if kind == "disk_full":
        message = "There is no room left where the history is kept."
        hint = f"Free some space on the file system of {directory}, then repeat the call."
    else:
        message = f"The history can't be used: {why}."
        hint = (
            "Repeat the call."
            if retryable
            else f"Run handrail doctor; look at {directory}: its rights, its file system."
        )
    return BackendFailed(kind, message, hint=hint, retryable=retryable, facts={"directory": directory})
