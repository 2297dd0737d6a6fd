"""Secondary metrics: what stands beside the five metrics: effort, rework, tools, phases, failures (AURA-M §2 notes,
§4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean, median

from msgspec import Struct

from aurora_deliverables.choices import PHASES
from aurora_deliverables.deliverable import Deliverable, together


class Supporting(Struct, frozen=True):
    """Secondary metrics of the ended deliverables of a window. None where nothing tells it.

    `latency_*` are of accepted ones, in seconds; `latency_without_wait` (a median) is of those whose waiting for people
    is known. `recovery_*` are percentages of all time and of all tool calls. `phase_seconds` are means over those that
    had the phase.
    `recovery_by_time` is of effort: of the time in phases, so that a night between two of them is none.
    """

    accepted: int
    failed: int
    withdrawn: int
    """Closed as duplicates or not planned: in none of the five."""
    latency_mean: float | None
    latency_p90: float | None
    latency_without_wait: float | None
    human_wait_seconds: float | None
    human_interventions: int | None
    recovery_by_time: float | None
    recovery_by_tool_calls: float | None
    recovery_attempts: int
    apply_iterations: float | None
    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    cost_usd: float | None
    tool_calls: dict[str, int]
    tool_calls_total: int
    phase_seconds: dict[str, float]
    failure_types: dict[str, int]
    """`unclassified` counts failures of which no type was told."""


def accepted(deliverable: Deliverable) -> bool:
    """Completed and not failed: what throughput and latency count (AURA-M §2.1, §2.2)."""
    return deliverable.status == "completed" and not deliverable.deliverable_failed and not deliverable.withdrawn


def latency(deliverable: Deliverable) -> float:
    """Lead time in seconds, from the spec to the end, people's reviews included (AURA-M §2.2); 0 while it lasts."""
    return 0.0 if deliverable.completed_at is None else deliverable.completed_at - deliverable.started_at


def latency_without_wait(deliverable: Deliverable) -> float | None:
    """The same less the time it stood still for people; None where nobody told how long that was."""
    waited = deliverable.human_wait_seconds
    if waited is None:
        return latency(deliverable) if deliverable.human_interventions == 0 else None
    return max(0.0, latency(deliverable) - waited)


def p90(values: Sequence[float]) -> float | None:
    """90th percentile (quantile): what nine of ten values do not exceed (linear between neighbours); None of none."""
    if not values:
        return None
    ranked = sorted(values)
    place = 0.9 * (len(ranked) - 1)
    low = int(place)
    high = min(low + 1, len(ranked) - 1)
    return ranked[low] + (ranked[high] - ranked[low]) * (place - low)


def effort(deliverable: Deliverable) -> float:
    """Seconds in phases: what rework is a share of (AURA-M §2.4)."""
    return sum(phase_seconds(deliverable).values())


def phase_seconds(deliverable: Deliverable) -> dict[str, float]:
    """Seconds in each phase that it had, repeats added up, by canonical order; a phase under way counts until now."""
    seconds: dict[str, float] = {}
    for span in deliverable.spans:
        until = deliverable.updated_at if span.completed_at is None else span.completed_at
        seconds[span.phase] = seconds.get(span.phase, 0.0) + until - span.started_at
    return {phase: seconds[phase] for phase in PHASES if phase in seconds}


def rework_is_known(deliverable: Deliverable) -> bool:
    """Whether anything tells how much was done over: without an apply phase, or times of what was, nothing does."""
    if deliverable.recovery_seconds is None or deliverable.recovery_tool_calls is None:
        return False
    return deliverable.recovery_attempts > 0 or any(span.phase == "apply" for span in deliverable.spans)


def supporting(ended: Sequence[Deliverable]) -> Supporting:
    """Add up some deliverables that are over."""
    withdrawn = sum(each.withdrawn for each in ended)
    ended = [each for each in ended if not each.withdrawn]
    delivered = [each for each in ended if accepted(each)]
    failed = [each for each in ended if each.deliverable_failed]
    free = [seconds for each in delivered if (seconds := latency_without_wait(each)) is not None]
    told = [each for each in ended if rework_is_known(each)]
    tools: Counter[str] = Counter()
    for each in ended:
        tools.update(each.tool_calls)
    calls = sum(sum(each.tool_calls.values()) for each in told)
    in_phase: dict[str, list[float]] = {}
    for each in ended:
        for phase, spent in phase_seconds(each).items():
            in_phase.setdefault(phase, []).append(spent)
    tokens = [each.tokens for each in ended if each.tokens is not None]
    costs = [each.cost_usd for each in tokens if each.cost_usd is not None]
    waits = [each.human_wait_seconds for each in ended if each.human_wait_seconds is not None]
    interventions = [each.human_interventions for each in ended if each.human_interventions is not None]
    iterations = [each.apply_iterations for each in ended if each.apply_iterations]
    return Supporting(
        accepted=len(delivered),
        failed=len(failed),
        withdrawn=withdrawn,
        latency_mean=fmean(map(latency, delivered)) if delivered else None,
        latency_p90=p90([latency(each) for each in delivered]),
        latency_without_wait=median(free) if free else None,
        human_wait_seconds=sum(waits) if waits else None,
        human_interventions=sum(interventions) if interventions else None,
        recovery_by_time=_percent(sum(map(_rework, told)), sum(map(effort, told))),
        recovery_by_tool_calls=_percent(sum(each.recovery_tool_calls or 0 for each in told), calls),
        recovery_attempts=sum(each.recovery_attempts for each in ended),
        apply_iterations=fmean(iterations) if iterations else None,
        input_tokens=together(*(each.input_tokens for each in tokens)),
        output_tokens=together(*(each.output_tokens for each in tokens)),
        total_tokens=together(*(each.total_tokens for each in tokens)),
        cost_usd=sum(costs) if costs else None,
        tool_calls=dict(tools.most_common()),
        tool_calls_total=tools.total(),
        phase_seconds={phase: fmean(in_phase[phase]) for phase in PHASES if phase in in_phase},
        failure_types=dict(Counter(each.failure_type or "unclassified" for each in failed).most_common()),
    )


def _rework(deliverable: Deliverable) -> float:
    """Seconds of rework: no more than there was effort, as several at once are told one by one."""
    return min(deliverable.recovery_seconds or 0.0, effort(deliverable))


def _percent(part: float, whole: float) -> float | None:
    return 100 * part / whole if whole > 0 else None
