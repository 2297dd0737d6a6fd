"""Input rounds (multi-round tool calls): a tool call that needs something of its client before it can go on.

Up to revision 2025-11-25 a server sends requests of its own meanwhile. From 2026-07-28 on it may not: the call is
answered with `input_required` and what is wanted, and the client calls once more with the answers and the
`requestState` it was given (SEP-2322). Between two such rounds the work goes on here as far as it can.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import is_version_at_least

from aurora_protocol import DaemonUnreachable
from aurora_server.mcp.progress import ProgressReporter, Verbosity

logger = logging.getLogger(__name__)

Context = ServerRequestContext[Any]
Answer = TypeVar("Answer")

ROUNDS_SINCE = "2026-07-28"
"""The first revision in which a server asks by rounds, and by nothing else."""
MAX_PARKED = 64
"""Calls that may wait for their clients at the same time."""

_TOGETHER = 0.1
"""Seconds in which questions that are asked side by side become one round: clients allow a call some ten of them."""
_PATIENCE = 900.0
"""Seconds for a client to come back with answers, a person's among them; after that the work is given up."""


def asks_by_rounds(ctx: Context) -> bool:
    """Whether this client is asked by rounds."""
    return is_version_at_least(ctx.session.protocol_version, ROUNDS_SINCE)


class ToolCall:
    """Tool call, through all its rounds. `ctx` is that of the round under way, or of the last one."""

    def __init__(self, ctx: Context, verbosity: Verbosity) -> None:
        self.ctx = ctx
        self.progress = ProgressReporter(ctx, verbosity)
        self.work: asyncio.Task[types.CallToolResult] | None = None
        self._open: dict[str, tuple[types.InputRequest, asyncio.Future[types.InputResponse]]] = {}
        self._wanting = asyncio.Event()
        self._asked = 0

    async def ask(self, request: types.InputRequest, kind: type[Answer]) -> Answer:
        """Put this to the client with the next round. Raises DaemonUnreachable where it answers something else."""
        self._asked += 1
        key = f"{request.method}-{self._asked}"
        future: asyncio.Future[types.InputResponse] = asyncio.get_running_loop().create_future()
        self._open[key] = (request, future)
        self._wanting.set()
        try:
            answer = await future
        finally:
            self._open.pop(key, None)
            if not self._open:
                self._wanting.clear()
        if not isinstance(answer, kind):
            raise DaemonUnreachable(f"the client answered {request.method} with a {type(answer).__name__}")
        return answer

    def begin_round(self, ctx: Context, answers: types.InputResponses) -> None:
        """The client is there again, with answers to some or all of what was asked."""
        self.ctx = ctx
        self.progress.resume(ctx)
        for key, answer in answers.items():
            _, future = self._open.get(key, (None, None))
            if future is not None and not future.done():
                future.set_result(answer)

    async def end_round(self) -> types.InputRequests | None:
        """Wait until the work is done (None), or cannot go on without what is returned."""
        assert self.work is not None
        while not self.work.done():
            wanting = asyncio.create_task(self._wanting.wait())
            try:
                await asyncio.wait({self.work, wanting}, return_when=asyncio.FIRST_COMPLETED)
                if not self.work.done():
                    await asyncio.wait({self.work}, timeout=_TOGETHER)
            finally:
                wanting.cancel()
            wanted = {key: request for key, (request, future) in self._open.items() if not future.done()}
            if wanted and not self.work.done():
                self.progress.pause()
                return wanted
            await asyncio.sleep(0)  # what was answered a moment ago takes its answer
        return None


class Rounds:
    """Rounds: the calls whose clients are away to find answers, by the `requestState` with which they come back."""

    def __init__(self) -> None:
        self._parked: dict[str, tuple[tuple[str, Any], ToolCall, asyncio.TimerHandle]] = {}

    async def serve(
        self,
        call: ToolCall,
        params: types.CallToolRequestParams,
        work: Callable[[ToolCall], Awaitable[types.CallToolResult]],
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Serve one round: of the call that `params` come back to, else of this new one. Cancelling ends the work."""
        about = (params.name, params.arguments or {})
        if params.request_state is not None:
            ctx, call = call.ctx, self._back(params.request_state, about)
            call.begin_round(ctx, params.input_responses or {})
        else:
            call.work = asyncio.ensure_future(work(call))
        assert call.work is not None
        try:
            wanted = await call.end_round()
        except asyncio.CancelledError:
            call.work.cancel()
            raise
        if wanted is None:
            if call.work.cancelled():
                raise MCPError(types.INTERNAL_ERROR, "the call was cancelled; call the tool anew")
            return call.work.result()
        return types.InputRequiredResult(input_requests=wanted, request_state=self._park(about, call))

    def close(self) -> None:
        """Give up what still waits."""
        for state in list(self._parked):
            self._give_up(state)

    def _park(self, about: tuple[str, Any], call: ToolCall) -> str:
        """Suspend a call until its client is back with this random, single-use state, or time is out."""
        if len(self._parked) >= MAX_PARKED:
            self._give_up(next(iter(self._parked)))  # the one that waits longest
        state = secrets.token_urlsafe(24)  # names the call, carries nothing and is good for one round
        timer = asyncio.get_running_loop().call_later(_PATIENCE, self._give_up, state)
        self._parked[state] = (about, call, timer)
        return state

    def _back(self, state: str, about: tuple[str, Any]) -> ToolCall:
        """Suspended call resumed by its state token, which is used up. Raises MCPError."""
        known = self._parked.get(state)
        if known is None or known[0] != about:
            raise MCPError(types.INVALID_PARAMS, "no call waits under this `requestState`; call the tool anew")
        known[2].cancel()
        del self._parked[state]
        return known[1]

    def _give_up(self, state: str) -> None:
        """Timeout of a call whose client did not come back: its work is cancelled."""
        _, call, timer = self._parked.pop(state)
        timer.cancel()
        logger.info("a call was given up: its client did not come back with answers")
        assert call.work is not None
        call.work.cancel()
