"""The two ways in which a question travels to an MCP client: as a request of ours, or as an answer that asks back."""

import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
from mcp.server.session import ServerSession
from mcp_types import ElicitRequest, ElicitRequestFormParams

from handrail.interfaces.mcp import asking
from handrail.model.calls import Cancellation, Result
from handrail.model.records import Answered, Request

LOOK = 0.05
"""Seconds between two looks at whether the question was answered elsewhere."""


class ElicitationChannel:
    """Asks with an `elicitation/create` request of the server's (protocols up to 2025-11-25)."""

    name = "elicitation"

    def __init__(self, session: ServerSession, related: str | int | None) -> None:
        self._session = session
        self._related = related
        self._token = anyio.lowlevel.current_token()

    def ask(self, request: Request, closed: Cancellation) -> Answered | None:
        """Put the form before the person; withdrawn as soon as `closed`."""
        return anyio.from_thread.run(self._elicit, request, closed, token=self._token)

    async def _elicit(self, request: Request, closed: Cancellation) -> Answered | None:
        found: Answered | None = None
        async with anyio.create_task_group() as group:

            async def withdraw() -> None:
                while not closed.cancelled:
                    await anyio.sleep(LOOK)
                group.cancel_scope.cancel()

            group.start_soon(withdraw)
            reply = await self._session.elicit_form(asking.question(request), asking.form(request), self._related)
            found = asking.answer(reply.action, reply.content)
            group.cancel_scope.cancel()
        return found


@dataclass(slots=True)
class Flight:
    """A call that waits in its thread while the client is sent back to ask its person."""

    call: tuple[str, object]
    name: str = field(default_factory=lambda: uuid.uuid4().hex)
    asked: Request | None = None
    answered: Answered | None = None
    declined: bool = False
    result: Result | None = None
    failure: BaseException | None = None
    changed: threading.Condition = field(default_factory=threading.Condition)

    def finish(self, run: Callable[[], Result]) -> None:
        """Run the call to its end, in the thread that waits."""
        try:
            self.result = run()
        except BaseException as failure:
            self.failure = failure
        with self.changed:
            self.changed.notify_all()

    def landed_or_asking(self) -> Request | None:
        """Block until the call has its result (`None`) or a question that wasn't put yet."""
        with self.changed:
            self.changed.wait_for(lambda: self.result or self.failure or self.asked)
            return None if self.result or self.failure else self.asked

    def reply(self, answered: Answered | None) -> None:
        """Hand the person's answer to the waiting call."""
        with self.changed:
            self.asked = None
            self.answered, self.declined = answered, answered is None
            self.changed.notify_all()


class AskingBackChannel:
    """Asks with an input-required result (protocol 2026-07-28): the call waits until the client comes again."""

    name = "elicitation"

    def __init__(self, flight: Flight) -> None:
        self._flight = flight

    def ask(self, request: Request, closed: Cancellation) -> Answered | None:
        """Wait for the client's second call; `None` when its person closed the form."""
        flight = self._flight
        with flight.changed:
            flight.asked, flight.answered, flight.declined = request, None, False
            flight.changed.notify_all()
            while not (flight.answered or flight.declined or closed.cancelled):
                flight.changed.wait(LOOK)
            flight.asked = None
            return flight.answered


def asking_back(request: Request) -> ElicitRequest:
    """The question as an input request."""
    schema: Any = asking.form(request)
    return ElicitRequest(params=ElicitRequestFormParams(message=asking.question(request), requested_schema=schema))
