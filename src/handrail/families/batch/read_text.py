"""The text of a read's payload: numbered rows, headings where there are several files, the tail of a cut answer."""

from collections.abc import Iterator, Mapping
from typing import Any

from handrail.families.render import compact, count, failure_text


def render(fields: Mapping[str, Any]) -> str:
    """A payload in words; a file's tail stands alone on its last line, and no row of a file can look like one."""
    files = fields.get("files") or []
    if not files:
        return failure_text(fields)
    if len(files) == 1:
        return "\n".join(_file(files[0]))
    return "\n\n".join("\n".join([f"==> {file['path']} <==", *_file(file)]) for file in files)


def _file(file: Mapping[str, Any]) -> Iterator[str]:
    if file.get("error") is not None:
        yield failure_text(file)
        return
    if file["kind"] == "binary":
        yield f"[binary file: {file['media_type']}, {count(file['size'], 'byte')}; it has no text to show]"
    elif file["kind"] == "image":
        yield (
            f"[image: {file['media_type']}, {file['width']}x{file['height']} pixels shown, "
            f"{file['original_width']}x{file['original_height']} in the file]"
        )
    if file.get("text"):
        yield file["text"]
    yield from _remarks(file)
    yield from _tail(file)


def _remarks(file: Mapping[str, Any]) -> Iterator[str]:
    for note in file.get("notes") or ():
        yield f"[note: {note}]"
    if file.get("missing_rows"):
        rows = ", ".join(str(row) for row in file["missing_rows"])
        yield f"[past the end: {rows}; the file has {count(file['total'], 'row')}]"
    encoding = file.get("encoding")
    if encoding and encoding not in ("utf-8", "ascii"):
        sure = f", confidence {file['encoding_confidence']}" if "encoding_confidence" in file else ""
        yield f"[encoding: {encoding}{sure}]"
    if file.get("next_column"):
        again = {"path": file["path"], "offset": file["first"], "limit": 1, "column": file["next_column"]}
        yield f"[row {file['first']} is cut; to read on in it: {compact(again)}]"
    if file["kind"] == "text" and not file.get("text") and not file.get("notes") and "next_offset" not in file:
        yield "[no rows: the file is empty or ends before the offset]"


def _tail(file: Mapping[str, Any]) -> Iterator[str]:
    if file.get("next_offset") is None:
        return
    unit = file.get("unit", "line") + "s"
    some = file["total"] if file.get("exact", True) else f"at least {file['total']}"
    following = file["next_offset"]
    if not file.get("text"):
        again = compact({"files": [{"path": file["path"], "offset": following}]})
        yield f"[not read, this call's text is used up; next call: read_files({again})]"
    yield f"[{unit} {file['first']}-{file['last']} of {some}; call again with offset={following} for more]"
