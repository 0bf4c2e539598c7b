"""read_files: what many files say, numbered row by row, page by page; one that fails leaves the others alone."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from handrail.core.arguments import Arguments
from handrail.core.tool import Context, Outcome, Reply, Tool
from handrail.families.batch.names import base, shortened, spelled
from handrail.families.batch.read_text import render
from handrail.families.render import Part, Payload, clean, failure, made
from handrail.model.answers import ReadAnswer, ReadBinary, ReadImage, ReadText
from handrail.model.calls import Block, ImageBlock, TextBlock
from handrail.model.errors import HandrailError, InternalError
from handrail.model.operations import Read

DESCRIPTION = """Read one or many files. Rows come as `<row>\\t<line>`; row and tab are not in the file, leave them \
out of edit_file anchors. A read must come before edit_file changes an existing file.
A cut answer ends with the offset to call again with. offset below 0 counts from the end. around=[12, 400] reads \
context rows on both sides of each row instead. A line over 2000 characters is cut; column reads on inside it. \
encoding overrides detection."""

ROWS = 2048
"""Rows of a file when no limit is given."""


def _named(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class File(Arguments):
    """One file, or a part of it."""

    path: str
    offset: int = Field(default=1, description="First row, from 1.")
    limit: int | None = Field(default=None, ge=1, description="Rows; 2048 when omitted.")
    around: list[Annotated[int, Field(ge=1)]] | None = None
    context: int = Field(default=20, ge=0)
    column: int | None = Field(default=None, ge=1)
    sheet: Annotated[str, BeforeValidator(_named)] | None = None
    encoding: str | None = None


class ReadFilesArguments(Arguments):
    """What read_files takes."""

    files: list[File] = Field(min_length=1, max_length=100)


class FileRead(Part):
    """What one file says (kind `text`, `binary`, `image`), or why it couldn't be read."""

    path: str
    kind: str
    text: str | None = Field(default=None, description="The rows, each `<row>\\t<line>`; `...` where text is left out.")
    total: int | None = Field(default=None, description="Rows (or pages, slides) of the whole file.")
    exact: bool | None = Field(default=None, description="False where total is a lower bound.")
    first: int | None = None
    last: int | None = None
    next_offset: int | None = None
    unit: str | None = None
    file_kind: str | None = None
    missing_rows: list[int] | None = Field(default=None, description="Rows of around past the end.")
    next_column: int | None = Field(default=None, description="Where the only row shown, which is cut, goes on.")
    encoding: str | None = None
    encoding_confidence: float | None = None
    bom: bool | None = None
    line_end: str | None = None
    final_newline: bool | None = None
    hash: str | None = Field(default=None, description="SHA-256 of the file's bytes, for expected_hash.")
    size: int | None = None
    media_type: str | None = None
    width: int | None = None
    height: int | None = None
    original_width: int | None = None
    original_height: int | None = None
    notes: list[str] | None = None
    error: str | None = None
    hint: str | None = None
    retryable: bool | None = None


class ReadFilesOutput(Payload):
    """Kind `files`; when every file failed, the first one's failure."""

    path: str | None = None
    files: list[FileRead] | None = None


def operations(args: ReadFilesArguments, _context: Context) -> Sequence[Read]:
    """One read a file."""
    return [
        Read(
            path=file.path,
            offset=file.offset or 1,
            limit=file.limit,
            around=tuple(file.around) if file.around else None,
            context=file.context,
            column=file.column,
            sheet=file.sheet or None,
            encoding=file.encoding or None,
            max_rows=file.limit or ROWS,
        )
        for file in args.files
    ]


def reply(args: ReadFilesArguments, outcomes: Sequence[Outcome], context: Context) -> Reply:
    """Every file's answer, those of one path joined."""
    files: list[dict[str, Any]] = []
    images: list[Block] = []
    joined: dict[tuple[str, str], dict[str, Any]] = {}
    for file, outcome in zip(args.files, outcomes, strict=True):
        root = base(context.roots, [file.path])
        fields = _one(file, outcome, root)
        before = joined.get((fields["path"], fields["kind"])) if fields["kind"] == "text" else None
        if before is None:
            files.append(fields)
            joined[fields["path"], fields["kind"]] = fields
        else:
            _join(before, fields)
        if isinstance(outcome.answer, ReadImage):
            images.append(ImageBlock(outcome.answer.data, outcome.answer.media_type))
    ok = any(file["kind"] in ("text", "image") for file in files)
    payload: dict[str, Any] = {"kind": "files", "files": files}
    if not ok:
        payload = {**_failure(files), "files": files}
    return Reply(made(ReadFilesOutput, payload), (*rerender(payload), *images), ok=ok)


def _failure(files: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The first file's failure speaks for all; a binary is said as one."""
    first = files[0]
    what = first.get("error") or f"{first['path']} is binary ({first['media_type']}); it has no text to show."
    hint = first.get("hint") or "Open it for the person with open_file, or read another file."
    return {
        "kind": first["kind"],
        "error": what,
        "hint": hint,
        "retryable": first.get("retryable", False),
        "path": first["path"],
    }


def _one(file: File, outcome: Outcome, root: str | None) -> dict[str, Any]:
    answer = outcome.answer
    if outcome.error is not None or not isinstance(answer, (ReadText, ReadBinary, ReadImage)):
        return _failed(file, outcome.error or InternalError("internal_error", "The read gave no answer."), root)
    fields = _fields(answer, root)
    notes = [*getattr(answer, "notes", ()), *(note for note in outcome.notes if note != "loop")]
    if notes:
        fields["notes"] = [clean(note) for note in notes]
    return fields


def _failed(file: File, error: HandrailError, root: str | None) -> dict[str, Any]:
    fields = failure(error, path=file.path)
    return {"path": shortened(fields.pop("path"), root), **fields}


def _fields(answer: ReadAnswer, root: str | None) -> dict[str, Any]:
    facts: dict[str, Any] = {"path": spelled(answer.path.text, root), "kind": answer.kind}
    end: dict[str, Any] = {"hash": answer.hash, "size": answer.size}
    if isinstance(answer, ReadBinary):
        return {**facts, "media_type": answer.media_type, **end}
    if isinstance(answer, ReadImage):
        sizes = {name: getattr(answer, name) for name in ("width", "height", "original_width", "original_height")}
        return {**facts, "media_type": answer.media_type, **sizes, **end}
    facts |= {"text": _text(answer), "total": answer.total, "exact": answer.exact}
    facts |= {"first": answer.first, "last": answer.last}
    if answer.next_offset is not None:
        facts["next_offset"] = answer.next_offset
    if answer.unit != "line" or answer.file_kind != "text":
        facts |= {"unit": answer.unit, "file_kind": answer.file_kind}
    if answer.missing_rows:
        facts["missing_rows"] = list(answer.missing_rows)
    if len(answer.rows) == 1 and answer.rows[0].cut:
        facts["next_column"] = (answer.column or 1) + len(answer.rows[0].text.removesuffix("…"))
    return {**facts, **_form(answer), **end}


def _form(answer: ReadText) -> dict[str, Any]:
    fields: dict[str, Any] = {"encoding": answer.encoding}
    if answer.encoding_confidence < 1:
        fields["encoding_confidence"] = round(answer.encoding_confidence, 3)
    return {**fields, "bom": answer.bom, "line_end": answer.line_end, "final_newline": answer.final_newline}


def _text(answer: ReadText) -> str:
    rows = []
    for row in answer.rows:
        if row.row is None:
            rows.append("...")
        else:
            rows.append(f"{row.row}\t{row.text}" + (" [cut]" if row.cut else ""))
    return clean("\n".join(rows))


def _join(before: dict[str, Any], fields: Mapping[str, Any]) -> None:
    """Put a later part of the same file behind an earlier one."""
    texts = [text for text in (before["text"], fields["text"]) if text]
    follows = bool(texts) and before["last"] + 1 == fields["first"]
    before["text"] = ("\n" if follows else "\n...\n").join(texts)
    for name in ("next_offset", "next_column"):
        before.pop(name, None)
    for name in ("last", "next_offset", "total", "exact", "hash", "size"):
        if name in fields:
            before[name] = fields[name]
    for name in ("notes", "missing_rows"):
        if fields.get(name):
            before[name] = [*before.get(name, ()), *fields[name]]


def rerender(fields: Mapping[str, object]) -> tuple[Block, ...]:
    """The text for a payload."""
    return (TextBlock(render(fields)),)


TOOL: Tool[ReadFilesArguments] = Tool(
    name="read_files",
    family="batch",
    title="Read files",
    describe=lambda _: DESCRIPTION,
    arguments=ReadFilesArguments,
    output=ReadFilesOutput,
    operations=operations,
    reply=reply,
    rerender=rerender,
    idempotent=True,
)
