"""What Handrail is for, in one minute: an agent works on a real project through the MCP server, a person keeps control.

Run it with `make demo`; `make demo ROOT=DIR` lets it work on a copy of your own directory's text files.
"""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp_types import ElicitResult

PROJECT = {
    "README.md": "# Till\n\nA tiny shop till.\n",
    "till/__init__.py": "",
    "till/prices.py": "TAX = 0.19\n\n\ndef gross(net: float) -> float:\n    return net * (1 + TAX)\n",
    "till/cart.py": "from till.prices import gross\n\n\n"
    "def total(items: list[float]) -> float:\n    return sum(gross(item) for item in items)\n\n\n"
    "def receipt(items: list[float]) -> str:\n    return f'Total: {total(items):.2f} EUR'\n",
    "till/old_cart.py": "# replaced by cart.py\n",
    "tests/test_cart.py": "from till.cart import total\n\n\n"
    "def test_total():\n    assert round(total([1, 2]), 2) == 3.57\n",
    ".env": "STRIPE_KEY=not-for-agents\n",
    ".gitignore": "__pycache__/\n",
}
BOLD, DIM, RED, GREEN, CYAN, OFF = (
    ("\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[0m") if sys.stdout.isatty() else ("",) * 6
)


def say(step: str, why: str) -> None:
    print(f"\n{BOLD}{step}{OFF}  {DIM}{why}{OFF}")


def show(text: str, *, most: int = 24) -> None:
    lines = text.rstrip("\n").split("\n")
    for line in lines[:most]:
        colour = (
            GREEN if line.startswith("+") else RED if line.startswith("-") else CYAN if line.startswith("@@") else ""
        )
        print(f"    {colour}{line}{OFF if colour else ''}")
    if len(lines) > most:
        print(f"    {DIM}... {len(lines) - most} more lines{OFF}")


class Person:
    """Sits next to the agent: says yes to edits, and no to secrets."""

    def __init__(self) -> None:
        self.questions = self.refused = 0

    async def answer(self, _context, params) -> ElicitResult:
        self.questions += 1
        question, _, diff = params.message.partition("\n\n")
        for number, line in enumerate(question.split("\n")):
            print(f"    {line}" if number else f"    {CYAN}the person is asked:{OFF} {line}")
        if diff:
            show(diff, most=14)
        if "sensitive" in question:
            self.refused += 1
            print(f"    {CYAN}the person says:{OFF} {RED}no{OFF}")
            return ElicitResult(action="accept", content={"allow": False, "reason": "keys stay with me"})
        print(f"    {CYAN}the person says:{OFF} {GREEN}yes{OFF}")
        return ElicitResult(action="accept", content={"allow": True})


class Agent:
    """Calls tools as a model would, and shows what comes back."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session

    async def call(self, tool: str, quiet: bool = False, **arguments):
        result = await self.session.call_tool(tool, arguments)
        if not quiet:
            show("\n".join(block.text for block in result.content if block.type == "text"))
        return result.structured_content


@asynccontextmanager
async def connect(root: Path, data: Path, person: Person):
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "handrail.interfaces.cli.main", "serve", "--root", str(root)],
        env={**os.environ, "HANDRAIL_DATA_DIR": str(data)},
    )
    async with (
        stdio_client(server) as (reading, writing),
        ClientSession(reading, writing, elicitation_callback=person.answer) as session,
    ):
        started = await session.initialize()
        print(f"{DIM}{started.instructions}{OFF}")
        yield Agent(session)


def make_project(root: Path, source: str | None) -> None:
    for name, text in PROJECT.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    if source:
        shutil.copytree(source, root / "yours", ignore=shutil.ignore_patterns(".git", ".venv", "node_modules"))
    subprocess.run(["git", "init", "-q", str(root)], check=True, stdout=subprocess.DEVNULL)


async def walk(root: Path, data: Path) -> None:
    person = Person()
    async with connect(root, data, person) as agent:
        cart = root / "till/cart.py"

        say("1. find", "where is the tax applied?")
        await agent.call("find_files", queries=[{"pattern": r"gross\(", "file_pattern": "**/*.py"}], output="content")

        say("2. edit without reading", "refused: an agent changes only what it has seen")
        targets = [{"old_string": "Total: ", "new_string": "To pay: "}]
        await agent.call("edit_file", path="till/cart.py", targets=targets)

        say("3. read, then edit", "the person sees the exact diff before anything is written")
        await agent.call("read_files", files=[{"path": "till/cart.py"}])
        await agent.call("edit_file", path="till/cart.py", targets=targets)

        say("4. history", "every change is a version; the original is one too")
        await agent.call("file_history", path="till/cart.py")

        say("5. meanwhile the person edits the same file", "in an editor, without telling anybody")
        text = cart.read_text().replace("def total(", "# Checked by hand, 2026.\ndef total(")
        cart.write_bytes(text.encode())
        await agent.call("file_history", mode="read", paths=["till/cart.py"])

        say("6. the agent edits on", "refused: what it read isn't what stands there any more")
        more = [{"old_string": " EUR", "new_string": " euros"}]
        await agent.call("edit_file", path="till/cart.py", targets=more)

        say("7. undo the agent's whole task", "its own lines go back, the person's line stays")
        await agent.call("edit_file", mode="restore", task_id="current")
        show(cart.read_text())
        assert "Checked by hand" in cart.read_text() and "Total: " in cart.read_text()

        say("8. remove, then restore", "nothing is ever the last copy")
        removed = await agent.call("edit_file", mode="remove", path="till/old_cart.py")
        assert not (root / "till/old_cart.py").exists()
        listed = await agent.call("file_history", quiet=True, path="till/old_cart.py", limit=2)
        before = listed["versions"][-1]["version"]
        await agent.call("edit_file", mode="restore", version=before)
        assert (root / "till/old_cart.py").exists() and removed

        say("9. a secret", "the agent tries to read .env, by name and through a search")
        await agent.call("read_files", files=[{"path": ".env"}])
        found = await agent.call("find_files", queries=[{"pattern": "STRIPE", "file_pattern": "**/*"}])
        assert not found.get("files")
        yes = person.questions - person.refused
        print(f"\n{GREEN}Done.{OFF} {person.questions} questions, {yes} times yes: only those changes were written.")


def main() -> None:
    source = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(prefix="handrail-demo-") as place:
        root, data = Path(place, "project"), Path(place, "data")
        root.mkdir()
        make_project(root, source)
        asyncio.run(walk(root, data))


if __name__ == "__main__":
    main()
