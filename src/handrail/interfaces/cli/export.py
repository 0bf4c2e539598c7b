"""`handrail export`: a piece of work as a patch, for `git apply`, a review or a letter."""

import argparse
import os
import sys

from handrail.interfaces.cli import screen
from handrail.interfaces.cli.opening import opened
from handrail.model.errors import InvalidCall


def export(options: argparse.Namespace) -> int:
    """Print the patch, or write it to a new file; what it leaves out is said on standard error."""
    with opened(options) as handrail:
        found = handrail.export(options.task, include=[os.path.realpath(path) for path in options.include])
    if options.output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(found.patch)
    else:
        _write(options.output, found.patch)
        screen.whisper(f"{len(found.files)} files in {screen.line(options.output)}\n")
    for path, note in found.notes:
        screen.whisper(f"note: {screen.line(path)}: {note}\n")
    for path, why in found.left_out:
        screen.whisper(f"left out: {screen.line(path)}: {why}\n")
    return 1 if found.left_out else 0


def _write(path: str, data: bytes) -> None:
    try:
        with open(path, "xb") as file:
            file.write(data)
    except FileExistsError:
        raise InvalidCall(
            "invalid_arguments", f"{path} is there already, and stays as it is.", hint="Name a new file with -o."
        ) from None
    except OSError as error:
        raise InvalidCall(
            "invalid_arguments", f"{path} can't be written: {error.strerror}.", hint="Name another file with -o."
        ) from None
