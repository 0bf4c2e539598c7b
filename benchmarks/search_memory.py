"""What a search costs in memory, measured from outside on a fresh process, and how long patterns meant to blow up take.

The figure is anonymous memory above idle (`Anonymous` of /proc/PID/smaps_rollup: mapped file pages don't count); of the
child program its whole resident peak.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from search_table import Failed, Row, failed
from search_tree import cache, made
from search_whole import engine

MIB = 1 << 20
LIMIT = 64
DEADLINE = 20.0
"""The default of `[limits] deadline`, in seconds."""
OVER = 2.0
BOMBS = {
    "(x+x+)+y": r"(x+x+)+y",
    "nested repetition ((((a|aa)+)+)+)+$": r"((((a|aa)+)+)+)+$",
    "nested counts (((a{1,10}){1,10}){1,10})z": r"(((a{1,10}){1,10}){1,10})z",
    "(.*)(.*)(.*)(.*)(.*)[^x]zq": r"(.*)(.*)(.*)(.*)(.*)[^x]zq",
    "10,000 alternatives": "|".join(f"q{n * 7919 % 65_521:04x}" for n in range(10_000)),
    "10,000 alternatives, (?i)": "(?i)" + "|".join(f"q{n * 7919 % 65_521:04x}" for n in range(10_000)),
}


def memory(*, quick: bool) -> Iterator[Row]:
    part = "Memory above idle, MiB (anonymous; `other`: the child's resident peak)"
    rows, size = (50_000, 50) if quick else (500_000, 500)
    mb = f"a match in one line of {size} MB"
    places = {
        f"{rows:,} rows in 2,000 files": made(cache() / f"rows-{rows}-2000", lambda place: _many(place, rows, 2000)),
        f"{rows:,} rows in 400 files": made(cache() / f"rows-{rows}-400", lambda place: _many(place, rows, 400)),
        mb: made(cache() / f"line-{size}", lambda place: _line(place, size)),
        f"{mb}, beside 1,000 files": made(cache() / f"line-{size}-1000", lambda place: _line(place, size, 1000)),
    }
    for name, place in places.items():
        for output in ("files", "content"):
            try:
                yield _measured(part, f"{name}, {output}", place, output)
            except Failed as error:
                yield failed(part, f"{name}, {output}", error)


def _many(place: Path, rows: int, files: int) -> None:
    for number in range(files):
        each = range(rows // files)
        text = "".join(f"row {n} of file {number} has a needle, and some more words behind it\n" for n in each)
        target = place / f"d{number % 20:02d}" / f"f{number:03d}.txt"
        target.parent.mkdir(exist_ok=True)
        target.write_text(text)
    _idle(place)


def _line(place: Path, size: int, beside: int = 0) -> None:
    with open(place / "line.txt", "wb") as file:
        for number in range(size):
            file.write(b"needle" if number == size // 2 else b"")
            file.write(b"0123456789abcdef" * (1_000_000 // 16))
    for number in range(beside):
        (place / f"other{number}.txt").write_text("nothing\n")
    _idle(place)


def _idle(place: Path) -> None:
    (place / "idle").mkdir()
    (place / "idle" / "one.txt").write_text("a needle\n")


def _measured(part: str, case: str, place: Path, output: str) -> Row:
    words = [sys.executable, __file__, str(place), output]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin and child.stdout
        if child.stdout.readline() != "idle\n":
            raise Failed("the fresh process did not start")
        idle = _anonymous(child.pid)
        with Sampler(child.pid) as sampler:
            child.stdin.write("search\n")
            child.stdin.flush()
            answer = json.loads(child.stdout.readline() or '{"failed": "the fresh process died"}')
        child.stdin.close()
    if "failed" in answer:
        raise Failed(answer["failed"])
    grown = (sampler.anonymous - idle) / MIB
    bound = _bound()
    return Row(
        part=part,
        case=case,
        found=f"{answer['total']:,}",
        ours=grown,
        other=sampler.child / 1024,
        figure=f"{grown:.1f} MiB",
        limit=f"{LIMIT} MiB",
        verdict="ok" if grown <= LIMIT and sampler.child / 1024 <= bound else "BROKEN",
        note=f"{answer['seconds']:.1f} s; idle {idle / MIB:.0f} MiB; the child's bound {bound:.0f} MiB",
    )


def _bound() -> float:
    """MiB that the engine lets its child have; none known = no bound."""
    from handrail.fs import ripgrep

    return getattr(ripgrep, "MEMORY", float("inf")) / MIB


class Sampler:
    """Looks at a process and its children every two milliseconds, in a thread of this one."""

    def __init__(self, pid: int) -> None:
        self.anonymous = 0
        self.child = 0
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> "Sampler":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.002):
            self.anonymous = max(self.anonymous, _anonymous(self._pid))
            for pid in _children(self._pid):
                self.child = max(self.child, _peak(pid))


def _anonymous(pid: int) -> int:
    found = re.search(r"^Anonymous:\s+(\d+) kB", _told(f"/proc/{pid}/smaps_rollup"), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def _peak(pid: int) -> int:
    found = re.search(r"^VmHWM:\s+(\d+) kB", _told(f"/proc/{pid}/status"), re.MULTILINE)
    return int(found[1]) if found and _told(f"/proc/{pid}/comm").strip() == "rg" else 0


def _children(pid: int) -> list[int]:
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    return [int(n) for task in tasks for n in _told(f"/proc/{pid}/task/{task}/children").split()]


def _told(name: str) -> str:
    try:
        return Path(name).read_text()
    except OSError:
        return ""


def fresh(place: Path, output: str) -> None:
    """The fresh process: comes to rest after one small search, then searches once and says what it found."""
    query = {"pattern": "needle", "file_pattern": "**/*"}
    with engine(place) as ours:
        ours.ask("find_files", {"queries": [{**query, "dir": "idle"}], "mode": "search", "output": output})
        print("idle", flush=True)
        sys.stdin.readline()
        began = time.perf_counter()
        try:
            answer: Mapping[str, Any] = ours.ask("find_files", {"queries": [query], "mode": "search", "output": output})
        except Failed as error:
            print(json.dumps({"failed": str(error)}), flush=True)
            return
        took = time.perf_counter() - began
        print(json.dumps({"total": answer["total"], "seconds": took}), flush=True)
        sys.stdin.readline()


def bombs(tree: Path) -> Iterator[Row]:
    """Each pattern on a directory of its worst food, and on the whole tree."""
    part = "Patterns meant to blow up, seconds (the deadline is the limit; refused or partial in time is an answer too)"
    with tempfile.TemporaryDirectory() as made_here:
        food = Path(made_here)
        for number in range(600):
            long = "x" * 2000 + "\n" + "a" * 2000 + "!\n"
            (food / f"{number}.txt").write_text(
                "x" * 100_000 + "\n" + "a" * 100_000 + "\n" if number == 0 else long * 5
            )
        for where, place in (("its food", food), ("the tree", tree)):
            with engine(place) as ours:
                for name, pattern in BOMBS.items():
                    query = {"pattern": pattern, "file_pattern": "**/*"}
                    began = time.perf_counter()
                    try:
                        said = f"{ours.ask('find_files', {'queries': [query], 'mode': 'search'})['total']:,} files"
                    except Failed as error:
                        said = str(error)
                    took = time.perf_counter() - began
                    broken = took > DEADLINE + OVER or "internal_error" in said
                    yield Row(
                        part=part,
                        case=f"{name}, {where}",
                        found="",
                        figure=f"{took:.2f} s",
                        limit=f"{DEADLINE:g} s",
                        verdict="BROKEN" if broken else "ok",
                        note=said[:90],
                    )


if __name__ == "__main__":
    fresh(Path(sys.argv[1]), sys.argv[2])
