"""One pattern over some places, as the engines are asked it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from handrail.model.paths import RealPath
from handrail.search.pattern import Pattern

Accept = Callable[[str], bool]
"""Says of a real, absolute path whether it was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One pattern over some roots. `accept` decides by real path; `names` only narrows the walk.

    `texts`: rows will be shown, with those around them; `numbers`: the number of each matching row is wanted.
    """

    pattern: Pattern
    roots: Sequence[RealPath]
    accept: Accept
    names: Sequence[str] = ()
    ignore_case: bool = False
    file_type: str | None = None
    before: int = 0
    after: int = 0
    respect_ignore: bool = True
    texts: bool = False
    numbers: bool = False
    max_file_bytes: int | None = None
