"""Finds the files that match one pattern: small trees in this process, large ones by ripgrep with RE2 as the judge."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from handrail.model.errors import BackendFailed, InvalidCall, TooLarge
from handrail.model.paths import RealPath
from handrail.model.view import FileHits, Grep, Sifted, Tally, View
from handrail.search import inside
from handrail.search.asked import Asked
from handrail.search.inside import Inside
from handrail.search.links import Reached, reached
from handrail.search.results import FileRows, Memory

TOLD_BYTES: Final = 1 << 20
"""Bytes of a file that ripgrep is still given, once a row of some file asked for too much memory."""


def matching(asked: Asked, view: View, tally: Tally, *, memory: Memory) -> Iterator[FileRows]:
    """Each matching file once, in no order; stops early, `tally.complete` false, when the time is up.

    Counts in `tally.skipped`: `binary` (those that match), `too_large`, `sensitive`, and what the view left out.
    """
    done: set[RealPath] = set()
    try:
        for file in _everywhere(asked, view, tally, memory):
            if file.path not in done:
                done.add(file.path)
                yield file
    except BackendFailed as error:
        if error.kind != "deadline_exceeded":
            raise
        tally.complete = False


def _everywhere(asked: Asked, view: View, tally: Tally, memory: Memory) -> Iterator[FileRows]:
    """The places that were asked for, and those that links in them lead to."""
    waiting = [Reached(root, (root.text,)) for root in asked.roots]
    known = {place.path for place in waiting}
    while waiting:
        place = waiting.pop(0)
        one = replace(asked, accept=place.accepting(asked.accept))
        stat = view.stat(place.path)
        if stat is not None and stat.kind == "directory":
            search = _Below(one, view, tally, memory)
            yield from search.run(place.path)
            for more in reached(place, search.tree, view):
                if more.path not in known:
                    known.add(more.path)
                    waiting.append(more)
        elif stat is not None and (place.path in asked.roots or one.accept(place.path.text)):
            found = Inside(one, view, tally, memory).file(place.path)
            if found is not None:
                yield found


class _Below:
    """The search of one directory."""

    def __init__(self, asked: Asked, view: View, tally: Tally, memory: Memory) -> None:
        self.tree: Sequence[Sifted] = ()
        self._asked = asked
        self._view = view
        self._tally = tally
        self._memory = memory
        self._inside = Inside(asked, view, tally, memory)

    def run(self, root: RealPath) -> Iterator[FileRows]:
        respect = self._asked.respect_ignore
        walked = Tally({})
        small = self._view.tree(root, walked, respect_ignore=respect, most=inside.SMALL)
        if small is not None:
            self.tree = small
            self._add(walked)
            yield from self._inside.tree(small)
        else:
            # What the walk can't read the child can't either, and counts it.
            walked = Tally({})
            self.tree = self._view.tree(root, walked, respect_ignore=respect) or ()
            self._tally.complete = self._tally.complete and walked.complete
            yield from self._by_ripgrep(root, walked)
        self._tally.skip("sensitive", sum(self._secrets(place) for place in self.tree if place.sensitive))

    def _add(self, walked: Tally) -> None:
        self._tally.complete = self._tally.complete and walked.complete
        for reason, count in walked.skipped.items():
            self._tally.skip(reason, count)

    def _by_ripgrep(self, root: RealPath, walked: Tally) -> Iterator[FileRows]:
        if not self.tree:
            return
        grep = self._grep(root)
        if self._asked.max_file_bytes is not None:
            self._tally.skip("too_large", len(self._larger(self._asked.max_file_bytes)))
        before = dict(self._tally.skipped)
        try:
            empty = True
            for file in self._judged(grep):
                empty = False
                yield file
            respect = self._asked.respect_ignore
            if empty and self._memory.odd.rewritten(self.tree, self._view, respect_ignore=respect):
                self._tally.skipped = dict(before)
                yield from self._judged(grep)
        except InvalidCall as error:
            if error.kind != "invalid_pattern":
                raise
            self._add(walked)
            yield from self._inside.tree(self.tree)
        except TooLarge:
            self._tally.skipped = before
            yield from self._small_and_large(grep, walked)
        except BackendFailed as error:
            if error.kind != "backend_unavailable":
                raise
            self._add(walked)
            yield from self._inside.tree(self.tree)

    def _small_and_large(self, grep: Grep, walked: Tally) -> Iterator[FileRows]:
        """Give ripgrep the small files alone; if a row of theirs still asks for too much, it gets none."""
        before = dict(self._tally.skipped)
        most = min(TOLD_BYTES, self._asked.max_file_bytes or TOLD_BYTES)
        try:
            yield from self._judged(replace(grep, max_file_bytes=most))
        except TooLarge:
            self._tally.skipped = before
            self._add(walked)
            yield from self._inside.tree(self.tree)
            return
        for path in self._larger(most):
            found = self._inside.file(path)
            if found is not None:
                yield found

    def _judged(self, grep: Grep) -> Iterator[FileRows]:
        """What ripgrep tells, and RE2's word on what it can't be believed about."""
        odd = self._memory.odd.of(
            self.tree, self._view, respect_ignore=grep.respect_ignore, find=lambda: self._odd(grep)
        )
        doubtful: dict[str, list[str]] = defaultdict(list)
        for hits in self._view.search(grep, self._tally):
            if not self._asked.accept(hits.path.text):
                continue
            directory, _, name = hits.path.text.rpartition("/")
            if self._is_believed(hits) and name not in odd.get(directory, ()):
                told = hits.told
                yield FileRows(path=hits.path, count=told.count, numbers=told.numbers, told=hits)
            else:
                doubtful[directory].append(name)
        places = {place.directory.name: place for place in self.tree}
        for directory in odd.keys() | doubtful.keys():
            place = places.get(directory or "/")
            if place is not None:
                yield from self._inside.odd(place, odd.get(directory, frozenset()), doubtful.get(directory, ()))

    def _is_believed(self, hits: FileHits) -> bool:
        told = hits.told
        if told.binary or told.overlong or told.stray or not hits.sure or self._asked.pattern.multiline:
            return False
        return self._asked.pattern.exact or not told.returns

    def _odd(self, grep: Grep) -> Iterator[str]:
        aside = Tally({})
        for hits in self._view.search(replace(grep, odd=True), aside):
            yield hits.path.text
        self._tally.complete = self._tally.complete and aside.complete

    def _grep(self, root: RealPath) -> Grep:
        asked = self._asked
        pattern = asked.pattern
        literal = pattern.literal and not pattern.multiline
        return Grep(
            pattern=pattern.text if literal else pattern.ripgrep,
            literal=literal,
            ignore_case=asked.ignore_case,
            roots=[root],
            multiline=pattern.multiline,
            file_type=asked.file_type,
            respect_ignore=asked.respect_ignore,
            numbers=asked.numbers,
            names=asked.names,
            max_file_bytes=asked.max_file_bytes,
        )

    def _larger(self, most: int) -> list[RealPath]:
        found: list[RealPath] = []
        for place in self.tree:
            base = place.path.text.rstrip("/") + "/"
            names = [name for name in place.open if self._asked.accept(base + name)]
            loaded = self._view.load(place, names, most=-1)
            found += [place.child(file.name) for file in loaded if file.stat is not None and file.stat.size > most]
        return found

    def _secrets(self, place: Sifted) -> int:
        base = place.path.text.rstrip("/") + "/"
        return sum(self._asked.accept(base + name) for name in place.sensitive)
