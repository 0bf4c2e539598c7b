"""`handrail undo` after an agent and a person edited the same file: the agent's lines go back, the person's stay.

Run it with `make demo-undo`. Everything happens in a temporary directory; the commands are those that you would type.
"""

import difflib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import handrail

BEFORE = """\
from shop.tax import rate


def net(items):
    total = 0
    for item in items:
        total = total + item.price
    return total


def gross(items):
    return net(items) * (1 + rate())


def receipt(items):
    return "Total: %.2f EUR" % gross(items)
"""
BOLD, DIM, RED, GREEN, CYAN, OFF = (
    ("\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[0m") if sys.stdout.isatty() else ("",) * 6
)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="handrail-undo-") as place:
        root, data = Path(place, "shop"), Path(place, "data")
        root.mkdir()
        cart = root / "cart.py"
        cart.write_text(BEFORE)

        say("1. An agent tidies up cart.py", "two edits of one task")
        task = tidy_up(root, data)
        show(BEFORE, cart.read_text())

        say("2. A person goes on in the same file", "in an editor, and tells nobody")
        by_agent = cart.read_text()
        cart.write_text(
            by_agent.replace("    return net(items)", "    # Checked with accounting.\n    return net(items)")
        )
        show(by_agent, cart.read_text())

        say("3. The agent's work is not wanted after all", f"handrail undo {task}")
        run(data, "undo", task, "--yes", "--root", str(root))

        say("4. What is left of it all", "the file before the agent came, with the person's line")
        show(BEFORE, cart.read_text())
        assert cart.read_text() == BEFORE.replace(
            "    return net(items) *", "    # Checked with accounting.\n    return net(items) *"
        )

        say("5. Nothing was lost", "the undo is a task too, and can be undone")
        run(data, "history", str(cart), "--root", str(root))

        say("6. Where both changed the same line", "the file stays as the person left it, and it is said")
        clash(root, data, cart)
        print(f"\n{GREEN}Done.{OFF} Try it on your own files: handrail history, handrail undo.")


def tidy_up(root: Path, data: Path) -> str:
    with handrail.open(root=root, approve="auto", data_dir=data) as files, files.task("tidy up") as task:
        files.call("read_files", {"files": [{"path": "cart.py"}]}).unwrap()
        loop = "    total = 0\n    for item in items:\n        total = total + item.price\n    return total\n"
        shorter = {"old_string": loop, "new_string": "    return sum(item.price for item in items)\n"}
        files.call("edit_file", {"path": "cart.py", "targets": [shorter]}).unwrap()
        newer = {"old_string": '"Total: %.2f EUR" % gross(items)', "new_string": 'f"Total: {gross(items):.2f} EUR"'}
        files.call("edit_file", {"path": "cart.py", "targets": [newer]}).unwrap()
        return task


def clash(root: Path, data: Path, cart: Path) -> None:
    with handrail.open(root=root, approve="auto", data_dir=data) as files, files.task("rename") as task:
        files.call("read_files", {"files": [{"path": "cart.py"}]}).unwrap()
        target = {"old_string": "Total: ", "new_string": "To pay: "}
        files.call("edit_file", {"path": "cart.py", "targets": [target]}).unwrap()
    edited = cart.read_text().replace("To pay: %.2f", "To pay now: %.2f")
    cart.write_text(edited)
    run(data, "undo", task, "--yes", "--root", str(root))
    assert cart.read_text() == edited


def say(step: str, why: str) -> None:
    print(f"\n{BOLD}{step}{OFF}  {DIM}{why}{OFF}", flush=True)


def show(before: str, after: str) -> None:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", n=1, lineterm="")
    for line in list(lines)[2:]:
        colour = GREEN if line.startswith("+") else RED if line.startswith("-") else CYAN if line[0] == "@" else ""
        print(f"    {colour}{line}{OFF if colour else ''}", flush=True)


def run(data: Path, *words: str) -> None:
    command = [sys.executable, "-m", "handrail.interfaces.cli.main", *words]
    environment = os.environ | {"HANDRAIL_DATA_DIR": str(data)}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    for line in (told.stdout + told.stderr).rstrip("\n").split("\n"):
        print(f"    {line}", flush=True)


if __name__ == "__main__":
    main()
