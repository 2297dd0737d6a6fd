"""Assignments (local type inference): what type a text gives its variables plainly, in one statement: an object just
made, a type, or another name.

`client = Client()`, `with Client() as client`, `def f(client: Client)`, `this.client = new Client()`, `c := &Client{}`.
What is given stands behind `:` or `=`, so these signs are looked for, and the name is read backwards from there: a
pattern that began with a name would be tried at every letter. Where a type comes first (`Client client`), it is looked
for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from aurora_indexer.languages.name_syntax import AssignmentSyntax, NameSyntax, pattern

_CONSTANTS = frozenset({b"None", b"null", b"nil", b"True", b"False", b"true", b"false", b"undefined"})


class VariableAssignment(NamedTuple):
    """Assignment of `value` to the name that begins at `start`. `told`: a type says it; `same`: it is another name."""

    name: bytes
    start: int
    value: bytes
    told: bool = False
    same: bool = False


def assignments(syntax: NameSyntax, bare: bytes) -> Iterator[VariableAssignment]:
    """The assignments of a text whose comments are blanked, in its order, none within what another one has read."""
    if syntax.declaration:
        for match in pattern(syntax.declaration).finditer(bare):
            yield VariableAssignment(match["name"], match.start("name"), match["type"] + b"()", told=True)
    if syntax.assignment is not None:
        yield from _by_sign(syntax.assignment, bare)


def _by_sign(syntax: AssignmentSyntax, bare: bytes) -> Iterator[VariableAssignment]:
    """The assignments that a sign tells, and the statements between them."""
    size = len(bare)
    reversed_ = bare[::-1]
    read_back = pattern(syntax.reversed_name).match
    look_for = pattern(syntax.statement).search
    statement = look_for(bare) if pattern(syntax.statement_hint).search(bare) else None
    done = 0
    for match in pattern(syntax.sign).finditer(bare):
        before = read_back(reversed_, size - match.start())
        if before is None:
            continue
        start = size - before.end()
        while statement is not None and statement.start() <= start:
            if statement.start() >= done:
                yield _of_statement(syntax, statement)
                done = statement.end()
            statement = look_for(bare, done)
        if start < done:
            continue
        label = str(match.lastgroup).removesuffix("_end")
        value = match[label]
        done = match.end(f"{label}_end")
        name = bare[start : size - before.start("name")]
        if label != "same":
            yield VariableAssignment(name, start, value + b"()", told=label == "type")
        elif value != name and value not in _CONSTANTS:
            yield VariableAssignment(name, start, value, same=True)
    while statement is not None:
        if statement.start() >= done:
            yield _of_statement(syntax, statement)
            done = statement.end()
        statement = look_for(bare, done)


def _of_statement(syntax: AssignmentSyntax, match: re.Match[bytes]) -> VariableAssignment:
    """Assignment that a statement tells."""
    return VariableAssignment(match["name"], match.start("name"), match["value"] + b"()", syntax.statement_tells_type)
