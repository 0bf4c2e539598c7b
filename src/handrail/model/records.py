"""What the store remembers: versions, tasks, approval requests and their answers."""

from dataclasses import dataclass, field
from typing import Literal

from handrail.model.changes import Action
from handrail.model.files import State

UNDO = "undo-"
"""How the id of a task begins that took another one back: a piece of work of its own, which nothing else joins."""
Status = Literal["intended", "done", "undone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A piece of work that groups versions; times in nanoseconds since the epoch."""

    id: str
    session: str
    objective: str | None
    opened_at: int
    touched_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """The state of one path after a change; `previous` is the version before it at the same path.

    `restorable` is false when the content was pruned, with `why_not` in words. `group` joins what one call did.
    """

    id: int
    path: str
    state: State
    action: Action
    tool: str
    session: str
    task: str | None
    objective: str | None
    time_ns: int
    previous: int | None = None
    group: str | None = None
    status: Status = "done"
    restorable: bool = True
    why_not: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What the writer did for one change: the version made, the one before, and how the bytes were put there."""

    path: str
    version: int | None
    before_version: int | None
    task: str | None
    in_place: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedChange:
    """One change as a person is shown it; `base_hash` is the SHA-256 of what the diff starts from."""

    path: str
    action: str
    diff: str
    base_hash: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A question to a person: may this happen? `reason`: `mutation`, `sensitive`, `protected` or `launch`."""

    id: str
    tool: str
    reason: Literal["mutation", "sensitive", "protected", "launch"]
    changes: tuple[ProposedChange, ...]
    paths: tuple[str, ...]
    session: str
    task: str | None
    objective: str | None
    interface: str
    asked_at: int
    expires_at: int
    unusual: tuple[str, ...] = ()
    narrow: bool = False
    """True where a remembered answer may reach no further than this one file in this one task."""


Scope = Literal["once", "file", "pattern", "always"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A person's answer. `scope`: once, this file for the task, `pattern` for the task, `pattern` always."""

    verdict: Literal["allow", "deny", "timeout", "withdrawn"]
    by: str
    scope: Scope = "once"
    pattern: str | None = None
    reason: str = ""
    at: int = field(default=0)
