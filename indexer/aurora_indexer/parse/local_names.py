"""Local names (variable shadowing): what a function binds itself, as a parameter, a variable, a loop's or an import.

What it calls by such a name is nothing else that has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from aurora_indexer.languages.name_syntax import NameSyntax, pattern
from aurora_indexer.parse.definitions import CALLABLE, MAX_HEADER, Definition

_WORDS = re.compile(rb"[\w$.]")
_IMPORTING = re.compile(rb"\bimport\b")
_INNERMOST = re.compile(rb"<[^<>]*>|\[[^\[\]]*\]")
_AROUND = 120
_MAX_SEEN = 40
"""Places of a name in a function that are looked at."""

_MAX_DEEP = 6
"""Brackets within brackets of a header's types that are left out."""


class LocalNames:
    """Local names of one file's functions, found in its text without comments when they are asked for."""

    def __init__(self, bare: bytes, syntax: NameSyntax, definitions: Sequence[Definition]) -> None:
        self._bare = bare
        self._definitions = definitions
        self._patterns = [(pattern(before), pattern(after)) for before, after in syntax.bindings]
        self._parameter = pattern(syntax.parameter_name)
        self._bound: dict[tuple[int, bytes], bool] = {}
        self._parameters: dict[int, frozenset[bytes]] = {}
        self._inner = {(id(outer), each.written) for each in definitions for outer in _outward(each)}
        self._top = frozenset(each.written for each in definitions if each.around is None)

    def has(self, name: bytes, index: int) -> bool:
        """Whether a definition, the innermost around a place, or one around that binds the name itself."""
        each = self._definitions[index] if index >= 0 else None
        while each is not None:
            if each.kind in CALLABLE:
                key = (id(each), name)
                if key not in self._bound:
                    self._bound[key] = self._binds(name, each)
                if self._bound[key]:
                    return True
            each = each.around
        return False

    def _binds(self, name: bytes, function: Definition) -> bool:
        """Variable binding (shadowing): whether a function has a parameter or local variable of that name."""
        if name != function.written and name in self._parameters_of(function):
            return True
        if (id(function), name) in self._inner:
            return False  # that is a definition itself, which is known where it stands
        at = function.header_end
        for _ in range(_MAX_SEEN):
            at = self._bare.find(name, at, function.end)
            if at < 0:
                return False
            end = at + len(name)
            before = self._bare[max(0, at - _AROUND) : at].rpartition(b"\n")[2]
            after = self._bare[end : end + _AROUND]
            is_whole = not _WORDS.match(before[-1:]) and not re.match(rb"[\w$]", after)
            if is_whole and _IMPORTING.search(before):
                # What only an import binds is what it imports, wherever that stands.
                if name in self._top:
                    return True
            elif is_whole and any(was.search(before) and then.match(after) for was, then in self._patterns):
                return True
            at = end
        return False

    def _parameters_of(self, function: Definition) -> frozenset[bytes]:
        """The names of a function's parameters: in its header, out of the brackets of types."""
        known = self._parameters.get(id(function))
        if known is None:
            start = function.named if function.named < function.header_end else function.head
            header = self._bare[start : min(function.header_end, start + MAX_HEADER)]
            for _ in range(_MAX_DEEP):
                header, found = _INNERMOST.subn(b"", header)
                if not found:
                    break
            known = self._parameters[id(function)] = frozenset(self._parameter.findall(header))
        return known


def _outward(definition: Definition) -> Iterator[Definition]:
    """What is around a definition that is known by its bare name, from the nearest on."""
    around = definition.around if definition.kind != "method" else None
    while around is not None:
        yield around
        around = around.around
