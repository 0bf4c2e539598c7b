"""Between values and columns: names as their bytes, free text that need not be valid, states as four columns."""

import base64
import json
import os
from dataclasses import dataclass

from handrail.model.files import ABSENT, Absent, Belongings, DirectoryState, FileState, LinkState, State
from handrail.store.blobs import Blobs

Column = str | bytes | int | None


def name(path: str) -> bytes:
    """The bytes of a file's name; what can't be a name still gets bytes of its own, and so is never found."""
    try:
        return os.fsencode(path)
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogatepass")


def path(column: bytes) -> str:
    """The name behind the bytes."""
    return os.fsdecode(column)


def bind(value: str | None) -> str | bytes | None:
    """Free text for a column; text with lone surrogates goes in as bytes."""
    if value is None or value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
    return value


def text(column: Column) -> str:
    """The text that `bind` put into a column."""
    return column.decode("utf-8", "surrogatepass") if isinstance(column, bytes) else str(column)


def maybe(column: Column) -> str | None:
    """The same, where there may be none."""
    return None if column is None else text(column)


def below(directory: str) -> tuple[bytes, bytes, bytes]:
    """A path, and the bounds (from, to; half open) between which the names below it lie."""
    key = name(directory)
    stem = key.rstrip(b"/")
    return key, stem + b"/", stem + b"0"


@dataclass(frozen=True, slots=True)
class StateColumns:
    """A state as a row holds it; `extra` is JSON: a file's belongings, a link's target, a directory's tree."""

    kind: str
    hash: bytes | None = None
    size: int | None = None
    mode: int | None = None
    extra: str | None = None


def from_state(state: State) -> StateColumns:
    """The columns of a state."""
    match state:
        case FileState(content=content, mode=mode, belongings=belongings):
            return StateColumns("file", bytes.fromhex(content.hash), content.size, mode, _told(belongings))
        case LinkState(target=target):
            return StateColumns("symlink", extra=json.dumps({"target": target}))
        case DirectoryState():
            tree = {"entries": state.entries, "trash": state.trash, "manifest": state.manifest}
            return StateColumns("directory", size=state.size, mode=state.mode, extra=json.dumps(tree))
        case Absent():
            return StateColumns("absent")


def to_state(columns: StateColumns, blobs: Blobs) -> State:
    """The state of the columns; a file's content is a handle, nothing is read for it."""
    match columns.kind:
        case "file" if columns.hash is not None:
            content = blobs.handle(columns.hash.hex(), columns.size or 0)
            return FileState(content, columns.mode, belongings=_belongings(columns.extra))
        case "symlink":
            return LinkState(json.loads(columns.extra or "")["target"])
        case "directory":
            tree = json.loads(columns.extra or "")
            return DirectoryState(
                mode=columns.mode,
                entries=tree["entries"],
                size=columns.size or 0,
                manifest=tuple((n, k, s) for n, k, s in tree["manifest"]),
                trash=tree["trash"],
            )
        case "absent":
            return ABSENT
    raise ValueError(f"no state is called {columns.kind!r}")


def _told(found: Belongings | None) -> str | None:
    if found is None:
        return None
    attributes = {name: base64.b64encode(value).decode("ascii") for name, value in found.attributes}
    return json.dumps({"owner": found.owner, "group": found.group, "attributes": attributes})


def _belongings(extra: str | None) -> Belongings | None:
    if extra is None:
        return None
    told = json.loads(extra)
    attributes = tuple((name, base64.b64decode(value)) for name, value in told["attributes"].items())
    return Belongings(told["owner"], told["group"], attributes)
