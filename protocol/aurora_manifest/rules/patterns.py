"""Regular expressions as JSON Schema means them (ECMA-262 with the `u` flag or without): are they well-formed?"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

MAX_PATTERN = 2_000
"""Longer patterns are not judged."""

_PYTHON_ONLY = re.compile(r"\(\?(?:P[<=>]|>|#|\(|[aiLmsux]+[-)]|[imsx]*-)|(?<=[*+?}])\+")
_ESCAPE = re.compile(
    r"\\(?:[pP]\{[^}]*\}|u\{[0-9A-Fa-f]+\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|c[A-Za-z]|k<\w+>|.)", re.DOTALL
)
_QUANTIFIER = re.compile(r"\{\d+,\d+\}")
_KNOWN_ESCAPES = frozenset("dDwWsSbBtnrfv")


class BadPattern(Struct, frozen=True):
    """Fault of a regular expression: why it is none, and where in it."""

    reason: str
    start: int
    end: int


@lru_cache(maxsize=512)
def bad_pattern(pattern: str) -> BadPattern | None:
    """Flaw that makes a regular expression malformed, or None. Reads it only: nothing is matched."""
    if len(pattern) > MAX_PATTERN:
        return None
    translated, starts = _as_python(pattern)
    try:
        re.compile(translated)
    except re.error as error:
        place = min(error.pos or 0, len(starts) - 1)
        start = min(starts[place], max(0, len(pattern) - 1))
        if "look-behind" in error.msg:  # only Python minds how long it is
            return None
        if error.msg.startswith("min repeat") and (quantifier := _QUANTIFIER.search(pattern, max(0, start - 1))):
            return BadPattern("the least is above the most", quantifier.start(), quantifier.end())
        return BadPattern(error.msg.split(" at position")[0], start, min(start + 1, len(pattern)))
    except (OverflowError, RecursionError, MemoryError):
        return BadPattern("it is too complex", 0, len(pattern))
    only = _PYTHON_ONLY.search(translated)
    if only and "(?P<" not in only[0] and "(?P=" not in only[0]:
        start = starts[min(only.start(), len(starts) - 1)]
        return BadPattern(
            f"JSON Schema's regular expressions have no {only[0]}", start, min(start + len(only[0]), len(pattern))
        )
    own = re.search(r"\(\?P[<=>]", pattern)
    if own:
        return BadPattern("JSON Schema's regular expressions name a group (?<name>…)", own.start(), own.end())
    return None


def _as_python(pattern: str) -> tuple[str, list[int]]:
    """The pattern as Python spells it, and for each character of that where it comes from."""
    pieces: list[str] = []
    starts: list[int] = []
    pos, in_class = 0, False

    def put(text: str, start: int) -> None:
        pieces.append(text)
        starts.extend([start] * len(text))

    while pos < len(pattern):
        char, start = pattern[pos], pos
        if char == "\\":
            match = _ESCAPE.match(pattern, pos)
            if match is None:
                put("\\", start)
                break
            pos = match.end()
            put(_escape(match[0], in_class), start)
            continue
        pos += 1
        if in_class:
            if char == "]":
                in_class = False
                put("]", start)
            else:
                put(f"\\{char}" if char in "[&|~#" else char, start)
        elif char == "[":
            if pattern.startswith("[^]", start):
                put(r"[\s\S]", start)
                pos += 2
            elif pattern.startswith("[]", start):
                put("(?!)", start)
                pos += 1
            else:
                in_class = True
                put("[", start)
        elif pattern.startswith("(?<", start) and pattern[start + 3 : start + 4] not in ("=", "!"):
            put("(?P<", start)
            pos += 2
        else:
            put(char, start)
    starts.append(len(pattern))
    return "".join(pieces), starts


def _escape(text: str, in_class: bool) -> str:
    """Escape sequence, as Python's parser has to see it."""
    kind = text[1]
    if kind in "pP" and len(text) > 2:
        return r"\w"
    if kind == "k" and len(text) > 2:
        return f"(?P={text[3:-1]})" if not in_class else "k"
    if kind in "uxc" and len(text) > 2:
        return "x"
    if kind in _KNOWN_ESCAPES:
        return r"\x08" if in_class and kind in "bB" else text
    if kind.isdigit():
        return "x" if in_class or kind == "0" else text
    return re.escape(kind)
