"""Check of a spec: which of its requirements are met and which of its constraints are kept, by tests that are named
after them and by tasks that are checked. What neither tells stays unknown (AURA-M §2.5.1).

Tests tell more than tasks: one that failed is not made good by a box. A test tells only where its outcome is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from aurora_deliverables.detection.names_in_tests import TestTitle, names, names_constraint, stem, telling, words
from aurora_deliverables.detection.spec_criteria import Constraint, Requirement, SpecCriteria
from aurora_deliverables.events import Criterion, SpecChecked
from aurora_deliverables.evidence import shown

Source = Literal["test", "task"]
Known = Mapping[tuple[str, str], Criterion]


class _Named(Struct, frozen=True):
    """A test or a task by the words of its title; `passed` None where nobody knows how it went."""

    words: tuple[str, ...]
    place: str
    passed: bool | None


class _NamedByWord:
    """Inverted index of tests or tasks by the words of their titles: each criterion is compared with few of them."""

    def __init__(self, named: Sequence[_Named]) -> None:
        self._named = named
        self._by_word: dict[str, list[int]] = {}
        self._by_stem: dict[str, list[int]] = {}
        for number, each in enumerate(named):
            for word in set(each.words):
                self._by_word.setdefault(word, []).append(number)
            for word in set(map(stem, each.words)):
                self._by_stem.setdefault(word, []).append(number)

    def naming(self, name: Sequence[str]) -> list[_Named]:
        """Those whose title names it."""
        return [each for each in self._with(self._by_word, name) if names(each.words, name)]

    def forbidding(self, forbidden: Sequence[str]) -> list[_Named]:
        """Those whose title says that it is not done."""
        return [
            each for each in self._with(self._by_stem, telling(forbidden)) if names_constraint(each.words, forbidden)
        ]

    def _with(self, index: Mapping[str, list[int]], wanted: Iterable[str]) -> list[_Named]:
        """Those that have the rarest of some words, in their order."""
        numbers = min((index.get(word, []) for word in wanted), key=len, default=[])
        return [self._named[number] for number in numbers]


def check(spec: SpecCriteria, tests: Sequence[TestTitle], before: Known, *, failing: bool = False) -> SpecChecked:
    """Acceptance check of a spec's criteria. `before` is what tests told earlier, where they still hold.

    `failing`: tests failed when they ran last, and nobody told which. Any criterion may be theirs, so that a checked
    task meets none.
    """
    ran = _NamedByWord([_Named(words(each.title), each.place, each.passed) for each in tests])
    tasks = _NamedByWord([_Named(words(each.text), f"{each.path}:{each.line} is", each.checked) for each in spec.tasks])
    done = None
    if spec.tasks and all(each.checked for each in spec.tasks):
        done = f"all {len(spec.tasks) + spec.more_tasks} tasks of {spec.tasks[0].path} are checked"
    found: list[Criterion] = []
    met: dict[str, Criterion] = {}
    for requirement in spec.requirements:
        told = _requirement(requirement, ran, tasks, done, before)
        if failing and told.met and told.by == "task":
            told = _unsure(told)
        met.setdefault(requirement.name, told)
        found.append(told)
    kept = (_constraint(each, ran, tasks, met, before) for each in spec.constraints)
    found += [_unsure(each) if failing and each.met and each.by == "task" else each for each in kept]
    return SpecChecked(tuple(found))


def _unsure(told: Criterion) -> Criterion:
    return Criterion(told.kind, told.name, None, None, shown(f"{told.evidence}; but tests failed, nobody told which"))


def told_by_tests(before: SpecChecked | None) -> Known:
    """What tests told of a spec's criteria."""
    criteria = before.criteria if before is not None else ()
    return {(each.kind, each.name): each for each in criteria if each.by == "test"}


def _requirement(
    wanted: Requirement, ran: _NamedByWord, tasks: _NamedByWord, done: str | None, before: Known
) -> Criterion:
    """Check of one requirement: by tests named after it, its scenarios, and tasks."""
    stands = f"{wanted.path}:{wanted.line}"
    name = words(wanted.name)
    scenarios = [words(each) for each in wanted.scenarios]

    def told(met: bool | None, by: Source | None, why: str) -> Criterion:
        return Criterion("requirement", wanted.name, met, by, shown(f"{stands}; {why}"))

    if not wanted.removed:
        direct = ran.naming(name)
        of_scenarios = [ran.naming(scenario) for scenario in scenarios]
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
    named = [each for one in (name, *scenarios) for each in tasks.naming(one)]
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
    ran: _NamedByWord,
    tasks: _NamedByWord,
    met: Mapping[str, Criterion],
    before: Known,
) -> Criterion:
    """Check of one constraint: by tests that say it is not done, and by tasks."""
    stands = f"{wanted.path}:{wanted.line}"
    forbidden, sentence = words(wanted.forbidden), words(wanted.name)
    requirement, scenarios = wanted.within[:1], [words(each) for each in wanted.within[1:]]

    def told(kept: bool | None, by: Source | None, why: str) -> Criterion:
        return Criterion("constraint", wanted.name, kept, by, shown(f"{stands}; {why}"))

    naming = [
        *ran.naming(sentence),
        *ran.forbidding(forbidden),
        *(each for one in scenarios for each in ran.naming(one)),
    ]
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
    task = next(iter([*tasks.naming(sentence), *tasks.forbidding(forbidden)]), None)
    if task is not None and task.passed:
        return told(True, "task", f"{task.place} checked")
    return told(None, None, "no test and no checked task names it")
