"""`handrail approvals`: what waits for an answer, the answers people said to remember, and the watch over both."""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from uuid import uuid4

from handrail.core.places import own
from handrail.interfaces.cli import screen
from handrail.interfaces.cli.keys import Keys
from handrail.interfaces.cli.watch import Watch
from handrail.model.errors import InvalidCall, NotThere
from handrail.model.paths import shown
from handrail.model.records import Request
from handrail.store.protocol import Store
from handrail.store.sqlite import SqliteStore


def approvals(options: argparse.Namespace) -> int:
    """The action that was named; without one, the list. It needs the store alone, whatever a configuration says."""
    store = SqliteStore(own(None, os.environ).data, owner=uuid4().hex)
    try:
        if options.action == "watch":
            return _watch(store)
        return _rules(store, options) if options.action == "rules" else _list(store, options)
    finally:
        store.close()


def _watch(store: Store) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidCall(
            "invalid_arguments",
            "Watching needs a terminal.",
            hint="Run it in a terminal window of its own; `handrail approvals list --json` is for programs.",
        )
    keys = Keys(sys.stdin.fileno())
    with keys:
        Watch(store, keys, screen.say, screen.painter(sys.stdout)).run()
    return 0


def _list(store: Store, options: argparse.Namespace) -> int:
    pending = store.pending()
    if options.json:
        screen.write_json([asdict(request) for request in pending])
        return 0
    columns = ("waits", "ends in", "tool", "why", "path", "task", "session")
    screen.write_table(columns, _rows(pending), empty="Nothing waits for an answer.")
    return 0


def _rows(pending: Sequence[Request]) -> list[tuple[str, ...]]:
    now = time.time_ns()
    return [
        (
            _seconds(now - request.asked_at),
            _seconds(request.expires_at - now),
            request.tool,
            request.reason,
            ", ".join(shown(path) for path in request.paths),
            request.objective or request.task or "",
            request.session,
        )
        for request in pending
    ]


def _rules(store: Store, options: argparse.Namespace) -> int:
    if options.revoke is not None:
        if not store.forget(options.revoke):
            raise NotThere(
                "not_found", f"There is no rule {options.revoke}.", hint="`handrail approvals rules` lists them."
            )
        screen.say(f"Rule {options.revoke} is revoked.\n")
        return 0
    rules = store.rules()
    if options.json:
        screen.write_json([asdict(rule) for rule in rules])
        return 0
    rows = [
        (
            str(rule.id),
            shown(rule.pattern),
            rule.tool or "any",
            "always" if rule.task is None else rule.task,
            datetime.fromtimestamp(rule.created_at / 1e9).strftime("%Y-%m-%d %H:%M"),
        )
        for rule in rules
    ]
    screen.write_table(("rule", "pattern", "for", "task", "since"), rows, empty="Nothing is remembered.")
    return 0


def _seconds(nanoseconds: int) -> str:
    return f"{max(0, nanoseconds) // 10**9} s"
