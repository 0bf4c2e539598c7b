"""Whatever is typed, for every tool and from its own schema: a typed answer, the files whole, the engine alive."""

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import handrail
from handrail.interfaces.api import Handrail

HOSTILE_NAMES = [
    "a.txt", "link", "loop", "dangling", "fifo", "socket", "sub", "-rf", "new\nline", "\x00", "\ud800", "",
    ".", "..", "../..", "~", "/", "/dev/zero", "/proc/self/mem", "/proc/self/root/etc/shadow", "x" * 255, "y" * 4096,
    "é", "e\u0301", "\\n", "\u202e.txt", "[", "{", "**/*", "**/*.txt", "handrail.toml", ".git/hooks/pre-commit", ".env",
]  # fmt: skip
TEXTS = [
    *HOSTILE_NAMES,
    "(a+)+$",
    "one",
    "one\n",
    "\r\n",
    "\ufeff",
    "$&",
    "\\1",
    "current",
    "1",
    "cp-aa",
    "z" * 100_000,
]
NUMBERS = [0, 1, -1, 2, 255, 2**31, 2**63, 10**30, -(10**30), 0.5, float("inf")]
MANY = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Handrail, Path]]:
    root = tmp_path_factory.mktemp("hostile") / "project"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_bytes(b"one\ntwo\n")
    (root / "sub" / "b.txt").write_bytes(b"one\n")
    (root / "-rf").write_bytes(b"dash\n")
    (root / "new\nline").write_bytes(b"newline\n")
    (root / ".env").write_bytes(b"KEY=secret-value\n")
    (root / "link").symlink_to("a.txt")
    (root / "loop").symlink_to("loop")
    (root / "dangling").symlink_to("nowhere")
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "socket"))
    with handrail.open(root=root, approve="deny", data_dir=root.parent / "data") as files:
        yield files, root


def standing(root: Path) -> dict[str, tuple[int, bytes]]:
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            stat = os.lstat(path)
            content = Path(path).read_bytes() if os.path.isfile(path) and not os.path.islink(path) else b""
            found[path] = (stat.st_mode, content)
    return found


def values(schema: dict[str, Any], root: Path) -> st.SearchStrategy[Any]:
    """What the schema asks for, and what it doesn't."""
    names = st.sampled_from(TEXTS) | st.sampled_from(HOSTILE_NAMES).map(lambda n: f"{root}/{n}")
    wrong = st.none() | st.booleans() | st.sampled_from(NUMBERS) | names | st.just([]) | st.just({})
    match schema.get("type"):
        case "object":
            fitting: st.SearchStrategy[Any] = objects(schema, root)
        case "array":
            fitting = st.lists(values(schema.get("items", {}), root), max_size=3)
        case "integer" | "number":
            fitting = st.integers(-5, 5000)
        case "boolean":
            fitting = st.booleans()
        case _:
            fitting = names
    if "enum" in schema:
        fitting = st.sampled_from(schema["enum"])
    return fitting | fitting | fitting | wrong | fitting.map(lambda v: json.dumps(v, allow_nan=True))


def objects(schema: dict[str, Any], root: Path) -> st.SearchStrategy[dict[str, Any]]:
    fields = {name: values(field, root) for name, field in schema.get("properties", {}).items()}
    needed = {name: fields.pop(name) for name in schema.get("required", ()) if name in fields}
    extra = st.dictionaries(st.sampled_from(["_note", "paht", "row", ""]), st.just("extra"), max_size=1)
    whole = st.fixed_dictionaries(needed, optional=fields)
    return st.builds(lambda a, b: {**b, **a}, whole, extra)


TOOLS = [
    "find_files", "read_files", "edit_file", "file_history", "open_file", "Read", "Write", "Edit", "MultiEdit", "Glob",
    "Grep", "checkpoints_list", "checkpoint_restore",
]  # fmt: skip


@pytest.mark.parametrize("tool", TOOLS)
def test_anything_typed_is_answered_with_a_kind_and_changes_nothing(place: tuple[Handrail, Path], tool: str) -> None:
    files, root = place
    schema = next(t.input_schema for t in files.tools() if t.name == tool)
    before = standing(root)

    @MANY
    @given(objects(dict(schema), root) | values({}, root))
    def ask(arguments: Any) -> None:
        result = files.call(tool, arguments)
        assert result.kind != "internal_error", result.payload
        assert "secret-value" not in json.dumps(result.payload)
        assert result.ok or result.payload.get("error"), result.payload
        json.dumps(result.payload).encode()
        result.text.encode()

    ask()
    assert standing(root) == before


def test_the_table_names_every_tool(place: tuple[Handrail, Path]) -> None:
    assert {t.name for t in place[0].tools()} == set(TOOLS)
