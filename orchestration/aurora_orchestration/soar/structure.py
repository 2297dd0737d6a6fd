"""Structure of a decomposition: numbers, ids, references, topological order of dependencies (AURORA §4.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from aurora_orchestration.types import Decomposition, Subgoal

FEWEST, MOST = 2, 5
"""How many subgoals a question is broken into (§8.3)."""


def depends(subgoals: tuple[Subgoal, ...]) -> dict[str, tuple[str, ...]]:
    """By subgoal the known ones it depends on, as they are written."""
    known = {subgoal.id for subgoal in subgoals}
    return {subgoal.id: tuple(one for one in subgoal.depends_on if one in known) for subgoal in subgoals}


def cycle(needs: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Circular dependency, the ids around one cycle, the first again at the end; empty where there is none."""
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return tuple(error.args[1])[::-1]
    return ()


def ordered(subgoals: tuple[Subgoal, ...]) -> tuple[str, ...]:
    """Topological order: each subgoal comes after what it depends on, else as written; empty where there is a cycle."""
    needs = depends(subgoals)
    done: list[str] = []
    waiting = list(needs)
    while waiting:
        ready = next((one for one in waiting if all(need in done for need in needs[one])), None)
        if ready is None:
            return ()
        done.append(ready)
        waiting.remove(ready)
    return tuple(done)


def waves(subgoals: tuple[Subgoal, ...]) -> tuple[tuple[str, ...], ...]:
    """The subgoals that may run at once, wave after wave; empty where there is a cycle."""
    needs = depends(subgoals)
    level: dict[str, int] = {}
    for one in ordered(subgoals):
        level[one] = max((level[need] + 1 for need in needs[one]), default=0)
    return tuple(
        tuple(one for one in level if level[one] == number) for number in range(max(level.values(), default=-1) + 1)
    )


def reachable(needs: Mapping[str, tuple[str, ...]], start: str) -> frozenset[str]:
    """Transitive closure, all that a subgoal depends on, directly or through others."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for need in needs.get(waiting.pop(), ()):
            if need not in found:
                found.add(need)
                waiting.append(need)
    return frozenset(found)


def apart(decomposition: Decomposition) -> Iterator[tuple[str, str]]:
    """Connected components: subgoals that rest on one given though no dependency joins them, each with the fix.

    Groups that share no given serve different matters and may stand side by side; so may the subgoals of a plan in
    which nothing waits for anything. Call with a decomposition whose dependencies are a DAG.
    """
    needs = depends(decomposition.subgoals)
    if not any(needs.values()):
        return
    facts = {given.id for given in decomposition.given}
    requires = {subgoal.id: facts.intersection(subgoal.requires) for subgoal in decomposition.subgoals}
    groups = _joined(needs)
    for number, late in enumerate(groups):
        for early in groups[:number]:
            shared = set().union(*(requires[one] for one in late)) & set().union(*(requires[one] for one in early))
            if shared:
                yield (
                    f"{', '.join(late)} and {', '.join(early)} both rest on {', '.join(sorted(shared))}, "
                    "but no dependency joins them",
                    f"let {late[0]} depend on what it uses of {', '.join(early)}, or a later subgoal depend on both",
                )


def _joined(needs: Mapping[str, tuple[str, ...]]) -> list[list[str]]:
    """The subgoals in groups that dependencies hold together, in whichever direction; in the order as written."""
    groups: list[list[str]] = []
    for one, needed in needs.items():
        met = [group for group in groups if any(one in needs[each] or each in needed for each in group)]
        groups = [group for group in groups if group not in met]
        groups.append([*(each for group in met for each in group), one])
    return groups


def broken(decomposition: Decomposition) -> Iterator[tuple[str, str]]:
    """Faults of the skeleton, each with how to mend it."""
    subgoals = decomposition.subgoals
    if not FEWEST <= len(subgoals) <= MOST:
        yield (f"it has {len(subgoals)} subgoals", f"break the query into {FEWEST} to {MOST} subgoals")
    yield from _repeated("subgoal", [subgoal.id for subgoal in subgoals])
    yield from _repeated("given", [given.id for given in decomposition.given])
    known = {subgoal.id for subgoal in subgoals}
    for subgoal in subgoals:
        for one in subgoal.depends_on:
            if one not in known:
                yield f"{subgoal.id} depends on {one}, which does not exist", f"let {subgoal.id} depend on known ids"
    needs = depends(subgoals)
    around = cycle(needs)
    if around:
        yield (
            f"dependencies run in a circle: {' → '.join(around)}",
            f"take out the dependency that does not hold among {', '.join(dict.fromkeys(around))}",
        )
        return
    yield from _misordered(decomposition, needs)


def _repeated(what: str, ids: list[str]) -> Iterator[tuple[str, str]]:
    """Duplicate ids."""
    for one in dict.fromkeys(ids):
        if ids.count(one) > 1:
            yield f"{what} id {one} is used {ids.count(one)} times", f"give every {what} an id of its own"


def _misordered(decomposition: Decomposition, needs: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    """Execution order that does not follow the dependencies."""
    order = decomposition.execution_order
    if order:
        place = {one: number for number, one in enumerate(order)}
        if len(place) != len(order) or set(order) != set(needs):
            yield (
                "execution_order does not name every subgoal exactly once",
                f"write execution_order as {', '.join(ordered(decomposition.subgoals))}",
            )
        else:
            for one, needed in needs.items():
                for early in needed:
                    if place[early] > place[one]:
                        yield (
                            f"execution_order has {one} before {early}, which it depends on",
                            f"write execution_order as {', '.join(ordered(decomposition.subgoals))}",
                        )
    for group in decomposition.parallelizable:
        for one in group:
            if one not in needs:
                yield f"parallelizable names {one}, which does not exist", "name only subgoals in parallelizable"
                continue
            for early in reachable(needs, one) & set(group):
                yield (
                    f"parallelizable runs {early} and {one} at once, though {one} depends on {early}",
                    f"take {one} or {early} out of the group",
                )
