"""What is meant: the operations that every tool of every family is translated into.

Paths here are still as they were typed (made absolute); the road resolves them.
"""

from dataclasses import dataclass
from typing import Literal

from handrail.model.changes import Freshness

Access = Literal["read", "write", "search", "open", "history"]
"""How a path is needed; `search` = a directory asked for deny only, its entries are judged one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One question to the tree: `pattern` is a glob or a regular expression, by the find's mode."""

    directory: str
    pattern: str | None = None
    file_pattern: str | None = None
    recursive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """Which files, which rows. Counts are rows of `unit`; `offset` is 0-based in that unit."""

    mode: Literal["list", "glob", "search"]
    queries: tuple[Query, ...]
    unit: Literal["files", "content", "count"] = "files"
    literal: bool = False
    ignore_case: bool = False
    multiline: bool = False
    file_type: str | None = None
    before: int = 0
    after: int = 0
    offset: int = 0
    limit: int | None = None
    text_cap: int = 128 * 1024
    documents: bool = False
    respect_ignore: bool = True
    kind: Literal["find"] = "find"


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What a file says, from unit `offset` (1-based; negative from the end), `limit` units at most.

    `around`: windows of `context` rows about these rows instead. `max_file_bytes`: refuse larger files.
    """

    path: str
    offset: int = 1
    limit: int | None = None
    around: tuple[int, ...] | None = None
    context: int = 20
    column: int | None = None
    sheet: str | None = None
    pages: str | None = None
    encoding: str | None = None
    max_rows: int = 2048
    max_text: int = 1 << 20
    max_line: int = 2000
    max_file_bytes: int | None = None
    raw_bytes: bool = False
    kind: Literal["read"] = "read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """One anchor and what takes its place."""

    old: str
    new: str
    everywhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Replace anchors in one file; `together`: all located in the original; `in_order`: each sees the one before."""

    path: str
    replacements: tuple[Replacement, ...]
    semantics: Literal["together", "in_order"]
    freshness: Freshness = "required"
    expected_hash: str | None = None
    dry_run: bool = False
    kind: Literal["edit"] = "edit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """The whole content of one file; `unique`: a taken name is counted up instead of overwritten."""

    path: str
    content: str
    parents: bool = False
    through_links: bool = True
    unique: bool = False
    freshness: Freshness = "required"
    expected_hash: str | None = None
    dry_run: bool = False
    kind: Literal["write"] = "write"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remove:
    """Move a file, a link itself, or a directory aside; it stays restorable."""

    path: str
    expected_hash: str | None = None
    dry_run: bool = False
    kind: Literal["remove"] = "remove"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """Put the state of `version` back at its path; `path`, when given, must be that version's path."""

    version: int
    path: str | None = None
    dry_run: bool = False
    kind: Literal["restore"] = "restore"


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """Take one path back to before `task`, keeping what others changed since; one operation a path."""

    task: str
    path: str
    dry_run: bool = False
    kind: Literal["undo"] = "undo"


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The recorded versions, newest first. Times in nanoseconds since the epoch; `under` a path or a directory."""

    under: str | None = None
    contains: str | None = None
    task: str | None = None
    since: int | None = None
    until: int | None = None
    limit: int = 3
    before_mutations: bool = False
    kind: Literal["history"] = "history"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare:
    """One path's newest recorded version, or `version`, against what is on disk now."""

    path: str | None = None
    version: int | None = None
    content: Read | None = None
    kind: Literal["compare"] = "compare"


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """Show a file to the person, with the system's default application."""

    path: str
    kind: Literal["open"] = "open"


Operation = Find | Read | Edit | Write | Remove | Restore | Undo | History | Compare | Open
Mutation = Edit | Write | Remove | Restore | Undo


@dataclass(frozen=True, slots=True, kw_only=True)
class Want:
    """A path that an operation needs, and how. `follow`: act on what a last link points to, not on the link.

    `optional`: a refusal or a miss is told to the planner (as the target's `error`), not raised.
    """

    path: str
    access: Access
    follow: bool = True
    optional: bool = False
