"""How a change is shown to a person and in a receipt: one unified diff a path, or words where there is no text."""

from collections.abc import Sequence

from handrail.model.changes import Change
from handrail.model.errors import WrongContent
from handrail.model.files import Absent, DirectoryState, FileState, LinkState, State
from handrail.model.paths import shown
from handrail.model.records import ProposedChange
from handrail.text import codec, diff

SHOWN_BYTES = 4 * 1024 * 1024
"""A larger content is described in words, not compared line by line."""


def diff_of(change: Change, *, max_lines: int | None = None) -> str:
    """The change as a unified diff; binary, huge, linked and directory states are said in words."""
    before, after = _text(change.before, change.encoding), _text(change.after, change.encoding)
    if before is None or after is None:
        return f"{shown(change.path.text)}: {_words(change.before)} -> {_words(change.after)}\n"
    return diff.unified(before, after, name=change.path.text, max_lines=max_lines)


def proposed(changes: Sequence[Change]) -> tuple[ProposedChange, ...]:
    """The changes as an approval carries them: the exact diff and the hash of what it starts from."""
    return tuple(
        ProposedChange(path=c.path.text, action=c.action, diff=diff_of(c), base_hash=content_hash(c.before))
        for c in changes
    )


def content_hash(state: State) -> str | None:
    """The SHA-256 of a file's bytes, `None` for anything else."""
    return state.content.hash if isinstance(state, FileState) else None


def _text(state: State, encoding: str | None) -> str | None:
    if isinstance(state, Absent):
        return ""
    if not isinstance(state, FileState) or state.content.size > SHOWN_BYTES:
        return None
    try:
        return codec.decode(state.content.bytes(), encoding=encoding).text
    except WrongContent:
        return None


def _words(state: State) -> str:
    match state:
        case Absent():
            return "nothing"
        case FileState():
            return f"a file of {state.content.size} bytes"
        case LinkState():
            return f"a link to {shown(state.target)}"
        case DirectoryState():
            return f"a directory with {state.entries} entries, {state.size} bytes"
