"""Finds the files that match one pattern: ripgrep narrows down, RE2 decides where the two could differ."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from handrail.model.errors import BackendFailed, HandrailError, InvalidCall, WrongContent
from handrail.model.paths import RealPath
from handrail.model.view import FileHits, Grep, Tally, View
from handrail.search import rows
from handrail.search.pattern import Pattern
from handrail.search.rows import FileRows
from handrail.text import codec

MOST_BINARIES: Final = 100_000
"""Files that are remembered to be no text."""
LARGEST: Final = 64 << 20
"""Bytes of a file that RE2 looks at in this process."""

Binaries = dict[str, tuple[int, int, int, int]]
Accept = Callable[[str], bool]
"""Says of a real, absolute path whether it was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One pattern over some roots. `accept` decides by real path; `names` only narrows the walk; `texts`: keep rows."""

    pattern: Pattern
    roots: Sequence[RealPath]
    accept: Accept
    names: Sequence[str] = ()
    ignore_case: bool = False
    file_type: str | None = None
    before: int = 0
    after: int = 0
    respect_ignore: bool = True
    texts: bool = False
    max_file_bytes: int | None = None


def matching(asked: Asked, view: View, tally: Tally, *, binaries: Binaries) -> Iterator[FileRows]:
    """Each matching file once, in no order; stops early, `tally.complete` false, when the time is up.

    `binaries` remembers from search to search which files are no text.
    Counts in `tally.skipped`: `binary` (those that match), `too_large`, and what the view left out.
    """
    if asked.pattern.never:
        return
    try:
        yield from _Search(asked, view, tally, binaries).run()
    except BackendFailed as error:
        if error.kind != "deadline_exceeded":
            raise
        tally.complete = False


class _Search:
    def __init__(self, asked: Asked, view: View, tally: Tally, binaries: Binaries) -> None:
        self.asked = asked
        self.binaries = binaries
        self.view = view
        self.tally = tally
        self.done: set[RealPath] = set()

    def run(self) -> Iterator[FileRows]:
        self.count_large()
        odd = self.odd()
        binaries: set[RealPath] = set()
        try:
            for file in self.view.search(self.grep(), self.tally):
                if file.path in self.done or not self.asked.accept(file.path.text):
                    continue
                if file.path in odd or file.binary_at is not None:
                    binaries.add(file.path)
                    continue
                self.done.add(file.path)
                found = self.judged(file)
                if found is not None:
                    yield found
        except InvalidCall as error:
            if error.kind != "invalid_pattern":
                raise
            yield from self.everywhere()
            return
        for path in odd | binaries:
            found = self.looked(path, matched=path in binaries)
            if found is not None:
                yield found

    def count_large(self) -> None:
        """Count what is over the configured size, which ripgrep passes over without a word."""
        most = self.asked.max_file_bytes
        for root in self.asked.roots if most is not None else ():
            for path in self.view.walk(root, Tally({}), respect_ignore=self.asked.respect_ignore):
                stat = self.view.stat(path) if self.asked.accept(path.text) else None
                if stat is not None and most is not None and stat.size > most:
                    self.tally.skip("too_large")

    def grep(self, rows_wanted: str = "") -> Grep:
        asked = self.asked
        plain = asked.pattern.multiline or (asked.pattern.exact and not asked.texts)
        return Grep(
            pattern=asked.pattern.text
            if asked.pattern.literal and not asked.pattern.multiline
            else asked.pattern.ripgrep,
            literal=asked.pattern.literal and not asked.pattern.multiline,
            ignore_case=asked.ignore_case,
            roots=asked.roots,
            multiline=asked.pattern.multiline,
            before=0 if plain else asked.before,
            after=0 if plain else asked.after,
            file_type=asked.file_type,
            respect_ignore=asked.respect_ignore,
            rows="odd" if rows_wanted == "odd" else "count" if plain else "all",
            names=asked.names,
            max_file_bytes=asked.max_file_bytes,
        )

    def odd(self) -> set[RealPath]:
        """The files that ripgrep can't read as `read_files` would show them."""
        aside = Tally({})
        found = {file.path for file in self.view.search(self.grep("odd"), aside) if self.asked.accept(file.path.text)}
        self.tally.complete = self.tally.complete and aside.complete
        return found

    def judged(self, file: FileHits) -> FileRows | None:
        asked = self.asked
        if asked.pattern.multiline:
            return self.looked(file.path, matched=True)
        if asked.pattern.exact:
            return rows.kept(file.path, file.hits, count=file.count or None, texts=asked.texts)
        hits = rows.verified(file.hits, asked.pattern)
        if hits is None:
            return self.looked(file.path, matched=True)
        return rows.kept(file.path, hits, texts=asked.texts) if hits else None

    def looked(self, path: RealPath, *, matched: bool) -> FileRows | None:
        """Search one file in this process; what is no text is counted if ripgrep found the pattern in it."""
        self.view.check()
        try:
            text = self.text(path)
        except HandrailError as error:
            if isinstance(error, WrongContent):
                if matched:
                    self.tally.skip("binary")
            elif error.kind in {"deadline_exceeded", "cancelled"}:
                raise
            elif error.kind in {"permission_denied", "io_error"}:
                self.tally.skip("unreadable")
            return None
        if text is None:
            if self.asked.max_file_bytes is None:
                self.tally.skip("too_large")
            return None
        hits = rows.search(text, self.asked.pattern, before=self.asked.before, after=self.asked.after)
        return rows.kept(path, hits, texts=self.asked.texts) if hits else None

    def text(self, path: RealPath) -> bytes | None:
        """The file's text as RE2 sees it, `None` when it is too large; raises `WrongContent` for what is none."""
        stat = self.view.stat(path)
        identity = (stat.device, stat.inode, stat.size, stat.ctime_ns) if stat is not None else None
        if identity is not None and self.binaries.get(path.text) == identity:
            raise _no_text()
        file = self.view.glance(path)
        size = file.stat.size
        head = file.read(0, codec.HEAD)
        if codec.sniff(head, whole=len(head) == size) is None:
            if identity is not None:
                if len(self.binaries) >= MOST_BINARIES:
                    self.binaries.clear()
                self.binaries[path.text] = identity
            raise _no_text()
        if size > min(LARGEST, self.asked.max_file_bytes or LARGEST):
            return None
        return rows.normal(file.read(0, size))

    def everywhere(self) -> Iterator[FileRows]:
        """Without ripgrep's engine, which refuses what it finds too large: every file that the walk shows."""
        for root in self.asked.roots:
            for path in self.view.walk(root, self.tally, respect_ignore=self.asked.respect_ignore):
                if path in self.done or not self.asked.accept(path.text):
                    continue
                self.done.add(path)
                if self.view.visibility(path.text) != "open":
                    self.tally.skip("sensitive")
                    continue
                found = self.looked(path, matched=False)
                if found is not None:
                    yield found


def _no_text() -> WrongContent:
    return WrongContent("binary", "It isn't text.")
