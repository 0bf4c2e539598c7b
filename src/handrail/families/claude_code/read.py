"""Read: one file with numbered lines, as Claude Code shows it."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from handrail.core.arguments import Arguments
from handrail.core.tool import Context, Outcome, Reply, Tool
from handrail.families.claude_code.faces import absolute, answered
from handrail.families.render import Payload, clean, failed, made
from handrail.model import operations as op
from handrail.model.answers import ReadBinary, ReadImage, ReadText
from handrail.model.calls import ImageBlock, TextBlock
from handrail.model.errors import InternalError
from handrail.model.paths import shown

DESCRIPTION = (
    "Read a file by its absolute path. Lines come numbered, as `cat -n` shows them; number and arrow are not in the "
    "file. Up to 2000 lines from offset; a cut answer says the next offset. pages is for PDF alone."
)
ANSWERS: Final = frozenset({"binary", "not_found", "permission_denied", "too_large", "not_regular_file", "path_denied"})
"""Failures that are ordinary answers of this tool."""
REMINDER = "The same read came three times with no change in between: the file is as shown above."


def _named(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class ReadArguments(Arguments):
    """What Read takes."""

    file_path: str = Field(description="Absolute path.")
    offset: int = Field(default=1, ge=0, description="First line, from 1.")
    limit: int = Field(default=2000, ge=1, description="Most lines.")
    pages: Annotated[str, BeforeValidator(_named)] | None = Field(default=None, description='PDF pages: "1-5", "3".')


class ReadOutput(Payload):
    """Kinds: `text`, `binary`, `image`, or a failure."""

    file_path: str | None = None
    content: str | None = Field(default=None, description="Numbered lines.")
    total_lines: int | None = None
    start_line: int | None = None
    rendered_lines: int | None = None
    truncated: bool | None = None
    next_offset: int | None = None
    continuation_hint: str | None = None
    encoding: str | None = None
    notes: list[str] | None = None
    loop_warning: str | None = None
    bytes: int | None = None
    max_bytes: int | None = None
    media_type: str | None = None
    base64: str | None = None
    width: int | None = None
    height: int | None = None
    format: str | None = None
    original_width: int | None = None
    original_height: int | None = None
    was_resized: bool | None = None


def operations(args: ReadArguments, context: Context) -> Sequence[op.Read]:
    """One read within the family's caps."""
    settings = context.config.tools.fs
    return [
        op.Read(
            path=absolute(args.file_path, "file_path", context),
            offset=args.offset or 1,
            limit=args.limit,
            pages=args.pages or None,
            max_rows=args.limit,
            max_text=cap(settings.context_window_tokens),
            max_file_bytes=settings.max_read_bytes,
            raw_bytes=settings.binary_policy == "base64",
        )
    ]


def cap(tokens: int | None) -> int:
    """Most bytes of text in one answer: a fifth of the model's window at four bytes a token, within bounds."""
    if tokens is None:
        return 256 * 1024
    return max(50 * 1024, min(tokens * 4 * 20 // 100, 512 * 1024))


def reply(args: ReadArguments, outcomes: Sequence[Outcome], _context: Context) -> Reply:
    """The lines, or what the file is instead."""
    (outcome,) = outcomes
    answer = outcome.answer
    if isinstance(answer, ReadText) and outcome.error is None:
        return _text(answer, outcome.notes)
    if isinstance(answer, ReadBinary) and outcome.error is None:
        return _binary(answer, outcome.notes)
    if isinstance(answer, ReadImage) and outcome.error is None:
        return _image(answer)
    error = outcome.error or InternalError("internal_error", "The read gave no answer.")
    return failed(TOOL, error, path=args.file_path)


def _text(answer: ReadText, notes: Sequence[str]) -> Reply:
    rows = [row for row in answer.rows if row.row is not None]
    content = clean("\n".join(f"{row.row:>6}→{row.text}{_ellipsis(row.text) if row.cut else ''}" for row in rows))
    truncated = answer.next_offset is not None
    fields: dict[str, Any] = {
        "kind": "text",
        "file_path": shown(answer.path.text),
        "content": content,
        "total_lines": answer.total,
        "start_line": answer.first,
        "rendered_lines": len(rows),
        "truncated": truncated,
        "encoding": answer.encoding,
    }
    if truncated:
        fields["next_offset"] = answer.next_offset
        fields["continuation_hint"] = f"Read again with offset={answer.next_offset} for more."
    if answer.notes:
        fields["notes"] = [clean(note) for note in answer.notes]
    if "loop" in notes:
        fields["loop_warning"] = REMINDER
    text = content + ("\n" if content else "") + _facts(fields)
    return Reply(made(ReadOutput, fields), (TextBlock(text),))


def _ellipsis(text: str) -> str:
    return "" if text.endswith("…") else "…"


def _facts(fields: dict[str, Any]) -> str:
    """One line of facts behind the content."""
    shown_lines, total = fields["rendered_lines"], fields["total_lines"]
    last = fields["start_line"] + shown_lines - 1
    facts = [f"lines {fields['start_line']}-{last} of {total}" if shown_lines else f"no lines of {total}"]
    if fields["truncated"]:
        facts.append(fields["continuation_hint"].rstrip("."))
    if fields["encoding"] not in ("utf-8", "ascii"):
        facts.append(f"encoding {fields['encoding']}")
    facts += [note.rstrip(".") for note in fields.get("notes", ())]
    if "loop_warning" in fields:
        facts.append(fields["loop_warning"].rstrip("."))
    return f"[{'; '.join(facts)}]"


def _binary(answer: ReadBinary, notes: Sequence[str]) -> Reply:
    fields: dict[str, Any] = {
        "kind": "binary",
        "file_path": shown(answer.path.text),
        "bytes": answer.size,
        "media_type": answer.media_type,
    }
    if "loop" in notes:
        fields["loop_warning"] = REMINDER
    if answer.data is None:
        said = {"error": f"The file is binary ({answer.media_type}).", "hint": "It has no text to show."}
        return answered(ReadOutput, {**fields, **said, "retryable": False}, ok=False)
    import base64

    return answered(ReadOutput, {**fields, "base64": base64.b64encode(answer.data).decode("ascii")})


def _image(answer: ReadImage) -> Reply:
    fields = {
        "kind": "image",
        "file_path": shown(answer.path.text),
        "width": answer.width,
        "height": answer.height,
        "format": answer.media_type.removeprefix("image/"),
        "original_width": answer.original_width,
        "original_height": answer.original_height,
        "was_resized": (answer.width, answer.height) != (answer.original_width, answer.original_height),
        "bytes": answer.size,
    }
    told = answered(ReadOutput, fields)
    return Reply(told.payload, (*told.blocks, ImageBlock(answer.data, answer.media_type)))


TOOL: Tool[ReadArguments] = Tool(
    name="Read",
    family="claude_code",
    title="Read a file",
    describe=lambda _: DESCRIPTION,
    arguments=ReadArguments,
    output=ReadOutput,
    operations=operations,
    reply=reply,
    answered=ANSWERS,
    counts_repeats=True,
    idempotent=True,
    failure_path="file_path",
)
