"""What a loss of power may leave: a model of names and bytes, fed by a recorded run, that forgets what wasn't synced.

A file's bytes are safe after a sync of the file, a name after a sync of its directory; nothing else is promised.
"""

import os
import random
import re
import shutil
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PAGE = 4096
RECORDED = (
    *("openat", "openat2", "creat", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "fallocate", "lseek"),
    *("rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir"),
    *("symlink", "symlinkat", "chmod", "fchmod", "fchmodat", "sendto"),
)
OPTIONS = ("-y", "-xx", "-s", "100000000", "-e", "trace=" + ",".join(f"?{call}" for call in RECORDED))
SYNCS = ("fsync", "fdatasync")
NAMES = ("rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir")
WAYS = ("only what was synced", "all names", "all bytes", "everything")
_LINE = re.compile(r"(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)(?:<([^>]*)>)?")


@dataclass(eq=False)
class Node:
    """A file, link or directory: as it is, and as it is safe on the disk (`None`: nothing of it is yet)."""

    kind: str
    mode: int = 0
    data: bytes = b""
    names: dict[str, "Node"] = field(default_factory=dict)
    safe_mode: int = 0
    safe_data: bytes = b""
    safe_names: dict[str, "Node"] = field(default_factory=dict)
    pending: list[tuple[int, bytes]] = field(default_factory=list)

    def sync(self) -> None:
        self.safe_mode, self.safe_data, self.safe_names = self.mode, self.data, dict(self.names)
        self.pending.clear()

    def put(self, at: int, data: bytes) -> None:
        self.data = self.data[:at].ljust(at, b"\0") + data + self.data[at + len(data) :]
        first = at - at % PAGE
        for start in range(first, at + len(data), PAGE):
            self.pending.append((start, self.data[start : start + PAGE]))

    def cut(self, size: int) -> None:
        self.data = self.data[:size].ljust(size, b"\0")


@dataclass(frozen=True)
class Event:
    """One recorded call that succeeded."""

    call: str
    words: tuple[str, ...]
    answer: int
    opened: str


def events(log: Path) -> list[Event]:
    """The calls of a recording, in order."""
    found = []
    for line in log.read_text(errors="strict").split("\n"):
        if "<unfinished" in line:
            raise ValueError("several threads wrote at once, and their order isn't known")
        if (made := _LINE.match(line)) and int(made[3]) >= 0:
            words = tuple(word.strip() for word in made[2].split(", "))
            found.append(Event(made[1], words, int(made[3]), _text(made[4] or "")))
    return found


class Disk:
    """The names and bytes below one directory, all safe in the beginning."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self._root = _loaded(top)
        self._handles: dict[int, tuple[Node, int, bool]] = {}
        self._crossings: list[tuple[Node, Node]] = []

    def take(self, event: Event) -> None:
        """Let one call have its effect."""
        act = getattr(self, f"_{event.call}", None)
        if act is not None:
            act(event)

    def state(self, way: str, chance: random.Random | None = None) -> "State":
        """What a loss of power now would leave; `chance` decides what is left of what nobody promised."""
        names = chance is not None and not self._crossings
        return State(self.top, tuple(_left(self._root, way, chance, "", names=names)))

    # calls

    def _openat(self, event: Event) -> None:
        node = self._at(event.opened)
        if node is None and "O_CREAT" in event.words[2]:
            node = self._make(event.opened, Node("file", mode=int(event.words[3], 8) & 0o644))
        if node is None:
            self._handles.pop(event.answer, None)
            return
        if "O_TRUNC" in event.words[2]:
            node.cut(0)
        self._handles[event.answer] = (node, 0, "O_APPEND" in event.words[2])

    def _openat2(self, event: Event) -> None:
        self._handles.pop(event.answer, None)
        if (node := self._at(event.opened)) is not None:
            self._handles[event.answer] = (node, 0, False)

    def _write(self, event: Event) -> None:
        handle = self._handle(event)
        if handle is not None and event.answer:
            node, at, appends = handle
            at = len(node.data) if appends else at
            node.put(at, _bytes(event.words[1])[: event.answer])
            self._handles[_number(event.words[0])] = (node, at + event.answer, appends)

    def _pwrite64(self, event: Event) -> None:
        if (handle := self._handle(event)) is not None:
            handle[0].put(int(event.words[3]), _bytes(event.words[1])[: event.answer])

    def _lseek(self, event: Event) -> None:
        if (handle := self._handle(event)) is not None:
            self._handles[_number(event.words[0])] = (handle[0], event.answer, handle[2])

    def _ftruncate(self, event: Event) -> None:
        if (handle := self._handle(event)) is not None:
            handle[0].cut(int(event.words[1]))

    def _fallocate(self, event: Event) -> None:
        if (handle := self._handle(event)) is not None:
            node, end = handle[0], int(event.words[2]) + int(event.words[3])
            node.cut(max(end, len(node.data)))

    def _fchmod(self, event: Event) -> None:
        if (handle := self._handle(event)) is not None:
            handle[0].mode = int(event.words[1], 8)

    def _fsync(self, event: Event) -> None:
        if (handle := self._handle(event)) is not None:
            handle[0].sync()
            # A name that moves between directories moves in one step in every journal: both sides are safe, or neither.
            for crossing in [c for c in self._crossings if handle[0] in c]:
                self._crossings.remove(crossing)
                for side in crossing:
                    side.sync()

    _fdatasync = _fsync

    def _renameat2(self, event: Event) -> None:
        old, new, how = self._name(*event.words[:2]), self._name(*event.words[2:4]), event.words[4:]
        self._rename_to(old, new, swap=bool(how) and "RENAME_EXCHANGE" in how[0])

    _renameat = _renameat2

    def _rename(self, event: Event) -> None:
        self._rename_to(_text(event.words[0]), _text(event.words[1]), swap=False)

    def _rename_to(self, old: str, new: str, *, swap: bool) -> None:
        source, name = self._parent(old)
        target, called = self._parent(new)
        if source is None or target is None:
            raise ValueError(f"{old} or {new} isn't known")
        moved, there = source.names.pop(name), target.names.get(called)
        target.names[called] = moved
        if swap and there is not None:
            source.names[name] = there
        if source is not target:
            self._crossings.append((source, target))

    def _linkat(self, event: Event) -> None:
        node = self._at(self._name(*event.words[:2]))
        if node is not None:
            self._make(self._name(*event.words[2:4]), node)

    def _mkdirat(self, event: Event) -> None:
        self._make(self._name(*event.words[:2]), Node("directory", mode=int(event.words[2], 8) & 0o755))

    def _mkdir(self, event: Event) -> None:
        self._make(_text(event.words[0]), Node("directory", mode=int(event.words[1], 8) & 0o755))

    def _symlinkat(self, event: Event) -> None:
        self._make(self._name(*event.words[1:3]), Node("link", data=_bytes(event.words[0])))

    def _unlinkat(self, event: Event) -> None:
        self._drop(self._name(*event.words[:2]))

    def _unlink(self, event: Event) -> None:
        self._drop(_text(event.words[0]))

    _rmdir = _unlink

    def _chmod(self, event: Event) -> None:
        if (node := self._at(_text(event.words[0]))) is not None:
            node.mode = int(event.words[1], 8)

    def _fchmodat(self, event: Event) -> None:
        if (node := self._at(self._name(*event.words[:2]))) is not None:
            node.mode = int(event.words[2], 8)

    # names

    def _handle(self, event: Event) -> tuple[Node, int, bool] | None:
        number, _, path = event.words[0].partition("<")
        name = _text(path.partition(">")[0])  # behind it may stand that it is deleted
        inside = name == str(self.top) or name.startswith(f"{self.top}/")
        return self._handles.get(int(number)) if inside else None

    def _name(self, directory: str, name: str) -> str:
        inner = _text(name)
        return inner if inner.startswith("/") else f"{_text(directory.partition('<')[2].rstrip('>'))}/{inner}"

    def _parent(self, path: str) -> tuple[Node | None, str]:
        above, _, name = path.rpartition("/")
        return self._at(above), name

    def _at(self, path: str) -> Node | None:
        if path != str(self.top) and not path.startswith(f"{self.top}/"):
            return None
        node: Node | None = self._root
        for part in path[len(str(self.top)) :].split("/"):
            if part and node is not None:
                node = node.names.get(part)
        return node

    def _make(self, path: str, node: Node) -> Node | None:
        parent, name = self._parent(path)
        if parent is None:
            return None
        parent.names[name] = node
        return node

    def _drop(self, path: str) -> None:
        parent, name = self._parent(path)
        if parent is not None:
            parent.names.pop(name, None)


@dataclass(frozen=True)
class State:
    """What stands below a directory after the loss: (name, kind, mode, bytes, which node) in order."""

    top: Path
    entries: tuple[tuple[str, str, int, bytes, int], ...]

    def build(self) -> None:
        """Make the directory look so."""
        shutil.rmtree(self.top)
        self.top.mkdir()
        made: dict[int, Path] = {}
        for name, kind, mode, data, node in self.entries:
            path = self.top / name
            if kind == "directory":
                path.mkdir()
                path.chmod(mode)
            elif kind == "link":
                path.symlink_to(os.fsdecode(data))
            elif node in made:
                os.link(made[node], path)
            else:
                path.write_bytes(data)
                path.chmod(mode)
                made[node] = path


def boundaries(told: Sequence[Event]) -> Iterator[tuple[int, bool]]:
    """After how many events a loss of power is tried: around each sync and each change of a name; and if answered."""
    answered = 0
    for number, event in enumerate(told):
        if event.call in SYNCS:
            yield number, answered > 0
        answered += event.call == "sendto"
        if event.call in SYNCS or event.call in NAMES:
            yield number + 1, answered > 0
    yield len(told), answered > 0


def _left(
    node: Node, way: str, chance: random.Random | None, name: str, *, names: bool
) -> Iterator[tuple[str, str, int, bytes, int]]:
    now = way in ("all names", "everything") or (names and chance is not None and chance.random() < 0.5)
    for inner, child in sorted((node.names if now else node.safe_names).items()):
        full = f"{name}/{inner}" if name else inner
        if child.kind == "link":
            yield full, "link", 0, child.data, id(child)
        elif child.kind == "directory":
            yield full, "directory", child.mode, b"", id(child)
            yield from _left(child, way, chance, full, names=names)
        elif inner.endswith("-shm"):
            continue  # memory that processes share; SQLite makes it anew
        elif way in ("all bytes", "everything"):
            yield full, "file", child.mode, child.data, id(child)
        else:
            data = child.safe_data if chance is None else _partly(child, chance)
            yield full, "file", child.safe_mode or child.mode, data, id(child)


def _partly(node: Node, chance: random.Random) -> bytes:
    """The safe bytes with some of the pages that were written since; a file may have its old or its new length."""
    data = bytearray(node.safe_data)
    for start, page in node.pending:
        if chance.random() < 0.5:
            data.extend(bytes(max(0, start - len(data))))
            data[start : start + len(page)] = page
    return bytes(data[: len(node.data)] if chance.random() < 0.5 else data)


def _loaded(path: Path) -> Node:
    seen: dict[int, Node] = {}

    def load(at: Path) -> Node:
        facts = at.lstat()
        if stat.S_ISLNK(facts.st_mode):
            node = Node("link", data=os.fsencode(at.readlink()))
        elif stat.S_ISDIR(facts.st_mode):
            node = Node("directory", mode=stat.S_IMODE(facts.st_mode))
            node.names = {child.name: load(child) for child in at.iterdir()}
        elif facts.st_ino in seen:
            return seen[facts.st_ino]
        else:
            node = seen[facts.st_ino] = Node("file", mode=stat.S_IMODE(facts.st_mode), data=at.read_bytes())
        node.sync()
        return node

    return load(path)


def _number(word: str) -> int:
    return int(word.partition("<")[0])


def _bytes(word: str) -> bytes:
    return bytes.fromhex(word.strip('"').replace("\\x", ""))


def _text(word: str) -> str:
    return os.fsdecode(_bytes(word)) if "\\x" in word else word.strip('"')
