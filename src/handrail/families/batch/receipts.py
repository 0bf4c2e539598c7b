"""The receipt of a change: its payload and its text."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import Field

from handrail.core.tool import Outcome
from handrail.families.batch.names import spelled
from handrail.families.render import Part, Payload, clean, count, failure_text, short_diff
from handrail.model.answers import Changed
from handrail.model.calls import Block, TextBlock
from handrail.model.records import Receipt

REACH: Final = "Only what these tools changed is taken back; what shells and other programs did stays."
KINDS: Final = {"write": "written", "edit": "patched", "remove": "removed", "restore": "restored", "undo": "restored"}
MODES: Final = {"edit": "patch"}
NOTHING: Final = "nothing was written (dry_run)"


class FileChange(Part):
    """One path of an undone task: what became of it, or why it stays as it is."""

    kind: str
    path: str | None = None
    version: int | None = None
    unchanged: bool | None = None
    merged: bool | None = Field(default=None, description="Others' changes since were kept.")
    diff: str | None = None
    error: str | None = None
    hint: str | None = None
    retryable: bool | None = None


class EditFileOutput(Payload):
    """Kinds: `written`, `patched`, `removed`, `restored`, `undone`, `preview` (dry_run), or a failure."""

    path: str | None = None
    mode: str | None = None
    dry_run: bool | None = None
    bytes: int | None = Field(default=None, description="Size of the file now.")
    lines: int | None = None
    version: int | None = Field(default=None, description="The version made; mode=restore takes it.")
    before_version: int | None = Field(default=None, description="The version that was replaced.")
    task: str | None = None
    hash: str | None = Field(default=None, description="SHA-256 of the file now.")
    replacements: int | None = None
    per_target: list[int] | None = None
    existed: bool | None = None
    unchanged: bool | None = None
    merged: bool | None = None
    emptied: bool | None = None
    recovered_via_crlf: bool | None = None
    recovered_via_quotes: bool | None = None
    entries: int | None = Field(default=None, description="How much lay in a removed directory.")
    unseen_rows: int | None = Field(default=None, description="Rows changed by others and never shown to you.")
    in_place: bool | None = None
    warnings: list[str] | None = None
    diff: str | None = None
    undone_task: str | None = None
    files: list[FileChange] | None = None


def receipt(outcome: Outcome, root: str | None) -> dict[str, Any]:
    """What came of one change. A preview has the whole diff, a receipt the start of it."""
    kind = outcome.operation.kind
    answer = outcome.answer
    if not isinstance(answer, Changed):
        raise AssertionError(f"{kind} was answered with {type(answer).__name__}")
    fields: dict[str, Any] = {"kind": KINDS[kind], "path": spelled(answer.path.text, root)}
    if outcome.dry_run:
        fields |= {"kind": "preview", "mode": MODES.get(kind, kind), "dry_run": True}
    fields |= _facts(kind, answer)
    own = [r for r in outcome.receipts if r.path == answer.path.text] or list(outcome.receipts[-1:])
    if own:
        fields |= _record(own[0])
    if outcome.unseen_rows:
        fields["unseen_rows"] = outcome.unseen_rows
    warnings = [*answer.warnings, *outcome.notes, *(note for r in outcome.receipts for note in r.notes)]
    if warnings:
        fields["warnings"] = [clean(warning) for warning in warnings]
    if outcome.diff:
        limits = {"lines": 4_000, "characters": 128 * 1024} if outcome.dry_run else {}
        fields["diff"] = short_diff(outcome.diff, **limits)
    return fields


def _facts(kind: str, answer: Changed) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if kind != "remove" and answer.hash is not None:
        fields |= {"bytes": answer.bytes_written, "lines": answer.lines, "hash": answer.hash}
    if kind == "edit":
        fields |= {"replacements": answer.replacements, "per_target": list(answer.per_target)}
    if kind != "edit":
        fields["existed"] = answer.existed
    if answer.manifest_entries:
        fields |= {"entries": answer.manifest_entries, "bytes": answer.manifest_size}
    for name in ("unchanged", "merged", "emptied", "recovered_via_crlf", "recovered_via_quotes"):
        if getattr(answer, name):
            fields[name] = True
    return fields


def _record(own: Receipt) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "version": own.version,
        "before_version": own.before_version,
        "task": own.task,
        "in_place": own.in_place or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def rerender(fields: Mapping[str, Any]) -> tuple[Block, ...]:
    """The text for a payload."""
    return (TextBlock("\n".join(_lines(fields))),)


def _lines(fields: Mapping[str, Any]) -> Iterator[str]:
    files = fields.get("files")
    if fields.get("error") is not None:
        yield failure_text(fields, skip=("files",))
    elif files is not None:
        done = sum(file.get("error") is None for file in files)
        verb = "would be taken back" if fields.get("dry_run") else "taken back"
        yield f"task {fields.get('undone_task')}: {done} of {count(len(files), 'path')} {verb}"
        if fields.get("dry_run"):
            yield NOTHING
    else:
        yield from _one(fields)
    for file in files or ():
        if file.get("error") is not None:
            yield f"{file.get('path', '')}: {failure_text(file)}"
        else:
            yield from _one({**file, "dry_run": None})
    if files is not None:
        yield from fields.get("warnings") or ()


def _one(fields: Mapping[str, Any]) -> Iterator[str]:
    said = f"preview of {fields.get('mode')}" if fields["kind"] == "preview" else fields["kind"]
    facts = []
    if "replacements" in fields:
        facts.append(count(fields["replacements"], "replacement"))
    if fields.get("entries"):
        facts.append(count(fields["entries"], "entry"))
    facts += [count(fields[name], name[:-1]) for name in ("bytes", "lines") if name in fields]
    facts += [f"{name} {fields[name]}" for name in ("version", "task") if fields.get(name) is not None]
    yield f"{said} {fields.get('path')}" + (f": {', '.join(facts)}" if facts else "")
    if fields.get("dry_run"):
        yield NOTHING
    remarks = {
        "unchanged": "nothing to change: the file already is so",
        "merged": "merged: changes that others made since are kept",
        "emptied": "the file is empty now",
        "recovered_via_quotes": "matched with the file's own quotes",
        "recovered_via_crlf": "matched with the file's CRLF line ends",
        "in_place": "written in place",
    }
    yield from (remark for name, remark in remarks.items() if fields.get(name))
    if fields.get("unseen_rows"):
        yield f"{count(fields['unseen_rows'], 'row')} changed since you read the file and never shown to you"
    yield from (f"warning: {warning}" for warning in fields.get("warnings") or ())
    if fields.get("diff"):
        yield fields["diff"]
