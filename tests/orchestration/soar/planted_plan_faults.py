"""Good decompositions of many developers' questions, and how each is spoilt in six ways that are known to be wrong.

The corpus says by hand which requirement of a question which subgoals serve, and one sentence that contradicts a
subgoal; the checks see neither. data/README.md says what was tuned on which corpus, and what was measured when.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from aurora_orchestration.types import Agent, ContextBundle, ContextChunk, Decomposition, Given, Subgoal

KINDS = ("dropped requirement", "cycle", "unknown agent", "ungrounded", "contradiction", "missing dependency")
_DATA = Path(__file__).parent / "data"


class _Chunk(Struct, frozen=True):
    file: str
    name: str
    content: str


class _Requirement(Struct, frozen=True):
    text: str
    by: tuple[str, ...]


class _Contradiction(Struct, frozen=True):
    of: str
    description: str


class Case(Struct, frozen=True):
    """A question, what memory gave to it, and a good decomposition."""

    name: str
    context: tuple[_Chunk, ...]
    requirements: tuple[_Requirement, ...]
    contradiction: _Contradiction
    decomposition: Decomposition

    @property
    def bundle(self) -> ContextBundle:
        """The context as memory gives it."""
        return ContextBundle(
            chunks=tuple(
                ContextChunk(
                    row=row,
                    id=f"code:{chunk.file}:{chunk.name}:1-20",
                    type="code",
                    name=chunk.name,
                    file=chunk.file,
                    line_start=1,
                    line_end=20,
                    score=0.8,
                    tokens=40,
                    content=chunk.content,
                )
                for row, chunk in enumerate(self.context)
            )
        )


class Corpus(Struct, frozen=True):
    """All cases, and the agents they are routed to."""

    agents: tuple[Agent, ...]
    cases: tuple[Case, ...]

    @property
    def tuned(self) -> tuple[Case, ...]:
        """The half that rules may be tuned on."""
        return self.cases[0::2]

    @property
    def held_out(self) -> tuple[Case, ...]:
        """The half that only measures."""
        return self.cases[1::2]


def corpus(name: str = "decompositions") -> Corpus:
    """Read one of `data/`; its README says how each came about."""
    return msgspec.json.decode((_DATA / f"{name}.json").read_bytes(), type=Corpus)


def spoilt(case: Case, others: tuple[Case, ...], kind: str) -> Iterator[Decomposition]:
    """The case's decomposition made wrong in one way, in every variant this kind has; the same ones each time."""
    chance = random.Random(f"{case.name}/{kind}")
    match kind:
        case "dropped requirement":
            yield from _dropped(case)
        case "cycle":
            yield from _cycles(case.decomposition, chance)
        case "unknown agent":
            yield from _unknown_agents(case.decomposition, chance)
        case "ungrounded":
            yield from _ungrounded(case.decomposition, others, chance)
        case "contradiction":
            yield _contradicted(case, chance)
        case "missing dependency":
            yield from _independent(case.decomposition, chance)
        case _:
            raise ValueError(kind)


def _dropped(case: Case) -> Iterator[Decomposition]:
    """Without the subgoals that serve one requirement; what hung on them hangs on what they hung on."""
    for requirement in case.requirements:
        rest = case.decomposition
        for gone in requirement.by:
            rest = without(rest, gone)
        if len(rest.subgoals) >= 2:  # fewer are caught by counting alone: too easy to be counted here
            yield rest


def without(decomposition: Decomposition, gone: str) -> Decomposition:
    """A decomposition less one subgoal, otherwise whole."""
    heirs = next(subgoal.depends_on for subgoal in decomposition.subgoals if subgoal.id == gone)
    kept = tuple(
        replace(
            subgoal,
            depends_on=tuple(
                dict.fromkeys(
                    heir for needed in subgoal.depends_on for heir in (heirs if needed == gone else (needed,))
                )
            ),
        )
        for subgoal in decomposition.subgoals
        if subgoal.id != gone
    )
    groups = (tuple(one for one in group if one != gone) for group in decomposition.parallelizable)
    return replace(
        decomposition,
        subgoals=kept,
        execution_order=tuple(one for one in decomposition.execution_order if one != gone),
        parallelizable=tuple(group for group in groups if len(group) > 1),
    )


def _with_depends(decomposition: Decomposition, changed: str, depends_on: tuple[str, ...]) -> Decomposition:
    return replace(
        decomposition,
        subgoals=tuple(
            replace(subgoal, depends_on=depends_on) if subgoal.id == changed else subgoal
            for subgoal in decomposition.subgoals
        ),
    )


def _cycles(decomposition: Decomposition, chance: random.Random) -> Iterator[Decomposition]:
    waiting = [subgoal for subgoal in decomposition.subgoals if subgoal.depends_on]
    if not waiting:
        return  # independent parts: there is no dependency that another could close to a circle
    dependent = chance.choice(waiting)
    first = next(subgoal for subgoal in decomposition.subgoals if subgoal.id == dependent.depends_on[0])
    yield _with_depends(decomposition, first.id, (*first.depends_on, dependent.id))


def _unknown_agents(decomposition: Decomposition, chance: random.Random) -> Iterator[Decomposition]:
    unlucky = chance.choice(decomposition.subgoals).id
    name = chance.choice(("code-wizard", "implementor", "general-agent", "test-runner-9000", "Researcher Bot"))
    yield replace(
        decomposition,
        subgoals=tuple(
            replace(subgoal, agent=name) if subgoal.id == unlucky else subgoal for subgoal in decomposition.subgoals
        ),
    )


def _ungrounded(
    decomposition: Decomposition, others: tuple[Case, ...], chance: random.Random
) -> Iterator[Decomposition]:
    foreign = chance.choice([case for case in others if case.decomposition.id != decomposition.id]).decomposition
    stray = chance.choice(foreign.subgoals)
    here = decomposition.given[0].id
    after = chance.choice(((), (decomposition.subgoals[0].id,)))
    yield _added(
        decomposition,
        stray.description,
        requires=(here,),
        expected=stray.expected_output,
        agent=stray.agent,
        after=after,
    )
    last = decomposition.subgoals[-1]
    yield replace(
        decomposition, subgoals=(*decomposition.subgoals[:-1], replace(last, requires=(*last.requires, "G9")))
    )
    invented = Given(id="G8", fact=foreign.given[0].fact, source=chance.choice(("query", "context")))
    target = chance.choice(decomposition.subgoals).id
    yield replace(
        decomposition,
        given=(*decomposition.given, invented),
        subgoals=tuple(
            replace(subgoal, requires=("G8",)) if subgoal.id == target else subgoal
            for subgoal in decomposition.subgoals
        ),
    )


def _contradicted(case: Case, chance: random.Random) -> Decomposition:
    against = next(one for one in case.decomposition.subgoals if one.id == case.contradiction.of)
    after = chance.choice(((), against.depends_on, (against.id,)))
    return _added(
        case.decomposition,
        case.contradiction.description,
        requires=against.requires,
        expected="",
        agent=against.agent,
        after=after,
    )


def _added(
    decomposition: Decomposition,
    description: str,
    *,
    requires: tuple[str, ...],
    expected: str,
    agent: str,
    after: tuple[str, ...],
) -> Decomposition:
    """With one more subgoal; where there are five already, the last that nothing depends on makes room."""
    while len(decomposition.subgoals) >= 5:
        decomposition = without(decomposition, decomposition.subgoals[-1].id)
    new = f"SG{max(int(subgoal.id[2:]) for subgoal in decomposition.subgoals) + 1}"
    subgoal = Subgoal(
        id=new, description=description, agent=agent, expected_output=expected, requires=requires, depends_on=after
    )
    return replace(
        decomposition,
        subgoals=(*decomposition.subgoals, subgoal),
        execution_order=(*decomposition.execution_order, new),
    )


def _independent(decomposition: Decomposition, chance: random.Random) -> Iterator[Decomposition]:
    """Less one dependency that nothing else implies."""
    for subgoal in decomposition.subgoals:
        for needed in subgoal.depends_on:
            changed = _with_depends(
                decomposition, subgoal.id, tuple(one for one in subgoal.depends_on if one != needed)
            )
            if needed in _reachable(changed, subgoal.id):
                continue
            # who forgets a dependency may also believe that the two can run at once, and say so
            yield changed if chance.random() < 0.5 else replace(changed, parallelizable=_waves(changed))


def _waves(decomposition: Decomposition) -> tuple[tuple[str, ...], ...]:
    level: dict[str, int] = {}
    for subgoal in decomposition.subgoals:
        level[subgoal.id] = max((level[needed] + 1 for needed in subgoal.depends_on), default=0)
    groups = (tuple(one for one in level if level[one] == depth) for depth in range(len(level)))
    return tuple(group for group in groups if len(group) > 1)


def _reachable(decomposition: Decomposition, start: str) -> set[str]:
    by_id = {subgoal.id: subgoal for subgoal in decomposition.subgoals}
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for needed in by_id[waiting.pop()].depends_on:
            if needed not in found:
                found.add(needed)
                waiting.append(needed)
    return found
