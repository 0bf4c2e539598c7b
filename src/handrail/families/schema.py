"""The schemas of the tools as they are listed: kept beside the code, because making them costs a start a tenth.

`make docs` writes `schemas.json` from the tools' models; a test keeps the two equal.
"""

import json
import os
from collections.abc import Iterable
from functools import cache
from typing import Any

from handrail.core.schema import Schema, input_schema, output_schema
from handrail.core.tool import Tool

KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schemas.json")


def schemas(tool: Tool[Any]) -> tuple[Schema, Schema]:
    """The tool's input and output schema; a tool that isn't kept has them made."""
    kept = _kept().get(tool.name)
    return (kept["input"], kept["output"]) if kept else (input_schema(tool.arguments), output_schema(tool.output))


def as_kept(tools: Iterable[Tool[Any]]) -> str:
    """The text of `schemas.json` for these tools."""
    made = {t.name: {"input": input_schema(t.arguments), "output": output_schema(t.output)} for t in tools}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


@cache
def _kept() -> dict[str, dict[str, Schema]]:
    try:
        with open(KEPT, encoding="utf-8") as file:
            found: dict[str, dict[str, Schema]] = json.load(file)
    except FileNotFoundError:
        return {}
    return found
