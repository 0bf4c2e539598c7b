"""A writer in a child process whose n-th call to the system kills it, or fails. Used by the fault tests."""

import hashlib
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from handrail.core.apply import Writer
from handrail.core.locks import Locks
from handrail.core.steps import same, standing
from handrail.fs import kernel
from handrail.fs.host import HostFileSystem
from handrail.model.changes import Change
from handrail.model.files import ABSENT, Bytes, DirectoryState, FileState, State
from handrail.model.paths import RealPath, seal
from handrail.store.protocol import Author
from handrail.store.sqlite import SqliteStore

CALLS = (
    *("open", "write", "fsync", "rename", "unlink", "fchmod", "fchown", "link", "mkdir", "symlink", "rmdir"),
    *("ftruncate", "posix_fallocate", "pread", "stat"),
)
KERNEL_CALLS = ("exchange", "rename_where_nothing_stands")
AUTHOR = Author(tool="edit_file", session="s", task=None)
OLD, NEW = b"".join(b"old %05d\n" % n for n in range(3000)), b"".join(b"the new %05d\n" % n for n in range(2500))


@dataclass(frozen=True)
class Scene:
    """A tree to begin with and the changes to make; how it looked before is kept for the judgement."""

    root: Path
    data: Path
    changes: tuple[Change, ...]

    def open(self, owner: str) -> tuple[SqliteStore, Writer]:
        store = SqliteStore(str(self.data), owner=owner)
        return store, Writer(HostFileSystem(), store, Locks(str(self.data / "locks")))

    def judge(self) -> str:
        """After recovery: each path old or new, the history agreeing, nothing open, nothing stray; what it came to."""
        store, writer = self.open("judge")
        try:
            writer.recover()
            assert store.intended() == ()
            outcome = ""
            for change in self.changes:
                there = standing(HostFileSystem(), change.path)
                assert same(there, change.before) or same(there, change.after), change.path
                outcome += "n" if same(there, change.after) else "o"
                newest = store.newest(change.path.text)
                assert newest is None or (newest.status == "done" and same(newest.state, there)), change.path
                assert newest is not None or same(there, change.before)
            strays = [n for _, ds, fs in os.walk(self.root) for n in ds + fs if n.startswith(".handrail-")]
            assert strays == []
            return outcome
        finally:
            store.close()


def scene(place: Path, name: str) -> Scene:
    root = Path(os.path.realpath(place)) / "root"
    root.mkdir(parents=True)

    def at(inner: str) -> RealPath:
        return seal(f"{root}/{inner}")

    def file(data: bytes) -> State:
        return FileState(Bytes(data))

    changes: list[Change] = []
    if name in ("replace", "in_place", "remove", "group"):
        (root / "a").write_bytes(OLD)
        after = ABSENT if name == "remove" else file(NEW)
        changes.append(Change(at("a"), file(OLD), after, "remove" if name == "remove" else "modify"))
    if name == "in_place":
        os.link(root / "a", root / "twin")
    if name in ("create", "group"):
        changes.append(Change(at("x/y/b"), ABSENT, file(NEW), "create", parents=True))
    if name == "remove_directory":
        (root / "dir" / "sub").mkdir(parents=True)
        (root / "dir" / "sub" / "file").write_bytes(OLD)
        changes.append(Change(at("dir"), DirectoryState(entries=2, size=len(OLD)), ABSENT, "remove"))
    return Scene(root, Path(os.path.realpath(place)) / "data", tuple(changes))


SCENES = ("create", "replace", "in_place", "remove", "remove_directory", "group")


def counted(number: int, act: Callable[[str], None]) -> list[Any]:
    """Patches that call `act` with a call's name before the `number`-th call to the system (from 1)."""
    calls = [0]

    def wrap(name: str, plain: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **more: object) -> object:
            calls[0] += 1
            if calls[0] == number:
                if name == "write" and len(arguments[1]) > 1:  # type: ignore[arg-type]
                    plain(arguments[0], arguments[1][: len(arguments[1]) // 2])  # type: ignore[index,arg-type]
                act(name)
            return plain(*arguments, **more)

        return call

    patches = [mock.patch.object(os, name, wrap(name, getattr(os, name))) for name in CALLS if hasattr(os, name)]
    return patches + [mock.patch.object(kernel, name, wrap(name, getattr(kernel, name))) for name in KERNEL_CALLS]


def die(_: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def in_child(case: Scene, patches: Sequence[Any]) -> int:
    """Apply a scene's changes in a child; its exit code (negative: the signal)."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _, writer = case.open(f"child {os.getpid()}")
            for patch in patches:
                patch.start()
            writer.apply(case.changes, AUTHOR)
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
