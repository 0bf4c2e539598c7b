"""Serves the tools over stdio on the official SDK: lists them, runs each call in a worker thread, answers."""

import base64
import logging
import os
import threading
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from handrail.interfaces.api import Family, Handrail, ToolInfo, version
from handrail.interfaces.mcp.asking import answer
from handrail.interfaces.mcp.channels import AskingBackChannel, ElicitationChannel, Flight, asking_back
from handrail.model.calls import Cancellation, Channel, ImageBlock, Result, TextBlock

log = logging.getLogger("handrail.mcp")
THREADS = 1200
"""Calls at once; most of them would be waiting for a person."""
FLIGHTS = 1000
"""Calls whose client was sent back to ask; the oldest is forgotten, and then ends by its own time-out."""

Context = ServerRequestContext[Any, Any]
Answer = types.CallToolResult | types.InputRequiredResult


def serve(engine: Handrail, *, family: Family) -> None:
    """Serve one client over standard input and output until it leaves; nothing but the protocol goes to stdout."""
    anyio.run(_serve, engine, family)


async def _serve(engine: Handrail, family: Family) -> None:
    front = Front(engine, family)
    server: Server[Any] = Server(
        "handrail",
        version=version(),
        instructions=engine.instructions(family),
        on_list_tools=front.list_tools,
        on_call_tool=front.call_tool,
    )
    server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, front.roots_changed)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


class Front:
    """One client's side: its session's name, its roots, its calls under way."""

    def __init__(self, engine: Handrail, family: Family) -> None:
        self._engine = engine
        self._family = family
        self._session = f"stdio:{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._limiter = anyio.CapacityLimiter(THREADS)
        self._roots_known = engine.rooted
        self._roots_lock = anyio.Lock()
        self._flights: dict[str, Flight] = {}

    async def list_tools(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """The tools that policy lets show, with their schemas."""
        await self._learn_roots(context)
        return types.ListToolsResult(tools=[_tool(t) for t in self._engine.tools(family=self._family)])

    async def roots_changed(self, _context: Context, _: types.NotificationParams | None) -> None:
        """Ask for the client's roots again before its next call."""
        self._roots_known = False

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> Answer:
        """Run one call; its result, or on a stateless protocol a question to the person first."""
        await self._learn_roots(context)
        cancellation = Cancellation()
        try:
            if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
                return await self._call_asking_back(context, params, cancellation)
            channels: list[Channel] = []
            if _can_elicit(context):
                channels.append(ElicitationChannel(context.session, context.request_id))
            run = self._run(context, params, cancellation, channels)
            return _answer(await self._in_thread(run))
        except anyio.get_cancelled_exc_class():
            cancellation.cancel()
            raise

    async def _in_thread(self, run: Callable[[], Any]) -> Any:
        return await anyio.to_thread.run_sync(run, limiter=self._limiter, abandon_on_cancel=True)

    def _run(
        self,
        context: Context,
        params: types.CallToolRequestParams,
        cancellation: Cancellation,
        channels: Sequence[Channel],
    ) -> Callable[[], Result]:
        meta: dict[str, Any] = dict(context.meta or {})
        named = _text(meta.get("handrail/session"))
        return partial(
            self._engine.call,
            params.name,
            params.arguments or {},
            session=named or self._session,
            named=named is not None,
            task=_text(meta.get("handrail/task")),
            objective=_text(meta.get("handrail/objective")),
            channels=channels,
            cancellation=cancellation,
            progress=_reporter(context),
        )

    # asking back (stateless protocols)

    async def _call_asking_back(
        self, context: Context, params: types.CallToolRequestParams, cancellation: Cancellation
    ) -> Answer:
        call = (params.name, params.arguments)
        flight = self._flights.pop(params.request_state or "", None)
        if flight is None or flight.call != call:
            flight = Flight(call)
            channels = [AskingBackChannel(flight)] if _can_elicit(context) else []
            run = self._run(context, params, cancellation, channels)
            threading.Thread(target=flight.finish, args=(run,), daemon=True, name=f"call-{flight.name[:8]}").start()
        else:
            flight.reply(_response(params))
        asked = await self._in_thread(flight.landed_or_asking)
        if asked is None:
            if flight.failure is not None:
                raise flight.failure
            return _answer(_landed(flight))
        while len(self._flights) >= FLIGHTS:
            del self._flights[next(iter(self._flights))]
        self._flights[flight.name] = flight
        return types.InputRequiredResult(input_requests={"approval": asking_back(asked)}, request_state=flight.name)

    # roots

    async def _learn_roots(self, context: Context) -> None:
        async with self._roots_lock:
            if self._roots_known:
                return
            self._roots_known = True
            capabilities = context.session.client_capabilities
            if capabilities is None or capabilities.roots is None or not context.session.can_send_request:
                return
            try:
                with anyio.fail_after(5):
                    listed = await context.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
            except (MCPError, TimeoutError, ValueError) as error:
                log.warning("the client's roots could not be read: %s", error)
                return
            await self._in_thread(partial(self._engine.narrow, [_path(str(r.uri)) for r in listed.roots]))


def _can_elicit(context: Context) -> bool:
    capabilities = context.session.client_capabilities
    return capabilities is not None and capabilities.elicitation is not None


def _response(params: types.CallToolRequestParams) -> Any:
    given = (params.input_responses or {}).get("approval")
    return answer(given.action, given.content) if isinstance(given, types.ElicitResult) else None


def _landed(flight: Flight) -> Result:
    assert flight.result is not None  # noqa: S101 -- it has landed
    return flight.result


def _reporter(context: Context) -> Callable[[float, float | None, str], None] | None:
    token = anyio.lowlevel.current_token()

    def report(done: float, total: float | None, message: str) -> None:
        try:
            anyio.from_thread.run(context.session.report_progress, done, total, message, token=token)
        except Exception as error:
            log.debug("progress was not delivered: %s", error)

    return report


def _tool(tool: ToolInfo) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def _answer(result: Result) -> types.CallToolResult:
    blocks: list[Any] = []
    for block in result.blocks:
        if isinstance(block, TextBlock):
            blocks.append(types.TextContent(text=block.text))
        elif isinstance(block, ImageBlock):
            data = base64.b64encode(block.data).decode("ascii")
            blocks.append(types.ImageContent(data=data, mime_type=block.media_type))
    return types.CallToolResult(content=blocks, structured_content=dict(result.payload), is_error=result.is_error)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _path(uri: str) -> str:
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else ""
