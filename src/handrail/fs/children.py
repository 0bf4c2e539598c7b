"""Runs a child program whose output streams: bounded in time, killed with its group, and never fed from our input."""

import os
import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Final

from handrail.fs.confined import ANYWHERE, Places, start
from handrail.model.calls import Cancellation
from handrail.model.errors import BackendFailed

_CHUNK: Final = 1 << 18
_TICK: Final = 0.1
_COMPLAINTS: Final = 16 << 10


class Child:
    """One run, which may read in `places` only.

    After `chunks` came to its end, `code` is the exit code and `stopped` says whether we ended it.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        directory: str,
        until: float,
        cancellation: Cancellation | None = None,
        handles: Sequence[int] = (),
        memory: int | None = None,
        places: Places = ANYWHERE,
    ) -> None:
        self.code: int | None = None
        self.stopped = False
        self.complaints = b""
        self.unreadable = 0
        self._drained = False
        self._until = until
        self._cancellation = cancellation
        environment = {name: value for name, value in os.environ.items() if name != "RIPGREP_CONFIG_PATH"}
        try:
            with open(os.devnull, "rb", buffering=0) as nothing:
                self._process = start(
                    arguments[0],
                    places,
                    lambda: subprocess.Popen(
                        list(arguments),
                        cwd=directory,
                        env=environment,
                        stdin=nothing,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE,
                        start_new_session=True,
                        pass_fds=handles,
                        bufsize=0,
                    ),
                )
        except (OSError, ValueError) as error:
            raise BackendFailed("backend_unavailable", f"The search program can't be started: {error}.") from error

        if memory is not None and hasattr(resource, "prlimit"):
            with suppress(OSError):
                resource.prlimit(self._process.pid, resource.RLIMIT_AS, (memory, memory))

    def chunks(self) -> Generator[bytes]:
        """What it writes, as it comes; ends early, the child killed, at the deadline or on cancellation."""
        if self._process.stdout is None or self._process.stderr is None:
            raise AssertionError("a child is started with pipes")
        out, err = self._process.stdout.fileno(), self._process.stderr.fileno()
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(out, selectors.EVENT_READ)
                selector.register(err, selectors.EVENT_READ)
                while selector.get_map() and not self._over():
                    for key, _ in selector.select(_TICK):
                        data = os.read(key.fd, _CHUNK)
                        if not data:
                            selector.unregister(key.fd)
                        elif key.fd == out:
                            yield data
                        else:
                            self._complain(data)
                self._drained = not self.stopped
        finally:
            self._end()

    def _over(self) -> bool:
        cancelled = self._cancellation is not None and self._cancellation.cancelled
        self.stopped = cancelled or time.monotonic() > self._until
        return self.stopped

    def _complain(self, data: bytes) -> None:
        # A file that vanished meanwhile (error 2) isn't unreadable.
        self.unreadable += data.count(b"(os error ") - data.count(b"(os error 2)")
        self.complaints = (self.complaints + data)[:_COMPLAINTS]

    def _end(self) -> None:
        process = self._process
        if not self._drained and process.poll() is None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                process.kill()
        self.code = process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
