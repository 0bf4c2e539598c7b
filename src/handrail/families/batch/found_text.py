"""The text of a find's payload: rows, what was left out, and the tail that says where the next page starts."""

from collections.abc import Iterator, Mapping
from typing import Any

from handrail.families.render import clock, count, failure_text

SKIPPED = {
    "binary": "binary",
    "sensitive": "sensitive",
    "unreadable": "unreadable",
    "too_large": "too large",
    "link_outside": "linked from outside",
}


def render(fields: Mapping[str, Any]) -> str:
    """A payload in words; its last line is the tail, alone."""
    if fields.get("error") is not None:
        lines = [failure_text(fields, skip=("errors",))]
        lines += [_error(error) for error in fields.get("errors") or ()]
        return "\n".join(lines)
    return "\n".join([*_body(fields), *_remarks(fields), _tail(fields)])


def _body(fields: Mapping[str, Any]) -> Iterator[str]:
    for entry in fields.get("entries") or ():
        yield _entry(entry)
    yield from fields.get("paths") or ()
    for file in fields.get("files") or ():
        rows = ", ".join(str(row) for row in file["lines"])
        more = ", ..." if file["count"] > len(file["lines"]) else ""
        yield f"{file['path']}\t{count(file['count'], 'row')}\t{rows}{more}"
    yield from _rows(fields.get("rows") or ())


def _entry(entry: Mapping[str, Any]) -> str:
    folder = entry["type"] == "directory"
    what = "directory" if folder else count(entry["size"], "byte") if entry["type"] == "file" else entry["type"]
    mark = "\tignored" if entry.get("ignored") else ""
    return f"{entry['path']}{'/' if folder else ''}\t{what}\t{clock(entry['modified_at'])}{mark}"


def _rows(rows: list[Mapping[str, Any]] | tuple[()]) -> Iterator[str]:
    """Each file's name on a line of its own, then its rows; a row of context has a minus behind its number."""
    path: str | None = None
    block: int | None = None
    gaps = any(row.get("context") for row in rows)
    for row in rows:
        if row["path"] != path:
            yield row["path"] + ":"
        elif gaps and row.get("block") != block:
            yield "..."
        path, block = row["path"], row.get("block")
        mark = "-" if row.get("context") else ""
        cut = f" (cut, from column {row.get('column', 1)})" if row.get("cut") else ""
        yield f"{row['row']}{mark}{cut}\t{row['text']}"


def _remarks(fields: Mapping[str, Any]) -> Iterator[str]:
    for error in fields.get("errors") or ():
        yield _error(error)
    skipped = [f"{fields[f'skipped_{key}']} {word}" for key, word in SKIPPED.items() if fields.get(f"skipped_{key}")]
    if skipped:
        yield f"[skipped: {', '.join(skipped)}]"
    ignored = fields.get("skipped_ignored")
    if ignored:
        yield f"[{count(ignored, 'ignored file')} not looked at; name an ignored directory as dir to look into it]"
    if fields.get("escaped"):
        yield f"[spelled with escapes, to be given back so: {', '.join(fields['escaped'])}]"
    if fields.get("changed"):
        yield f"[changed since the search: {', '.join(fields['changed'])}]"
    for note in fields.get("notes") or ():
        yield f"[note: {note}]"
    if fields.get("complete") is False:
        yield "[incomplete: time ran out before everything was looked at; narrow dir, pattern or file_pattern]"


def _error(error: Mapping[str, Any]) -> str:
    return f"[queries[{error['query']}]: {error['kind']}: {error['error']} {error['hint']}]"


def _tail(fields: Mapping[str, Any]) -> str:
    unit = {"rows": "lines", "files": "files", "paths": "files"}.get(str(fields.get("kind")), "entries")
    total = fields.get("total", 0)
    some = total if fields.get("complete", True) else f"at least {total}"
    place = f"{unit} {fields.get('first', 0)}-{fields.get('last', 0)} of {some}"
    following = fields.get("next_offset")
    dropped = fields.get("dropped")
    if dropped:
        place += f"; {dropped} dropped, the text would be too long"
    if following is not None:
        return f"[{place}; call again with offset={following} for more]"
    return f"[{place}; last page]" if not dropped else f"[{place}; narrow dir or pattern]"
