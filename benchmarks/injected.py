"""Runs a story's act in a forked child whose n-th system call of one name is killed or fails, by strace.

The child is forked from a process that has everything loaded, so a point costs tens of milliseconds.
"""

import collections
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import handrail
from stories import Reported, Stage

WRITING = (
    *("openat", "openat2", "creat", "write", "pwrite64", "writev", "pwritev", "fsync", "fdatasync", "ftruncate"),
    *("fallocate", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "mkdir", "mkdirat"),
    *("rmdir", "symlink", "symlinkat", "chmod", "fchmod", "fchmodat", "chown", "fchown", "fchownat", "fsetxattr"),
    *("fremovexattr", "utimensat", "copy_file_range", "sendfile"),
)
READING = (
    *("read", "pread64", "readv", "preadv", "lseek", "close", "stat", "lstat", "fstat", "newfstatat", "statx"),
    *("access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents64", "fgetxattr", "flistxattr"),
    *("flock", "fcntl", "statfs", "fstatfs", "getcwd"),
)
CALLS = (*WRITING, *READING)
WAITING = frozenset(
    {
        *("openat", "openat2", "creat", "read", "write", "pread64", "pwrite64", "fsync", "fdatasync", "ftruncate"),
        *("fallocate", "flock", "fcntl", "close", "renameat2", "unlinkat", "getdents64", "statfs"),
    }
)
FAULTS: Mapping[str, frozenset[str]] = {
    "KILL": frozenset(CALLS),
    "EIO": frozenset(CALLS),
    "ENOSPC": frozenset({*WRITING} - {"unlink", "unlinkat", "rmdir"}),
    "EINTR": WAITING,
}
"""Which calls can meet which kind of fault."""


@dataclass(frozen=True)
class Point:
    """One fault: which call of the act, and what happens to it."""

    call: str
    number: int
    kind: str

    def __str__(self) -> str:
        return f"{self.kind} at {self.call} {self.number}"

    def expression(self) -> str:
        what = "signal=KILL" if self.kind == "KILL" else f"error={self.kind}"
        return f"inject={self.call}:{what}:when={self.number}"


@dataclass(frozen=True)
class Run:
    """What came of it. `reported`: how the act was answered, `None` where it died; `odd`: what no caller expects."""

    reported: Reported
    odd: str = ""


def missing() -> str | None:
    """Why nothing can be injected here; `None` = it can."""
    if not sys.platform.startswith("linux") or shutil.which("strace") is None:
        return "strace isn't installed"
    done = subprocess.run(
        ["strace", "-o", "/dev/null", "-e", "inject=getcwd:error=EIO", "true"], capture_output=True, check=False
    )
    return None if done.returncode == 0 else "strace may not trace here"


def counts(stage: Stage) -> dict[str, int]:
    """How often an act makes each call; a call that this machine doesn't know is left out."""
    stage.reset()
    log = stage.base / "strace.log"
    known = ",".join("?" + call for call in CALLS)
    _traced(stage, ["-e", f"trace={known}"], log)
    found: dict[str, int] = {}
    for line in log.read_text(errors="replace").split("\n"):
        if made := re.match(r"(?:\d+ +)?(\w+)\(", line):
            found[made[1]] = found.get(made[1], 0) + 1
    return found


def points(stage: Stage, kinds: Sequence[str] = (*FAULTS,)) -> Iterator[Point]:
    """Every point of a story's act: each of its calls, with each kind of fault that such a call can meet."""
    for call, number in sorted(counts(stage).items()):
        for kind in kinds:
            if call in FAULTS[kind]:
                yield from (Point(call, n, kind) for n in range(1, number + 1))


def run(stage: Stage, point: Point) -> Run:
    """The act from the beginning, with one fault in it."""
    stage.reset()
    return _traced(stage, ["-e", f"trace={point.call}", "-e", point.expression()], stage.base / "strace.log")


def record(stage: Stage, options: Sequence[str]) -> Path:
    """The act without a fault, from the opening of the workspace to its closing, as strace tells it."""
    log = stage.base / "strace.log"
    assert _traced(stage, options, log, opening=True).reported
    return log


def _traced(stage: Stage, options: Sequence[str], log: Path, *, opening: bool = False) -> Run:
    tracers: list[subprocess.Popen[bytes]] = []
    came = acted(stage, lambda child: tracers.append(_tracer(child, options, log)), opening=opening)
    for tracer in tracers:
        tracer.wait()
    return came


def _tracer(child: int, options: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    tracer = subprocess.Popen(["strace", "-f", "-o", str(log), "-p", str(child), *options], stderr=subprocess.PIPE)
    assert tracer.stderr is not None
    with tracer.stderr as said:
        line = said.readline()
    if b"attached" not in line:
        os.kill(child, signal.SIGKILL)
        raise RuntimeError(line.decode(errors="replace"))
    return tracer


def acted(stage: Stage, meanwhile: Callable[[int], object], *, opening: bool = False) -> Run:
    """The act in a child, which waits for `meanwhile` just before; with the opening of the workspace, if asked."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        _act(stage, theirs, opening=opening or stage.story.starts)
    theirs.close()
    try:
        with ours, ours.makefile("rb") as answers:
            if answers.readline() != b"ready\n":
                raise RuntimeError("the child didn't come to its act")
            meanwhile(child)
            ours.send(b"go")
            answer = answers.readline()
    finally:
        os.waitpid(child, 0)
    if not answer:
        return Run(None)
    told = json.loads(answer)
    return Run(told["ok"], told["odd"])


def _act(stage: Stage, link: socket.socket, *, opening: bool) -> None:
    """The child's life. It speaks over a socket, whose calls are not among those that fail."""
    told: dict[str, object] = {}
    files: handrail.Handrail | None = None
    try:
        if not opening:
            files = stage.open()
            stage.story.ready(files)
        link.send(b"ready\n")
        link.recv(2)
        try:
            if files is None:
                files = stage.open()
                stage.story.ready(files)
            result = stage.story.act(files, stage.facts)
            told = {"ok": _answered(result), "odd": _odd(result)}
        except handrail.HandrailError as error:
            told = {"ok": False, "odd": "" if error.hint else f"{error.kind} without a hint"}
        link.send(json.dumps(told).encode() + b"\n")
        if files is not None:
            files.close()
    except BaseException as error:
        if not told:
            told = {"ok": False, "odd": "".join(traceback.format_exception(error))[-600:]}
            link.send(json.dumps(told).encode() + b"\n")
    finally:
        os._exit(0)


def _answered(result: handrail.Result) -> Reported:
    """An undo answers path by path: done, refused, or that there is nothing to change or that something stays."""
    files = result.payload.get("files", [])
    if not any("error" in file or file.get("unchanged") for file in files):
        return result.ok
    told = collections.Counter(file["path"] for file in files)  # a refusal may name what lies below its path
    once = [file for file in files if told[file["path"]] == 1 and not file.get("unchanged")]
    return {file["path"]: "error" not in file for file in once} if result.ok else False


def _odd(result: handrail.Result) -> str:
    return "" if result.ok or result.kind != "internal_error" else f"internal_error: {result.text[:300]}"
