"""How a command opens what it works on: the workspace around some roots, or the store alone."""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager

from handrail.interfaces import api
from handrail.store.protocol import Store


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


@contextmanager
def opened_store() -> Iterator[Store]:
    """The store alone, wherever the command is run."""
    with api.open(root=(), interface="cli") as handrail:
        yield handrail.store
