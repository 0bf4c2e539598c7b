"""Grep: files and rows that match a regular expression."""

from collections.abc import Sequence
from typing import Any, Final, Literal

from pydantic import Field

from handrail.core.arguments import Arguments
from handrail.core.tool import Context, Outcome, Reply, Tool
from handrail.families.claude_code.faces import answered, place
from handrail.families.claude_code.glob import remarks
from handrail.families.render import Part, Payload, failed
from handrail.model.answers import Found, MatchingRow
from handrail.model.errors import InternalError, InvalidCall
from handrail.model.operations import Find, Query
from handrail.model.paths import shown

DESCRIPTION = (
    "Search file contents with a regular expression (RE2). output_mode: files_with_matches, content (rows, with "
    "-A/-B/-C around them), count. multiline=true lets `.` and the pattern cross line ends. Ignored files are left out."
)
ROWS: Final = 1000
"""Most rows of content in one answer."""
UNITS: Final[dict[str, Literal["files", "content", "count"]]] = {
    "files_with_matches": "files",
    "content": "content",
    "count": "count",
}


class GrepArguments(Arguments):
    """What Grep takes; the flags are ripgrep's."""

    pattern: str
    path: str | None = Field(default=None, description="Absolute directory or file; the workspace when omitted.")
    glob: str | None = Field(default=None, description="Which files, as in `*.{ts,tsx}`.")
    type: str | None = Field(default=None, description="A ripgrep file type, as in rust, py, ts.")
    output_mode: Literal["files_with_matches", "content", "count"] = "files_with_matches"
    ignore_case: bool = Field(default=False, alias="-i")
    numbers: bool = Field(default=True, alias="-n")
    after: int | None = Field(default=None, ge=0, alias="-A")
    before: int | None = Field(default=None, ge=0, alias="-B")
    around: int | None = Field(default=None, ge=0, alias="-C")
    context: int | None = Field(default=None, ge=0, description="The same as -C.")
    multiline: bool = False
    head_limit: int | None = Field(default=None, ge=0, description="Most results.")
    offset: int = Field(default=0, ge=0, description="Results to skip.")


class Match(Part):
    """A matching row, or with `context` one of its surroundings; rows of one block follow each other."""

    path: str
    line: int | None = None
    match: str
    block: int
    context: bool | None = None
    cut: bool | None = None
    column: int | None = None


class Count(Part):
    """How many lines of a file match."""

    path: str
    count: int


class GrepOutput(Payload):
    """Kind `matches`, or a failure."""

    file_path: str | None = None
    mode: str | None = None
    files: list[str] | None = None
    matches: list[Match] | None = None
    counts: list[Count] | None = None
    truncated: bool | None = None
    total: int | None = None
    next_offset: int | None = None
    complete: bool | None = None
    skipped: dict[str, int] | None = None
    escaped: list[str] | None = Field(default=None, description="Names that are spelled with escapes.")
    notes: list[str] | None = None


def operations(args: GrepArguments, context: Context) -> Sequence[Find]:
    """One search."""
    if not args.pattern:
        raise InvalidCall(
            "invalid_arguments", "`pattern` is empty.", hint="Give a regular expression.", facts={"field": "pattern"}
        )
    around = args.around if args.around is not None else args.context or 0
    rows = args.output_mode == "content"
    wanted = args.head_limit or None
    query = Query(directory=place(args.path, context), pattern=args.pattern, file_pattern=args.glob or None)
    return [
        Find(
            mode="search",
            queries=(query,),
            unit=UNITS[args.output_mode],
            ignore_case=args.ignore_case,
            multiline=args.multiline,
            file_type=args.type or None,
            before=_least(args.before, around) if rows else 0,
            after=_least(args.after, around) if rows else 0,
            offset=args.offset,
            limit=min(wanted or ROWS, ROWS) if rows else wanted,
            text_cap=1024 * 1024,
            respect_ignore=context.config.tools.fs.respect_gitignore,
        )
    ]


def _least(own: int | None, around: int) -> int:
    return min(around if own is None else own, 1000)


def reply(args: GrepArguments, outcomes: Sequence[Outcome], _context: Context) -> Reply:
    """The matches by output mode."""
    (outcome,) = outcomes
    found = outcome.answer
    if outcome.error is not None or not isinstance(found, Found):
        return failed(
            TOOL, outcome.error or InternalError("internal_error", "The find gave no answer."), path=args.path
        )
    if found.errors:
        return failed(TOOL, found.errors[min(found.errors)], path=args.path)
    fields: dict[str, Any] = {"kind": "matches", "mode": args.output_mode}
    if args.output_mode == "content":
        fields["matches"] = [_match(row, numbers=args.numbers) for row in found.rows]
    elif args.output_mode == "count":
        fields["counts"] = [{"path": shown(file.path), "count": file.count} for file in found.files]
    else:
        fields["files"] = [shown(file.path) for file in found.files]
    fields["truncated"] = found.next_offset is not None or found.dropped > 0 or not found.complete
    fields["total"] = found.total
    if found.next_offset is not None:
        fields["next_offset"] = found.next_offset
    return answered(GrepOutput, fields | remarks(found, outcome.notes))


def _match(row: MatchingRow, *, numbers: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {"path": shown(row.path)}
    if numbers:
        fields["line"] = row.row
    fields |= {"match": row.text, "block": row.block}
    if row.context:
        fields["context"] = True
    return {**fields, "cut": True, "column": row.column or 1} if row.cut else fields


TOOL: Tool[GrepArguments] = Tool(
    name="Grep",
    family="claude_code",
    title="Search file contents",
    describe=lambda _: DESCRIPTION,
    arguments=GrepArguments,
    output=GrepOutput,
    operations=operations,
    reply=reply,
    idempotent=True,
    failure_path="file_path",
)
