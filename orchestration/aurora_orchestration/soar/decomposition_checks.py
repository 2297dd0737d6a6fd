"""Checks of a decomposition by rules (linting a plan): what can be told of it without asking anybody (ruling 13, AURORA
§5.2), before a model is paid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.soar.contradictions import contradictions, repeated
from aurora_orchestration.soar.groundedness import ungrounded
from aurora_orchestration.soar.missing_dependencies import unmet
from aurora_orchestration.soar.scores import Judged, judge
from aurora_orchestration.soar.structure import MOST, apart, broken, cycle, depends
from aurora_orchestration.types import Agent, ContextBundle, Decomposition, Verification

_IDENTIFIER = re.compile(
    r"`([^`\n]{2,80})`|\b([A-Za-z]\w*_\w+|[a-z]+[A-Z]\w+|[A-Z][a-z]+(?:[A-Z][a-z]+)+)\b|(?<![\w/])((?:[\w.-]+/)+[\w-]+\.\w{1,5})\b"
)
_BRANDS = re.compile(r"^(?:GitHub|GitLab|JavaScript|TypeScript|PostgreSQL|MongoDB|GraphQL|WebSockets?|PyPI|DevOps)$")


class Uncovered(Struct, frozen=True):
    """Requirement that no subgoal serves. `sure` where the plan itself shows it; a name that is left out is a hint."""

    text: str
    sure: bool


def uncovered(query: str, decomposition: Decomposition) -> tuple[Uncovered, ...]:
    """Coverage: the givens that no subgoal requires, and the identifiers of the question that the plan never names.

    A good plan says a demand in words of its own, which no list of words foresees; it does state the demand as a given.
    """
    required = {one for subgoal in decomposition.subgoals for one in subgoal.requires}
    found = {given.fact: True for given in decomposition.given if given.id not in required}
    texts = [f"{subgoal.description} {subgoal.expected_output}" for subgoal in decomposition.subgoals]
    facts = (given.fact for given in decomposition.given)
    everything = " ".join([*texts, decomposition.goal.description, *facts]).lower()
    for name in identifiers(query):
        if name.lower() not in everything and name.rsplit("/", 1)[-1].lower() not in everything:
            found.setdefault(name, False)
    return tuple(Uncovered(text, sure) for text, sure in found.items())


def identifiers(query: str) -> tuple[str, ...]:
    """Names of code and files that the question spells out."""
    found = (next(filter(None, match.groups())) for match in _IDENTIFIER.finditer(query))
    return tuple(name for name in dict.fromkeys(found) if not _BRANDS.match(name))


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
    """Findings of all rules on a plan."""
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
    """Subgoals whose agent does not exist or does not fit."""
    known = {agent.id: agent for agent in agents}
    if known.keys() <= {FALLBACK_AGENT}:
        return  # with none but the executor every subgoal is its own, whatever a plan calls it (App. F)
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
