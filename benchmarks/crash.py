"""Kills the writer, or lets the system fail it, at every file system call of every operation; 0 failures or exit 1.

Run with `make bench-crash`; `python benchmarks/crash.py patch KILL` tries one operation, or one kind of fault.
"""

import logging
import sys
import tempfile
import time
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


def main() -> None:
    if why := missing():
        sys.exit(f"Not here: {why}.")
    logging.disable(logging.CRITICAL)
    wanted = set(sys.argv[1:])
    failures: list[str] = []
    print("| operation | fault | points | failures | s |\n| --- | --- | ---: | ---: | ---: |", flush=True)
    for story in STORIES.values():
        if wanted & set(STORIES) and story.name not in wanted:
            continue
        with tempfile.TemporaryDirectory(dir=place()) as here:
            stage = Stage(story, Path(here).resolve())
            stage.prepare()
            for kind in FAULTS:
                if wanted & set(FAULTS) and kind not in wanted:
                    continue
                began = time.monotonic()
                number, wrong = tried(stage, kind, failures)
                took = time.monotonic() - began
                print(f"| {story.name} | {kind} | {number} | {wrong} | {took:.0f} |", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
