"""The payload of find_files: its shape, and its rows out of what was found."""

from typing import Any

from pydantic import Field

from handrail.families.batch.names import spelled
from handrail.families.render import Part, Payload, clean, failure, local_time
from handrail.model.answers import Found, MatchingRow


class Entry(Part):
    """An entry of a directory."""

    path: str
    type: str
    size: int
    modified_at: str
    ignored: bool | None = None


class FileRow(Part):
    """A file with matching rows."""

    path: str
    count: int
    lines: list[int] = Field(description="The first matching rows.")


class TextRow(Part):
    """A matching row, or one of its surroundings."""

    path: str
    row: int
    text: str
    context: bool | None = Field(default=None, description="True for a row around a match.")
    cut: bool | None = Field(default=None, description="True where the text is a part of its row.")
    column: int | None = Field(default=None, description="Where a cut text starts, from 1.")
    block: int | None = Field(default=None, description="Rows of one block follow each other in the file.")


class QueryError(Part):
    """Why one query couldn't run."""

    query: int
    kind: str
    error: str
    hint: str
    retryable: bool
    path: str | None = None


class FindFilesOutput(Payload):
    """Kinds: `entries`, `paths`, `files`, `rows`, or a failure."""

    path: str | None = None
    mode: str | None = None
    entries: list[Entry] | None = None
    paths: list[str] | None = Field(default=None, description="Newest modification first.")
    files: list[FileRow] | None = None
    rows: list[TextRow] | None = None
    total: int | None = None
    first: int | None = None
    last: int | None = None
    next_offset: int | None = Field(default=None, description="The offset of the next page; absent on the last.")
    dropped: int | None = Field(default=None, description="Results left out because the text would be too long.")
    complete: bool | None = Field(default=None, description="False when time ran out first.")
    skipped_binary: int | None = None
    skipped_sensitive: int | None = None
    skipped_unreadable: int | None = None
    skipped_too_large: int | None = None
    skipped_ignored: int | None = None
    escaped: list[str] | None = Field(default=None, description="Names that are spelled with escapes, as in `\\n`.")
    changed: list[str] | None = Field(default=None, description="Files that changed since the search.")
    searched_at: str | None = None
    errors: list[QueryError] | None = None
    notes: list[str] | None = None


def rows_of(found: Found, root: str | None) -> dict[str, Any]:
    """The part of a payload that differs by mode: its kind and its rows."""
    if found.mode == "list":
        entries = []
        for listed in found.listed:
            entry: dict[str, Any] = {
                "path": spelled(listed.path, root),
                "type": listed.kind,
                "size": listed.size,
                "modified_at": local_time(listed.mtime_ns),
            }
            entries.append({**entry, "ignored": True} if listed.ignored else entry)
        return {"kind": "entries", "mode": "list", "entries": entries}
    if found.mode == "glob":
        return {"kind": "paths", "mode": "glob", "paths": [spelled(item.path, root) for item in found.listed]}
    if found.unit == "content":
        return {"kind": "rows", "mode": "search", "rows": [_row(row, root) for row in found.rows]}
    files = [{"path": spelled(f.path, root), "count": f.count, "lines": list(f.rows)} for f in found.files]
    return {"kind": "files", "mode": "search", "files": files}


def _row(row: MatchingRow, root: str | None) -> dict[str, Any]:
    fields: dict[str, Any] = {"path": spelled(row.path, root), "row": row.row, "text": clean(row.text)}
    if row.context:
        fields["context"] = True
    if row.cut:
        fields |= {"cut": True, "column": row.column or 1}
    return {**fields, "block": row.block}


def errors_of(found: Found) -> list[dict[str, Any]]:
    """Why queries couldn't run, by their index."""
    return [{"query": index, **failure(error)} for index, error in sorted(found.errors.items())]
