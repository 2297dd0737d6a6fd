"""Choices of what an agent is given for its subgoal, a rule each: which chunks, which earlier results, said how."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aurora_orchestration.agents.task import relevant, task_for
from aurora_orchestration.types import ContextBundle, ContextChunk, Subgoal, Verification
from tests.orchestration.runs import SG1, result, run

SUBGOAL = Subgoal(id="SG1", description="Rotate refresh tokens", agent="coder", expected_output="a diff")


def chunk(name: str, score: float, tokens: int = 10, content: str = "…", file: str = "") -> ContextChunk:
    return ContextChunk(
        row=1, id=f"code:{name}", type="code", name=name, file=file or f"src/{name}.py", line_start=1, line_end=9,
        score=score, tokens=tokens, content=content,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("chunks", "sources", "kept"),
    [
        pytest.param([chunk("a", 0.5), chunk("b", 0.9)], [], ["b"], id="what memory found better"),
        pytest.param(
            [chunk("a", 0.5, content="rotate refresh tokens"), chunk("b", 0.9)],
            [],
            ["a"],
            id="and what speaks of the same",
        ),
        pytest.param(
            [chunk("a", 0.1), chunk("b", 0.9)], ["src/a.py:3"], ["a"], id="before both what the givens name by file"
        ),
        pytest.param([chunk("a", 0.1), chunk("b", 0.9)], ["code:a"], ["a"], id="or by itself"),
        pytest.param(
            [chunk("b", 0.9, file="src/a.py"), chunk("a", 0.1)],
            ["src/a.py", "code:a"],
            ["a"],
            id="itself before its file",
        ),
        pytest.param([chunk("a", 0.5), chunk("b", 0.5)], [], ["a"], id="of equals the first"),
        pytest.param([chunk("a", 0.9, 11), chunk("b", 0.5)], [], ["b"], id="what does not fit is passed over"),
        pytest.param(
            [chunk("a", 0.9, 6), chunk("b", 0.8, 5), chunk("c", 0.7, 4)], [], ["a", "c"], id="to the last token"
        ),
        pytest.param([chunk("a", 0.5, 5), chunk("b", 0.9, 5)], [], ["a", "b"], id="in memory's order"),
    ],
)
def test_which_chunks_an_agent_is_given(chunks: list[ContextChunk], sources: list[str], kept: list[str]) -> None:
    assert [each.name for each in relevant(chunks, SUBGOAL, sources, budget=10)] == kept


@pytest.mark.parametrize(
    ("verdict", "degraded"),
    [(None, False), ("pass", False), ("retry", True), ("fail", True)],
)
def test_what_an_earlier_step_found_is_given_with_a_word_where_it_did_not_pass(verdict: Any, degraded: bool) -> None:
    done = run()
    assert done.plan is not None
    judged = Verification(checks={}, overall_score=0.6, verdict=verdict) if verdict else None
    before = replace(result(SG1, 0, 1), verification=judged)
    nothing = replace(before, response=replace(before.response, output=None))
    task = task_for(SUBGOAL, done.plan, ContextBundle(), [nothing, before])
    assert [(each.subgoal_id, each.degraded) for each in task.upstream] == [("SG1", degraded)]
    assert task.attempt == 1 and task.goal == "OAuth2 login"


def test_only_the_givens_that_a_subgoal_needs_are_its_own_with_where_they_stand() -> None:
    done = run()
    assert done.plan is not None
    needs = replace(SUBGOAL, requires=("G1",))
    assert task_for(needs, done.plan, ContextBundle(), []).givens == ("there is a login (src/auth.py:41)",)
    assert task_for(SUBGOAL, done.plan, ContextBundle(), []).givens == ()
