"""Token budget (context window) of a recall: filled (packed) with the best mix of whole chunks and excerpts, within a
limit of tokens. Pure.

A knapsack whose items come in two sizes. Greedy by usefulness per token, compared with simpler plans so that one large
chunk is not lost to many small ones; what is chosen is worth at least half of the best that could be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

EXCERPT_WORTH = 0.7
"""Share of the whole's worth that an excerpt has."""

SHARES = {"reas": 0.25, "know": 0.5}
"""Shares of a budget that earlier solutions and documents may take beside others: code is what a context is for."""

Form = Literal["whole", "excerpt"]
Plan = dict[int, Form]


class KnapsackItem(Struct, frozen=True):
    """Item of the knapsack: score of a hit and tokens of each form of it; `excerpt` is None where there is none."""

    score: float
    whole: int
    excerpt: int | None = None

    def tokens(self, form: Form) -> int:
        """Tokens that a form costs."""
        return self.excerpt if form == "excerpt" and self.excerpt is not None else self.whole

    def worth(self, form: Form) -> float:
        """Worth of a form."""
        return self.score if form == "whole" else EXCERPT_WORTH * self.score


class _Step(Struct, frozen=True):
    """Step from a form (or nothing) of an offer to a better one."""

    place: int
    before: Form | None
    after: Form
    cost: int
    gain: float


def fill_token_budget(offers: Sequence[KnapsackItem], budget: int, limit: int | None = None) -> Plan:
    """Plan of a recall for a token budget: the form in which each hit (best first) is delivered, by its place.

    Never more than `budget` tokens together, nor more than `limit` offers. The best offer of which any form fits is
    always among them. An excerpt that costs as much as the whole is never delivered: it is worth less.
    """
    first = next((place for place, offer in enumerate(offers) if _fitting(offer, budget)), None)
    if first is None or limit == 0:
        return {}
    most = len(offers) if limit is None else limit
    plans = [
        _greedy(offers, {first: form}, budget, most, among)
        for form in _fitting(offers[first], budget)
        for among in {most, len(offers)}
    ]
    plans.append(_in_order(offers, budget, most))
    if offers[first].whole <= budget:
        plans.append(_greedy(offers, _whole_in_order(offers, budget, most), budget, most, len(offers)))
    plans += _with_one_more(offers, first, budget, most)
    return max(plans, key=lambda plan: _worth(offers, plan))


def within_shares(types: Sequence[str], offers: Sequence[KnapsackItem], budget: int) -> list[KnapsackItem]:
    """The offers, those beyond their type's share of the budget made too large to fit. A type alone may take it all.

    Within its share the most useful mix of a type is chosen, each in the form that it has there.
    """
    if len(set(types)) < 2:
        return list(offers)
    found = list(offers)
    for type_, share in SHARES.items():
        own = [place for place, each in enumerate(types) if each == type_]
        plan = fill_token_budget([offers[place] for place in own], int(budget * share))
        for n, place in enumerate(own):
            form = plan.get(n)
            if form != "whole":
                excerpt = offers[place].excerpt if form == "excerpt" else None
                found[place] = KnapsackItem(offers[place].score, budget + 1, excerpt)
    return found


def _fitting(offer: KnapsackItem, budget: int) -> list[Form]:
    forms: list[Form] = ["whole"] if offer.excerpt is None else ["excerpt", "whole"]
    return [form for form in forms if offer.tokens(form) <= budget]


def _greedy(offers: Sequence[KnapsackItem], plan: Plan, budget: int, limit: int, among: int) -> Plan:
    """Greedy packing: take the steps that gain most per token, of the first `among` offers, as long as they fit."""
    plan = dict(plan)
    left = budget - sum(offers[place].tokens(form) for place, form in plan.items())
    steps = [step for place, offer in enumerate(offers[:among]) for step in _steps(place, offer, plan.get(place))]
    steps.sort(key=lambda step: (-step.gain / max(step.cost, 1), step.place))
    for step in [*steps, *_jumps(offers[:among])]:
        held = plan.get(step.place)
        if held == step.before and step.cost <= left and (held is not None or len(plan) < limit):
            plan[step.place] = step.after
            left -= step.cost
    return plan


def _steps(place: int, offer: KnapsackItem, held: Form | None) -> Iterator[_Step]:
    """The steps from what is held on; an excerpt only where it gains more per token than the whole."""
    whole, excerpt = offer.whole, offer.excerpt
    if held == "whole":
        return
    if excerpt is None or (held is None and EXCERPT_WORTH * whole <= excerpt):
        yield _Step(place, None, "whole", whole, offer.score)
        return
    if held is None:
        yield _Step(place, None, "excerpt", excerpt, offer.worth("excerpt"))
    yield _Step(place, "excerpt", "whole", whole - excerpt, offer.score - offer.worth("excerpt"))


def _jumps(offers: Sequence[KnapsackItem]) -> Iterator[_Step]:
    """A last look: what was left out because its better form did not fit."""
    for place, offer in enumerate(offers):
        if offer.excerpt is not None:
            yield _Step(place, None, "excerpt", offer.excerpt, offer.worth("excerpt"))


def _in_order(offers: Sequence[KnapsackItem], budget: int, limit: int) -> Plan:
    """The best first, each whole if it fits, else as an excerpt."""
    plan: Plan = {}
    for place, offer in enumerate(offers):
        forms = _fitting(offer, budget)
        if forms and len(plan) < limit:
            plan[place] = forms[-1]
            budget -= offer.tokens(forms[-1])
    return plan


def _whole_in_order(offers: Sequence[KnapsackItem], budget: int, limit: int) -> Plan:
    """The best first, each whole or not at all."""
    plan: Plan = {}
    for place, offer in enumerate(offers):
        if offer.whole <= budget and len(plan) < limit:
            plan[place] = "whole"
            budget -= offer.whole
    return plan


def _with_one_more(offers: Sequence[KnapsackItem], first: int, budget: int, limit: int) -> Iterator[Plan]:
    """The best offer in its smallest form, and with it the other that is worth most."""
    start = _fitting(offers[first], budget)[0]
    left = budget - offers[first].tokens(start)
    others = [
        (offer.worth(form), place, form)
        for place, offer in enumerate(offers)
        for form in _fitting(offer, left)
        if place != first
    ]
    if others and limit > 1:
        _, place, form = max(others, key=lambda other: (other[0], -other[1]))
        yield _greedy(offers, {first: start, place: form}, budget, limit, len(offers))


def _worth(offers: Sequence[KnapsackItem], plan: Plan) -> float:
    return sum(offers[place].worth(form) for place, form in plan.items())
