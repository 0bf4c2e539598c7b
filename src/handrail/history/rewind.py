"""One state without a change that was made before it: what would stand there had the change never happened.

It knows states alone: neither versions nor tasks nor where they lie.
"""

from dataclasses import dataclass

from handrail.history.merge import Labels, merge
from handrail.history.states import mode_of, said, same, with_mode
from handrail.model.errors import HandrailError
from handrail.model.files import Absent, Bytes, DirectoryState, FileState, State
from handrail.text import codec
from handrail.text.codec import Form

MERGED_BYTES = 8 * 1024 * 1024
"""Larger texts are not merged; a change by others then is a conflict."""


@dataclass(frozen=True, slots=True)
class Rewound:
    """The state without the change; `merged`: it holds changes of others too; `kept`: only because others use it."""

    state: State
    merged: bool = False
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Clash:
    """Why the change can't be taken out (a clause), and the text with markers where there is one."""

    why: str
    count: int = 1
    marked: str = ""


def rewound(after: State, before: State, now: State, *, label: str = "before") -> Rewound | Clash:
    """`now`, without the change that led from `before` to `after`.

    What others changed since is kept: permission bits, and lines apart from those that the change touched.
    """
    if same(now, after):
        return Rewound(with_mode(before, _bits(after, before, now)))
    if same(now, before):
        return Rewound(with_mode(now, _bits(after, before, now)))
    match after, before, now:
        case FileState(), FileState(), FileState():
            return _merged(after, before, now, label)
        case _, _, Absent():
            return Clash("it was removed since")
        case DirectoryState(), _, DirectoryState():
            return Clash("what lies in the directory was changed since")
        case FileState(), _, FileState():
            return Clash("it was changed since, and the undo would remove it")
        case _:
            return Clash(f"it is {said(now)} by now, which others made since")


def _bits(after: State, before: State, now: State) -> int | None:
    """The permission bits: those of before the change, unless others set them since."""
    if mode_of(now) is None or not isinstance(before, FileState):
        return mode_of(before)
    touched = isinstance(after, FileState) and mode_of(after) is not None
    kept = mode_of(before) is None or (touched and mode_of(now) != mode_of(after))
    return mode_of(now) if kept else mode_of(before)


def _merged(after: FileState, before: FileState, now: FileState, label: str) -> Rewound | Clash:
    if max(state.content.size for state in (after, before, now)) > MERGED_BYTES:
        return Clash("it was changed since, and is too large to be merged")
    texts = [state.content.bytes() for state in (after, before, now)]
    try:
        forms = [codec.form_of(data) for data in texts]
        wide = any(form.encoding.startswith(("utf-16", "utf-32")) for form in forms)
        base, ours, theirs = _characters(texts) if wide else _octets(texts)
    except HandrailError:
        return Clash("it was changed since, and is no text that could be merged")
    found = merge(base, ours, theirs, labels=Labels(ours=label, theirs="on disk now"))
    if found.conflicts:
        marked = found.text if wide else _readable(found.text.encode("latin-1"), forms[2])
        return Clash("it was changed since in the same lines", found.conflicts, marked)
    try:
        data = codec.encode(found.text, forms[2]) if wide else found.text.encode("latin-1")
    except HandrailError:
        return Clash("it was changed since to an encoding that lacks a character of the text before")
    return Rewound(FileState(Bytes(data), _bits(after, before, now)), merged=True)


def _octets(texts: list[bytes]) -> tuple[str, str, str]:
    """Each byte as a character: but for UTF-16 and UTF-32 no encoding has a line end's byte within a character."""
    base, ours, theirs = (data.decode("latin-1") for data in texts)
    return base, ours, theirs


def _characters(texts: list[bytes]) -> tuple[str, str, str]:
    base, ours, theirs = (codec.decode(data).text for data in texts)
    return base, ours, theirs


def _readable(data: bytes, form: Form) -> str:
    """The marked text for people and models; stray bytes become U+FFFD."""
    try:
        return codec.printable(codec.decode(data, encoding=form.encoding).text)
    except HandrailError:
        return data.decode("utf-8", "replace")
