"""What an agent answered before an interruption is not asked of it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aurora_orchestration.agents.executors.dispatch import Executors
from aurora_orchestration.agents.task import Task
from aurora_orchestration.soar.agent_cache import AgentCache
from aurora_orchestration.types import Agent, AgentResponse, Output, Subgoal
from tests.orchestration.nobody import ask_nobody

CODER = Agent(id="coder", type="executable", command="./coder")
BUILTIN = Agent(id="llm-executor", type="builtin")


class Counting(Executors):
    """Executors that answer with how often they were asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def run(self, agent: Agent, task: Task, **_: Any) -> AgentResponse:
        self.asked += 1
        output = Output(summary=f"answer {self.asked}", confidence=0.9)
        return AgentResponse(subgoal_id=task.subgoal.id, agent_id=agent.id, status="success", output=output)


def task(description: str) -> Task:
    return Task(subgoal=Subgoal(id="SG1", description=description, agent="coder"), query="q", goal="g")


async def test_an_answer_is_given_again_once_for_each_time_it_was_given(tmp_path: Path) -> None:
    inner, path = Counting(), tmp_path / "run.agents"
    first = AgentCache(inner, path)
    given = [await first.run(CODER, task("a"), llm=None, ask_user=ask_nobody) for _ in range(2)]
    with path.open("ab") as file:
        file.write(b'{"digest": "torn')  # killed while it wrote
    again = AgentCache(inner, path)
    assert [await again.run(CODER, task("a"), llm=None, ask_user=ask_nobody) for _ in range(2)] == given
    assert inner.asked == 2
    await again.run(CODER, task("a"), llm=None, ask_user=ask_nobody)
    await again.run(CODER, task("b"), llm=None, ask_user=ask_nobody)
    await again.run(BUILTIN, task("a"), llm=None, ask_user=ask_nobody)
    assert inner.asked == 5
    once_more = AgentCache(inner, path)
    await once_more.run(CODER, task("b"), llm=None, ask_user=ask_nobody)
    assert [(await once_more.run(CODER, task("a"), llm=None, ask_user=ask_nobody)) for _ in range(3)][:2] == given
    assert inner.asked == 5


async def test_what_the_model_does_itself_is_left_to_the_journal_of_replies(tmp_path: Path) -> None:
    inner, path = Counting(), tmp_path / "run.agents"
    await AgentCache(inner, path).run(BUILTIN, task("a"), llm=None, ask_user=ask_nobody)
    assert not path.exists()
