"""Groundedness: whether givens rest on the question or the context, and subgoals on givens (AURORA §5.2,
groundedness).
"""

from __future__ import annotations

from collections.abc import Iterator

from aurora_orchestration.soar.concepts import PROCESS, Words, telling, union
from aurora_orchestration.soar.structure import depends, reachable
from aurora_orchestration.types import ContextBundle, Decomposition, Given

FACT_SHARE = 0.17
"""The share of a fact's words that has to stand in what it is taken from."""

TELLING = 4
"""How many telling words a fact needs before it is sure, where none of them stands there, that it was made up."""

ANYWHERE = 0.3
"""What a word counts that any plan has, whatever it is for."""

ISOLATED_SHARE, LAST_SHARE = 0.25, 0.04
"""The share of a subgoal's telling words that has to be of the matter: where nothing joins it to the other subgoals,
and where it only waits for some. Who is waited for serves the matter in words of his own trade."""

STRAY_SHARE = 0.15
"""Below this share it is sure of what nothing joins to the others; of what waits for some, words never make it sure."""


def ungrounded(query: str, context: ContextBundle, decomposition: Decomposition) -> Iterator[tuple[str, str, bool]]:
    """Claims of a plan that rest on nothing, each with how to mend it and whether it is sure."""
    asked = telling(query)
    seen = seen_in(context)
    for given in decomposition.given:
        share, of = _stands(given, asked, seen)
        if share < FACT_SHARE:
            where = "the query" if given.source == "query" else "the context"
            yield (
                f"given {given.id} ({given.fact[:80]}) is not in {where}",
                f"take {given.id} out, or give a fact that {where} states",
                share == 0 and of >= TELLING,
            )
    for issue, suggestion in _untraced(decomposition):
        yield issue, suggestion, True
    matter = union(
        [
            query,
            decomposition.goal.description,
            *decomposition.goal.success_criteria,
            *(given.fact for given in decomposition.given),
        ]
    )
    matter = Words(matter.stems | seen.stems, matter.groups | _specific_groups(seen), matter.starts | seen.starts)
    needs = depends(decomposition.subgoals)
    needed = {one for several in needs.values() for one in several}
    for subgoal in decomposition.subgoals:
        if subgoal.id in needed:
            continue
        own = telling(f"{subgoal.description} {subgoal.expected_output}").stems - PROCESS
        others = union(
            f"{other.description} {other.expected_output}" for other in decomposition.subgoals if other.id != subgoal.id
        )
        near = sum(_near(stem, matter, others) for stem in own)
        if len(own) >= 4 and near / len(own) < (LAST_SHARE if needs[subgoal.id] else ISOLATED_SHARE):
            yield (
                f"{subgoal.id} ({subgoal.description[:80]}) has nothing to do with the query or its context",
                f"take {subgoal.id} out, or tie it to a given",
                not needs[subgoal.id] and near / len(own) < STRAY_SHARE,
            )


def _near(stem: str, matter: Words, others: Words) -> float:
    """How much a word of a subgoal is of the matter; what other subgoals say may be astray with it."""
    if matter.says(stem) or matter.nearly(stem):
        return 1.0
    if matter.has(stem):
        return 0.2
    return 0.5 if others.says(stem) or others.nearly(stem) else 0.0


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


def _stands(given: Given, asked: Words, seen: Words) -> tuple[float, int]:
    """The share of a fact's telling words that stands in its source, 1 where it has none; and how many they are."""
    source = asked if given.source == "query" else seen
    weights = {stem: ANYWHERE if stem in PROCESS else 1.0 for stem in telling(given.fact).stems}
    near = sum(weight * _stood(stem, source) for stem, weight in weights.items())
    return (near / sum(weights.values()) if weights else 1.0), len(weights)


def _stood(stem: str, source: Words) -> float:
    """Support of a word by a source: 1 as said, less for a similar word or a synonym."""
    if source.says(stem):
        return 1.0
    if source.nearly(stem):
        return 0.9
    return 0.5 if source.has(stem) else 0.0


def _untraced(decomposition: Decomposition) -> Iterator[tuple[str, str]]:
    """Broken references of a plan: requirements that are no givens, subgoals that rest on nothing."""
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
