"""The tools that edit a file here: Handrail, and others by their own interfaces, each in a directory of its own."""

import json
import os
import select
import subprocess
import sys
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import IO, Protocol

import handrail

PLACE = Path(os.environ.get("HANDRAIL_PEERS", Path(sys.prefix) / "peers"))
"""Where the others are installed; made when it is missing."""
SECONDS = 60


class NotRun(Exception):
    """Why a tool can't be run here."""


class Peer(Protocol):
    name: str

    @abstractmethod
    def edit(self, path: Path, old: str, new: str) -> str:
        """Replace once; the tool's refusal in words, or nothing."""

    def close(self) -> None: ...


class Ours:
    """Handrail's `edit_file`, with the read that it asks for."""

    name = "Handrail"

    def __init__(self, root: Path) -> None:
        self._files = handrail.open(root=root, approve=lambda _: True, data_dir=root.parent / "data")

    def edit(self, path: Path, old: str, new: str) -> str:
        self._files.call("read_files", {"files": [{"path": str(path)}]})
        pair = {"old_string": old, "new_string": new}
        result = self._files.call("edit_file", {"path": str(path), "targets": [pair]})
        return "" if result.ok else f"{result.kind}: {result.payload['error']}"

    def close(self) -> None:
        self._files.close()


class Lines:
    """A program that answers one line of JSON for each that it is sent."""

    def __init__(self, name: str, command: list[str], *, environment: dict[str, str] | None = None) -> None:
        self.name = name
        self._log = (PLACE / f"{name.replace('/', '-')}.err").open("wb")
        self._program = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            bufsize=0,
            env=os.environ | (environment or {}),
        )

    def ask(self, message: dict) -> dict:
        sent: IO[bytes] | None = self._program.stdin
        assert sent is not None and self._program.stdout is not None
        sent.write(json.dumps(message).encode() + b"\n")
        sent.flush()
        while line := self._line():
            try:
                answer = json.loads(line)
            except ValueError:
                continue
            if "id" not in message or answer.get("id") == message["id"]:
                return answer
        raise NotRun(f"it ended: {last_words(Path(self._log.name))}")

    def _line(self) -> bytes:
        assert self._program.stdout is not None
        if not select.select([self._program.stdout], [], [], SECONDS)[0]:
            raise NotRun(f"it didn't answer within {SECONDS} seconds")
        return self._program.stdout.readline()

    def tell(self, message: dict) -> None:
        assert self._program.stdin is not None
        self._program.stdin.write(json.dumps(message).encode() + b"\n")
        self._program.stdin.flush()

    def edit(self, path: Path, old: str, new: str) -> str:
        return str(self.ask({"path": str(path), "old": old, "new": new})["refused"])

    def close(self) -> None:
        self._program.kill()
        self._program.wait()
        self._log.close()


class Mcp:
    """A tool behind an MCP server over stdio."""

    def __init__(self, name: str, command: list[str], tool: str, arguments: Callable[[str, str, str], dict]) -> None:
        self.name = name
        self._program = Lines(name, command)
        self._tool, self._arguments, self._number = tool, arguments, 0
        about = {"name": "fidelity", "version": "1"}
        opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
        self.request("initialize", opening)
        self._program.tell({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def request(self, method: str, parameters: dict) -> dict:
        self._number += 1
        return self._program.ask({"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters})

    def edit(self, path: Path, old: str, new: str) -> str:
        sent = {"name": self._tool, "arguments": self._arguments(str(path), old, new)}
        answer = self.request("tools/call", sent)
        result = answer.get("result", {})
        said = " ".join(block.get("text", "") for block in result.get("content", []))
        return (said or str(answer.get("error"))) if "error" in answer or result.get("isError") else ""

    def close(self) -> None:
        self._program.close()


# installing


def installed_by_pip(package: str, *, python: str = sys.executable) -> str:
    """The interpreter of an environment that holds the package."""
    place = PLACE / package
    program = place / "bin" / "python"
    if not program.exists():
        run([python, "-m", "venv", str(place)])
        run([str(program), "-m", "pip", "install", "-q", "--disable-pip-version-check", package])
    return str(program)


def installed_by_npm(package: str) -> Path:
    """The directory of the package among its own `node_modules`."""
    place = PLACE / package.rpartition("/")[2]
    found = place / "node_modules" / package
    if not found.exists():
        place.mkdir(parents=True, exist_ok=True)
        run(["npm", "install", "--prefix", str(place), "--no-audit", "--no-fund", "--ignore-scripts", package])
    return found


def run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise NotRun(f"{command[0]} isn't there") from error
    if done.returncode:
        raise NotRun(f"{command[0].rpartition('/')[2]}: {done.stderr.strip()[-120:]}")


def last_words(log: Path) -> str:
    return log.read_bytes().decode("utf-8", "replace").strip()[-120:]


# the others

LOOP = """
import json, os, sys
out = os.dup(1); os.dup2(2, 1)
for line in sys.stdin:
    sent = json.loads(line)
    try:
        refused = edit(sent["path"], sent["old"], sent["new"]) or ""
    except Exception as error:
        refused = f"{type(error).__name__}: {error}"
    os.write(out, json.dumps({"refused": str(refused)}).encode() + b"\\n")
"""
OPENHANDS = """
from openhands_aci.editor import file_editor
import json
def edit(path, old, new):
    said = file_editor(command="str_replace", path=path, old_str=old, new_str=new, enable_linting=False)
    return said if "ERROR:" in said or '"error": null' not in said and "has been edited" not in said else ""
"""
DEEPAGENTS = """
from deepagents.backends import FilesystemBackend
backend = FilesystemBackend(root_dir="/", virtual_mode=False)
def edit(path, old, new):
    return backend.edit(path, old, new).error or ""
"""


def reference(root: Path) -> Peer:
    program = installed_by_npm("@modelcontextprotocol/server-filesystem") / "dist" / "index.js"
    return Mcp(
        "reference server",
        ["node", str(program), str(root)],
        "edit_file",
        lambda path, old, new: {"path": path, "edits": [{"oldText": old, "newText": new}]},
    )


def desktop_commander(_: Path) -> Peer:
    program = installed_by_npm("@wonderwhy-er/desktop-commander") / "dist" / "index.js"
    return Mcp(
        "DesktopCommander",
        ["node", str(program)],
        "edit_block",
        lambda path, old, new: {"file_path": path, "old_string": old, "new_string": new, "expected_replacements": 1},
    )


def openhands(_: Path) -> Peer:
    python = installed_by_pip("openhands-aci", python=os.environ.get("PYTHON312", "python3.12"))
    return Lines("openhands-aci", [python, "-c", OPENHANDS + LOOP])


def deepagents(_: Path) -> Peer:
    return Lines("deepagents", [installed_by_pip("deepagents"), "-c", DEEPAGENTS + LOOP])
