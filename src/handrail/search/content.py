"""Answers a search: runs its questions, orders and joins what they found, and makes the page that was asked for."""

from array import array
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from handrail.model.answers import Found, MatchingFile, MatchingRow
from handrail.model.errors import BackendFailed, OutOfDate
from handrail.model.operations import Find
from handrail.model.paths import RealPath, within
from handrail.model.view import RowHit, Sifted, Tally, View
from handrail.search import engine, globs, pages
from handrail.search.asked import Accept, Asked
from handrail.search.globs import Scope
from handrail.search.inside import Inside
from handrail.search.pattern import Pattern
from handrail.search.results import FileRows, Memory, Results
from handrail.search.rows import FIRST

KEPT_ROWS: Final = 8192
"""Rows that a search keeps of what RE2 found; those of further files are found again when their page is asked for."""
MOST_FILES: Final = 4096
"""Files on one page of rows."""
MOST_ROWS: Final = 1_000_000
"""Rows of one file that several patterns are merged from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One pattern and all the places that it is asked of."""

    pattern: Pattern
    scopes: Sequence[Scope]


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """All questions of one call and what they are asked with; `key` names the search between its pages."""

    questions: Sequence[Question]
    operation: Find
    view: View
    key: Hashable
    max_file_bytes: int | None = None

    def answer(self, memory: Memory) -> Found:
        """The page at the operation's offset; one after the first comes from memory while that has it."""
        results = memory.get(self.key) if self.operation.offset else None
        if results is None:
            results = self._results(memory)
            if results.complete:
                memory.put(self.key, results)
        found = self._rows_page(results, memory) if self.operation.unit == "content" else self._files_page(results)
        never = not results.files and any(question.pattern.never for question in self.questions)
        return replace(
            found,
            skipped=results.skipped,
            complete=results.complete and found.complete,
            searched_at=results.at,
            notes=("The pattern holds a line end, which no row has in it; set multiline=true.",) if never else (),
        )

    def _results(self, memory: Memory) -> Results:
        tally = Tally({})
        started = self.view.now()
        found: dict[RealPath, FileRows] = {}
        kept = 0
        for asked in self._asked():
            for file in engine.matching(asked, self.view, tally, memory=memory):
                kept += len(file.rows or ())
                known = found.get(file.path)
                if known is not None and asked.numbers:
                    found[file.path] = _joined(known, file)
                elif known is None:
                    found[file.path] = file if kept <= KEPT_ROWS else replace(file, rows=None)
        if not found and self.operation.respect_ignore and tally.complete:
            self._count_ignored(tally)
        return Results(
            files=sorted(found.values(), key=lambda file: file.path.text),
            skipped={reason: count for reason, count in tally.skipped.items() if count},
            complete=tally.complete,
            at=started,
            total_rows=sum(file.count for file in found.values()),
        )

    def _asked(self) -> Iterator[Asked]:
        """What the engine is asked, one by one."""
        operation = self.operation
        several = len(self.questions) > 1
        of_type = globs.of_type(operation.file_type, self.view)
        for question in self.questions:
            for scopes in _apart(question.scopes):
                yield Asked(
                    pattern=question.pattern,
                    roots=tuple(dict.fromkeys(one.only or one.directory for one in scopes)),
                    accept=_both(_any(scopes), of_type),
                    names=globs.names([None if one.only else one.glob for one in scopes]),
                    ignore_case=operation.ignore_case,
                    file_type=operation.file_type,
                    before=operation.before,
                    after=operation.after,
                    respect_ignore=operation.respect_ignore,
                    texts=operation.unit == "content" and not several,
                    numbers=several,
                    max_file_bytes=self.max_file_bytes,
                )

    def _count_ignored(self, tally: Tally) -> None:
        aside = Tally({})
        ignored = 0
        for one in {scope.directory: scope for question in self.questions for scope in question.scopes}.values():
            stat = self.view.stat(one.directory)
            if one.only is None and stat is not None and stat.kind == "directory":
                tree = self.view.tree(one.directory, aside) or ()
                ignored += sum(self._ignored_in(place, one, aside) for place in tree)
        if ignored:
            tally.skip("ignored", ignored)

    def _ignored_in(self, place: Sifted, one: Scope, aside: Tally) -> int:
        count = 0
        for name in place.directory.ignored:
            path = place.child(name.rstrip("/"))
            if not name.endswith("/"):
                count += one.holds(path.text) and self.view.visibility(path.text) == "open"
                continue
            for below in self.view.tree(path, aside, respect_ignore=False) or ():
                base = below.path.text + "/"
                count += sum(one.holds(base + file) for file in below.open)
        return count

    def _files_page(self, results: Results) -> Found:
        files = results.files[self.operation.offset :]
        rest = [MatchingFile(path=file.path.text, count=file.count, rows=tuple(file.numbers[:FIRST])) for file in files]
        page = pages.fitting(rest, pages.size_of_entry, limit=self.operation.limit, cap=self.operation.text_cap)
        return replace(
            self._placed(len(page), len(results.files)),
            files=tuple(page),
            changed=self._changed(files[: len(page)], results.at),
        )

    def _rows_page(self, results: Results, memory: Memory) -> Found:
        operation = self.operation
        parts = _parts(results, operation.offset, operation.limit)
        tally = Tally({})
        found: list[MatchingRow] = []
        room = operation.text_cap
        for file, start, take in parts:
            rows = pages.rows_of(file.path, self._rows(file, start, start + take, memory, tally))
            found += rows
            room -= sum(map(pages.size_of_row, rows))
            if room < 0 or not tally.complete:
                break
        page = _whole(found, operation.text_cap) if found else []
        count = sum(not row.context for row in page)
        shown = {row.path for row in page}
        return replace(
            self._placed(count, results.total_rows),
            rows=tuple(_blocks(page)),
            changed=self._changed([file for file, _, _ in parts if file.path.text in shown], results.at),
            complete=tally.complete,
        )

    def _rows(self, file: FileRows, start: int, stop: int, memory: Memory, tally: Tally) -> Sequence[RowHit]:
        """Matching rows of one file, by number from 0, and those around them: as kept, or found once more."""
        before, after = self.operation.before, self.operation.after
        if file.rows is not None:
            return pages.part(file.rows, start, stop, before=before, after=after)
        if file.told is not None and len(self.questions) == 1 and not before and not after:
            told = self.view.rows(file.told, start, stop)
            if told is not None:
                return told
        try:
            return self._again(file.path, start, stop, memory)
        except BackendFailed as error:
            if error.kind != "deadline_exceeded":
                raise
            tally.complete = False
            return ()

    def _again(self, path: RealPath, start: int, stop: int, memory: Memory) -> Sequence[RowHit]:
        aside = Tally({})
        every = [Inside(asked, self.view, aside, memory) for asked in self._asked() if asked.accept(path.text)]
        if len(self.questions) == 1:
            return every[0].shown(path, start, stop) if every else ()
        rows: dict[int, RowHit] = {}
        for one in every:
            for row in one.shown(path, 0, MOST_ROWS):
                if row.row not in rows or rows[row.row].context:
                    rows[row.row] = row
        ordered = [rows[number] for number in sorted(rows)]
        return pages.part(ordered, start, stop, before=self.operation.before, after=self.operation.after)

    def _placed(self, count: int, total: int) -> Found:
        end = self.operation.offset + count
        return Found(
            mode="search",
            unit=self.operation.unit,
            total=total,
            first=self.operation.offset + 1 if count else 0,
            last=end if count else 0,
            next_offset=end if count and end < total else None,
        )

    def _changed(self, files: Sequence[FileRows], at: int) -> tuple[str, ...]:
        changed = []
        for file in files:
            try:
                stat = self.view.stat(file.path)
            except OutOfDate:
                stat = None
            if stat is None or max(stat.mtime_ns, stat.ctime_ns) > at:
                changed.append(file.path.text)
        return tuple(changed)


def _apart(scopes: Sequence[Scope]) -> Sequence[Sequence[Scope]]:
    """Places that lie in each other are searched one by one, for what one ignores another may name."""
    places = {(one.only or one.directory).text for one in scopes}
    nested = any(one != other and within(one, other) for one in places for other in places)
    return [[one] for one in scopes] if nested else [scopes]


def _joined(one: FileRows, other: FileRows) -> FileRows:
    """What two patterns found in one file; a row that both match counts once."""
    numbers = array("Q", sorted({*one.numbers, *other.numbers}))
    return FileRows(path=one.path, count=len(numbers), numbers=numbers)


def _any(scopes: Sequence[Scope]) -> Accept:
    if len(scopes) == 1:
        return scopes[0].holds
    return lambda path: any(one.holds(path) for one in scopes)


def _both(one: Accept, other: Accept | None) -> Accept:
    return one if other is None else lambda path: other(path) and one(path)


def _parts(results: Results, offset: int, limit: int | None) -> list[tuple[FileRows, int, int]]:
    """The files of a page of rows, each with how many of its rows to pass over and to take."""
    parts: list[tuple[FileRows, int, int]] = []
    skip = offset
    left = limit if limit is not None else results.total_rows
    for file in results.files:
        if left <= 0 or len(parts) == MOST_FILES:
            break
        if skip < file.count:
            take = min(file.count - skip, left)
            parts.append((file, skip, take))
            left -= take
        skip = max(skip - file.count, 0)
    return parts


def _whole(found: Sequence[MatchingRow], cap: int) -> Sequence[MatchingRow]:
    """What a page has room for, ended after a matching row; that one row at least, whatever stands before it."""
    page = list(pages.fitting(found, pages.size_of_row, limit=None, cap=cap))
    if len(page) == len(found):
        return page
    while page and page[-1].context:
        page.pop()
    return page or found[: next(at for at, row in enumerate(found) if not row.context) + 1]


def _blocks(page: Sequence[MatchingRow]) -> Iterator[MatchingRow]:
    block = -1
    before: tuple[str, int] | None = None
    for row in page:
        if before != (row.path, row.row - 1):
            block += 1
        before = (row.path, row.row)
        yield replace(row, block=block)
