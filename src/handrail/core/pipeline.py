"""The road: one function that reads like the specification. Each call passes the same stations in the same order."""

import json
import logging
import time
import traceback
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel

from handrail.core.arguments import parse
from handrail.core.audit import Audit, AuditEvent
from handrail.core.config import Config
from handrail.core.events import CallEnded, CallStarted, Events
from handrail.core.ground import Ground, Trail
from handrail.core.hooks import AfterToolCall, BeforeToolCall, Hooks, ToolResultPersist
from handrail.core.passage import Passage
from handrail.core.sessions import Session, Sessions
from handrail.core.tool import Context, Outcome, Reply, Tool
from handrail.core.upkeep import Upkeep
from handrail.guard.policy import ToolRules
from handrail.model.calls import Call, Result
from handrail.model.errors import HandrailError, InternalError, InvalidCall, Refused

log = logging.getLogger("handrail")


@dataclass(frozen=True, slots=True, kw_only=True)
class Road:
    """Everything a call needs on its way; made by the workspace, safe for many calls at once."""

    tools: Mapping[str, Tool[Any]]
    tool_rules: ToolRules
    hooks: Hooks
    ground: Ground
    sessions: Sessions
    audit: Audit
    events: Events
    config: Config
    roots: Sequence[str]
    output_directory: str
    failed: Callable[[Tool[Any] | None, HandrailError], Reply]
    upkeep: Upkeep

    def run(self, call: Call) -> Result:
        """Take a call down the whole road; whatever happens, the answer is a result and the audit has a line."""
        started = time.perf_counter()
        trail = Trail()
        self.events.emit(CallStarted(tool=call.tool, session=call.session, interface=call.interface))
        try:
            result = self._walk(call, trail)
        except HandrailError as error:
            result = self._failure(call, error)
        except Exception as error:
            result = self._failure(call, _bug(error))
        self._account(call, result, trail, time.perf_counter() - started)
        if call.tool in self.tools and not self.tools[call.tool].read_only:
            self.upkeep.after_call(self.config.history)
        return result

    def context(self, session: str) -> Context:
        """Where a session's calls stand; the tools' descriptions are made from it too."""
        return Context(
            session=session,
            roots=self.roots,
            output_directory=self.output_directory,
            config=self.config,
            records=self.ground.store,
            now=self.ground.clock(),
        )

    def _walk(self, call: Call, trail: Trail) -> Result:
        tool, arguments = self._validate(call.tool, call.arguments)
        arguments = self._before(tool, arguments, call)
        self._allow(tool)
        if not tool.read_only:
            self.audit.ready()
        session = self.sessions.get(call.session, named=call.named)
        self.sessions.touch(session, self.ground.clock())
        context = self.context(session.name)
        operations = tool.operations(arguments, context)
        outcomes = Passage(self.ground, call, session, trail, tool=tool).travel(operations)
        outcomes = self._remind(tool, arguments, session, outcomes)
        reply = tool.reply(arguments, outcomes, context)
        payload = reply.payload.model_dump(mode="json", by_alias=True, exclude_unset=True)
        self.hooks.after(AfterToolCall(**_facts(tool, call), arguments=_plain(arguments), ok=reply.ok, payload=payload))
        return self._persist(tool, call, reply, payload, outcomes)

    # the stations

    def _validate(self, name: str, raw: object) -> tuple[Tool[Any], BaseModel]:
        tool = self.tools.get(name)
        if tool is None:
            near = get_close_matches(name, list(self.tools), n=1, cutoff=0.5)
            raise InvalidCall(
                "unknown_tool",
                f"There is no tool {name[:80]!r}.",
                hint=f"Did you mean {near[0]}?" if near else f"The tools are {', '.join(self.tools)}.",
            )
        return tool, parse(tool.arguments, raw)

    def _before(self, tool: Tool[Any], arguments: BaseModel, call: Call) -> BaseModel:
        before = _plain(arguments)
        after = self.hooks.before(BeforeToolCall(**_facts(tool, call), arguments=before))
        return arguments if after == before else parse(tool.arguments, after)

    def _allow(self, tool: Tool[Any]) -> None:
        if not self.tool_rules.allows(tool.name, tool.group):
            raise Refused(
                "tool_denied",
                f"The tool {tool.name} is switched off by policy.",
                hint="Use another tool; asking again gives the same answer.",
            )

    def _remind(
        self, tool: Tool[Any], arguments: BaseModel, session: Session, outcomes: Sequence[Outcome]
    ) -> Sequence[Outcome]:
        if not (self.config.tools.fs.track_reads and tool.counts_repeats):
            return outcomes
        if not session.repeated(json.dumps([tool.name, _plain(arguments)], sort_keys=True)):
            return outcomes
        return [replace(o, notes=(*o.notes, "loop")) for o in outcomes]

    def _persist(
        self, tool: Tool[Any], call: Call, reply: Reply, payload: Mapping[str, object], outcomes: Sequence[Outcome]
    ) -> Result:
        kept = self.hooks.persist(ToolResultPersist(**_facts(tool, call), payload=payload))
        blocks = reply.blocks
        if kept != payload:
            blocks = tool.rerender(kept)
        error = next((o.error for o in outcomes if o.error is not None), None)
        return Result(
            tool=tool.name,
            kind=str(kept.get("kind", payload["kind"])),
            ok=reply.ok,
            is_error=not reply.ok and str(payload["kind"]) not in tool.answered,
            payload=kept,
            blocks=blocks,
            error=None if reply.ok else error,
        )

    def _failure(self, call: Call, error: HandrailError) -> Result:
        tool = self.tools.get(call.tool)
        reply = self.failed(tool, error)
        payload = reply.payload.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return Result(
            tool=call.tool, kind=error.kind, ok=False, is_error=True, payload=payload, blocks=reply.blocks, error=error
        )

    def _account(self, call: Call, result: Result, trail: Trail, seconds: float) -> None:
        answered = trail.approvals[-1] if trail.approvals else None
        event = AuditEvent(
            tool=call.tool if call.tool in self.tools else call.tool[:80],
            file_path=trail.paths[0] if trail.paths else None,
            paths=tuple(trail.paths[:100]),
            bytes=trail.bytes,
            outcome="ok" if result.ok else "error",
            kind=result.kind,
            session=call.session,
            task=call.task,
            interface=call.interface,
            duration_ms=round(seconds * 1000, 3),
            approval=answered.verdict if answered else None,
            approved_by=answered.by if answered else None,
        )
        try:
            self.audit.write(event)
        except HandrailError as error:
            log.error("the audit trail has a gap: %s", error.message)
        self.events.emit(
            CallEnded(tool=call.tool, session=call.session, kind=result.kind, ok=result.ok, seconds=seconds)
        )


def _facts(tool: Tool[Any], call: Call) -> dict[str, Any]:
    return {"tool": tool.name, "session": call.session, "task": call.task, "interface": call.interface}


def _plain(arguments: BaseModel) -> dict[str, object]:
    return arguments.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _bug(error: Exception) -> InternalError:
    name = uuid.uuid4().hex[:12]
    log.error("internal_error %s\n%s", name, "".join(traceback.format_exception(error)))
    return InternalError(
        "internal_error",
        f"Handrail has a bug here; its traceback stands in the log under {name}.",
        hint="Nothing more can be done about it from this side; tell the person.",
        facts={"id": name},
    )
