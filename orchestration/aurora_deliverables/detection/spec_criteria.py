"""Criteria of a spec (acceptance criteria, scenarios), parsed: its requirements, with their scenarios, and its
constraints: what it says must not be.

Where a criterion stands is kept, so that a score can be followed to the line that it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from aurora_deliverables.detection.markdown import Outline

MAX_NAME = 200

_FORBIDS = re.compile(r"\b(?:MUST|SHALL|must|shall|Must|Shall)\s+(?:NOT|not|never|NEVER)\b\s*(.*)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_MARKS = re.compile(r"[*`_]{1,3}(?=\S)|(?<=\S)[*`]{1,3}")
_SCENARIO = re.compile(r"Scenario:\s*(\S.*)", re.IGNORECASE)


class Requirement(Struct, frozen=True):
    """Requirement of a spec: where it stands (`line` from 1), its scenarios by name, and whether it goes away."""

    name: str
    path: str
    line: int
    scenarios: tuple[str, ...] = ()
    removed: bool = False


class Constraint(Struct, frozen=True):
    """Sentence of a spec that says what must not be; `forbidden` is what comes after *must not*, `within` the names of
    the requirement and the scenario that it stands in."""

    name: str
    path: str
    line: int
    forbidden: str
    within: tuple[str, ...] = ()


class TaskLine(Struct, frozen=True):
    """Task of a change, as its list has it."""

    text: str
    path: str
    line: int
    checked: bool


class SpecCriteria(Struct, frozen=True):
    """Criteria of a spec, what it asks for, and the tasks that were made of it. `stated` is False where no spec was
    written, `more_tasks` how many more tasks there are; where all in `tasks` are checked, those are.
    """

    requirements: tuple[Requirement, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    tasks: tuple[TaskLine, ...] = ()
    stated: bool = False
    more_tasks: int = 0


def scenarios_in(read: Outline) -> list[tuple[int, str]]:
    """All scenarios, `#### Scenario: name`, with their lines from 0, in their order."""
    return [(each.line, found[1].strip()) for each in read.headings if (found := _SCENARIO.match(each.text))]


def constraints_in(read: Outline, path: str) -> Iterator[Constraint]:
    """Prohibitions (must not) of a spec, all constraints in their order; sentences in code and comments are none."""
    texts = [*((item.line, item.text) for item in read.items), *read.paragraphs]
    for line, text in sorted(texts):
        for sentence in _SENTENCE.split(" ".join(text.split())):
            plain = _MARKS.sub("", sentence).strip()
            found = _FORBIDS.search(plain)
            if found and found[1].strip(" ."):
                yield Constraint(shortened(plain), path, line + 1, found[1].strip(" ."))


def shortened(name: str) -> str:
    """A name on one line, cut with … where it is long."""
    clean = "".join(c if c.isprintable() else " " for c in " ".join(name.split())).strip()
    return clean if len(clean) <= MAX_NAME else clean[: MAX_NAME - 1].rstrip() + "…"


Named = TypeVar("Named", Requirement, Constraint)


def distinct(criteria: Iterable[Named]) -> tuple[Named, ...]:
    """The same with names that differ: where two specs of a change have one, the later is told by its place too."""
    found: dict[str, Named] = {}
    for each in criteria:
        name = shortened(each.name)
        if name in found:
            name = shortened(
                f"{name[:120]} ({each.path.split('/')[-2] if '/' in each.path else each.path}:{each.line})"
            )
        found.setdefault(name, replace(each, name=name))
    return tuple(found.values())
