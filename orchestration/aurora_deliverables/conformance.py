"""Spec conformance score (quality): weighted sum of four dimensions, with penalties for violations and iterations
(AURA-M §2.5).
"""

from __future__ import annotations

from collections.abc import Sequence

from aurora_deliverables.deliverable import Conformance
from aurora_deliverables.events import Conformed, Criterion, SpecChecked, TestsRan

WEIGHTS = {"functional": 0.4, "correctness": 0.3, "constraints": 0.2, "iteration_penalty": 0.1}
PER_VIOLATION = 0.1
PER_ITERATION = 0.15
THRESHOLD = 0.70
"""Accepted below this, a deliverable has failed: the border of the lowest tier."""

_DIGITS = 9
"""What is exact on paper must not fall below a tier's border by a bit."""


class Measured:
    """Quality dimensions measured so far of one deliverable's conformance; of each dimension the latest word counts.

    A dimension can be told as a score or as the counts behind it. Correctness, where nobody told it, is the share of
    tests that passed when tests last ran (§2.5.1, "binary or scored by validation"). A penalty or an overall score that
    was told is kept as it was; of the overall one only until a dimension is told anew without it.

    What was found of the spec's requirements and constraints counts where nobody told these dimensions, and where it
    was found of all of them: a share of those that happen to be known would be another measure.
    """

    def __init__(self) -> None:
        self._completed: int | None = None
        self._total: int | None = None
        self._functional: float | None = None
        self._correctness: float | None = None
        self._tests: float | None = None
        self._constraints: float | None = None
        self._penalty: float | None = None
        self._overall: float | None = None
        self.criteria: tuple[Criterion, ...] | None = None
        """As the spec was looked at last; None where it never was."""

    def hear(self, what: Conformed) -> None:
        """Take in what was measured; what is None there stays as it was."""
        if what.functional is not None:
            self._functional, self._completed = what.functional, None
        elif what.completed_requirements is not None:
            self._functional, self._completed = None, what.completed_requirements
        if what.total_requirements is not None:
            self._total = what.total_requirements
        if what.correctness is not None:
            self._correctness = what.correctness
        if what.constraints is not None:
            self._constraints = what.constraints
        elif what.constraint_violations is not None:
            self._constraints = constraint_adherence(what.constraint_violations)
        if what.iteration_penalty is not None:
            self._penalty = what.iteration_penalty
        self._overall = what.overall

    def checked(self, what: SpecChecked) -> None:
        """Take in what the spec's requirements and constraints were found to be."""
        self.criteria = what.criteria

    def ran(self, what: TestsRan) -> None:
        """Take in a test run."""
        if what.passed is not None and what.failed is not None and what.passed + what.failed:
            self._tests = what.passed / (what.passed + what.failed)
        elif what.succeeded is not None:
            self._tests = float(what.succeeded)

    def score(self, requirements: int | None, iterations: int) -> Conformance | None:
        """The dimensions and their sum; None where nothing is known at all.

        `requirements` is how many the spec has, where no event counted them; `iterations` 0 where no apply was seen.
        """
        functional = self._functional
        total = self._total if self._total is not None else requirements
        if self._completed is not None and total:
            functional = min(1.0, self._completed / total)
        if functional is None and self.criteria is not None:
            functional = _share([each for each in self.criteria if each.kind == "requirement"])
        constraints = self._constraints
        if constraints is None and self.criteria is not None:
            constraints = _adherence([each for each in self.criteria if each.kind == "constraint"])
        correctness = self._correctness if self._correctness is not None else self._tests
        penalty = self._penalty
        if penalty is None and iterations:
            penalty = iteration_penalty(iterations)
        weighed = self._overall
        if weighed is None:
            weighed = overall(functional, correctness, constraints, penalty)
        scored = Conformance(functional, correctness, constraints, penalty, weighed)
        return scored if scored != Conformance() else None


def _share(requirements: Sequence[Criterion]) -> float | None:
    """Share of the requirements that are met (pass rate); None while one of them is unknown."""
    if not requirements or any(each.met is None for each in requirements):
        return None
    return sum(bool(each.met) for each in requirements) / len(requirements)


def _adherence(constraints: Sequence[Criterion]) -> float | None:
    """Of a spec that forbids nothing, nothing was violated."""
    if any(each.met is None for each in constraints):
        return None
    return constraint_adherence(sum(each.met is False for each in constraints))


def constraint_adherence(violations: int) -> float:
    """1 less a tenth for each violation, not below 0 (§2.5.1)."""
    return round(max(0.0, 1.0 - PER_VIOLATION * violations), _DIGITS)


def iteration_penalty(iterations: int) -> float:
    """1 less 0.15 for each apply cycle after the first, not below 0 (§2.5.1)."""
    return round(max(0.0, 1.0 - PER_ITERATION * (iterations - 1)), _DIGITS)


def overall(
    functional: float | None, correctness: float | None, constraints: float | None, penalty: float | None
) -> float | None:
    """Overall score, weighted average of the four; None unless all are known: a sum of fewer is another measure."""
    if functional is None or correctness is None or constraints is None or penalty is None:
        return None
    weights = WEIGHTS
    return round(
        weights["functional"] * functional
        + weights["correctness"] * correctness
        + weights["constraints"] * constraints
        + weights["iteration_penalty"] * penalty,
        _DIGITS,
    )
