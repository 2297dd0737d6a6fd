"""Name syntax of a language: how a text says what its variables hold, how a grammar builds chains of calls, and where a
function binds a name.

A row declares it (`Language.names`), and no code of `parse` asks which language it reads. Patterns are regular
expressions over bytes, compiled when the first file needs them: a start with nothing to parse needs none.
"""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

NAME = rb"[A-Za-z_$][\w$]*+"
CLASS = rb"(?:[A-Za-z_$][\w$]*+\.){0,3}_{0,2}\$?[A-Z][\w$]*+"
TYPE = rb"[A-Z](?<![\w$].)[\w$]*+"
"""A type with a capital, without what it is in: it begins with what such a text is searched for fast."""

GENERIC = rb"(?:<[^<>;={}]{0,200}(?:<[^<>;={}]{0,200}>[^<>;={}]{0,200}){0,4}>)?"
PATH = rb"[A-Za-z_$][\w$]*+(?:\.[A-Za-z_$][\w$]*+){0,4}+"
ALIAS = rb"(?P<same>" + PATH + rb")[ \t]{0,20}(?=[\n;]|$)(?P<same_end>)"
"""Another name that a name is given, for the patterns of `AssignmentSyntax`."""

NAMES_BEFORE = rb"[\w$, \t*()\[\]{}]{0,100}+"
"""Names on a line before or after the one that is bound with them, for `NameSyntax.bindings`."""


class AssignmentSyntax(Struct, frozen=True):
    """Syntax of assignments, whose value stands behind a sign."""

    sign: bytes
    """The sign, and the value that is looked ahead for from it: the group that matched last says what was found, and an
    empty one, `…_end`, where it ends.
    """
    reversed_name: bytes
    """The `name` before the sign, read backwards."""
    statement: bytes = rb"(?!)(?P<name>)(?P<value>)"
    """Statement that begins with a word, with a `name` and a `value`, and with `many` where that is a list of them."""
    statement_hint: bytes = rb"(?!)"
    """What every text with such a statement has."""
    statement_tells_type: bool = False
    reversed_declaration: bytes = b""
    """What stands before the sign, read backwards, where a name is declared whose type no later assignment changes."""
    iteration: bytes = b""
    """Loop that gives a `name` each element of a `value`; what it hands that, where it is a call, is `given`."""


class CallNodes(Struct, frozen=True):
    """Nodes of calls in a grammar: types and fields, by which a chain of calls is read from its end."""

    member: str
    """Field of a member's name."""
    owner: str
    """Field of what it is a member of."""
    calls: tuple[tuple[str, str], ...] = ()
    """Calls: the node, and its field of what is called."""
    wrappers: frozenset[str] = frozenset({"parenthesized_expression"})
    """Nodes that are what is inside of them."""
    invocation: str = ""
    """Call and member in one, by the fields `name` and `object`; its name is what a query captures."""
    typed: frozenset[str] = frozenset()
    """What is made of a type, or said to be of it, by the field `type`: a chain begins there."""
    element: str = ""
    """Element of a list or map, by the field of the owner."""
    paths: frozenset[str] = frozenset()
    """Names with what they are in before them, as they are written: a chain begins there."""


class NameSyntax(Struct, frozen=True):
    """Name syntax: what of a language tells what the names in use mean. In its patterns the group `type` is a type, and
    `many` says that there is a list of it.
    """

    calls: CallNodes | None = None
    """Without them a chain of calls is known by its last name only."""
    assignment: AssignmentSyntax | None = None
    declaration: bytes = b""
    """Declaration that begins with the `type` and has the `name` behind it, where assignments do not tell types."""
    return_type: bytes = b""
    """End of a header that says what a function returns."""
    parameter: bytes = b""
    """Parameters of one type in a header (`names`), where assignments do not find these."""
    field: bytes = b""
    """Fields of one type in a struct's body (`names`)."""
    container: bytes = b""
    """Header of a type that is a list of others."""
    has_bare_fields: bool = False
    """Whether a field is in reach without a word for its owner."""
    bindings: tuple[tuple[bytes, bytes], ...] = ()
    """What stands before and after a name on its line where a function binds it. Only where this is declared are names
    told as handed on, and is what a function binds not taken for what else is called so.
    """
    arrow: bytes = b""
    """Sign between a pointer and its member, or PHP's object and its, in place of a dot."""
    parameter_name: bytes = rb"[(,{]\s{0,200}(?:\.\.\.|\*{0,2})(" + NAME + rb")"
    """A parameter's name in a header whose types have lost their brackets."""
    has_package_names: bool = False
    """Whether a bare name may be another file's that no import names."""


TYPED_AFTER = NameSyntax(
    assignment=AssignmentSyntax(
        sign=(
            rb":(?=\s{0,20}(?:(?:any|some|inout)\s{1,9})?(?P<type>"
            + CLASS
            + rb")"
            + GENERIC
            + rb"[?!]?\s{0,20}(?=[,)=\n;{}])(?P<type_end>))"
            rb"|=(?=\s{0,20}(?:new\s{1,9})?(?P<made>" + CLASS + rb")" + GENERIC + rb"\((?P<made_end>))"
        ),
        reversed_name=rb"\s{0,20}+(?P<name>[\w$]*[A-Za-z_$](?:\.fles|\.siht)?)(?![\w.])",
    ),
    has_bare_fields=True,
)
"""Of languages that declare a name before its type and make an object by a call: Swift, Kotlin and Scala."""


@cache
def pattern(written: bytes) -> re.Pattern[bytes]:
    """Pattern of a syntax, compiled once per process."""
    return re.compile(written)
