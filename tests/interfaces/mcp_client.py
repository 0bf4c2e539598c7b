"""Drives the real server over real pipes: with the SDK's client, or line by line."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp_types import ElicitResult

Answers = Callable[[Any, Any], Awaitable[ElicitResult]]


def command(root: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "handrail.interfaces.cli.main", "serve", "--root", str(root), *options]


def environment(data: Path) -> dict[str, str]:
    return {**os.environ, "HANDRAIL_DATA_DIR": str(data)}


@asynccontextmanager
async def connected(
    root: Path, data: Path, *options: str, answers: Answers | None = None, **callbacks: Any
) -> AsyncIterator[ClientSession]:
    words = command(root, *options)
    server = StdioServerParameters(command=words[0], args=words[1:], env=environment(data), cwd=str(root))
    async with (
        stdio_client(server, errlog=sys.stderr) as (reading, writing),
        ClientSession(reading, writing, elicitation_callback=answers, **callbacks) as session,
    ):
        await session.initialize()
        yield session


def says(allow: bool, reason: str = "", **more: str) -> Answers:
    async def answer(_context: Any, _params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"allow": allow, "reason": reason, **more})

    return answer


class RawServer:
    """The server at the end of two pipes; each line that it prints is kept as it came."""

    def __init__(self, root: Path, data: Path, *options: str, errors: Path) -> None:
        self.lines: list[bytes] = []
        self._errors = errors.open("wb")
        self.process = subprocess.Popen(
            command(root, *options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment(data),
            cwd=root,
        )
        self._number = 0

    def send(self, message: Mapping[str, Any] | bytes) -> None:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        self._number += 1
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": dict(params or {})})
        return self.answer(self._number)

    def answer(self, number: int) -> dict[str, Any]:
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            self.lines.append(line)
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == number and "method" not in message:
                return message
        raise AssertionError("the server left")

    def shake_hands(self, version: str = "2025-11-25", capabilities: Mapping[str, Any] | None = None) -> dict[str, Any]:
        hello = {
            "protocolVersion": version,
            "capabilities": dict(capabilities or {}),
            "clientInfo": {"name": "raw", "version": "0"},
        }
        answered = self.ask("initialize", hello)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answered

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def close(self) -> int:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.lines += self.process.stdout.readlines()
        code = self.process.wait(timeout=30)
        self.process.stdout.close()
        self._errors.close()
        return code
