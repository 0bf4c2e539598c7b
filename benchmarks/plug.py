"""Pulls the plug on a real ext4: what had reached the image of its disk is all that is left; 0 failures or exit 1.

Run with `make bench-plug`, as root. A writer edits files on a disk that lies in an image; it is killed, the image is
copied as it is (nothing is flushed), and the copy is mounted in its place: its journal is all that helps it.
"""

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import handrail
from full import missing
from handrail.model.files import FileState
from handrail.store.protocol import Filter

ROUNDS = 12
FILES = 5


def write(place: Path, seed: str) -> None:
    """Change one file after the other until killed, saying before each what it will be and after it that it is."""
    chance = random.Random(seed)
    with handrail.open(root=place / "tree", approve="auto", data_dir=place / "data") as files:
        for number in range(10_000):
            name = f"{chance.randrange(FILES)}.txt"
            text = "".join(f"{number} {chance.random()}\n" for _ in range(chance.choice((10, 300, 4000))))
            digest = hashlib.sha256(text.encode()).hexdigest()
            there = place / "tree" / name
            known = {"expected_hash": hashlib.sha256(there.read_bytes()).hexdigest()} if there.exists() else {}
            print("begins", name, digest, flush=True)
            files.call("edit_file", {"path": name, "content": text, **known}).unwrap()
            print("is", name, digest, flush=True)


def mounted(image: Path, place: Path) -> None:
    subprocess.run(["mount", "-o", "loop", image, place], check=True)


def unplugged(here: Path, seed: int) -> tuple[int, list[str]]:
    """One round: how many changes were reported before the plug was pulled, and what is wrong after it."""
    image, place = here / "image", here / "disk"
    place.mkdir(exist_ok=True)
    with image.open("wb") as file:
        file.truncate(48 << 20)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    mounted(image, place)
    try:
        (place / "tree").mkdir()
        words = [sys.executable, __file__, "write", str(place), str(seed)]
        writer = subprocess.Popen(words, stdout=subprocess.PIPE)
        assert writer.stdout is not None
        told = [writer.stdout.readline() for _ in range(random.Random(seed).randrange(3, 60))]
        os.kill(writer.pid, signal.SIGKILL)
        told += writer.communicate()[0].split(b"\n")
        shutil.copyfile(image, here / "copy")
    finally:
        subprocess.run(["umount", place], check=True)
    mounted(here / "copy", place)
    try:
        return judged(place, [line.decode().split() for line in told if line.strip()])
    finally:
        subprocess.run(["umount", place], check=True)


def judged(place: Path, told: list[list[str]]) -> tuple[int, list[str]]:
    found: list[str] = []
    done = {name: digest for what, name, digest in told if what == "is"}
    begun = told[-1][1:] if told[-1][0] == "begins" else ["", ""]
    reported = [digest for what, _, digest in told if what == "is"]
    with handrail.open(root=place / "tree", approve="auto", data_dir=place / "data") as files:
        for name in (f"{n}.txt" for n in range(FILES)):
            path = place / "tree" / name
            there = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None
            if there != done.get(name) and [name, there] != begun:
                found.append(f"{name} is neither what was reported nor what was begun")
            newest = files.store.newest(str(path))
            known = newest.state.content.hash if newest and isinstance(newest.state, FileState) else None
            if known != there or (newest is not None and newest.status != "done"):
                found.append(f"{name} isn't its newest version")
        kept = {
            v.state.content.hash for v in files.store.versions(Filter(), limit=1000) if isinstance(v.state, FileState)
        }
        found += [f"a reported version of {digest[:8]} is gone" for digest in reported if digest not in kept]
        found += [f"{name} is left over" for name in os.listdir(place / "tree") if not name.endswith(".txt")]
    return len(reported), found


def main() -> None:
    if why := missing():
        sys.exit(f"Not here: {why}.")
    failed = changes = 0
    with tempfile.TemporaryDirectory() as here:
        for seed in range(ROUNDS):
            reported, found = unplugged(Path(here).resolve(), seed)
            changes += reported
            failed += len(found)
            print(f"plug {seed}: after {reported} reported changes", *found, sep="\n  ", flush=True)
    print(f"{ROUNDS} times unplugged, {changes} reported changes, {failed} failures")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    write(Path(sys.argv[2]), sys.argv[3]) if sys.argv[1:2] == ["write"] else main()
