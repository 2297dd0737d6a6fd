"""Conditions compiled to functions (predicates): each is put together once, so that asking it of thousands of chunks
costs little.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeAlias

from aurora_memory.lifespans.conditions import And, Comparison, Condition, HasTag, InactiveFor, Not, Operator, Or
from aurora_memory.lifespans.facts import PROPERTIES, ChunkFacts

DAY = 86_400.0

Matcher: TypeAlias = Callable[[ChunkFacts, float], bool]
"""Test of a chunk against a condition, now (Unix seconds)."""

_OPERATORS: dict[Operator, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@lru_cache(maxsize=512)
def matcher(condition: Condition) -> Matcher:
    """The function that tells whether a chunk meets `condition`."""
    match condition:
        case Comparison():
            return _comparison(condition)
        case HasTag(tag):
            return _tagged(tag)
        case InactiveFor(days):
            return _comparison(Comparison("last_accessed_days", ">=", float(days)))
        case Not(operand):
            inner = matcher(operand)
            return lambda facts, now: not inner(facts, now)
        case And(operands):
            return _all_of([matcher(each) for each in operands])
        case Or(operands):
            return _any_of([matcher(each) for each in operands])


def _comparison(comparison: Comparison) -> Matcher:
    """Comparison of a property with a literal, compiled to a closure."""
    asked = PROPERTIES[comparison.property]
    read = attrgetter(asked.field)
    compare = _OPERATORS[comparison.operator]
    value = comparison.value
    if asked.kind == "text":
        wanted = str(value).casefold()

        def matches(facts: ChunkFacts, now: float) -> bool:
            known = read(facts)
            return known is not None and compare(known.casefold(), wanted)

    elif asked.kind == "days":
        seconds = float(value) * DAY
        otherwise = attrgetter(asked.otherwise or asked.field)

        def matches(facts: ChunkFacts, now: float) -> bool:
            at = read(facts)
            if at is None:
                at = otherwise(facts)
                if at is None:
                    return False
            return compare(now - at if now > at else 0.0, seconds)  # the clock may have jumped back

    else:

        def matches(facts: ChunkFacts, now: float) -> bool:
            known = read(facts)
            return known is not None and compare(known, value)

    return matches


def _tagged(tag: str) -> Matcher:
    """Test for a tag, compiled: keywords, tags or the role have it as whole words."""
    wanted = tag.casefold()
    words = re.compile(rf"(?<![^\W_]){re.escape(wanted)}(?![^\W_])").search

    def among(labels: str) -> bool:
        said = labels.casefold()
        return wanted in said and words(said) is not None  # the first test is cheap, and mostly says no

    def matches(facts: ChunkFacts, now: float) -> bool:
        if facts.keywords and among(facts.keywords):
            return True
        if facts.tags and among("\n".join(facts.tags)):
            return True
        return facts.semantic_role is not None and among(facts.semantic_role)

    return matches


def _all_of(matchers: list[Matcher]) -> Matcher:
    """Conjunction (AND) of compiled conditions."""
    if len(matchers) == 2:
        first, second = matchers
        return lambda facts, now: first(facts, now) and second(facts, now)
    return lambda facts, now: all(each(facts, now) for each in matchers)


def _any_of(matchers: list[Matcher]) -> Matcher:
    """Disjunction (OR) of compiled conditions."""
    if len(matchers) == 2:
        first, second = matchers
        return lambda facts, now: first(facts, now) or second(facts, now)
    return lambda facts, now: any(each(facts, now) for each in matchers)
