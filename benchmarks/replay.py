"""Real edits replayed: packages at two successive versions, every changed text file edited from one to the other.

Run with `make bench-replay`. Each file's hunks go through the whole road as `edit_file` patches and as `MultiEdit`
calls and must give the newer version byte for byte: as it is, and with both versions turned into CRLF, UTF-16, GBK,
Shift-JIS and Latin-1 where they can be. Packages come from the registry and are kept in `.venv/replay`. What is read
as another encoding than it was turned into is counted; its bytes must be right all the same. Exit 1 on any mismatch.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import handrail
from handrail.model.errors import HandrailError
from handrail.model.records import Request
from handrail.text import codec
from hunks import Sent, edits, targets

PACKAGES = (
    ("requests", "2.32.3", "2.32.4", "source"),
    ("click", "8.1.8", "8.2.0", "wheel"),
    ("rich", "13.9.4", "14.0.0", "wheel"),
    ("attrs", "23.2.0", "24.1.0", "wheel"),
    ("docutils", "0.20.1", "0.21.2", "source"),
)
KEPT = Path(sys.prefix) / "replay"
MOST_CALLS = 6
Files = dict[str, bytes]
TURNS = {
    "": ("", ""),
    "CRLF": ("utf-8", "\r\n"),
    "UTF-16": ("utf-16", "\n"),
    "GBK": ("gbk", "\n"),
    "Shift-JIS": ("shift_jis", "\n"),
    "Latin-1": ("latin-1", "\r\n"),
}
"""Into what files are turned: encoding and line end."""


@dataclass
class Score:
    """What one package came to in one family of tools."""

    files: int = 0
    sent: int = 0
    more_calls: int = 0
    unlike: int = 0
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0


def main() -> int:
    chosen = [p for p in PACKAGES if len(sys.argv) == 1 or p[0] in sys.argv[1:]]
    print(line("package", "versions", "tool", "turned", "files", "edits", "more calls", "read else", "wrong", "s"))
    wrong = 0
    for name, older, newer, form in chosen:
        before, after = fetched(name, older, form), fetched(name, newer, form)
        common = sorted(p for p in before.keys() & after.keys() if before[p] not in {b"", after[p]})
        changed = [(p, before[p], after[p]) for p in common if is_text(before[p], after[p])]
        for turn, (encoding, end) in TURNS.items():
            pairs = [(p, *turned(old, new, encoding, end)) for p, old, new in changed] if turn else changed
            pairs = [(p, old, new) for p, old, new in pairs if old and new and old != new]
            for tool in ("edit_file", "MultiEdit"):
                score = replayed(tool, pairs, encoding)
                wrong += len(score.wrong)
                figures = (
                    score.files,
                    score.sent,
                    score.more_calls,
                    score.unlike,
                    len(score.wrong),
                    f"{score.seconds:.1f}",
                )
                print(line(name, f"{older} -> {newer}", tool, turn or "as it is", *map(str, figures)), flush=True)
                for problem in score.wrong:
                    print(f"    wrong: {problem}")
    return 1 if wrong else 0


def turned(before: bytes, after: bytes, encoding: str, end: str) -> tuple[bytes, bytes]:
    """Both versions in another form; nothing where a version can't have it."""
    try:
        texts = [codec.decode(data).text.replace("\r\n", "\n").replace("\n", end) for data in (before, after)]
        made = [text.encode(encoding) for text in texts]
        return (made[0], made[1]) if all(is_text(data) for data in made) else (b"", b"")
    except UnicodeError:
        return b"", b""


def line(name: str, versions: str, tool: str, turn: str, *figures: str) -> str:
    return f"{name:10} {versions:18} {tool:10} {turn:10}" + "".join(f"{figure:>11}" for figure in figures)


# packages


def fetched(name: str, version: str, form: str) -> Files:
    """The files of one release by their path in it, downloaded once."""
    place = KEPT / f"{name}-{version}-{form}"
    if not any(place.glob("*.*")):
        place.mkdir(parents=True, exist_ok=True)
        choice = "--no-binary" if form == "source" else "--only-binary"
        words = [sys.executable, "-m", "pip", "download", "-qq", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*words, choice, ":all:", "--dest", str(place), f"{name}=={version}"], check=True)
    return dict(unpacked(next(place.glob("*.*")), version))


def unpacked(archive: Path, version: str) -> Iterator[tuple[str, bytes]]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for entry in wheel.infolist():
                if not entry.is_dir():
                    yield entry.filename.replace(f"-{version}.dist-info", ".dist-info"), wheel.read(entry)
        return
    with tarfile.open(archive) as source:
        for member in source:
            content = source.extractfile(member) if member.isfile() else None
            if content is not None:
                yield member.name.partition("/")[2], content.read()


def is_text(*contents: bytes) -> bool:
    try:
        return all(codec.decode(data) for data in contents)
    except HandrailError:
        return False


# the road


def replayed(tool: str, changed: list[tuple[str, bytes, bytes]], encoding: str = "") -> Score:
    score = Score()
    with (
        tempfile.TemporaryDirectory() as root,
        tempfile.TemporaryDirectory() as data,
        handrail.open(root=root, approve=anybody, data_dir=data) as rail,
    ):
        for name, before, after in changed:
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            Path(path).write_bytes(before)
            began = time.perf_counter()
            problem = replay_file(rail, tool, path, after, score)
            score.seconds += time.perf_counter() - began
            score.files += 1
            score.unlike += bool(encoding) and not before.isascii() and not reads_as(before, encoding)
            if problem:
                score.wrong.append(f"{name}: {problem}")
    return score


def reads_as(data: bytes, encoding: str) -> bool:
    return codec.decode(data).text == data.decode(encoding).removeprefix("\ufeff")


def anybody(_: Request) -> bool:
    """A person who says yes: packages hold CI definitions and test keys, and `auto` never answers for these."""
    return True


def replay_file(rail: "handrail.Handrail", tool: str, path: str, after: bytes, score: Score) -> str:
    """Edit one file until it is the newer one; what went wrong, in words, or nothing."""
    plan, send = (targets, patch) if tool == "edit_file" else (edits, multi_edit)
    rail.call("read_files", {"files": [{"path": path, "limit": 1}]})
    goal = codec.decode(after).text
    for number in range(MOST_CALLS):
        now = Path(path).read_bytes()
        if now == after:
            score.more_calls += number > 1
            return ""
        sent = plan(codec.decode(now).text, goal)
        if not sent:
            break
        score.sent += len(sent)
        if problem := send(rail, path, sent):
            return problem
    return "it never became the newer version"


def patch(rail: "handrail.Handrail", path: str, sent: list[Sent]) -> str:
    result = rail.call("edit_file", {"path": path, "targets": sent})
    return "" if result.ok else f"{result.kind}: {result.payload['error']}"


def multi_edit(rail: "handrail.Handrail", path: str, sent: list[Sent]) -> str:
    result = rail.call("MultiEdit", {"file_path": path, "edits": sent})
    return "" if result.ok else f"{result.kind}: {result.payload['error']}"


if __name__ == "__main__":
    sys.exit(main())
