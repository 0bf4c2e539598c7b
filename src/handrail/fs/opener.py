"""Handing a file to the desktop's default application: an argument list, never a shell, and never for long."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Final

from handrail.model.errors import BackendFailed
from handrail.model.paths import RealPath

PATIENCE: Final = 10.0
"""Seconds that an opener may take; one that stays alive longer has become the application itself."""


def launch(path: RealPath) -> str:
    """Open `path` with its default application; the name of the program that was asked."""
    command = opener(os.environ)
    try:
        child = subprocess.Popen(
            [*command, path.text],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            close_fds=True,
            cwd="/",
        )
    except OSError as error:
        raise _unavailable(path, f"{command[0]} couldn't be started ({error.strerror})") from error
    try:
        code = child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        threading.Thread(target=child.wait, name="handrail-opener", daemon=True).start()
        code = 0
    if code != 0:
        raise _unavailable(path, f"{os.path.basename(command[0])} found no application for it (it ended with {code})")
    return os.path.basename(command[0])


def opener(environment: Mapping[str, str]) -> list[str]:
    """The command that opens things here; `BackendFailed` `opener_unavailable` when there is none, or no display."""
    if sys.platform == "darwin":
        return ["/usr/bin/open"]
    search = environment.get("PATH")
    windows = "WSL_DISTRO_NAME" in environment or "WSL_INTEROP" in environment
    if windows and (found := shutil.which("wslview", path=search)):
        return [found]
    if not environment.get("DISPLAY") and not environment.get("WAYLAND_DISPLAY"):
        raise _unavailable(None, "There is no display to show anything on")
    for name, *more in (("xdg-open",), ("gio", "open"), ("wslview",)):
        if found := shutil.which(name, path=search):
            return [found, *more]
    raise _unavailable(None, "There is no program here that opens files (xdg-open, gio or wslview)")


def _unavailable(path: RealPath | None, why: str) -> BackendFailed:
    return BackendFailed(
        "opener_unavailable",
        f"{why}; {path or 'the file'} wasn't opened." if path is None else f"{path} wasn't opened: {why}.",
        hint="Tell the person the path, so that they can open it themselves.",
        path=None if path is None else str(path),
    )
