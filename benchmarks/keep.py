"""How little room old versions take after `handrail gc`, against a git pack of the same contents.

Run with `make bench-keep`. The versions are those that an agent makes on its way from one release to the next: each
changed file, hunk by hunk. Git gets the same contents as commits and `git repack -adf`. Exit 1 over the limit.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from handrail.model.files import Bytes, FileState
from handrail.store.protocol import Author, Draft, Filter
from handrail.store.sqlite import SqliteStore
from hunks import hunks
from replay import fetched

RELEASES = {
    "rich": ("12.0.0", "12.6.0", "13.0.1", "13.3.5", "13.5.3", "13.7.1", "13.9.4", "14.0.0", "14.2.0"),
    "click": ("8.0.4", "8.1.3", "8.1.8", "8.2.0"),
}
WANTED = 1000
LIMIT = 2.0
State = tuple[str, bytes]


def states(name: str, releases: tuple[str, ...]) -> Iterator[State]:
    """Every state of every file on the way through the releases, hunk by hunk."""
    known: dict[str, bytes] = {}
    for release in releases:
        for path, after in sorted(fetched(name, release, "wheel").items()):
            before = known.get(path)
            known[path] = after
            if before is None:
                yield path, after
                continue
            old, new = lines(before), lines(after)
            for hunk in reversed(hunks(old, new)):
                old[hunk.a : hunk.b] = new[hunk.c : hunk.d]
                yield path, "".join(old).encode("latin-1")


def lines(data: bytes) -> list[str]:
    return [line + "\n" for line in data.decode("latin-1").split("\n")]


def in_handrail(place: str, versions: list[State]) -> tuple[float, dict[str, int]]:
    """Record, tidy up, read everything back; seconds for reading and bytes before and after."""
    author = Author(tool="edit_file", session="bench", task="t-bench")
    store = SqliteStore(place, owner="bench")
    sizes = {"empty": store.usage().bytes}
    for path, content in versions:
        draft = Draft(path=f"/project/{path}", state=FileState(Bytes(content), 0o644), action="modify")
        (version,) = store.record([draft], author)
        store.settle([version.id], done=True)
    sizes["recorded"] = store.usage().bytes - sizes["empty"]
    began = time.perf_counter()
    steps = [tally.deltas for tally in store.compact()]
    print(f"gc: {time.perf_counter() - began:.1f} s, {len(steps)} steps, {steps[-1]} deltas")
    sizes["kept"] = store.usage().bytes - sizes["empty"]
    with store._database.reading() as db:
        queries = ("SELECT sum(length(data)) FROM contents", "SELECT sum(length(data)) FROM deltas")
        sizes["contents"] = sum(int(db.execute(query).fetchone()[0] or 0) for query in queries)
    sizes["contents"] += sum(p.stat().st_size for p in Path(place, "blobs").rglob("*") if p.is_file())
    found = store.versions(Filter(), limit=len(versions))
    began = time.perf_counter()
    read = [version.state.content.bytes() for version in reversed(found)]  # type: ignore[union-attr]
    seconds = time.perf_counter() - began
    assert read == [content for _, content in versions]
    store.close()
    return seconds, sizes


def in_git(place: str, versions: list[State]) -> tuple[int, int]:
    """Bytes of the pack with its index, and of the contents in it alone."""
    stream = bytearray()
    for number, (path, content) in enumerate(versions):
        stream += b"commit refs/heads/main\ncommitter a <a@b> %d +0000\ndata 4\nedit\n" % (1_700_000_000 + number)
        stream += b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(content), content)
    git(place, "init", "-q")
    git(place, "fast-import", "--quiet", given=bytes(stream))
    git(place, "repack", "-adfq")
    packs = Path(place, ".git", "objects", "pack")
    (index,) = packs.glob("*.idx")
    rows = [row.split() for row in git(place, "verify-pack", "-v", str(index)).split(b"\n")]
    blobs = sum(int(row[3]) for row in rows if len(row) > 4 and row[1] == b"blob")
    return sum(p.stat().st_size for p in packs.iterdir() if p.suffix in {".pack", ".idx"}), blobs


def git(place: str, *words: str, given: bytes = b"") -> bytes:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(["git", "-C", place, *words], input=given, capture_output=True, check=True, env=env)
    return done.stdout


def main() -> int:
    worst = 0.0
    for name, releases in RELEASES.items():
        versions = list(dict.fromkeys(states(name, releases)))[:WANTED]
        plain = sum(len(content) for _, content in versions)
        print(f"\n{name}: {len(versions)} versions of {len({p for p, _ in versions})} files, {plain:,} bytes")
        with tempfile.TemporaryDirectory() as ours, tempfile.TemporaryDirectory() as theirs:
            seconds, sizes = in_handrail(os.path.join(ours, "data"), versions)
            pack, blobs = in_git(theirs, versions)
        print(f"recorded {sizes['recorded']:,} bytes; a version reads in {seconds / len(versions) * 1000:.2f} ms")
        print(
            f"contents:    handrail {sizes['contents']:>10,}  git {blobs:>10,}  ratio {sizes['contents'] / blobs:.2f}"
        )
        print(f"everything:  handrail {sizes['kept']:>10,}  git {pack:>10,}  ratio {sizes['kept'] / pack:.2f}")
        worst = max(worst, sizes["contents"] / blobs, sizes["kept"] / pack)
    print(f"\nlargest ratio = {worst:.2f} (limit {LIMIT})")
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
