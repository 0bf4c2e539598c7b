"""JSON Schemas as clients like them: flat objects, no titles, no references, no unions with null."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]


def input_schema(model: type[BaseModel]) -> Schema:
    """The schema of a tool's arguments: JSON Schema 2020-12, `type: object`, no composition at its root."""
    return _made(model, unwanted=frozenset({"title"}))


def output_schema(model: type[BaseModel]) -> Schema:
    """The schema of a tool's payload; only `kind` is required, so that failures validate too."""
    return _made(model, unwanted=frozenset({"title", "default"}))


@lru_cache(maxsize=64)
def _made(model: type[BaseModel], *, unwanted: frozenset[str]) -> Schema:
    raw = model.model_json_schema(by_alias=True, mode="validation")
    return {"type": "object", **_plain(raw, raw.pop("$defs", {}), unwanted)}


def _plain(node: Schema, definitions: Mapping[str, Schema], unwanted: frozenset[str]) -> Schema:
    """One node without what only pydantic needs; a definition stands where it was referred to."""
    reference = node.get("$ref")
    if reference is not None:
        node = {**definitions[reference.rpartition("/")[2]], **{k: v for k, v in node.items() if k != "$ref"}}
    node = {key: value for key, value in _without_null(node).items() if key not in unwanted}
    if node.get("default", ...) in (None, []):
        del node["default"]
    if node.get("additionalProperties") is True:
        del node["additionalProperties"]
    if "properties" in node:
        node.pop("description", None)
        node["properties"] = {n: _plain(child, definitions, unwanted) for n, child in node["properties"].items()}
    if "items" in node:
        node["items"] = _plain(node["items"], definitions, unwanted)
    return node


def _without_null(node: Schema) -> Schema:
    """A union of one type with null as that type; as a pair of types where null is an answer (`nullable`)."""
    members = [branch for branch in node.get("anyOf", ()) if branch.get("type") != "null"]
    if len(members) != 1:
        return node
    member = dict(members[0])
    if node.get("nullable"):
        member["type"] = [member["type"], "null"]
    return {**member, **{key: value for key, value in node.items() if key not in ("anyOf", "nullable")}}
