"""Checks of a decomposition: what can be told of a decomposition without asking anybody (ruling 13, AURORA §5.2),
before a model is paid.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from aurora_orchestration.settings import ScoringSettings
from aurora_orchestration.soar.contradictions import contradictions, repeated
from aurora_orchestration.soar.groundedness import ungrounded
from aurora_orchestration.soar.missing_dependencies import unmet
from aurora_orchestration.soar.requirements import uncovered
from aurora_orchestration.soar.scores import Judged, judge
from aurora_orchestration.soar.structure import MOST, apart, broken, cycle, depends
from aurora_orchestration.types import Agent, ContextBundle, Decomposition, Verification

FALLBACK_AGENT = "llm-executor"
"""The agent that is always there and takes anything (App. F)."""


MOST_READ, MOST_TOLD = 6000, 1000
"""Characters of the query and of each subgoal's texts whose words are compared."""


SERIOUS, SLIGHT = 0.5, 0.05
"""What a finding that is certain, and one that is only likely, takes from the score of its check."""


class _Finding(Struct, frozen=True):
    check: str
    issue: str
    suggestion: str
    share: float = 0.5
    critical: bool = True


def check(
    decomposition: Decomposition,
    query: str,
    context: ContextBundle,
    agents: Sequence[Agent],
    settings: ScoringSettings,
) -> Verification:
    """Judge structure, coverage, contradictions, groundedness and routing by rules alone; same input, same verdict.

    What is certain is critical and holds the score below passing. What is only likely takes a little from its check:
    several such findings fail it, one alone is told to the judge. What rules cannot tell they leave at 1.
    """
    found = list(_findings(decomposition, query, context, agents))
    names = ("completeness", "consistency", "groundedness", "routability")
    scores = {name: round(max(0.0, 1.0 - sum(one.share for one in found if one.check == name)), 6) for name in names}
    issues = {name: tuple(one.issue for one in found if one.check == name) for name in names}
    return judge(
        Judged(
            scores=scores,
            issues=issues,
            details={name: "; ".join(issues[name][:3]) or "nothing found" for name in names},
            critical_issues=tuple(dict.fromkeys(one.issue for one in found if one.critical)),
            suggestions=tuple(dict.fromkeys(one.suggestion for one in found)),
        ),
        settings.weighted_scoring.decomposition,
        settings,
        by="deterministic",
    )


def _findings(
    decomposition: Decomposition, query: str, context: ContextBundle, agents: Sequence[Agent]
) -> Iterable[_Finding]:
    for issue, suggestion in broken(decomposition):
        yield _Finding("consistency", issue, suggestion)
    yield from _unroutable(decomposition, agents)
    if len(decomposition.subgoals) > 2 * MOST:
        return  # far from what was asked for: its words are not compared, pair by pair
    query, decomposition = query[:MOST_READ], _shortened(decomposition)
    for one in uncovered(query, decomposition):
        yield _Finding(
            "completeness",
            f"no subgoal {'covers' if one.sure else 'seems to cover'} “{one.text[:120]}”",
            f"give a subgoal the task: {one.text[:120]}"
            + (", or let the subgoal that serves this given require it" if one.sure else ""),
            SERIOUS if one.sure else SLIGHT,
            one.sure,
        )
    for issue, suggestion in contradictions(decomposition):
        yield _Finding("consistency", issue, suggestion)
    for issue, suggestion in repeated(decomposition):
        yield _Finding("consistency", issue, suggestion, 0.3)
    if not cycle(depends(decomposition.subgoals)):
        for issue, suggestion in apart(decomposition):
            yield _Finding("consistency", issue, suggestion, 0.4)
        for issue, suggestion, sure in unmet(query, decomposition):
            yield _Finding("consistency", issue, suggestion, 0.4 if sure else SLIGHT, sure)
    for issue, suggestion, sure in ungrounded(query, context, decomposition):
        yield _Finding("groundedness", issue, suggestion, SERIOUS if sure else SLIGHT, sure)


def _shortened(decomposition: Decomposition) -> Decomposition:
    return replace(
        decomposition,
        subgoals=tuple(
            replace(
                subgoal,
                description=subgoal.description[:MOST_TOLD],
                expected_output=subgoal.expected_output[:MOST_TOLD],
            )
            for subgoal in decomposition.subgoals
        ),
    )


def _unroutable(decomposition: Decomposition, agents: Sequence[Agent]) -> Iterable[_Finding]:
    known = {agent.id: agent for agent in agents}
    for subgoal in decomposition.subgoals:
        if subgoal.agent == FALLBACK_AGENT:
            continue
        if subgoal.agent not in known:
            names = ", ".join([*list(known)[:20], *([FALLBACK_AGENT] if FALLBACK_AGENT not in known else [])])
            yield _Finding(
                "routability",
                f"{subgoal.id} is given to {subgoal.agent}, an agent that does not exist",
                f"give {subgoal.id} to one of: {names}",
            )
