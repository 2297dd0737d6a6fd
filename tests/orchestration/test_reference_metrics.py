"""The five metrics of 300 random histories against a second calculation, as plain as AURA-M §2 words it.

A history is made as a script of what was done and for how long. The reference works on the script; the metrics work on
the events that tell it, heard in any order.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from aurora_deliverables.choices import FailureType, Outcome, Phase
from aurora_deliverables.events import (
    Conformed,
    Criterion,
    Ended,
    Event,
    EventBody,
    PhaseEnded,
    PhaseStarted,
    SpecChecked,
    Started,
    TestsRan,
    TokensUsed,
    ToolCalled,
)
from aurora_deliverables.metrics import DAY, measure
from aurora_deliverables.reducer import fold

NOW = 1_790_000_000.0
HISTORIES = 300


@dataclass
class Cycle:
    """An apply and its verify, in seconds; the test runs at its end as (passed, failed)."""

    apply: int
    verify: int
    runs: list[tuple[int, int]]
    calls: int


@dataclass
class Script:
    """What was done on one change."""

    name: str
    begin: float
    planning: list[tuple[Phase, int]]
    cycles: list[Cycle]
    pause: int
    outcome: Outcome | None
    failure: FailureType | None = None
    withdrawn: bool = False
    is_run: bool = False
    functional: float | None = None
    correctness: float | None = None
    violations: int | None = None
    criteria: list[tuple[bool, bool | None]] | None = None
    cost: float | None = None
    events: list[Event] = field(default_factory=list)

    @property
    def end(self) -> float:
        worked = sum(seconds for _, seconds in self.planning) + sum(each.apply + each.verify for each in self.cycles)
        return self.begin + worked + self.pause


def script(chance: random.Random, number: int) -> Script:
    """A change that is made up."""
    unknown = chance.random() < 0.4
    made = Script(
        name=f"change-{number}",
        begin=NOW - chance.uniform(0, 20) * DAY - 50_000,
        planning=[(phase, chance.randint(1, 5000)) for phase in ("propose", "tasks") if chance.random() < 0.7],
        cycles=[
            Cycle(
                chance.randint(1, 9000),
                chance.randint(1, 900),
                [(chance.randint(0, 9), chance.choice([0, 0, 0, 1, 4])) for _ in range(chance.randint(0, 2))],
                chance.randint(0, 5),
            )
            for _ in range(chance.choice([0, 1, 1, 1, 2, 3, 9]))
        ],
        pause=chance.randint(0, 5000),
        outcome=chance.choice(["completed", "completed", "completed", "failed", None]),
        is_run=chance.random() < 0.1,
        functional=None if unknown else chance.choice([0.0, 0.5, 1.0, 1.0]),
        correctness=None if unknown or chance.random() < 0.5 else chance.choice([0.0, 0.5, 1.0]),
        violations=None if unknown else chance.choice([0, 0, 0, 1, 3, 11]),
        cost=chance.choice([None, 0.5, 2.0]),
    )
    if unknown and chance.random() < 0.7:
        verdicts = [True, True, False] if chance.random() < 0.8 else [True, None]
        made.criteria = [(chance.random() < 0.7, chance.choice(verdicts)) for _ in range(chance.randint(0, 6))]
    if made.outcome == "failed":
        made.withdrawn = chance.random() < 0.2
        made.failure = None if made.withdrawn else chance.choice([None, "incomplete", "regression"])
    return made


def told(made: Script) -> list[Event]:
    """The events of a script."""
    found: list[tuple[float, EventBody]] = [(made.begin, Started(kind="run" if made.is_run else "change"))]
    at = made.begin
    for phase, seconds in made.planning:
        found.append((at, PhaseStarted(phase)))
        at += seconds
    for cycle in made.cycles:
        found.append((at, PhaseStarted("apply")))
        found += [(at + 0.5, ToolCalled("Edit"))] * cycle.calls
        at += cycle.apply
        found.append((at, PhaseStarted("verify")))
        found += [(at + 0.1 * (n + 1), TestsRan(*run)) for n, run in enumerate(cycle.runs)]
        at += cycle.verify
    if made.cycles or made.planning:
        # The pause is nobody's effort.
        last: Phase = "verify" if made.cycles else made.planning[-1][0]
        found.append((at, PhaseEnded(last)))
    scores = Conformed(functional=made.functional, correctness=made.correctness, constraint_violations=made.violations)
    if scores != Conformed():
        found.append((made.begin + 0.25, scores))
    if made.criteria is not None:
        criteria = [
            Criterion("requirement" if wanted else "constraint", f"c-{n}", met)
            for n, (wanted, met) in enumerate(made.criteria)
        ]
        found.append((made.begin + 0.25, SpecChecked(tuple(criteria))))
    if made.cost is not None:
        found.append((made.begin + 0.25, TokensUsed(cost_usd=made.cost)))
    if made.outcome is not None:
        found.append((made.end, Ended(made.outcome, made.failure, withdrawn=made.withdrawn)))
    return [Event(f"{made.name}-{n}", made.name, at, what) for n, (at, what) in enumerate(found)]


def overall(made: Script) -> float | None:
    """AURA-M §2.5: 0.4 functional, 0.3 correctness, 0.2 constraints, 0.1 iterations; unknown where one is."""
    functional, correctness = made.functional, made.correctness
    constraints = None if made.violations is None else max(0.0, 1 - 0.1 * made.violations)
    wanted = [met for is_wanted, met in made.criteria or [] if is_wanted]
    forbidden = [met for is_wanted, met in made.criteria or [] if not is_wanted]
    if functional is None and wanted and None not in wanted:
        functional = wanted.count(True) / len(wanted)
    if constraints is None and made.criteria is not None and None not in forbidden:
        constraints = max(0.0, 1 - 0.1 * forbidden.count(False))
    runs = [run for cycle in made.cycles for run in cycle.runs if sum(run)]
    if correctness is None and runs:
        correctness = runs[-1][0] / sum(runs[-1])
    if functional is None or correctness is None or constraints is None or not made.cycles:
        return None
    penalty = max(0.0, 1 - 0.15 * (len(made.cycles) - 1))
    return 0.4 * functional + 0.3 * correctness + 0.2 * constraints + 0.1 * penalty


def is_failed(made: Script) -> bool:
    """AURA-M §2.3: abandoned, or accepted below the threshold."""
    score = overall(made)
    return made.outcome == "failed" or (score is not None and score < 0.7 - 1e-9)


def rework(made: Script) -> int:
    """AURA-M §1, §2.4: the applies that follow a verification that failed, whose last word was not that it passed."""
    seconds = 0
    for before, cycle in zip(made.cycles, made.cycles[1:], strict=False):
        state = False
        for passed, failed in before.runs:
            state = True if failed else False if passed else state
        seconds += cycle.apply if state else 0
    return seconds


def reference(scripts: list[Script], days: float, count: int) -> dict[str, float | None]:
    """The five, as plainly as they can be said."""
    over = [each for each in scripts if each.outcome and not each.is_run and not each.withdrawn]
    within = sorted(
        (each for each in over if NOW - days * DAY < each.end <= NOW), key=lambda each: (each.end, each.name)
    )
    members = within[-count:]
    good = [each for each in members if not is_failed(each)]
    latencies = sorted(each.end - each.begin for each in good)
    half = len(latencies) // 2
    middle = (latencies[half] if len(latencies) % 2 else sum(latencies[half - 1 : half + 1]) / 2) if latencies else None
    worked = [each for each in members if each.cycles]
    effort = sum(sum(s for _, s in each.planning) + sum(c.apply + c.verify for c in each.cycles) for each in worked)
    scores = [score for each in members if each.outcome == "completed" and (score := overall(each)) is not None]
    return {
        "feature_throughput": sum(not is_failed(each) for each in within) / max(1.0, days) if within else None,
        "resolution_latency": middle,
        "deliverable_failure_rate": 100 * sum(map(is_failed, members)) / len(members) if members else None,
        "recovery_efficiency": 100 * sum(map(rework, worked)) / effort if effort else None,
        "spec_conformance": sum(scores) / len(scores) if scores else None,
    }


@pytest.mark.parametrize("part", range(6))
def test_random_histories_measure_as_the_reference_does(part: int) -> None:
    known = 0
    for seed in range(part, HISTORIES, 6):
        chance = random.Random(seed)
        scripts = [script(chance, number) for number in range(chance.choice([0, 1, 3, 8, 30]))]
        days, count = chance.choice([0.5, 1.0, 7.0, 30.0]), chance.choice([1, 5, 20])
        deliverables = []
        for each in scripts:
            events = told(each)
            chance.shuffle(events)
            found = fold(events)
            assert found is not None
            deliverables.append(found)
        measured = measure(deliverables, NOW, days, count)
        wanted = reference(scripts, days, count)
        for name in wanted:
            value = getattr(measured.metrics, name).value
            expected = wanted[name]
            assert (value is None) == (expected is None), (seed, name, value, expected)
            if expected is not None:
                assert value == pytest.approx(expected, rel=1e-7, abs=1e-7), (seed, name)
                known += 1
        spent = sum(each.cost or 0 for each in _members(scripts, days, count))
        assert (measured.cost.cost_usd or 0) == pytest.approx(spent), seed
    assert known > 50, "histories that measure nothing show nothing"


def _members(scripts: list[Script], days: float, count: int) -> list[Script]:
    over = [each for each in scripts if each.outcome and not each.is_run and not each.withdrawn]
    within = [each for each in over if NOW - days * DAY < each.end <= NOW]
    return sorted(within, key=lambda each: (each.end, each.name))[-count:]
