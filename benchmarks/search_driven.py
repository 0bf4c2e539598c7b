"""Peers of our search as running programs: installed by name into the cache, started, asked, stopped.

`ask` answers with milliseconds and how much was found. A second run needs no network.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, Self

from handrail.fs.ripgrep import binary
from search_table import Failed, timed
from search_tree import cache
from search_whole import engine

HERE = Path(__file__).parent / "peers"
REFERENCE = "@modelcontextprotocol/server-filesystem@2026.8.31"
COMMANDER = "@wonderwhy-er/desktop-commander@0.2.52"
GEMINI = "@google/gemini-cli-core@0.61.0"
DEEPAGENTS = "deepagents==0.7.32"
PAGE = 256


class Driven(Protocol):
    """A running program that answers questions of some kinds."""

    kinds: Sequence[str]

    def ask(self, kind: str, pattern: str) -> tuple[float, int]:
        """Milliseconds and how much was found; raises Failed."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def ours_asked(kind: str, pattern: str) -> dict[str, object]:
    if kind == "names":
        return {"queries": [{"pattern": pattern}], "mode": "glob", "limit": PAGE}
    query = {"pattern": pattern, "file_pattern": "**/*"}
    return {"queries": [query], "mode": "search", "output": "content", "literal": True, "limit": PAGE}


class HandrailHere:
    """Our engine in this process."""

    kinds = ("names", "contents")

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._ours = self._stack.enter_context(engine(self._tree))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def ask(self, kind: str, pattern: str) -> tuple[float, int]:
        began = time.perf_counter()
        answer = self._ours.ask("find_files", ours_asked(kind, pattern))
        return (time.perf_counter() - began) * 1000, answer["total"]


class Server:
    """An MCP server over its standard streams, with the SDK's client."""

    kinds: Sequence[str] = ("names", "contents")

    def __init__(self, words: Sequence[str], env: dict[str, str]) -> None:
        self._words = list(words)
        self._env = env
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        from anyio.from_thread import start_blocking_portal
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client

        self._portal = self._stack.enter_context(start_blocking_portal())
        command = StdioServerParameters(command=self._words[0], args=self._words[1:], env={**os.environ, **self._env})
        silence = self._stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
        enter = self._portal.wrap_async_context_manager
        streams = self._stack.enter_context(enter(stdio_client(command, errlog=silence)))
        self._session = self._stack.enter_context(enter(ClientSession(*streams)))
        self._portal.call(self._session.initialize)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def call(self, tool: str, arguments: dict[str, object]) -> Any:
        """The tool's answer; raises Failed."""
        answer: Any = self._portal.call(self._session.call_tool, tool, arguments)
        if answer.is_error:
            raise Failed("; ".join(getattr(part, "text", "") for part in answer.content)[:200])
        return answer

    def ask(self, kind: str, pattern: str) -> tuple[float, int]:
        answers: list[int] = []
        took = timed(lambda: answers.append(self.found(kind, pattern)))
        return took, answers[0]

    def found(self, kind: str, pattern: str) -> int:
        raise NotImplementedError


class Handrail(Server):
    """Our own server."""

    def __init__(self, tree: Path) -> None:
        self._data = TemporaryDirectory()
        words = [sys.executable, "-m", "handrail.interfaces.cli.main", "serve", "--root", str(tree)]
        super().__init__(words, {"HANDRAIL_DATA_DIR": self._data.name})

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._data.cleanup()

    def found(self, kind: str, pattern: str) -> int:
        answer = self.call("find_files", ours_asked(kind, pattern)).structured_content
        if "total" not in answer:
            raise Failed(f"ours: {answer['kind']}: {answer.get('error')}")
        return int(answer["total"])


class ReferenceServer(Server):
    """The reference filesystem server: `search_files`, names alone."""

    kinds = ("names",)

    def __init__(self, tree: Path) -> None:
        home = node_package("server-filesystem", REFERENCE)
        super().__init__(["node", str(home / "dist" / "index.js"), str(tree)], {})
        self._tree = str(tree)

    def found(self, kind: str, pattern: str) -> int:  # noqa: ARG002
        text = self.call("search_files", {"path": self._tree, "pattern": pattern}).content[0].text
        return 0 if text == "No matches found" else text.count("\n") + 1


class DesktopCommander(Server):
    """DesktopCommander: a search is started, then asked about until it is over; its first page is read."""

    def __init__(self, tree: Path) -> None:
        home = node_package("desktop-commander", COMMANDER)
        own = cache() / "peers" / "home"
        settings = own / ".claude-server-commander" / "config.json"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(json.dumps({"telemetryEnabled": False, "allowedDirectories": []}))
        super().__init__(["node", str(home / "dist" / "index.js"), "--no-onboarding"], {"HOME": str(own)})
        self._tree = str(tree)

    def found(self, kind: str, pattern: str) -> int:
        asked = {"path": self._tree, "pattern": pattern, "searchType": "files" if kind == "names" else "content"}
        asked |= {"ignoreCase": False, "literalSearch": kind == "contents", "contextLines": 0}
        said = self.call("start_search", asked).content[0].text
        session = said.partition("session: ")[2].partition("\n")[0]
        while True:
            page = {"sessionId": session, "offset": 0, "length": PAGE}
            said = self.call("get_more_search_results", page).content[0].text
            if "Status: COMPLETED" in said:
                return int(said.partition("Total results found: ")[2].partition(" ")[0])
            time.sleep(0.005)  # asked without a pause it is kept from its own work


class Lines:
    """A driver of a peer's library in the peer's own process: a request a line, an answer a line; it times itself."""

    kinds = ("names", "contents")

    def __init__(self, words: Sequence[str], env: dict[str, str], tree: Path) -> None:
        self._words = list(words)
        self._env = env
        self._tree = tree

    def __enter__(self) -> Self:
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        environment = {**os.environ, **self._env}
        self._child = subprocess.Popen(self._words, cwd=self._tree, env=environment, text=True, **streams)
        if self._line() != "ready\n":
            self.__exit__()
            raise Failed("its driver did not start")
        return self

    def __exit__(self, *_: object) -> None:
        assert self._child.stdin and self._child.stdout
        self._child.stdin.close()
        self._child.stdout.close()
        self._child.wait()

    def ask(self, kind: str, pattern: str) -> tuple[float, int]:
        assert self._child.stdin
        self._child.stdin.write(json.dumps({"kind": kind, "pattern": pattern}) + "\n")
        self._child.stdin.flush()
        line = self._line()
        answer = json.loads(line) if line else {"error": True, "said": "its driver died"}
        if answer["error"]:
            raise Failed(answer["said"])
        return answer["took"], answer["found"]

    def _line(self) -> str:
        assert self._child.stdout
        return self._child.stdout.readline()


def gemini(tree: Path) -> Lines:
    """gemini-cli's tools; the whole program brings its own ripgrep, which the library lacks: it gets ours."""
    home = node_package("gemini", GEMINI)
    vendored = home / "vendor" / "ripgrep" / "rg-linux-x64"
    vendored.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(binary(), vendored)
    own = cache() / "peers" / "home"
    own.mkdir(parents=True, exist_ok=True)
    return Lines(["node", str(HERE / "gemini.mjs"), str(home), str(tree)], {"HOME": str(own)}, tree)


def deepagents(tree: Path) -> Lines:
    """deepagents' file system backend, with ripgrep on its search path."""
    place = cache() / "peers" / "deepagents"
    python = place / "bin" / "python"
    if not (place / DEEPAGENTS).exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", DEEPAGENTS], check=True, stdout=sys.stderr)
        (place / DEEPAGENTS).touch()
    path = f"{Path(binary()).parent}{os.pathsep}{os.environ['PATH']}"
    return Lines([str(python), str(HERE / "deepagents_driver.py"), str(tree)], {"PATH": path}, tree)


def node_package(name: str, wanted: str) -> Path:
    """The directory of an npm package, installed once; nothing of it runs at installation."""
    place = cache() / "peers" / name
    done = place / wanted.replace("/", "_")
    if not done.exists():
        place.mkdir(parents=True, exist_ok=True)
        (place / "package.json").write_text('{"private": true}')
        npm = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", wanted]
        subprocess.run(npm, cwd=place, check=True, stdout=sys.stderr)
        done.touch()
    return place / "node_modules" / wanted.rpartition("@")[0]
