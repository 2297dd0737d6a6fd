"""Requirements of a question that no subgoal serves (AURORA §5.2, completeness). Pure.

Only what the plan itself shows, and names spelled out in code's own way: rules that compared the words of a demand with
those of the subgoals changed no verdict on any corpus (tests/orchestration/soar/data/README.md), and are gone.
"""

from __future__ import annotations

import re

from msgspec import Struct

from aurora_orchestration.types import Decomposition

_IDENTIFIER = re.compile(
    r"`([^`\n]{2,80})`|\b([A-Za-z]\w*_\w+|[a-z]+[A-Z]\w+|[A-Z][a-z]+(?:[A-Z][a-z]+)+)\b|(?<![\w/])((?:[\w.-]+/)+[\w-]+\.\w{1,5})\b"
)
_BRANDS = re.compile(r"^(?:GitHub|GitLab|JavaScript|TypeScript|PostgreSQL|MongoDB|GraphQL|WebSockets?|PyPI|DevOps)$")


class Uncovered(Struct, frozen=True):
    """Requirement that no subgoal serves. `sure` where the plan itself shows it; a name that is left out is a hint."""

    text: str
    sure: bool


def uncovered(query: str, decomposition: Decomposition) -> tuple[Uncovered, ...]:
    """The givens that no subgoal requires, and the identifiers of the question that the plan never names.

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
