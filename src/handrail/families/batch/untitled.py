"""A name for a file that was made without one: by its time, with an ending that fits its content."""

import json
from datetime import datetime

from handrail.core.tool import Context


def untitled(content: str, context: Context) -> str:
    """`untitled-<time>.<ext>` in the output directory; the writer counts a taken name up."""
    stamp = datetime.fromtimestamp(context.now / 10**9).strftime("%Y%m%d-%H%M%S")
    return f"{context.output_directory.rstrip('/')}/untitled-{stamp}.{_ending(content)}"


def _ending(content: str) -> str:
    head = content[:2000].lstrip("\ufeff \t\r\n").lower()
    starts = {
        "<!doctype html": "html",
        "<html": "html",
        "<svg": "svg",
        "<?xml": "xml",
        "#!/usr/bin/env python": "py",
        "#!/usr/bin/python": "py",
        "#!": "sh",
        "# ": "md",
        "## ": "md",
    }
    for start, ending in starts.items():
        if head.startswith(start):
            return ending
    if head[:1] in ("{", "[") and len(content) <= 1 << 20:
        try:
            json.loads(content)
        except (ValueError, RecursionError):
            return "txt"
        return "json"
    return "txt"
