"""How long until a client has the tools: Handrail against the smallest server that the SDK itself can make.

Run with `make bench-start`. Interleaved runs in one process; ratios are of the minima. Exit 1 over the limits.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 15
SMALLEST = """
import anyio, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def listed(context, params):
    schema = {"type": "object", "properties": {}}
    return types.ListToolsResult(tools=[types.Tool(name="nothing", input_schema=schema)])

async def main():
    server = Server("smallest", on_list_tools=listed)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())

anyio.run(main)
"""
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}


def until_listed(words: list[str], env: dict[str, str]) -> float:
    """Milliseconds from the spawn to the answer of tools/list."""
    began = time.perf_counter()
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
    assert server.stdin and server.stdout
    for message in (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ):
        server.stdin.write(json.dumps(message).encode() + b"\n")
        server.stdin.flush()
        if "id" in message:
            answer = json.loads(server.stdout.readline())
            assert "result" in answer, answer
    took = (time.perf_counter() - began) * 1000
    server.stdin.close()
    server.wait()
    return took


def whole_run(words: list[str], env: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return (time.perf_counter() - began) * 1000


def main() -> int:
    handrail = [sys.executable, "-m", "handrail.interfaces.cli.main"]
    with tempfile.TemporaryDirectory() as place:
        root = Path(place, "project")
        root.mkdir()
        (root / "a.txt").write_text("a\n")
        env = {**os.environ, "HANDRAIL_DATA_DIR": str(Path(place, "data"))}
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # bytecode is kept, as it is for everybody who installs it
        servers = {
            "the SDK's smallest server": [sys.executable, "-c", SMALLEST],
            "handrail serve": [*handrail, "serve", "--root", str(root)],
            "handrail serve --family all": [*handrail, "serve", "--root", str(root), "--family", "all"],
        }
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "handrail --version": [*handrail, "--version"],
            "handrail history": [*handrail, "history"],
            "handrail call read_files": [
                *handrail,
                "call",
                "read_files",
                '{"files": [{"path": "a.txt"}]}',
                "--root",
                str(root),
            ],
        }
        times: dict[str, list[float]] = {name: [] for name in (*servers, *commands)}
        for _ in range(ROUNDS):
            for name, words in servers.items():
                times[name].append(until_listed(words, env))
            for name, words in commands.items():
                times[name].append(whole_run(words, env))
    base = min(times["the SDK's smallest server"])
    print(f"{'spawn -> initialize -> tools/list':40} {'min ms':>8} {'median':>8} {'ratio':>6}")
    for name in servers:
        ordered = sorted(times[name])
        print(f"{name:40} {ordered[0]:8.0f} {ordered[len(ordered) // 2]:8.0f} {ordered[0] / base:6.2f}")
    print(f"\n{'whole command':40} {'min ms':>8} {'median':>8}")
    for name in commands:
        ordered = sorted(times[name])
        print(f"{name:40} {ordered[0]:8.0f} {ordered[len(ordered) // 2]:8.0f}")
    ratio = min(times["handrail serve"]) / base
    print(f"\nhandrail serve / smallest = {ratio:.2f} (limit 1.25)")
    return 0 if ratio <= 1.25 else 1


if __name__ == "__main__":
    raise SystemExit(main())
