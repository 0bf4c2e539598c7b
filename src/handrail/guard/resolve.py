"""From what was typed to the one real path that policy is asked about and backends open; the only maker of it.

It knows spellings and links, not what is allowed.
"""

from typing import Final

from handrail.fs.protocol import ReadableFileSystem, Resolved
from handrail.model.errors import HandrailError, InvalidCall, OutOfDate
from handrail.model.operations import Want
from handrail.model.paths import RealPath, seal, shown, unescaped, within
from handrail.model.view import Target

_NO_NAMES: Final = frozenset({"", ".", ".."})


class Resolver:
    """Resolves paths for one workspace: `home` is what `~` means, `cwd` what relative paths start from."""

    def __init__(self, fs: ReadableFileSystem, *, home: str, cwd: str) -> None:
        self._fs = fs
        self._home = home
        self._cwd = cwd

    def resolve(self, want: Want) -> Target:
        """The real path of a want, links followed (with `follow=False` not the last), missing tails kept.

        Raises `InvalidCall` `invalid_path` and what the backend raises; an optional want's target carries it instead.
        """
        try:
            found = self._found(want)
        except HandrailError as error:
            if want.optional:
                return Target(want=want, path=None, error=error)
            raise
        return Target(want=want, path=seal(found.text), linked=found.linked, exists=found.exists)

    def directory(self, path: str) -> RealPath:
        """The real path of a place out of the configuration: a root, the output directory."""
        return seal(self._fs.resolve(self._absolute(path)).text)

    def child(self, directory: RealPath, name: str) -> RealPath:
        """The child by that name, its link followed. Raises `InvalidCall` `invalid_path` for what is no name."""
        if name in _NO_NAMES or "/" in name:
            raise _invalid(name, "is no name of a file")
        return seal(self._fs.resolve(_below(directory.text, name)).text)

    def beneath(self, root: RealPath, name: str) -> RealPath | None:
        """An absolute name that a walk of `root` gave, taken as it stands; `None` when it isn't below `root`.

        No link is looked for: a backend opens it component by component and refuses one.
        """
        if not within(name, root.text) or "\0" in name:
            return None
        if name != root.text and not _NO_NAMES.isdisjoint(name[len(root.text.rstrip("/")) + 1 :].split("/")):
            return None
        return seal(name)

    def listed(self, directory: RealPath, name: str) -> RealPath:
        """The real path of a name that a listing of the directory gave, taken as it stands, as in `beneath`."""
        if name in _NO_NAMES or "/" in name or "\0" in name:
            raise _invalid(name, "is no name of a file")
        return seal(_below(directory.text, name))

    def recorded(self, path: str) -> RealPath:
        """A path out of the history; raises `OutOfDate` `stale` when a link now leads it elsewhere."""
        found = self._fs.resolve(path, follow=False)
        if found.text != path:
            raise OutOfDate(
                "stale",
                f"{shown(path)} is now reached through a link and leads to {shown(found.text)}.",
                hint="Nothing was done; put the directory back where the link stands, or name the new place.",
                path=shown(path),
            )
        return seal(path)

    def _found(self, want: Want) -> Resolved:
        if not want.path:
            raise _invalid(want.path, "is empty")
        text = self._spelled(want.path, missing_as_shown=want.access == "history")
        return self._fs.resolve(self._absolute(text), follow=want.follow)

    def _spelled(self, text: str, *, missing_as_shown: bool = False) -> str:
        r"""The name that is meant: as `shown` spells it if that exists, as typed if that does, else by its directory.

        A new name is taken as typed, so that `a\new` never makes a line break; for the history, which knows names
        that are gone, it is taken as shown.
        """
        plain = unescaped(text)
        if plain == text or "\0" in plain:
            return text
        if self._exists(plain):
            return plain
        if self._exists(text):
            return text
        parent, slash, name = text.rpartition("/")
        head = self._spelled(parent, missing_as_shown=missing_as_shown) if parent else parent
        return head + slash + (unescaped(name) if missing_as_shown else name)

    def _exists(self, text: str) -> bool:
        try:
            return self._fs.resolve(self._absolute(text), follow=False).exists
        except HandrailError:
            return False

    def _absolute(self, text: str) -> str:
        if text == "~" or text.startswith("~/"):
            return self._home + text[1:]
        return text if text.startswith("/") else _below(self._cwd, text)


def _below(directory: str, name: str) -> str:
    return f"{directory.rstrip('/')}/{name}"


def _invalid(path: str, why: str) -> InvalidCall:
    return InvalidCall(
        "invalid_path",
        f"{shown(path)!r} {why}." if path else f"The path {why}.",
        hint="Name a file or a directory.",
    )
