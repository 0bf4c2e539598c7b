"""From what a model typed to what a tool takes: unambiguous slips are accepted, the rest is named exactly.

Knows schemas and JSON values; knows no tool and no path. Strings are never unescaped.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from handrail.core.schema import Schema, input_schema
from handrail.core.wording import came, explained, invalid
from handrail.model.paths import shown

MAX_CHARACTERS: Final = 128 * 1024 * 1024
MAX_VALUES: Final = 50_000
MAX_DEPTH: Final = 32
MAX_NUMBER: Final = 2**53
PATHS: Final = frozenset({"path", "paths", "dir", "file_path"})
"""Fields that hold names of files: stray bytes are spelled in them as everywhere, and judged by the resolver."""
TEXTS: Final = frozenset({"content", "old_string", "new_string"})
"""Fields that hold a file's text; a NUL may stand in them."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,17}(?:\.0+)?")

A = TypeVar("A", bound=BaseModel)


class Arguments(BaseModel):
    """What every tool's arguments share; `refused` says why a field that people expect isn't there."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)
    refused: ClassVar[Mapping[str, str]] = {}


def parse(model: type[A], raw: object) -> A:
    """Read a call's arguments; raises `InvalidCall` `invalid_arguments` naming field, what came and what is wanted.

    Accepted where only one thing can be meant: numbers and booleans as strings, JSON text for a list or an object,
    one value for a list, null or an empty string for what may be omitted, extras that begin with `_`.
    """
    given = _object(raw)
    if given is None:
        raise invalid("", got=came(raw), wanted="an object of arguments")
    given = _sound(given)
    try:
        return model.model_validate(given)
    except ValidationError:
        pass
    coerced = _coerce(input_schema(model), given)
    if isinstance(coerced, Mapping):  # JSON text may have held what was not looked at before
        coerced = _sound(coerced)
    try:
        return model.model_validate(coerced)
    except ValidationError as error:
        raise explained(model, coerced, error) from None


def _object(raw: object) -> Mapping[str, Any] | None:
    if raw is None:
        return {}
    if isinstance(raw, str):
        raw = {} if not raw.strip() else _json(raw)
    return raw if isinstance(raw, Mapping) else None


def _json(text: str) -> object:
    """The value that a text spells as JSON; the text itself where it spells none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


# Size and characters: judged once, before anything walks the values by schema.


def _sound(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments, unless they are absurdly large or deep; odd characters are spelled or refused."""
    characters = values = 0
    odd = False
    waiting: list[tuple[object, int, str]] = [(given, 0, "")]
    while waiting:
        value, depth, field = waiting.pop()
        values += 1
        if isinstance(value, str):
            characters += len(value)
            odd = odd or _is_odd(value, field)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            if abs(value) > MAX_NUMBER:
                raise invalid(field, got="a number beyond 2^53", wanted="a smaller number")
        elif isinstance(value, Mapping):
            if not all(isinstance(key, str) and not _SURROGATE.search(key) for key in value):
                raise invalid(field, got="a field whose name isn't text", wanted="names as strings")
            characters += sum(map(len, value))
            waiting.extend((child, depth + 1, key) for key, child in value.items())
        elif isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
            waiting.extend((child, depth + 1, field) for child in value)
        if values + len(waiting) > MAX_VALUES or depth > MAX_DEPTH or characters > MAX_CHARACTERS:
            raise invalid(
                field,
                got="arguments too large or too deep",
                wanted=f"at most {MAX_VALUES} values, {MAX_DEPTH} levels and {MAX_CHARACTERS} characters in all",
            )
    return {key: _respelled(child, key) for key, child in given.items()} if odd else given


def _is_odd(text: str, field: str) -> bool:
    if "\x00" in text and field not in TEXTS and field not in PATHS:
        return True
    return not text.isascii() and _SURROGATE.search(text) is not None


def _respelled(value: object, field: str) -> object:
    if isinstance(value, str) and _is_odd(value, field):
        return _respelled_text(value, field)
    if isinstance(value, Mapping):
        return {key: _respelled(child, key) for key, child in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)):
        return [_respelled(child, field) for child in value]
    return value


def _respelled_text(text: str, field: str) -> str:
    """Halves of surrogate pairs joined; stray bytes in a name spelled; what no file can hold refused."""
    if field in PATHS:
        return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", shown(text))
    if "\x00" in text and field not in TEXTS:
        raise invalid(field, got="a NUL character", wanted="text without NUL; no name and no row of text holds one")
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    stray = _SURROGATE.search(text)
    if "\ufffd" in joined and joined.count("\ufffd") > text.count("\ufffd") and stray is not None:
        raise invalid(
            field,
            got=f"half of a surrogate pair (U+{ord(stray.group()):04X}) at character {stray.start() + 1}",
            wanted="whole characters",
        )
    return joined


# Coercion: only where one thing alone can be meant; what isn't is left for the validation to name.


def _coerce(schema: Schema, value: object) -> object:
    kind = schema.get("type")
    if kind == "object":
        return _coerce_object(schema, value)
    if kind == "array":
        return _coerce_list(schema, value)
    if kind == "integer":
        return _whole(value)
    if kind == "boolean" and isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower(), value)
    if "enum" in schema and isinstance(value, str) and value not in schema["enum"]:
        return next((word for word in schema["enum"] if word == value.strip().lower()), value)
    return value


def _whole(value: object) -> object:
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value.strip().partition(".")[0])
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _coerce_object(schema: Schema, value: object) -> object:
    if isinstance(value, str):
        value = _json(value)
    if not isinstance(value, Mapping):
        return value
    properties, required = schema.get("properties", {}), schema.get("required", ())
    made = {}
    for key, child in value.items():
        if key not in properties:
            if not key.startswith("_"):
                made[key] = child
        elif key in required or not _stands_for_nothing(properties[key], child):
            made[key] = _coerce(properties[key], child)
    return made


def _stands_for_nothing(schema: Schema, value: object) -> bool:
    return value is None or (value == "" and (schema.get("type") != "string" or "enum" in schema))


def _coerce_list(schema: Schema, value: object) -> object:
    if isinstance(value, str):
        spelled = _json(value) if value.lstrip()[:1] in ("[", "{") else value
        value = spelled if isinstance(spelled, (list, Mapping)) else [value]
    elif isinstance(value, Mapping) or not isinstance(value, Sequence):
        value = [value]
    if isinstance(value, Mapping):
        value = [value]
    return [_coerce(schema["items"], child) for child in value]
