"""A place for faces to stand in without an engine: a context, records in memory, answers made by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jsonschema
from pydantic import BaseModel

from handrail.core.config import Config, FsSettings, Tools
from handrail.core.schema import input_schema, output_schema
from handrail.core.tool import Context, Outcome, Reply, Tool
from handrail.families import batch, claude_code
from handrail.model.answers import Answer, Changed, Found, ReadText, Row
from handrail.model.calls import TextBlock
from handrail.model.errors import HandrailError
from handrail.model.paths import seal
from handrail.model.records import Receipt, Task, Version

NOW = 1_786_633_445_000_000_000
ROOT = "/home/ada/project"
TOOLS: Mapping[str, Tool[Any]] = {tool.name: tool for tool in (*batch.TOOLS, *claude_code.TOOLS)}


@dataclass
class Records:
    """What happened, as tests say."""

    tasks: dict[str, list[str]] = field(default_factory=dict)
    versions: dict[int, Version] = field(default_factory=dict)
    current: str | None = None

    def newest_task(self, session: str | None, *, under: str | None = None) -> Task | None:
        return None if self.current is None else self.task(self.current)

    def task(self, name: str) -> Task | None:
        if name not in self.tasks:
            return None
        return Task(id=name, session="s", objective=None, opened_at=NOW, touched_at=NOW)

    def task_paths(self, name: str) -> Sequence[str]:
        return self.tasks[name]

    def version(self, number: int) -> Version | None:
        return self.versions.get(number)


def context(records: Records | None = None, *, roots: Sequence[str] = (ROOT,), **settings: Any) -> Context:
    return Context(
        session="s",
        roots=roots,
        output_directory="/home/ada/Downloads",
        config=Config(tools=Tools(fs=FsSettings(**settings))),
        records=records or Records(),
        now=NOW,
    )


def operations(name: str, arguments: Mapping[str, Any], where: Context | None = None) -> Sequence[Any]:
    from handrail.core.arguments import parse

    tool = TOOLS[name]
    return tool.operations(parse(tool.arguments, arguments), where or context())


def answer(
    name: str,
    arguments: Mapping[str, Any],
    *answers: Answer | HandrailError,
    where: Context | None = None,
    **outcome: Any,
) -> tuple[Reply, dict[str, Any], str]:
    """The reply, its payload as the road dumps it (checked against the schema), and its text."""
    from handrail.core.arguments import parse

    tool = TOOLS[name]
    where = where or context()
    arguments_read: BaseModel = parse(tool.arguments, arguments)
    meant = tool.operations(arguments_read, where)
    outcomes = [
        Outcome(operation=operation, error=given)
        if isinstance(given, HandrailError)
        else replace(Outcome(operation=operation, answer=given), **outcome)
        for operation, given in zip(meant, answers, strict=True)
    ]
    reply = tool.reply(arguments_read, outcomes, where)
    payload = dumped(tool, reply)
    return reply, payload, "\n\n".join(b.text for b in reply.blocks if isinstance(b, TextBlock))


def dumped(tool: Tool[Any], reply: Reply) -> dict[str, Any]:
    payload = reply.payload.model_dump(mode="json", by_alias=True, exclude_unset=True)
    jsonschema.Draft202012Validator(output_schema(tool.output)).validate(payload)
    assert next(iter(payload)) == "kind"
    return payload


def schema(name: str) -> dict[str, Any]:
    return input_schema(TOOLS[name].arguments)


def text(path: str, *rows: str, first: int = 1, total: int | None = None, **facts: Any) -> ReadText:
    last = first + len(rows) - 1
    known: dict[str, Any] = {
        "path": seal(path),
        "rows": tuple(Row(row=first + i, text=row) for i, row in enumerate(rows)),
        "total": total if total is not None else last,
        "first": first if rows else 0,
        "last": last if rows else 0,
        "next_offset": None,
        "hash": "ab" * 32,
        "size": 10,
        "encoding": "utf-8",
    }
    return ReadText(**{**known, **facts})


def changed(path: str, **facts: Any) -> Changed:
    return Changed(**{"path": seal(path), "hash": "cd" * 32, "bytes_written": 12, "lines": 2, **facts})


def receipt(path: str, version: int = 7, before: int | None = 6) -> Receipt:
    return Receipt(path=path, version=version, before_version=before, task="t-1")


def found(mode: str, **facts: Any) -> Found:
    return Found(**{"mode": mode, "searched_at": NOW, **facts})
