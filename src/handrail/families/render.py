"""What both families say alike: failures, times, names, clipped diffs, and text that any encoding can carry."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from handrail.core.tool import Reply, Tool
from handrail.model.answers import Found
from handrail.model.calls import TextBlock
from handrail.model.errors import HandrailError
from handrail.model.paths import is_escaped, shown

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
FACT_CHARACTERS: Final = 16_000
"""Most characters of one fact that a failure's text repeats."""


class Part(BaseModel):
    """A part of an answer; further facts may stand beside its fields."""

    model_config = ConfigDict(extra="allow", defer_build=True)


class Payload(Part):
    """What every answer shares: `kind` first; the others where it is a failure."""

    kind: str = Field(description="What came of it; a failure's kind names it.")
    error: str | None = Field(default=None, description="What went wrong, in one sentence.")
    hint: str | None = Field(default=None, description="What to do next.")
    retryable: bool | None = Field(default=None, description="Whether the same call may succeed later.")


class NoTool(Payload):
    """The failure of a call for a tool that isn't there."""

    path: str | None = None


# Text


def clean(text: str) -> str:
    """Text that can be encoded: what stands for a byte that is no character shows as U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def tidy(value: object) -> Any:
    """A JSON value of clean strings; a mapping's keys become text."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): tidy(child) for key, child in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [tidy(child) for child in value]
    return value if value is None or isinstance(value, (bool, int, float)) else clean(str(value))


def compact(value: object) -> str:
    """A value as JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def count(number: int, noun: str) -> str:
    """A number with its noun, as in `1 file` and `2 files`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("ry") else f"{number} {noun}s"


def local_time(nanoseconds: int) -> str:
    """A time in RFC 3339, in local time, to the second."""
    return datetime.fromtimestamp(nanoseconds // 10**9).astimezone().isoformat()


def clock(stamp: str) -> str:
    """A time of `local_time` as people read it: `2026-08-13 15:04:05`."""
    return stamp[:19].replace("T", " ")


def short_diff(diff: str, *, lines: int = 60, characters: int = 6_000) -> str:
    """The first lines of a diff, and how many more there are."""
    rows = clean(diff).split("\n")
    if rows and not rows[-1]:
        rows.pop()
    kept: list[str] = []
    room = characters
    for row in rows[:lines]:
        if len(row) > room:
            break
        kept.append(row)
        room -= len(row) + 1
    if len(kept) < len(rows):
        kept.append(f"[{count(len(rows) - len(kept), 'more line')} of this diff not shown]")
    return "\n".join(kept)


def escaped_paths(found: Found) -> list[str]:
    """The found paths that are shown with escapes, since their names could pass for something else; as they are."""
    paths = (
        {item.path for item in found.listed} | {file.path for file in found.files} | {row.path for row in found.rows}
    )
    return sorted(path for path in paths if is_escaped(path))


# Failures


def failure(error: HandrailError, path_field: str = "path", *, path: str | None = None) -> dict[str, Any]:
    """A failure's fields, `kind` first; `path` is what was asked for, where the error names none."""
    fields: dict[str, Any] = {
        "kind": error.kind,
        "error": clean(error.message),
        "hint": clean(error.hint),
        "retryable": error.may_retry,
    }
    named = error.path if error.path is not None else path
    if named is not None:
        # An error may name its path raw or as it is shown; only raw names hold what doesn't print.
        fields[path_field] = named if named.isprintable() else clean(shown(named))
    facts = {key: value for key, value in tidy(error.facts).items() if value is not None}
    return fields | {key: value for key, value in facts.items() if key not in fields}


def failure_text(fields: Mapping[str, Any], *, skip: Sequence[str] = ()) -> str:
    """A failure as the batch family says it: the kind and the sentence, the hint, then each fact."""
    lines = [f"{fields.get('kind')}: {fields.get('error')}"]
    if fields.get("hint"):
        lines.append(str(fields["hint"]))
    for key, value in fields.items():
        if key in ("kind", "error", "hint", "retryable", "path", "file_path", *skip) or value in (None, "", [], {}):
            continue
        text = value if isinstance(value, str) else compact(value)
        if len(text) > FACT_CHARACTERS:
            text = text[:FACT_CHARACTERS] + "…"
        lines.append(f"{key}:\n{text}" if "\n" in text else f"{key}: {text}")
    return "\n".join(lines)


def failed(tool: Tool[Any] | None, error: HandrailError, *, path: str | None = None) -> Reply:
    """A failure in the words of its tool's family."""
    if tool is None:
        return Reply(made(NoTool, failure(error, path=path)), (TextBlock(failure_text(failure(error))),), ok=False)
    fields = failure(error, tool.failure_path, path=path)
    payload = made(tool.output, fields)
    text = failure_text(fields) if tool.family == "batch" else compact(fields)
    return Reply(payload, (TextBlock(text),), ok=False)


def made(model: type[BaseModel], fields: Mapping[str, Any]) -> BaseModel:
    """The payload; a fact whose name the model uses for something else goes to `facts`."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        wrong = {str(problem["loc"][0]) for problem in error.errors(include_url=False, include_input=False)}
        if "kind" in wrong:
            raise
        kept = {key: value for key, value in fields.items() if key not in wrong}
        return model.model_validate({**kept, "facts": {key: fields[key] for key in fields if key in wrong}})
