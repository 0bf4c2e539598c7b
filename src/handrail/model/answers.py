"""What planners answer: the outcome of each operation, before a family puts it in its own words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from handrail.model.errors import HandrailError
from handrail.model.files import FileKind, State
from handrail.model.paths import RealPath
from handrail.model.records import Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One directory entry or one globbed file; `path` is absolute, in the system's spelling."""

    path: str
    kind: FileKind
    size: int
    mtime_ns: int
    ignored: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchingFile:
    """A file with its number of matching rows and the first five of them (1-based)."""

    path: str
    count: int
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchingRow:
    """A matching row or one of its surroundings; `cut`: the text is a part that starts at `column` (1-based)."""

    path: str
    row: int
    text: str
    match: str | None = None
    block: int = 0
    context: bool = False
    cut: bool = False
    column: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a find found; exactly one of the three row tuples is used, by mode and unit.

    `total` counts units of all pages (rows of context not among them); `dropped`: entries over the text cap;
    `skipped`: reason -> how many, of `binary sensitive unreadable too_large ignored link_outside`; `complete` is
    false when the deadline came first; `errors`: index of a query -> why it couldn't run; `notes`: sentences for the
    reader (a pattern that no single line can match).
    """

    mode: Literal["list", "glob", "search"]
    unit: Literal["files", "content", "count"] = "files"
    listed: tuple[Listed, ...] = ()
    files: tuple[MatchingFile, ...] = ()
    rows: tuple[MatchingRow, ...] = ()
    total: int = 0
    first: int = 0
    last: int = 0
    next_offset: int | None = None
    dropped: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    complete: bool = True
    changed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    searched_at: int = 0
    errors: Mapping[int, HandrailError] = field(default_factory=dict)


class Row(NamedTuple):
    """One row of text as shown; `row` is 1-based, `None` for a gap between windows.

    A tuple, because thousands are made for one answer.
    """

    row: int | None
    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadText:
    """Rows of a text file. `total` rows in all (`exact` or at least); `next_offset` when more follows.

    `hash` and `size` are of the file's bytes. `encoding_confidence` is below 1 where it was detected.
    `column`: the row is shown from there on, and goes on at `next_column`.
    `missing_rows`: rows of `around` past the end. `notes`: sentences for the reader (stray NULs, empty file).
    """

    path: RealPath
    rows: tuple[Row, ...]
    total: int
    first: int
    last: int
    next_offset: int | None
    hash: str
    size: int
    encoding: str
    encoding_confidence: float = 1.0
    bom: bool = False
    line_end: str = "\n"
    final_newline: bool = True
    exact: bool = True
    column: int | None = None
    next_column: int | None = None
    missing_rows: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    unit: Literal["line", "page", "slide", "row", "cell", "minute"] = "line"
    file_kind: str = "text"
    windows: tuple[tuple[int, int], ...] = ()
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBinary:
    """A file that is no text: what it is by its content (`media_type`), its size, its bytes if asked for."""

    path: RealPath
    media_type: str
    size: int
    hash: str
    data: bytes | None = None
    kind: Literal["binary"] = "binary"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadImage:
    """A picture as it is sent (`data`), with the size it has and had, in pixels."""

    path: RealPath
    media_type: str
    data: bytes
    width: int
    height: int
    original_width: int
    original_height: int
    size: int
    hash: str
    kind: Literal["image"] = "image"


ReadAnswer = ReadText | ReadBinary | ReadImage


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What an edit, a write, a remove, a restore or an undo of one path would do, or did."""

    path: RealPath
    replacements: int = 0
    per_target: tuple[int, ...] = ()
    recovered_via_crlf: bool = False
    recovered_via_quotes: bool = False
    bytes_written: int = 0
    lines: int = 0
    emptied: bool = False
    hash: str | None = None
    warnings: tuple[str, ...] = ()
    existed: bool = False
    unchanged: bool = False
    merged: bool = False
    shown_rows: tuple[tuple[int, int], ...] = ()
    manifest_entries: int = 0
    manifest_size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """Recorded versions, newest first; `more` = how many further ones there are, or `at_least` so many."""

    versions: tuple[Version, ...]
    more: int = 0
    at_least: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A version against the disk; `said`: `identical`, or why there is no diff: `binary directory too_large pruned`.

    `missing`: nothing is on disk, and the diff is against nothing.
    """

    path: str
    version: Version | None
    now: State
    diff: str = ""
    said: str = ""
    content: ReadText | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A file was handed to the default application."""

    path: RealPath
    program: str = ""


Answer = Found | ReadAnswer | Changed | Versions | Compared | Opened
