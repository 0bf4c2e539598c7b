"""`handrail call` and `handrail tools`: one tool called with JSON in and JSON out, and what there is to call."""

import argparse
import json
import sys
from dataclasses import asdict

from handrail.interfaces.cli import screen
from handrail.interfaces.cli.asking import terminal_channel
from handrail.interfaces.cli.opening import opened
from handrail.model.calls import Cancellation
from handrail.model.errors import InvalidCall


def call(options: argparse.Namespace) -> int:
    """Call one tool and print its payload; on a terminal, a change is asked about there."""
    arguments = _parsed(options.arguments)
    channel = terminal_channel()
    cancellation = Cancellation()
    with opened(options) as handrail:
        try:
            result = handrail.call(
                options.tool,
                arguments,
                session=options.session,
                task=options.task,
                channels=() if channel is None else (channel,),
                cancellation=cancellation,
            )
        finally:
            cancellation.cancel()
            if channel is not None:
                channel.close()
    screen.write_json(result.payload)
    return 0 if result.ok else 1


def tools(options: argparse.Namespace) -> int:
    """List the tools that policy lets show."""
    with opened(options, family=options.family) as handrail:
        found = handrail.tools(family=options.family)
    if options.json:
        screen.write_json([asdict(tool) for tool in found])
        return 0
    rows = [
        (tool.name, tool.family, "reads" if tool.read_only else "changes", tool.description.partition("\n")[0])
        for tool in found
    ]
    screen.write_table(("tool", "family", "it", "what for"), rows, empty="Policy lets no tool show.")
    return 0


def _parsed(text: str) -> object:
    """The arguments out of their JSON; raises `InvalidCall` for what isn't any."""
    try:
        given = sys.stdin.buffer.read().decode() if text == "-" else text
        return json.loads(given)
    except (ValueError, RecursionError) as error:
        raise InvalidCall(
            "invalid_arguments",
            f"The arguments are no JSON: {error}.",
            hint='Quote them for the shell: handrail call read_files \'{"files": [{"path": "README.md"}]}\'',
        ) from None
