"""Kills the writer, or lets the system fail it, at every file system call of every operation; 0 failures or exit 1.

Run with `make bench-crash`; `python benchmarks/crash.py patch KILL` tries one operation, or one kind of fault.
"""

import logging
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from injected import FAULTS, missing, points, run
from stories import STORIES, Stage, place


def tried(stage: Stage, kind: str, failures: list[str]) -> tuple[int, int]:
    """Points tried with one kind of fault, and how many of them went wrong."""
    before, number = len(failures), 0
    for number, point in enumerate(points(stage, [kind]), 1):  # noqa: B007 -- counted
        came = run(stage, point)
        wrong = came.odd or stage.judge(came.reported)
        if wrong:
            failures.append(f"{stage.story.name}, {point}: {wrong}")
            print(f"  {failures[-1]}", flush=True)
    return number, len(failures) - before


def stages(wanted: set[str]) -> Iterator[tuple[str, Stage]]:
    """Each operation in its place; what moves to the trash also with the trash on another file system."""
    for name, story in STORIES.items():
        for elsewhere in (False, True) if name.endswith("a directory") and place() else (False,):
            title = f"{name}, trash elsewhere" if elsewhere else name
            if wanted and title not in wanted:
                continue
            with tempfile.TemporaryDirectory(dir=place()) as here, tempfile.TemporaryDirectory() as there:
                stage = Stage(story, Path(here).resolve(), apart=Path(there).resolve() if elsewhere else None)
                stage.prepare()
                yield title, stage


def main() -> None:
    if why := missing():
        sys.exit(f"Not here: {why}.")
    logging.disable(logging.CRITICAL)
    kinds = [word for word in sys.argv[1:] if word in FAULTS]
    failures: list[str] = []
    print("| operation | fault | points | failures | s |\n| --- | --- | ---: | ---: | ---: |", flush=True)
    for title, stage in stages({*sys.argv[1:]} - {*kinds}):
        for kind in kinds or FAULTS:
            began = time.monotonic()
            number, wrong = tried(stage, kind, failures)
            print(f"| {title} | {kind} | {number} | {wrong} | {time.monotonic() - began:.0f} |", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
