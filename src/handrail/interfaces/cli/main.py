"""The entry of the command line: it finds out what is wanted, loads only that, and turns failures into exit codes.

0 = ok, 1 = not ok, 2 = what was typed can't be meant. It loads as little as it can: `--version` is asked often.
"""

import gc
import io
import os
import sys
from importlib import import_module

_MODULES = {
    "serve": "serve",
    "call": "calls",
    "tools": "calls",
    "history": "past",
    "diff": "past",
    "restore": "back",
    "undo": "back",
    "export": "export",
    "gc": "upkeep",
    "doctor": "upkeep",
    "approvals": "approvals",
}
"""Command -> the module of this package that has a function of its name."""


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _print_version() if arguments == ["--version"] else _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    return code


def _run(arguments: list[str]) -> int:
    parser = import_module("handrail.interfaces.cli.parser").build()
    try:
        options = parser.parse_args(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    if options.version_wanted:
        return _print_version()
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    gc.disable()  # what is being loaded stays; looking for garbage in it would take a tenth of the start
    errors = import_module("handrail.model.errors")
    module = import_module(f"handrail.interfaces.cli.{_MODULES[options.command]}")
    gc.freeze()
    gc.enable()
    try:
        return int(getattr(module, options.command)(options))
    except errors.HandrailError as error:
        import_module("handrail.interfaces.cli.screen").complain(error.message, error.hint)
        return 2 if isinstance(error, errors.InvalidCall) else 1


def _print_version() -> int:
    sys.stdout.write(f"handrail {_version()}\n")
    return 0


def _version() -> str:
    """The installed version, out of the name of its metadata directory: asking importlib for it takes 100 ms."""
    for place in sys.path:
        try:
            names = os.listdir(place)
        except OSError:
            continue
        for name in names:
            if name.startswith("handrail-") and name.endswith(".dist-info"):
                return name.removeprefix("handrail-").removesuffix(".dist-info")
    return str(import_module("importlib.metadata").version("handrail"))


if __name__ == "__main__":
    sys.exit(main())
