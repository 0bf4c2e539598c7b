"""Killed at any statement or call to the system, upkeep leaves a true store: what is said to be kept reads."""

import hashlib
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from handrail.model.files import ABSENT, Bytes, DirectoryState, FileState
from handrail.store.doctor import examine
from handrail.store.protocol import Author, Draft, Filter, Limits
from handrail.store.sqlite import SqliteStore

AGE = 10**12
NOW = 10**18
CALLS = ("unlink", "rename", "rmdir", "chmod", "fsync")
LINES = [b"line %d, unlike all the others\n" % n for n in range(80)]


def state(number: int) -> FileState:
    lines = [*LINES]
    lines[number * 3] = b"changed in %d\n" % number
    return FileState(Bytes(b"".join(lines)), 0o644)


def made(place: Path) -> SqliteStore:
    """Old and young versions, contents inline and as files, told as deltas and not, and a tree in the trash."""
    times = iter(range(NOW - 10 * AGE, NOW, AGE))
    store = SqliteStore(str(place), owner="maker", inline=1000, clock=lambda: next(times, NOW))

    def put(path: str, what: FileState | DirectoryState, task: str) -> None:
        author = Author(tool="edit_file", session="s", task=task)
        (version,) = store.record([Draft(path=path, state=what, action="modify")], author)
        store.settle([version.id], done=True)

    tree = store.trash_place()
    os.makedirs(f"{tree}/inner")
    Path(tree, "inner", "file").write_bytes(b"x")
    put("/r/d", DirectoryState(entries=2, trash=tree), "t0")
    for number in range(8):
        put("/r/a", state(number), f"t{number % 5}")
    for _ in store.compact():
        pass
    for number in range(8, 12):
        put("/r/a", state(number), "t9")
    put("/r/b", FileState(Bytes(os.urandom(3000)), None), "t1")
    put("/r/b", FileState(Bytes(b"small"), None), "t8")
    store.record([Draft(path="/r/c", state=ABSENT, action="remove")], Author(tool="x", session="s", task="t9"))
    return store


def prune(store: SqliteStore) -> Iterator[object]:
    return store.prune(Limits(age=AGE, versions=3, bytes=2**40), now=NOW)


def compact(store: SqliteStore) -> Iterator[object]:
    return store.compact()


def dying(place: Path, work: Callable[[SqliteStore], Iterator[object]], number: int) -> int:
    """Do the work in a child that dies at its `number`-th statement or call; its exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            store = SqliteStore(str(place), owner="child", inline=1000)
            left = number

            def step(*_: object) -> None:
                nonlocal left
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

            store._database._writer.set_trace_callback(step)
            for name in CALLS:
                plain = getattr(os, name)
                setattr(os, name, lambda *given, plain=plain, **more: (step(), plain(*given, **more))[1])
            for _ in work(store):
                pass
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def judge(place: Path, must_read: set[int]) -> None:
    store = SqliteStore(str(place), owner="judge", inline=1000)
    try:
        store.intended()  # as every start does; what the dead left is swept
        restorable = set()
        for version in store.versions(Filter(), limit=100):
            if version.restorable:
                restorable.add(version.id)
                if isinstance(version.state, FileState):
                    assert hashlib.sha256(version.state.content.bytes()).hexdigest() == version.state.content.hash
                if isinstance(version.state, DirectoryState) and version.state.trash:
                    assert Path(version.state.trash, "inner", "file").read_bytes() == b"x"
            else:
                assert version.why_not
        assert must_read <= restorable
        for _ in work_again(store):
            pass
        assert must_read <= {v.id for v in store.versions(Filter(), limit=100) if v.restorable}
    finally:
        store.close()
    wrong = [f for f in examine(str(place), repair=False) if not f.harmless and f.kind != "intent"]
    assert wrong == []


def work_again(store: SqliteStore) -> Iterator[object]:
    yield from prune(store)
    yield from compact(store)


@pytest.mark.parametrize("work", [prune, compact])
def test_killed_anywhere_upkeep_leaves_a_true_store_and_the_next_run_finishes(tmp_path, work):
    place, kept = tmp_path / "store", tmp_path / "as it was"
    made(place).close()
    shutil.copytree(place, kept)
    store = SqliteStore(str(place), owner="x")
    for _ in work_again(store):
        pass
    must_read = {v.id for v in store.versions(Filter(), limit=100) if v.restorable}
    store.close()
    assert 0 < len(must_read) < 20
    number, code = 1, -9
    while code != 0:
        shutil.rmtree(place)
        shutil.copytree(kept, place)
        code = dying(place, work, number)
        assert code in (0, -9)
        judge(place, must_read)
        number += 1 + number // 3  # a sample, denser where a kill comes early
    assert number > 10
