"""Value text (wording of messages): how findings speak of values, short and printable."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_SHOWN = 40
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]")
_HALF = re.compile("[\ud800-\udfff]")

_TYPES = {"object": "an object", "array": "an array", "string": "a string", "number": "a number"}
_TYPES |= {"integer": "a whole number", "boolean": "true or false", "null": "null"}


def excerpt(text: str) -> str:
    """Truncated excerpt, a piece of the user's text for a message: at most 40 characters, with nothing unprintable in
    it.
    """
    printable = _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text[: _SHOWN + 1])
    return printable if len(printable) <= _SHOWN else f"{printable[: _SHOWN - 1]}…"


def sendable(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair, which JSON can spell and UTF-8 cannot send."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def quoted(text: str) -> str:
    """A name or string value, in double quotes."""
    return f'"{excerpt(text)}"'


def described(value: Any) -> str:
    """A JSON value in words: `the string "1"`, `an array`, `null`."""
    match value:
        case str():
            return f"the string {quoted(value)}"
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case dict():
            return "an object"
        case list():
            return "an array"
    try:
        return f"the number {excerpt(str(value))}"
    except ValueError:  # Python refuses to spell integers beyond its own limit of digits
        return "a very large number"


def type_in_words(*types: str) -> str:
    """JSON Schema types in words: `an object`, `an object, true or false`."""
    return alternatives([_TYPES.get(kind, kind) for kind in types])


def alternatives(choices: Sequence[str]) -> str:
    """`GET, POST or PUT`."""
    return choices[0] if len(choices) == 1 else f"{', '.join(choices[:-1])} or {choices[-1]}"


def with_article(noun: str) -> str:
    """`a method`, `an encoding`."""
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"
