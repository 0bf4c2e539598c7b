"""After a loss of power a file is old or new, what was answered stays, and a name never outruns its bytes.

A spread of the states; `make bench-power` tries every one.
"""

import logging
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import injected
import power
import unsynced
from stories import STORIES, Stage

WHY_NOT = injected.missing()
traced = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))


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
@pytest.mark.parametrize("name", ["first write", "write over", "write in place", "undo a task"])
def test_after_a_loss_of_power_it_is_old_or_new_and_what_was_answered_stays(tmp_path: Path, name: str) -> None:
    case = stage(tmp_path, name)
    every = list(power.states(case))
    assert len(every) > 20
    wrong = []
    for where, state, answered in [*random.Random(name).sample(every, 10), every[-1]]:
        state.build()
        if word := case.judge(True if answered else None, collected=True):
            wrong.append(f"{where}: {word}")
    assert wrong == []


CARELESS = """
import os, sys
path, how = sys.argv[1:]
number = os.open(path + ".tmp", os.O_WRONLY | os.O_CREAT, 0o644)
os.write(number, b"new" * 3000)
if how == "syncs":
    os.fsync(number)
os.close(number)
os.rename(path + ".tmp", path)
"""


@traced
@pytest.mark.parametrize(("how", "empty"), [("syncs", False), ("forgets", True)])
def test_the_model_of_a_disk_sees_the_rename_that_outruns_its_bytes(tmp_path: Path, how: str, empty: bool) -> None:
    top = Path(os.path.realpath(tmp_path)) / "top"
    top.mkdir()
    (top / "a").write_bytes(b"old" * 3000)
    log = tmp_path / "log"
    disk = unsynced.Disk(top)
    words = [sys.executable, "-c", CARELESS, str(top / "a"), how]
    subprocess.run(["strace", "-f", "-o", log, *unsynced.OPTIONS, *words], check=True)
    for event in unsynced.events(log):
        disk.take(event)
    found = {way: {name: data for name, _, _, data, _ in disk.state(way).entries} for way in unsynced.WAYS}
    assert found["only what was synced"] == {"a": b"old" * 3000}
    assert found["all names"] == {"a": b"" if empty else b"new" * 3000}
    assert found["everything"] == {"a": b"new" * 3000}
