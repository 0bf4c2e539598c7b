"""The layers of a configuration put together: defaults < user file < given file < environment < arguments.

A file in the workspace comes last of all and may only tighten. What a key means is told by who uses it.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import ValidationError

from handrail.core.config import PARTIAL, Config, keys
from handrail.core.config_problems import named, nearest, problem
from handrail.core.config_reading import read_environment, read_file
from handrail.model.errors import InvalidCall
from handrail.model.paths import shown

NAME: Final = "handrail.toml"
ADDED: Final = frozenset({"tools.fs.deny_paths", "tools.fs.sensitive_paths", "tools.policy.deny"})
NARROWED: Final = "tools.fs.allow_paths"
SWITCHED_ON: Final = frozenset({"tools.fs.require_approval", "tools.fs.track_reads", "tools.fs.must_read_before_write"})
LOWERED: Final = frozenset(
    {
        "tools.fs.max_read_bytes",
        "tools.fs.max_edit_bytes",
        "limits.deadline",
        "limits.max_entries",
        "limits.max_search_file_bytes",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A configuration and where it came from.

    `origins`: dotted key -> the layer that set it; keys with their default aren't in it. `narrow`: the workspace
    file's own allow list, which must name a path too. `tightened`: the keys that the workspace file set, which hold
    against arguments and environment.
    """

    config: Config
    warnings: tuple[str, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)
    narrow: tuple[str, ...] = ()
    tightened: frozenset[str] = frozenset()


def load(
    *,
    user_file: str | None = None,
    file: str | None = None,
    environment: Mapping[str, str] | None = None,
    arguments: Mapping[str, object] | None = None,
    workspace: str | None = None,
) -> Loaded:
    """Put the layers together; raises `InvalidCall` `invalid_arguments` naming the key and the nearest known one.

    `user_file` may be missing, `file` must not. `arguments`: dotted keys. `workspace`: the first root, in which a
    `handrail.toml` may tighten; one that can't be read stops the start.
    """
    layers: list[tuple[str, Mapping[str, object]]] = []
    warnings: list[str] = []
    if user_file is not None:
        layers.append((shown(user_file), read_file(user_file, optional=True)))
    if file is not None:
        layers.append((shown(file), read_file(file)))
    found, warned = read_environment(os.environ if environment is None else environment)
    warnings += warned
    layers += [(f"the environment variable {name}", {key: value}) for name, key, value in found]
    layers += [("the arguments", {key: value}) for key, value in (arguments or {}).items()]
    merged: dict[str, object] = {}
    origins: dict[str, str] = {}
    for origin, layer in layers:
        flat = _flat(layer)
        _validated(flat, origin, partial=True)
        merged.update(flat)
        origins.update(dict.fromkeys(flat, origin))
    loaded = Loaded(config=_validated(merged, "the configuration"), warnings=tuple(warnings), origins=origins)
    return loaded if workspace is None else tighten(loaded, workspace)


def tighten(loaded: Loaded, workspace: str) -> Loaded:
    """What is loaded, made stricter by the `handrail.toml` of a workspace; other keys in it are warned about."""
    path = os.path.join(workspace, NAME)
    flat = _flat(read_file(path, optional=True))
    allowed = {key: value for key, value in flat.items() if key in ADDED | SWITCHED_ON | LOWERED | {NARROWED}}
    _validated(allowed, shown(path), partial=True)
    warnings = list(loaded.warnings)
    settings = _flat(_plain(loaded.config))
    tightened: dict[str, str] = {}
    narrow = loaded.narrow
    for key, value in flat.items():
        why = _not_tighter(key, value, settings) if key in allowed else _unfit(key)
        if why:
            warnings.append(f"{shown(path)}: {named(key)} {why}, so it is ignored: a workspace file may only tighten.")
            continue
        if key == NARROWED:
            narrow = tuple(str(glob) for glob in _rows(value))
        elif key in ADDED:
            settings[key] = (*_rows(settings[key]), *_rows(value))
        else:
            settings[key] = value
        tightened[key] = shown(path)
    return replace(
        loaded,
        config=_validated(settings, shown(path)),
        warnings=tuple(warnings),
        origins={**loaded.origins, **tightened},
        narrow=narrow,
        tightened=loaded.tightened | frozenset(tightened),
    )


def _not_tighter(key: str, value: object, settings: Mapping[str, object]) -> str:
    """Why a key that may tighten doesn't; empty when it does."""
    if key in SWITCHED_ON and value is not True:
        return "can only be set to true there"
    now = settings.get(key)
    if key in LOWERED and isinstance(now, int | float) and isinstance(value, int | float) and value > now:
        return f"can only be lowered there, and is {now:g}"
    return ""


def _unfit(key: str) -> str:
    near = nearest(key, keys())
    if key in set(keys()):
        return "can't be set there"
    return f"is no known key (did you mean {near}?)" if near else "is no known key"


def _validated(flat: Mapping[str, object], origin: str, *, partial: bool = False) -> Config:
    try:
        return Config.model_validate(_nested(flat, origin), context=PARTIAL if partial else None)
    except ValidationError as error:
        raise problem(error, origin) from None


_SECTIONS: Final = frozenset(
    ".".join(parts[:end]) for parts in (key.split(".") for key in keys()) for end in range(1, len(parts))
)


def _flat(layer: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Dotted keys; what isn't a known table stays a value, so that it is refused by its name."""
    flat: dict[str, object] = {}
    for name, value in layer.items():
        key = prefix + name
        if isinstance(value, Mapping) and key in _SECTIONS:
            flat.update(_flat(value, key + "."))
        else:
            flat[key] = _tuples(value)
    return flat


def _nested(flat: Mapping[str, object], origin: str) -> dict[str, object]:
    whole: dict[str, object] = {}
    for key, value in flat.items():
        *tables, name = key.split(".") if key.rpartition(".")[0] in _SECTIONS else [key]
        inner = whole
        for table in tables:
            following = inner.setdefault(table, {})
            if not isinstance(following, dict):
                raise InvalidCall("invalid_arguments", f"{named(key)} from {origin} needs {table} to be a table.")
            inner = following
        inner[name] = value
    return whole


def _plain(config: Config) -> dict[str, object]:
    return config.model_dump()


def _rows(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, Iterable) else ()


def _tuples(value: object) -> object:
    if isinstance(value, list | tuple):
        return tuple(_tuples(item) for item in value)
    return {name: _tuples(item) for name, item in value.items()} if isinstance(value, dict) else value
