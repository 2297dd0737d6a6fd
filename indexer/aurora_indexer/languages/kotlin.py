"""Kotlin before its grammar (preprocessing): of several annotations of a class, which it takes for an expression, one
is left; whom an object delegates to, which it takes for a call with a lambda, is told only where nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_ANNOTATION = rb"@[\w.]{1,80}+(?:\([^()\n]{0,200}+\))?+"

_GAP = rb"(?:[ \t]{0,80}+//[^\n]{0,200}+)?+\s{1,80}+"

_ANNOTATIONS = re.compile(
    rb"(?m)^" + _ANNOTATION + rb"((?:" + _GAP + _ANNOTATION + rb"){1,20}+)"
    rb"(?=\s{1,80}+(?:[a-z]{1,20}+[ \t]{1,8}+){0,5}(?:class|interface|object)\b)"
)

_CONSTRUCTED = re.compile(
    rb"\bclass\s{1,8}+(?:\w{1,200}+|`[^`\n]{1,200}+`)(?:<[^{}();]{0,200}>)?+"
    rb"([ \t]{0,80}+\r?\n\s{0,80}+(?:" + _ANNOTATION + rb"\s{1,80}+){0,8}+"
    rb"(?:[a-z]{1,20}\s{1,80})?constructor)(?=\s{0,8}+\()"
)
"""`class Reader`, and on the next line `@JvmOverloads internal constructor(`: no body follows that, for the grammar."""

_MANY = re.compile(rb"(?:" + _ANNOTATION + rb"[^\w@]{0,16}+){32,}+")
_FEW = 32
"""More annotations in a row than anyone writes; the grammar's memory grows with their square."""

_DELEGATED = re.compile(
    rb"\bobject\s{0,80}+:\s{0,80}+[\w.]{1,200}+(?:<[^{}();]{0,200}>)?+(?:\([^(){}]{0,200}+\))?+"
    rb"(\s{1,80}+by\s{1,80}+[\w.]{1,200}+(?:\([^(){}]{0,200}+\))?+)(?=\s{0,80}+\{)"
)
"""`object : Callback<T> by callback {`"""

_PRINTED = re.compile(rb"\S")


def hidden(source: bytes) -> bytes:
    """The source with all annotations of a class at the left margin but the first blanked, byte for byte, and with what
    is said of a constructor below its class.
    """
    if b"constructor" in source:
        source = _CONSTRUCTED.sub(_first_only, source)
    if b"\n@" in source:
        source = _ANNOTATIONS.sub(_first_only, source)
    return _MANY.sub(_none, source) if source.count(b"@") > _FEW else source


def mended(source: bytes, _is_read: Callable[[bytes], bool]) -> bytes:
    """The source without those whom its objects delegate to, byte for byte as long."""
    return _DELEGATED.sub(_first_only, source)


def _none(match: re.Match[bytes]) -> bytes:
    return _PRINTED.sub(b" ", match[0])


def _first_only(match: re.Match[bytes]) -> bytes:
    first = match.start(1) - match.start()
    return match[0][:first] + _PRINTED.sub(b" ", match[1])
