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

LIST, ELEMENT = b"#", b".#"
"""What stands before what a list is of, and behind a list whose element is meant."""

_CONSTANTS = frozenset({b"None", b"null", b"nil", b"True", b"False", b"true", b"false", b"undefined"})


class VariableAssignment(NamedTuple):
    """Assignment of `value` to the name that begins at `start`. `told`: a type says it; `same`: it is another name;
    `again`: the name was declared before, and has its type from there.
    """

    name: bytes
    start: int
    value: bytes
    told: bool = False
    same: bool = False
    again: bool = False


def is_again(syntax: AssignmentSyntax | None, before: bytes, at: int = 0) -> bool:
    """Whether what stands before a sign, read backwards from `at`, declares no name, where names are declared."""
    if syntax is None or not syntax.reversed_declaration:
        return False
    return pattern(syntax.reversed_declaration).match(before, at) is None


def held(match: re.Match[bytes], kind: str = "type") -> bytes:
    """What a name holds that a pattern says to be of a type: `Client()`, or `#Client()` where it is a list of these."""
    is_list = "many" in match.re.groupindex and match["many"] is not None
    return (LIST if is_list else b"") + match[kind] + b"()"


def assignments(syntax: NameSyntax, bare: bytes) -> Iterator[VariableAssignment]:
    """The assignments of a text whose comments are blanked, in its order, none within what another one has read."""
    if syntax.declaration:
        for match in pattern(syntax.declaration).finditer(bare):
            yield VariableAssignment(match["name"], match.start("name"), match["type"] + b"()", told=True)
    if syntax.assignment is not None:
        yield from _by_sign(syntax.assignment, bare)
        if syntax.assignment.iteration:
            for match in pattern(syntax.assignment.iteration).finditer(bare):
                value = match["value"] + (b"()" if match["given"] else b"") + ELEMENT
                yield VariableAssignment(match["name"], match.start("name"), value, same=True)


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
        value = match[label] if label != "element" else match["same"]
        done = match.end(f"{label}_end")
        name = bare[start : size - before.start("name")]
        again = is_again(syntax, reversed_, size - match.start())
        if label == "element":
            yield VariableAssignment(name, start, value + ELEMENT, same=True, again=again)
        elif label != "same":
            given = (LIST if label == "many" else b"") + value + b"()"
            yield VariableAssignment(name, start, given, told=label == "type", again=again)
        elif value != name and value not in _CONSTANTS:
            yield VariableAssignment(name, start, value, same=True, again=again)
    while statement is not None:
        if statement.start() >= done:
            yield _of_statement(syntax, statement)
            done = statement.end()
        statement = look_for(bare, done)


def _of_statement(syntax: AssignmentSyntax, match: re.Match[bytes]) -> VariableAssignment:
    """Assignment that a statement tells."""
    return VariableAssignment(match["name"], match.start("name"), held(match, "value"), syntax.statement_tells_type)
