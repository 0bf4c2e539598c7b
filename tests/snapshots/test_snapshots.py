"""What models see of the tools: names, descriptions, schemas. A change here is a change for every agent."""

import json
import os
import subprocess
import sys
from typing import Any

import jsonschema
import pytest

from handrail.interfaces.kinds import MEANINGS
from handrail.interfaces.reference import FAMILIES, PAGES, listed
from handrail.model.errors import KINDS

HERE = os.path.dirname(os.path.abspath(__file__))
DOCS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "docs")
ALL = [tool for _, tools in FAMILIES.values() for tool in tools]
REQUIRED: dict[str, list[str]] = {
    "find_files": ["queries"],
    "read_files": ["files"],
    "edit_file": [],
    "file_history": [],
    "open_file": ["path"],
    "Read": ["file_path"],
    "Write": ["file_path", "content"],
    "Edit": ["file_path", "old_string", "new_string"],
    "MultiEdit": ["file_path", "edits"],
    "Glob": ["pattern"],
    "Grep": ["pattern"],
    "checkpoints_list": [],
    "checkpoint_restore": ["id"],
}


def snapshot(family: str) -> str:
    tools = [listed(tool) for tool in FAMILIES[family][1]]
    return json.dumps(tools, indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("family", FAMILIES)
def test_the_tools_are_what_was_committed(family: str) -> None:
    with open(os.path.join(HERE, f"{family}.json"), encoding="utf-8", newline="") as file:
        committed = file.read()
    assert snapshot(family) == committed, "If the change is meant: python tests/snapshots/test_snapshots.py"


@pytest.mark.parametrize("name", PAGES)
def test_the_docs_are_what_the_tools_say(name: str) -> None:
    with open(os.path.join(DOCS, name), encoding="utf-8", newline="") as file:
        assert PAGES[name]() == file.read(), "If the change is meant: python -m handrail.interfaces.reference docs"


def test_every_kind_of_failure_has_its_meaning() -> None:
    assert set(MEANINGS) == {kind for kinds in KINDS.values() for kind in kinds}


def test_all_tools_together_are_short_enough_for_a_model() -> None:
    shown = [{key: listed(tool)[key] for key in ("name", "description", "input_schema")} for tool in ALL]
    assert len(shown) == 13
    assert len(json.dumps(shown)) < 16_000


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
def test_input_schemas_are_flat_objects_that_strict_clients_accept(tool: Any) -> None:
    schema = listed(tool)["input_schema"]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert not {"oneOf", "anyOf", "allOf", "$schema"} & set(schema)
    assert schema.get("required", []) == REQUIRED[tool.name]
    text = json.dumps(schema)
    assert "null" not in text
    assert "$ref" not in text
    assert '"title"' not in text


def _loaded(module: str) -> set[str]:
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return set(done.stdout.split())


def test_a_family_loads_neither_the_other_nor_heavy_libraries() -> None:
    modules = _loaded("handrail.families.batch")
    assert not [name for name in modules if name.startswith("handrail.families.claude_code")]
    heavy = {"mcp", "rich", "chardet", "re2", "zstandard", "msgspec", "pathspec", "anyio", "sqlite3"}
    assert not heavy & modules
    assert not [m for m in _loaded("handrail.families.claude_code") if m.startswith("handrail.families.batch")]


if __name__ == "__main__":
    for name in FAMILIES:
        with open(os.path.join(HERE, f"{name}.json"), "w", encoding="utf-8", newline="") as made:
            made.write(snapshot(name))
