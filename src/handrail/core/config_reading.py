"""Configuration as it is written down: files in TOML, environment variables. It knows no meaning of a key."""

import os
import stat
import tomllib
from collections.abc import Iterator, Mapping
from typing import Final

from handrail.core.config import Config, FsSettings, keys
from handrail.core.config_problems import nearest, unknown
from handrail.model.errors import InvalidCall
from handrail.model.paths import shown

MAX_BYTES: Final = 1 << 20
PREFIX: Final = "HANDRAIL_"
OTHERS: Final = frozenset({"HANDRAIL_DATA_DIR", "HANDRAIL_FILES_DIR"})
"""Variables of ours that are no settings."""


def read_file(path: str, *, optional: bool = False) -> Mapping[str, object]:
    """The tables of a TOML file; empty where an optional one doesn't stand. Raises `InvalidCall`."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        if optional:
            return {}
        raise _unreadable(path, "it doesn't exist") from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, getattr(error, "strerror", None) or str(error)) from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _unreadable(path, "it is no regular file")
    with os.fdopen(handle, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise _unreadable(path, f"it is larger than {MAX_BYTES} bytes")
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise _unreadable(path, "it isn't UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(path, f"it isn't TOML: {error}") from None
    except RecursionError:
        raise _unreadable(path, "it is nested too deeply") from None


def read_environment(environment: Mapping[str, str]) -> tuple[list[tuple[str, str, object]], list[str]]:
    """`(variable, dotted key, value)` of every variable that is a setting, and warnings about others of our prefix.

    `tools.fs.max_read_bytes` is `HANDRAIL_TOOLS_FS_MAX_READ_BYTES`. Values are TOML; bare text is a string where the
    key takes one. Raises `InvalidCall` for a variable that starts like a setting and is none.
    """
    known = {variable(key): key for key in keys()}
    sections = tuple(f"{PREFIX}{name.upper()}_" for name in Config.model_fields)
    found: list[tuple[str, str, object]] = []
    warnings: list[str] = []
    for name in sorted(environment):
        if not name.startswith(PREFIX) or name in OTHERS:
            continue
        if name in known:
            found.append((name, known[name], _value(known[name], environment[name])))
        elif name.startswith(sections):
            raise unknown(name.removeprefix(PREFIX).lower(), f"the environment variable {name}")
        elif near := nearest(name.removeprefix(PREFIX).lower(), known.values()):
            warnings.append(f"The environment variable {name} is ignored; did you mean {variable(near)}?")
    return found, warnings


def variable(key: str) -> str:
    """The environment variable of a dotted key."""
    return PREFIX + key.replace(".", "_").upper()


def _value(key: str, text: str) -> object:
    """TOML where it reads as such and the key isn't a plain string's."""
    if key in _TEXTS:
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text


def _texts() -> Iterator[str]:
    for name, setting in FsSettings.model_fields.items():
        if setting.annotation == str | None:
            yield f"tools.fs.{name}"


_TEXTS: Final = frozenset(_texts())


def _unreadable(path: str, why: str) -> InvalidCall:
    return InvalidCall(
        "invalid_arguments",
        f"The configuration file {shown(path)} can't be read: {why}.",
        hint="Correct or remove it, then start again.",
        facts={"origin": shown(path)},
    )
