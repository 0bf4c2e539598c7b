"""The directories that must be made before a file can be: which are missing, outermost first. It makes none."""

from collections.abc import Callable, Sequence

from handrail.fs.protocol import ReadableFileSystem
from handrail.model.changes import Change
from handrail.model.errors import InvalidCall
from handrail.model.files import Absent
from handrail.model.paths import RealPath


def missing_directories(
    changes: Sequence[Change], fs: ReadableFileSystem, real: Callable[[str], RealPath]
) -> list[RealPath]:
    """The directories above changes with `parents` that don't exist; `InvalidCall` where one is something else."""
    missing: dict[str, RealPath] = {}
    for change in changes:
        text = change.path.parent
        while change.parents and not isinstance(change.after, Absent) and text not in missing:
            path = real(text)
            found = fs.stat(path)
            if found is not None and found.kind != "directory":
                raise InvalidCall(
                    "invalid_path",
                    f"{path} is a {found.kind}, so nothing can lie below it.",
                    hint="Choose a path below a directory.",
                    path=str(path),
                )
            if found is not None:
                break
            missing[text] = path
            text = path.parent
    return sorted(missing.values(), key=lambda path: path.text.count("/"))
