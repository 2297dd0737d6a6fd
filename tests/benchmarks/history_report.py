"""Report of a history by the second calculation (percentiles, weekly series): the figures that `aurora metrics` prints,
by the same names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from tests.benchmarks.history_model import Life

DAY = 86_400.0
WEEKS = 12
POINTS = 8
FEW = 5
TIERS = ("elite", "high", "medium", "low")
BORDERS: Mapping[str, tuple[bool, tuple[float, float, float]]] = {
    "feature_throughput": (True, (3, 1, 1 / 7)),
    "resolution_latency": (False, (3600, 14_400, 86_400)),
    "deliverable_failure_rate": (False, (5, 10, 15)),
    "recovery_efficiency": (False, (5, 10, 20)),
    "spec_conformance": (True, (0.95, 0.85, 0.70)),
}
"""By metric: whether more is better, and where each tier but the last ends (AURA-M §8)."""

PLANNED = ("propose", "specs", "design", "tasks", "apply", "verify", "archive")
Figures = dict[str, Any]


def tier(metric: str, value: float | None) -> str | None:
    if value is None:
        return None
    more, borders = BORDERS[metric]
    value = round(value, 9)
    for name, border in zip(TIERS, borders, strict=False):
        if value >= round(border, 9) if more else value < border:
            return name
    return TIERS[-1]


def p90(values: Iterable[float]) -> float | None:
    ordered = sorted(values)
    if not ordered:
        return None
    place = 0.9 * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def share(part: float, whole: float) -> float | None:
    return 100 * part / whole if whole else None


def five(everything: Sequence[Life], members: Sequence[Life], days: float) -> dict[str, float | None]:
    """The five metrics: throughput of all that ended in the days, the rest of the window's members."""
    accepted = [each for each in members if each.accepted]
    worked = [each for each in members if each.knows_rework]
    scores = [each.overall for each in members if each.end["status"] == "completed" and each.overall is not None]
    recovery = share(sum(each.rework for each in worked), sum(each.effort for each in worked))
    if recovery is None:
        recovery = share(sum(each.rework_calls for each in worked), sum(sum(each.calls.values()) for each in worked))
    return {
        "feature_throughput": sum(each.accepted for each in everything) / max(1.0, days) if everything else None,
        "resolution_latency": median(each.latency for each in accepted) if accepted else None,
        "deliverable_failure_rate": share(sum(each.failed for each in members), len(members)),
        "recovery_efficiency": recovery,
        "spec_conformance": fmean(scores) if scores else None,
    }


def basis(members: Sequence[Life]) -> dict[str, int]:
    """Of how many deliverables each metric is."""
    return {
        "resolution_latency": sum(each.accepted for each in members),
        "deliverable_failure_rate": len(members),
        "recovery_efficiency": sum(each.knows_rework and bool(each.effort or each.calls) for each in members),
        "spec_conformance": sum(each.end["status"] == "completed" and each.overall is not None for each in members),
    }


class Report:
    """The figures of a history as of `now`, over `days` and at most `count` deliverables."""

    def __init__(self, lived: Sequence[Life], now: float, days: float, count: int) -> None:
        self.now, self.days, self.count = now, days, count
        self.changes = [each for each in lived if each.kind == "change"]
        self.runs = [each for each in lived if each.kind == "run"]
        ended = [each for each in self.changes if each.ended is not None]
        self.over = sorted((each for each in ended if not each.withdrawn), key=lambda each: each.ended or 0)
        self.given_back = [each for each in ended if each.withdrawn]

    def within(self, back: float, until: float, lived: Sequence[Life] | None = None) -> list[Life]:
        chosen = self.over if lived is None else lived
        return [each for each in chosen if each.ended is not None and until - back < each.ended <= until]

    def stretch(self, until: float) -> tuple[list[Life], list[Life]]:
        everything = self.within(self.days * DAY, until)
        return everything, everything[-self.count :]

    def figures(self) -> Figures:
        """All figures, each under the path it has in `aurora metrics --json`."""
        everything, members = self.stretch(self.now)
        before, members_before = self.stretch(self.now - self.days * DAY)
        found: Figures = {"window.deliverables": len(members), "previous.deliverables": len(members_before)}
        limited = len(everything) > len(members)
        found["window.limited_by"] = "deliverables" if limited else "days"
        start = everything[-len(members) - 1].ended if limited else self.now - self.days * DAY
        found["window.from"], found["window.to"] = start, self.now
        values, values_before = five(everything, members, self.days), five(before, members_before, self.days)
        counts = {**basis(members), "feature_throughput": len(everything)}
        counts_before = {**basis(members_before), "feature_throughput": len(before)}
        for name, value in values.items():
            old = values_before[name]
            change = None if value is None or old is None else value - old
            more, _ = BORDERS[name]
            small = change is not None and min(counts[name], counts_before[name]) < FEW
            found |= {
                f"metrics.{name}.value": value,
                f"metrics.{name}.tier": tier(name, value),
                f"metrics.{name}.previous": old,
                f"metrics.{name}.previous_tier": tier(name, old),
                f"metrics.{name}.change": change,
                f"metrics.{name}.better": None if not change or abs(change) < 1e-9 else (change > 0) == more,
                f"metrics.{name}.n": counts[name],
                f"metrics.{name}.measured": counts[name],
                f"metrics.{name}.previous_n": counts_before[name],
                f"metrics.{name}.hint": small,
            }
            for point in range(POINTS):
                then = five(*self.stretch(self.now - (POINTS - 1 - point) * self.days * DAY), self.days)
                found[f"metrics.{name}.history.{point}"] = then[name]
        return found | self.beside(members) | self.spent(members) | self.weeks() | self.questions()

    def beside(self, members: Sequence[Life]) -> Figures:
        """What stands beside the five (`supporting`)."""
        accepted = [each for each in members if each.accepted]
        failed = [each for each in members if each.failed]
        worked = [each for each in members if each.knows_rework]
        gone = self.within(self.days * DAY, self.now, self.given_back)
        types: dict[str, int] = {}
        for each in failed:
            kind = each.end.get("failure_type") or "unclassified"
            types[kind] = types.get(kind, 0) + 1
        latencies = [each.latency for each in accepted]
        net = [each.net_latency for each in accepted if each.net_latency is not None]
        found: Figures = {
            "accepted": len(accepted),
            "failed": len(failed),
            "withdrawn": len(gone),
            "latency_mean": fmean(latencies) if latencies else None,
            "latency_p90": p90(latencies),
            "latency_without_wait": median(net) if net else None,
            "human_wait_seconds": total(each.waited for each in members),
            "human_interventions": total(each.interventions for each in members),
            "recovery_by_time": share(sum(each.rework for each in worked), sum(each.effort for each in worked)),
            "recovery_by_tool_calls": share(
                sum(each.rework_calls for each in worked), sum(sum(each.calls.values()) for each in worked)
            ),
            "recovery_attempts": sum(each.recoveries for each in members),
            "apply_iterations": fmean(known) if (known := [each.applies for each in members if each.applies]) else None,
            "input_tokens": total(each.input_tokens for each in members),
            "output_tokens": total(each.output_tokens for each in members),
            "total_tokens": total(total((each.input_tokens, each.output_tokens)) for each in members),
            "cost_usd": total(each.cost for each in members),
            "tool_calls": dict(sum((Counter(each.calls) for each in members), Counter())),
            "tool_calls_total": sum(sum(each.calls.values()) for each in members),
            "failure_types": types,
        }
        for phase in PLANNED:
            stays = [[stay.seconds for stay in each.stays if stay.phase == phase] for each in members]
            known_stays = [sum(each) for each in stays if each]
            found[f"phase_seconds.{phase}"] = fmean(known_stays) if known_stays else None
        return {f"supporting.{name}": value for name, value in found.items()}

    def spent(self, members: Sequence[Life]) -> Figures:
        """Costs, and groups (`cost`, `costs`, `groups`)."""
        found = {f"cost.{name}": value for name, value in cost_of(members).items()}
        rows: dict[tuple[str, str], list[tuple[Life, float | None]]] = {}
        for each in members:
            agent = each.facts.get("agent", "unknown")
            for model, spent in models_of(each).items():
                rows.setdefault((agent, model), []).append((each, spent))
        for (agent, model), row in rows.items():
            told = cost_of([each for each, _ in row], [spent for _, spent in row])
            found |= {f"costs.{agent}/{model}.{name}": value for name, value in told.items()}
        return found

    def groups(self, by: str) -> Figures:
        """The five by group (`--by`)."""
        everything, members = self.stretch(self.now)
        found: Figures = {}
        rows: dict[str, list[tuple[Life, float | None]]] = {}
        for each in members:
            for model, spent in models_of(each).items():
                rows.setdefault(model, []).append((each, spent))
        by_model = {
            model: cost_of([each for each, _ in row], [spent for _, spent in row]) for model, row in rows.items()
        }

        def belongs(each: Life) -> str:
            return each.model if by == "model" else str(each.facts.get(by, "unknown"))

        for name in {belongs(each) for each in everything}:
            mine = [each for each in members if belongs(each) == name]
            every = [each for each in everything if belongs(each) == name]
            values = five(every, mine, self.days)
            found[f"groups.{name}.deliverables"] = len(every)
            if mine:
                untold = cost_of(mine, [None] * len(mine)) if by == "model" else cost_of(mine)
                told = by_model.get(name, untold) if by == "model" else untold
                found |= {f"groups.{name}.cost.{key}": value for key, value in told.items()}
            for metric, value in values.items():
                found[f"groups.{name}.{metric}.value"] = value
                found[f"groups.{name}.{metric}.tier"] = tier(metric, value)
        return found

    def weeks(self) -> Figures:
        """The weekly series of all five, the median and the 90th percentile of latencies."""
        found: Figures = {}
        for week in range(WEEKS):
            until = self.now - (WEEKS - 1 - week) * 7 * DAY
            members = self.within(7 * DAY, until)
            found[f"weekly.{week}.deliverables"] = len(members)
            for name, value in five(members, members, 7.0).items():
                found[f"weekly.{week}.{name}.value"] = value
                found[f"weekly.{week}.{name}.tier"] = tier(name, value)
            latencies = [each.latency for each in members if each.accepted]
            found[f"weekly.{week}.median"] = median(latencies) if latencies else None
            found[f"weekly.{week}.p90"] = p90(latencies)
        return found

    def questions(self) -> Figures:
        """Questions, which are no deliverables, and what is open."""
        asked = self.within(self.days * DAY, self.now, self.runs)
        return {
            "runs.count": len(asked),
            "runs.answered": sum(each.end["status"] == "completed" for each in asked),
            "runs.failed": sum(each.end["status"] == "failed" for each in asked),
            "runs.cost_usd": total(each.cost for each in asked),
            "in_progress": sum(each.ended is None for each in self.changes),
        }


def total(amounts: Iterable[float | None]) -> float | None:
    known = [each for each in amounts if each is not None]
    return sum(known) if known else None


def models_of(life: Life) -> dict[str, float | None]:
    """What was spent on each model; one of which nobody told a cost is of its agent's model alone."""
    usual = life.model
    if not life.by_model:
        return {usual: None}
    found: dict[str, float | None] = {}
    for model, spent in life.by_model.items():
        found[model or usual] = (found.get(model or usual) or 0.0) + spent
    return found


def cost_of(members: Sequence[Life], spent: Sequence[float | None] | None = None) -> Figures:
    amounts = [each.cost for each in members] if spent is None else spent
    known = [(each, amount) for each, amount in zip(members, amounts, strict=True) if amount is not None]
    paid = sum(amount for _, amount in known) if known else None
    good = sum(each.accepted for each, _ in known)
    return {
        "deliverables": len(members),
        "accepted": sum(each.accepted for each in members),
        "costed": len(known),
        "cost_usd": paid,
        "cost_per_accepted_usd": paid / good if paid is not None and good else None,
    }
