"""What one edit keeps of a file, property by property: Handrail beside other tools, each driven by its own interface.

Run with `make bench-fidelity`; `--markdown` prints the table of docs/fidelity.md. The others are installed on demand
into `.venv/peers` (or `HANDRAIL_PEERS`), each by itself; one that can't be run here says why. Exit 1 where Handrail
keeps less than everything.

Judged by the bytes and facts on disk alone. `kept`: all is right. `lost`: the file changed otherwise than was asked, or
lost the property. `not made`: the file is as it was, though the edit could have been made.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from fidelity_cases import CASES, Case
from fidelity_peers import PLACE, NotRun, Ours, Peer, deepagents, desktop_commander, openhands, reference
from fidelity_unlike import cline, gemini, pydantic_harness

PEERS: tuple[tuple[str, Callable[[Path], Peer]], ...] = (
    ("Handrail", Ours),
    ("reference server", reference),
    ("openhands-aci", openhands),
    ("deepagents", deepagents),
    ("pydantic-ai-harness", pydantic_harness),
    ("gemini-cli core", gemini),
    ("cline core", cline),
    ("DesktopCommander", desktop_commander),
)


def main() -> int:
    PLACE.mkdir(parents=True, exist_ok=True)
    wanted = [a for a in sys.argv[1:] if not a.startswith("-")]
    table: dict[str, list[str]] = {}
    missing: dict[str, str] = {}
    for name, opens in PEERS:
        if wanted and name not in wanted:
            continue
        try:
            table[name] = judged(opens)
        except NotRun as error:
            missing[name] = str(error)
        print(
            f"{name}: {summed(table[name]) if name in table else 'not run: ' + missing[name]}",
            file=sys.stderr,
            flush=True,
        )
    print(as_markdown(table, missing) if "--markdown" in sys.argv else as_text(table, missing))
    return 0 if set(table.get("Handrail", ["kept"])) <= {"kept", "skipped"} else 1


def judged(opens: Callable[[Path], Peer]) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="fidelity-") as place:
        root = Path(place, "root")
        root.mkdir()
        os.chmod(place, 0o755)
        peer = opens(root)
        try:
            return [one(peer, case, root / f"{number:02}") for number, case in enumerate(CASES)]
        finally:
            peer.close()


def one(peer: Peer, case: Case, directory: Path) -> str:
    directory.mkdir()
    path = directory / "file.txt"
    path.write_bytes(case.before)
    try:
        case.prepare(path)
    except OSError:
        return "skipped"
    peer.edit(path, case.old, case.new)
    found = path.read_bytes()
    if found == case.before:
        return "kept" if case.right is None else "not made"
    return "kept" if found == case.right and case.check(path) else "lost"


def summed(verdicts: list[str]) -> str:
    return ", ".join(f"{verdicts.count(word)} {word}" for word in sorted(set(verdicts)))


def as_text(table: dict[str, list[str]], missing: dict[str, str]) -> str:
    rows = [" " * 48 + "".join(f"{name[:16]:>18}" for name in table)]
    for number, case in enumerate(CASES):
        rows.append(f"{case.name:48}" + "".join(f"{verdicts[number]:>18}" for verdicts in table.values()))
    return "\n".join(rows + [f"not run: {name}: {why}" for name, why in missing.items()])


def as_markdown(table: dict[str, list[str]], missing: dict[str, str]) -> str:
    rows = ["| property | " + " | ".join(table) + " | shown by |", "| --- |" + " --- |" * (len(table) + 1)]
    for number, case in enumerate(CASES):
        cells = [f"**{v[number]}**" if v[number] == "lost" else v[number] for v in table.values()]
        rows.append(f"| {case.name} | " + " | ".join(cells) + f" | `{case.test}` |")
    rows.append("| kept of all | " + " | ".join(f"{v.count('kept')} of {len(v)}" for v in table.values()) + " | |")
    return "\n".join([*rows, "", *(f"- {name}: not run: {why}" for name, why in missing.items())])


if __name__ == "__main__":
    sys.exit(main())
