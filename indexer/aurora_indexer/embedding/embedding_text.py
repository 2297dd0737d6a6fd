"""Embedding text (input of the model): what of a chunk is embedded: its name in words, its signature, its
documentation, the lines it begins with. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from aurora_memory.chunks import MODULE_NAME
from aurora_memory.tokens import split_word

VERSION = 1
"""Counts up with every change here that makes other texts: vectors made from the old ones are then made again."""

MAX_CHARS = 1600
"""About what the usual models read (256 tokens of code)."""

MAX_DOC = 800
MAX_LINES = 20
MAX_LINE = 200


def chunk_text(path: str, name: str, signature: str, docstring: str, lines: Sequence[str]) -> str:
    """The text that stands for a chunk, at most MAX_CHARS; `lines` are its own, from the first on."""
    called = path.rpartition("/")[2].partition(".")[0] if name == MODULE_NAME else name
    said = {line.strip() for line in [*docstring.splitlines(), *signature.splitlines()]} | {""}
    kept = (line.strip()[:MAX_LINE] for line in lines[: 4 * MAX_LINES])
    body = islice((line for line in kept if line.strip("\"'/*# ") not in said and line not in said), MAX_LINES)
    pieces = (" ".join(_words(called)), signature, docstring[:MAX_DOC].strip(), *body)
    return "\n".join(piece for piece in pieces if piece)[:MAX_CHARS]


def _words(name: str) -> Iterator[str]:
    for word in re.findall(r"\w+", name):
        pieces = split_word(word[:MAX_LINE])
        yield from pieces[:-1] or pieces  # the last of several is the name as a whole
