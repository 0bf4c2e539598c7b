"""Writes docs/tools.md, docs/errors.md and docs/modules.md from the code.

`python -m handrail.interfaces.reference docs` writes them; a test says when they are out of date.
"""

import ast
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from handrail.core.config import Config
from handrail.core.schema import input_schema, output_schema
from handrail.core.tool import Context, Tool
from handrail.families import batch, claude_code
from handrail.families.schema import KEPT, as_kept
from handrail.interfaces.kinds import MEANINGS, NOT_YET
from handrail.model.errors import KINDS
from handrail.model.records import Task, Version

FAMILIES: Final[Mapping[str, tuple[str, tuple[Tool[Any], ...]]]] = {
    "batch": ("One call does many things: many queries, many files, many edits.", batch.TOOLS),
    "claude_code": ("Names, parameters and answers as Claude Code has them; absolute paths alone.", claude_code.TOOLS),
}
WRITTEN: Final = "<!-- Written by `python -m handrail.interfaces.reference docs`; changes by hand are lost. -->"


class NoRecords:
    """A history in which nothing has happened yet."""

    def newest_task(self, session: str | None, *, under: str | None = None) -> Task | None:  # noqa: ARG002
        """None."""
        return None

    def task(self, name: str) -> Task | None:  # noqa: ARG002
        """None."""
        return None

    def task_paths(self, name: str) -> Sequence[str]:  # noqa: ARG002
        """None."""
        return ()

    def version(self, number: int) -> Version | None:  # noqa: ARG002
        """None."""
        return None


SAMPLE: Final = Context(
    session="docs",
    roots=("/home/you/project",),
    output_directory="/home/you/Downloads",
    config=Config(),
    records=NoRecords(),
    now=0,
)
"""The place that descriptions in the docs and in the snapshots speak of."""


def listed(tool: Tool[Any]) -> dict[str, Any]:
    """A tool as a client lists it."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.describe(SAMPLE),
        "input_schema": input_schema(tool.arguments),
        "output_schema": output_schema(tool.output),
        "annotations": {
            "read_only": tool.read_only,
            "destructive": tool.destructive,
            "idempotent": tool.idempotent,
        },
    }


def tools_page() -> str:
    """docs/tools.md."""
    lines = ["# The tools", "", WRITTEN, ""]
    lines += ["Every answer has a typed payload, `kind` first. A failure has `kind`, `error`, `hint`, `retryable` and"]
    lines += ["the path, whatever the tool; [errors.md](errors.md) says what each kind means.", ""]
    for family, (about, tools) in FAMILIES.items():
        lines += [f"## Family `{family}`", "", about, ""]
        for tool in tools:
            lines += _tool(tool)
    lines += ["## Not there yet", "", "What the tools will do and don't yet; asked for it they say so.", ""]
    lines += _table(("tool", "what", "until then"), NOT_YET)
    return "\n".join(lines) + "\n"


def _tool(tool: Tool[Any]) -> Iterator[str]:
    yield from (f"### {tool.name}", "", tool.describe(SAMPLE), "")
    marks = ["only reads" if tool.read_only else "may change things", f"group `{tool.group}`"]
    if tool.answered:
        marks.append("these failures are ordinary answers: " + ", ".join(f"`{kind}`" for kind in sorted(tool.answered)))
    yield from (f"*{tool.title}; {'; '.join(marks)}.*", "", "Arguments:", "")
    yield from _table(("name", "type", "default", "about"), _fields("", input_schema(tool.arguments), inputs=True))
    yield from ("Answer. " + " ".join((tool.output.__doc__ or "").split()), "")
    yield from _table(("name", "type", "about"), _fields("", output_schema(tool.output), inputs=False))


def _fields(prefix: str, schema: Mapping[str, Any], *, inputs: bool) -> Iterator[tuple[str, ...]]:
    """A row a field, those of the objects in a list below it."""
    required = schema.get("required", ())
    for name, field in schema["properties"].items():
        about = field.get("description", "")
        if inputs:
            default = "required" if name in required else _code(field["default"]) if "default" in field else ""
            yield (f"`{prefix}{name}`", _type(field), default, about)
        else:
            yield (f"`{prefix}{name}`", _type(field), about)
        inner = field.get("items", {})
        if "properties" in inner:
            yield from _fields(f"{prefix}{name}[].", inner, inputs=inputs)


def _type(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return " or ".join(f"`{word}`" for word in field["enum"])
    kind = field["type"] if isinstance(field["type"], str) else " or ".join(field["type"])
    if kind == "array":
        inner = field["items"]
        return "list of objects" if "properties" in inner else f"list of {_type(inner)}s"
    low, high = field.get("minimum"), field.get("maximum")
    if low is None:
        return str(kind)
    return f"{kind}, {low} to {high}" if high is not None else f"{kind}, at least {low}"


def _code(value: object) -> str:
    return f"`{json.dumps(value)}`"


def _table(heads: Sequence[str], rows: Iterator[tuple[str, ...]] | Sequence[tuple[str, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "| " + " | ".join("---" for _ in heads) + " |"
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
    yield ""


def errors_page() -> str:
    """docs/errors.md."""
    lines = ["# The kinds of failure", "", WRITTEN, ""]
    lines += [
        "A failure is an answer with a stable `kind`. In Python `Result.unwrap()` raises it as the exception that"
    ]
    lines += ["heads its table; all of them are `HandrailError`.", ""]
    for branch, kinds in KINDS.items():
        lines += [f"## {branch}", ""]
        lines += _table(("kind", "means"), [(f"`{kind}`", MEANINGS[kind]) for kind in kinds])
    return "\n".join(lines).rstrip("\n") + "\n"


def modules_page() -> str:
    """docs/modules.md: every module with the first paragraph of its docstring."""
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    lines = [
        "# Modules",
        "",
        "Written from the code by `make docs`. [architecture.md](architecture.md) is the map.",
        "",
    ]
    rooms: dict[str, list[tuple[str, ...]]] = {}
    for folder, _, names in os.walk(top):
        room = os.path.relpath(folder, top)
        for name in names:
            if name.endswith(".py"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    said = ast.get_docstring(ast.parse(file.read())) or ""
                row = (f"`{name}`", " ".join(said.partition("\n\n")[0].split()))
                rooms.setdefault("handrail" if room == "." else room, []).append(row)
    for room in sorted(rooms):
        lines += [f"## {room}/", "", *_table(("module", "what it is for"), sorted(rooms[room])), ""]
    return "\n".join(lines)


PAGES: Final = {"tools.md": tools_page, "errors.md": errors_page, "modules.md": modules_page}


def main(arguments: Sequence[str]) -> int:
    """Write the pages into the directory that is named, and the tools' schemas into a second one."""
    if len(arguments) not in (1, 2):
        sys.stderr.write("usage: python -m handrail.interfaces.reference DOCS [SCHEMAS]\n")
        return 2
    for name, page in PAGES.items():
        _write(os.path.join(arguments[0], name), page())
    for directory in arguments[1:]:
        _write(os.path.join(directory, os.path.basename(KEPT)), as_kept([*batch.TOOLS, *claude_code.TOOLS]))
    return 0


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
