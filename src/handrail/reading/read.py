"""Plans a read: which kind of file it is by its content, and who reads it. It changes nothing and asks nobody."""

from collections.abc import Callable, Sequence
from typing import Final

from handrail.model.answers import ReadAnswer, ReadBinary
from handrail.model.changes import Plan
from handrail.model.errors import HandrailError, InvalidCall, NotThere, TooLarge, WrongContent
from handrail.model.operations import Read, Want
from handrail.model.paths import RealPath
from handrail.model.view import Snapshot, Target, View
from handrail.reading.index import Indexes
from handrail.reading.kinds import HEAD, Kind, kind_of
from handrail.reading.nearest import not_found
from handrail.reading.text import Page
from handrail.text.declared import LOOKED_AT, NOTHING, Declared

_MOST_RAW: Final = 64 * 1024 * 1024


class ReadPlanner:
    """The door of reading: `Read` -> `ReadText` or `ReadBinary`. Safe for many calls at once."""

    def __init__(self, declared: Callable[[RealPath], Declared] = lambda _: NOTHING) -> None:
        self._declared = declared
        self._indexes = Indexes()

    def wants(self, operation: Read) -> Sequence[Want]:
        """The one file, read."""
        if operation.limit is not None and operation.limit < 0:
            raise InvalidCall("invalid_arguments", "limit is a number from 0 up.", hint="Leave it out for a full page.")
        return [Want(path=operation.path, access="read")]

    def plan(self, operation: Read, targets: Sequence[Target], view: View) -> Plan:
        """The answer, nothing to change. Raises `NotThere`, `TooLarge`, `WrongContent`, `BackendFailed`."""
        return Plan(answer=self.read(operation, _opened(targets[0].real, view), view))

    def read(self, operation: Read, snapshot: Snapshot, view: View) -> ReadAnswer:
        """What an opened file says."""
        size, most = snapshot.stat.size, operation.max_file_bytes
        if most is not None and size > most:
            raise TooLarge(
                "too_large",
                f"{snapshot.path} has {size} bytes; at most {most} are read.",
                hint="Search in it with find_files or Grep; a person can raise max_read_bytes.",
                path=str(snapshot.path),
                facts={"bytes": size, "max_bytes": most},
            )
        try:
            encoding = operation.encoding or self._declared_encoding(snapshot)
            index = self._indexes.of(snapshot, view, encoding=encoding)
        except HandrailError as error:
            error.path = error.path or str(snapshot.path)
            raise
        if index.form is not None:
            return Page(operation, index, snapshot, view).answer()
        kind = kind_of(snapshot.read(0, HEAD), snapshot.read(max(0, index.size - HEAD), HEAD))
        if kind.reader is not None:
            return kind.reader(operation, snapshot, view)
        if kind.group in {"archive", "data", "program"}:
            return ReadBinary(
                path=snapshot.path,
                media_type=kind.media_type,
                size=index.size,
                hash=index.hash,
                data=_raw(snapshot) if operation.raw_bytes else None,
            )
        raise _unsupported(kind, snapshot.path, index.size)

    def _declared_encoding(self, snapshot: Snapshot) -> str | None:
        declared = self._declared(snapshot.path)
        return declared.encoding_of(snapshot.read(0, LOOKED_AT)) if declared.encoding else None


def _opened(path: RealPath, view: View) -> Snapshot:
    try:
        return view.look(path)
    except NotThere as error:
        if error.kind != "not_found":
            raise
        raise not_found(path, view) from None


def _raw(snapshot: Snapshot) -> bytes:
    content = snapshot.content()
    if content.size > _MOST_RAW:
        raise TooLarge(
            "too_large",
            f"{snapshot.path} has {content.size} bytes; at most {_MOST_RAW} are handed out as they are.",
            hint="Ask a person to convert or split it.",
            path=str(snapshot.path),
            facts={"bytes": content.size, "max_bytes": _MOST_RAW},
        )
    return content.bytes()


def _unsupported(kind: Kind, path: RealPath, size: int) -> WrongContent:
    facts = {"file_kind": kind.name, "media_type": kind.media_type, "bytes": size}
    if kind.group in {"audio", "video"}:
        return WrongContent(
            "transcription_unavailable",
            f"{path} is {kind.said}; no speech-to-text provider is configured, so it can't be read.",
            hint="Ask a person for a transcript, or have a speech-to-text provider configured.",
            path=str(path),
            facts=facts,
        )
    return WrongContent(
        "unsupported_kind",
        f"{path} is {kind.said}; this version of Handrail can't read it.",
        hint="Convert it to text or Markdown and read that, or show it to a person with open_file.",
        path=str(path),
        facts=facts,
    )
