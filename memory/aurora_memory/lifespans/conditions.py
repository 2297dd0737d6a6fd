"""Conditions of lifespan policies as data, and as text again (AURORA §6.7.1).

    is_pattern == true AND success_score >= 0.8
    contains_tag('security') OR domain == security
    NOT (type == code) AND inactive_for_90_days

NOT binds closest, then AND, then OR (operator precedence). What a chunk does not know (the success score of code)
compares false with everything, by `!=` as well; NOT around such a comparison is therefore true. Texts compare without
regard to case.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

Operator = Literal["==", "!=", "<", "<=", ">", ">="]
Value: TypeAlias = bool | float | str


class Comparison(Struct, frozen=True):
    """A property (by its first name, `success_score` for `score`) against a literal of its kind."""

    property: str
    operator: Operator
    value: Value


class HasTag(Struct, frozen=True):
    """Condition `contains_tag('security')`: a compliance tag, keyword or the semantic role has it as one of its words.

    `security-reviewed` and `api_security` have it, `insecurity` has not.
    """

    tag: str


class InactiveFor(Struct, frozen=True):
    """Condition `inactive_for_90_days`: no access for at least that many days."""

    days: int


class Not(Struct, frozen=True):
    """Negation: the opposite of a condition."""

    operand: Condition


class And(Struct, frozen=True):
    """Conjunction: all of two or more conditions."""

    operands: tuple[Condition, ...]


class Or(Struct, frozen=True):
    """Disjunction: any of two or more conditions."""

    operands: tuple[Condition, ...]


Condition: TypeAlias = Comparison | HasTag | InactiveFor | Not | And | Or


def spelled(condition: Condition) -> str:
    """The condition as text that parses to the same condition."""
    match condition:
        case Comparison(name, operator, value):
            return f"{name} {operator} {_literal(value)}"
        case HasTag(tag):
            return f"contains_tag({_literal(tag)})"
        case InactiveFor(days):
            return f"inactive_for_{days}_days"
        case Not(operand):
            return f"NOT {_enclosed(operand)}"
        case And(operands):
            return " AND ".join(map(_enclosed, operands))
        case Or(operands):
            return " OR ".join(spelled(each) if isinstance(each, And) else _enclosed(each) for each in operands)


def _enclosed(condition: Condition) -> str:
    return f"({spelled(condition)})" if isinstance(condition, And | Or) else spelled(condition)


def _literal(value: Value) -> str:
    """Literal as text, quotes in it escaped."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
