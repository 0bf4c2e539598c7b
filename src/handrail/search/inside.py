"""Searches files in this process: RE2 over their text, one file at a time, under the call's clock.

It is the whole engine for small trees and where there is no ripgrep, and the judge of what ripgrep can't be believed.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from handrail.model.errors import HandrailError, WrongContent
from handrail.model.files import Loaded, Stat
from handrail.model.paths import RealPath
from handrail.model.view import RowHit, Sifted, Tally, View
from handrail.search import rows
from handrail.search.asked import Asked
from handrail.search.results import FileRows, Memory
from handrail.search.stream import Stream
from handrail.text import codec

SMALL: Final = 500
"""Files of a tree that is searched here rather than by a child."""
LARGEST: Final = 64 << 20
"""Bytes of a file that is read whole; larger ones stream, and can't be searched across rows."""
KEPT_ROWS: Final = 64
"""Rows of one file that are kept until they are shown."""


class Inside:
    """One question to files, asked here. Counts in the tally what it can't search, with the reason."""

    def __init__(self, asked: Asked, view: View, tally: Tally, memory: Memory) -> None:
        self._asked = asked
        self._view = view
        self._tally = tally
        self._memory = memory

    def tree(self, places: Iterable[Sifted]) -> Iterator[FileRows]:
        """The matching files of a tree among those that were asked for."""
        for place in places:
            base = place.path.text.rstrip("/") + "/"
            names = [name for name in place.open if self._asked.accept(base + name)]
            yield from self.named(place, names)

    def named(self, place: Sifted, names: Sequence[str]) -> Iterator[FileRows]:
        """The matching ones of these open files of one directory."""
        self._view.check()
        for loaded in self._view.load(place, names, most=LARGEST):
            path = place.child(loaded.name)
            found = self._loaded(path, loaded)
            if loaded.data is not None and self._memory.is_binary(path.text, loaded.stat):
                self._memory.odd.note(place.directory, loaded.name)
            if found is not None:
                yield found

    def odd(self, place: Sifted, odd: frozenset[str], doubtful: Sequence[str]) -> Iterator[FileRows]:
        """The matching ones of the odd files of a directory, and of those that ripgrep can't be believed about."""
        base = place.path.text.rstrip("/") + "/"
        binaries = self._memory.odd.binaries(place.directory)
        wanted = {name for name in odd - binaries if self._asked.accept(base + name)}.union(doubtful) & place.open
        if wanted:
            yield from self.named(place, list(wanted))

    def file(self, path: RealPath) -> FileRows | None:
        """The matching rows of one file, if it has any."""
        try:
            return self._loaded(path, self._opened(path))
        except HandrailError as error:
            if error.kind in {"deadline_exceeded", "cancelled", "path_denied"}:
                raise
            if error.kind in {"permission_denied", "io_error"}:
                self._tally.skip("unreadable")
            return None

    def shown(self, path: RealPath, start: int, stop: int) -> Sequence[RowHit]:
        """The rows from `start` to `stop` of those that match in a file, and the rows around them."""
        asked = self._asked
        try:
            loaded = self._opened(path)
            if loaded.stat is None:
                return ()
            if loaded.data is None:
                return list(islice(Stream(self._view.glance(path), asked.pattern, self._view).rows(), start, stop))
            text = self._text(path, loaded.stat, loaded.data)
        except HandrailError as error:
            if error.kind in {"deadline_exceeded", "cancelled"}:
                raise
            return ()
        wanted = slice(start, stop)
        return (
            ()
            if text is None
            else rows.search(text, asked.pattern, before=asked.before, after=asked.after, wanted=wanted)
        )

    def _opened(self, path: RealPath) -> Loaded:
        self._view.check()
        file = self._view.glance(path)
        size = file.stat.size
        return Loaded(path.text, file.stat, file.read(0, size) if size <= LARGEST else None)

    def _loaded(self, path: RealPath, loaded: Loaded) -> FileRows | None:
        stat = loaded.stat
        if stat is None or stat.kind != "file" or loaded.unreadable:
            if loaded.unreadable:
                self._tally.skip("unreadable")
            return None
        most = self._asked.max_file_bytes
        if (most is not None and stat.size > most) or (loaded.data is None and self._asked.pattern.multiline):
            self._tally.skip("too_large")
            return None
        if loaded.data is None:
            return self._streamed(path)
        text = self._text(path, stat, loaded.data)
        if text is None:
            if rows.holds(loaded.data.replace(b"\0", b"\n"), self._asked.pattern):
                self._tally.skip("binary")
            return None
        return self._found(path, text)

    def _text(self, path: RealPath, stat: Stat, data: bytes) -> bytes | None:
        """The file's text as RE2 sees it, `None` when it is binary."""
        text = rows.plain(data)
        if text is not None:
            return text
        known = self._memory.form(path.text, stat)
        if known is None:
            try:
                form = codec.form_of(data)
            except WrongContent:
                form = None
            self._memory.note(path.text, stat, form)
        else:
            (form,) = known
        return None if form is None else rows.normal(codec.characters(data[len(form.bom) :], form))

    def _found(self, path: RealPath, text: bytes) -> FileRows | None:
        asked = self._asked
        if not rows.holds(text, asked.pattern):
            return None
        numbers = rows.numbers(text, asked.pattern)
        if not numbers:
            return None
        kept = None
        if asked.texts and len(numbers) <= KEPT_ROWS:
            kept = rows.search(text, asked.pattern, before=asked.before, after=asked.after)
        return FileRows(
            path=path, count=len(numbers), numbers=numbers if asked.numbers else numbers[: rows.FIRST], rows=kept
        )

    def _streamed(self, path: RealPath) -> FileRows | None:
        numbers = rows.Numbers(every=self._asked.numbers)
        stream = Stream(self._view.glance(path), self._asked.pattern, self._view)
        try:
            for hit in stream.rows():
                numbers.add(hit.row)
        except WrongContent:
            return None
        if stream.unsure:
            self._tally.skip("too_large")
        return FileRows(path=path, count=numbers.count, numbers=numbers.rows) if numbers.count else None
