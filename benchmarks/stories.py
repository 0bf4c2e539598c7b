"""Small operations on a real tree through the Python API, and the judgement of what a fault made of one of them.

Used by `crash.py`, `full.py` and `power.py`, and by the tests. A story is built once; each run begins from a copy.
"""

import collections
import hashlib
import os
import shutil
import sqlite3
import stat
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import handrail
from handrail.model.files import Absent, DirectoryState, FileState, LinkState, State
from handrail.store.protocol import Filter

OLD = "".join(f"old line {n:02d} {'.' * 300}\n" for n in range(50))
NEW = "".join(f"the new line {n:02d} {':' * 280}\n" for n in range(60))
LARGE = "".join(f"{hashlib.sha256(b'%d' % n).hexdigest() * 60}\n" for n in range(50))
"""A few long rows each: several pages of a disk, and little to compare."""
Facts = dict[str, Any]
Snapshot = dict[str, tuple[object, ...]]
Reported = bool | dict[str, bool] | None
"""How an act was answered, as a whole or path by path; `None` where it never was."""


def place() -> str | None:
    """Where stages stand: in memory where there is room for that, as nothing here waits for a real disk's syncs."""
    return None if os.environ.get("TMPDIR") or not os.access("/dev/shm", os.W_OK) else "/dev/shm"


@dataclass(frozen=True)
class Story:
    """`build` makes plain files, `past` gives them a history, `ready` is done before the faults, `act` under them."""

    name: str
    build: Callable[[Path], None]
    act: Callable[[handrail.Handrail, Facts], handrail.Result]
    past: Callable[[handrail.Handrail], Facts] = lambda _: {}
    ready: Callable[[handrail.Handrail], object] = lambda _: None
    starts: bool = False


@dataclass
class Stage:
    """A story in its place: the tree, the data directory beside it, and how both looked before and should after."""

    story: Story
    base: Path
    apart: Path | None = None
    facts: Facts = field(default_factory=dict)
    old: Snapshot = field(default_factory=dict)
    new: Snapshot = field(default_factory=dict)
    judged: int = 0

    @property
    def tree(self) -> Path:
        return self.base / "now" / "tree"

    @property
    def data(self) -> Path:
        return (self.apart or self.base) / "now" / "data"

    def open(self) -> handrail.Handrail:
        return handrail.open(root=self.tree, approve="auto", data_dir=self.data)

    def prepare(self) -> None:
        """Build the story, keep it as it is before the act, and see once what the act makes of it."""
        self.tree.mkdir(parents=True)
        self.data.parent.mkdir(parents=True, exist_ok=True)
        self.story.build(self.tree)
        if not self.story.starts:
            with self.open() as files:
                self.facts = self.story.past(files)
        self.old = snapshot(self.tree)
        for place in self._places():
            subprocess.run(["cp", "-a", place / "now", place / "before"], check=True)
        with self.open() as files:
            self.story.ready(files)
            self.story.act(files, self.facts).unwrap()
        self.new = snapshot(self.tree)
        assert self.new != self.old or self.story.starts, self.story.name

    def reset(self) -> None:
        """Put everything back to what it was before the act."""
        for place in self._places():
            shutil.rmtree(place / "now")
            subprocess.run(["cp", "-a", place / "before", place / "now"], check=True)

    def mixed(self) -> list[str]:
        """What stands there now and is neither old nor new."""
        return self._mixed(snapshot(self.tree), None)

    def judge(self, reported: Reported, *, collected: bool = False) -> str:
        """What is wrong now, in a sentence; empty = nothing. `reported`: how the act was answered, if it was.

        `collected`: what is left over may wait for the next `handrail gc`.
        """
        try:
            return self._judge(reported, collected=collected)
        except Exception as error:
            return f"the judge met {type(error).__name__}: {error}"

    def _judge(self, reported: Reported, *, collected: bool) -> str:
        with self.open() as files:
            if collected and self._strays():
                collections.deque(files.store.compact(), maxlen=0)
            now = snapshot(self.tree)
            found = [*self._mixed(now, reported), *self._history(files, now), *self._strays()]
            if not found:
                found = self._goes_on(files)
        return "; ".join(found)

    def _mixed(self, now: Snapshot, reported: Reported) -> list[str]:
        found = []
        for name in sorted(now.keys() | self.old.keys() | self.new.keys()):
            is_old, is_new = now.get(name) == self.old.get(name), now.get(name) == self.new.get(name)
            if not (is_old or is_new):
                found.append(f"{name} is neither old nor new but {_short(now.get(name))}")
                continue
            said = reported.get(f"{self.tree}/{name}") if isinstance(reported, dict) else reported
            if said is True and not is_new:
                found.append(f"{name} was reported as done and is old")
            elif said is False and not is_old:
                found.append(f"{name} was reported as refused and is new")
        return found

    def _history(self, files: handrail.Handrail, now: Snapshot) -> list[str]:
        found = []
        for name in sorted(self.old.keys() | self.new.keys()):
            newest = files.store.newest(f"{self.tree}/{name}")
            if newest is None:
                twin = (self.tree / name).exists() and (self.tree / name).stat().st_nlink > 1
                if now.get(name) != self.old.get(name) and not (twin or self._went_with_its_directory(files, name)):
                    found.append(f"{name} changed and is in no version")
            elif newest.status != "done":
                found.append(f"version {newest.id} of {name} is open")
            elif not _agrees(newest.state, now.get(name)) and not self._went_with_its_directory(files, name):
                found.append(f"{name} is {_short(now.get(name))}, its newest version {newest.action} {newest.state}")
        trash = set(os.listdir(self.data / "trash")) if (self.data / "trash").exists() else set()
        for version in files.store.versions(Filter(), limit=1000):
            if isinstance(version.state, FileState):
                content = version.state.content
                if hashlib.sha256(content.bytes()).hexdigest() != content.hash:
                    found.append(f"version {version.id} doesn't give its bytes")
            elif isinstance(version.state, DirectoryState) and version.state.trash is not None:
                trash.discard(version.state.trash.rpartition("/")[2])
        strays = [name for name in trash if not name.endswith(".gone")]  # those go with the next upkeep
        return [*found, *(f"the trash holds {name}, which no version names" for name in strays)]

    def _went_with_its_directory(self, files: handrail.Handrail, name: str) -> bool:
        above = [part for part in Path(name).parents if part != Path()]
        versions = [files.store.newest(f"{self.tree}/{part}") for part in above]
        return any(v is not None and v.action in ("remove", "restore") for v in versions)

    def _strays(self) -> list[str]:
        names = [str(p) for top in (self.tree, self.data) for p in top.rglob("*")]
        found = [f"{name} is left over" for name in names if ".handrail-" in name or name.endswith(".tmp")]
        owners = os.listdir(self.data / "owners")
        if len(owners) != 1:
            found.append(f"{len(owners)} owners are registered")
        with sqlite3.connect(self.data / "history.sqlite3") as db:
            (intended,) = db.execute("SELECT count(*) FROM versions WHERE status = 0").fetchone()
            if intended:
                found.append(f"{intended} intents are open")
            (verdict,) = db.execute("PRAGMA integrity_check").fetchone()
            if verdict != "ok":
                found.append(f"the database: {verdict}")
        db.close()
        return found

    def _goes_on(self, files: handrail.Handrail) -> list[str]:
        """A next edit of something that stands, and now and then its undo."""
        name = next(name for name, what in sorted(snapshot(self.tree).items()) if what[0] == "file")
        path = self.tree / name
        before = path.read_bytes()
        known = hashlib.sha256(before).hexdigest()
        with files.task("goes on") as task:
            answer = edit(files, path=name, content="the next edit\n", expected_hash=known)
        if not answer.ok or path.read_bytes() != b"the next edit\n":
            return [f"the next edit: {answer.kind} {answer.text}"]
        newest = files.store.newest(str(path))
        if newest is None or not _agrees(newest.state, snapshot(self.tree)[name]):
            return ["the next edit isn't in the history"]
        self.judged += 1
        if self.judged % 8 != 1:
            return []
        answer = edit(files, mode="restore", task_id=task)
        return [] if answer.ok and path.read_bytes() == before else [f"its undo: {answer.kind} {answer.text}"]

    def _places(self) -> tuple[Path, ...]:
        return (self.base,) if self.apart is None else (self.base, self.apart)


def snapshot(tree: Path) -> Snapshot:
    """All that stands in a tree."""
    found: Snapshot = {}
    for path in tree.rglob("*"):
        name, facts = str(path.relative_to(tree)), path.lstat()
        if stat.S_ISLNK(facts.st_mode):
            found[name] = ("link", str(path.readlink()))
        elif stat.S_ISDIR(facts.st_mode):
            found[name] = ("directory", stat.S_IMODE(facts.st_mode))
        else:
            found[name] = ("file", path.read_bytes(), stat.S_IMODE(facts.st_mode))
    return found


def _agrees(state: State, there: tuple[object, ...] | None) -> bool:
    match state:
        case Absent():
            return there is None
        case FileState():
            data = state.content.bytes()
            return there is not None and there[:2] == ("file", data) and state.mode in (None, there[2])
        case LinkState():
            return there == ("link", state.target)
        case DirectoryState():
            return there is not None and there[0] == "directory"


def _short(there: tuple[object, ...] | None) -> str:
    return "absent" if there is None else repr(there)[:60]


def edit(files: handrail.Handrail, **arguments: object) -> handrail.Result:
    return files.call("edit_file", arguments)


def write(files: handrail.Handrail, path: str, content: str) -> handrail.Result:
    return edit(files, path=path, content=content)


def patch(files: handrail.Handrail, path: str, old: str, new: str) -> handrail.Result:
    return edit(files, path=path, targets=[{"old_string": old, "new_string": new}])


def read(files: handrail.Handrail, *paths: str) -> None:
    files.call("read_files", {"files": [{"path": path} for path in paths]}).unwrap()


def _plain(tree: Path) -> None:
    (tree / "a.txt").write_text(OLD)
    (tree / "a.txt").chmod(0o640)
    (tree / "other.txt").write_text("stays\n")


def _linked(tree: Path) -> None:
    _plain(tree)
    os.link(tree / "a.txt", tree / "twin.txt")


def _large(tree: Path) -> None:
    _plain(tree)
    (tree / "a.txt").write_text(LARGE)


def _directory(tree: Path) -> None:
    _plain(tree)
    (tree / "dir" / "sub").mkdir(parents=True)
    (tree / "dir" / "sub" / "b.txt").write_text(OLD)
    (tree / "dir" / "c.txt").write_text("c\n")


def _removed_directory(files: handrail.Handrail) -> Facts:
    edit(files, mode="remove", path="dir").unwrap()
    return {"version": _before_removal(files, "dir")}


def _before_removal(files: handrail.Handrail, name: str) -> int:
    (root,) = files.roots
    last = files.store.newest(f"{root}/{name}")
    assert last is not None and last.previous is not None
    return last.previous


def _edited(files: handrail.Handrail) -> Facts:
    read(files, "a.txt")
    write(files, "a.txt", NEW).unwrap()
    return {"version": _before_removal(files, "a.txt")}


def _worked(files: handrail.Handrail) -> Facts:
    """A task that patched, made, and removed."""
    with files.task("some work") as task:
        read(files, "a.txt", "dir/c.txt")
        patch(files, "a.txt", "old line 07", "a line that the agent wrote\n").unwrap()
        write(files, "made/deep/d.txt", NEW).unwrap()
        edit(files, mode="remove", path="dir/c.txt").unwrap()
        edit(files, mode="remove", path="dir/sub").unwrap()
    return {"task": task}


STORIES: Mapping[str, Story] = {
    story.name: story
    for story in (
        Story("first write", _plain, lambda files, _: write(files, "new.txt", NEW), starts=True),
        Story("write new", _plain, lambda files, _: write(files, "x/y/new.txt", NEW)),
        Story(
            "write over",
            _plain,
            lambda files, _: write(files, "a.txt", NEW),
            ready=lambda files: read(files, "a.txt"),
        ),
        Story(
            "write over, large",
            _large,
            lambda files, _: write(files, "a.txt", LARGE[::-1]),
            ready=lambda files: read(files, "a.txt"),
        ),
        Story(
            "patch",
            _plain,
            lambda files, _: patch(files, "a.txt", "old line 20", "another line\n" * 3),
            ready=lambda files: read(files, "a.txt"),
        ),
        Story(
            "write in place",
            _linked,
            lambda files, _: write(files, "a.txt", NEW),
            ready=lambda files: read(files, "a.txt"),
        ),
        Story("remove a file", _plain, lambda files, _: edit(files, mode="remove", path="a.txt")),
        Story("remove a directory", _directory, lambda files, _: edit(files, mode="remove", path="dir")),
        Story(
            "restore a file",
            _plain,
            lambda files, facts: edit(files, mode="restore", version=facts["version"]),
            past=_edited,
        ),
        Story(
            "restore a directory",
            _directory,
            lambda files, facts: edit(files, mode="restore", version=facts["version"]),
            past=_removed_directory,
        ),
        Story(
            "undo a task",
            _directory,
            lambda files, facts: edit(files, mode="restore", task_id=facts["task"]),
            past=_worked,
        ),
    )
}
