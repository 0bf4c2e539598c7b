"""Which planned changes are done together: neighbours that each change one file, as the undo of a task has many.

They still fail alone; it knows neither what is done nor how.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Final

from handrail.core.questions import Prepared
from handrail.model.changes import Change
from handrail.model.errors import HandrailError
from handrail.model.files import Absent, FileState, State
from handrail.model.paths import RealPath

MOST: Final = 64
"""Files of one go: as many locks and open files are held at once."""
_LARGE: Final = 1 << 20
"""A larger content goes alone, as its bytes may lie in memory."""


def runs(prepared: Mapping[int, Prepared], is_directory: Callable[[RealPath], bool]) -> Iterator[list[int]]:
    """The indices in order, those next to each other together where each is the plain change of another file."""
    run: list[int] = []
    paths: set[RealPath] = set()
    for index, ready in prepared.items():
        change = _plain(ready, is_directory)
        if run and (change is None or change.path in paths or len(run) == MOST):
            yield run
            run, paths = [], set()
        if change is None:
            yield [index]
        else:
            run.append(index)
            paths.add(change.path)
    if run:
        yield run


def _plain(ready: Prepared, is_directory: Callable[[RealPath], bool]) -> Change | None:
    """The one change of a plan, if it changes a file and needs no directory made."""
    if ready.plan.launch is not None or len(ready.plan.changes) != 1:
        return None
    change = ready.plan.changes[0]
    if not (_small(change.before) and _small(change.after)):
        return None
    with suppress(HandrailError):  # what can't be looked at goes alone, and fails alone
        if isinstance(change.before, FileState) or is_directory(change.path.above()):
            return change
    return None


def _small(state: State) -> bool:
    return isinstance(state, Absent) or (isinstance(state, FileState) and state.content.size <= _LARGE)
