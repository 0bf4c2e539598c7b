"""Edit: one exact replacement in one file."""

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
    "Replace text in a file, exactly. old_string must occur once, unless replace_all=true; leave out the line numbers "
    "that Read shows."
)


class EditArguments(Arguments):
    """What Edit takes."""

    file_path: str = Field(description="Absolute path.")
    old_string: str
    new_string: str
    replace_all: bool = False


class EditOutput(ChangeOutput):
    """Kind `edited`, or a failure."""

    replacements: int | None = None
    replace_all: bool | None = None
    recovered_via_crlf: bool | None = None
    recovered_via_quotes: bool | None = None


def operations(args: EditArguments, context: Context) -> Sequence[op.Edit]:
    """One edit of one anchor."""
    replacement = op.Replacement(old=args.old_string, new=args.new_string, everywhere=args.replace_all)
    path = absolute(args.file_path, "file_path", context)
    return [op.Edit(path=path, replacements=(replacement,), semantics="in_order", freshness=guard(context))]


def reply(args: EditArguments, outcomes: Sequence[Outcome], context: Context) -> Reply:
    """How often it was replaced."""
    (outcome,) = outcomes
    answer = outcome.answer
    if outcome.error is not None or not isinstance(answer, Changed):
        error = outcome.error or InternalError("internal_error", "The edit gave no answer.")
        return failed(TOOL, error, path=args.file_path)
    fields = {
        "kind": "edited",
        "file_path": shown(answer.path.text),
        "replacements": answer.replacements,
        "replace_all": args.replace_all,
        "recovered_via_crlf": answer.recovered_via_crlf,
        "recovered_via_quotes": answer.recovered_via_quotes,
    }
    return answered(EditOutput, fields | record(outcome, answer, context))


TOOL: Tool[EditArguments] = Tool(
    name="Edit",
    family="claude_code",
    title="Replace text in a file",
    describe=lambda _: DESCRIPTION,
    arguments=EditArguments,
    output=EditOutput,
    operations=operations,
    reply=reply,
    group="@write",
    read_only=False,
    destructive=True,
    failure_path="file_path",
    read_call="Read",
)
