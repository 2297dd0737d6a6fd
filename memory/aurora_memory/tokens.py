"""Code-aware terms: what an identifier says, in words.

`parseHTTPResponse2` reads as *parse http response 2*; each compound also yields itself joined (`parsehttpresponse2`),
so that `parse_http_response2` and `parseHttpResponse2` find each other. `words` keeps words as written (for people),
`terms` stems them (for the index and for queries), so that "expanding" finds `expand`.
"""

from __future__ import annotations

import re
from functools import lru_cache

import Stemmer

_WORD = re.compile(r"[^\W_]\w*")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\da-zA-Z_]+")
_stemmer = Stemmer.Stemmer("english", 0)  # no cache of its own: ours holds whole words

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


@lru_cache(maxsize=65536)
def stem_word(word: str) -> tuple[str, ...]:
    """Split one identifier as `split_word` does, each piece stemmed."""
    return tuple(_stemmer.stemWords(split_word(word)))


def words(text: str) -> list[str]:
    """Every word of `text` as people read it: split and lower-cased, in order, with repeats."""
    found: list[str] = []
    for word in _WORD.findall(text):
        if len(word) <= MAX_WORD:
            found.extend(split_word(word))
    return found


def terms(text: str) -> list[str]:
    """Every term of `text` as the index knows it: split, lower-cased and stemmed, in order, with repeats."""
    found: list[str] = []
    for word in _WORD.findall(text):
        if len(word) <= MAX_WORD:
            found.extend(stem_word(word))
    return found


def plain_terms(word: str) -> tuple[str, ...]:
    """The terms of one ASCII word of letters, digits and `_`: as `terms`, without looking for words in it first."""
    word = word.lstrip("_")
    if len(word) > MAX_WORD:
        return ()
    if word.isalpha() and word.islower():
        return (_stemmer.stemWord(word),)
    return stem_word(word)
