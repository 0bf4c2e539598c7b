"""The Python API: open a workspace, call its tools, group calls into a task, close it; what every interface uses."""

import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Literal, Self

from handrail.core.approval import Mode
from handrail.core.channels import CallbackChannel
from handrail.core.export import export_task
from handrail.core.hooks import Hook
from handrail.core.tool import Tool
from handrail.core.upkeep import limits
from handrail.core.workspace import Opening, Workspace
from handrail.families.render import failed
from handrail.families.schema import schemas
from handrail.history.export import Export
from handrail.model.calls import Call, Cancellation, Channel, Progress, Result
from handrail.model.records import Answered, Request
from handrail.store.protocol import Limits, Store

Family = Literal["batch", "claude_code", "all"]
Approve = Mode | Callable[[Request], Answered | bool | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInfo:
    """One tool as a client lists it; the schemas are JSON Schema 2020-12, objects at the root."""

    name: str
    family: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    read_only: bool
    destructive: bool
    idempotent: bool


class Handrail:
    """An open workspace: call tools on it from as many threads as you like, then close it (or use `with`)."""

    def __init__(self, workspace: Workspace, *, session: str, channels: Sequence[Channel], interface: str) -> None:
        self._workspace = workspace
        self._session = session
        self._channels = tuple(channels)
        self._interface = interface
        self._task: ContextVar[tuple[str, str] | None] = ContextVar("handrail_task", default=None)

    def call(
        self,
        tool: str,
        arguments: Mapping[str, object] | object = None,
        *,
        session: str | None = None,
        named: bool | None = None,
        task: str | None = None,
        objective: str | None = None,
        channels: Sequence[Channel] = (),
        cancellation: Cancellation | None = None,
        progress: Progress | None = None,
        person: bool = False,
    ) -> Result:
        """Take one call down the whole road and return its result; a failure is a result too, never an exception.

        `session`: whose ledger counts; a name given here outlives the process. `task`: the piece of work that the
        versions belong to. `person`: a person's own command, approved by its being given.
        """
        current = self._task.get()
        return self._workspace.road.run(
            Call(
                tool=tool,
                arguments={} if arguments is None else arguments,
                session=session or self._session,
                interface=self._interface,
                task=task or (current[0] if current else None),
                objective=objective or (current[1] if current else None),
                named=(session is not None) if named is None else named,
                person=person,
                channels=(*self._channels, *channels),
                cancellation=cancellation or Cancellation(),
                progress=progress,
            )
        )

    async def acall(self, tool: str, arguments: Mapping[str, object] | object = None, **options: Any) -> Result:
        """`call` in a worker thread, for asynchronous programs; cancelling it withdraws the call."""
        from functools import partial

        from anyio import get_cancelled_exc_class, to_thread

        cancellation: Cancellation = options.setdefault("cancellation", Cancellation())
        try:
            return await to_thread.run_sync(partial(self.call, tool, arguments, **options), abandon_on_cancel=True)
        except get_cancelled_exc_class():
            cancellation.cancel()
            raise

    @contextmanager
    def task(self, objective: str) -> Iterator[str]:
        """Group the calls made inside into one task with this objective; gives the task's id, for undo."""
        name = f"t-{uuid.uuid4().hex[:12]}"
        outside = self._task.set((name, objective))
        try:
            yield name
        finally:
            self._task.reset(outside)

    def export(
        self, task: str, *, root: str | os.PathLike[str] | None = None, include: Sequence[str | os.PathLike[str]] = ()
    ) -> Export:
        """A task as a patch that `git apply` takes, with names relative to `root` (the first root, if not given).

        Sensitive files are left out unless `include` names them. Raises `NotThere` `task_not_found`.
        """
        place = None if root is None else os.fspath(root)
        names = [os.fspath(path) for path in include]
        return export_task(self._workspace.road, task, root=place, include=names)

    def tools(self, *, family: Family = "all") -> Sequence[ToolInfo]:
        """The tools of a family that policy lets show."""
        context = self._workspace.road.context(self._session)
        return [_info(t, t.describe(context)) for t in self._workspace.listed() if family in ("all", t.family)]

    def instructions(self, family: Family = "all") -> str:
        """A few lines for a model: where it is, what holds here."""
        return self._workspace.instructions(family)

    def narrow(self, roots: Sequence[str]) -> None:
        """Take a client's own roots into account, as far as they narrow what is configured."""
        self._workspace.narrow(roots)

    @property
    def rooted(self) -> bool:
        """Whether the roots are as they stay: nothing that a client says could narrow them."""
        return self._workspace.settled

    @property
    def roots(self) -> Sequence[str]:
        """The directories that the tools are confined to; empty = unconfined."""
        return self._workspace.road.roots

    @property
    def limits(self) -> Limits:
        """How much history is kept."""
        return limits(self._workspace.road.config.history)

    @property
    def store(self) -> Store:
        """History, approvals and ledgers."""
        return self._workspace.store

    def close(self) -> None:
        """Give everything back; calls after it fail."""
        self._workspace.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open(  # noqa: A001 -- handrail.open is what it is called
    *,
    root: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None,
    approve: Approve | None = None,
    family: Family = "all",
    config_file: str | os.PathLike[str] | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    hooks: Sequence[Hook] = (),
    channels: Sequence[Channel] = (),
    session: str | None = None,
    interface: str = "python",
    settings: Mapping[str, object] | None = None,
) -> Handrail:
    """Open a workspace on one or several roots; `root=None` means unconfined, said aloud.

    An empty sequence leaves the roots to the configuration, then to the client, then to the working directory.
    `approve`: `ask`, `auto`, `deny`, or a function that is given each request (a true answer allows, a string denies
    with that reason); not given, the configuration decides. `settings`: dotted configuration keys, over everything
    else. Raises `InvalidCall` where the configuration can't be used.
    """
    mode: Mode | None = approve if isinstance(approve, str) else None
    asked = list(channels)
    if callable(approve):
        mode = "ask"
        asked.append(CallbackChannel(approve))
    workspace = Workspace(
        Opening(
            roots=_roots(root),
            approve=mode,
            config_file=None if config_file is None else os.fspath(config_file),
            data_directory=None if data_dir is None else os.fspath(data_dir),
            hooks=tuple(hooks),
            settings=dict(settings or {}),
            tools=_tools(family),
            failed=failed,
        )
    )
    name = session or f"{interface}:{os.getpid()}-{uuid.uuid4().hex[:8]}"
    return Handrail(workspace, session=name, channels=asked, interface=interface)


def version() -> str:
    """The installed version."""
    return metadata.version("handrail")


def _tools(family: Family) -> tuple[Tool[Any], ...]:
    found: tuple[Tool[Any], ...] = ()
    if family in ("batch", "all"):
        from handrail.families import batch

        found += batch.TOOLS
    if family in ("claude_code", "all"):
        from handrail.families import claude_code

        found += claude_code.TOOLS
    return found


def _roots(root: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None) -> tuple[str, ...] | None:
    if root is None:
        return None
    if isinstance(root, str | os.PathLike):
        return (os.fspath(root),)
    return tuple(os.fspath(r) for r in root)


def _info(tool: Tool[Any], description: str) -> ToolInfo:
    given, answered = schemas(tool)
    return ToolInfo(
        name=tool.name,
        family=tool.family,
        title=tool.title,
        description=description,
        input_schema=given,
        output_schema=answered,
        read_only=tool.read_only,
        destructive=tool.destructive,
        idempotent=tool.idempotent,
    )
