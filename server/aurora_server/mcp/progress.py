"""Progress of a run over MCP: its stages in order, each further than the one before (AURORA §9.6)."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Literal

from mcp.server.context import ServerRequestContext

Verbosity = Literal["quiet", "normal", "verbose"]

MAX_MESSAGE = 2_000
_SMALLEST_STEP = 0.001
"""Of what is left: MCP's progress must increase with every notification, and a stage that is tried again does not."""
_LAST_WORDS = 1.0
"""Seconds for what is still to be told when the answer is there."""


class ProgressReporter:
    """Progress reporter, which tells the client how a call goes. One that gave no token is told nothing.

    Quiet: that a stage has ended; normal: everything in a sentence; verbose: with scores, checks and costs as JSON.
    """

    def __init__(self, ctx: ServerRequestContext[Any], verbosity: Verbosity) -> None:
        self._ctx = ctx
        self._verbosity = verbosity
        self._sending: asyncio.Task[None] | None = None
        self._waiting: list[tuple[float, str]] = []
        self._reached = -1.0
        self._here = asyncio.Event()
        self._here.set()

    def heard(self, stage: dict[str, Any]) -> None:
        """Take one stage of a run."""
        if self._verbosity == "quiet" and stage.get("status") == "in_progress":
            return
        step = self._step(float(stage.get("progress") or 0.0))
        if step is None:
            return
        self._waiting.append((step, message_of(stage, self._verbosity)))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send(), name="progress")

    def pause(self) -> None:
        """Keep what is heard from now on: the client is away (see `rounds`)."""
        self._here.clear()

    def resume(self, ctx: ServerRequestContext[Any]) -> None:
        """Tell it to this call, which goes on with the one before."""
        self._ctx = ctx
        self._here.set()

    async def told(self) -> None:
        """Wait until all that was heard is told."""
        if self._sending is not None:
            await asyncio.wait({self._sending}, timeout=_LAST_WORDS)

    def _step(self, progress: float) -> float | None:
        """Progress that always grows (monotonic), as MCP wants it."""
        if self._reached >= 1.0:
            return None
        least = self._reached + (1.0 - self._reached) * _SMALLEST_STEP if self._reached >= 0.0 else 0.0
        self._reached = min(max(progress, least), 1.0)
        return round(self._reached, 9)

    async def _send(self) -> None:
        """Sender task: queued progress is told in order, while the client is there."""
        while self._waiting:
            await self._here.wait()
            progress, message = self._waiting.pop(0)
            await self._ctx.session.report_progress(progress, 1.0, message)


def message_of(stage: dict[str, Any], verbosity: Verbosity) -> str:
    """Message of a stage: its name and status, a detail, its data."""
    said = f"{stage.get('stage')}: {stage.get('status')}"
    if verbosity != "quiet" and stage.get("detail"):
        said += f", {stage['detail']}"
    if verbosity == "verbose":
        more = {**(stage.get("data") or {}), "cost_usd": stage.get("cost_usd"), "elapsed_ms": stage.get("elapsed_ms")}
        said += " " + json.dumps(more, ensure_ascii=False, separators=(",", ":"), default=str)
    return said if len(said) <= MAX_MESSAGE else said[: MAX_MESSAGE - 1] + "…"
