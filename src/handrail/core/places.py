"""Where things are: the roots, Handrail's own directories, the place for files made without a location."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from platformdirs import user_config_dir, user_data_dir, user_downloads_dir

from handrail.core.config import Config
from handrail.model.errors import InvalidCall
from handrail.model.paths import shown, within


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """Handrail's own directories, absolute."""

    data: str
    config: str

    @property
    def files(self) -> str:
        """The managed files, the one part that tools may see."""
        return os.path.join(self.data, "files")

    @property
    def audit(self) -> str:
        """The audit trail."""
        return os.path.join(self.data, "audit")

    @property
    def locks(self) -> str:
        """The writers' locks."""
        return os.path.join(self.data, "locks")


def own(data_directory: str | None, environment: Mapping[str, str]) -> Own:
    """Handrail's own directories: as given, else by `HANDRAIL_DATA_DIR`, else where the platform keeps such things."""
    data = data_directory or environment.get("HANDRAIL_DATA_DIR") or user_data_dir("handrail", appauthor=False)
    return Own(data=absolute(data), config=absolute(user_config_dir("handrail", appauthor=False)))


def output_directory(config: Config) -> str:
    """Where files go that were made for the person with no location asked for."""
    return absolute(config.tools.fs.output_directory or user_downloads_dir())


def configured_roots(given: Sequence[str] | None, config: Config) -> tuple[str, ...] | None:
    """The roots as they are settled by arguments or configuration; empty = not settled, `None` = unconfined."""
    if given is None:
        return None
    chosen = given or ([config.tools.fs.workspace_root] if config.tools.fs.workspace_root else ())
    roots = tuple(dict.fromkeys(absolute(root) for root in chosen))
    for root in roots:
        if not os.path.isdir(root):
            raise InvalidCall(
                "invalid_arguments", f"The root {shown(root)} is no directory.", hint="Name a directory that exists."
            )
    return roots


def narrowed(roots: Sequence[str], announced: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The announced directories that lie inside the roots (the roots themselves where none does), and the others."""
    real = [os.path.realpath(root) for root in roots]
    inside: list[str] = []
    ignored: list[str] = []
    for directory in announced:
        at = os.path.realpath(directory) if directory.startswith("/") else ""
        fits = at and os.path.isdir(at) and any(within(at, root) for root in real)
        (inside if fits else ignored).append(directory)
    return tuple(dict.fromkeys(inside)) or tuple(roots), tuple(ignored)


def taken_over(announced: Sequence[str], home: str) -> tuple[str, ...]:
    """A client's directories as roots of their own; never the whole disk or the home folder, which must be named."""
    real = (os.path.realpath(d) for d in announced if d.startswith("/") and os.path.isdir(d))
    return tuple(dict.fromkeys(d for d in real if d not in ("/", os.path.realpath(home))))


def absolute(path: str) -> str:
    """The path with `~` and relative parts filled in."""
    return os.path.abspath(os.path.expanduser(path))
