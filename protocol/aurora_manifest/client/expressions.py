"""Regular expressions of JSON Schema (ECMA-262 with the `u` flag) translated to Python's.

`rules.patterns` only asks whether an expression is well-formed; here it has to mean the same.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

_ESCAPE = re.compile(
    r"\\(?:[pP]\{(?P<property>[^}]*)\}|u\{(?P<point>[0-9A-Fa-f]{1,6})\}"
    r"|u(?P<high>[dD][89abAB][0-9A-Fa-f]{2})\\u(?P<low>[dD][c-fC-F][0-9A-Fa-f]{2})"
    r"|u(?P<unit>[0-9A-Fa-f]{4})|x(?P<byte>[0-9A-Fa-f]{2})|c(?P<control>[A-Za-z])|k<(?P<name>\w+)>"
    r"|(?P<back>[1-9][0-9]*)|(?P<null>0)(?![0-9])|(?P<other>\D))",
    re.DOTALL,
)
_AS_THEY_ARE = frozenset("dDwWtnrfv")
_LINE_ENDS = "\\n\\r\\u2028\\u2029"
_SPACE = (0x9, 0xA, 0xB, 0xC, 0xD, 0x20, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
_SPACE = (*_SPACE, 0xFEFF)

_CATEGORIES = dict.fromkeys("L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So".split(), "")
_CATEGORIES |= dict.fromkeys("Z Zs Zl Zp C Cc Cf Cs Co Cn".split(), "")
_CATEGORIES |= {
    "L": "Letter",
    "Lu": "Uppercase_Letter",
    "Ll": "Lowercase_Letter",
    "M": "Mark",
    "N": "Number",
    "Nd": "Decimal_Number",
    "P": "Punctuation",
    "S": "Symbol",
    "Sc": "Currency_Symbol",
    "Z": "Separator",
    "Zs": "Space_Separator",
    "C": "Other",
    "Cc": "Control",
}
_SHORT = {name: short for short, name in _CATEGORIES.items() if name}

EMPTY_PLANES = range(0x40000, 0xE0000)
"""Code points of the planes in which Unicode has no character: more than half of all."""


class PythonPattern(str):
    """A pattern as Python spells it; `written` is how the schema has it."""

    written: str

    def __new__(cls, python: str, written: str) -> PythonPattern:
        made = super().__new__(cls, python)
        made.written = written
        return made


class _Unknown(Exception):
    """Python's expressions have nothing of the kind."""


@lru_cache(maxsize=256)
def as_python(pattern: str) -> PythonPattern | None:
    """The expression for `re.search`, or None where Python has none that means the same.

    `$` is the end, and not the place before a last line break; `\\d` and `\\w` are ASCII, `\\p{…}` knows the general
    categories of Unicode, and none of its scripts.
    """
    try:
        python = "".join(_pieces(pattern))
        re.compile(python, re.ASCII)
    except (_Unknown, re.error, OverflowError, RecursionError, MemoryError):
        return None
    return PythonPattern(f"(?a:{python})", pattern)


def _pieces(pattern: str) -> Iterable[str]:
    """Tokens of a pattern, each translated. Raises _Unknown."""
    pos, in_class = 0, False
    while pos < len(pattern):
        char = pattern[pos]
        if char == "\\":
            match = _ESCAPE.match(pattern, pos)
            if match is None:
                raise _Unknown
            yield _escape(match, in_class)
            pos = match.end()
            continue
        if in_class:
            in_class = char != "]"
            yield f"\\{char}" if char in "[&|~#" else char
        elif pattern.startswith("[^]", pos):
            yield r"[\s\S]"
            pos += 2
        elif pattern.startswith("[]", pos):
            yield "(?!)"
            pos += 1
        elif pattern.startswith("(?<", pos) and pattern[pos + 3 : pos + 4] not in ("=", "!"):
            yield "(?P<"
            pos += 2
        else:
            in_class = char == "["
            yield {"$": r"\Z", ".": f"[^{_LINE_ENDS}]"}.get(char, char)
        pos += 1


def _escape(match: re.Match[str], in_class: bool) -> str:
    """Escape sequence, translated. Raises _Unknown."""
    match match.lastgroup:
        case "property":
            return _set(_points_of(match["property"]), match[0][1] == "P", in_class)
        case "point" | "unit" | "byte":
            return _character(int(match[match.lastgroup], 16))
        case "low":
            return _character(0x10000 + ((int(match["high"], 16) & 0x3FF) << 10) + (int(match["low"], 16) & 0x3FF))
        case "control":
            return _character(ord(match["control"]) & 31)
        case "null":
            return _character(0)
        case "name" | "back" if in_class:
            raise _Unknown
        case "name":
            return f"(?P={match['name']})"
        case "back":
            return match[0]
    char = match["other"]
    if char in "sS":
        return _set(_ranges(_SPACE), char == "S", in_class)
    if char in "bB":
        return "\\x08" if in_class and char == "b" else match[0]
    return match[0] if char in _AS_THEY_ARE else re.escape(char)


def _character(point: int) -> str:
    if point > sys.maxunicode:
        raise _Unknown
    return f"\\U{point:08x}"


def _set(ranges: tuple[tuple[int, int], ...], inverted: bool, in_class: bool) -> str:
    """Character class of code points, perhaps inverted."""
    if inverted:
        starts = [0, *(last + 1 for _, last in ranges)]
        ends = [*(first - 1 for first, _ in ranges), sys.maxunicode]
        ranges = tuple((first, last) for first, last in zip(starts, ends, strict=True) if first <= last)
    if not ranges:
        raise _Unknown
    text = "".join(f"{_character(first)}-{_character(last)}" for first, last in ranges)
    return text if in_class else f"[{text}]"


def _points_of(name: str) -> tuple[tuple[int, int], ...]:
    """Code points of a Unicode property. Raises _Unknown."""
    for prefix in ("gc=", "General_Category="):
        name = name.removeprefix(prefix)
    if name == "ASCII":
        return ((0, 0x7F),)
    if name == "Any":
        return ((0, sys.maxunicode),)
    short = _SHORT.get(name, name)
    if short not in _CATEGORIES:
        raise _Unknown
    return _category(short)


@lru_cache(maxsize=8)
def _category(short: str) -> tuple[tuple[int, int], ...]:
    """All characters of a general category: some 80 ms, for the schemas that ask for one."""
    category = unicodedata.category
    empty = EMPTY_PLANES if "Cn".startswith(short) else ()
    points = chain(range(EMPTY_PLANES.start), empty, range(EMPTY_PLANES.stop, sys.maxunicode + 1))
    return _ranges(point for point in points if category(chr(point)).startswith(short))


def _ranges(points: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Contiguous ranges of sorted code points."""
    found: list[tuple[int, int]] = []
    for point in points:
        if found and found[-1][1] == point - 1:
            found[-1] = (found[-1][0], point)
        else:
            found.append((point, point))
    return tuple(found)
