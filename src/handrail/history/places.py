"""From a path of the history to a target and back: a recorded name must lead to the very place it was recorded for."""

from collections.abc import Sequence

from handrail.model.errors import OutOfDate
from handrail.model.operations import Access, Want
from handrail.model.paths import RealPath, shown, unescaped
from handrail.model.view import Target


def wants(recorded: str, access: Access) -> Sequence[Want]:
    """What to ask for; a name that could be read as an escaped one is asked for in both spellings."""
    if unescaped(recorded) == recorded:
        return (Want(path=recorded, access=access, follow=False),)
    return tuple(Want(path=name, access=access, follow=False, optional=True) for name in (recorded, shown(recorded)))


def place(recorded: str, targets: Sequence[Target]) -> RealPath:
    """The target at the recorded place; raises its refusal, or `OutOfDate` `stale` when a link leads elsewhere."""
    for target in targets:
        if target.path is not None and target.path.text == recorded:
            return target.path
    for target in targets:
        if target.error is not None:
            raise target.error
    raise OutOfDate(
        "stale",
        f"{shown(recorded)} is now reached through a link and leads elsewhere.",
        hint="Nothing was done; put the directory back where the link stands, or edit the file at its new place.",
        path=shown(recorded),
    )
