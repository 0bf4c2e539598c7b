"""checkpoints_list and checkpoint_restore: the history's versions, as states to go back to."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from handrail.core.arguments import Arguments
from handrail.core.tool import Context, Outcome, Reply, Tool
from handrail.families.claude_code.faces import answered, receipt_of
from handrail.families.claude_code.identifiers import Checkpoint, read, spelled
from handrail.families.render import Part, Payload, clean, failed, local_time
from handrail.model.answers import Changed, Versions
from handrail.model.errors import InternalError, NotThere
from handrail.model.operations import History, Remove, Restore
from handrail.model.paths import shown
from handrail.model.records import Version

LIST = "List states of files from before changes, newest first, to go back to with checkpoint_restore."
RESTORE = (
    "Put a file back to a checkpoint: an id from checkpoints_list, or checkpoint_id of a change. A file that the "
    "change made is removed. It can be undone itself."
)


class CheckpointsListArguments(Arguments):
    """What checkpoints_list takes."""

    limit: int = Field(default=20, ge=1, le=100)
    path_contains: str | None = Field(default=None, description="Only paths that hold this text.")


class CheckpointRestoreArguments(Arguments):
    """What checkpoint_restore takes."""

    id: str


class ListedCheckpoint(Part):
    """One state to go back to."""

    id: str
    createdAt: str  # noqa: N815 -- the family's own spelling
    reason: str
    sourcePath: str  # noqa: N815
    sourceKind: str  # noqa: N815
    existed: bool


class CheckpointsListOutput(Payload):
    """Kind `checkpoints`, or a failure."""

    file_path: str | None = None
    count: int | None = None
    more: int | None = None
    checkpoints: list[ListedCheckpoint] | None = None


class CheckpointRestoreOutput(Payload):
    """Kind `restored`, or a failure."""

    file_path: str | None = None
    version: int | None = Field(default=None, json_schema_extra={"nullable": True})
    existed: bool | None = Field(default=None, description="False: nothing was there before, so nothing is now.")
    task: str | None = None
    unchanged: bool | None = None


def list_operations(args: CheckpointsListArguments, _context: Context) -> Sequence[History]:
    """One listing of what was there before changes."""
    return [History(contains=args.path_contains or None, limit=args.limit, before_mutations=True)]


def list_reply(_args: CheckpointsListArguments, outcomes: Sequence[Outcome], context: Context) -> Reply:
    """The checkpoints, newest first."""
    (outcome,) = outcomes
    if outcome.error is not None or not isinstance(outcome.answer, Versions):
        return failed(LIST_TOOL, outcome.error or InternalError("internal_error", "The history gave no answer."))
    listed = [_listed(version, context) for version in outcome.answer.versions]
    fields: dict[str, Any] = {"kind": "checkpoints", "count": len(listed)}
    if outcome.answer.more:
        fields["more"] = outcome.answer.more
    return answered(CheckpointsListOutput, {**fields, "checkpoints": listed})


def _listed(version: Version, context: Context) -> dict[str, Any]:
    """A state before a change; the nothing before a creation comes under the number of what was created."""
    recorded = context.records.version(version.id)
    existed = version.state.kind != "absent"
    created = not existed and recorded is not None and recorded.state.kind != "absent"
    kind = recorded.state.kind if created and recorded is not None else version.state.kind
    return {
        "id": spelled(Checkpoint(version.id, created=created)),
        "createdAt": local_time(version.time_ns),
        "reason": f"before {version.action}" + (f" by {clean(version.tool)}" if version.tool else ""),
        "sourcePath": shown(version.path),
        "sourceKind": kind,
        "existed": existed,
    }


def restore_operations(args: CheckpointRestoreArguments, context: Context) -> Sequence[Restore | Remove]:
    """One restore; where nothing was there before, the removal of what was created."""
    checkpoint = read(args.id)
    version = context.records.version(checkpoint.version) if checkpoint is not None else None
    if checkpoint is None or version is None:
        raise NotThere(
            "version_not_found",
            f'There is no checkpoint "{clean(shown(args.id[:60]))}".',
            hint="checkpoints_list has the ids.",
        )
    if checkpoint.created:
        return [Remove(path=version.path)]
    return [Restore(version=checkpoint.version)]


def restore_reply(args: CheckpointRestoreArguments, outcomes: Sequence[Outcome], context: Context) -> Reply:
    """What stands at the path now."""
    (outcome,) = outcomes
    answer = outcome.answer
    if outcome.error is not None or not isinstance(answer, Changed):
        error = outcome.error or InternalError("internal_error", "The restore gave no answer.")
        return failed(RESTORE_TOOL, error)
    own = receipt_of(outcome, answer)
    checkpoint = read(args.id)
    version = context.records.version(checkpoint.version) if checkpoint is not None else None
    existed = (
        checkpoint is not None and not checkpoint.created and version is not None and version.state.kind != "absent"
    )
    fields: dict[str, Any] = {
        "kind": "restored",
        "file_path": shown(answer.path.text),
        "version": own.version if own is not None else None,
        "existed": existed,
    }
    if own is not None and own.task is not None:
        fields["task"] = own.task
    return answered(CheckpointRestoreOutput, {**fields, "unchanged": True} if answer.unchanged else fields)


LIST_TOOL: Tool[CheckpointsListArguments] = Tool(
    name="checkpoints_list",
    family="claude_code",
    title="List checkpoints",
    describe=lambda _: LIST,
    arguments=CheckpointsListArguments,
    output=CheckpointsListOutput,
    operations=list_operations,
    reply=list_reply,
    idempotent=True,
    failure_path="file_path",
)
RESTORE_TOOL: Tool[CheckpointRestoreArguments] = Tool(
    name="checkpoint_restore",
    family="claude_code",
    title="Go back to a checkpoint",
    describe=lambda _: RESTORE,
    arguments=CheckpointRestoreArguments,
    output=CheckpointRestoreOutput,
    operations=restore_operations,
    reply=restore_reply,
    group="@write",
    read_only=False,
    destructive=True,
    failure_path="file_path",
)
