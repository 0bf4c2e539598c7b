"""What a tool is: a thin face. Words in, operations; outcomes back, words out. It touches no file."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from handrail.core.config import Config
from handrail.model.answers import Answer
from handrail.model.calls import Block, TextBlock
from handrail.model.errors import HandrailError
from handrail.model.operations import Operation
from handrail.model.records import Receipt, Task, Version

A = TypeVar("A", bound=BaseModel)


class Records(Protocol):
    """What a face may look up to say what was meant: tasks, their paths, a version."""

    def newest_task(self, session: str | None, *, under: str | None = None) -> Task | None:
        """The newest task that recorded a version."""
        ...

    def task(self, name: str) -> Task | None:
        """The task by its id."""
        ...

    def task_paths(self, name: str) -> Sequence[str]:
        """The paths that the task changed."""
        ...

    def version(self, number: int) -> Version | None:
        """The version by its id."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Where a call stands: its session, the roots, the settings. Times in nanoseconds since the epoch."""

    session: str
    roots: Sequence[str]
    output_directory: str
    config: Config
    records: Records
    now: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one operation ended: its answer or its error, the diff that was shown, what the writer did."""

    operation: Operation
    answer: Answer | None = None
    error: HandrailError | None = None
    diff: str = ""
    receipts: tuple[Receipt, ...] = ()
    dry_run: bool = False
    unseen_rows: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """A payload (a model of the tool's output), its rendering, and whether anything asked for was done."""

    payload: BaseModel
    blocks: tuple[Block, ...]
    ok: bool = True


def as_json(payload: Mapping[str, object]) -> tuple[Block, ...]:
    """A payload as one compact block of JSON."""
    return (TextBlock(json.dumps(payload, ensure_ascii=False, separators=(",", ":"))),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[A]):
    """One tool as a model sees it, and its two translations.

    `describe` makes the description (it names real directories). `operations` raises `InvalidCall` for what can't
    be meant; `reply` is given the outcomes in the order of the operations. `rerender` makes the blocks again from a
    payload that a hook changed. `diffs`: its receipts show what changed. `counts_repeats`: the same read again and
    again is worth a reminder (`track_reads`). `answered`: kinds of failure that are ordinary answers of this tool.
    `read_call`: the tool that a refusal names as the one to read with.
    """

    name: str
    family: str
    title: str
    describe: Callable[[Context], str]
    arguments: type[A]
    output: type[BaseModel]
    operations: Callable[[A, Context], Sequence[Operation]]
    reply: Callable[[A, Sequence[Outcome], Context], Reply]
    rerender: Callable[[Mapping[str, object]], tuple[Block, ...]] = as_json
    group: str = "@read"
    diffs: bool = False
    answered: frozenset[str] = frozenset()
    counts_repeats: bool = False
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = False
    read_call: str = "read_files"
    failure_path: str = field(default="path")
