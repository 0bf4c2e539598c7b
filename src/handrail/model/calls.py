"""A call as it came in and the result that goes out: the two values that every interface deals in."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from handrail.model.errors import HandrailError
from handrail.model.records import Answered, Request


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text for the model."""

    text: str
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class ImageBlock:
    """A picture for the model, as bytes."""

    data: bytes = field(repr=False)
    media_type: str
    kind: str = "image"


Block = TextBlock | ImageBlock


class Cancellation:
    """A flag that an interface raises when its client gives up; safe from any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Raise the flag; work in progress stops at its next look."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether the flag is up."""
        return self._event.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait until the flag is up, that long at most; says whether it is."""
        return self._event.wait(seconds)


class Channel(Protocol):
    """One way to ask a person: an MCP client, a terminal, a callback. All are asked at once, the first answer wins."""

    name: str

    def ask(self, request: Request, closed: Cancellation) -> Answered | None:
        """Put the question and block for the answer; `None` = this channel can't say. Returns soon after `closed`."""
        ...


Progress = Callable[[float, float | None, str], None]
"""Called with done, total (`None` = unknown) and a short message; must not block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What was typed, by whom, and how that caller can be asked. `task` is an id, or a new one with `objective`.

    `named`: the session was named by the caller, so its ledger outlives the process.
    `person`: a person's own command, which after its preview is its own approval.
    """

    tool: str
    arguments: object
    session: str
    interface: str
    task: str | None = None
    objective: str | None = None
    named: bool = False
    person: bool = False
    channels: Sequence[Channel] = ()
    cancellation: Cancellation = field(default_factory=Cancellation)
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What did happen: the typed payload (`kind` first), its rendering for the model, and whether it went well.

    `payload` is JSON; bytes are base64 in it. `blocks` hold the rendering; an image's bytes travel in its block.
    `is_error` is what MCP calls an error: not ok, but for the failures that a tool gives as ordinary answers.
    """

    tool: str
    kind: str
    ok: bool
    payload: Mapping[str, object]
    blocks: tuple[Block, ...]
    is_error: bool = False
    error: HandrailError | None = None

    @property
    def text(self) -> str:
        """The text blocks, joined by a blank line."""
        return "\n\n".join(b.text for b in self.blocks if isinstance(b, TextBlock))

    def unwrap(self) -> Mapping[str, object]:
        """The payload, or the failure raised as the exception that it was."""
        if self.error is not None:
            raise self.error
        return self.payload
