"""Where the tools may go: roots, allow and deny lists, own places, what `.handrailignore` hides.

It is asked about real paths and answers with the rule that decided; links and spellings were dealt with before.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from handrail.fs.protocol import ReadableFileSystem
from handrail.guard import below, ignore
from handrail.guard.globs import PathSet, Place, fixed_part, quoted
from handrail.guard.ignore import Folder, IgnoreFiles, Look
from handrail.guard.resolve import Resolver
from handrail.guard.sensitive import Sensitive
from handrail.guard.standing import Lists, Standing
from handrail.guard.tools import ToolRules
from handrail.model.operations import Access
from handrail.model.paths import shown, within
from handrail.model.view import Visibility

__all__ = ["Policy", "PolicySettings", "ToolRules", "Verdict"]

CONFIGURATION: Final = "handrail.toml"
_KEPT: Final = 1 << 16
_NEVER_WRITTEN: Final = frozenset({CONFIGURATION, ignore.NAME})


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySettings:
    """What a policy is made from; directories are absolute, globs as in the configuration.

    `roots=None`: unconfined. `narrow`: a second allow list that must name a path too (a workspace's own file).
    `own`: places of ours that no tool sees, but for `files_directory`. `made_here`: whether the tools created what
    stands at a path; asked in the output directory alone.
    """

    roots: Sequence[str] | None
    home: str
    allow: Sequence[str] = ()
    narrow: Sequence[str] = ()
    deny: Sequence[str] = ()
    sensitive: Sequence[str] = ()
    own: Sequence[str] = ()
    files_directory: str | None = None
    output_directory: str | None = None
    made_here: Callable[[str], bool] = lambda _: False


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether something may happen, the rule that decided, and a clause for the caller."""

    allowed: bool
    rule: str
    reason: str


class Policy:
    """Compiled rules; safe from many threads. Use `build`."""

    def __init__(self, settings: PolicySettings, *, fs: ReadableFileSystem, resolver: Resolver) -> None:
        def real(path: str) -> str:
            return resolver.directory(path).text

        self._fs = fs
        self._resolver = resolver
        self.roots = None if settings.roots is None else tuple(real(root) for root in settings.roots)
        self.place = Place(roots=self.roots or (), home=settings.home, real=real)
        self.sensitive = Sensitive(settings.sensitive, place=self.place)
        self._allow = PathSet(settings.allow, self.place, below_literals=True)
        self._narrow = PathSet(settings.narrow, self.place, below_literals=True)
        self._deny = PathSet(settings.deny, self.place)
        self._own = tuple(dict.fromkeys(real(own) for own in settings.own))
        self._files = None if settings.files_directory is None else real(settings.files_directory)
        self._output = None if settings.output_directory is None else real(settings.output_directory)
        self._made_here = settings.made_here
        self._lists = Lists(
            roots=self.roots,
            allow=self._allow,
            narrow=self._narrow,
            deny=self._deny,
            own=self._own,
            files=self._files,
            output=self._output,
        )
        self._standings: dict[str, Standing] = {}
        self.ignores = IgnoreFiles(fs, resolver)

    @classmethod
    def build(cls, settings: PolicySettings, *, fs: ReadableFileSystem, resolver: Resolver) -> "Policy":
        """The policy for a workspace; raises `InvalidCall` `invalid_glob`, `invalid_path`."""
        return cls(settings, fs=fs, resolver=resolver)

    def judge(
        self, path: str, access: Access, *, directory: bool = False, exists: bool = True, look: Look | None = None
    ) -> Verdict:
        """Whether the real path may be used so, with the rule that decided.

        `directory`: it is one that is walked or listed, so it is enough that something below may be seen. `exists`
        matters in the output directory, where new files may be made. `look`: what one call knows of ignore files.
        A directory that is written is taken away or put back: then all that lies in it is judged as well.
        """
        walked = directory and access != "write"
        denied = self._own_place(path) or self._listed_deny(path)
        denied = denied or self._ignored(path, directory=directory, look=look)
        if denied is None and access == "write":
            denied = self._unwritable(path) or (self._tree(path) if directory and exists else None)
        return denied or self._inside(path, walked=walked, creates=access == "write" and not exists)

    def visibility(self, path: str, *, directory: bool = False, look: Look | None = None) -> Visibility:
        """How a view shows the real path; the names of sensitive files are no secret, their content is."""
        above, _, name = path.rpartition("/")
        if directory or look is None or not name:
            return self._judged(path, directory=directory, look=look)
        known = look.places.get(above)
        if known is None:
            known = look.places[above] = self._entered(above or "/", look)
        standing, folders, quiet = known
        if standing.odd:
            return self._judged(path, directory=False, look=look)
        if standing.closed or not standing.names(name):
            return "hidden"
        for folder in folders:
            if folder.hides(path, directory=False):
                return "hidden"
        if quiet and not self.sensitive.may_be(name):
            return "open"
        return "sensitive" if self.sensitive.sensitive(path) else "open"

    def _judged(self, path: str, *, directory: bool, look: Look | None) -> Visibility:
        if not self.judge(path, "read", directory=directory, look=look).allowed:
            return "hidden"
        return "sensitive" if not directory and self.sensitive.sensitive(path) else "open"

    def _entered(self, directory: str, look: Look) -> tuple[Standing, tuple[Folder, ...], bool]:
        standing = self.standing(directory)
        folders = (self.ignores.folder(directory, root, look) for root in standing.roots)
        return standing, tuple(f for f in folders if f.hidden or f.rules), self.sensitive.quiet(directory)

    def standing(self, directory: str) -> Standing:
        """What lists and places say of the files in a real directory, found out once."""
        known = self._standings.get(directory)
        if known is None:
            if len(self._standings) >= _KEPT:
                self._standings = {}
            known = self._standings[directory] = self._lists.standing(directory)
        return known

    def may_walk(self, directory: str, look: Look) -> bool:
        """Whether the real directory may be walked: something below may be seen."""
        above, _, name = directory.rpartition("/")
        standing = self.standing(above or "/")
        if name and not (standing.odd or self._allow or self._narrow):
            shown = not standing.closed and standing.names(name)
            return shown and not self._hidden(directory, standing.roots, look, directory=True)
        return self.judge(directory, "read", directory=True, look=look).allowed

    def look(self) -> Look:
        """A fresh memory of ignore files, for one call."""
        return Look()

    def explain(self, path: str, access: Access, *, directory: bool = False) -> str:
        """One line on whether the real path may be used so and which rule decides."""
        verdict = self.judge(path, access, directory=directory)
        word = "allowed" if verdict.allowed else "denied"
        return f"{shown(path)}: {access} is {word} by {verdict.rule}: {verdict.reason}"

    def forbids_below(self, directory: str) -> Verdict | None:
        """Why a directory can't be taken away as a whole, by what must lie in it without looking."""
        for place in (*(self.roots or ()), *self._own, self._files, self._output):
            if place is not None and within(place, directory):
                return Verdict(False, "kept places", f"{shown(place)} must stay, and this would take it away")
        if any(within(start, directory) for start in self._deny.starts):
            return Verdict(False, "deny_paths", "something that deny_paths names lies in it")
        return None

    @property
    def areas(self) -> Sequence[str]:
        """The directories outside which nothing need be opened, roots first; empty = anywhere."""
        if self.roots is None and not self._allow:
            return ()
        own = [p for p in (self._files, self._output) if p is not None and not self._allow]
        return list(dict.fromkeys([*(self.roots or ()), *(self._allow.starts if self._allow else ()), *own]))

    def leave_out(self, root: str, *, secrets: bool) -> Sequence[str]:
        """Globs, relative to `root`, of what a walk of it needn't look at; a first sieve, each file is judged again.

        `secrets`: sensitive names too, as a search of contents leaves them out.
        """
        absolute = [*self._deny.absolute, *(quoted(own) + "/**" for own in self._own if not self._keeps_files(own))]
        below: list[str] = list(self.sensitive.left_out) if secrets else []
        for glob in [*absolute, *(self.sensitive.extra_left_out if secrets else ())]:
            below += _relative(glob, root)
        return list(dict.fromkeys(below))

    # the stations of the judgement, in their order

    def _own_place(self, path: str) -> Verdict | None:
        if self._files is not None and within(path, self._files):
            return None
        if any(within(path, own) for own in self._own):
            return Verdict(False, "own places", "it belongs to Handrail itself, which no tool may see or change")
        return None

    def _listed_deny(self, path: str) -> Verdict | None:
        if not self._deny.match(path):
            return None
        return Verdict(False, f"deny_paths {self._deny.globs[self._deny.first(path)]!r}", "deny_paths names it")

    def _hidden(self, path: str, roots: Sequence[str], look: Look | None, *, directory: bool = False) -> bool:
        return any(self.ignores.hides(path, root, directory=directory, look=look) for root in roots)

    def _ignored(self, path: str, *, directory: bool, look: Look | None) -> Verdict | None:
        if self._hidden(path, self.roots or (), look, directory=directory):
            return Verdict(False, ignore.NAME, f"a {ignore.NAME} file hides it")
        return None

    def _unwritable(self, path: str) -> Verdict | None:
        name = path.rpartition("/")[2].casefold()
        if name in _NEVER_WRITTEN:
            return Verdict(False, "own files", f"{name} decides what tools may do, so no tool may write it")
        return self.forbids_below(path)

    def _tree(self, directory: str) -> Verdict | None:
        look = Look()

        def may_go(path: str, is_directory: bool) -> bool:
            if is_directory:
                denied = self._own_place(path) or self._listed_deny(path)
                return (denied or self._ignored(path, directory=True, look=look)) is None
            return self.judge(path, "write", look=look).allowed

        why = below.obstacle(self._fs, self._resolver, directory, may_go=may_go)
        return None if why is None else Verdict(False, "what lies in it", why)

    def _inside(self, path: str, *, walked: bool, creates: bool) -> Verdict:
        if self._narrow and not _named(self._narrow, path, walked=walked):
            return Verdict(False, "allow_paths", "allow_paths of the workspace's own configuration doesn't name it")
        if self._allow:
            if _named(self._allow, path, walked=walked):
                return Verdict(True, "allow_paths", "allow_paths names it")
            return Verdict(False, "allow_paths", "allow_paths doesn't name it")
        if self.roots is None:
            return Verdict(True, "unconfined", "the workspace was opened without a root")
        if any(within(path, root) for root in self.roots):
            return Verdict(True, "roots", "it lies in a root of the workspace")
        if self._files is not None and within(path, self._files):
            return Verdict(True, "managed files", "it lies in the managed files")
        if self._output is not None and within(path, self._output):
            return self._in_output(path, walked=walked, creates=creates)
        return Verdict(False, "roots", f"it lies outside the workspace, which is {', '.join(map(shown, self.roots))}")

    def _in_output(self, path: str, *, walked: bool, creates: bool) -> Verdict:
        if walked or creates or self._made_here(path):
            return Verdict(True, "output directory", "new files, and those the tools made, may be used there")
        return Verdict(False, "output directory", "only files that the tools made there may be used")

    def _keeps_files(self, own: str) -> bool:
        return self._files is not None and within(self._files, own)


def _named(allowed: PathSet, path: str, *, walked: bool) -> bool:
    return allowed.match(path) or (walked and allowed.may_hold(path))


def _relative(glob: str, root: str) -> list[str]:
    """The glob as seen from `root`; none where it can't be said, and then only the second look leaves things out."""
    fixed, rest = fixed_part(glob)
    base = quoted(root.rstrip("/"))
    if glob.startswith(base + "/"):
        return ["/" + glob[len(base) + 1 :]]
    if rest.startswith("/**/") and within(root, fixed.replace("\\", "") or "/"):
        return [rest[1:]]
    return []
