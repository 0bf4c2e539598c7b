"""What the tools of this family share: absolute paths only, payloads as compact JSON, the guard that is configured."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from handrail.core.tool import Context, Outcome, Reply
from handrail.families.claude_code.identifiers import of_receipt
from handrail.families.render import Payload, clean, compact, made, tidy
from handrail.model.answers import Changed
from handrail.model.calls import TextBlock
from handrail.model.changes import Freshness
from handrail.model.errors import InvalidCall
from handrail.model.paths import shown
from handrail.model.records import Receipt


class ChangeOutput(Payload):
    """What the payloads of Write, Edit and MultiEdit share."""

    file_path: str | None = None
    checkpoint_id: str | None = Field(
        default=None, description="The state before, for checkpoint_restore.", json_schema_extra={"nullable": True}
    )
    version: int | None = None
    task: str | None = None
    warnings: list[str] | None = None


def absolute(path: str, field: str, context: Context) -> str:
    """The path, if it is absolute; raises `InvalidCall` naming the field and how the path would be written."""
    if path.startswith("/"):
        return path
    if not path.strip():
        message, hint = f"`{field}` is blank.", "Give an absolute path."
    else:
        message = f'`{field}` wants an absolute path; got "{clean(shown(path[:200]))}".'
        root = context.roots[0].rstrip("/") if context.roots else ""
        tail = path.removeprefix("./")
        known = bool(root) and not path.startswith("~")
        hint = f"In this workspace it would be {shown(f'{root}/{tail[:200]}')}." if known else "Begin it with a slash."
    raise InvalidCall("invalid_arguments", message, hint=clean(hint), facts={"field": field, "got": clean(path[:200])})


def place(path: str | None, context: Context) -> str:
    """Where to search: the path given, else the first root; raises `InvalidCall` where there is neither."""
    if path:
        return absolute(path, "path", context)
    if context.roots:
        return context.roots[0]
    raise InvalidCall(
        "invalid_arguments",
        "`path` is needed: no workspace_root is set.",
        hint="Give the absolute path of the directory to look in.",
        facts={"field": "path"},
    )


def guard(context: Context) -> Freshness:
    """What the settings ask to be known of a file before it is changed."""
    settings = context.config.tools.fs
    if settings.must_read_before_write:
        return "required"
    return "unchanged" if settings.track_reads else "none"


def answered(model: type[BaseModel], fields: Mapping[str, Any], *, ok: bool = True) -> Reply:
    """A reply whose text is the payload, as compact JSON."""
    clean_fields = tidy(fields)
    return Reply(made(model, clean_fields), (TextBlock(compact(clean_fields)),), ok=ok)


def receipt_of(outcome: Outcome, answer: Changed) -> Receipt | None:
    """What the writer did for the file itself, not for directories that it made on the way."""
    own = [receipt for receipt in outcome.receipts if receipt.path == answer.path.text]
    return own[0] if own else None


def record(outcome: Outcome, answer: Changed, context: Context) -> dict[str, Any]:
    """The end of a change's payload: the checkpoint where it is handed out, the version, what to notice."""
    own = receipt_of(outcome, answer)
    handed_out = own is not None and context.config.tools.fs.checkpoint_before_mutation
    fields: dict[str, Any] = {"checkpoint_id": of_receipt(own) if own is not None and handed_out else None}
    if own is not None and own.version is not None:
        fields |= {"version": own.version, "task": own.task}
    warnings = [*answer.warnings, *outcome.notes, *(note for r in outcome.receipts for note in r.notes)]
    return {**fields, "warnings": warnings} if warnings else fields
