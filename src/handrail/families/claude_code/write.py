"""Write: the whole content of one file, into a directory that exists."""

from collections.abc import Sequence

from pydantic import Field

from handrail.core.arguments import Arguments
from handrail.core.tool import Context, Outcome, Reply, Tool
from handrail.families.claude_code.faces import ChangeOutput, absolute, answered, guard, record
from handrail.families.render import failed
from handrail.model import operations as op
from handrail.model.answers import Changed
from handrail.model.errors import InternalError
from handrail.model.paths import shown

DESCRIPTION = (
    "Write a file, replacing what is there. The directory must exist; a symbolic link is refused. To change parts of "
    "a file use Edit."
)


class WriteArguments(Arguments):
    """What Write takes."""

    file_path: str = Field(description="Absolute path.")
    content: str


class WriteOutput(ChangeOutput):
    """Kind `written`, or a failure."""

    bytes_written: int | None = None


def operations(args: WriteArguments, context: Context) -> Sequence[op.Write]:
    """One write that makes no directory and follows no link."""
    path = absolute(args.file_path, "file_path", context)
    return [op.Write(path=path, content=args.content, parents=False, through_links=False, freshness=guard(context))]


def reply(args: WriteArguments, outcomes: Sequence[Outcome], context: Context) -> Reply:
    """What was written."""
    (outcome,) = outcomes
    answer = outcome.answer
    if outcome.error is not None or not isinstance(answer, Changed):
        error = outcome.error or InternalError("internal_error", "The write gave no answer.")
        return failed(TOOL, error, path=args.file_path)
    fields = {"kind": "written", "file_path": shown(answer.path.text), "bytes_written": answer.bytes_written}
    return answered(WriteOutput, fields | record(outcome, answer, context))


TOOL: Tool[WriteArguments] = Tool(
    name="Write",
    family="claude_code",
    title="Write a file",
    describe=lambda _: DESCRIPTION,
    arguments=WriteArguments,
    output=WriteOutput,
    operations=operations,
    reply=reply,
    group="@write",
    read_only=False,
    destructive=True,
    idempotent=True,
    failure_path="file_path",
    read_call="Read",
)
