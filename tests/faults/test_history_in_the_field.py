"""What history, checkpoints, undo and delete did to people elsewhere, tried here one by one."""

import hashlib
import json
import os
import signal
import stat
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest

import handrail
from handrail.interfaces.api import Handrail
from handrail.interfaces.cli import main
from handrail.model.files import Bytes, FileState
from handrail.model.records import Answered, Request
from handrail.store.protocol import Author, Draft
from handrail.store.sqlite import SqliteStore


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HANDRAIL_DATA_DIR", str(tmp_path / "data"))
    place = tmp_path / "project"
    place.mkdir()
    return place


def opened(root: Path, approve: object = "auto") -> Handrail:
    return handrail.open(root=root, approve=approve)  # type: ignore[arg-type]


def git(place: Path, *words: str) -> str:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    named = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(["git", "-C", place, *named, *words], capture_output=True, check=True, env=env)
    return done.stdout.decode()


def bytes_below(place: Path) -> dict[str, object]:
    """Every name below a directory with its kind, mode, time and bytes."""
    found: dict[str, object] = {}
    for path in sorted(place.rglob("*")):
        facts = path.lstat()
        data = path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(place))] = (facts.st_mode, facts.st_mtime_ns, facts.st_ino, data)
    return found


def edit(files: Handrail, path: str, old: str, new: str) -> None:
    files.call("read_files", {"files": [{"path": path}]})
    change = {"path": path, "targets": [{"old_string": old, "new_string": new}]}
    files.call("edit_file", change).unwrap()


def dying(number: int) -> Callable[[int], None]:
    """An fsync that kills the process after so many calls."""
    calls = iter(range(number))
    plain = os.fsync

    def fsync(handle: int) -> None:
        if next(calls, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        plain(handle)

    return fsync


def everything(root: Path) -> None:
    """Every operation of the history, on a file and on a directory."""
    with opened(root) as files:
        with files.task("work") as task:
            edit(files, "a.txt", "one", "two")
            files.call("edit_file", {"path": "new/b", "content": "b\n"}).unwrap()
            files.call("edit_file", {"path": "dir", "mode": "remove"}).unwrap()
        listed = files.call("file_history", {"mode": "list", "path": "a.txt", "limit": 24}).payload["versions"]
        files.call("edit_file", {"mode": "restore", "version": listed[-1]["version"]}).unwrap()  # type: ignore[index]
        files.export(task)
        files.call("edit_file", {"mode": "restore", "task_id": task})
    assert main.main(["gc", "--root", str(root)]) == 0
    assert main.main(["doctor", "--repair"]) == 0


@pytest.fixture
def repository(root: Path) -> Path:
    """A repository with a nested one, staged and uncommitted changes, an ignored file."""
    for place in (root, root / "nested"):
        place.mkdir(exist_ok=True)
        git(place, "init", "-q", "-b", "main")
        (place / "a.txt").write_bytes(b"one\n")
        (place / "dir").mkdir()
        (place / "dir" / "c").write_bytes(b"c\n")
        git(place, "add", "a.txt", "dir")
        git(place, "commit", "-qm", "first")
        (place / "staged").write_bytes(b"staged\n")
        git(place, "add", "staged")
    (root / ".gitignore").write_bytes(b"ignored\n")
    (root / "ignored").write_bytes(b"precious\n")
    return root


def test_no_operation_of_the_history_touches_a_users_repository(repository: Path) -> None:
    before = [bytes_below(place / ".git") for place in (repository, repository / "nested")]
    everything(repository)
    assert [bytes_below(place / ".git") for place in (repository, repository / "nested")] == before


def test_killed_in_the_middle_the_repository_is_where_it_was(repository: Path) -> None:
    before = bytes_below(repository / ".git")
    for number in (1, 5, 12, 30):
        child = os.fork()
        if child == 0:
            try:
                with mock.patch.object(os, "fsync", dying(number)):
                    everything(repository)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert bytes_below(repository / ".git") == before
    assert (repository / ".git" / "HEAD").read_bytes() == b"ref: refs/heads/main\n"


def test_a_restore_moves_no_branch_and_drops_no_commit(repository: Path) -> None:
    with opened(repository) as files:
        with files.task("work"):
            edit(files, "a.txt", "one", "two")
        git(repository, "commit", "-qam", "the user's own")
        head = git(repository, "rev-parse", "HEAD")
        first = files.call("file_history", {"mode": "list", "path": "a.txt"}).payload["versions"][-1]  # type: ignore[index]
        files.call("edit_file", {"mode": "restore", "version": first["version"]}).unwrap()
    assert (repository / "a.txt").read_bytes() == b"one\n"
    assert git(repository, "rev-parse", "HEAD") == head
    assert git(repository, "log", "--format=%s").split() == ["the", "user's", "own", "first"]


def test_an_undo_leaves_ignore_files_and_what_they_ignore(repository: Path) -> None:
    with opened(repository) as files:
        with files.task("work") as task:
            edit(files, ".gitignore", "ignored", "others")
            edit(files, "a.txt", "one", "two")
        (repository / "others").write_bytes(b"untracked\n")
        files.call("edit_file", {"mode": "restore", "task_id": task}).unwrap()
    assert (repository / ".gitignore").read_bytes() == b"ignored\n"
    assert (repository / "ignored").read_bytes() == b"precious\n"
    assert (repository / "others").read_bytes() == b"untracked\n"


def test_an_undo_leaves_the_index_and_other_folders(repository: Path) -> None:
    sibling = repository / "nested" / "a.txt"
    with opened(repository) as files:
        with files.task("work") as task:
            edit(files, "dir/c", "c", "d")
        sibling.write_bytes(b"the user's own work\n")
        git(repository, "add", "dir/c")
        index = git(repository, "ls-files", "--stage")
        objects = bytes_below(repository / ".git" / "objects")
        files.call("edit_file", {"mode": "restore", "task_id": task}).unwrap()
    assert sibling.read_bytes() == b"the user's own work\n"
    assert (repository / "dir" / "c").read_bytes() == b"c\n"
    assert git(repository, "ls-files", "--stage") == index
    assert bytes_below(repository / ".git" / "objects") == objects


def test_a_huge_untracked_file_costs_the_history_nothing(root: Path, tmp_path: Path) -> None:
    with open(root / "huge", "wb") as huge:
        huge.truncate(5 * 1024**3)
    (root / "a").write_bytes(b"one\n")
    with opened(root) as files, files.task("work") as task:
        edit(files, "a", "one", "two")
        files.call("edit_file", {"mode": "restore", "task_id": task}).unwrap()
        assert files.store.usage().bytes < 1_000_000
    assert sum(p.stat().st_size for p in (tmp_path / "data").rglob("*") if p.is_file()) < 5_000_000


def test_what_a_killed_snapshot_left_is_swept_at_the_next_start(root: Path, tmp_path: Path) -> None:
    (root / "a").write_bytes(os.urandom(3_000_000))
    data = tmp_path / "data"

    def left() -> list[Path]:
        return list((data / "blobs").rglob("*.tmp"))

    for number in range(9):
        child = os.fork()
        if child == 0:
            try:
                store = SqliteStore(str(data), owner="killed")
                draft = Draft(path=str(root / "a"), state=FileState(Bytes((root / "a").read_bytes())), action="modify")
                with mock.patch.object(os, "fsync", dying(number)):
                    store.record([draft], Author(tool="x", session="s", task=None))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        if left():
            break
    assert len(left()) == 1, "it was killed between the first byte and the last"
    opened(root).close()
    assert left() == []


def test_the_history_keeps_to_its_quota(root: Path, tmp_path: Path) -> None:
    settings = {"history.max_bytes": 3_000_000}
    (root / "a").write_bytes(b"")
    with handrail.open(root=root, approve="auto", settings=settings) as files:
        for number in range(12):
            content = hashlib.shake_256(b"%d" % number).hexdigest(400_000)
            files.call("read_files", {"files": [{"path": "a", "limit": 1}]})
            files.call("edit_file", {"path": "a", "content": content}, task="long work").unwrap()
        assert files.store.usage().bytes > 2_000_000
        files._workspace._upkeep.close()
        for _ in files.store.prune(files.limits, now=2**60):
            pass
        assert files.store.usage().bytes <= 3_000_000
        files.call("edit_file", {"mode": "restore", "task_id": "long work"}).unwrap()
    assert (root / "a").read_bytes() == b"", "and the original is there"


def calls_of(act: Callable[[], object]) -> Counter[str]:
    """How often an act asks the system about files."""
    counted: Counter[str] = Counter()

    def wrapped(name: str) -> Callable[..., object]:
        plain = getattr(os, name)

        def call(*given: object, **more: object) -> object:
            counted[name] += 1
            return plain(*given, **more)

        return call

    names = ("open", "stat", "lstat", "scandir", "listdir", "read", "pread", "fstat")
    with mock.patch.multiple(os, **{name: wrapped(name) for name in names}):
        act()
    return counted


def test_an_edit_and_its_undo_cost_as_much_in_a_big_tree_as_in_a_small_one(tmp_path: Path) -> None:
    costs = []
    for size in (1, 40):
        root = tmp_path / str(size)
        for directory in range(size):
            (root / f"d{directory}").mkdir(parents=True)
            for number in range(size):
                (root / f"d{directory}" / f"f{number}").write_bytes(b"x")
        (root / "a").write_bytes(b"one\n")
        with handrail.open(root=root, approve="auto", data_dir=tmp_path / f"data{size}") as files:
            files._workspace._upkeep.close()
            files.call("read_files", {"files": [{"path": "a"}]})

            def work(files: Handrail = files) -> None:
                with files.task("work") as task:
                    edit(files, "a", "one", "two")
                files.call("edit_file", {"mode": "restore", "task_id": task}).unwrap()

            work()
            (root / "a").write_bytes(b"one\n")
            costs.append(sum(calls_of(work).values()))
    assert abs(costs[0] - costs[1]) < 10, costs


def test_what_a_shell_did_is_not_claimed_to_be_undone(root: Path) -> None:
    for name in ("a", "b"):
        (root / name).write_bytes(b"one\n")
    with opened(root) as files:
        with files.task("work") as task:
            edit(files, "a", "one", "two")
            os.unlink(root / "b")  # as a shell would
        undone = files.call("edit_file", {"mode": "restore", "task_id": task})
    payload = undone.unwrap()
    assert [os.path.basename(file["path"]) for file in payload["files"]] == ["a"]
    assert any("shells and other programs" in warning for warning in payload["warnings"])
    assert "shells and other programs" in undone.text
    assert not (root / "b").exists()


def test_a_file_changed_since_is_merged_or_reported_never_overwritten(root: Path) -> None:
    for name in ("apart", "overlap"):
        (root / name).write_bytes(b"one\n2\n3\n4\nfive\n")
    with opened(root) as files:
        with files.task("work") as task:
            for name in ("apart", "overlap"):
                edit(files, name, "one", "1")
        (root / "apart").write_bytes(b"1\n2\n3\n4\nmine\n")
        (root / "overlap").write_bytes(b"mine\n2\n3\n4\nfive\n")
        payload = files.call("edit_file", {"mode": "restore", "task_id": task}).payload
    told = {os.path.basename(file["path"]): file for file in payload["files"]}  # type: ignore[union-attr]
    assert told["apart"]["merged"]
    assert told["overlap"]["kind"] == "conflict"
    assert (root / "apart").read_bytes() == b"one\n2\n3\n4\nmine\n"
    assert (root / "overlap").read_bytes() == b"mine\n2\n3\n4\nfive\n"


def test_by_default_a_restore_shows_and_does_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "a").write_bytes(b"one\n")
    with opened(root) as files, files.task("work"):
        edit(files, "a", "one", "two")
    for words in (["undo"], ["restore", "1"]):
        assert main.main([*words, "--root", str(root)]) == 2
        assert "+one" in capsys.readouterr().out
        assert (root / "a").read_bytes() == b"two\n"


def test_a_remove_is_a_move_to_the_trash_with_a_manifest_shown_to_whoever_approves(root: Path) -> None:
    data = root / "data"
    data.mkdir()
    (data / "backup.sql").write_bytes(b"untracked work" * 100)
    (data / "more").write_bytes(b"x" * 10)
    asked: list[Request] = []

    def person(request: Request) -> Answered | bool:
        asked.append(request)
        return True

    with opened(root, person) as files:
        payload = files.call("edit_file", {"path": "data", "mode": "remove"}).unwrap()
        assert not data.exists()
        shown = json.dumps([change.diff for change in asked[0].changes]) + " ".join(asked[0].unusual)
        assert "2 entries, 1410 bytes" in shown, "how much is removed stands before the person"
        assert (payload["entries"], payload["bytes"]) == (2, 1410)
        aside = files.store.version(payload["before_version"])
        assert aside is not None
        assert {name for name, _, _ in aside.state.manifest} == {"backup.sql", "more"}  # type: ignore[union-attr]
        files.call("edit_file", {"mode": "restore", "version": payload["before_version"]}).unwrap()
    assert (data / "backup.sql").read_bytes() == b"untracked work" * 100


def test_a_restore_from_the_trash_is_by_number_and_refuses_a_collision(root: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (root / name).mkdir()
        (root / name / "file").write_bytes(name.encode())
    with opened(root) as files:
        removed = [
            files.call("edit_file", {"path": name, "mode": "remove"}).unwrap()["before_version"]
            for name in ("one", "two")
        ]
        foreign = tmp_path / "data" / "trash" / "foreign"
        foreign.write_bytes(b"somebody else's")
        (root / "one").mkdir()
        (root / "one" / "other").write_bytes(b"newer")
        refused = files.call("edit_file", {"mode": "restore", "version": removed[0]})
        assert refused.kind == "conflict"
        assert bytes_below(root)["one/other"][3] == b"newer"  # type: ignore[index]
        files.call("edit_file", {"mode": "restore", "version": removed[1]}).unwrap()
    assert (root / "two" / "file").read_bytes() == b"two"
    assert foreign.read_bytes() == b"somebody else's"
    assert len(os.listdir(tmp_path / "data" / "trash")) == 2, "what wasn't asked for stays in the trash"
    assert stat.S_IMODE((tmp_path / "data" / "trash").stat().st_mode) == 0o700
