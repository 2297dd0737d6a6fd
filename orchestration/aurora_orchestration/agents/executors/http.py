"""HTTP endpoint as an agent: the task is POSTed as JSON, the answer is the response's body.

Only https, or plain http on this machine; redirects stay within the same site (`manifest.client.transport`). An answer
of `{"question": "…"}` is put to the user, and the task is sent again with question and answer in `interactions`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from aurora_orchestration.agents.envelope import MAX_REPLY, CallFacts, question_in, response_of
from aurora_orchestration.agents.executors.environment import filled
from aurora_orchestration.agents.executors.processes import AgentError
from aurora_orchestration.agents.task import Task, request
from aurora_orchestration.agents.user_questions import Dialogue
from aurora_orchestration.types import Agent, AgentResponse
from aurora_protocol import ProtocolError, SiteError

MAX_CALLS = 3


async def run(
    agent: Agent, task: Task, dialogue: Dialogue, *, environ: Mapping[str, str], workspace: Path, seconds: float
) -> AgentResponse:
    """HTTP request to the endpoint. Headers are those of the agent's own entry, `${NAME}` filled from `environ`.

    Raises `AgentError`: not reachable, not allowed, not a 2xx, too large.
    """
    # Here for its weight: 80 ms with httpx2.
    from aurora_manifest.client.transport import Request, RequestPolicy, send

    headers = [(name, filled(value, environ)) for name, value in agent.headers.items()]
    policy = RequestPolicy(timeout=seconds, max_bytes=MAX_REPLY)
    for _ in range(MAX_CALLS):
        told = request(task, agent.id, workspace.name, dialogue.interactions)
        body = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
        sent = (*headers, ("Content-Type", "application/json"))
        try:
            reply = await send(Request("POST", agent.endpoint or "", sent, body), policy)
        except (SiteError, ProtocolError) as error:
            raise AgentError(f"agent {agent.id}: {_flat(str(error))}") from error
        if not reply.fine:
            raise AgentError(f"agent {agent.id}: {reply.url} answered {reply.status} {reply.reason}".rstrip())
        text = reply.body.decode("utf-8", "replace")
        question = question_in(text)
        if question is None:
            known = CallFacts(subgoal_id=task.subgoal.id, agent_id=agent.id, interactions=dialogue.interactions)
            return response_of(text, known)
        asked = len(dialogue.interactions)
        await dialogue.ask(question)
        if asked == len(dialogue.interactions):
            break
    raise AgentError(f"agent {agent.id}: asks again and again and does not answer")


def _flat(text: str) -> str:
    return " ".join(text.split())
