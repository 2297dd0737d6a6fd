"""Executable as an agent: a child process with JSON on its standard input (stdin) and on its standard output (stdout).

The program gets one line of JSON (`task.request`): `protocol`, `agent_id`, `workspace`, `query`, `goal`, `subgoal`,
`givens`, `context`, `upstream`, `interactions`, `attempt`, `feedback`, and then the end of input. It prints its answer:
the envelope of §7.2.1, the simple `{"summary": …, "data": …, "confidence": …}`, or plain text.

To ask the user, it prints the line `{"question": "…"}`. One whose entry says `"interactive": true` finds its input
still open and reads the line `{"answer": "…"}` from it, `{"answer": null}` where nobody answers. Any other has to end,
and is called again with question and answer in `interactions`; should it ask the same again, once more with its input
open for that talk.

It runs in the workspace (in $AURORA_HOME while that is not trusted) with PATH, HOME, language and what its entry
declares of the environment: no key of the daemon's. No shell is involved. When its time is over, when the question is
cancelled, and when the daemon dies, it ends with everything it started (`supervisor`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from aurora_orchestration.agents.envelope import MAX_REPLY, CallFacts, failed, question_in, response_of
from aurora_orchestration.agents.executors.processes import AgentError, AgentProcess, start
from aurora_orchestration.agents.task import Task, request
from aurora_orchestration.agents.user_questions import Dialogue
from aurora_orchestration.types import Agent, AgentResponse

MAX_CALLS = 4


async def run(
    agent: Agent,
    task: Task,
    dialogue: Dialogue,
    *,
    environment: Mapping[str, str],
    folder: Path,
    workspace: Path,
    seconds: float,
) -> AgentResponse:
    """Run the program, again for what it asks. Raises `AgentError` where it cannot be run or floods."""
    talks = agent.interactive
    for _ in range(MAX_CALLS):
        process = await start(
            agent.id,
            agent.command or agent.path or "",
            agent.arguments,
            environment=environment,
            folder=folder,
            seconds=seconds,
            most=MAX_REPLY,
        )
        try:
            await _hand_over(process, request(task, agent.id, str(workspace), dialogue.interactions), talks)
            text, question = await _listen(process, dialogue, talks)
            code = await process.code()
            complaint = process.complaint()
        finally:
            await process.end()
        if question is None or text.strip():
            return _response(text, code, complaint, agent, task, dialogue)
        asked = len(dialogue.interactions)
        await dialogue.ask(question)
        # One that asks the same again does not read `interactions`: it waits for a line.
        talks = asked == len(dialogue.interactions)
    raise AgentError(f"agent {agent.id}: asks again and again and does not answer")


async def _hand_over(process: AgentProcess, told: Mapping[str, object], talks: bool) -> None:
    """Task written to the program's standard input, as one line of JSON."""
    await process.write(json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    if not talks:
        process.stdin.close()


async def _listen(process: AgentProcess, dialogue: Dialogue, talks: bool) -> tuple[str, str | None]:
    """What it says until it ends, and a question that is still open."""
    said: list[str] = []
    question: str | None = None
    while line := await process.line():
        text = line.decode("utf-8", "replace")
        asked = question_in(text)
        if asked is None:
            said.append(text)
        elif talks:
            answer = await dialogue.ask(asked)
            await process.write(json.dumps({"answer": answer}, ensure_ascii=False).encode() + b"\n")
        else:
            question = asked
    return "\n".join(said), question


def _response(text: str, code: int, complaint: str, agent: Agent, task: Task, dialogue: Dialogue) -> AgentResponse:
    """Answer of a program that ended, by its output and exit code."""
    told = CallFacts(subgoal_id=task.subgoal.id, agent_id=agent.id, interactions=dialogue.interactions, exit_code=code)
    if code != 0 and not text.strip():
        how = f"signal {code - 128}" if code > 128 else f"exit code {code}"
        return failed(told, f"{how} ({complaint})" if complaint else f"{how}, and it said nothing")
    response = response_of(text, told)
    if code != 0 and response.status == "success":
        return failed(told, f"exit code {code} after it had answered{f' ({complaint})' if complaint else ''}")
    return response
