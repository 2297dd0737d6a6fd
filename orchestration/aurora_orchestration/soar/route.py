"""Phase 5 (routing, agent selection): who works on which subgoal (AURORA §7.1 phase 5, App. F). Pure.

The agent a subgoal names, if there is one that may run; else the one whose capabilities and domains fit its words best
and who has worked well so far; else llm-executor.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from aurora_memory.semantic_tags import domain_of, stems_of
from aurora_orchestration.agents.executors.builtin import GENERIC, LLM_EXECUTOR
from aurora_orchestration.agents.registry import POOR
from aurora_orchestration.settings import AgentSettings
from aurora_orchestration.types import Agent, Assignment, Decomposition, RoutingPlan, Subgoal

ALL, GENERAL = "all", "general"
LEAST_FIT = 0.2
"""The least fit for which an agent is taken that was not named: about two words that tell something."""

UNTRIED = 0.5
NETWORK_SHARE = 0.9
"""What the fit of an agent that is not always there counts for."""


class _Fit(Struct, frozen=True):
    score: float
    words: tuple[str, ...]


def route(decomposition: Decomposition, agents: Sequence[Agent], settings: AgentSettings) -> RoutingPlan:
    """Give each subgoal an agent and a wave, in the order of the decomposition.

    `agents` without llm-executor get the built-in one. Agents that may not run (a workspace that is not trusted,
    `availability` of "never" or "disabled") are never chosen.
    """
    allowed = {agent.id: agent for agent in agents if agent.trusted and _availability(agent) > 0}
    default = settings.default_agent.id if settings.fallback_mode == "default_agents" else LLM_EXECUTOR
    generic = allowed.get(default) or allowed.get(LLM_EXECUTOR) or GENERIC
    known = {agent.id for agent in agents}
    assignments: list[Assignment] = []
    notices: list[str] = []
    waves = waves_of(decomposition.subgoals)
    for subgoal in decomposition.subgoals:
        agent, why, notice = _choose(subgoal, allowed, generic, known)
        assignments.append(Assignment(subgoal=subgoal, agent=agent, why=why, wave=waves[subgoal.id]))
        notices += [notice] if notice else []
    return RoutingPlan(assignments=tuple(assignments), notices=tuple(notices))


def waves_of(subgoals: Sequence[Subgoal]) -> dict[str, int]:
    """Topological levels: the length of the longest chain of dependencies before each subgoal. Dependencies on what is
    not there, and those that close a circle, count for nothing: verification has rejected them before."""
    ids = {subgoal.id for subgoal in subgoals}
    waits = {subgoal.id: set(subgoal.depends_on) & ids - {subgoal.id} for subgoal in subgoals}
    waves: dict[str, int] = {}
    wave = 0
    while len(waves) < len(ids):
        ready = [each for each in waits if each not in waves and waits[each] <= waves.keys()]
        ready = ready or [each for each in waits if each not in waves]
        waves.update(dict.fromkeys(ready, wave))
        wave += 1
    return waves


def _choose(subgoal: Subgoal, allowed: dict[str, Agent], generic: Agent, known: set[str]) -> tuple[Agent, str, str]:
    """An agent, why that one, and what the user is to be told of it."""
    named = allowed.get(subgoal.agent)
    if named is not None:
        if named.id == generic.id:
            return generic, "named by the plan", ""
        rate = named.success_rate
        if rate is None or rate >= POOR:
            return named, "named by the plan", ""
        return _instead(subgoal, allowed, generic, f"{named.id} has done well in only {rate:.0%} of its works")
    if subgoal.agent == LLM_EXECUTOR:
        return generic, "named by the plan", ""
    why_not = "may not run here" if subgoal.agent in known else "is not there"
    return _instead(subgoal, allowed, generic, f"agent {subgoal.agent} {why_not}")


def _instead(subgoal: Subgoal, allowed: dict[str, Agent], generic: Agent, said: str) -> tuple[Agent, str, str]:
    """Fallback agent where the named one cannot be used, and why."""
    # Who was named is no other one: it may not run, or did poorly, which `best_for` takes nobody with.
    found = best_for(subgoal, [agent for agent in allowed.values() if agent.id != generic.id])
    agent, why = found or (generic, "no other agent fits")
    return agent, f"{said}{'; ' if found else ', and '}{why}", f"{subgoal.id}: {said}; {agent.id} does it"


def best_for(subgoal: Subgoal, agents: Sequence[Agent]) -> tuple[Agent, str] | None:
    """Agent selection: which agent fits a subgoal best, and by which words; None where none. Ties: the first."""
    words = stems_of(f"{subgoal.description} {subgoal.expected_output}")
    area = domain_of(((subgoal.description, 3.0),))
    best: tuple[float, Agent, _Fit] | None = None
    for agent in agents:
        fit = _fit(agent, words, area)
        rate = agent.success_rate if agent.success_rate is not None else UNTRIED
        worth = fit.score * (0.5 + rate) * _availability(agent)
        if fit.score >= LEAST_FIT and rate >= POOR and (best is None or worth > best[0]):
            best = worth, agent, fit
    if best is None:
        return None
    _, agent, fit = best
    rate_said = f", success rate {agent.success_rate:.0%}" if agent.success_rate is not None else ""
    return agent, f"fits best by {', '.join(fit.words[:5])}{rate_said}"


def _fit(agent: Agent, words: set[str], area: str) -> _Fit:
    """Fit of an agent's words to those of a subgoal, in [0, 1]; capabilities count most, its description least."""
    score = 0.0
    matched: dict[str, None] = {}
    for texts, weight in ((agent.capabilities, 0.15), (agent.domains, 0.1), ((agent.id,), 0.1)):
        for text in texts:
            shared = stems_of(text) & words if text not in (ALL, GENERAL) else set()
            if shared:
                score += weight * len(shared) / len(stems_of(text))
                matched[text] = None
    score += min(0.15, 0.03 * len(stems_of(agent.description[:2_000]) & words))
    if area != GENERAL and area in agent.domains:
        score += 0.1
        matched[area] = None
    return _Fit(min(score, 1.0), tuple(matched))


def _availability(agent: Agent) -> float:
    """Availability of an agent as a factor in [0, 1]."""
    said = agent.availability.lower()
    if said in ("never", "disabled", "unavailable", "off"):
        return 0.0
    return 1.0 if said == "always" else NETWORK_SHARE
