"""Glob: files by name, the newest first."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from handrail.core.arguments import Arguments
from handrail.core.tool import Context, Outcome, Reply, Tool
from handrail.families.claude_code.faces import answered, place
from handrail.families.render import Payload, escaped_paths, failed
from handrail.model.answers import Found
from handrail.model.errors import InternalError, InvalidCall
from handrail.model.operations import Find, Query
from handrail.model.paths import shown

DESCRIPTION = (
    "Find files by a glob (`**/*.rs`, `src/*.{ts,tsx}`), the newest first, at most 1000. Ignored files are left out, "
    "hidden ones are not."
)
MOST = 1000


class GlobArguments(Arguments):
    """What Glob takes."""

    pattern: str = Field(description="Without a slash it matches the name at any depth.")
    path: str | None = Field(default=None, description="Absolute directory; the workspace when omitted.")


class GlobOutput(Payload):
    """Kind `paths`, or a failure."""

    file_path: str | None = None
    paths: list[str] | None = None
    truncated: bool | None = None
    root: str | None = None
    total: int | None = None
    complete: bool | None = None
    skipped: dict[str, int] | None = None
    escaped: list[str] | None = Field(default=None, description="Names that are spelled with escapes.")
    notes: list[str] | None = None


def operations(args: GlobArguments, context: Context) -> Sequence[Find]:
    """One find by glob."""
    if not args.pattern:
        raise InvalidCall(
            "invalid_arguments", "`pattern` is empty.", hint="Give a glob, as in `**/*.py`.", facts={"field": "pattern"}
        )
    return [
        Find(
            mode="glob",
            queries=(Query(directory=place(args.path, context), pattern=args.pattern),),
            limit=MOST,
            text_cap=8 * 1024 * 1024,
            respect_ignore=context.config.tools.fs.respect_gitignore,
        )
    ]


def reply(args: GlobArguments, outcomes: Sequence[Outcome], context: Context) -> Reply:
    """The paths, absolute."""
    (outcome,) = outcomes
    found = outcome.answer
    root = args.path or (context.roots[0] if context.roots else "")
    if outcome.error is not None or not isinstance(found, Found):
        return failed(TOOL, outcome.error or InternalError("internal_error", "The find gave no answer."), path=root)
    if found.errors:
        return failed(TOOL, found.errors[min(found.errors)], path=root)
    fields: dict[str, Any] = {
        "kind": "paths",
        "paths": [shown(item.path) for item in found.listed],
        "truncated": found.next_offset is not None or found.dropped > 0 or not found.complete,
        "root": shown(root),
        "total": found.total,
    }
    return answered(GlobOutput, fields | remarks(found, outcome.notes))


def remarks(found: Found, notes: Sequence[str]) -> dict[str, Any]:
    """What was left out, as Glob and Grep both say it."""
    fields: dict[str, Any] = {}
    if not found.complete:
        fields["complete"] = False
    skipped = {reason: number for reason, number in sorted(found.skipped.items()) if number}
    if skipped:
        fields["skipped"] = skipped
    escaped = escaped_paths(found)
    if escaped:
        fields["escaped"] = [shown(path) for path in escaped]
    if found.notes or notes:
        fields["notes"] = [*found.notes, *notes]
    return fields


TOOL: Tool[GlobArguments] = Tool(
    name="Glob",
    family="claude_code",
    title="Find files by name",
    describe=lambda _: DESCRIPTION,
    arguments=GlobArguments,
    output=GlobOutput,
    operations=operations,
    reply=reply,
    idempotent=True,
    failure_path="file_path",
)
