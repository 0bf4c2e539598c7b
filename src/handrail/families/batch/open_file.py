"""open_file: show a file to the person, with the program that the system opens it with."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from handrail.core.arguments import Arguments
from handrail.core.tool import Context, Outcome, Reply, Tool
from handrail.families.batch.names import base, spelled
from handrail.families.render import Payload, clean, failed, failure_text, made
from handrail.model.answers import Opened
from handrail.model.calls import Block, TextBlock
from handrail.model.errors import InternalError, InvalidCall
from handrail.model.operations import Open

DESCRIPTION = (
    "Open a file for the person with the system's default application: a video, a picture, a PDF, a page. "
    "It shows you nothing; to see content use read_files."
)


class OpenFileArguments(Arguments):
    """What open_file takes."""

    path: str


class OpenFileOutput(Payload):
    """Kind `opened`, or a failure."""

    path: str | None = None
    program: str | None = Field(default=None, description="What it was handed to.")


def operations(args: OpenFileArguments, _context: Context) -> Sequence[Open]:
    """One launch."""
    if not args.path.strip():
        raise InvalidCall("invalid_arguments", "`path` is blank.", hint="Say which file.", facts={"field": "path"})
    return [Open(path=args.path)]


def reply(args: OpenFileArguments, outcomes: Sequence[Outcome], context: Context) -> Reply:
    """Which program has it now."""
    (outcome,) = outcomes
    if outcome.error is not None or not isinstance(outcome.answer, Opened):
        error = outcome.error or InternalError("internal_error", "The launch gave no answer.")
        return failed(TOOL, error, path=args.path)
    path = spelled(outcome.answer.path.text, base(context.roots, [args.path]))
    fields = {"kind": "opened", "path": path, "program": clean(outcome.answer.program)}
    return Reply(made(OpenFileOutput, fields), rerender(fields))


def rerender(fields: Mapping[str, object]) -> tuple[Block, ...]:
    """The text for a payload."""
    if fields.get("error") is not None:
        return (TextBlock(failure_text(fields)),)
    program = f" with {fields['program']}" if fields.get("program") else ""
    return (TextBlock(f"opened {fields.get('path')}{program}"),)


TOOL: Tool[OpenFileArguments] = Tool(
    name="open_file",
    family="batch",
    title="Open a file for the person",
    describe=lambda _: DESCRIPTION,
    arguments=OpenFileArguments,
    output=OpenFileOutput,
    operations=operations,
    reply=reply,
    rerender=rerender,
    group="@write",
    read_only=False,
)
