"""A task as a patch for whoever may see it: policy hides here what it hides everywhere, secrets wait to be named."""

import os
from collections.abc import Sequence

from handrail.core.pipeline import Road
from handrail.history.export import HIDDEN, SENSITIVE, Export, export


def export_task(road: Road, task: str, *, root: str | None, include: Sequence[str]) -> Export:
    """The patch of a task below a directory (the first root, if none is named); `include` names secrets to have in it.

    Raises `NotThere` `task_not_found`.
    """
    policy = road.ground.admission.policy
    place = os.path.realpath(root or (road.roots[0] if road.roots else "/"))
    named = {os.path.join(place, path) for path in include}

    def left_out(path: str) -> str | None:
        seen = policy.visibility(path)
        if seen == "hidden":
            return HIDDEN
        return SENSITIVE if seen == "sensitive" and path not in named else None

    return export(road.ground.store, task, place, left_out=left_out)
