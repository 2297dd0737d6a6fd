"""Phase 8 (learning from a run): the lesson of a finished run for memory, and the outcomes of its agents (AURORA §6.7,
Appendix D). Pure.
"""

from __future__ import annotations

from collections.abc import Iterable

from aurora_memory.documents import ConversationLogReference, PatternSubgoal, ToolUse
from aurora_memory.learning import POLICY, FinishedRun, Retrieved
from aurora_orchestration.run_record import RunRecord
from aurora_orchestration.soar.claims import cited, doubtful, mentioned, usable
from aurora_orchestration.types import ContextBundle, SubgoalResult

FAILED = 0.49
"""The most that a run whose plan never passed is learned with: it failed, however well its last plan was."""

KEPT = POLICY.kept_score
"""Below this score a run has failed."""

_MAX_TOOLS = 100
_MAX_SEQUENCE = 1000


def lesson_of(run: RunRecord, log: ConversationLogReference | None = None) -> FinishedRun | None:
    """A run as memory learns from it.

    From 0.8 the pattern is kept, from 0.5 it is kept as partial, below the kind of question is marked difficult. Runs
    that nothing judged teach nothing: direct answers, answers from memory, runs that were cancelled or blocked.
    """
    score = judged(run)
    if score is None or run.context is None or run.from_memory is not None:
        return None
    if run.mode == "headless" and score < KEPT:
        return None  # one step of a loop, whose next one names the same goal: no kind of question has failed
    if run.state in ("cancelled", "interrupted", "blocked", "no_provider", "dry_run"):
        return None
    done = [result for result in run.results if usable(result)]
    plan = run.plan
    return FinishedRun(
        id=run.id,
        query=run.query[:20_000],
        score=score,
        at=run.ended_at,
        complexity=plan.complexity if plan is not None else run.complexity or "complex",
        verification_option=plan.option if plan is not None else None,
        subgoals=tuple(
            PatternSubgoal(id=each.subgoal.id[:100], description=each.subgoal.description[:4000], agent=_agent(each))
            for each in run.results
        ),
        tools_used=tuple(
            ToolUse(subgoal=each.subgoal.id[:100], agent=_agent(each), tools=tuple(dict.fromkeys(_tools(each))))
            for each in done
            if _tools(each)
        ),
        tool_sequence=tuple(tool for each in sorted(done, key=_begun) for tool in _tools(each))[:_MAX_SEQUENCE],
        retrieved=retrieved(run),
        execution_time_ms=max(0.0, (run.ended_at - run.started_at) * 1000),
        total_cost_usd=run.cost_usd,
        log=log,
    )


def judged(run: RunRecord) -> float | None:
    """The score memory learns with: the answer's, or that of a plan which never passed."""
    if run.synthesis is not None and run.synthesis.verification is not None:
        return run.synthesis.verification.overall_score
    if run.plan is not None and run.plan.verification.verdict != "pass" and not run.results:
        return min(FAILED, run.plan.verification.overall_score)
    return None


def retrieved(run: RunRecord) -> tuple[Retrieved, ...]:
    """Each chunk the run was given, and whether it helped: whether the answer, or a step it rests on, cites it.

    Where nothing at all is cited nobody said what helped, and so nothing is held against any of them.
    """
    assert run.context is not None, "asked for only where there was one"
    used = used_rows(run, run.context)
    return tuple(Retrieved(chunk.row, chunk.row in used if used else None) for chunk in run.context.chunks)


def used_rows(run: RunRecord, context: ContextBundle) -> frozenset[int]:
    """The rows of the chunks that the answer cites: in its claims, its words, or in a step that a claim rests on.

    What was shown, what the plan began with and what an agent found that the answer has no use for is not of use.
    """
    if run.synthesis is None:
        return frozenset()
    claims = run.synthesis.claims
    steps = {source for claim in claims for source in claim.sources}
    texts = [run.synthesis.answer] + [
        each.response.output.summary
        for each in run.results
        if each.subgoal.id in steps and usable(each) and each.response.output is not None
    ]
    return cited(claims, context) | mentioned(texts, context)


def outcomes(results: Iterable[SubgoalResult]) -> tuple[tuple[str, bool], ...]:
    """Success (reward) of agents, by id, one each for every subgoal an agent worked on, whoever did it in the end.

    An output that passed is a success; one that was doubtful, or rejected, none, and neither is no output at all.
    """
    found: list[tuple[str, bool]] = []
    for result in results:
        if result.skipped:
            continue
        told = {one.agent_id: one for one in result.tries if one.worked and one.agent_id}
        for agent_id, last in told.items():
            if agent_id == result.response.agent_id:
                found.append((agent_id, usable(result) and not doubtful(result)))
            else:
                found.append((agent_id, last.verification is not None and last.verification.verdict == "pass"))
        if not result.tries and result.response.agent_id:
            found.append((result.response.agent_id, usable(result) and not doubtful(result)))
    return tuple(found)


def _agent(result: SubgoalResult) -> str:
    return (result.response.agent_id or result.subgoal.agent)[:200]


def _tools(result: SubgoalResult) -> tuple[str, ...]:
    return tuple(tool[:200] for tool in result.response.metadata.tools_used if tool)[:_MAX_TOOLS]


def _begun(result: SubgoalResult) -> float:
    return result.started_at
