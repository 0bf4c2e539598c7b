"""Station 2 and the two after a call: Python callables that observe, change, block or redact; knows no tool.

A hook that fails or takes too long blocks, unless it is marked `on_failure="allow"`.
"""

import copy
import logging
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeVar

from handrail.model.errors import Refused

log = logging.getLogger("handrail")


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeToolCall:
    """A valid call is about to go down the road."""

    tool: str
    arguments: Mapping[str, object]
    session: str
    task: str | None
    interface: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterToolCall:
    """A call was carried out; what it did can't be stopped any more."""

    tool: str
    arguments: Mapping[str, object]
    session: str
    task: str | None
    interface: str
    ok: bool
    payload: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultPersist:
    """A result is about to be returned and recorded; a hook may redact it."""

    tool: str
    payload: Mapping[str, object]
    session: str
    task: str | None
    interface: str


@dataclass(frozen=True, slots=True)
class Block:
    """What a hook returns to stop a call, or to keep a result back; the model is told the reason."""

    reason: str


Payload = BeforeToolCall | AfterToolCall | ToolResultPersist
EventName = Literal["BeforeToolCall", "AfterToolCall", "ToolResultPersist"]


HookCall = Callable[[Any], Mapping[str, object] | Block | None]
"""Called with a copy of the payload, on a thread of its own.

`None` leaves all as it is, a mapping takes the place of the arguments or of the result; raising `Refused` blocks too.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """One hook: when, for which tools (`*` globs), what. `timeout` in seconds."""

    event: EventName
    call: HookCall
    tools: Sequence[str] = ("*",)
    on_failure: Literal["block", "allow"] = "block"
    timeout: float = 10.0

    @property
    def name(self) -> str:
        """How messages call it."""
        return getattr(self.call, "__qualname__", None) or type(self.call).__name__


P = TypeVar("P", BeforeToolCall, AfterToolCall, ToolResultPersist)


class Hooks:
    """The hooks of one workspace, run in the order given; each sees what the ones before it made."""

    def __init__(self, hooks: Sequence[Hook] = ()) -> None:
        self._hooks = tuple(hooks)

    def before(self, payload: BeforeToolCall) -> Mapping[str, object]:
        """The arguments to go on with; raises `Refused` `blocked_by_hook`."""
        for hook in self._fitting("BeforeToolCall", payload.tool):
            said = _run(hook, payload, "the call was not carried out")
            if said is not None:
                payload = replace(payload, arguments=said)
        return payload.arguments

    def after(self, payload: AfterToolCall) -> None:
        """Let hooks see what was done; their failures are logged, for there is nothing left to block."""
        for hook in self._fitting("AfterToolCall", payload.tool):
            try:
                _run(hook, payload, "the call was carried out")
            except Refused as refused:
                log.warning("%s", refused.message)

    def persist(self, payload: ToolResultPersist) -> Mapping[str, object]:
        """The result to return and record; raises `Refused` `blocked_by_hook` when it must be kept back."""
        for hook in self._fitting("ToolResultPersist", payload.tool):
            said = _run(hook, payload, "the call was carried out, but its result is kept back")
            if said is not None:
                payload = replace(payload, payload=said)
        return payload.payload

    def _fitting(self, event: EventName, tool: str) -> Sequence[Hook]:
        return [h for h in self._hooks if h.event == event and any(fnmatchcase(tool, glob) for glob in h.tools)]


def _run(hook: Hook, payload: P, so: str) -> Mapping[str, object] | None:
    """What the hook said, `None` for nothing; raises `Refused` where it blocks or failed."""
    said = _in_time(lambda: hook.call(copy.deepcopy(payload)), hook.timeout)
    if isinstance(said, Block):
        raise _blocked(said.reason, so)
    if isinstance(said, Refused):
        raise _blocked(said.message, so, hint=said.hint)
    if isinstance(said, _Late):
        problem = f"The hook {hook.name} gave no answer within {hook.timeout:g} s"
    elif isinstance(said, BaseException):
        log.error("the hook %s failed", hook.name, exc_info=said)
        problem = f"The hook {hook.name} failed ({type(said).__name__})"
    elif said is None or isinstance(said, Mapping):
        return said
    else:
        problem = f"The hook {hook.name} answered with {type(said).__name__}, not a mapping, Block or None"
    if hook.on_failure == "allow":
        log.warning("%s; it is marked to let the call go on", problem)
        return None
    raise Refused(
        "blocked_by_hook",
        f"{problem}, so {so}.",
        hint="Tell the person: a hook of theirs has to be mended; trying again may not help.",
    )


@dataclass(frozen=True, slots=True)
class _Late:
    """The time was over."""


def _in_time(work: Callable[[], object], seconds: float) -> object:
    """What the work returned or raised, or `_Late`; work that takes longer is left to itself."""
    box: queue.SimpleQueue[object] = queue.SimpleQueue()

    def run() -> None:
        try:
            box.put(work())
        except BaseException as error:
            box.put(error)

    threading.Thread(target=run, name="handrail-hook", daemon=True).start()
    try:
        return box.get(timeout=seconds)
    except queue.Empty:
        return _Late()


def _blocked(reason: str, so: str, *, hint: str = "") -> Refused:
    reason = reason.rstrip(".") or "no reason given"
    return Refused(
        "blocked_by_hook",
        f"A hook said no: {reason}; {so}.",
        hint=hint or "Do it another way, or ask the person.",
        facts={"reason": reason},
    )
