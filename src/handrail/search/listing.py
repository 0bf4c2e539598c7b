"""What lies in a directory: its entries by name, or all below it as the ignore rules show it."""

from collections.abc import Iterable

from handrail.model.answers import Listed
from handrail.model.errors import HandrailError
from handrail.model.files import Stat
from handrail.model.paths import RealPath
from handrail.model.view import Tally, View


def entries(directory: RealPath, view: View) -> list[Listed]:
    """The entries of one directory, ignored ones marked; raises `NotThere`, `BackendFailed`."""
    found = view.entries(directory)
    named = {entry.name + ("/" if entry.stat.kind == "directory" else ""): entry for entry in found}
    left_out = view.ignored(directory, list(named))
    base = directory.text.rstrip("/")
    return [
        _listed(f"{base}/{entry.name}", entry.stat, ignored=spelled in left_out) for spelled, entry in named.items()
    ]


def below(directory: RealPath, view: View, tally: Tally, *, respect_ignore: bool) -> list[Listed]:
    """The subtree under the ignore rules: files, links and directories, empty ones too; `.git` is never entered.

    A directory of which all is ignored was named on purpose, and is shown whole.
    """
    top = entries(directory, view)
    respect = respect_ignore and not all(entry.ignored for entry in top)
    found: list[Listed] = []
    waiting = [(directory, top)]
    while waiting:
        place, inside = waiting.pop()
        shown = [entry for entry in inside if not (entry.ignored and respect) and _name(entry) != ".git"]
        found += shown
        for entry in shown:
            child = view.child(place, _name(entry)) if entry.kind == "directory" else None
            if child is not None and child.text == entry.path and tally.complete:
                waiting.append((child, _inside(child, view, tally)))
    return found


def _inside(directory: RealPath, view: View, tally: Tally) -> list[Listed]:
    try:
        view.check()
        return entries(directory, view)
    except HandrailError as error:
        if error.kind == "cancelled":
            raise
        if error.kind == "deadline_exceeded":
            tally.complete = False
        else:
            tally.skip("unreadable")
        return []


def _name(entry: Listed) -> str:
    return entry.path.rpartition("/")[2]


def ordered(found: Iterable[Listed]) -> list[Listed]:
    """Each once, by the code points of the path."""
    return sorted({entry.path: entry for entry in found}.values(), key=lambda entry: entry.path)


def _listed(path: str, stat: Stat, *, ignored: bool) -> Listed:
    return Listed(path=path, kind=stat.kind, size=stat.size, mtime_ns=stat.mtime_ns, ignored=ignored)
