"""C and C++ before their grammars: the language of a header, and macros that a grammar stumbles over.

The name of a header, `.h`, leaves open which of both it is in. A grammar sees a source before the preprocessor does: in
`class MYLIB_EXPORT Widget : public Base { … }` it takes the macro for the class and the rest for a function without a
type, and what is in the braces for that function's body. Such macros are hidden from it, and from nothing else.
"""

from __future__ import annotations

import re

_SIGNS = re.compile(
    rb"(?m)^[ \t]*(?:class[ \t]+\w+[^;\n]*$|(?:inline[ \t]+)?namespace\b|template[ \t]*<"
    rb"|using[ \t]+\w+|(?:public|private|protected)[ \t]*:)"
)

_OWN_SIGNS = (
    # struct X : Y, virtual void f(), ~X() {}, and a header of the standard library's
    re.compile(
        rb"(?m)^[ \t]*(?:struct[ \t]+\w+(?:[ \t]+final)?[ \t]*:(?!:)|virtual[ \t]+[\w~]"
        rb"|~\w+\((?:void)?\)[ \t]*(?:[{=]|noexcept|override)|#[ \t]*include[ \t]*<[a-z_]+>)"
    ),
    re.compile(rb"const[ \t]+\w+(?:::\w+)*[ \t]*&"),
    re.compile(rb"\)[ \t]*const[ \t]*[;{=]"),
    re.compile(rb"std::\w"),
    re.compile(rb"operator(?:[-+*/%^&|~!=<>]{1,3}|\(\)|\[\])\("),
)
"""Syntax that C has not; but a header for both languages may have it for C++ only."""

_FOR_BOTH = re.compile(rb"#[ \t]*(?:ifdef[ \t]+__cplusplus|if[ \t]+defined[ \t(]+__cplusplus)")

_NO_CODE = re.compile(rb"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?", re.DOTALL)


def is_cpp(source: bytes) -> bool:
    """Whether there is something in a source that is C++ and not C, out of its comments and strings."""
    signs = (_SIGNS,) if _FOR_BOTH.search(source) else (_SIGNS, *_OWN_SIGNS)
    found = next(filter(None, (sign.search(source) for sign in signs)), None)
    if found is None:
        return False
    # The first sign is nearly always code: as far as its line, then.
    for end in (source.find(b"\n", found.end()) + 1 or len(source), len(source)):
        code = _NO_CODE.sub(b" ", source[:end])
        if any(sign.search(code) for sign in signs):
            return True
    return False


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
