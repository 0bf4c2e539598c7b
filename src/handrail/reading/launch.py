"""Plans to show a file to the person, and says when opening it could run something."""

import re
from collections.abc import Sequence
from typing import Final

from handrail.model.answers import Opened
from handrail.model.changes import Launch, Plan
from handrail.model.errors import WrongContent
from handrail.model.operations import Open, Want
from handrail.model.view import Target, View
from handrail.reading.kinds import HEAD, kind_of
from handrail.reading.nearest import not_found

_RUNS: Final = frozenset(
    """
    desktop lnk url webloc scf inf reg app command tool workflow action scpt applescript pkg dmg
    exe com scr pif cpl msi msp msix appx gadget bat cmd ps1 psm1 vbs vbe js jse wsf wsh wsc hta chm
    sh bash zsh fish csh ksh run bin out elf appimage flatpakref flatpak snap deb rpm
    py pyw pyc pyz rb pl php jar jnlp class lua tcl ahk au3 service ipynb
    docm dotm xlsm xltm xlam pptm ppsm potm
    """.split()  # noqa: SIM905 -- a list to be read
)
"""Endings of files that a desktop may run instead of showing them."""
_DESKTOP: Final = re.compile(rb"\s*\[(?:Desktop Entry|InternetShortcut)\]")
_SHORTCUT: Final = b"\x4c\x00\x00\x00\x01\x14\x02\x00"


class OpenPlanner:
    """The door of opening: `Open` -> a plan with a launch; `unusual` where a person must be asked first."""

    def wants(self, operation: Open) -> Sequence[Want]:
        """The one path, to open."""
        return [Want(path=operation.path, access="open")]

    def plan(self, operation: Open, targets: Sequence[Target], view: View) -> Plan:
        """The launch of what stands there: a file or a directory. Raises `NotThere`, `WrongContent`."""
        path = targets[0].real
        stat = view.stat(path)
        if stat is None:
            raise not_found(path, view)
        if stat.kind not in {"file", "directory"}:
            raise WrongContent(
                "not_regular_file",
                f"{path} is a {stat.kind}, not a file.",
                hint="Only files and directories can be opened.",
                path=str(path),
            )
        why = _by_name(path.name, operation.path.rpartition("/")[2])
        if stat.kind == "file":
            why += _by_mode(stat.mode) + _by_content(view.look(path).read(0, HEAD))
        return Plan(answer=Opened(path=path), launch=Launch(path), unusual=tuple(why))


def _by_name(*names: str) -> list[str]:
    endings = (name.rstrip(" .").rpartition(".")[2].casefold() for name in names if "." in name)
    found = next((ending for ending in endings if ending in _RUNS), None)
    return [f"Opening a .{found} file can run a program."] if found else []


def _by_mode(mode: int) -> list[str]:
    return ["The file is marked executable."] if mode & 0o111 else []


def _by_content(head: bytes) -> list[str]:
    if head.startswith(b"#!"):
        return ["The file is a script: it starts with #!."]
    if _DESKTOP.match(head.removeprefix(b"\xef\xbb\xbf")) or head.startswith(_SHORTCUT):
        return ["The file is a shortcut that starts something else."]
    kind = kind_of(head)
    return [f"The file is {kind.said}."] if kind.group == "program" else []
