"""MultiEdit: several replacements in one file, in order, all or none."""

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
    "Replace several texts in one file. The edits go in order, each on what the one before left; if one fails none "
    "is written."
)


class OneEdit(Arguments):
    """One replacement."""

    old_string: str
    new_string: str
    replace_all: bool = False


class MultiEditArguments(Arguments):
    """What MultiEdit takes."""

    file_path: str = Field(description="Absolute path.")
    edits: list[OneEdit] = Field(min_length=1)


class MultiEditOutput(ChangeOutput):
    """Kind `edited`, or a failure."""

    edits_applied: int | None = None
    replacements: int | None = None
    recovered_via_crlf: bool | None = None
    recovered_via_quotes: bool | None = None


def operations(args: MultiEditArguments, context: Context) -> Sequence[op.Edit]:
    """One edit of many anchors."""
    replacements = tuple(
        op.Replacement(old=edit.old_string, new=edit.new_string, everywhere=edit.replace_all) for edit in args.edits
    )
    path = absolute(args.file_path, "file_path", context)
    return [op.Edit(path=path, replacements=replacements, semantics="in_order", freshness=guard(context))]


def reply(args: MultiEditArguments, outcomes: Sequence[Outcome], context: Context) -> Reply:
    """How many edits were made, and how often text was replaced."""
    (outcome,) = outcomes
    answer = outcome.answer
    if outcome.error is not None or not isinstance(answer, Changed):
        error = outcome.error or InternalError("internal_error", "The edit gave no answer.")
        return failed(TOOL, error, path=args.file_path)
    fields = {
        "kind": "edited",
        "file_path": shown(answer.path.text),
        "edits_applied": len(args.edits),
        "replacements": answer.replacements,
        "recovered_via_crlf": answer.recovered_via_crlf,
        "recovered_via_quotes": answer.recovered_via_quotes,
    }
    return answered(MultiEditOutput, fields | record(outcome, answer, context))


TOOL: Tool[MultiEditArguments] = Tool(
    name="MultiEdit",
    family="claude_code",
    title="Replace several texts in a file",
    describe=lambda _: DESCRIPTION,
    arguments=MultiEditArguments,
    output=MultiEditOutput,
    operations=operations,
    reply=reply,
    group="@write",
    read_only=False,
    destructive=True,
    failure_path="file_path",
    read_call="Read",
)
