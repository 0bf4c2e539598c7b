"""What is wrong with a configuration, said by the key's dotted name and with the nearest known one."""

from collections.abc import Iterable
from difflib import get_close_matches

from pydantic import BaseModel, ValidationError

from handrail.core.config import EncodingRule, FreshnessRule, keys
from handrail.model.errors import InvalidCall
from handrail.model.paths import shown


def problem(error: ValidationError, origin: str) -> InvalidCall:
    """The first thing that is wrong, as the failure of a start."""
    first = error.errors(include_url=False)[0]
    key = dotted(first["loc"])
    if first["type"] == "extra_forbidden":
        return unknown(key, origin)
    said = first["msg"].removeprefix("Value error, ")
    if first["type"] == "model_type":
        said = "it should be a table"
    elif first["type"] != "value_error":
        said = said.replace("valid tuple", "list").replace("valid dictionary", "table")
        said = f"{said[:1].lower()}{said[1:]}, not {repr(first['input'])[:80]}"
    return InvalidCall(
        "invalid_arguments",
        f"{named(key)} can't be used ({origin}): {said}.",
        hint="Correct it there and start again.",
        facts={"key": key, "origin": origin},
    )


def unknown(key: str, origin: str) -> InvalidCall:
    """A key that nobody knows."""
    near = nearest(key, keys())
    return InvalidCall(
        "invalid_arguments",
        f"{named(key)} is no known setting ({origin}).",
        hint=f"Did you mean {near}?" if near else "Take it out, or look it up in docs/configuration.md.",
        facts={"key": key, "nearest": near, "origin": origin},
    )


def nearest(key: str, known: Iterable[str]) -> str | None:
    """The known key that is meant most likely: by its whole name, else by its last part wherever that stands."""
    rows: dict[str, type[BaseModel]] = {"freshness": FreshnessRule, "encoding": EncodingRule}
    candidates = [*known, *(f"{table}.{name}" for table, rule in rows.items() for name in rule.model_fields)]
    whole = get_close_matches(key, candidates, n=1, cutoff=0.8)
    if whole:
        return whole[0]
    last = {candidate.rpartition(".")[2]: candidate for candidate in candidates}
    near = get_close_matches(key.rpartition(".")[2], list(last), n=1, cutoff=0.6)
    return last[near[0]] if near else None


def named(key: str) -> str:
    """A key as it is shown."""
    return shown(key) or "The configuration"


def dotted(location: Iterable[int | str]) -> str:
    """The dotted name of a place in a configuration; rows of a table by their index."""
    key = ""
    for part in location:
        key += f"[{part}]" if isinstance(part, int) else f".{part}"
    return key.removeprefix(".")
