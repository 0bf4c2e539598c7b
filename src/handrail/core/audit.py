"""Station 8: one line of JSON a call, each chained to the one before it by a hash; no content, no secrets.

A process has a file of its own, `audit-<process>.jsonl`; processes that share a name share file and chain.
"""

import fcntl
import hashlib
import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from handrail.model.errors import BackendFailed
from handrail.model.paths import shown

FILE_BYTES: Final = 16 * 1024 * 1024
"""A file that has grown this large is followed by the next, `audit-<process>.<n>.jsonl`."""
FILES_KEPT: Final = 16
"""Files of one process; older ones are removed."""
START: Final = "0" * 64
"""What the first line of a chain has as `prev`."""

_TAIL: Final = 256 * 1024
_HASHED: Final = b',"hash":"'
_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """One call as the audit keeps it: names and numbers only. `bytes`: read or written; `outcome`: `ok` or `error`."""

    tool: str
    outcome: str
    kind: str
    session: str
    interface: str
    file_path: str | None = None
    paths: tuple[str, ...] = ()
    bytes: int = 0
    task: str | None = None
    duration_ms: float = 0.0
    approval: str | None = None
    approved_by: str | None = None


class Audit:
    """The trail of one process in one directory; safe from many threads, and from processes that share its name.

    Nothing is made before the first line. Failures are `BackendFailed` `audit_unavailable`.
    """

    def __init__(
        self,
        directory: str,
        *,
        process: str | None = None,
        file_bytes: int = FILE_BYTES,
        files_kept: int = FILES_KEPT,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._directory = directory
        self._process = process or f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._file_bytes = file_bytes
        self._files_kept = files_kept
        self._clock = clock
        self._lock = threading.Lock()
        self._file: int | None = None
        self._number = 0
        self._size = -1
        self._last = START
        self._whole = True

    def ready(self) -> None:
        """Raise now if a line couldn't be written."""
        with self._lock:
            try:
                self._open()
            except OSError as error:
                raise _unavailable(error) from None

    def write(self, event: AuditEvent) -> None:
        """Append the event as one whole line."""
        body = _body(event, self._clock())
        with self._lock:
            try:
                self._append(body)
            except OSError as error:
                raise _unavailable(error) from None

    def close(self) -> None:
        """Give the file back; a later line opens it again."""
        with self._lock:
            self._drop()

    # the file

    def _append(self, body: str) -> None:
        file = self._open()
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            while self._read_tail(file) >= self._file_bytes:
                file = self._next(file)
            line = _line(body, self._last)
            data = line if self._whole else b"\n" + line
            written = os.write(file, data)
            if written < len(data):
                self._size = -1
                raise OSError("a line was cut short")
            self._size += written
            self._last = _hash_in(line)
            self._whole = True
        finally:
            if self._file is not None:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def _open(self) -> int:
        if self._file is None:
            os.makedirs(self._directory, mode=0o700, exist_ok=True)
            self._number = max(self._numbers(), default=0)
            self._file = self._create(self._number)
            self._size = -1
        return self._file

    def _next(self, full: int) -> int:
        """The file after a full one, locked; the full one is let go and the oldest is removed."""
        self._number += 1
        file = self._create(self._number)
        fcntl.flock(file, fcntl.LOCK_EX)
        os.close(full)
        self._file = file
        self._size = -1
        for number in self._numbers():
            if number <= self._number - self._files_kept:
                with suppress(FileNotFoundError):
                    os.unlink(self._path(number))
        return file

    def _read_tail(self, file: int) -> int:
        """Learn what others wrote since: size, last hash, whether the last line is whole. Returns the size."""
        size = os.fstat(file).st_size
        if size == self._size:
            return size
        if size:
            tail = os.pread(file, _TAIL, max(0, size - _TAIL))
            self._whole = tail.endswith(b"\n")
            lines = tail.split(b"\n")
            self._last = next((h for line in reversed(lines) if (h := _hash_in(line))), self._last)
        else:
            self._whole = True
            self._last = self._last_of(self._number - 1)
        self._size = size
        return size

    def _last_of(self, number: int) -> str:
        """The last hash of the file before, which this chain goes on from."""
        try:
            file = os.open(self._path(number), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return START
        try:
            size = os.fstat(file).st_size
            lines = os.pread(file, _TAIL, max(0, size - _TAIL)).split(b"\n")
        finally:
            os.close(file)
        return next((h for line in reversed(lines) if (h := _hash_in(line))), START)

    def _create(self, number: int) -> int:
        file = os.open(self._path(number), _FLAGS, 0o600)
        os.fchmod(file, 0o600)
        return file

    def _path(self, number: int) -> str:
        name = f"audit-{self._process}.{number}.jsonl" if number else f"audit-{self._process}.jsonl"
        return os.path.join(self._directory, name)

    def _numbers(self) -> list[int]:
        numbers = []
        for name in os.listdir(self._directory):
            middle = name.removeprefix(f"audit-{self._process}").removesuffix("jsonl")
            if name == f"audit-{self._process}{middle}jsonl":
                numbers += [0] if middle == "." else [int(n) for n in [middle[1:-1]] if n.isdecimal()]
        return numbers

    def _drop(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def first_broken(lines: Iterable[bytes], *, prev: str | None = None) -> int | None:
    """The 0-based number of the first line that was changed, or whose predecessor was; `None` = the chain holds.

    `lines` without their ends, from one or several files in order; `prev` = the hash that the first must follow
    (`None`: whatever it says, where older files were removed).
    """
    for number, line in enumerate(lines):
        body, _, _ = line.rpartition(_HASHED)
        try:
            says = json.loads(line)
            follows, own = str(says["prev"]), str(says["hash"])
        except (ValueError, KeyError, TypeError):
            return number
        if own != hashlib.sha256(body + b"}").hexdigest() or (prev is not None and follows != prev):
            return number
        prev = own
    return None


def _body(event: AuditEvent, now: int) -> str:
    """The event as a JSON object without its closing brace; names are spelled so that any bytes survive."""
    seconds, nanos = divmod(now, 10**9)
    at = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S") + f".{nanos // 1000:06d}Z"
    fields = {
        "time": at,
        "tool": event.tool,
        "file_path": None if event.file_path is None else shown(event.file_path),
        "paths": [shown(path) for path in event.paths],
        "bytes": event.bytes,
        "outcome": event.outcome,
        "kind": event.kind,
        "session": event.session,
        "task": event.task,
        "interface": event.interface,
        "duration_ms": event.duration_ms,
        "approval": event.approval,
        "approved_by": event.approved_by,
    }
    return json.dumps(fields, separators=(",", ":"))[:-1]


def _line(body: str, prev: str) -> bytes:
    hashed = f'{body},"prev":"{prev}"'.encode()
    digest = hashlib.sha256(hashed + b"}").hexdigest()
    return hashed + _HASHED + digest.encode() + b'"}\n'


def _hash_in(line: bytes) -> str:
    """The hash at a line's end; empty where it has none."""
    _, found, rest = line.rstrip(b"\n").rpartition(_HASHED)
    return rest[:64].decode("ascii", "replace") if found and len(rest) == 66 else ""


def _unavailable(error: OSError) -> BackendFailed:
    return BackendFailed(
        "audit_unavailable",
        f"The audit can't be written ({error.strerror or error}).",
        hint="Tell the person: the data directory must be writable and have room.",
    )
