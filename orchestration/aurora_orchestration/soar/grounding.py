"""Whether givens rest on the question or the context, and subgoals on givens (AURORA §5.2, groundedness)."""

from __future__ import annotations

from collections.abc import Iterator

from aurora_orchestration.soar.concepts import PROCESS, Words, telling, union
from aurora_orchestration.soar.model import ContextBundle, Decomposition, Given
from aurora_orchestration.soar.products import role
from aurora_orchestration.soar.structure import depends, reachable

FACT_SHARE = 0.3
"""The share of a fact's words that has to stand in what it is taken from."""

SUBGOAL_SHARE = 0.12
"""The share of a subgoal's telling words that has to be of the matter."""


def ungrounded(query: str, context: ContextBundle, decomposition: Decomposition) -> Iterator[tuple[str, str]]:
    """What rests on nothing, each with how to mend it."""
    asked = telling(query)
    seen = seen_in(context)
    for given in decomposition.given:
        if not _stands(given, asked, seen):
            where = "the query" if given.source == "query" else "the context"
            yield (
                f"given {given.id} ({given.fact[:80]}) is not in {where}",
                f"take {given.id} out, or give a fact that {where} states",
            )
    yield from _untraced(decomposition)
    matter = union([query, decomposition.goal.description, *(given.fact for given in decomposition.given)])
    matter = Words(matter.stems | seen.stems, matter.groups | _specific_groups(seen))
    needs = depends(decomposition.subgoals)
    for subgoal in decomposition.subgoals:
        own = telling(f"{subgoal.description} {subgoal.expected_output}").stems - PROCESS
        others = union(
            f"{other.description} {other.expected_output}" for other in decomposition.subgoals if other.id != subgoal.id
        )
        near = sum(1.0 if matter.says(stem) else 0.6 if matter.has(stem) else 0.0 for stem in own)
        near += 0.5 * sum(others.says(stem) and not matter.has(stem) for stem in own)
        if needs[subgoal.id] and role(subgoal) in ("check", "tell"):
            continue  # about what it depends on, in the words of its trade
        if len(own) >= 4 and near / len(own) < SUBGOAL_SHARE:
            yield (
                f"{subgoal.id} ({subgoal.description[:80]}) has nothing to do with the query or its context",
                f"take {subgoal.id} out, or tie it to a given",
            )


def seen_in(context: ContextBundle) -> Words:
    """The words of all that memory gave."""
    return union(
        [
            *(f"{chunk.id} {chunk.name} {chunk.file} {chunk.summary} {chunk.content}" for chunk in context.chunks),
            *(section.content for section in context.logs),
        ]
    )


def _specific_groups(seen: Words) -> frozenset[int]:
    # code mentions everything: only its very words count, not all that could be meant by them
    return frozenset() if len(seen.stems) > 60 else seen.groups


def _stands(given: Given, asked: Words, seen: Words) -> bool:
    fact = telling(given.fact).stems
    specific = fact - PROCESS or fact
    if not specific:
        return True
    source = asked if given.source == "query" else seen
    near = sum(1.0 if source.says(stem) else 0.5 if source.has(stem) else 0.0 for stem in specific)
    if given.source != "query" and not specific & source.stems:
        return False
    return near / len(specific) >= FACT_SHARE


def _untraced(decomposition: Decomposition) -> Iterator[tuple[str, str]]:
    facts = {given.id for given in decomposition.given}
    needs = depends(decomposition.subgoals)
    traced = {subgoal.id for subgoal in decomposition.subgoals if facts & set(subgoal.requires)}
    for subgoal in decomposition.subgoals:
        for one in subgoal.requires:
            if one not in facts:
                yield (
                    f"{subgoal.id} requires {one}, which is no given",
                    f"let {subgoal.id} require ids of given facts only",
                )
        if subgoal.id not in traced and not reachable(needs, subgoal.id) & traced:
            yield f"{subgoal.id} traces to no given fact", f"name in requires what {subgoal.id} rests on"
