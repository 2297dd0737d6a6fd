"""Cost estimate of a question before it is paid for: the calls its way takes, at its models' prices, corrected by what
past runs of its kind did cost (AURORA §9.4.2; decision 0140).

The form is the specification's: the base cost of one call × a multiplier by complexity × thousands of tokens. Its base
costs are those of a price list of 2025, and its tokens the question's alone; here both are what they are in this run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from aurora_orchestration.settings import ComplexitySettings, Routes
from aurora_orchestration.types import LEVELS, Complexity, Rate, Role, VerificationOption

_LETTERS_PER_TOKEN = 4
_MILLION = 1_000_000
_AS_SHIPPED = Routes()


class _Call(Struct, frozen=True):
    """Call of a run, as a rule: `fixed` tokens of prompt, a share of the retrieved context up to `most`, and its
    answer; `each` for one that is made for every subgoal."""

    fixed: int
    context: float
    output: int
    role: Role = "reasoning"
    each: bool = False
    most: int = 1_000_000


_AGENTS = (
    _Call(450, 1.0, 350, "solving", each=True, most=6_000),
    _Call(900, 0.0, 150, each=True),
)
_WRITER = (_Call(900, 0.5, 400), _Call(1_200, 0.5, 200))
_CALLS: Mapping[str, tuple[_Call, ...]] = MappingProxyType(
    {
        "none": (_Call(250, 1.0, 250),),
        "option_a": (_Call(700, 1.0, 450), _Call(900, 1.0, 200), *_AGENTS, *_WRITER),
        "option_b": (_Call(1_000, 1.0, 600), _Call(1_300, 1.0, 250), *_AGENTS, *_WRITER),
        "option_c": (
            *(_Call(1_300, 1.0, 600),) * 3,
            *(_Call(1_200, 0.0, 150),) * 3,
            _Call(2_500, 1.0, 400),
            *_AGENTS,
            *_WRITER,
        ),
    }
)
_SUBGOALS = {"none": 0, "option_a": 2.5, "option_b": 4, "option_c": 3.5}

_ONE_SURE = 1.0
"""Ratio that stands beside those of past runs, so that a single odd one does not settle it."""


def tokens_of(query: str) -> int:
    """About how many tokens `query` has: one for four letters, at least one."""
    return max(1, -(-len(query) // _LETTERS_PER_TOKEN))


def estimate(
    query_tokens: int,
    context_tokens: int,
    complexity: Complexity,
    verification: Literal["none"] | VerificationOption,
    rates: Mapping[Role, Rate],
    settings: ComplexitySettings,
    past: Sequence[float] = (),
) -> float:
    """Dollars that a question is expected to cost, as it will be worked on.

    `past` are what runs of its kind cost in shares of what was estimated for them without knowing of others (`past`
    left out). `complexity.routing.<complexity>.cost_multiplier` counts by how far it is from the one shipped.
    """
    subgoals = _SUBGOALS[verification]
    usd = 0.0
    for call in _CALLS[verification]:
        rate = rates[call.role]
        asked = call.fixed + query_tokens + min(call.most, call.context * context_tokens)
        usd += (subgoals if call.each else 1) * (asked * rate.input + call.output * rate.output) / _MILLION
    place = LEVELS.index(complexity)
    usd *= _multipliers(settings.routing)[place] / _multipliers(_AS_SHIPPED)[place]
    return usd * (median((_ONE_SURE, *past)) if past else 1.0)


def _multipliers(routing: Routes) -> tuple[float, ...]:
    levels = (routing.simple, routing.medium, routing.complex, routing.critical)
    return tuple(level.cost_multiplier for level in levels)
