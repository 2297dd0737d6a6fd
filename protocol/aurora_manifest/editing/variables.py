"""Template variables in scope: which variables can be named at a cursor between the braces of a URI template (RFC
6570 §2.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from aurora_manifest.editing.cursor import Cursor
from aurora_manifest.editing.offers import Where, described
from aurora_manifest.editing.parameters import pattern_of, request_names, resources_of
from aurora_manifest.model import members

_BEFORE = re.compile(r"[\w.%]*\Z")
_AFTER = re.compile(r"[\w.%]*")
_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[\w.%]+")
_LONGEST_NAME = 200


class Slot(Struct, frozen=True):
    """Where a variable is being written. `used` are the template's other ones; `closed` tells of a brace behind it."""

    start: int
    end: int
    closed: bool
    used: frozenset[str]


class Candidate(Struct, frozen=True):
    """A variable that could be named."""

    name: str
    detail: str
    documentation: str


def slot_at(cursor: Cursor) -> Slot | None:
    """The place of a variable at the cursor; None outside of braces."""
    text = cursor.document.text
    before = text[cursor.start + 1 : cursor.offset]
    opening = before.rfind("{")
    if opening < 0 or "}" in before[opening:]:
        return None
    typed, after = _BEFORE.search(before[-_LONGEST_NAME:]), _AFTER.match(text, cursor.offset)
    start = cursor.offset - (len(typed[0]) if typed else 0)
    end = after.end() if after else cursor.offset
    closing, next_opening = text.find("}", end, cursor.end), text.find("{", end, cursor.end)
    closed = closing >= 0 and (next_opening < 0 or closing < next_opening)
    used = {name for each in _EXPRESSION.findall(text[cursor.start : cursor.end]) for name in _NAME.findall(each)}
    return Slot(start, end, closed, frozenset(used - {text[start:end]}))


def candidates(where: Where) -> Iterator[Candidate]:
    """The parameters of the capability, or of those that the resource's operations call."""
    if where.capability is not None:
        capability = where.capability
        names = [*(each.name for each in members(capability.mapping)), *capability.properties]
        for resource in resources_of(where.manifest, capability.name):
            pattern = pattern_of(resource)
            names += (each.name for each in pattern.variables) if pattern else ()
        for name in dict.fromkeys(names):
            yield Candidate(name, "parameter", described(capability, name))
    elif where.resource is not None:
        found: dict[str, Candidate] = {}
        for operation in where.resource.operations:
            called = str(operation.capability_id.value) if operation.capability_id else ""
            used = where.manifest.capabilities.get(called)
            for name in (*request_names(used), *used.properties) if used else ():
                found.setdefault(name, Candidate(name, f"parameter of {called}", described(used, name)))
        yield from found.values()
