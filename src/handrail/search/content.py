"""Answers a search: runs its questions, orders and joins what they found, and makes the page that was asked for."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from handrail.model.answers import Found, MatchingFile, MatchingRow
from handrail.model.operations import Find
from handrail.model.paths import RealPath, within
from handrail.model.view import Tally, View
from handrail.search import engine, globs, pages, rows
from handrail.search.engine import Accept, Asked
from handrail.search.globs import Scope
from handrail.search.pages import Memory, Results
from handrail.search.pattern import Pattern
from handrail.search.rows import FileRows

KEPT_ROWS: Final = 8192
"""Rows of text that a search keeps; those of further files are found again when their page is asked for."""
MOST_FILES: Final = 4096
"""Files on one page of rows."""


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
        never = any(question.pattern.never for question in self.questions)
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
        several = len(self.questions) > 1
        for asked in self._asked(texts=self.operation.unit == "content" or several):
            for file in engine.matching(asked, self.view, tally, binaries=memory.binaries):
                kept += len(file.rows or ())
                known = found.get(file.path)
                if several:
                    found[file.path] = rows.merged(known, file) if known is not None else file
                else:
                    found[file.path] = replace(file, rows=None) if kept > KEPT_ROWS else file
        if not found and self.operation.respect_ignore and tally.complete:
            self._count_ignored(tally)
        return Results(
            files=sorted(found.values(), key=lambda file: file.path.text),
            skipped={reason: count for reason, count in tally.skipped.items() if count},
            complete=tally.complete,
            at=started,
            total_rows=sum(file.count for file in found.values()),
        )

    def _asked(self, *, texts: bool, files: Sequence[RealPath] | None = None) -> Iterator[Asked]:
        """What the engine is asked, one by one; `files`: of these files alone."""
        operation = self.operation
        for question in self.questions:
            for scopes in _apart(question.scopes) if files is None else [question.scopes]:
                yield Asked(
                    pattern=question.pattern,
                    roots=tuple(dict.fromkeys(one.only or one.directory for one in scopes)) if files is None else files,
                    accept=_any(scopes),
                    names=globs.names([None if one.only else one.glob for one in scopes]) if files is None else (),
                    ignore_case=operation.ignore_case,
                    file_type=operation.file_type if files is None else None,
                    before=operation.before,
                    after=operation.after,
                    respect_ignore=operation.respect_ignore,
                    texts=texts,
                    max_file_bytes=self.max_file_bytes,
                )

    def _count_ignored(self, tally: Tally) -> None:
        aside = Tally({})
        ignored = 0
        for one in {scope.directory: scope for question in self.questions for scope in question.scopes}.values():
            stat = self.view.stat(one.directory)
            if one.only is not None or stat is None or stat.kind != "directory":
                continue
            seen = {path for path in self.view.walk(one.directory, aside) if one.holds(path.text)}
            every = self.view.walk(one.directory, aside, respect_ignore=False)
            ignored += sum(one.holds(path.text) and path not in seen for path in every)
        if ignored:
            tally.skip("ignored", ignored)

    def _files_page(self, results: Results) -> Found:
        files = results.files[self.operation.offset :]
        rest = [MatchingFile(path=file.path.text, count=file.count, rows=file.first) for file in files]
        page = pages.fitting(rest, pages.size_of_entry, limit=self.operation.limit, cap=self.operation.text_cap)
        return replace(
            self._placed(len(page), len(results.files)),
            files=tuple(page),
            changed=self._changed(files[: len(page)], results.at),
        )

    def _rows_page(self, results: Results, memory: Memory) -> Found:
        operation = self.operation
        parts = _parts(results, operation.offset, operation.limit)
        again, complete = self._again([file.path for file, _, _ in parts if file.rows is None], memory)
        found: list[MatchingRow] = []
        for file, start, take in parts:
            known = file if file.rows is not None else again.get(file.path, file)
            found += pages.rows_of(known, skip=start, take=take, before=operation.before, after=operation.after)
        page = _whole(found, operation.text_cap)
        count = sum(take for _, _, take in parts)
        if len(page) < len(found):
            count = sum(not row.context for row in page)
        shown = {row.path for row in page}
        return replace(
            self._placed(count, results.total_rows),
            rows=tuple(_blocks(page)),
            changed=self._changed([file for file, _, _ in parts if file.path.text in shown], results.at),
            complete=complete,
        )

    def _again(self, paths: Sequence[RealPath], memory: Memory) -> tuple[dict[RealPath, FileRows], bool]:
        """The rows of these files, found once more, and whether there was time for all."""
        tally = Tally({})
        found: dict[RealPath, FileRows] = {}
        for asked in self._asked(texts=True, files=paths) if paths else ():
            for file in engine.matching(asked, self.view, tally, binaries=memory.binaries):
                found[file.path] = file
        return found, tally.complete

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
            stat = self.view.stat(file.path)
            if stat is None or max(stat.mtime_ns, stat.ctime_ns) > at:
                changed.append(file.path.text)
        return tuple(changed)


def _apart(scopes: Sequence[Scope]) -> Sequence[Sequence[Scope]]:
    """Places that lie in each other are searched one by one, for what one ignores another may name."""
    places = {(one.only or one.directory).text for one in scopes}
    nested = any(one != other and within(one, other) for one in places for other in places)
    return [[one] for one in scopes] if nested else [scopes]


def _any(scopes: Sequence[Scope]) -> Accept:
    if len(scopes) == 1:
        return scopes[0].holds
    return lambda path: any(one.holds(path) for one in scopes)


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
