"""URI templates (RFC 6570) with the exact place of every expression, variable and mistake; expansion is a library's."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from aurora_manifest.json.value_text import quoted

Part = Literal["path", "query", "fragment"]

OPERATORS = {
    "": "simple",
    "+": "reserved",
    "#": "fragment",
    ".": "label",
    "/": "path segment",
    ";": "path parameter",
    "?": "query",
    "&": "query continuation",
}
"""The operators of RFC 6570 §2.2 and what each expands to."""

_RESERVED = frozenset("=,!@|")
"""Operators that RFC 6570 §2.2 keeps for extensions."""

_BRACE = re.compile(r"[{}]")
_TWO_BRACES = re.compile(r"\{\{[^{}]++\}\}").match
_NAME = re.compile(r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*")
_PREFIX = re.compile(r"[1-9][0-9]{0,3}")
# An apostrophe is a literal as well: RFC 6570 leaves it out by mistake (erratum 6937).
_NOT_LITERAL = re.compile(r"[\x00-\x20\"<>\\^`|\x7f]|%(?![0-9A-Fa-f]{2})")
_MAX_PROBLEMS = 20


class Variable(Struct, frozen=True):
    """A variable; `prefix` is the `:n` modifier, `explode` the `*`. Offsets are within the template."""

    name: str
    start: int
    end: int
    prefix: int | None = None
    explode: bool = False


class Expression(Struct, frozen=True):
    """Expression of a URI template, `{…}` with its operator; offsets include the braces."""

    start: int
    end: int
    operator: str
    variables: tuple[Variable, ...]


class Mistake(Struct, frozen=True):
    """Syntax error by RFC 6570: one sentence, and where in the template."""

    message: str
    start: int
    end: int


class Template(Struct, frozen=True):
    """A template as far as it could be read."""

    text: str
    expressions: tuple[Expression, ...]
    mistakes: tuple[Mistake, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Every variable in the order of the text, repeats included."""
        return tuple(variable for expression in self.expressions for variable in expression.variables)


def is_variable(name: str) -> bool:
    """Whether a name can stand between braces as it is (RFC 6570 §2.3)."""
    return _NAME.fullmatch(name) is not None


@lru_cache(maxsize=1024)
def parse_template(text: str) -> Template:
    """Read a URI template; what is wrong with it is in `mistakes`. Never raises."""
    expressions: list[Expression] = []
    mistakes: list[Mistake] = []
    pos = 0
    while match := _BRACE.search(text, pos):
        _literal(text, pos, match.start(), mistakes)
        start = match.start()
        if match[0] == "}":
            mistakes.append(Mistake('"}" closes no expression', start, start + 1))
            pos = start + 1
            continue
        if twice := _TWO_BRACES(text, start):
            # As other languages have them: which variable is meant is clear, so that nothing follows from it.
            pos = twice.end()
            mistakes.append(Mistake("an expression has one brace on each side, not two", start, pos))
            expressions.append(_expression(text, start + 1, pos - 1, mistakes))
            continue
        closing = _BRACE.search(text, start + 1)
        if closing is None or closing[0] == "{":
            end = closing.start() if closing else len(text)
            mistakes.append(Mistake('"{" is never closed', start, start + 1))
            pos = end
            continue
        pos = closing.end()
        expressions.append(_expression(text, start, pos, mistakes))
    _literal(text, pos, len(text), mistakes)
    return Template(text, tuple(expressions), tuple(mistakes[:_MAX_PROBLEMS]))


def _literal(text: str, start: int, end: int, mistakes: list[Mistake]) -> None:
    """Characters of a literal that a URI cannot have unless percent-encoded, as mistakes."""
    for match in _NOT_LITERAL.finditer(text, start, end):
        if len(mistakes) >= _MAX_PROBLEMS:
            return
        if match[0] == "%":
            mistakes.append(Mistake('"%" needs two hexadecimal digits after it', match.start(), match.end()))
        else:
            shown = match[0] if match[0].isprintable() and match[0] != " " else f"U+{ord(match[0]):04X}"
            mistakes.append(Mistake(f"{shown} must be percent-encoded in a URI template", match.start(), match.end()))


def _expression(text: str, start: int, end: int, mistakes: list[Mistake]) -> Expression:
    """Parser of one expression: its operator and its variables."""
    inside, last = start + 1, end - 1
    operator = text[inside : inside + 1]
    if operator in OPERATORS and operator:
        inside += 1
    elif operator in _RESERVED and operator:
        mistakes.append(Mistake(f'the operator "{operator}" is reserved', inside, inside + 1))
        inside += 1
        operator = ""
    else:
        operator = ""
    if inside == last:
        mistakes.append(Mistake("the expression names no variable", start, end))
        return Expression(start, end, operator, ())
    variables: list[Variable] = []
    place = inside
    for piece in text[inside:last].split(","):
        variable = _variable(text, place, place + len(piece), mistakes)
        if variable is not None:
            variables.append(variable)
        place += len(piece) + 1
    return Expression(start, end, operator, tuple(variables))


def _variable(text: str, start: int, end: int, mistakes: list[Mistake]) -> Variable | None:
    """Parser of one variable with its modifier; None where it has no name."""
    match = _NAME.match(text, start, end)
    if match is None:
        if start == end:
            comma = start - 1 if text[start - 1] == "," else start
            mistakes.append(Mistake("a variable is missing beside this comma", comma, comma + 1))
        else:
            mistakes.append(Mistake(f"{quoted(text[start:end])} is no variable name", start, end))
        return None
    name, name_end = match[0], match.end()
    modifier = text[name_end:end]
    if not modifier:
        return Variable(name, start, name_end)
    if modifier == "*":
        return Variable(name, start, name_end, explode=True)
    if modifier[0] == ":":
        if _PREFIX.fullmatch(modifier, 1):
            return Variable(name, start, name_end, prefix=int(modifier[1:]))
        mistakes.append(Mistake("a prefix is a number from 1 to 9999", name_end, end))
        return Variable(name, start, name_end)
    mistakes.append(Mistake(f"{quoted(text[start:end])} is no variable name", start, end))
    return None


def placed(template: Template | None) -> dict[str, tuple[Part, Variable, str]]:
    """The variables of a template: in which part of the address each stands first, and by which operator."""
    found: dict[str, tuple[Part, Variable, str]] = {}
    if template is None:
        return found
    text = template.text
    query, fragment = text.find("?"), text.find("#")
    for expression in template.expressions:
        part: Part = "path"
        if expression.operator in ("?", "&"):
            part = "query"
        elif expression.operator == "#" or (0 <= fragment < expression.start and text[fragment - 1 : fragment] != "{"):
            part = "fragment"
        elif 0 <= query < expression.start and text[query - 1 : query] != "{":
            part = "query"
        for variable in expression.variables:
            found.setdefault(variable.name, (part, variable, expression.operator))
    return found
