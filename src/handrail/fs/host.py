"""The host's own file system as a backend. Every verb reaches its path by directory handles and follows no link.

It decides nothing: what may happen was judged before, and what must stand there is told to it as a hash.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from handrail.fs import drafts, following, ignores, metadata, removal, stillness
from handrail.fs.descent import enter, listing, spot
from handrail.fs.failures import failure, stale, typed
from handrail.fs.loading import load, rewritten
from handrail.fs.protocol import Bounds, Put, RawHits, Resolved, Written
from handrail.fs.replace import replace, replace_all
from handrail.fs.snapshot import Handle, HostSnapshot, facts, not_regular, open_regular
from handrail.fs.tree import Asked, Trees
from handrail.model.errors import HandrailError, NotThere
from handrail.model.files import Belongings, Content, Directory, Entry, Loaded, Stat
from handrail.model.paths import RealPath, shown
from handrail.model.view import Grep, Tally

_NOTHING: Final = (FileNotFoundError, NotADirectoryError)


class HostFileSystem:
    """A `WritableFileSystem` on Linux (macOS as far as its calls go); safe from any number of threads."""

    name = "host"

    def __init__(self) -> None:
        self._trees = Trees()

    # reading

    def resolve(self, path: str, *, follow: bool = True) -> Resolved:
        """Follow an absolute path's links."""
        return following.resolve(path, follow=follow)

    def stat(self, path: RealPath) -> Stat | None:
        """Facts of what stands there, `None` for nothing."""
        try:
            with spot(path) as at:
                return facts(at.facts())
        except _NOTHING:
            return None
        except OSError as error:
            raise failure(error, path.text) from error

    def read_link(self, path: RealPath) -> str:
        """Where a symbolic link points, as stored."""
        with typed(path.text), spot(path) as at:
            if facts(at.facts()).kind != "symlink":
                raise stale(path.text, "isn't a link any more")
            return os.readlink(at.name, dir_fd=at.directory)

    def open(self, path: RealPath) -> HostSnapshot:
        """Open a regular file for reading."""
        return HostSnapshot(path)

    def entries(self, path: RealPath) -> Sequence[Entry]:
        """The children of a directory, in no order; one that vanishes meanwhile is left out."""
        with typed(path.text), spot(path) as at:
            kind = facts(at.facts()).kind
            if kind == "symlink":
                raise stale(path.text, "became a link meanwhile")
            if kind != "directory":
                raise not_regular(path, kind)
            handle = Handle(enter(at.directory, at.name))
            try:
                return list(_children(handle.number))
            finally:
                handle.close()

    def walk(self, root: RealPath, bounds: Bounds, tally: Tally, *, respect_ignore: bool) -> Iterator[str]:
        """Absolute names of the files below `root`, as the tree has them."""
        return self._trees.names(root, bounds, tally, respect_ignore=respect_ignore)

    def tree(
        self,
        root: RealPath,
        bounds: Bounds,
        tally: Tally,
        *,
        respect_ignore: bool = True,
        descend: Callable[[str], bool] = lambda _: True,
        most: int | None = None,
    ) -> Sequence[Directory] | None:
        """Every directory from `root` down, remembered until it changes."""
        asked = Asked(respect_ignore, descend, most)
        return self._trees.walk(root, asked, bounds=bounds, tally=tally)

    def load(self, directory: RealPath, names: Sequence[str], *, most: int) -> Iterator[Loaded]:
        """Read files of one directory whole."""
        return load(directory, names, most=most)

    def rewritten(self, directory: RealPath, names: Iterable[str], since: int) -> bool:
        """Whether one of these files of a directory changed since."""
        return rewritten(directory, names, since)

    def changed(self, top: RealPath, directories: Collection[str], since: int) -> frozenset[str]:
        """The directories below `top` to which a name may have led otherwise since."""
        return stillness.changed(top.text, directories, since)

    def search(self, grep: Grep, bounds: Bounds, tally: Tally) -> Iterator[RawHits]:
        """Run ripgrep."""
        from handrail.fs import ripgrep

        known = self._trees
        return ripgrep.search(grep, bounds, tally, omitted=lambda root: known.omitted(root, bounds.inside))

    def file_types(self) -> Mapping[str, Sequence[str]]:
        """The globs of each file type that ripgrep knows."""
        from handrail.fs import ripgrep

        return ripgrep.types()

    def ignored(self, directory: RealPath, names: Sequence[str], bounds: Bounds) -> frozenset[str]:
        """Which of these children the ignore rules leave out."""
        return ignores.ignored(directory.text, names, bounds.inside)

    def launch(self, path: RealPath) -> str:
        """Open with the default application."""
        if self.stat(path) is None:
            raise NotThere(
                "not_found", f"{path} doesn't exist.", hint="Look for it with find_files.", path=shown(path.text)
            )
        from handrail.fs import opener

        return opener.launch(path)

    # writing

    def replace(
        self,
        path: RealPath,
        content: Content,
        mode: int | None,
        expect: Content | str | None,
        belongings: Belongings | None = None,
    ) -> Written:
        """Put `content` at `path`; see `fs/replace.py`."""
        return replace(Put(path, content, mode, expect, belongings))

    def replace_all(self, puts: Sequence[Put]) -> Sequence[Written | HandrailError]:
        """Put each content at its path."""
        return replace_all(puts)

    def belongings(self, path: RealPath) -> Belongings | None:
        """What a regular file has beside bytes and permission bits."""
        with typed(path.text), spot(path) as at:
            handle = open_regular(at)
            try:
                return metadata.belongings(handle.number)
            finally:
                handle.close()

    def make_directory(self, path: RealPath, mode: int | None) -> None:
        """Make one directory whose parent exists."""
        with typed(path.text), spot(path) as at:
            os.mkdir(at.name, 0o777 if mode is None else mode & 0o700, dir_fd=at.directory)
            if mode is not None:
                handle = Handle(enter(at.directory, at.name))
                try:
                    os.fchmod(handle.number, mode)
                finally:
                    handle.close()
            at.keep()

    def make_link(self, path: RealPath, target: str) -> None:
        """Make a symbolic link where nothing stands."""
        with typed(path.text), spot(path) as at:
            os.symlink(target, at.name, dir_fd=at.directory)
            at.keep()

    def unlink(self, path: RealPath, expect: str | None) -> None:
        """Remove a file or a link."""
        removal.unlink(path, expect)

    def remove_directory(self, path: RealPath) -> None:
        """Remove an empty directory."""
        removal.remove_directory(path)

    def move_out(self, path: RealPath, destination: str, *, copy_limit: int = 0) -> bool:
        """Move a tree to a store's place, by a copy across file systems if it is small enough."""
        return removal.move_out(path, destination, copy_limit)

    def move_in(self, source: str, path: RealPath, *, copy_limit: int = 0) -> bool:
        """Move a tree back."""
        return removal.move_in(source, path, copy_limit)

    def sweep(self, directory: RealPath) -> int:
        """Remove our own stray temporary files."""
        with typed(directory.text), listing(directory) as handle:
            return drafts.sweep(handle)


def _children(directory: int) -> Iterator[Entry]:
    with os.scandir(directory) as found:
        for child in found:
            try:
                yield Entry(child.name, facts(child.stat(follow_symlinks=False)))
            except FileNotFoundError:
                continue
