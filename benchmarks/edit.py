"""What a recorded, undoable edit costs beside the bare durable write of the same bytes, and a history when it is large.

Run with `make bench-edit`. One interleaved run; ratios and differences are of the minima. `--strict`: exit 1 over the
limits; `--versions N`: how large the large history is.
"""

import argparse
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import handrail
from handrail.core.apply import Writer
from handrail.core.locks import Locks
from handrail.fs.host import HostFileSystem
from handrail.model.changes import Change
from handrail.model.files import Bytes, FileState
from handrail.model.paths import seal
from handrail.store.protocol import Author, Filter
from handrail.store.sqlite import SqliteStore

EDIT_BYTES = 20_000
ROUNDS = 300
TASK_FILES = 1000
UNDO_ROUNDS = 3
TASK_BYTES = 2_000
LIST_ROUNDS = 30
PAGE = 50
HOUR = 3600 * 10**9


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured, what it may be, and in which unit."""

    name: str
    found: float
    limit: float | None
    unit: str
    also: str = ""

    @property
    def over(self) -> bool:
        return self.limit is not None and self.found > self.limit


def timed(act: Callable[[], object]) -> float:
    """Milliseconds of one run."""
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000


def bare(path: Path, data: bytes) -> None:
    """The durable write that loses nothing and knows nothing: temp, fsync, rename, fsync of the directory."""
    temporary = path.with_name(f".{path.name}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        os.write(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)
    os.rename(temporary, path)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def text(size: int, seed: int) -> str:
    """Lines that compress like source code."""
    lines, length, number = [], 0, 0
    while length < size:
        lines.append(f"    value_{number} = compute(left={(seed * 7919 + number * 31) % 9973}, right='row {number}')\n")
        length += len(lines[-1])
        number += 1
    return "".join(lines)


def edits(place: Path) -> list[Row]:
    """A whole call and the writer alone, beside the bare write, taking turns."""
    root = place / "edits"
    root.mkdir()
    by_call, by_writer, by_hand = root / "call.py", root / "writer.py", root / "hand.py"
    whole = text(EDIT_BYTES, 1)
    for path in (by_call, by_writer, by_hand):
        path.write_text(whole)
    times: dict[str, list[float]] = {"bare": [], "call": [], "writer": []}
    fs, author = HostFileSystem(), Author(tool="Edit", session="bench", task=None)
    store = SqliteStore(str(place / "writer-data"), owner="bench")
    writer = Writer(fs, store, Locks(str(place / "writer-data" / "locks")))
    at, before = seal(str(by_writer)), FileState(Bytes(whole.encode()))
    with handrail.open(root=root, approve="auto", data_dir=place / "call-data", family="claude_code") as opened:
        assert opened.call("Read", {"file_path": str(by_call)}).ok
        old = "row 1')"
        for round_ in range(ROUNDS):
            new = f"round {round_}')"
            data = (whole[:-1] + f" # {round_}\n").encode()
            after = FileState(Bytes(data))
            change = Change(at, before, after, "modify")
            arguments = {"file_path": str(by_call), "old_string": old, "new_string": new}
            acts: list[tuple[str, Callable[[], object]]] = [
                ("bare", lambda data=data: bare(by_hand, data)),
                ("writer", lambda change=change: writer.apply([change], author)),
                ("call", lambda arguments=arguments: _ok(opened.call("Edit", arguments))),
            ]
            for name, act in acts[round_ % 3 :] + acts[: round_ % 3]:
                times[name].append(timed(act))
            old, before = new, after
    store.close()
    least = {name: min(found) for name, found in times.items()}
    middle = {name: sorted(found)[len(found) // 2] for name, found in times.items()}
    return [
        Row("bare durable write, 20 KB", least["bare"], None, "ms", f"median {middle['bare']:.2f}"),
        Row("record and apply / bare", least["writer"] / least["bare"], 2.5, "x", f"median {middle['writer']:.2f} ms"),
        Row("whole Edit - bare", least["call"] - least["bare"], 3.0, "ms", f"median {middle['call']:.2f} ms"),
    ]


def _ok(result: object) -> None:
    assert getattr(result, "ok", False), result


def undo(place: Path) -> list[Row]:
    """A task of a thousand files taken back, beside the bare writes of the same bytes."""
    root = place / "undo"
    root.mkdir()
    names = [root / f"d{number % 10}" / f"f{number}.py" for number in range(TASK_FILES)]
    before = {path: text(TASK_BYTES, number) for number, path in enumerate(names)}
    for path, content in before.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    hand = place / "undo-hand"
    by_hand = {hand / path.relative_to(root): content.encode() for path, content in before.items()}
    for path, data in by_hand.items():
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(data)
    bares, undone = [], []
    with handrail.open(root=root, approve="auto", data_dir=place / "undo-data", family="batch") as opened:
        for round_ in range(UNDO_ROUNDS):
            with opened.task(f"round {round_}") as task:
                for path in names:
                    whole = {"path": str(path), "mode": "write", "content": before[path] + f"# {round_}\n"}
                    opened.call("read_files", {"files": [{"path": str(path)}]})
                    _ok(opened.call("edit_file", whole))
            bares.append(timed(lambda: [bare(path, data) for path, data in by_hand.items()]))
            undone.append(timed(lambda: _ok(opened.call("edit_file", {"mode": "restore", "task_id": task}))))
            assert all(path.read_text() == content for path, content in before.items())
    name = f"undo of {TASK_FILES} files / bare"
    return [Row(name, min(undone) / min(bares), 3.0, "x", f"{min(undone):.0f} ms against {min(bares):.0f}")]


def large(place: Path, versions: int) -> list[Row]:
    """A history of many versions: opened, and listed in four ways."""
    directory = place / "large"
    fill(directory, versions)
    listings = {
        "newest": Filter(),
        "one path": Filter(under="/work/project/package7/module123.py"),
        "a directory": Filter(under="/work/project/package7"),
        "a task": Filter(task="t-500"),
        "an old task": Filter(task="t-3"),
        "contains, common": Filter(contains="module12"),
        "contains, one file": Filter(contains="package7/module123."),
        "contains, nothing": Filter(contains="no such name"),
    }
    opened = [timed(lambda: SqliteStore(str(directory), owner="bench").close()) for _ in range(LIST_ROUNDS)]
    rows = [Row(f"open, {versions:,} versions", min(opened), 50.0, "ms", _middle(opened))]
    store = SqliteStore(str(directory), owner="bench")
    for name, wanted in listings.items():
        found = [timed(lambda wanted=wanted: store.versions(wanted, limit=PAGE)) for _ in range(LIST_ROUNDS)]
        rows.append(Row(f"list: {name}", min(found), 5.0, "ms", _middle(found)))
    store.close()
    return rows


def _middle(found: list[float]) -> str:
    return f"median {sorted(found)[len(found) // 2]:.2f}"


def fill(directory: Path, versions: int) -> None:
    """Versions straight into the real tables: 50,000 paths, 1,000 tasks, edits that come back to the same files."""
    SqliteStore(str(directory), owner="bench").close()
    db = sqlite3.connect(directory / "history.sqlite3", isolation_level=None)
    paths = max(1, min(50_000, versions // 20))
    db.execute("PRAGMA synchronous = OFF")
    db.execute("BEGIN")
    db.executemany(
        "INSERT INTO paths (id, path) VALUES (?, ?)",
        ((n + 1, f"/work/project/package{n % 100}/module{n // 100}.py".encode()) for n in range(paths)),
    )
    tasks = 1000
    db.executemany(
        "INSERT INTO tasks (id, session, opened_at, touched_at, last_version) VALUES (?, 's', ?, ?, ?)",
        ((f"t-{n}", n * HOUR, n * HOUR, (n + 1) * versions // tasks) for n in range(tasks)),
    )
    db.executemany(
        "INSERT INTO versions (path_id, kind, hash, size, mode, action, tool, session, task, time_ns, previous, status)"
        " VALUES (?, 'file', ?, 20000, 420, 'modify', 'Edit', 's', ?, ?, ?, 1)",
        (
            (
                n * 7919 % paths + 1,
                n.to_bytes(32, "big"),
                f"t-{n * tasks // versions}",
                n * HOUR // 1000,
                n - paths + 1 if n >= paths else None,
            )
            for n in range(versions)
        ),
    )
    db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--versions", type=int, default=1_000_000)
    parser.add_argument("--only", choices=("edits", "undo", "large"))
    options = parser.parse_args()
    parts: dict[str, Callable[[Path], list[Row]]] = {
        "edits": edits,
        "undo": undo,
        "large": lambda place: large(place, options.versions),
    }
    rows: list[Row] = []
    for name, part in parts.items():
        if options.only in (None, name):
            with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as place:
                rows += part(Path(os.path.realpath(place)))
    print(f"{'what':32} {'found':>9} {'limit':>7}")
    for row in rows:
        limit = f"{row.limit:7.1f}" if row.limit is not None else " " * 7
        print(f"{row.name:32} {row.found:6.2f} {row.unit:2} {limit} {'OVER' if row.over else '':5} {row.also}")
    return 1 if options.strict and any(row.over for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
