"""Every tool goes down the whole road: no station is skipped, and the order is the specification's."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import handrail
from handrail.core.hooks import Hooks
from handrail.interfaces.api import Handrail

READING = [
    "hooks.before",
    "tool_rules.allows",
    "admission.admit",
    "planner.plan",
    "hooks.after",
    "hooks.persist",
    "audit.write",
]
WRITING = [
    "hooks.before",
    "tool_rules.allows",
    "audit.ready",
    "admission.admit",
    "planner.plan",
    "ledger.check",
    "approvals.settle",
    "writer.apply",
    "store.record",
    "ledger.wrote",
    "hooks.after",
    "hooks.persist",
    "audit.write",
]


class Probe:
    """Stands before a station, writes down each visit, and lets it pass."""

    def __init__(self, real: Any, name: str, log: list[str]) -> None:
        self._real, self._name, self._log = real, name, log

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(self._real, attribute)
        if not callable(found):
            return found

        def visited(*args: Any, **kwargs: Any) -> Any:
            self._log.append(f"{self._name}.{attribute}")
            return found(*args, **kwargs)

        return visited


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[Handrail, Path, list[str]]]:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.txt").write_bytes(b"one\ntwo\n")
    log: list[str] = []
    files = handrail.open(root=root, approve="auto", data_dir=tmp_path / "data", session="probe")
    road = files._workspace.road
    records = road.ground.writer._records
    records._store = Probe(records._store, "store", log)
    session = road.sessions.get("probe")
    session.ledger = Probe(session.ledger, "ledger", log)  # type: ignore[assignment]
    ground = replace(
        road.ground,
        admission=Probe(road.ground.admission, "admission", log),
        planners={kind: Probe(p, "planner", log) for kind, p in road.ground.planners.items()},
        writer=Probe(road.ground.writer, "writer", log),
        approvals=Probe(road.ground.approvals, "approvals", log),
    )
    files._workspace.road = replace(
        road,
        ground=ground,
        hooks=Probe(Hooks(), "hooks", log),
        tool_rules=Probe(road.tool_rules, "tool_rules", log),
        audit=Probe(road.audit, "audit", log),
    )
    with files:
        yield files, root, log


def arguments(root: Path) -> dict[str, Callable[[Handrail], dict[str, Any]]]:
    """How each tool is called so that it does what it is for."""
    path = str(root / "a.txt")

    def version(files: Handrail) -> dict[str, Any]:
        files.call("Write", {"file_path": path, "content": "three\n"}, session="other")
        return {"id": "none"}

    return {
        "find_files": lambda _: {"queries": [{"pattern": "two", "file_pattern": "*"}]},
        "read_files": lambda _: {"files": [{"path": "a.txt"}]},
        "edit_file": lambda _: {"path": "new.txt", "content": "new\n"},
        "file_history": lambda _: {"path": "a.txt"},
        "open_file": lambda _: {"path": "a.txt"},
        "Read": lambda _: {"file_path": path},
        "Write": lambda _: {"file_path": path, "content": "whole\n"},
        "Edit": lambda _: {"file_path": path, "old_string": "one", "new_string": "1"},
        "MultiEdit": lambda _: {"file_path": path, "edits": [{"old_string": "one", "new_string": "1"}]},
        "Glob": lambda _: {"pattern": "*.txt", "path": str(root)},
        "Grep": lambda _: {"pattern": "one", "path": str(root)},
        "checkpoints_list": lambda _: {},
        "checkpoint_restore": version,
    }


WRITERS = {"edit_file", "Write", "Edit", "MultiEdit"}


def visits(log: list[str], stations: list[str]) -> list[str]:
    """The stations in the order of their first visit."""
    return [entry for entry in dict.fromkeys(log) if entry in stations]


def test_the_table_above_names_every_tool(opened: tuple[Handrail, Path, list[str]]) -> None:
    files, root, _ = opened
    assert set(arguments(root)) == {tool.name for tool in files.tools()}


@pytest.mark.parametrize("tool", [name for name in arguments(Path("/")) if name not in WRITERS])
def test_a_reading_tool_skips_no_station(opened: tuple[Handrail, Path, list[str]], tool: str) -> None:
    files, root, log = opened
    given = arguments(root)[tool](files)
    log.clear()
    files.call(tool, given, session="probe", named=False)
    stations = READING if tool != "checkpoint_restore" else ["hooks.before", "tool_rules.allows", "audit.write"]
    assert visits(log, stations) == stations, log


@pytest.mark.parametrize("tool", sorted(WRITERS))
def test_a_writing_tool_skips_no_station(opened: tuple[Handrail, Path, list[str]], tool: str) -> None:
    files, root, log = opened
    result = files.call(tool, arguments(root)[tool](files), session="probe", named=False)
    assert result.ok, result.payload
    assert visits(log, WRITING) == WRITING, log


def test_restoring_a_checkpoint_goes_down_the_same_road(
    tmp_path: Path, opened: tuple[Handrail, Path, list[str]]
) -> None:
    files, root, log = opened
    files.call("Write", {"file_path": str(root / "a.txt"), "content": "three\n"}, session="probe", named=False)
    listed = files.call("checkpoints_list", {}).payload["checkpoints"]
    assert isinstance(listed, list)
    log.clear()
    result = files.call("checkpoint_restore", {"id": listed[0]["id"]}, session="probe", named=False)
    assert result.ok, result.payload
    assert visits(log, WRITING) == WRITING, log
    assert (root / "a.txt").read_bytes() == b"one\ntwo\n"


def test_a_bug_is_an_answer_with_an_id_that_stands_in_the_log(
    opened: tuple[Handrail, Path, list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    files, _root, _ = opened
    road = files._workspace.road

    class Broken:
        def before(self, payload: object) -> object:
            raise RuntimeError("a bug of ours")

    files._workspace.road = replace(road, hooks=Broken())  # type: ignore[arg-type]
    result = files.call("read_files", {"files": [{"path": "a.txt"}]})
    assert result.kind == "internal_error" and not result.ok
    assert "a bug of ours" not in result.text
    assert str(result.payload["id"]) in caplog.text and "a bug of ours" in caplog.text
    files._workspace.road = road
    assert files.call("read_files", {"files": [{"path": "a.txt"}]}).ok
