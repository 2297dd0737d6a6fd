"""C# before its grammar: angle brackets deeper than anyone writes, for which its memory grows with their square."""

from __future__ import annotations

import re

_DEEP = re.compile(rb"(?:<[\w.,?\s\[\]]{0,80}+){32,}+")

_PRINTED = re.compile(rb"\S")


def hidden(source: bytes) -> bytes:
    """The source without what opens 32 angle brackets and closes none, byte for byte as long."""
    return _DEEP.sub(_blank, source)


def _blank(match: re.Match[bytes]) -> bytes:
    return _PRINTED.sub(b" ", match[0])
