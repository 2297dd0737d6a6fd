"""C# before its grammar (preprocessing): directives it does not know, conditionals within what it knows, and angle
brackets deeper than anyone writes: for those its memory grows with their square. And declarations that tell types.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from aurora_indexer.languages import conditionals
from aurora_indexer.languages.java import MADE
from aurora_indexer.languages.name_syntax import GENERIC, NAME, TYPE, NameSyntax

NAMES = NameSyntax(
    # A field, a property, a parameter, a local or a pattern's variable.
    declaration=(
        rb"(?P<type>" + TYPE + rb")" + GENERIC + rb"\??\s{1,20}(?P<name>" + NAME + rb")"
        rb"\s{0,20}(?=[=;,){]|\bin\b)"
    ),
    assignment=MADE,
    has_bare_fields=True,
)

_DEEP = re.compile(rb"(?:<[\w.,?\s\[\]]{0,80}+){32,}+")

_FILE_DIRECTIVE = re.compile(rb"(?m)^#:[^\n]*")
"""`#:package Name@1.0`, of a file that is a program by itself."""

_PRINTED = re.compile(rb"\S")


def hidden(source: bytes) -> bytes:
    """The source without directives of a file-based program, and without what opens 32 angle brackets and closes none,
    byte for byte as long.
    """
    if b"#:" in source:
        source = _FILE_DIRECTIVE.sub(_blank, source)
    return _DEEP.sub(_blank, source)


def mended(source: bytes, _is_read: Callable[[bytes], bool]) -> bytes:
    """The source with one branch left of each conditional within a member or a list, byte for byte as long."""
    text = bytearray(source)
    for start, end in conditionals.partial(source, lists=False):
        text[start:end] = _PRINTED.sub(b" ", source[start:end])
    return bytes(text)


def _blank(match: re.Match[bytes]) -> bytes:
    return _PRINTED.sub(b" ", match[0])
