"""A bad argument in words: the field, what came, what is wanted. Knows schemas and values, no tool."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from handrail.core.schema import Schema, input_schema
from handrail.model.errors import InvalidCall
from handrail.model.paths import shown

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def explained(model: type[BaseModel], given: object, error: ValidationError) -> InvalidCall:
    """The first thing that is wrong, as a failure; an unknown field comes before all else."""
    problems = error.errors(include_url=False, include_context=False)
    first = next((p for p in problems if p["type"] == "extra_forbidden"), problems[0])
    place = first["loc"]
    schema = input_schema(model)
    if first["type"] == "extra_forbidden":
        return _unknown(model, schema, place)
    wanted = _wanted(_schema_at(schema, place))
    if first["type"] == "missing":
        return invalid(_dotted(place), got="nothing", wanted=wanted)
    if first["type"] == "value_error":
        wanted = first["msg"].removeprefix("Value error, ")
    return invalid(_dotted(place), got=came(_value_at(given, place)), wanted=wanted)


def _unknown(model: type[BaseModel], schema: Schema, place: tuple[int | str, ...]) -> InvalidCall:
    name = str(place[-1])
    refused = getattr(model, "refused", {}).get(name)
    known = list(_schema_at(schema, place[:-1]).get("properties", {}))
    if refused is None:
        import difflib

        close = difflib.get_close_matches(name[:100], known, n=1, cutoff=0.55)
        refused = f"Did you mean `{close[0]}`?" if close else f"Known are: {', '.join(known)}."
    field = _dotted((*place[:-1], shown(_clipped(name))))
    return InvalidCall(
        "invalid_arguments",
        f"There is no field `{_SURROGATE.sub('?', field)}`.",
        hint=refused,
        facts={"field": _SURROGATE.sub("?", field), "known": known},
    )


def invalid(field: str, *, got: str, wanted: str) -> InvalidCall:
    """A failure that names a field, what came and what is wanted."""
    named = f"`{field}`" if field else "The call"
    return InvalidCall(
        "invalid_arguments",
        f"{named} wants {wanted}; got {got}.",
        hint="Call again with that field put right.",
        facts={"field": field, "got": got, "wanted": wanted},
    )


def _dotted(place: Sequence[int | str]) -> str:
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _schema_at(schema: Schema, place: Sequence[int | str]) -> Schema:
    for part in place:
        below = schema.get("items") if isinstance(part, int) else schema.get("properties", {}).get(part)
        if not isinstance(below, dict):
            break
        schema = below
    return schema


def _value_at(value: Any, place: Sequence[int | str]) -> object:
    for part in place:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            break
    return value


def _wanted(schema: Schema) -> str:
    """A schema in words."""
    if "enum" in schema:
        return "one of " + ", ".join(json.dumps(word) for word in schema["enum"])
    kind = schema.get("type", "a value")
    words = {"integer": "an integer", "boolean": "true or false", "string": "a string", "object": "an object"}
    text = words.get(kind, str(kind))
    if kind == "array":
        inner = words.get(schema.get("items", {}).get("type"), "values").partition(" ")[2] or "value"
        low, high = schema.get("minItems"), schema.get("maxItems")
        return f"a list of {inner}s" + (f", at least {low}" if low else "") + (f", at most {high}" if high else "")
    if kind == "object":
        return "an object with " + ", ".join(schema.get("required") or schema.get("properties", {}))
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{text} from {low} to {high}"
    return text + (f" of at least {low}" if low is not None else "") + (f" up to {high}" if high is not None else "")


def came(value: object) -> str:
    """A value in a few words, never more than a glimpse of it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return f'the string "{_SURROGATE.sub("?", shown(_clipped(value)))}"'
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return "an empty list" if not value else f"a list of {len(value)}"
    return f"a {type(value).__name__}"


def _clipped(text: str) -> str:
    return text if len(text) <= 60 else text[:60] + "…"
