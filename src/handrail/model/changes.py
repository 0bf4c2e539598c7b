"""The one currency: what a path is and what it would become; planned, shown, approved, recorded, applied, inverted."""

from dataclasses import dataclass, field
from typing import Literal

from handrail.model.files import State
from handrail.model.paths import RealPath

Action = Literal["create", "modify", "remove", "restore", "external"]
Freshness = Literal["required", "read", "unchanged", "none"]
"""What must be known of the file: read and unchanged, read at all, unchanged if read, nothing."""


@dataclass(frozen=True, slots=True)
class Change:
    """`path` goes from `before` to `after`; the writer refuses when the disk doesn't hold `before`.

    `parents`: missing directories above are made, and taken back when the change is undone. `encoding`: in which its
    text is to be shown, where that isn't left to detection.
    """

    path: RealPath
    before: State
    after: State
    action: Action
    parents: bool = False
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class Launch:
    """The one effect that isn't a change of files: open a path with the system's default application."""

    path: RealPath


@dataclass(frozen=True, slots=True)
class Plan:
    """What an operation would do: its changes (all or none), what it answers, and what a person should notice.

    `answer` is one of the values of `model/answers.py`. `unusual`: sentences for the approval (shrink, placeholder).
    `around`: rows of the anchors in `before`, for a refusal that shows the fresh lines.
    """

    answer: object
    changes: tuple[Change, ...] = ()
    launch: Launch | None = None
    unusual: tuple[str, ...] = ()
    around: tuple[int, ...] = field(default=())
