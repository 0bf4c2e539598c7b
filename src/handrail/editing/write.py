"""What a file would become by being written whole: created, or deliberately replaced.

Rule: spec of the batch tools, "write", and of Write; what of the old file stays is in docs/decisions/0003. It writes
nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from handrail.editing import unusual
from handrail.editing.edit import MAX_EDIT_BYTES, too_large
from handrail.model.answers import Changed
from handrail.model.changes import Action, Change, Plan
from handrail.model.errors import InvalidCall, NotThere, WrongContent
from handrail.model.files import ABSENT, Bytes, FileState
from handrail.model.operations import Want, Write
from handrail.model.paths import RealPath
from handrail.model.view import Snapshot, Target, View
from handrail.text import codec, lines
from handrail.text.codec import Form, Text
from handrail.text.declared import NOTHING, Declared

NAMES: Final = 20
"""Names that are tried for a file that must not take another's."""
_MARK: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class _Old:
    """What stands there now: its bytes, and its text where it is text that fits into memory."""

    state: FileState
    form: Form | None
    text: Text | None


class WritePlanner:
    """Plans `Write`; `max_bytes` is the most that is written at once."""

    def __init__(
        self, declared: Callable[[RealPath], Declared] = lambda _: NOTHING, *, max_bytes: int = MAX_EDIT_BYTES
    ) -> None:
        self._declared = declared
        self._max_bytes = max_bytes

    def wants(self, operation: Write) -> Sequence[Want]:
        """The file; then the names to count up through, or the directory that must exist."""
        follow = operation.through_links
        first = Want(path=operation.path, access="write", follow=follow)
        if operation.unique:
            names = (_numbered(operation.path, number) for number in range(2, NAMES + 1))
            return (first, *(Want(path=name, access="write", follow=follow, optional=True) for name in names))
        if not operation.parents:
            return (first, Want(path=_directory(operation.path), access="search", optional=True))
        return (first,)

    def plan(self, operation: Write, targets: Sequence[Target], view: View) -> Plan:
        """The written file as one change; none when it holds exactly this already."""
        target = _chosen(operation, targets)
        path = target.real
        declared = self._declared(path)
        old = self._old(path, view, declared)
        if old is None and not operation.parents and not operation.unique:
            _need_directory(path, targets[1])
        text = _text(operation.content, old, declared)
        form = (old and old.form) or declared.form()
        data = _encoded(text, form, path)
        if len(data) > self._max_bytes:
            raise too_large(path, len(data), self._max_bytes)
        after = Bytes(data)
        unchanged = old is not None and old.state.content.hash == after.hash
        warnings = () if unchanged else tuple(_noticed(operation.content, text, data, old, declared))
        answer = Changed(
            path=path,
            bytes_written=after.size,
            lines=lines.count(text),
            hash=after.hash,
            warnings=warnings,
            existed=old is not None,
            unchanged=unchanged,
            emptied=old is not None and not unchanged and not text,
            shown_rows=((1, lines.count(text)),) if text else (),
        )
        if unchanged:
            return Plan(answer)
        before = ABSENT if old is None else old.state
        action: Action = "create" if old is None else "modify"
        encoding = declared.encoding_of(data)
        change = Change(path, before, FileState(after), action, parents=operation.parents, encoding=encoding)
        return Plan(answer, (change,), unusual=warnings)

    def _old(self, path: RealPath, view: View, declared: Declared) -> _Old | None:
        stat = view.stat(path)
        if stat is None:
            return None
        if stat.kind == "directory":
            raise WrongContent(
                "not_regular_file",
                f"{path} is a directory.",
                hint="Name a file in it.",
                path=str(path),
                facts={"file_kind": stat.kind},
            )
        snapshot = view.look(path)
        state = FileState(snapshot.content(), snapshot.stat.mode)
        if snapshot.stat.size > self._max_bytes:
            head = snapshot.read(0, codec.HEAD)
            encoding = declared.encoding_of(head)
            form = codec.chosen(head, encoding) if encoding else codec.sniff(head, whole=False)
            return _Old(state, form, None)
        text = _decoded(snapshot, declared)
        return _Old(state, text.form if text else None, text)


def _decoded(snapshot: Snapshot, declared: Declared) -> Text | None:
    try:
        return declared.decode(snapshot.content().bytes())
    except WrongContent:
        return None


# which name


def _chosen(operation: Write, targets: Sequence[Target]) -> Target:
    first = targets[0]
    if operation.unique:
        free = (t for t in targets if t.path is not None and not t.exists and not t.linked)
        target = next(free, None)
        if target is None:
            raise InvalidCall("invalid_path", "Every name for the new file is taken.", hint="Name the file yourself.")
        return target
    if first.linked and not operation.through_links:
        raise InvalidCall(
            "symlink_refused",
            f"{first.real} is a symbolic link; it is not written through.",
            hint="Write to the file that it points to, by that file's own path.",
            path=str(first.real),
        )
    if first.linked and not first.exists:
        raise InvalidCall(
            "symlink_refused",
            f"This is a symbolic link to {first.real}, where nothing stands.",
            hint="To create that file, name it by its own path.",
            path=str(first.real),
        )
    return first


def _numbered(path: str, number: int) -> str:
    head, slash, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    if not stem:
        return f"{head}{slash}{name}-{number}"
    return f"{head}{slash}{stem}-{number}{dot}{suffix}"


def _directory(path: str) -> str:
    head, slash, _ = path.rpartition("/")
    return head or slash or "."


def _need_directory(path: RealPath, directory: Target) -> None:
    if directory.path is not None and not directory.exists:
        raise NotThere(
            "not_found",
            f"The directory of {path} doesn't exist.",
            hint="Create the directory first, or write to one that exists.",
            path=str(path),
        )


# which bytes


def _text(content: str, old: _Old | None, declared: Declared) -> str:
    """The content as it is written: what the reader doesn't show of the old file, its mark and line ends, stays.

    A new file is as declared: its line ends, where none with a CR was sent, and that its last line is ended.
    """
    end = _end(old, declared)
    form = declared.form() if old is None else old.form
    if form and form.bom:
        content = content.removeprefix(_MARK)
    if old is None and declared.final_newline and content and not content.endswith("\n"):
        content += end if "\r" in content or "\n" not in content else "\n"
    return content if "\r" in content else lines.with_ends(content, end)


def _end(old: _Old | None, declared: Declared) -> str:
    if old is None:
        return declared.end or "\n"
    return "\n" if old.text is None else lines.added_end(old.text.text, declared.end)


def _encoded(text: str, form: Form, path: RealPath) -> bytes:
    try:
        return codec.encode(text, form)
    except WrongContent as error:
        raise WrongContent(
            error.kind,
            error.message,
            hint=f"Use characters that {form.encoding} has; to write the file in UTF-8 instead, remove it first.",
            path=str(path),
            facts=error.facts,
        ) from None


# what to notice


def _noticed(content: str, text: str, data: bytes, old: _Old | None, declared: Declared) -> Iterator[str]:
    before = old.text.text if old and old.text else ""
    if old is not None and old.form is None:
        yield f"It replaces a binary file of {old.state.content.size} bytes with text."
    if shrinks := unusual.shrinkage(lines.count(before), lines.count(text)):
        yield shrinks
    if old is not None:
        yield from unusual.placeholders(before, text, rows=((1, lines.count(text)),))
        yield from unusual.misread(data, text, declared)
    if old is not None and old.text is not None:
        yield from _ends_noticed(content, text, before)


def _ends_noticed(content: str, text: str, before: str) -> Iterator[str]:
    if "\n" in text and "\r\n" in text and "\r" not in content:
        yield (
            "Its line ends stay CRLF, as the file had them; to change them, replace all of \\r\\n by \\n in an edit."
        )
    elif "\n" in before and "\n" in text and lines.dominant_end(before) != lines.dominant_end(text):
        yield "Its line ends change to CRLF." if lines.dominant_end(text) == "\r\n" else "Its line ends change to LF."
