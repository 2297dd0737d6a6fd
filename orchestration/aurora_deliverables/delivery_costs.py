"""Delivery costs: what an accepted deliverable cost, of all, of a group, and by agent and model (AURA-M §2, §5.2).

What was spent on failures is spent: a cost per accepted deliverable is all that is known to have been spent, on
accepted and failed ones, over those that were accepted. Deliverables of which nobody told a cost are in neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.secondary_metrics import accepted

UNKNOWN = "unknown"
_DIGITS = 9


class Cost(Struct, frozen=True):
    """Cost of some ended deliverables, in US dollars. None where nobody told a cost, or none with one was accepted.

    `deliverables` and `accepted` are how many there are, `costed` of how many a cost is known.
    """

    deliverables: int
    accepted: int
    costed: int
    cost_usd: float | None
    cost_per_accepted_usd: float | None


class ModelCost(Struct, frozen=True):
    """Cost of one agent's deliverables with one model: a deliverable of several models is one of each of them."""

    agent: str
    model: str
    cost: Cost


def cost_of(ended: Iterable[Deliverable]) -> Cost:
    """Cost of some deliverables that are over; those withdrawn left out."""
    return _cost([(each, None if each.tokens is None else each.tokens.cost_usd) for each in ended])


def uncosted(ended: Iterable[Deliverable]) -> Cost:
    """Cost of what nobody told a cost of: of a model that is named, where all was spent on others."""
    return _cost([(each, None) for each in ended])


def model_costs(ended: Iterable[Deliverable]) -> list[ModelCost]:
    """Costs by agent and model, by name: what each model cost is its own, and not that of the others beside it."""
    found: dict[tuple[str, str], list[_Spent]] = {}
    for each in ended:
        agent = each.agent.name if each.agent is not None and each.agent.name else UNKNOWN
        for model, spent in _by_model(each):
            found.setdefault((agent, model), []).append((each, spent))
    return [ModelCost(agent, model, _cost(some)) for (agent, model), some in sorted(found.items())]


def costs_by_model(ended: Iterable[Deliverable]) -> dict[str, Cost]:
    """The same by model alone."""
    found: dict[str, list[_Spent]] = {}
    for each in ended:
        for model, spent in _by_model(each):
            found.setdefault(model, []).append((each, spent))
    return {model: _cost(some) for model, some in sorted(found.items())}


_Spent = tuple[Deliverable, float | None]


def _by_model(each: Deliverable) -> Iterable[tuple[str, float | None]]:
    usual = each.agent.model if each.agent is not None and each.agent.model else UNKNOWN
    return each.model_costs.items() or [(usual, None)]


def _cost(some: Sequence[_Spent]) -> Cost:
    """Sum of what some deliverables cost, in all and per accepted one."""
    counting = [(each, spent) for each, spent in some if not each.withdrawn]
    known = [(each, spent) for each, spent in counting if spent is not None]
    total = round(sum(spent for _, spent in known), _DIGITS) if known else None
    delivered = sum(accepted(each) for each, _ in known)
    return Cost(
        deliverables=len(counting),
        accepted=sum(accepted(each) for each, _ in counting),
        costed=len(known),
        cost_usd=total,
        cost_per_accepted_usd=round(total / delivered, _DIGITS) if total is not None and delivered else None,
    )
