"""`handrail serve`: the tools for one MCP client over standard input and output; everything else goes to stderr."""

import argparse
import logging
import sys
from importlib import import_module

from handrail.interfaces.cli.opening import opened


def serve(options: argparse.Namespace) -> int:
    """Serve until the client leaves."""
    logging.basicConfig(
        stream=sys.stderr,
        level=options.log_level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    with opened(options, family=options.family) as handrail:
        import_module("handrail.interfaces.mcp.server").serve(handrail, family=options.family)
    return 0
