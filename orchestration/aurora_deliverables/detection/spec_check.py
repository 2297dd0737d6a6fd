"""Check of a spec: which of its requirements are met and which of its constraints are kept, by tests that are named
after them and by tasks that are checked. What neither tells stays unknown (AURA-M §2.5.1).

Tests tell more than tasks: one that failed is not made good by a box. A test tells only where its outcome is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from aurora_deliverables.detection.names_in_tests import TestTitle, names, names_constraint, words
from aurora_deliverables.detection.spec_criteria import Constraint, Requirement, SpecCriteria
from aurora_deliverables.events import MAX_CRITERIA, Criterion, SpecChecked
from aurora_deliverables.evidence import shown

Source = Literal["test", "task"]
Known = Mapping[tuple[str, str], Criterion]


class _Named(Struct, frozen=True):
    """A test or a task by the words of its title; `passed` None where nobody knows how it went."""

    words: tuple[str, ...]
    place: str
    passed: bool | None


def check(spec: SpecCriteria, tests: Sequence[TestTitle], before: Known) -> SpecChecked:
    """What is found of a spec's criteria. `before` is what tests told earlier, where they still hold."""
    ran = [_Named(words(each.title), each.place, each.passed) for each in tests]
    tasks = [_Named(words(each.text), f"{each.path}:{each.line} is", each.checked) for each in spec.tasks]
    done = None
    if tasks and all(each.passed for each in tasks):
        done = f"all {len(tasks)} tasks of {spec.tasks[0].path} are checked"
    found: list[Criterion] = []
    met: dict[str, Criterion] = {}
    for requirement in spec.requirements:
        told = _requirement(requirement, ran, tasks, done, before)
        met.setdefault(requirement.name, told)
        found.append(told)
    found += [_constraint(each, ran, tasks, met, before) for each in spec.constraints]
    return SpecChecked(tuple({(each.kind, each.name): each for each in found}.values())[:MAX_CRITERIA])


def told_by_tests(before: SpecChecked | None) -> Known:
    """What tests told of a spec's criteria."""
    criteria = before.criteria if before is not None else ()
    return {(each.kind, each.name): each for each in criteria if each.by == "test"}


def _requirement(
    wanted: Requirement, ran: Sequence[_Named], tasks: Sequence[_Named], done: str | None, before: Known
) -> Criterion:
    stands = f"{wanted.path}:{wanted.line}"
    name = words(wanted.name)
    scenarios = [words(each) for each in wanted.scenarios]

    def told(met: bool | None, by: Source | None, why: str) -> Criterion:
        return Criterion("requirement", wanted.name, met, by, shown(f"{stands}; {why}"))

    if not wanted.removed:
        direct = [each for each in ran if names(each.words, name)]
        of_scenarios = [[each for each in ran if names(each.words, scenario)] for scenario in scenarios]
        every = [*direct, *(each for some in of_scenarios for each in some)]
        failed = next((each for each in every if each.passed is False), None)
        if failed is not None:
            return told(False, "test", f"{failed.place} failed")
        passed = next((each for each in direct if each.passed), None)
        if passed is not None:
            return told(True, "test", f"{passed.place} passed")
        shown_by = [next((each for each in some if each.passed), None) for some in of_scenarios]
        if shown_by and all(shown_by):
            places = ", ".join(each.place for each in shown_by if each is not None)
            return told(True, "test", f"{places} passed")
        if not any(each.passed is not None for each in every) and ("requirement", wanted.name) in before:
            return before["requirement", wanted.name]
    named = [each for each in tasks if any(names(each.words, one) for one in (name, *scenarios))]
    left = next((each for each in named if not each.passed), None)
    if left is not None:
        return told(False, "task", f"{left.place} open")
    if named:
        return told(True, "task", f"{named[0].place} checked")
    if done is not None:
        return told(True, "task", done)
    return told(None, None, "no test and no task names it")


def _constraint(
    wanted: Constraint,
    ran: Sequence[_Named],
    tasks: Sequence[_Named],
    met: Mapping[str, Criterion],
    before: Known,
) -> Criterion:
    stands = f"{wanted.path}:{wanted.line}"
    forbidden, sentence = words(wanted.forbidden), words(wanted.name)
    requirement, scenarios = wanted.within[:1], [words(each) for each in wanted.within[1:]]

    def told(kept: bool | None, by: Source | None, why: str) -> Criterion:
        return Criterion("constraint", wanted.name, kept, by, shown(f"{stands}; {why}"))

    def names_it(each: _Named) -> bool:
        return names(each.words, sentence) or names_constraint(each.words, forbidden)

    naming = [each for each in ran if names_it(each) or any(names(each.words, one) for one in scenarios)]
    failed = next((each for each in naming if each.passed is False), None)
    if failed is not None:
        return told(False, "test", f"{failed.place} failed")
    passed = next((each for each in naming if each.passed), None)
    if passed is not None:
        return told(True, "test", f"{passed.place} passed")
    if ("constraint", wanted.name) in before:
        return before["constraint", wanted.name]
    around = met.get(requirement[0]) if requirement else None
    if around is not None and around.met and around.by == "test":
        return told(True, "test", f"its requirement is met: {(around.evidence or '').partition('; ')[2]}")
    task = next((each for each in tasks if names_it(each)), None)
    if task is not None and task.passed:
        return told(True, "task", f"{task.place} checked")
    return told(None, None, "no test and no checked task names it")
