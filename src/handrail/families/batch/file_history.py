"""file_history: what was recorded of files, and how it differs from what is on the disk now."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from handrail.core.arguments import Arguments
from handrail.core.tool import Context, Outcome, Reply, Tool
from handrail.families.batch.history_text import rerender
from handrail.families.batch.names import base, shortened, spelled
from handrail.families.batch.tasks import meant
from handrail.families.batch.times import moment
from handrail.families.render import Part, Payload, clean, failed, failure, local_time, made
from handrail.model.answers import Compared, ReadText, Versions
from handrail.model.errors import HandrailError, InternalError, InvalidCall
from handrail.model.files import FileState, LinkState, State
from handrail.model.operations import Compare, History
from handrail.model.paths import shown
from handrail.model.records import Version

DESCRIPTION = """Look back: what the tools changed, when, for which task, and what it was before.
- list: versions, newest first, by path (a file or a directory), task_id ("current": the running one), from and to \
(local time, 2026-08-13 15:04). limit is 24 at most.
- read (paths): each file's newest version, or version, against the disk, as a diff; with version its content too.
edit_file mode="restore" puts a version back or undoes a task."""

MOST = 24


class FileHistoryArguments(Arguments):
    """What file_history takes."""

    mode: Literal["list", "read"] | None = Field(default=None, description="read when paths are given, else list.")
    path: str | None = None
    paths: list[str] | None = None
    task_id: str | None = None
    from_: str | None = Field(default=None, alias="from")
    to: str | None = None
    limit: int = Field(default=3, ge=1)
    version: int | None = Field(default=None, ge=1)


class RecordedVersion(Part):
    """One recorded state of one path."""

    version: int
    path: str
    action: str
    type: str
    size: int | None = None
    hash: str | None = None
    tool: str
    session: str
    task: str | None = Field(default=None, json_schema_extra={"nullable": True})
    objective: str | None = Field(default=None, json_schema_extra={"nullable": True})
    changed_at: str
    restorable: bool
    why_not: str | None = None


class Comparison(Part):
    """A version against the disk."""

    path: str | None = None
    kind: str
    version: int | None = None
    changed_at: str | None = None
    said: str | None = Field(
        default=None,
        description="Beside or in place of a diff: identical, missing, binary, directory, too_large, pruned.",
    )
    diff: str | None = None
    content: str | None = Field(default=None, description="The version's rows, as read_files shows them.")
    total: int | None = None
    first: int | None = None
    last: int | None = None
    next_offset: int | None = None
    error: str | None = None
    hint: str | None = None
    retryable: bool | None = None


class FileHistoryOutput(Payload):
    """Kinds: `versions`, `comparisons`, or a failure."""

    path: str | None = None
    versions: list[RecordedVersion] | None = None
    more: int | None = Field(default=None, description="How many further versions there are.")
    at_least: bool | None = Field(default=None, description="True where more is a lower bound.")
    files: list[Comparison] | None = None


def operations(args: FileHistoryArguments, context: Context) -> Sequence[History | Compare]:
    """One listing, or one comparison a path."""
    mode = args.mode or ("read" if args.paths else "list")
    if mode == "read":
        return _comparisons(args)
    if args.paths:
        raise _refused("paths", "paths goes with mode=read.", "For a list say path: a file, or a directory.")
    if args.version is not None:
        raise _refused("version", "version goes with mode=read.", 'Call again with mode="read".')
    return [
        History(
            under=args.path or None,
            task=meant(args.task_id, context) if args.task_id else None,
            since=moment("from", args.from_, last=False) if args.from_ else None,
            until=moment("to", args.to, last=True) if args.to else None,
            limit=min(args.limit, MOST),
        )
    ]


def _comparisons(args: FileHistoryArguments) -> Sequence[Compare]:
    paths: list[str | None] = [*(args.paths or ())]
    if args.path:
        paths.insert(0, args.path)
    if not paths and args.version is not None:
        paths = [None]
    if not paths:
        raise _refused("paths", "mode=read needs paths or a version.", "Say which files to compare with the disk.")
    return [Compare(path=path, version=args.version) for path in paths]


def _refused(field: str, message: str, hint: str) -> InvalidCall:
    return InvalidCall("invalid_arguments", message, hint=hint, facts={"field": field})


def reply(args: FileHistoryArguments, outcomes: Sequence[Outcome], context: Context) -> Reply:
    """The versions, or what differs now."""
    first = outcomes[0]
    asked = [path for path in (args.path, *(args.paths or ())) if path]
    root = base(context.roots, asked)
    if isinstance(first.operation, History):
        if first.error is not None or not isinstance(first.answer, Versions):
            return failed(TOOL, first.error or _nothing())
        fields: dict[str, Any] = {
            "kind": "versions",
            "versions": [_version(version, root) for version in first.answer.versions],
            "more": first.answer.more,
        }
        if first.answer.at_least:
            fields["at_least"] = True
        return Reply(made(FileHistoryOutput, fields), rerender(fields))
    files = [_comparison(outcome, root) for outcome in outcomes]
    failures = [file for file in files if file.get("error") is not None]
    if len(failures) == len(files):
        if len(files) == 1:
            return failed(TOOL, first.error or _nothing(), path=asked[0] if asked else None)
        fields = {**failures[0], "files": files}
        return Reply(made(FileHistoryOutput, fields), rerender(fields), ok=False)
    fields = {"kind": "comparisons", "files": files}
    return Reply(made(FileHistoryOutput, fields), rerender(fields))


def _version(version: Version, root: str | None) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "version": version.id,
        "path": spelled(version.path, root),
        "action": version.action,
        "type": version.state.kind,
        **_state(version.state),
        "tool": clean(version.tool),
        "session": clean(shown(version.session)),
        "task": version.task,
        "objective": None if version.objective is None else clean(version.objective),
        "changed_at": local_time(version.time_ns),
        "restorable": version.restorable,
    }
    return fields if version.restorable else {**fields, "why_not": clean(version.why_not)}


def _state(state: State) -> dict[str, Any]:
    if isinstance(state, FileState):
        return {"size": state.content.size, "hash": state.content.hash}
    if isinstance(state, LinkState) or state.kind == "absent":
        return {}
    return {"size": state.size}


def _comparison(outcome: Outcome, root: str | None) -> dict[str, Any]:
    answer = outcome.answer
    if outcome.error is not None or not isinstance(answer, Compared):
        asked = getattr(outcome.operation, "path", None)
        failed_with = failure(outcome.error or _nothing(), path=asked)
        return {**failed_with, "path": shortened(failed_with["path"], root)} if "path" in failed_with else failed_with
    fields: dict[str, Any] = {"path": spelled(answer.path, root), "kind": "comparison"}
    if answer.version is not None:
        fields |= {"version": answer.version.id, "changed_at": local_time(answer.version.time_ns)}
    if answer.said:
        fields["said"] = answer.said
    if answer.diff:
        fields["diff"] = clean(answer.diff)
    if isinstance(answer.content, ReadText):
        fields |= _content(answer.content)
    return fields


def _content(content: ReadText) -> dict[str, Any]:
    rows = ["..." if row.row is None else f"{row.row}\t{row.text}" for row in content.rows]
    fields: dict[str, Any] = {
        "content": clean("\n".join(rows)),
        "total": content.total,
        "first": content.first,
        "last": content.last,
    }
    return fields if content.next_offset is None else {**fields, "next_offset": content.next_offset}


def _nothing() -> HandrailError:
    return InternalError("internal_error", "The history gave no answer.")


TOOL: Tool[FileHistoryArguments] = Tool(
    name="file_history",
    family="batch",
    title="Look back at files",
    describe=lambda _: DESCRIPTION,
    arguments=FileHistoryArguments,
    output=FileHistoryOutput,
    operations=operations,
    reply=reply,
    rerender=rerender,
    idempotent=True,
)
