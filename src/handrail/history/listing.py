"""What was recorded: versions newest first, and a version against what is on disk now."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from handrail.history import places
from handrail.history.restore import check_restorable, find
from handrail.history.snapshot import RecordedView
from handrail.history.states import same, standing
from handrail.model.answers import Compared, ReadText, Versions
from handrail.model.changes import Plan
from handrail.model.errors import HandrailError, InvalidCall, NotThere
from handrail.model.files import ABSENT, Absent, DirectoryState, FileState, LinkState, State
from handrail.model.operations import Compare, History, Read, Want
from handrail.model.paths import RealPath, shown
from handrail.model.planner import Planner
from handrail.model.records import Version
from handrail.model.view import Target, View
from handrail.store.protocol import Filter, HistoryStore
from handrail.text import codec, diff

COMPARED_BYTES = 4 * 1024 * 1024
"""A larger content is not compared line by line."""

COUNTED = 100
"""Versions beyond the listed ones that are counted; more than that are `at_least` so many."""

_PAGE = 64


class HistoryPlanner:
    """Answers a `History`."""

    def __init__(self, store: HistoryStore) -> None:
        self._store = store

    def wants(self, operation: History) -> Sequence[Want]:
        """The path or directory asked about, if one is."""
        return () if operation.under is None else (Want(path=operation.under, access="history"),)

    def plan(self, operation: History, targets: Sequence[Target], view: View) -> Plan:
        """The versions of what policy shows; names of sensitive files are among them, their content is not."""
        under = targets[0].real.text if targets else None
        wanted = Filter(
            under=under,
            contains=operation.contains,
            task=operation.task,
            since=operation.since,
            until=operation.until,
        )
        found: list[Version] = []
        more = 0
        for version in self._seen(wanted, view, before_mutations=operation.before_mutations):
            if len(found) < operation.limit:
                found.append(version)
                continue
            more += 1
            if more == COUNTED:
                break
        return Plan(Versions(versions=tuple(found), more=more, at_least=more == COUNTED))

    def _seen(self, wanted: Filter, view: View, *, before_mutations: bool) -> Iterator[Version]:
        hidden: dict[str, bool] = {}
        after: int | None = None
        while page := self._store.versions(wanted, limit=_PAGE, after=after):
            view.check()
            for version in page:
                if version.path not in hidden:
                    hidden[version.path] = view.visibility(version.path) == "hidden"
                if hidden[version.path]:
                    continue
                listed = self._before(version) if before_mutations else version
                if listed is not None:
                    yield listed
            after = page[-1].id

    def _before(self, mutation: Version) -> Version | None:
        """The version before a mutation, told with the mutation's time, tool and task.

        The nothing before a file's first version comes under that version's number. Directories that were made on
        the way to a file are no checkpoint.
        """
        if mutation.action == "external":
            return None
        if mutation.previous is None:
            return None if isinstance(mutation.state, DirectoryState) else replace(mutation, state=ABSENT)
        before = self._store.version(mutation.previous)
        if before is None:
            return None
        return replace(
            before,
            action=mutation.action,
            tool=mutation.tool,
            session=mutation.session,
            task=mutation.task,
            objective=mutation.objective,
            time_ns=mutation.time_ns,
        )


class ComparePlanner:
    """Answers a `Compare`; `reader` shows a version's content as it shows a file's."""

    def __init__(self, store: HistoryStore, reader: Planner[Read]) -> None:
        self._store = store
        self._reader = reader

    def wants(self, operation: Compare) -> Sequence[Want]:
        """The path, else the version's; raises `NotThere` `version_not_found`, `InvalidCall` for neither."""
        if operation.path is not None:
            return (Want(path=operation.path, access="history"),)
        if operation.version is None:
            raise InvalidCall(
                "invalid_arguments", "There is nothing to compare.", hint="Name a path or a version, or both."
            )
        return places.wants(find(self._store, operation.version).path, "history")

    def plan(self, operation: Compare, targets: Sequence[Target], view: View) -> Plan:
        """The newest version, or the one named, against the disk; with the one named its content too."""
        version, path = self._chosen(operation, targets)
        now = standing(view, path)
        content = None
        if operation.version is not None:
            check_restorable(version)
            content = self._content(operation, version, path, view)
        text, said = _difference(version, now, path)
        return Plan(Compared(path=path.text, version=version, now=now, diff=text, said=said, content=content))

    def _chosen(self, operation: Compare, targets: Sequence[Target]) -> tuple[Version, RealPath]:
        if operation.version is None:
            path = targets[0].real
            newest = self._store.newest(path.text)
            if newest is None:
                raise _never_recorded(path, exists=targets[0].exists)
            return newest, path
        version = find(self._store, operation.version)
        if operation.path is not None and targets[0].real.text != version.path:
            raise InvalidCall(
                "invalid_arguments",
                f"Version {version.id} is of {shown(version.path)}, not of {targets[0].real}.",
                hint="Leave the version out, or name one of this path: file_history mode=list.",
                path=str(targets[0].real),
            )
        return version, places.place(version.path, targets)

    def _content(self, operation: Compare, version: Version, path: RealPath, view: View) -> ReadText | None:
        """The version's content as the reader shows it; none for what isn't text."""
        if not isinstance(version.state, FileState):
            return None
        read = operation.content or Read(path=path.text)
        want = Want(path=path.text, access="history")
        recorded = RecordedView(view, path, version)
        try:
            answer = self._reader.plan(read, (Target(want=want, path=path, exists=True),), recorded).answer
        except HandrailError as error:
            if error.kind in ("binary", "unsupported_kind", "missing_dependency"):
                return None
            raise
        return answer if isinstance(answer, ReadText) else None


def _difference(version: Version, now: State, path: RealPath) -> tuple[str, str]:
    """The unified difference from the version to the disk, and what is said besides or instead."""
    was = version.state
    if same(was, now):
        return "", "identical"
    said = "missing" if isinstance(now, Absent) else ""
    if isinstance(was, DirectoryState) or isinstance(now, DirectoryState):
        return "", "directory"
    if any(isinstance(state, FileState) and state.content.size > COMPARED_BYTES for state in (was, now)):
        return "", "too_large"
    if not version.restorable:
        return "", said or "pruned"
    before, after = _text(was), _text(now)
    if before is None or after is None:
        return "", said or "binary"
    return diff.unified(codec.printable(before), codec.printable(after), name=path.text), said


def _text(state: State) -> str | None:
    match state:
        case FileState(content=content):
            try:
                return codec.decode(content.bytes()).text
            except HandrailError as error:
                if error.kind in ("binary", "undecodable"):
                    return None
                raise
        case LinkState(target=target):
            return f"link to {shown(target)}\n"
        case _:
            return ""


def _never_recorded(path: RealPath, *, exists: bool) -> NotThere:
    if not exists:
        return NotThere(
            "not_found",
            f"Nothing stands at {path}, and nothing was ever recorded there.",
            hint="Look for the file with find_files.",
            path=str(path),
        )
    return NotThere(
        "version_not_found",
        f"No version of {path} is recorded: no tool has changed it.",
        hint="A file's history begins with the first change by a tool.",
        path=str(path),
    )
