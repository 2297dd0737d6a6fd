"""Dispatch of a task to whichever agent: by its type, within its timeout, as one envelope, whatever happens."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from aurora_orchestration.agents.envelope import CallFacts, failed, response_of, response_of_value
from aurora_orchestration.agents.executors import builtin
from aurora_orchestration.agents.executors.environment import environment_for
from aurora_orchestration.agents.executors.git_guard import GitGuard
from aurora_orchestration.agents.executors.plugin_executors import Surroundings, plugged
from aurora_orchestration.agents.executors.processes import AgentError
from aurora_orchestration.agents.task import Task
from aurora_orchestration.agents.user_questions import Dialogue
from aurora_orchestration.llm.completion import CapReached, Llm, LlmError
from aurora_orchestration.settings import AgentSettings
from aurora_orchestration.types import Agent, AgentResponse, AskUser

log = logging.getLogger(__name__)


class Executors:
    """Executors for all kinds of agents of one workspace. What is not trusted is never run, whoever asks for it.

    While the workspace is not `trusted`, the user's own agents run in `home`: what a program picks up from the folder
    it is started in (`node_modules`, `.npmrc`) is the workspace's word. `guard` holds what they do with git.
    """

    def __init__(
        self,
        workspace: Path,
        home: Path,
        settings: AgentSettings,
        environ: Mapping[str, str],
        now: Callable[[], float],
        *,
        trusted: bool,
        guard: GitGuard | None = None,
    ) -> None:
        self._workspace = workspace
        self._guard = guard
        self._settings = settings
        self._environ = environ
        self._now = now
        self._folder = workspace if trusted else home
        self._barred = None if trusted else workspace
        self._turn = asyncio.Lock()

    async def run(
        self, agent: Agent, task: Task, *, llm: Llm | None, ask_user: AskUser, seconds: float | None = None
    ) -> AgentResponse:
        """Invocation of `agent` on `task`. Raises only `CapReached` (the run has no more to spend) and CancelledError.

        When cancelled, and when its time is over, its processes are gone before this returns. Time in which it waits
        for the user is not its own. `seconds` bound its own time limit from above.
        """
        dialogue = Dialogue(agent.id, task.subgoal.id, ask_user, self._now, self._turn)
        usual = agent.timeout_seconds or self._settings.timeout_seconds
        seconds = usual if seconds is None else min(usual, seconds)
        begun = time.monotonic()

        def told() -> CallFacts:
            return CallFacts(
                subgoal_id=task.subgoal.id,
                agent_id=agent.id,
                interactions=dialogue.interactions,
                duration_ms=1000 * (time.monotonic() - begun),
            )

        try:
            async with asyncio.timeout(seconds) as dialogue.limit:
                response = await self._by_type(agent, task, llm, dialogue, seconds)
        except TimeoutError:
            return failed(told(), f"agent {agent.id}: not done within {seconds:.3g} s, and was ended")
        except CapReached:
            raise
        except (AgentError, LlmError) as error:
            return failed(told(), str(error))
        except Exception as error:  # one agent's fault is never the run's
            log.exception("an agent's executor failed", extra={"agent": agent.id})
            return failed(told(), f"agent {agent.id}: internal error, {type(error).__name__}: {error}")
        metadata = msgspec.structs.replace(response.metadata, duration_ms=told().duration_ms)
        return msgspec.structs.replace(response, metadata=metadata)

    async def _by_type(
        self, agent: Agent, task: Task, llm: Llm | None, dialogue: Dialogue, seconds: float
    ) -> AgentResponse:
        """Dispatch by the agent's type (builtin, executable, http, mcp); untrusted ones are refused."""
        if not agent.trusted:
            raise AgentError(f"agent {agent.id}: its workspace is not trusted; run: aurora trust")
        if agent.type == "builtin":
            if llm is None:
                raise AgentError(f"agent {agent.id}: no model is configured; see: aurora config")
            return await builtin.run(agent, task, llm, dialogue)
        # Each kind is imported where one runs.
        if agent.type == "http":
            from aurora_orchestration.agents.executors import http

            return await http.run(
                agent, task, dialogue, environ=self._environ, workspace=self._workspace, seconds=seconds
            )
        if agent.type == "executable":
            from aurora_orchestration.agents.executors import executable

            environment = self._environment(agent.environment)
            return await executable.run(
                agent,
                task,
                dialogue,
                environment=environment,
                folder=self._folder,
                workspace=self._workspace,
                seconds=seconds,
            )
        if agent.type != "mcp":
            return await self._by_plugin(agent, task, llm, dialogue, seconds)
        from aurora_orchestration.agents.executors import mcp, mcp_session

        launch = await asyncio.to_thread(mcp_session.launch_of, agent)
        return await mcp.run(
            agent,
            launch,
            task,
            dialogue,
            llm,
            environment=self._environment(launch.environment),
            folder=self._folder,
            workspace=self._workspace,
            seconds=seconds,
        )

    def _environment(self, declared: Mapping[str, str]) -> dict[str, str]:
        found = environment_for(declared, self._environ, self._barred)
        return found if self._guard is None else self._guard.applied(found)

    async def _by_plugin(
        self, agent: Agent, task: Task, llm: Llm | None, dialogue: Dialogue, seconds: float
    ) -> AgentResponse:
        """Dispatch to a plug-in's executor. Raises AgentError where none has the type."""
        kind = plugged().get(agent.type)
        if kind is None:
            raise AgentError(f"agent {agent.id}: nothing here runs agents of type {agent.type}; install its plug-in")
        surroundings = Surroundings(
            environment=self._environment(agent.environment),
            folder=self._folder,
            workspace=self._workspace,
            seconds=seconds,
            llm=llm,
        )
        answer = await kind.run(agent, task, dialogue, surroundings)
        facts = CallFacts(subgoal_id=task.subgoal.id, agent_id=agent.id, interactions=dialogue.interactions)
        return response_of_value(answer, facts) if isinstance(answer, dict) else response_of(str(answer), facts)
