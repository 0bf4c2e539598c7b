"""An edit over MCP waits for a person: in the client, in a second terminal, or nobody is there."""

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp import Client, StdioServerParameters
from mcp_client import command, connected, environment, says
from mcp_types import ElicitResult

EDIT = {"path": "b.txt", "targets": [{"old_string": "two", "new_string": "2"}]}

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "b.txt").write_bytes(b"one\ntwo\nthree\n")
    (root / ".env").write_bytes(b"KEY=secret-value\n")
    return root


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


async def read_and_edit(session: Any, edit: dict[str, Any] = EDIT) -> dict[str, Any]:
    await session.call_tool("read_files", {"files": [{"path": edit["path"]}]})
    result = await session.call_tool("edit_file", edit)
    assert result.structured_content is not None
    payload: dict[str, Any] = result.structured_content
    return payload


async def test_approved_by_elicitation_the_person_sees_the_diff(root: Path, data: Path) -> None:
    seen: list[str] = []

    async def answer(_context: Any, params: Any) -> ElicitResult:
        seen.append(params.message)
        return ElicitResult(action="accept", content={"allow": True})

    async with connected(root, data, answers=answer) as session:
        payload = await read_and_edit(session)
    assert payload["kind"] == "patched"
    assert (root / "b.txt").read_bytes() == b"one\n2\nthree\n"
    assert len(seen) == 1 and "-two\n+2\n" in seen[0] and "b.txt" in seen[0]


async def test_denied_with_a_reason_that_the_agent_gets(root: Path, data: Path) -> None:
    async with connected(root, data, answers=says(False, "not on a Friday")) as session:
        payload = await read_and_edit(session)
    assert payload["kind"] == "approval_denied" and "not on a Friday" in payload["error"] + payload["hint"]
    assert (root / "b.txt").read_bytes() == b"one\ntwo\nthree\n"


async def test_nobody_there_is_refused_at_once_and_says_what_to_do(root: Path, data: Path) -> None:
    async with connected(root, data) as session:
        payload = await read_and_edit(session)
    assert payload["kind"] == "approval_unavailable"
    assert "handrail approvals watch" in payload["hint"] and "--approve auto" in payload["hint"]
    assert (root / "b.txt").read_bytes() == b"one\ntwo\nthree\n"


async def test_approved_from_a_second_terminal(root: Path, data: Path) -> None:
    main, terminal = pty.openpty()
    async with connected(root, data) as session:
        watch = subprocess.Popen(
            [sys.executable, "-m", "handrail.interfaces.cli.main", "approvals", "watch"],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env={**environment(data), "TERM": "xterm"},
            start_new_session=True,
        )
        os.close(terminal)
        try:
            shown = await anyio.to_thread.run_sync(read_until, main, b"q")
            payload: dict[str, Any] = {}

            async def edit() -> None:
                payload.update(await read_and_edit(session))

            async with anyio.create_task_group() as group:
                group.start_soon(edit)
                shown = await anyio.to_thread.run_sync(read_until, main, b"+2")
                os.write(main, b"y")
            assert payload["kind"] == "patched" and b"b.txt" in shown
            assert (root / "b.txt").read_bytes() == b"one\n2\nthree\n"
        finally:
            watch.terminate()
            watch.wait()
            os.close(main)


def read_until(terminal: int, wanted: bytes) -> bytes:
    shown = b""
    while wanted not in shown:
        shown += os.read(terminal, 4096)
    return shown


async def test_auto_lets_an_edit_through_but_never_a_secret(root: Path, data: Path) -> None:
    async with connected(root, data, "--approve", "auto") as session:
        assert (await read_and_edit(session))["kind"] == "patched"
        secret = await session.call_tool("read_files", {"files": [{"path": ".env"}]})
        assert "secret-value" not in secret.model_dump_json()
        assert secret.is_error


async def test_a_secret_is_read_once_a_person_said_yes(root: Path, data: Path) -> None:
    async with connected(root, data, "--approve", "auto", answers=says(True)) as session:
        secret = await session.call_tool("read_files", {"files": [{"path": ".env"}]})
        assert "secret-value" in secret.model_dump_json()


async def test_deny_refuses_every_mutation(root: Path, data: Path) -> None:
    async with connected(root, data, "--approve", "deny", answers=says(True)) as session:
        assert (await read_and_edit(session))["kind"] == "approval_denied"
    assert (root / "b.txt").read_bytes() == b"one\ntwo\nthree\n"


async def test_a_file_that_changes_while_the_question_is_open_is_not_overwritten(root: Path, data: Path) -> None:
    async def answer(_context: Any, _params: Any) -> ElicitResult:
        (root / "b.txt").write_bytes(b"one\ntwo\nthree, by hand\n")
        return ElicitResult(action="accept", content={"allow": True})

    async with connected(root, data, answers=answer) as session:
        payload = await read_and_edit(session)
    assert payload["kind"] == "stale"
    assert (root / "b.txt").read_bytes() == b"one\ntwo\nthree, by hand\n"


async def test_seven_edits_of_one_file_are_one_question_when_the_person_says_so(root: Path, data: Path) -> None:
    questions = 0

    async def answer(_context: Any, _params: Any) -> ElicitResult:
        nonlocal questions
        questions += 1
        return ElicitResult(action="accept", content={"allow": True, "scope": "this file, for this task"})

    async with connected(root, data, answers=answer) as session:
        for number in range(7):
            edit = {"path": "b.txt", "targets": [{"old_string": "one", "new_string": f"{number} one"}]}
            assert (await read_and_edit(session, edit))["kind"] == "patched"
    assert questions == 1


async def test_the_stateless_protocol_asks_back_and_is_answered(root: Path, data: Path) -> None:
    words = command(root)
    server = StdioServerParameters(command=words[0], args=words[1:], env=environment(data))
    for reply, kind in [(says(True), "patched"), (says(False, "no"), "approval_denied")]:
        (root / "b.txt").write_bytes(b"one\ntwo\nthree\n")
        async with Client(server, mode="2026-07-28", elicitation_callback=reply) as client:
            payload = await read_and_edit(client)
            assert payload["kind"] == kind, payload
    assert (root / "b.txt").read_bytes() == b"one\ntwo\nthree\n"


async def test_a_call_that_the_client_gave_up_writes_nothing(root: Path, data: Path) -> None:
    asked = anyio.Event()

    async def never(_context: Any, _params: Any) -> ElicitResult:
        asked.set()
        await anyio.sleep_forever()
        raise AssertionError

    async with connected(root, data, answers=never) as session:
        async with anyio.create_task_group() as group:
            group.start_soon(read_and_edit, session)
            await asked.wait()
            group.cancel_scope.cancel()
        alive = await session.call_tool("read_files", {"files": [{"path": "b.txt"}]})
        assert not alive.is_error
    assert (root / "b.txt").read_bytes() == b"one\ntwo\nthree\n"
