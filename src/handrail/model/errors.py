"""Every way a call can fail, as one tree; a failure is an answer with a stable `kind`, never a surprise.

HandrailError
├── InvalidCall     what was typed can't be run     invalid_arguments unknown_tool invalid_path invalid_pattern
│                                                   invalid_glob overlapping_edits no_change symlink_refused
├── Refused         may not happen                  tool_denied path_denied blocked_by_hook approval_denied
│                                                   approval_timeout approval_unavailable approval_withdrawn
├── OutOfDate       the file moved on               not_read file_modified_since_read stale conflict
├── NotThere        nothing to act on               not_found no_match ambiguous_match version_not_found
│                                                   task_not_found not_restorable
├── TooLarge        over a limit                    too_large
├── WrongContent    not what the tool works on      not_regular_file binary undecodable unencodable
│                                                   unsupported_kind missing_dependency transcription_unavailable
├── BackendFailed   the system said no              permission_denied io_error disk_full busy history_unavailable
│                                                   audit_unavailable backend_unavailable deadline_exceeded
│                                                   cancelled opener_unavailable
└── InternalError   a bug of ours                   internal_error
"""

from collections.abc import Mapping
from typing import ClassVar

KINDS: Mapping[str, tuple[str, ...]] = {
    "InvalidCall": (
        "invalid_arguments",
        "unknown_tool",
        "invalid_path",
        "invalid_pattern",
        "invalid_glob",
        "overlapping_edits",
        "no_change",
        "symlink_refused",
    ),
    "Refused": (
        "tool_denied",
        "path_denied",
        "blocked_by_hook",
        "approval_denied",
        "approval_timeout",
        "approval_unavailable",
        "approval_withdrawn",
    ),
    "OutOfDate": ("not_read", "file_modified_since_read", "stale", "conflict"),
    "NotThere": (
        "not_found",
        "no_match",
        "ambiguous_match",
        "version_not_found",
        "task_not_found",
        "not_restorable",
    ),
    "TooLarge": ("too_large",),
    "WrongContent": (
        "not_regular_file",
        "binary",
        "undecodable",
        "unencodable",
        "unsupported_kind",
        "missing_dependency",
        "transcription_unavailable",
    ),
    "BackendFailed": (
        "permission_denied",
        "io_error",
        "disk_full",
        "busy",
        "history_unavailable",
        "audit_unavailable",
        "backend_unavailable",
        "deadline_exceeded",
        "cancelled",
        "opener_unavailable",
    ),
    "InternalError": ("internal_error",),
}
"""The kinds of each branch; `docs/errors.md` says each in a sentence, and a test keeps the two equal."""


class HandrailError(Exception):
    """A typed failure: what went wrong in one sentence, what to do next, and the facts.

    `kind` is stable and is what callers branch on; `facts` are JSON values that join the payload.
    """

    retryable: ClassVar[bool] = False

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        hint: str = "",
        path: str | None = None,
        retryable: bool | None = None,
        facts: Mapping[str, object] | None = None,
    ) -> None:
        if kind not in KINDS[type(self).__name__]:
            raise AssertionError(f"{kind!r} is no kind of {type(self).__name__}")
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint
        self.path = path
        self.may_retry = type(self).retryable if retryable is None else retryable
        self.facts = dict(facts or {})


class InvalidCall(HandrailError):
    """What was typed can't be run as it stands."""


class Refused(HandrailError):
    """Policy, a person or a hook said no."""


class OutOfDate(HandrailError):
    """The file isn't what the caller last saw, or was never seen."""

    retryable = True


class NotThere(HandrailError):
    """There is nothing to act on, or more than one thing."""


class TooLarge(HandrailError):
    """Over a limit that the message names, in bytes."""


class WrongContent(HandrailError):
    """The content isn't of a sort that the tool works on."""


class BackendFailed(HandrailError):
    """The operating system, the store or a deadline said no."""


class InternalError(HandrailError):
    """A bug of ours: an id that stands in the log, nothing else."""
