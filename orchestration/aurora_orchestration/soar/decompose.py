"""Phase 3 (task decomposition): break a question into 2–5 subgoals that trace to given facts (AURORA §4.2, §8.3)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from aurora_orchestration.llm.completion import Ask, Llm
from aurora_orchestration.llm.structured import ask_for
from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.soar.calibration import examples
from aurora_orchestration.soar.prompt_format import agents_data, context_data, decomposition_data, question
from aurora_orchestration.soar.replies import DecompositionBody, DecompositionReply
from aurora_orchestration.soar.structure import FEWEST, MOST, ordered
from aurora_orchestration.types import Agent, Complexity, ContextBundle, Decomposition, RetryFeedback

BODY_SCHEMA: dict[str, Any] = {
    "given": [{"id": "G1", "fact": "string", "source": "query | context"}],
    "goal": {"description": "string", "success_criteria": ["string"]},
    "subgoals": [
        {
            "id": "SG1",
            "description": "string",
            "requires": ["G1"],
            "agent": "id of an available agent",
            "expected_output": "string",
            "depends_on": ["ids of the subgoals whose product it uses"],
        }
    ],
    "execution_order": ["SG1", "SG2"],
    "parallelizable": [["SG1", "SG2"]],
}
"""How a decomposition is shown in prompts."""

_CONSTRAINTS = {
    "min_subgoals": FEWEST,
    "max_subgoals": MOST,
    "dependencies_must_be_dag": True,
    "each_subgoal_traces_to_given": True,
    "every_requirement_of_the_query_is_covered": True,
    "every_given_is_required_by_a_subgoal": True,
    "subgoals_that_rest_on_one_given_are_joined_by_dependencies": True,
    "parallelizable_names_every_group_that_can_run_at_once": True,
    "agents": "ids of available_agents only",
}


async def decompose(
    query: str,
    context: ContextBundle,
    agents: Sequence[Agent],
    llm: Llm,
    settings: ScoringSettings,
    *,
    complexity: Complexity,
    feedback: RetryFeedback | None = None,
    previous: Decomposition | None = None,
    stance: str = "",
) -> Decomposition:
    """Ask for a decomposition; one call. `previous` with `feedback` is to be mended, `stance` says what to favour.

    An execution order that is left out is worked out; a wrong one stays, to be found. Raises what `ask_for` raises.
    """
    ask = _ask(query, context, agents, settings, complexity, feedback, previous, stance)
    reply = await ask_for(llm, ask, DecompositionReply)
    return built(reply.decomposition, query, complexity)


def built(body: DecompositionBody, query: str, complexity: Complexity) -> Decomposition:
    """A model's decomposition as ours: its id tells its content, and the query is the one that was asked."""
    digest = hashlib.sha256(query.encode("utf-8", "replace") + b"\0" + msgspec.json.encode(body)).hexdigest()
    decomposition = Decomposition(
        id=f"dec-{digest[:16]}",
        original_query=query,
        goal=body.goal,
        given=body.given,
        subgoals=body.subgoals,
        execution_order=body.execution_order,
        parallelizable=body.parallelizable,
        complexity=complexity,
    )
    if not decomposition.execution_order:
        decomposition = replace(decomposition, execution_order=ordered(body.subgoals))
    return decomposition


def _ask(
    query: str,
    context: ContextBundle,
    agents: Sequence[Agent],
    settings: ScoringSettings,
    complexity: Complexity,
    feedback: RetryFeedback | None,
    previous: Decomposition | None,
    stance: str,
) -> Ask:
    """Prompt for a decomposition: query, context, agents, rules, feedback."""
    data: dict[str, Any] = {"query": query, "context": context_data(context), "available_agents": agents_data(agents)}
    rules: dict[str, Any] = {"constraints": _CONSTRAINTS}
    if stance:
        rules["stance"] = stance
    task = f"Break the query into {FEWEST} to {MOST} subgoals that agents can carry out, with their dependencies."
    if feedback is not None:
        data["feedback"] = feedback
        task += " An earlier attempt was turned down: `feedback` says why; let every issue in it be mended."
        if previous is not None:
            data["previous_decomposition"] = decomposition_data(previous)
    return question(
        "decompose",
        "decompose",
        "You plan how to answer developers' questions: you break them into steps, you do not answer them.",
        task,
        rules=rules,
        schema={"decomposition": BODY_SCHEMA},
        data=data,
        examples=examples(settings.calibration_examples, "decomposition", complexity).shown,
    )
