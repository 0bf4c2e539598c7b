"""Loses power at every sync and every change of a name, with what wasn't synced dropped; 0 failures or exit 1.

Whether a name outlives another is chance there, so that a stray draft of a content may wait for `handrail gc`.
Run with `make bench-power`; `python benchmarks/power.py patch` tries one operation.
"""

import logging
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from injected import missing, record
from stories import STORIES, Stage, place
from unsynced import OPTIONS, WAYS, Disk, State, boundaries, events

CHANCES = 4


def states(stage: Stage) -> Iterator[tuple[str, State, bool]]:
    """Each different state that a loss of power during the act may leave; and whether the act had been answered."""
    stage.reset()
    disk = Disk(stage.base / "now")
    told = events(record(stage, OPTIONS))
    seen: set[int] = set()
    taken = 0
    for number, answered in boundaries(told):
        for event in told[taken:number]:
            disk.take(event)
        taken = max(taken, number)
        made = [(way, disk.state(way)) for way in WAYS]
        made += [(f"chance {n}", disk.state("", random.Random(number * 1000 + n))) for n in range(CHANCES)]
        for way, state in made:
            mark = hash((tuple(entry[:4] for entry in state.entries), answered))
            if mark not in seen:
                seen.add(mark)
                last = told[number - 1].call if number else "start"
                yield f"{way}, after call {number} ({last})", state, answered


def tried(stage: Stage, failures: list[str]) -> int:
    """States tried for one operation."""
    number = 0
    for number, (where, state, answered) in enumerate(states(stage), 1):  # noqa: B007 -- counted
        state.build()
        if wrong := stage.judge(True if answered else None, collected=True):
            failures.append(f"{stage.story.name}, {where}: {wrong}")
            print(f"  {failures[-1]}", flush=True)
    return number


def main() -> None:
    if why := missing():
        sys.exit(f"Not here: {why}.")
    logging.disable(logging.CRITICAL)
    failures: list[str] = []
    print("| operation | states after a loss of power | failures | s |\n| --- | ---: | ---: | ---: |", flush=True)
    for story in STORIES.values():
        if sys.argv[1:] and story.name not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory(dir=place()) as here:
            stage = Stage(story, Path(here).resolve())
            stage.prepare()
            before, began = len(failures), time.monotonic()
            number = tried(stage, failures)
            took = time.monotonic() - began
        print(f"| {story.name} | {number} | {len(failures) - before} | {took:.0f} |", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
