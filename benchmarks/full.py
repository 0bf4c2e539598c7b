"""Operations on a real file system with almost no room left, from none to enough; 0 failures or exit 1.

Run with `make bench-full`, as root: it mounts small file systems (memory, and ext4 in a file) and unmounts them.
"""

import contextlib
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from injected import Run, acted
from stories import STORIES, Stage

SYSTEMS = ("tmpfs", "ext4")
ROOM = 8 << 20
STEPS = {"tmpfs": 4096, "ext4": 4096}
MOST = 100


def missing() -> str | None:
    """Why no small file system can be mounted here; `None` = it can."""
    if os.geteuid() or not shutil.which("mount") or not shutil.which("mkfs.ext4"):
        return "only root can mount a small file system"
    with tempfile.TemporaryDirectory() as here:
        done = subprocess.run(["mount", "-t", "tmpfs", "tiny", here], capture_output=True, check=False)
        if done.returncode == 0:
            subprocess.run(["umount", here], check=True)
    return None if done.returncode == 0 else "nothing may be mounted here"


@contextlib.contextmanager
def small(system: str) -> Iterator[Path]:
    """A small file system, mounted."""
    with tempfile.TemporaryDirectory() as here:
        place, image = Path(here).resolve() / "disk", Path(here) / "image"
        place.mkdir()
        if system == "tmpfs":
            words = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tiny", place]
        else:
            with image.open("wb") as file:
                file.truncate(2 * ROOM)
            subprocess.run(["mkfs.ext4", "-q", "-b", "1024", "-m", "0", image], check=True)
            words = ["mount", "-o", "loop", image, place]
        subprocess.run(words, check=True)
        try:
            yield place
        finally:
            subprocess.run(["umount", place], check=True)


def fill(place: Path, left: int) -> None:
    """Take all the room but so many bytes."""
    filler = os.open(place / "filler", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        for size in (1 << 20, 1 << 16, 1 << 12, 1 << 9):
            with contextlib.suppress(OSError):
                while os.write(filler, bytes(size)):
                    pass
            os.fsync(filler)
        os.ftruncate(filler, max(0, os.fstat(filler).st_size - left))
        os.fsync(filler)
    finally:
        os.close(filler)


def tried(place: Path, name: str, step: int, *, opening: bool) -> Iterator[tuple[int, Run, str]]:
    """One operation with more room each time, until it is done: (bytes left, how it was answered, what is wrong)."""
    stage = Stage(STORIES[name], place / "stage")
    stage.prepare()
    for left in (step * number * (1 + number // 25) for number in range(MOST)):
        stage.reset()
        came = acted(stage, lambda _, left=left: fill(place, left), opening=opening)
        wrong = stage.mixed()
        (place / "filler").unlink()
        wrong += [word for word in (came.odd, stage.judge(came.reported)) if word]
        yield left, came, "; ".join(wrong)
        if came.reported is True:
            break
    shutil.rmtree(place / "stage")


def main(chosen: Sequence[str]) -> None:
    if why := missing():
        sys.exit(f"Not here: {why}.")
    logging.disable(logging.CRITICAL)
    failed = 0
    print(
        "| file system | operation | refused | done with | failures |\n| --- | --- | ---: | ---: | ---: |", flush=True
    )
    for system in SYSTEMS:
        with small(system) as place:
            for name in STORIES:
                for opening in (False, True):
                    if (chosen and name not in chosen) or (opening and STORIES[name].starts):
                        continue
                    runs = list(tried(place, name, STEPS[system], opening=opening))
                    wrong = [f"  {name}, {left} bytes left: {word}" for left, _, word in runs if word]
                    print(*wrong, sep="\n", end="\n" * bool(wrong))
                    failed += len(wrong)
                    title = f"{name}, just opened" if opening else name
                    done = f"{runs[-1][0]:,} bytes" if runs[-1][1].reported is True else "never"
                    print(f"| {system} | {title} | {len(runs) - 1} | {done} | {len(wrong)} |", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
