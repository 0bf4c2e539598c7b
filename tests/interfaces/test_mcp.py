"""The server over real pipes: lists, answers, schemas, and nothing but the protocol on standard output."""

import json
import os
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client, StdioServerParameters
from mcp_client import RawServer, command, connected, environment, says

BATCH = {"find_files", "read_files", "edit_file", "file_history", "open_file"}
CLAUDE_CODE = {"Read", "Write", "Edit", "MultiEdit", "Glob", "Grep", "checkpoints_list", "checkpoint_restore"}
COMPOSITION = {"oneOf", "anyOf", "allOf", "not", "if", "$ref", "enum"}

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_bytes(b"alpha = 1\nbeta = 2\n")
    (root / "b.txt").write_bytes(b"one\ntwo\nthree\n")
    (root / "data.bin").write_bytes(bytes(range(256)) * 8)
    return root


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def calls(root: Path) -> list[tuple[str, dict[str, Any]]]:
    """Each tool with calls that go well and calls that fail, in an order in which they may be made."""
    a, b = str(root / "src" / "a.py"), str(root / "b.txt")
    return [
        ("find_files", {"queries": [{}]}),
        ("find_files", {"queries": [{"pattern": "*.py"}]}),
        ("find_files", {"queries": [{"pattern": "alpha", "file_pattern": "*"}]}),
        ("find_files", {"queries": [{"pattern": "alpha", "file_pattern": "*"}], "output": "content", "context": 1}),
        ("find_files", {"queries": [{"pattern": "(", "file_pattern": "*"}]}),
        ("find_files", {"queries": [{"dir": "missing"}]}),
        ("find_files", {"queries": 3}),
        ("read_files", {"files": [{"path": "b.txt"}, {"path": "missing.txt"}, {"path": "data.bin"}]}),
        ("read_files", {"files": [{"path": "missing.txt"}]}),
        ("read_files", {"files": []}),
        ("edit_file", {"path": "b.txt", "targets": [{"old_string": "two", "new_string": "2"}]}),
        ("edit_file", {"path": "b.txt", "targets": [{"old_string": "nowhere", "new_string": "2"}]}),
        ("edit_file", {"path": "new.txt", "content": "new\n"}),
        ("edit_file", {"path": "b.txt", "targets": [{"old_string": "2", "new_string": "3"}], "dry_run": True}),
        ("edit_file", {"mode": "remove", "path": "new.txt"}),
        ("edit_file", {"mode": "restore", "version": 999999}),
        ("edit_file", {}),
        ("file_history", {"path": "b.txt"}),
        ("file_history", {"paths": ["b.txt", "missing.txt"]}),
        ("edit_file", {"mode": "restore", "task_id": "current"}),
        ("edit_file", {"mode": "restore", "task_id": "nobody"}),
        ("open_file", {"path": "missing.txt"}),
        ("open_file", {"path": "b.txt"}),
        ("Read", {"file_path": a}),
        ("Read", {"file_path": "relative.py"}),
        ("Read", {"file_path": str(root / "data.bin")}),
        ("Read", {"file_path": str(root / "missing")}),
        ("Read", {"file_path": str(root)}),
        ("Read", {"file_path": "/etc/hostname"}),
        ("Edit", {"file_path": a, "old_string": "alpha", "new_string": "gamma"}),
        ("Edit", {"file_path": a, "old_string": "alpha", "new_string": "gamma"}),
        ("MultiEdit", {"file_path": a, "edits": [{"old_string": "beta", "new_string": "delta"}]}),
        ("MultiEdit", {"file_path": a, "edits": []}),
        ("Write", {"file_path": b, "content": "whole\n"}),
        ("Write", {"file_path": str(root / "no" / "dir"), "content": ""}),
        ("Glob", {"pattern": "**/*.py", "path": str(root)}),
        ("Glob", {"pattern": "[", "path": str(root)}),
        ("Grep", {"pattern": "gamma", "path": str(root), "output_mode": "content"}),
        ("Grep", {"pattern": "gamma", "path": str(root), "output_mode": "count"}),
        ("Grep", {"pattern": "gamma", "path": str(root)}),
        ("Grep", {"pattern": "(", "path": str(root)}),
        ("checkpoints_list", {}),
        ("checkpoints_list", {"limit": "many"}),
        ("checkpoint_restore", {"id": "nothing"}),
    ]


@pytest.mark.parametrize(
    ("family", "names"), [("batch", BATCH), ("claude_code", CLAUDE_CODE), ("all", BATCH | CLAUDE_CODE)]
)
async def test_the_client_lists_the_tools_of_the_family(root: Path, data: Path, family: str, names: set[str]) -> None:
    async with connected(root, data, "--family", family) as session:
        assert {t.name for t in (await session.list_tools()).tools} == names


async def test_the_family_is_batch_unless_told_otherwise(root: Path, data: Path) -> None:
    async with connected(root, data) as session:
        assert {t.name for t in (await session.list_tools()).tools} == BATCH


async def test_schemas_are_plain_objects_that_strict_clients_take(root: Path, data: Path) -> None:
    async with connected(root, data, "--family", "all") as session:
        tools = (await session.list_tools()).tools
    for tool in tools:
        for schema in (tool.input_schema, tool.output_schema):
            assert schema is not None and schema["type"] == "object"
            assert not COMPOSITION & set(schema)
            assert "draft-07" not in json.dumps(schema)
            jsonschema.Draft202012Validator.check_schema(schema)
        assert tool.output_schema is not None and tool.output_schema["required"] == ["kind"]
    told = [{"name": t.name, "description": t.description, "inputSchema": t.input_schema} for t in tools]
    assert len(json.dumps(told)) < 16_000


async def test_annotations_say_which_tools_change_something(root: Path, data: Path) -> None:
    async with connected(root, data, "--family", "all") as session:
        tools = {t.name: t.annotations for t in (await session.list_tools()).tools}
    writers = {name for name, hints in tools.items() if hints is not None and hints.read_only_hint is False}
    assert writers == {"edit_file", "open_file", "Write", "Edit", "MultiEdit", "checkpoint_restore"}


async def test_every_answer_validates_against_its_schema_failures_too(root: Path, data: Path) -> None:
    kinds: dict[str, set[str]] = {}
    async with connected(root, data, "--family", "all", "--approve", "auto") as session:
        schemas = {t.name: t.output_schema for t in (await session.list_tools()).tools}
        await session.call_tool("edit_file", {"path": "first.txt", "content": "first\n"})
        listed = (await session.call_tool("checkpoints_list", {})).structured_content
        assert listed is not None
        restore = ("checkpoint_restore", {"id": listed["checkpoints"][0]["id"]})
        for name, arguments in [*calls(root), restore]:
            result = await session.call_tool(name, arguments)
            assert result.structured_content is not None, (name, arguments)
            assert next(iter(result.structured_content)) == "kind"
            schema = schemas[name]
            assert schema is not None
            jsonschema.Draft202012Validator(schema).validate(result.structured_content)
            assert result.content, (name, arguments)
            kinds.setdefault(name, set()).add(result.structured_content["kind"])
            assert result.structured_content["kind"] != "internal_error", (name, arguments, result)
    assert [name for name, found in kinds.items() if len(found) < 2] == []


async def test_reads_six_expected_failures_are_answers_not_errors(root: Path, data: Path) -> None:
    async with connected(root, data, "--family", "claude_code") as session:
        for path, kind in [
            (root / "missing", "not_found"),
            (root, "not_regular_file"),
            (root / "data.bin", "binary"),
            (Path("/etc/hostname"), "path_denied"),
        ]:
            result = await session.call_tool("Read", {"file_path": str(path)})
            assert result.structured_content is not None
            assert (result.structured_content["kind"], result.is_error) == (kind, False)
        result = await session.call_tool("Read", {"file_path": "relative"})
        assert result.is_error


def test_standard_output_carries_only_the_protocol_at_debug_level(root: Path, data: Path, tmp_path: Path) -> None:
    server = RawServer(
        root, data, "--family", "all", "--approve", "auto", "--log-level", "debug", errors=tmp_path / "err"
    )
    server.shake_hands()
    server.ask("tools/list")
    for name, arguments in calls(root):
        server.call(name, **arguments)
    server.send(b"this is no message")
    server.ask("no/such/method")
    assert server.close() == 0
    for line in server.lines:
        assert json.loads(line)["jsonrpc"] == "2.0"


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_each_protocol_version_shakes_hands_and_calls(root: Path, data: Path, tmp_path: Path, version: str) -> None:
    server = RawServer(root, data, errors=tmp_path / "err")
    assert server.shake_hands(version)["result"]["protocolVersion"] == version
    result = server.call("read_files", files=[{"path": "b.txt"}])["result"]
    assert "2\ttwo" in result["content"][0]["text"]
    assert server.close() == 0


async def test_the_stateless_protocol_calls_without_shaking_hands(root: Path, data: Path) -> None:
    words = command(root, "--approve", "auto")
    server = StdioServerParameters(command=words[0], args=words[1:], env=environment(data))
    async with Client(server, mode="2026-07-28") as client:
        result = await client.call_tool("read_files", {"files": [{"path": "b.txt"}]})
        assert result.structured_content is not None and result.structured_content["kind"] == "files"


async def test_instructions_name_the_roots_and_how_changes_are_approved(root: Path, data: Path) -> None:
    words = command(root)
    server = StdioServerParameters(command=words[0], args=words[1:], env=environment(data))
    async with Client(server, mode="legacy") as client:
        assert client.instructions is not None
        assert str(root) in client.instructions and "Host: files_dir=" in client.instructions


async def test_many_calls_at_once_are_all_answered(root: Path, data: Path) -> None:
    async with connected(root, data) as session:
        answered = 0

        async def read() -> None:
            nonlocal answered
            result = await session.call_tool("read_files", {"files": [{"path": "b.txt"}]})
            answered += not result.is_error

        async with anyio.create_task_group() as group:
            for _ in range(100):
                group.start_soon(read)
        assert answered == 100


async def test_a_denied_tool_is_not_listed_and_not_run(root: Path, data: Path, tmp_path: Path) -> None:
    config = tmp_path / "handrail.toml"
    config.write_bytes(b'[tools.policy]\ndeny = ["edit_file"]\n')
    async with connected(root, data, "--config", str(config)) as session:
        assert {t.name for t in (await session.list_tools()).tools} == BATCH - {"edit_file"}
        result = await session.call_tool("edit_file", {"path": "x", "content": "y"})
        assert result.structured_content is not None and result.structured_content["kind"] == "tool_denied"


async def test_client_roots_narrow_the_configured_ones_and_never_widen_them(
    root: Path, data: Path, tmp_path: Path
) -> None:
    from mcp_types import ListRootsResult, Root

    async def roots(_context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=f"file://{root}/src"), Root(uri="file:///etc")])

    async with connected(root, data, list_roots_callback=roots) as session:
        inside = await session.call_tool("read_files", {"files": [{"path": str(root / "src" / "a.py")}]})
        beside = await session.call_tool("read_files", {"files": [{"path": str(root / "b.txt")}]})
        outside = await session.call_tool("read_files", {"files": [{"path": "/etc/hostname"}]})
    assert not inside.is_error
    assert beside.is_error and outside.is_error


async def test_a_repeated_write_with_a_hash_precondition_is_not_done_twice(root: Path, data: Path) -> None:
    async with connected(root, data, answers=says(True)) as session:
        read = await session.call_tool("read_files", {"files": [{"path": "b.txt"}]})
        assert read.structured_content is not None
        known = read.structured_content["files"][0]["hash"]
        edit = {
            "path": "b.txt",
            "targets": [{"old_string": "one", "new_string": "one one"}],
            "expected_hash": known,
        }
        first = await session.call_tool("edit_file", edit)
        again = await session.call_tool("edit_file", edit)
    assert not first.is_error
    assert again.is_error
    assert (root / "b.txt").read_bytes() == b"one one\ntwo\nthree\n"


async def test_the_server_outlives_hostile_arguments(root: Path, data: Path) -> None:
    hostile: list[Any] = [
        {"files": [{"path": "\x00"}]},
        {"files": [{"path": "x" * 5000}]},
        {"files": [{"path": "a\nb"}]},
        {"files": [{"path": "-rf"}]},
        {"files": [{"path": "/proc/self/mem"}]},
        {"files": "[" * 10_000},
        {"files": [{"path": "b.txt", "offset": 10**30}]},
        {"files": None},
        {},
    ]
    async with connected(root, data) as session:
        for arguments in hostile:
            result = await session.call_tool("read_files", arguments)
            assert result.is_error and result.structured_content is not None
            assert result.structured_content["kind"] != "internal_error", (arguments, result)
        alive = await session.call_tool("read_files", {"files": [{"path": "b.txt"}]})
        assert not alive.is_error
    assert sorted(os.listdir(root)) == ["b.txt", "data.bin", "src"]
