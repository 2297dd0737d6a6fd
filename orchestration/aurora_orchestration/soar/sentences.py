"""Sentence splitting of an answer's text, bounded so that patterns take linear time for it (no ReDoS)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

MAX_TEXT = 100_000
_DATA = re.compile(r"\S{400,}")
_FIGURE = re.compile(r"(?<=\d{30})\d+")
"""What of a figure is beyond any that is read: the rest of it is looked at, as of a place at an absurd line."""
_GAP = re.compile(r"[^\S\n]{20,}")
_SENTENCE = re.compile(
    r"(?<=[.!?;])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<! vs\.)(?<! cf\.)(?<! al\.)(?<! [A-Z]\.)\s+(?=\S)|\n+"
)


def bounded(text: str) -> str:
    """A text that patterns take linear time for: cut, without words and gaps that nobody would read."""
    return _GAP.sub(" ", _DATA.sub(" ", _FIGURE.sub("", text[:MAX_TEXT])))


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text; each line, as of a list, is at least one."""
    cuts = [0, *(match.end() for match in _SENTENCE.finditer(text)), len(text)]
    for begin, end in pairwise(cuts):
        if text[begin:end].strip():
            yield text[begin:end]
