"""`handrail serve`: the tools for one MCP client over standard input and output; everything else goes to stderr."""

import argparse
import logging
import sys

from handrail.interfaces.cli.opening import opened
from handrail.interfaces.mcp import server


def serve(options: argparse.Namespace) -> int:
    """Serve until the client leaves."""
    logging.basicConfig(
        stream=sys.stderr,
        level=options.log_level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    with opened(options, family=options.family) as handrail:
        server.serve(handrail, family=options.family)
    return 0
