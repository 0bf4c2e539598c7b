"""What our search is held against without a rival's program: `rg` alone, and `rg --files` with a stat a file."""

import os
import selectors
import subprocess
from collections.abc import Iterator
from pathlib import Path

from handrail.fs.ripgrep import binary

SEEN = ("--no-config", "--hidden", "--no-ignore-messages", "--no-require-git", "--no-ignore-parent", "-g!.git")
"""What our engine asks of ripgrep for the same files to be seen."""
SEARCHED = ("--json", *SEEN, "--binary", "--no-mmap", "--before-context=0", "--after-context=0")
_CHUNK = 1 << 18


def drained(arguments: list[str], place: Path) -> Iterator[bytes]:
    """What a child writes, read from its pipe as our engine reads it, and not looked at."""
    child = subprocess.Popen(
        arguments,
        cwd=place,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        bufsize=0,
    )
    assert child.stdout and child.stderr
    with selectors.DefaultSelector() as selector, child.stdout, child.stderr:
        for pipe in (child.stdout, child.stderr):
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                data = os.read(key.fd, _CHUNK)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.fd == child.stdout.fileno():
                    yield data
    child.wait()


def rg_words(pattern: str, place: Path, *, literal: bool) -> list[str]:
    words = [binary(), *SEARCHED, *(["--fixed-strings"] if literal else [])]
    return [*words, f"--regexp={pattern}", "--", str(place)]


def rg_alone(pattern: str, place: Path, *, literal: bool) -> int:
    """Bytes of JSON that `rg` wrote."""
    return sum(map(len, drained(rg_words(pattern, place, literal=literal), place)))


def rg_rows(pattern: str, place: Path, *, literal: bool) -> int:
    """How many rows `rg` found; not for timing."""
    said = b"".join(drained(rg_words(pattern, place, literal=literal), place))
    return said.count(b'\n{"type":"match"') + said.startswith(b'{"type":"match"')


def newest(glob: str, place: Path) -> list[str]:
    """The files that match, newest first, as a plain program would do it: `rg --files`, one stat a file, a sort."""
    words = [binary(), "--files", "--null", *SEEN, f"--glob={glob}", "--", str(place)]
    names = filter(None, b"".join(drained(words, place)).split(b"\0"))
    return [os.fsdecode(name) for _, name in sorted((-os.stat(name).st_mtime_ns, name) for name in names)]
