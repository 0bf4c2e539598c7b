"""Killed at a call to the system, or failed by it, an operation leaves old or new, a true history, and nothing stray.

A spread of the points; `make bench-crash` tries every one.
"""

import logging
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import injected
from stories import STORIES, Stage

WHY_NOT = injected.missing()
traced = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))
CHANGES = frozenset({*injected.WRITING} - {"openat", "openat2"})


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def stage(place: Path, name: str) -> Stage:
    made = Stage(STORIES[name], Path(os.path.realpath(place)))
    made.prepare()
    return made


@traced
@pytest.mark.parametrize("name", STORIES)
def test_killed_or_failed_at_a_call_it_is_old_or_new_and_the_history_agrees(tmp_path: Path, name: str) -> None:
    case = stage(tmp_path, name)
    every = [point for point in injected.points(case) if point.call in CHANGES]
    wrong = []
    for point in random.Random(name).sample(every, 5):
        came = injected.run(case, point)
        wrong += [f"{point}: {word}" for word in (came.odd, case.judge(came.reported)) if word]
    assert wrong == []
