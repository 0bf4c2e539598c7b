"""How the batch family spells paths: relative to the workspace where they were asked for so, else absolute."""

import os.path
from collections.abc import Iterable, Sequence

from handrail.model.paths import shown, within


def base(roots: Sequence[str], asked: Iterable[str]) -> str | None:
    """The directory that answers are relative to: the first root, where every path asked for is relative."""
    typed = list(asked)
    relative = bool(roots) and bool(typed) and not any(path.startswith(("/", "~")) for path in typed)
    return roots[0] if relative else None


def spelled(path: str, relative_to: str | None) -> str:
    """A system path as it is shown; the workspace itself is `.`."""
    if relative_to is None or not within(path, relative_to):
        return shown(path)
    return shown(path[len(relative_to.rstrip("/")) + 1 :]) or "."


def shortened(named: str, relative_to: str | None) -> str:
    """A path that a failure names, already as it is shown, in the spelling of the other answers."""
    start = None if relative_to is None else shown(relative_to).rstrip("/") + "/"
    return named if start is None else named.removeprefix(start)


def absolute(typed: str, roots: Sequence[str]) -> str:
    """A typed path against the first root, without looking at any file; for comparing with recorded paths."""

    joined = os.path.join(roots[0] if roots else "/", os.path.expanduser(typed))
    return os.path.normpath(joined)
