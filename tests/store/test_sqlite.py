"""The embedded store under bad conditions: other processes, crashes, a full disk, damaged files."""

import contextlib
import errno
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.model.errors import BackendFailed
from handrail.model.files import CHUNK, Bytes, DirectoryState, FileState
from handrail.store import blobs, database, schema
from handrail.store.protocol import Author, Draft, Filter
from handrail.store.sqlite import SqliteStore

ME = Author(tool="edit_file", session="s", task=None)


@pytest.fixture
def place(tmp_path) -> str:
    return str(tmp_path / "data")


@contextlib.contextmanager
def opened(place: str, **more) -> Iterator[SqliteStore]:
    store = SqliteStore(place, owner="test", **more)
    try:
        yield store
    finally:
        store.close()


def draft(data: bytes, path: str = "/r/a") -> Draft:
    return Draft(path=path, state=FileState(Bytes(data), 0o644), action="modify")


def python(code: str, *arguments: str) -> subprocess.Popen[str]:
    head = (
        "import os, sys, signal\n"
        "from handrail.store.sqlite import SqliteStore\n"
        "from handrail.store.protocol import Author, Draft, Filter\n"
        "from handrail.model.files import Bytes, FileState\n"
        "ME = Author(tool='edit_file', session='s', task=None)\n"
        "def draft(data, path='/r/a'):\n"
        "    return Draft(path=path, state=FileState(Bytes(data), 0o644), action='modify')\n"
    )
    command = [sys.executable, "-c", head + code, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.PIPE, text=True)


def test_four_processes_record_at_once_on_a_store_that_none_has_made(place):
    code = (
        "store = SqliteStore(sys.argv[1], owner=sys.argv[2])\n"
        "for n in range(25):\n"
        "    (v,) = store.record([draft(b'%d' % n * (40_000 if n % 5 == 0 else 1), '/r/' + sys.argv[2])], ME)\n"
        "    store.settle([v.id], done=True)\n"
        "store.close()\n"
    )
    children = [python(code, place, str(n)) for n in range(4)]
    for child in children:
        said, _ = child.communicate()
        assert child.returncode == 0, said
    with opened(place) as store:
        versions = store.versions(Filter(), limit=1000)
        assert len(versions) == 100
        assert all(v.status == "done" for v in versions)
        for name in "0123":
            own = store.versions(Filter(under=f"/r/{name}"), limit=100)
            assert [v.previous for v in own] == [v.id for v in own[1:]] + [None]
            assert own[0].state.content.bytes() == b"24"


def test_intents_of_a_killed_process_are_up_for_recovery_and_those_of_a_living_one_not(place):
    code = (
        "store = SqliteStore(sys.argv[1], owner='child')\n"
        "store.record([draft(b'x' * 200_000)], ME)\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    child = python(code, place)
    assert child.stdout.readline() == "ready\n"
    with opened(place) as store:
        assert store.intended() == ()
        child.communicate("die\n")
        assert child.returncode == -signal.SIGKILL
        (intent,) = store.intended()
        assert intent.state.content.bytes() == b"x" * 200_000
        store.settle([intent.id], done=False)
        assert store.intended() == ()
        store.intended()
        assert len(os.listdir(os.path.join(place, "owners"))) == 1, "signs of the dead are tidied up"


def test_a_forked_child_does_not_keep_its_parents_sign_of_life(place):
    code = (
        "store = SqliteStore(sys.argv[1], owner='child')\n"
        "store.record([draft(b'1')], ME)\n"
        "if os.fork():\n"
        "    os._exit(0)\n"
        "print('forked', flush=True)\n"
        "sys.stdin.readline()\n"
    )
    child = python(code, place)
    assert child.stdout.readline() == "forked\n"
    child.wait()
    with opened(place) as store:
        assert len(store.intended()) == 1
    child.communicate("\n")


def test_everything_in_the_directory_is_for_its_owner_alone_whatever_the_umask(place):
    old = os.umask(0)
    try:
        with opened(place) as store:
            store.record([draft(os.urandom(300_000))], ME)
            store.trash_place()
            modes = {
                name: stat.S_IMODE(os.lstat(os.path.join(folder, name)).st_mode)
                for folder, folders, files in os.walk(place)
                for name in (*folders, *files)
            }
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat(place).st_mode) == 0o700
    assert {"history.sqlite3", "history.sqlite3-wal", "blobs", "trash", "owners"} <= modes.keys()
    for name, mode in modes.items():
        assert mode in (0o600, 0o700), name


def test_a_directory_that_others_use_keeps_its_mode(place):
    os.mkdir(place)
    os.chmod(place, 0o755)
    Path(place, "something").write_text("else")
    with opened(place):
        assert stat.S_IMODE(os.stat(place).st_mode) == 0o755


def test_a_large_content_never_is_in_memory_whole(place):
    class Streamed:
        size = 64 * CHUNK
        hash = ""

        def chunks(self) -> Iterator[bytes]:
            for number in range(64):
                yield bytes([number]) * CHUNK

        def bytes(self) -> bytes:
            raise AssertionError("a large content was asked for whole")

    import hashlib
    import tracemalloc

    content = Streamed()
    total = hashlib.sha256()
    for piece in content.chunks():
        total.update(piece)
    content.hash = total.hexdigest()
    with opened(place) as store:
        tracemalloc.start()
        (version,) = store.record([Draft(path="/r/a", state=FileState(content), action="modify")], ME)
        pieces = [len(piece) for piece in version.state.content.chunks()]
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert sum(pieces) == 64 * CHUNK
    assert max(pieces) <= CHUNK
    assert peak < 12 * CHUNK


def test_a_failed_write_of_a_content_leaves_nothing(place, monkeypatch):
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with opened(place) as store:
        with monkeypatch.context() as patch:
            patch.setattr(blobs.os, "fsync", full)
            with pytest.raises(BackendFailed) as caught:
                store.record([draft(os.urandom(300_000))], ME)
        assert caught.value.kind == "disk_full"
        assert store.newest("/r/a") is None
        left = [name for _, _, files in os.walk(os.path.join(place, "blobs")) for name in files]
        assert left == []
        store.record([draft(os.urandom(300_000))], ME)


def test_a_full_disk_is_told_apart_from_other_failures(place):
    with opened(place) as store, store._database.writing(durable=False) as db:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute("SELECT 1")
        limit = pages + 4
    with opened(place) as store:
        store._database._writer.execute(f"PRAGMA max_page_count = {limit}")
        with pytest.raises(BackendFailed) as caught:
            for number in range(50):
                store.record([draft(os.urandom(30_000), f"/r/{number}")], ME)
        assert caught.value.kind == "disk_full"
        assert all(v.state.content.bytes() for v in store.versions(Filter(), limit=100))


def test_a_write_that_waits_too_long_may_be_repeated(place, monkeypatch):
    monkeypatch.setattr(database, "WAIT_MS", 1)
    with opened(place) as store:
        other = sqlite3.connect(os.path.join(place, "history.sqlite3"), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BackendFailed) as caught:
            store.record([draft(b"1")], ME)
        assert (caught.value.kind, caught.value.may_retry) == ("history_unavailable", True)
        assert store.newest("/r/a") is None, "reading goes on meanwhile"
        other.close()
        store.record([draft(b"1")], ME)


@pytest.mark.parametrize("damage", ["garbage", "half", "zeros in the middle", "a directory"])
def test_a_damaged_database_is_a_typed_failure(place, damage):
    with opened(place) as store:
        for number in range(40):
            store.record([draft(os.urandom(5000), f"/r/{number}")], ME)
    file = Path(place, "history.sqlite3")
    data = file.read_bytes()
    for side in ("-wal", "-shm"):
        Path(place, "history.sqlite3" + side).unlink(missing_ok=True)
    if damage == "a directory":
        file.unlink()
        file.mkdir()
    else:
        middle = data[:4096] + bytes(60_000) + data[64_096:]
        file.write_bytes({"garbage": b"garbage" * 999, "half": data[: len(data) // 2 + 77]}.get(damage, middle))
    with pytest.raises(BackendFailed) as caught, opened(place) as store:
        for version in store.versions(Filter(), limit=100):
            store.newest(version.path)
            version.state.content.bytes()
        store.record([draft(b"1")], ME)
    assert caught.value.kind == "history_unavailable"


@pytest.mark.parametrize("size", [50, 5000, 300_000])
def test_a_damaged_content_is_never_given_out(place, size):
    data = os.urandom(size // 2) + b"x" * (size // 2)
    with opened(place) as store:
        (version,) = store.record([draft(data)], ME)
    db = sqlite3.connect(os.path.join(place, "history.sqlite3"), isolation_level=None)
    (kept,) = db.execute("SELECT data FROM contents").fetchone()
    if kept is not None:
        db.execute("UPDATE contents SET data = ?", (kept[:-3] + bytes([kept[-3] ^ 1]) + kept[-2:],))
    db.close()
    for folder, _, files in os.walk(os.path.join(place, "blobs")):
        for name in files:
            file = Path(folder, name)
            packed = bytearray(file.read_bytes())
            packed[len(packed) // 3] ^= 1
            file.write_bytes(packed)
    with opened(place) as store:
        for read in (
            store.version(version.id).state.content.bytes,
            lambda: list(store.content(Bytes(data).hash).chunks()),
        ):
            with pytest.raises(BackendFailed) as caught:
                read()
            assert caught.value.kind == "history_unavailable"


def test_a_content_whose_file_was_lost_is_stored_again(place):
    data = os.urandom(200_000)
    with opened(place) as store:
        store.record([draft(data)], ME)
        for folder, _, files in os.walk(os.path.join(place, "blobs")):
            for name in files:
                os.unlink(os.path.join(folder, name))
        with pytest.raises(BackendFailed):
            store.content(Bytes(data).hash).bytes()
        store.record([draft(data, "/r/b")], ME)
        assert store.content(Bytes(data).hash).bytes() == data


def test_a_store_of_a_newer_release_is_left_alone(place):
    with opened(place):
        pass
    db = sqlite3.connect(os.path.join(place, "history.sqlite3"))
    db.execute(f"PRAGMA user_version = {len(schema.MIGRATIONS) + 1}")
    db.close()
    with pytest.raises(BackendFailed) as caught, opened(place):
        pass
    assert "newer" in caught.value.message


def test_a_place_that_cannot_be_a_store_is_a_typed_failure(tmp_path):
    file = tmp_path / "file"
    file.write_text("x")
    for place in (str(file), str(file / "below"), "/proc/none/here", str(tmp_path / "nul\0"), ""):
        with pytest.raises(BackendFailed), opened(place):
            pass


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_without_rights_is_a_typed_failure(place):
    os.mkdir(place, 0o500)
    with pytest.raises(BackendFailed), opened(place):
        pass


def test_threads_share_a_store(place):
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for number in range(20):
                (version,) = store.record([draft(b"%d" % number, name)], ME)
                store.settle([version.id], done=number % 2 == 0)
                assert store.version(version.id) is None or store.newest(name).id == version.id
                store.versions(Filter(), limit=5)
                store.changed()
        except BaseException as failure:
            failures.append(failure)

    with opened(place) as store:
        threads = [threading.Thread(target=work, args=(f"/r/{n}",)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert len(store.versions(Filter(), limit=1000)) == 80


def test_what_was_recorded_is_on_disk_before_the_call_returns(place, monkeypatch):
    with opened(place) as store:
        levels = []
        original = store._database._writer

        class Watched:
            def execute(self, statement: str, *values: object) -> object:
                if statement == "BEGIN IMMEDIATE":
                    levels.append(original.execute("PRAGMA synchronous").fetchone()[0])
                return original.execute(statement, *values)

            def __getattr__(self, name: str) -> object:
                return getattr(original, name)

        monkeypatch.setattr(store._database, "_writer", Watched())
        (version,) = store.record([draft(b"1")], ME)
        store.settle([version.id], done=True)
    assert levels == [2, 1]


def test_a_manifest_with_any_names_survives(place):
    state = DirectoryState(entries=2, size=3, manifest=(("a\udcff\n", "file", 3), ("b", "directory", 0)))
    with opened(place) as store:
        (version,) = store.record([Draft(path="/r/d", state=state, action="modify")], ME)
        assert version.state == state


def test_opening_imports_nothing_heavy(place):
    code = (
        "store = SqliteStore(sys.argv[1], owner='x')\n"
        "store.versions(Filter(), limit=3)\n"
        "print(sorted({'zstandard', 'pydantic', 'chardet', 're2', 'mcp'} & set(sys.modules)))\n"
    )
    said, _ = python(code, place).communicate()
    assert said == "[]\n"
