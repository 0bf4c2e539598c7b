"""Plans `Find`: many questions to the tree answered as one list of entries, files or rows, page by page."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from handrail.model.answers import Found, Listed
from handrail.model.changes import Plan
from handrail.model.errors import HandrailError, InvalidCall, NotThere, WrongContent
from handrail.model.operations import Find, Query, Want
from handrail.model.paths import RealPath, shown
from handrail.model.view import Tally, Target, View
from handrail.search import globs, listing, pages, pattern
from handrail.search.content import Question, Search
from handrail.search.globs import Scope
from handrail.search.results import Memory

MOST_ENTRIES: Final = 8192
"""Files of a glob that a page may have room for."""


class FindPlanner:
    """Which files, which rows. A query that can't run has its error; a bad expression or glob fails the call.

    `max_file_bytes`: larger files aren't searched, and are counted as `too_large`.
    """

    def __init__(self, *, max_file_bytes: int | None = None) -> None:
        self._memory = Memory()
        self._max_file_bytes = max_file_bytes

    def wants(self, operation: Find) -> Sequence[Want]:
        """Each query's directory, asked for deny only; raises `InvalidCall` for what can't be read."""
        for index, query in enumerate(operation.queries):
            _checked(index, query, operation)
        return [Want(path=query.directory, access="search", optional=True) for query in operation.queries]

    def plan(self, operation: Find, targets: Sequence[Target], view: View) -> Plan:
        """Find; the answer is a `Found` whose paths are real and absolute."""
        errors: dict[int, HandrailError] = {}
        places: dict[int, RealPath] = {}
        for index, target in enumerate(targets):
            error = _unusable(target, operation, view)
            if error is not None:
                errors[index] = error
            else:
                places[index] = target.real
        if operation.mode == "search":
            found = self._search(operation, places, view)
        else:
            found = _entries(operation, places, view, errors)
        return Plan(replace(found, errors=errors))

    def _search(self, operation: Find, places: dict[int, RealPath], view: View) -> Found:
        scopes: dict[str, list[Scope]] = {}
        for index, place in places.items():
            query = operation.queries[index]
            one = globs.scope(place, query.file_pattern, view)
            scopes.setdefault(query.pattern or "", []).append(one)
        questions = [Question(pattern=_compiled(text, operation), scopes=each) for text, each in scopes.items()]
        roots = tuple(sorted(place.text for place in places.values()))
        search = Search(
            questions=questions,
            operation=operation,
            view=view,
            key=(view.session, replace(operation, offset=0, limit=None), roots),
            max_file_bytes=self._max_file_bytes,
        )
        return search.answer(self._memory)


def _checked(index: int, query: Query, operation: Find) -> None:
    try:
        if operation.mode == "search":
            if query.pattern is None:
                raise InvalidCall("invalid_arguments", "A search needs a pattern.")
            _compiled(query.pattern, operation)
            if query.file_pattern is not None:
                globs.check_glob(query.file_pattern)
        elif operation.mode == "glob":
            if query.pattern is None:
                raise InvalidCall("invalid_arguments", "A glob query needs a pattern.")
            globs.check_glob(query.pattern)
    except InvalidCall as error:
        if len(operation.queries) == 1:
            raise
        raise InvalidCall(
            error.kind,
            f"Query {index}: {error.message}",
            hint=error.hint,
            facts={**error.facts, "query": index},
        ) from error


def _compiled(text: str, operation: Find) -> pattern.Pattern:
    return pattern.compile(
        text, literal=operation.literal, ignore_case=operation.ignore_case, multiline=operation.multiline
    )


def _unusable(target: Target, operation: Find, view: View) -> HandrailError | None:
    if target.error is not None:
        return target.error
    name = shown(target.want.path)
    try:
        stat = view.stat(target.real)
    except HandrailError as error:
        return error
    if stat is None:
        return NotThere(
            "not_found", f"There is no directory {name}.", hint="List its parent with find_files.", path=name
        )
    if stat.kind == "directory" or (stat.kind == "file" and operation.mode == "search"):
        return None
    if stat.kind == "file":
        return WrongContent(
            "not_regular_file", f"{name} is a file, not a directory.", hint="Read it with read_files.", path=name
        )
    return WrongContent("not_regular_file", f"{name} is a {stat.kind}, which can't be searched.", path=name)


def _entries(operation: Find, places: dict[int, RealPath], view: View, errors: dict[int, HandrailError]) -> Found:
    tally = Tally({})
    started = view.now()
    if operation.mode == "glob":
        scopes = [globs.scope(place, operation.queries[index].pattern, view) for index, place in places.items()]
        files = globs.newest(scopes, view, tally, respect_ignore=operation.respect_ignore)
        if not files and operation.respect_ignore and tally.complete:
            tally.skip("ignored", len(globs.newest(scopes, view, Tally({}), respect_ignore=False)))
        total = len(files)
        rest = globs.listed(files[operation.offset : operation.offset + MOST_ENTRIES])
    else:
        found: list[Listed] = []
        for index, place in places.items():
            try:
                found += (
                    listing.below(place, view, tally, respect_ignore=operation.respect_ignore)
                    if operation.queries[index].recursive
                    else listing.entries(place, view)
                )
            except HandrailError as error:
                if error.kind == "cancelled":
                    raise
                errors[index] = error
        units = listing.ordered(found)
        total = len(units)
        rest = units[operation.offset :]
    page = pages.fitting(rest, pages.size_of_entry, limit=None, cap=operation.text_cap)
    kept = page[: operation.limit]
    end = operation.offset + len(kept)
    return Found(
        mode=operation.mode,
        listed=tuple(kept),
        total=total,
        first=operation.offset + 1 if kept else 0,
        last=end if kept else 0,
        next_offset=end if kept and end < total else None,
        dropped=max(total - operation.offset, 0) - len(page),
        skipped={reason: count for reason, count in tally.skipped.items() if count},
        complete=tally.complete,
        searched_at=started,
    )
