"""Runs the scenarios beside this file through the Python API; `README.md` says what their files mean."""

import json
import os
import shutil
from pathlib import Path

import pytest

import handrail

HERE = Path(__file__).parent
SCENARIOS = sorted(path.parent for path in HERE.glob("*/call.json"))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: path.name)
def test_scenario(scenario, tmp_path):
    root = tmp_path / "root"
    shutil.copytree(scenario / "input", root, symlinks=True)
    calls = json.loads((scenario / "call.json").read_text("utf-8").replace("{root}", str(root)))
    result = None
    with handrail.open(root=root, approve="auto", data_dir=tmp_path / "data") as rail:
        for step in calls:
            if "outside" in step:
                (root / step["outside"]["path"]).write_bytes(step["outside"]["text"].encode())
            else:
                result = rail.call(step["tool"], step["arguments"])
    wanted = json.loads((scenario / "result.json").read_text("utf-8").replace("{root}", str(root)))
    assert result is not None
    for key, value in wanted.items():
        if key.startswith("~"):
            assert value in str(result.payload[key[1:]]), result.payload
        else:
            assert result.payload.get(key) == value, result.payload
    expected = scenario / "expected"
    assert tree(root) == tree(expected if expected.exists() else scenario / "input")


def tree(root: Path) -> dict[str, bytes | str]:
    """Every file's bytes, every link's target, by relative path."""
    found: dict[str, bytes | str] = {}
    for directory, names, files in os.walk(root):
        for name in (*names, *files):
            path = Path(directory, name)
            if path.is_symlink():
                found[str(path.relative_to(root))] = f"-> {path.readlink()}"
            elif path.is_file():
                found[str(path.relative_to(root))] = path.read_bytes()
    return found


def test_there_are_scenarios_of_both_families():
    tools = {step.get("tool") for path in SCENARIOS for step in json.loads((path / "call.json").read_text("utf-8"))}
    assert len(SCENARIOS) >= 12
    assert {"edit_file", "Edit", "MultiEdit", "Write"} <= tools
