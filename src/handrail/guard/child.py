"""What a search's child told: of which files policy lets it be told, and whether it can be of no other file.

The child goes by names, so it is believed only where no directory on the way changed while it ran.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from handrail.fs.protocol import RawHits, ReadableFileSystem
from handrail.guard.resolve import Resolver
from handrail.model.paths import RealPath, within
from handrail.model.view import FileHits, Sifted, Visibility


@dataclass(frozen=True, slots=True)
class Child:
    """The judge of what a child tells; `areas` are the places outside which it could open nothing."""

    fs: ReadableFileSystem
    resolver: Resolver
    areas: Sequence[str]

    def told(
        self,
        root: RealPath,
        batch: Sequence[RawHits],
        known: Mapping[str, Sifted],
        visibility: Callable[[str], Visibility],
    ) -> Sequence[FileHits]:
        """What may be told of files below `root`; `known` are the directories of its tree by their names."""
        found = ((self._open(root, raw.name, known, visibility), raw) for raw in batch)
        return [FileHits(path=path, told=raw.told) for path, raw in found if path is not None]

    def believed(self, root: RealPath, hits: Sequence[FileHits], since: int) -> Iterator[FileHits]:
        """The same, marked where the child, which was started `since` then, may have been led elsewhere."""
        top = max((area for area in self.areas if within(root.text, area)), key=len, default=root.text)
        moved = self.fs.changed(self.resolver.directory(top), {each.path.parent for each in hits}, since)
        return (replace(each, sure=False) if each.path.parent in moved else each for each in hits)

    def _open(
        self, root: RealPath, name: str, known: Mapping[str, Sifted], visibility: Callable[[str], Visibility]
    ) -> RealPath | None:
        """The real path of a name that a child told, if policy lets its content be looked at."""
        directory, _, file = name.rpartition("/")
        place = known.get(directory or "/")
        if place is not None and file in place.open:
            return place.child(file)
        if place is not None and (file in place.sensitive or file in place.directory.ignored):
            return None
        path = self.resolver.beneath(root, name)
        return path if path is not None and visibility(name) == "open" else None
