"""Single-file components (Vue, Svelte) before TypeScript's grammar: what stands outside their scripts is blank, byte
for byte as long.

Markup and styles are no code; they stay words of the file's remainder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_BEGINS = re.compile(rb"\s*+<(?:[A-Za-z]|!--)")
_ENDS = re.compile(rb"(?m)^(?:</[A-Za-z]|[ \t]*+<script\b)|>\s*+\Z")
_SCRIPT = re.compile(rb"(?mi)^[ \t]*+<script\b(?:\"[^\"]*+\"|'[^']*+'|[^>\"'])*+>")
_END = re.compile(rb"(?i)</script\s*+>")
_PRINTED = re.compile(rb"[^\s]")


def hidden(source: bytes) -> bytes:
    """A component's scripts where they stand, and nothing else; any other source as it is."""
    if not _BEGINS.match(source) or not _ENDS.search(source):
        return source
    seen = bytearray(_PRINTED.sub(b" ", source))
    for start, end in _scripts(source):
        seen[start:end] = source[start:end]
    return bytes(seen)


def _scripts(source: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    while (begun := _SCRIPT.search(source, at)) is not None:
        ended = _END.search(source, begun.end())
        if ended is None:  # it is being written
            yield begun.end(), len(source)
            return
        yield begun.end(), ended.start()
        at = ended.end()
