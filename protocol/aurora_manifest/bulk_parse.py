"""Reads whole objects ahead at the speed of the standard library, and leaves the places in them for later."""

from __future__ import annotations

from collections.abc import Callable
from json import JSONDecoder
from typing import Any, NoReturn

from msgspec.json import encode

from aurora_manifest.document import Member, Node, Object
from aurora_manifest.lazy import Later
from aurora_manifest.literals import number_value
from aurora_manifest.scan_state import MAX_DEPTH

LEVEL = 2
"""How deep the objects are that are read ahead: capabilities and resources are two levels down."""

_SHORT = 100
_MOST_FAILURES = 20
"""A text that is irregular in more places is read step by step: each attempt may look at all of it."""


class Unread(Later[Member]):
    """The members of an object that is well-formed, has no name twice, and was not looked at any closer."""

    __slots__ = ("_length", "_read", "_start")

    def __init__(self, read: Callable[[int], Object], start: int, length: int) -> None:
        super().__init__()
        self._read = read
        self._start = start
        self._length = length

    def make(self) -> list[Member]:
        return list(self._read(self._start).members)

    def __len__(self) -> int:
        return self._length


def is_sound(node: Node) -> bool:
    """Whether a value is known to be well-formed with no name twice, wherever else the text may be damaged."""
    return isinstance(node, Object) and isinstance(node.members, Later)


class Ahead:
    """Reads objects of one text ahead. `read` is what reads the one that begins at an offset step by step."""

    def __init__(self, text: str, read: Callable[[int], Object]) -> None:
        self._text = text
        self._read = read
        self._escapes = "\\u002" in text
        self._failures = 0

    def object_at(self, start: int) -> tuple[Object, int] | None:
        """The object that begins at an offset, and how many values are in it at the most.

        None where it has anything that has to be told, or may be nested too deeply.
        """
        if self._failures >= _MOST_FAILURES:
            return None
        try:
            value, end, brackets, commas = self._plain_at(start)
        except (ValueError, RecursionError):
            self._failures += 1
            return None
        if brackets > MAX_DEPTH - LEVEL:
            return None
        members = Unread(self._read, start, len(value)) if value else []
        return Object(start, end, value, members, {}), brackets + commas

    def _plain_at(self, start: int) -> tuple[Any, int, int, int]:
        """A plain value, its end, and how many brackets and commas are in it. Raises ValueError where a name is twice.

        Of members with the same name the last is left: written again, the value then has fewer commas than its text.
        Only where commas are escaped, or where the value cannot be written, each object is looked at by itself.
        """
        text = self._text
        if not self._escapes:
            value, end = _value_at(text, start)
            try:
                written = encode(value)
            except UnicodeEncodeError:
                pass
            else:
                commas = text.count(",", start, end)
                if written.count(b",") != commas:
                    raise ValueError("a name stands here twice")
                return value, end, written.count(b"{") + written.count(b"["), commas
        value, end = _distinct_value_at(text, start)
        return value, end, text.count("{", start, end) + text.count("[", start, end), text.count(",", start, end)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands here twice")
    return found


def _refused(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) < _SHORT else number_value(digits)


_value_at = JSONDecoder(parse_int=_whole, parse_constant=_refused).raw_decode
_distinct_value_at = JSONDecoder(object_pairs_hook=_distinct, parse_int=_whole, parse_constant=_refused).raw_decode
