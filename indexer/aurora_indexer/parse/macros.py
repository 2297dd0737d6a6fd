"""Macros that a C or C++ grammar stumbles over are hidden from it, and from nothing else.

A grammar sees a source before the preprocessor does. In `class MYLIB_EXPORT Widget : public Base { … }` it takes the
macro for the class and the rest for a function without a type, and what is in the braces for that function's body.
"""

from __future__ import annotations

import re

_MAYBE = (re.compile(rb"ss\s+[A-Z_]{2}"), re.compile(rb"ct\s+[A-Z_]{2}"))
"""The ends of `class` and `struct` before capitals: what begins alike is found in a fifth of the time."""

_EXPORTED = re.compile(
    rb"\b(?:class|(struct))\s+"
    rb"((?:[A-Z_][A-Z0-9_]{2,80}(?:[ \t]{0,8}\([^()\n]{0,200}\))?\s{1,80}){1,3})"
    rb"(?:\[\[[^\]\n]{0,200}\]\]\s{0,80})?"
    rb"(?!final\b)[A-Za-z_]\w{0,200}(?:::\w{1,200}){0,8}(?:[ \t]{0,8}<[^;{}()]{0,200}>)?\s{0,80}(?:final\s{0,80})?"
    # `struct STAT found{1, 2};` is a variable: no member of a class ends without a semicolon.
    rb"(?::(?!:)|\{(?(1)(?!([^;{}]{0,200}\}\s{0,80};))))"
)

_NAMESPACE = re.compile(rb"(?m)^[ \t]{0,80}([A-Z_][A-Z0-9_]{0,60}NAMESPACE[A-Z0-9_]{0,60})[ \t\r]{0,80}$")
"""A line of its own that opens or closes a namespace: the grammar takes it for the type of what comes next."""

_PRINTED = re.compile(rb"\S")


def hidden(source: bytes) -> bytes:
    """The source with macros blanked, byte for byte: those between `class` and a name, and those for a namespace."""
    spans = []
    if any(maybe.search(source) for maybe in _MAYBE):
        spans = [match.span(2) for match in _EXPORTED.finditer(source)]
    if b"NAMESPACE" in source:
        spans += [match.span(1) for match in _NAMESPACE.finditer(source)]
    if not spans:
        return source
    text = bytearray(source)
    for start, end in spans:
        text[start:end] = _PRINTED.sub(b" ", text[start:end])
    return bytes(text)
