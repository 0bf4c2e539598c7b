"""Ignore rules against git itself on two thousand random trees, and the search program against the tree on each.

Prints how many differ, with the seeds to grow them again, and how long a walk of a large tree takes beside bare calls.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "fs"))

from random_trees import git_sees, grow

from handrail.fs import ripgrep
from handrail.fs.protocol import Bounds
from handrail.fs.tree import Asked, Trees
from handrail.model.paths import seal
from handrail.model.view import Tally


def differing(trees: int, place: Path) -> int:
    """How many random trees aren't seen as git sees them, or not searched as they are seen."""
    wrong = 0
    for seed in range(1000, 1000 + trees):
        root = place / "tree"
        root.mkdir()
        dice = random.Random(seed)
        dotted = dice.random() < 0.3
        grow(root, dice, dotted=dotted)
        known = Trees()
        bounds = Bounds(inside=[str(root)])
        found = known.walk(seal(str(root)), Asked(), bounds=bounds, tally=Tally({})) or ()
        seen = {os.path.relpath(f"{d.name}/{name}", root) for d in found for name in d.files}
        told = known.omitted(str(root), bounds.inside)
        searched = ripgrep.walk(
            seal(str(root)), bounds, Tally({}), respect_ignore=True, omitted=lambda _, told=told: told
        )
        if not dotted and seen != git_sees(root):
            wrong += 1
            print(f"seed {seed}: git sees {sorted(seen ^ git_sees(root))} otherwise")
        if {os.path.relpath(name, root) for name in searched} != seen:
            wrong += 1
            print(f"seed {seed}: the search program finds other files")
        shutil.rmtree(root)
    return wrong


def bare(root: Path) -> float:
    """Milliseconds of processor time that listing each directory takes and nothing else."""
    started = time.thread_time()
    stack = [str(root)]
    while stack:
        with os.scandir(stack.pop()) as entries:
            stack += [
                e.path for e in entries if not e.is_file(follow_symlinks=False) and e.is_dir(follow_symlinks=False)
            ]
    return (time.thread_time() - started) * 1e3


def looks(names: list[str]) -> float:
    """Milliseconds of processor time that one stat a directory takes and nothing else."""
    started = time.thread_time()
    for name in names:
        os.stat(name, follow_symlinks=False)
    return (time.thread_time() - started) * 1e3


def walks(root: Path, rounds: int) -> None:
    """Print what a first and a later walk of a large tree take, minima of interleaved rounds."""
    bounds = Bounds(inside=[str(root)])
    names: list[str] = []

    def timed(trees: Trees, most: int | None = None) -> float:
        started = time.thread_time()
        found = trees.walk(seal(str(root)), Asked(most=most), bounds=bounds, tally=Tally({})) or ()
        spent = (time.thread_time() - started) * 1e3
        names[:] = [directory.name for directory in found] or names
        return spent

    taken: dict[str, float] = {}

    def note(what: str, run: Callable[[], float]) -> None:
        taken[what] = min(run(), taken.get(what, 1e9))

    for _ in range(rounds):
        trees = Trees()
        note("over 500 files, first", lambda: timed(Trees(), 500))
        note("first walk", lambda trees=trees: timed(trees))
        note("bare listing", lambda: bare(root))
        for _ in range(3):
            note("later walk", lambda trees=trees: timed(trees))
            note("bare stats", lambda: looks(names))
        note("over 500 files, later", lambda trees=trees: timed(trees, 500))
    print(f"{len(names)} directories below {root.name}, milliseconds of processor time")
    for what, spent in taken.items():
        print(f"  {what:24}{spent:9.1f}")
    print(f"  first walk / bare listing {taken['first walk'] / taken['bare listing']:7.2f}")
    print(f"  later walk / bare stats   {taken['later walk'] / taken['bare stats']:7.2f}")


def main() -> None:
    """Run both parts; a tree to walk is the standard library unless one is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--walk", type=Path, default=Path(os.__file__).parent)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        wrong = differing(asked.trees, Path(os.path.realpath(place)))
    print(f"{asked.trees} random trees, {wrong} seen otherwise than git or the search program does")
    walks(Path(os.path.realpath(asked.walk)), asked.rounds)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
