"""Names near one that isn't there, out of what the view shows; nothing that policy hides is ever hinted at."""

import difflib
from typing import Final

from handrail.model.errors import HandrailError, NotThere
from handrail.model.paths import RealPath, shown, within
from handrail.model.view import View

_MOST: Final = 5
_COMPARED: Final = 3000


def not_found(path: RealPath, view: View) -> NotThere:
    """The failure for a file that isn't there, with the nearest existing names in facts `nearest`."""
    names = nearest(path, view)
    hint = "List its directory to see what is there."
    if names:
        hint = f"Did you mean {names[0]}?" if len(names) == 1 else f"Near it are {', '.join(names)}."
    return NotThere("not_found", f"There is no file {path}.", hint=hint, path=str(path), facts={"nearest": list(names)})


def nearest(path: RealPath, view: View) -> tuple[str, ...]:
    """At most five paths like the missing one, nearest first, as they are shown; of a missing directory its likes."""
    directory, missing = path.above(), path.name
    while not _stands(directory, view):
        if directory.text == "/":
            return ()
        directory, missing = directory.above(), directory.name
    try:
        entries = view.entries(directory)
    except HandrailError:
        return ()
    below = directory.text.rstrip("/") + "/"
    names = [entry.name for entry in entries if view.visibility(below + entry.name) != "hidden"]
    return tuple(shown(below + name) for name in like(missing, names) if within(below + name, directory.text))


def like(missing: str, names: list[str]) -> list[str]:
    """The names most like one: but for case first, then the same stem or ending on it, then the closest spelling."""
    folded = missing.casefold()
    stem = folded.rpartition(".")[0] or folded
    ranked: dict[str, None] = dict.fromkeys(sorted(n for n in names if n.casefold() == folded))
    ranked.update(dict.fromkeys(sorted(n for n in names if (n.casefold().rpartition(".")[0] or n.casefold()) == stem)))
    if len(names) > _COMPARED:
        names = [n for n in names if n[:1].casefold() == folded[:1]][:_COMPARED]
    by_fold: dict[str, list[str]] = {}
    for name in sorted(names):
        by_fold.setdefault(name.casefold(), []).append(name)
    for close in difflib.get_close_matches(folded, by_fold, n=_MOST, cutoff=0.6):
        ranked.update(dict.fromkeys(by_fold[close]))
    return list(ranked)[:_MOST]


def _stands(directory: RealPath, view: View) -> bool:
    try:
        found = view.stat(directory)
    except HandrailError:
        return False
    return found is not None and found.kind == "directory"
