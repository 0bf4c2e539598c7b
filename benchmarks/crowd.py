"""Eight processes of four threads edit, restore and undo twenty files at once, against what the history must then say.

Run with `make bench-crowd` (60 s); `python benchmarks/crowd.py 200` lets each thread make 200 calls instead.
"""

import collections
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import handrail
from handrail.model.files import FileState
from handrail.model.records import Version
from handrail.store.protocol import Filter

PROCESSES, THREADS, FILES = 8, 4, 20
SECONDS = 60
BUSY = frozenset(
    {
        "stale",
        "file_modified_since_read",
        "busy",
        "conflict",
        "not_found",
        "not_restorable",
        "not_read",
        "task_not_found",
        "no_match",
        "ambiguous_match",
    }
)
"""What a call among many may be answered with; nothing was changed then."""
LINES = 24
FIRST = b"".join(b"row %d\n" % n for n in range(LINES))


class Member:
    """One thread of the crowd: it reports each change as it was answered, and the hash of each read."""

    def __init__(self, files: handrail.Handrail, root: Path, name: str) -> None:
        self.files = files
        self.root = root
        self.name = name
        self.chance = random.Random(name)
        self.told: list[dict[str, object]] = []
        self.tasks: list[str] = []
        self.versions: list[int] = []
        self.made = self.acts = 0

    def act(self) -> None:
        """One change, of a random kind, of a random file."""
        path = f"file{self.chance.randrange(FILES):02d}.txt"
        what = self.chance.random()
        if what < 0.35 or not self.tasks or not self.versions:
            self.write(path)
        elif what < 0.68:
            self.patch(path)
        elif what < 0.7:
            self.call("remove", {"path": path, "mode": "remove"})
        elif what < 0.85:
            self.call("restore", {"mode": "restore", "version": self.chance.choice(self.versions)})
        else:
            self.call("undo", {"mode": "restore", "task_id": self.chance.choice(self.tasks)})

    def write(self, path: str) -> None:
        """A new row with a marker of its own; what it replaces is said by its hash."""
        data = self.read(path)
        rows = [] if data is None else data.decode().split("\n")[:-1][1 - LINES :]
        rows.insert(self.chance.randrange(len(rows) + 1), self.marker())
        arguments = {"path": path, "content": "".join(f"{row}\n" for row in rows)}
        if data is not None:
            arguments["expected_hash"] = hashlib.sha256(data).hexdigest()
        self.call("write", arguments, task=self.task())

    def patch(self, path: str) -> None:
        """A new row after one that stands there, as a model sends it."""
        if not self.files.call("read_files", {"files": [{"path": path}]}).ok or not (data := self.read(path)):
            return
        row = self.chance.choice(data.decode().split("\n")[:-1])
        target = {"old_string": f"{row}\n", "new_string": f"{row}\n{self.marker()}\n"}
        self.call("patch", {"path": path, "targets": [target]}, task=self.task())

    def read(self, path: str) -> bytes | None:
        """What stands there now; it is told, because it must be in the history."""
        try:
            data = (self.root / path).read_bytes()
        except FileNotFoundError:
            return None
        self.told.append({"read": path, "hash": hashlib.sha256(data).hexdigest()})
        return data

    def marker(self) -> str:
        self.made += 1
        return f"{self.name}-{self.made}"

    def task(self) -> str:
        if self.made % 8 == 1:
            self.tasks.append(f"t-{self.name}-{len(self.tasks)}")
        return self.tasks[-1]

    def call(self, what: str, arguments: dict[str, object], task: str | None = None) -> None:
        result = self.files.call("edit_file", arguments, task=task)
        receipts = [result.payload, *result.payload.get("results", [])]
        changed = [(r["version"], r["path"]) for r in receipts if r.get("version") and r.get("path")]
        if changed and len(self.versions) < 1000:
            self.versions += [version for version, _ in changed]
        unexpected = "" if result.ok or result.kind in BUSY else f"{result.kind}: {result.text[:200]}"
        self.told.append({"what": what, "ok": result.ok, "changed": changed, "unexpected": unexpected})


def crowd(root: Path, data: Path, name: str, goes_on: Callable[[Member], bool]) -> list[dict[str, object]]:
    """The threads of one process, until each has done its part; what they report."""
    with handrail.open(root=root, approve="auto", data_dir=data) as files:
        members = [Member(files, root, f"{name}{number}") for number in range(THREADS)]

        def work(member: Member) -> None:
            while goes_on(member):
                member.acts += 1
                member.act()

        threads = [threading.Thread(target=work, args=(member,)) for member in members]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return [told for member in members for told in member.told]


def gather(root: Path, data: Path, calls: int | None, *, processes: int = PROCESSES) -> list[dict[str, object]]:
    """Let the whole crowd loose; what all of them report."""
    for number in range(FILES):
        (root / f"file{number:02d}.txt").write_bytes(FIRST)
    words = [sys.executable, __file__, "member", str(root), str(data), "" if calls is None else str(calls)]
    running = [
        subprocess.Popen([*words, chr(97 + n)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for n in range(processes)
    ]
    told: list[dict[str, object]] = []
    for process in running:
        out, err = process.communicate()
        if process.returncode:
            raise RuntimeError(err.decode(errors="replace")[-2000:])
        told += json.loads(out)
    return told


def judge(root: Path, data: Path, told: Sequence[dict[str, object]]) -> list[str]:
    """What doesn't fit: between what was reported, the history, and the files as they stand."""
    found = [str(t["unexpected"]) for t in told if t.get("unexpected")]
    chains: dict[str, list[Version]] = collections.defaultdict(list)
    with handrail.open(root=root, approve="auto", data_dir=data) as files:
        after: int | None = None
        while page := files.store.versions(Filter(), limit=500, after=after):
            for version in page:
                chains[version.path].insert(0, version)
            after = page[-1].id
        for path, chain in chains.items():
            found += _chain(Path(path), chain)
    seen = {(path, v.state.content.hash) for path, c in chains.items() for v in c if isinstance(v.state, FileState)}
    seen |= {(f"{root}/file{n:02d}.txt", hashlib.sha256(FIRST).hexdigest()) for n in range(FILES)}
    known = {(version.id, path) for path, chain in chains.items() for version in chain}
    for report in told:
        if "read" in report and (f"{root}/{report['read']}", report["hash"]) not in seen:
            found.append(f"{report['read']} was read as it never was")
        for version, path in report.get("changed", ()):  # type: ignore[attr-defined]
            if (version, os.path.join(root, path)) not in known:
                found.append(f"version {version} of {path} was reported and isn't in the history")
    return found + [f"{path} is left over" for path in root.iterdir() if not path.name.startswith("file")]


def _chain(path: Path, chain: Sequence[Version]) -> list[str]:
    """One path's versions, oldest first: each follows the one before it, gives its bytes, and adds just its own row."""
    found = []
    before: list[str] | None = None
    for earlier, version in zip([None, *chain[:-1]], chain, strict=True):
        which = f"version {version.id} ({version.action}) of {path.name}"
        if version.previous != (None if earlier is None else earlier.id):
            found.append(f"{which} doesn't follow the one before it")
        if version.status != "done":
            found.append(f"{which} is open")
        if version.action == "external" and earlier is not None:
            found.append(f"{which} came from nobody")
        rows: list[str] | None = None
        if isinstance(version.state, FileState):
            data = version.state.content.bytes()
            if hashlib.sha256(data).hexdigest() != version.state.content.hash:
                found.append(f"{which} isn't what was recorded")
            rows = data.decode().split("\n")
        if version.action == "modify" and rows is not None and before is not None and not one_more(before, rows):
            found.append(f"{which} lost or made up rows: {before} {rows}")
        before = rows
    last = chain[-1].state
    there = path.read_bytes() if path.exists() else None
    if (last.content.bytes() if isinstance(last, FileState) else None) != there:
        found.append(f"{path.name} isn't its newest version")
    return found


def one_more(before: Sequence[str], rows: Sequence[str]) -> bool:
    """Whether rows are those before with one more among them, but for some at the top that were cut off."""
    kept = before[len(before) - len(rows) + 1 :]
    return any(row not in before and kept == [*rows[:n], *rows[n + 1 :]] for n, row in enumerate(rows))


def member() -> None:
    """One process of the crowd; it writes what its threads report to its output."""
    root, data, calls, name = sys.argv[2:]
    until = time.monotonic() + SECONDS

    def goes_on(one: Member) -> bool:
        return one.acts < int(calls) if calls else time.monotonic() < until

    json.dump(crowd(Path(root), Path(data), name, goes_on), sys.stdout)


def main() -> None:
    calls = int(sys.argv[1]) if sys.argv[1:] else None
    with tempfile.TemporaryDirectory() as here:
        root, data = Path(here).resolve() / "tree", Path(here).resolve() / "data"
        root.mkdir()
        told = gather(root, data, calls)
        found = judge(root, data, told)
    print("| call | answered | done | refused |\n| --- | ---: | ---: | ---: |")
    for what in ("write", "patch", "remove", "restore", "undo"):
        answers = [t["ok"] for t in told if t.get("what") == what]
        print(f"| {what} | {len(answers)} | {sum(map(bool, answers))} | {len(answers) - sum(map(bool, answers))} |")
    versions = sum(len(t["changed"]) for t in told if "changed" in t)  # type: ignore[arg-type,misc]
    print(f"{versions} reported versions, {sum('read' in t for t in told)} reads; {len(found)} failures")
    print(*found[:20], sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    member() if sys.argv[1:2] == ["member"] else main()
