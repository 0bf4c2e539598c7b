"""`handrail restore` and `handrail undo`: a preview, a yes, and then the same road that every tool takes."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from handrail.interfaces.api import Handrail
from handrail.interfaces.cli import screen
from handrail.interfaces.cli.keys import Keys
from handrail.interfaces.cli.opening import opened
from handrail.model.calls import Result
from handrail.model.errors import InvalidCall, NotThere
from handrail.model.records import Task


def restore(options: argparse.Namespace) -> int:
    """Put a version back at its path."""
    with opened(options) as handrail:
        return _carry_out(handrail, {"version": options.version}, options)


def undo(options: argparse.Namespace) -> int:
    """Take a task back, path by path; without one, the newest that changed something below the roots."""
    with opened(options) as handrail:
        task = options.task
        if task is None:
            newest = _newest(handrail)
            task = newest.id
            if not options.json:
                about = f", {screen.line(newest.objective)}" if newest.objective else ""
                screen.whisper(f"The newest piece of work is {screen.line(task)}{about}.\n")
        return _carry_out(handrail, {"task_id": task}, options)


def _newest(handrail: Handrail) -> Task:
    roots: Sequence[str | None] = handrail.roots or [None]
    tasks = [handrail.store.newest_task(None, under=root) for root in roots]
    found = [task for task in tasks if task is not None]
    if not found:
        raise NotThere(
            "task_not_found", "Nothing was changed here yet.", hint="Name the directory with --root, or a task's id."
        )
    return max(found, key=lambda task: task.touched_at)


def _carry_out(handrail: Handrail, what: Mapping[str, object], options: argparse.Namespace) -> int:
    arguments = {"mode": "restore", **what}
    preview = handrail.call("edit_file", {**arguments, "dry_run": True}, person=True)
    if not preview.ok or _changes_nothing(preview.payload):
        return _told(preview, options)
    if not options.yes:
        _show(preview.payload, options, would=True)
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise InvalidCall(
                "invalid_arguments",
                "Nothing was done: without a terminal to ask on, this needs --yes.",
                hint="Look at the preview, then add --yes.",
            )
        if not _yes():
            screen.whisper("Left as it is.\n")
            return 1
    return _told(handrail.call("edit_file", arguments, person=True), options)


def _told(result: Result, options: argparse.Namespace) -> int:
    if result.ok or result.payload.get("files") or options.json:
        _show(result.payload, options, would=False)
    else:
        screen.complain_of(result.payload)
    return 0 if result.ok else 1


def _yes() -> bool:
    screen.whisper("Do this? y / n ")
    with Keys(sys.stdin.fileno()) as keys:
        keys.forget()
        key = keys.key(lambda: False)
    screen.whisper("\n")
    return key in {"y", "Y"}


def _files(payload: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    files: Sequence[Mapping[str, Any]] | None = payload.get("files")
    return [payload] if files is None else files


def _changes_nothing(payload: Mapping[str, Any]) -> bool:
    return all(file.get("unchanged") for file in _files(payload))


def _show(payload: Mapping[str, Any], options: argparse.Namespace, *, would: bool) -> None:
    """Each path with what becomes of it; its diff where it is a preview."""
    if options.json:
        screen.write_json(payload)
        return
    paint = screen.painter(sys.stdout)
    for file in _files(payload):
        path = screen.line(str(file.get("path", "")))
        if file.get("error"):
            screen.say(paint(f"stays as it is: {path}", "yellow") + f"\n  {screen.block(str(file['error']))}\n")
            continue
        done = "nothing to change" if file.get("unchanged") else "would be restored" if would else "restored"
        merged = ", keeping what others changed since" if file.get("merged") else ""
        version = f" (version {file['version']})" if file.get("version") else ""
        screen.say(paint(f"{done}: {path}{version}{merged}", "bold") + "\n")
        if would and file.get("diff"):
            screen.say(screen.diff(str(file["diff"]), paint))
