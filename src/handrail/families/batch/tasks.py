"""Which task is meant by what was typed."""

from handrail.core.tool import Context
from handrail.model.errors import NotThere
from handrail.model.paths import shown


def meant(typed: str, context: Context) -> str:
    """A task's id; `current` is the session's newest. Raises `NotThere` `task_not_found`."""
    name = typed.strip()
    if name == "current":
        newest = context.records.newest_task(context.session)
        if newest is None:
            raise NotThere(
                "task_not_found",
                "This session has changed nothing yet, so it has no current task.",
                hint="file_history lists the tasks of other sessions.",
            )
        return newest.id
    task = context.records.task(name)
    if task is None:
        raise NotThere(
            "task_not_found",
            f'There is no task "{shown(name[:80])}".',
            hint='file_history lists tasks; "current" is the one running now.',
        )
    return task.id
