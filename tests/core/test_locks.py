"""Locks of paths: one holder at a time, in this process and in others, and never for ever."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from handrail.core.locks import SLOTS, Locks, slot
from handrail.model.errors import BackendFailed
from handrail.model.paths import seal

A, B = seal("/a"), seal("/b")


def test_another_process_waits_and_then_gives_up(tmp_path: Path) -> None:
    script = (
        "import sys; from handrail.core.locks import Locks; from handrail.model.paths import seal\n"
        "with Locks(sys.argv[1]).hold([seal('/a')]): print('held', flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stdin is not None
    with child:
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(BackendFailed) as caught, Locks(str(tmp_path), patience=0.0).hold([A]):
            pass
        assert (caught.value.kind, caught.value.may_retry) == ("busy", True)
        with Locks(str(tmp_path), patience=0.0).hold([B]):
            pass
        child.stdin.close()
    with Locks(str(tmp_path)).hold([A]):
        pass


def test_one_thread_at_a_time(tmp_path: Path) -> None:
    locks, inside, most = Locks(str(tmp_path)), [0], [0]

    def work() -> None:
        for _ in range(20):
            with locks.hold([A]):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]


def test_several_paths_in_any_order_never_deadlock(tmp_path: Path) -> None:
    locks = Locks(str(tmp_path))
    paths = [seal(f"/{n}") for n in range(6)]
    done: list[int] = []

    def work(seed: int) -> None:
        for turn in range(20):
            chosen = [paths[(seed * 7 + turn * k) % 6] for k in (1, 2, 3)]
            with locks.hold(chosen):
                done.append(seed)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 120


def test_the_number_of_lock_files_is_bounded_and_twins_share_one(tmp_path: Path) -> None:
    names = [seal(f"/{n}\udcff") for n in range(SLOTS * 2)]
    assert all(0 <= slot(name) < SLOTS for name in names)
    one, other = next((x, y) for x in names for y in names if x != y and slot(x) == slot(y))
    with Locks(str(tmp_path / "made")).hold([one, other, one]):
        assert len(os.listdir(tmp_path / "made")) == 1
    assert os.stat(tmp_path / "made").st_mode & 0o777 == 0o700


def test_a_directory_that_cant_be_used_is_typed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(BackendFailed) as caught, Locks(str(tmp_path / "file")).hold([A]):
        pass
    assert caught.value.kind == "history_unavailable"
