"""Code-aware terms: what an identifier says, in words.

`parseHTTPResponse2` reads as *parse http response 2*; each compound also yields itself joined (`parsehttpresponse2`), so
that `parse_http_response2` and `parseHttpResponse2` find each other. Stemming is left to the full-text index.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\da-zA-Z_]+")

MAX_WORD = 80
"""Longer words are data (base64, hashes, minified code), not names."""


@lru_cache(maxsize=65536)
def split_word(word: str) -> tuple[str, ...]:
    """Split one identifier into lower-case pieces, followed by the joined whole where there is more than one."""
    pieces = tuple(piece.lower() for piece in _PIECE.findall(word))
    if len(pieces) < 2:
        return pieces
    joined = "".join(pieces)
    letters_then_digits = len(pieces) == 2 and pieces[1].isdigit()
    return (*pieces[:1], joined) if letters_then_digits else (*pieces, joined)


def terms(text: str) -> list[str]:
    """Every term of `text`, in order, with repeats."""
    found: list[str] = []
    for word in _WORD.findall(text):
        if len(word) <= MAX_WORD:
            found.extend(split_word(word))
    return found


def capped(words: Iterable[str], at_most: int) -> str:
    """Join words for the index, each kept at most `at_most` times: a word's tenth use tells nothing new."""
    seen: dict[str, int] = {}
    kept: list[str] = []
    for word in words:
        count = seen.get(word, 0)
        if count < at_most:
            seen[word] = count + 1
            kept.append(word)
    return " ".join(kept)
