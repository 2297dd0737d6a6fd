"""Agent cache (memoization): what an agent answered before its run was interrupted is not asked of it again."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from pathlib import Path

import msgspec
from msgspec import Struct

from aurora_orchestration.agents.executors.dispatch import Executors
from aurora_orchestration.agents.task import Task
from aurora_orchestration.llm.completion import Llm
from aurora_orchestration.types import Agent, AgentResponse, AskUser
from aurora_protocol import typed
from aurora_protocol.strict_modes import make_private_folder, open_own

logger = logging.getLogger(__name__)

MAX_BYTES = 64_000_000


class AgentAnswer(Struct, frozen=True):
    """Line of the agent cache: the digest of agent and task, and the response."""

    digest: str
    response: AgentResponse


class AgentCache(Executors):
    """Executors of one run that append the answers of the user's own agents to `path`, and read them first.

    What llm-executor was answered is in the journal of paid replies already. An agent that was at work when the process
    died is started again: whether it had done anything is for it to know.
    """

    def __init__(self, inner: Executors, path: Path) -> None:
        self._inner = inner
        self._path = path
        self._known: dict[str, list[AgentResponse]] | None = None
        self._turn = asyncio.Lock()

    async def run(
        self, agent: Agent, task: Task, *, llm: Llm | None, ask_user: AskUser, seconds: float | None = None
    ) -> AgentResponse:
        """Cached run, else as `Executors.run`."""
        if agent.type == "builtin":
            return await self._inner.run(agent, task, llm=llm, ask_user=ask_user, seconds=seconds)
        digest = hashlib.sha256(msgspec.json.encode((agent.id, task), order="sorted")).hexdigest()
        async with self._turn:
            if self._known is None:
                self._known = await asyncio.to_thread(_read, self._path)
            waiting = self._known.get(digest)
            if waiting:
                return waiting.pop(0)
        response = await self._inner.run(agent, task, llm=llm, ask_user=ask_user, seconds=seconds)
        async with self._turn:
            await asyncio.to_thread(_append, self._path, AgentAnswer(digest, response))
        return response


def _read(path: Path) -> dict[str, list[AgentResponse]]:
    """Answers in the cache file, by digest; a torn line is left out."""
    known: dict[str, list[AgentResponse]] = {}
    try:
        if path.stat().st_size > MAX_BYTES:
            return known
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return known
    for line in filter(None, lines):
        try:
            done = typed.decode(line, AgentAnswer)
        except (msgspec.MsgspecError, RecursionError):
            continue  # the line that was being written
        known.setdefault(done.digest, []).append(done.response)
    return known


def _append(path: Path, done: AgentAnswer) -> None:
    """Answer appended to the cache file."""
    try:
        make_private_folder(path.parent)
        with os.fdopen(open_own(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab") as file:
            # A line of its own, also behind one that a killed process left half written.
            file.write(b"\n" + msgspec.json.encode(done) + b"\n")
    except OSError as error:  # then it would be asked again after an interruption; the run itself is none the worse
        logger.warning("an agent's answer could not be kept", extra={"path": str(path), "error": str(error)})
