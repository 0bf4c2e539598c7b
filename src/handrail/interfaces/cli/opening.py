"""How a command opens the workspace that its options name."""

import argparse
import os

from handrail.interfaces import api


def opened(options: argparse.Namespace, *, family: api.Family = "all") -> api.Handrail:
    """The workspace that the options name; its session is that of its first root, whatever command is run there."""
    roots = [os.path.abspath(root) for root in options.root]
    return api.open(
        root=roots,
        approve=getattr(options, "approve", None),
        family=family,
        config_file=options.config,
        session=f"cli:{os.path.realpath(roots[0] if roots else os.curdir)}",
        interface="cli",
    )
