"""`handrail history` and `handrail diff`: what was recorded, and how it differs from what is there now."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from handrail.interfaces.cli import screen
from handrail.interfaces.cli.opening import opened
from handrail.model.calls import Result

_COLUMNS = ("version", "when", "action", "size", "path", "with", "task", "objective")
_SAID = {
    "identical": "the same as on the disk",
    "binary": "binary, and different from the disk",
    "directory": "a directory",
    "missing": "nothing is on the disk now",
}


def history(options: argparse.Namespace) -> int:
    """List versions, newest first."""
    arguments: dict[str, object] = {"mode": "list", "limit": options.limit}
    if options.path is not None:
        arguments["path"] = os.path.abspath(options.path)
    given = {"task_id": options.task, "from": options.since, "to": options.until}
    arguments |= {name: value for name, value in given.items() if value is not None}
    with opened(options) as handrail:
        result = handrail.call("file_history", arguments, person=True)
    if options.json or not result.ok:
        return _plainly(result, options)
    versions: Sequence[Mapping[str, Any]] = result.payload.get("versions") or ()  # type: ignore[assignment]
    screen.write_table(_COLUMNS, [_row(version) for version in versions], empty="Nothing was recorded here yet.")
    more = result.payload.get("more")
    if more:
        screen.whisper(f"{more} more; narrow it with a path, --task or --limit.\n")
    return 0


def diff(options: argparse.Namespace) -> int:
    """Show a version against what is on disk now."""
    with opened(options) as handrail:
        result = handrail.call("file_history", {"mode": "read", "version": options.version}, person=True)
    if options.json or not result.ok:
        return _plainly(result, options)
    paint = screen.painter(sys.stdout)
    files: Sequence[Mapping[str, Any]] = result.payload.get("files") or ()  # type: ignore[assignment]
    for file in files:
        if file.get("diff"):
            screen.say(screen.diff(str(file["diff"]), paint))
        else:
            screen.say(screen.line(f"{file.get('path', '')}: {_said(file)}") + "\n")
    return 0


def _said(file: Mapping[str, Any]) -> object:
    said = str(file.get("said", ""))
    return file.get("error") or _SAID.get(said, said) or "no difference"


def _row(version: Mapping[str, Any]) -> tuple[str, ...]:
    size = version.get("size")
    kept = version.get("restorable", True)
    return (
        str(version.get("version", "")) + ("" if kept else " (not restorable)"),
        str(version.get("changed_at", "")).replace("T", " ")[:19],
        str(version.get("action", "")),
        "" if size is None else str(size),
        str(version.get("path", "")),
        str(version.get("tool") or ""),
        str(version.get("task") or ""),
        str(version.get("objective") or ""),
    )


def _plainly(result: Result, options: argparse.Namespace) -> int:
    if options.json:
        screen.write_json(result.payload)
    else:
        screen.complain_of(result.payload)
    return 0 if result.ok else 1
