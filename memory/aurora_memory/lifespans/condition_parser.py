"""Parser of conditions (a small expression language: tokenizer and recursive descent), in linear time and within bounds
(AURORA App. C.2).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from math import isfinite
from typing import Literal, NoReturn, cast

from msgspec import Struct

from aurora_memory.lifespans import ConditionError
from aurora_memory.lifespans.conditions import (
    And,
    Comparison,
    Condition,
    HasTag,
    InactiveFor,
    Not,
    Operator,
    Or,
    Value,
)
from aurora_memory.lifespans.facts import ALIASES, PROPERTIES, Property, did_you_mean

MAX_LENGTH = 2000
MAX_DEPTH = 32
"""Parentheses and NOTs within each other."""

MAX_TAG = 64

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![\w.])
      | (?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<operator>==|!=|<=|>=|<|>)
      | (?P<word>[^\W\d][\w-]*)
      | (?P<mark>[()])
      | (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_INACTIVE = re.compile(r"inactive_for_([0-9]{1,5})_days?\Z")
_ESCAPED = re.compile(r"""\\(['"\\])""")
_SUBJECTS = [*PROPERTIES, *ALIASES, "contains_tag", "inactive_for_90_days"]
_WANTED = "a property, contains_tag('…'), inactive_for_N_days, NOT or '('"


class _ConditionToken(Struct, frozen=True):
    """Token of a condition."""

    kind: Literal["number", "quoted", "operator", "word", "mark", "end"]
    text: str
    column: int

    @property
    def shown(self) -> str:
        return "the end" if self.kind == "end" else _quoted(self.text)

    def says(self, word: str) -> bool:
        return self.kind == "word" and self.text.upper() == word


@lru_cache(maxsize=512)  # a chunk's own rules come as text, the same few on thousands of chunks
def parse(text: str) -> Condition:
    """Read a condition. Raises ConditionError, which knows the column and what was expected there."""
    if len(text) > MAX_LENGTH:
        raise ConditionError(MAX_LENGTH + 1, f"expected a condition of at most {MAX_LENGTH} characters")
    parser = _Parser(_scanned(text))
    condition = parser.any_of(0)
    if parser.next.kind != "end":
        parser.fail("AND, OR or the end")
    return condition


def _scanned(text: str) -> list[_ConditionToken]:
    """Tokenizer (lexer) of a condition."""
    tokens: list[_ConditionToken] = []
    position = 0
    while not tokens or tokens[-1].kind != "end":
        match = _TOKEN.match(text, position)
        if match is None:
            rest = text[position:].lstrip()
            column = len(text) - len(rest) + 1
            if rest[0] in "'\"":
                raise ConditionError(column, f"expected a closing {rest[0]}")
            hint = " (equality is ==)" if rest[0] == "=" else ""
            raise ConditionError(column, f"expected {_WANTED}, an operator or a value, not {_quoted(rest[0])}{hint}")
        kind = cast(Literal["number", "quoted", "operator", "word", "mark", "end"], match.lastgroup)
        tokens.append(_ConditionToken(kind, match[kind], match.start(kind) + 1))
        position = match.end()
    return tokens


class _Parser:
    """One reading of one list of tokens. `depth` counts what encloses the place being read."""

    def __init__(self, tokens: list[_ConditionToken]) -> None:
        self._tokens = tokens
        self._position = 0

    @property
    def next(self) -> _ConditionToken:
        return self._tokens[self._position]

    def take(self) -> _ConditionToken:
        """Next token, consumed."""
        token = self.next
        self._position += token.kind != "end"
        return token

    def fail(self, expected: str, at: _ConditionToken | None = None) -> NoReturn:
        """Syntax error at a token: what was expected there. Raises ConditionError."""
        token = at or self.next
        raise ConditionError(token.column, f"expected {expected}, not {token.shown}")

    def any_of(self, depth: int) -> Condition:
        """OR, the weakest operator."""
        operands = self._joined("OR", self._all_of, depth)
        return operands[0] if len(operands) == 1 else Or(tuple(operands))

    def _all_of(self, depth: int) -> Condition:
        """AND, which binds more tightly than OR (operator precedence)."""
        operands = self._joined("AND", self._one, depth)
        return operands[0] if len(operands) == 1 else And(tuple(operands))

    def _joined(self, word: str, operand: Callable[[int], Condition], depth: int) -> list[Condition]:
        """Operands of an operator that may stand several times in a row."""
        found = [operand(depth)]
        while self.next.says(word):
            self.take()
            found.append(operand(depth))
        return found

    def _one(self, depth: int) -> Condition:
        """Operand: NOT, parentheses, or a named test."""
        token = self.take()
        if depth > MAX_DEPTH:
            raise ConditionError(token.column, f"expected at most {MAX_DEPTH} parentheses and NOTs within each other")
        if token.says("NOT"):
            return Not(self._one(depth + 1))
        if token.text == "(" and token.kind == "mark":
            condition = self.any_of(depth + 1)
            self._close()
            return condition
        if token.kind != "word" or token.says("AND") or token.says("OR"):
            self.fail(_WANTED, token)
        return self._named(token)

    def _named(self, subject: _ConditionToken) -> Condition:
        """Named test: a comparison, `inactive_for_N_days` or a function call. Raises ConditionError for unknown
        names."""
        name = subject.text
        if self.next.text == "(" and self.next.kind == "mark":
            return self._tagged(subject)
        if inactive := _INACTIVE.match(name):
            return InactiveFor(int(inactive[1]))
        found = PROPERTIES.get(ALIASES.get(name, name))
        if found is None:
            hint = did_you_mean(name, _SUBJECTS) or f"; known are {', '.join(_SUBJECTS[:-1])}"
            raise ConditionError(subject.column, f"no property is called {subject.shown}{hint}")
        operator = self.take()
        if operator.kind != "operator":
            self.fail(f"==, !=, <, <=, > or >= after '{name}'", operator)
        if operator.text not in ("==", "!=") and found.kind in ("flag", "text"):
            self.fail(f"== or != ('{name}' has no order)", operator)
        return Comparison(found.name, cast(Operator, operator.text), self._value(found, name))

    def _tagged(self, subject: _ConditionToken) -> Condition:
        """Function call: `contains_tag('…')`."""
        if subject.text != "contains_tag":
            hint = did_you_mean(subject.text, ["contains_tag"]) or "; the only one is contains_tag('…')"
            raise ConditionError(subject.column, f"no function is called {subject.shown}{hint}")
        self.take()
        token = self.take()
        if token.kind not in ("quoted", "word"):
            self.fail("a tag such as 'security'", token)
        tag = _text_of(token)
        if not tag.strip() or len(tag) > MAX_TAG:
            self.fail(f"a tag of 1 to {MAX_TAG} characters", token)
        self._close()
        return HasTag(tag)

    def _close(self) -> None:
        token = self.take()
        if token.text != ")" or token.kind != "mark":
            self.fail("')'", token)

    def _value(self, subject: Property, name: str) -> Value:
        """Literal of a comparison, type-checked against its property."""
        token = self.take()
        if subject.kind == "flag":
            if not (token.says("TRUE") or token.says("FALSE")):
                self.fail(f"true or false ('{name}' is one of them)", token)
            return token.says("TRUE")
        if subject.kind in ("number", "days"):
            number = float(token.text) if token.kind == "number" else float("nan")
            if not isfinite(number):
                self.fail(f"a number ('{name}' is one)", token)
            return number
        if token.kind not in ("quoted", "word") or any(map(token.says, ("TRUE", "FALSE", "AND", "OR", "NOT"))):
            self.fail(f"a text such as 'security' ('{name}' is one)", token)
        text = _text_of(token)
        if subject.values and text.casefold() not in subject.values:
            hint = did_you_mean(text.casefold(), list(subject.values))
            raise ConditionError(token.column, f"expected {', '.join(subject.values)}, not {token.shown}{hint}")
        return text


def _text_of(token: _ConditionToken) -> str:
    return _ESCAPED.sub(r"\1", token.text[1:-1]) if token.kind == "quoted" else token.text


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:39]}…")
