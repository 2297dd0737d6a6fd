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
_stem = Stemmer.Stemmer("english", 0).stemWord  # no cache of its own: ours are bounded

MAX_WORD = 80
"""Longer words are data (base64, hashes, minified code), not names."""


_MAX_STEMS = 30_000
"""Pieces of identifiers whose stems are remembered; few occur in many identifiers."""


class _Stems(dict[str, str]):
    """The stems of the pieces met so far."""

    def __missing__(self, piece: str) -> str:
        if len(self) >= _MAX_STEMS:
            self.clear()
        stem: str = _stem(piece)
        self[piece] = stem
        return stem


_stem_of = _Stems().__getitem__


@lru_cache(maxsize=65536)
def split_word(word: str) -> tuple[str, ...]:
    """Split one identifier into lower-case pieces, followed by the joined whole where there is more than one."""
    pieces = _pieces(word)
    if len(pieces) > 1:
        pieces.append(_joined(pieces))
    return tuple(pieces)


@lru_cache(maxsize=65536)
def stem_word(word: str) -> tuple[str, ...]:
    """Split one identifier as `split_word` does, each piece stemmed."""
    return _stemmed(word)


def _pieces(word: str) -> list[str]:
    return list(map(str.lower, _PIECE.findall(word)))


def _joined(pieces: list[str]) -> str:
    """Two pieces or more as one word; of letters and a number behind them, only the letters stay as a piece."""
    joined = "".join(pieces)
    if len(pieces) == 2 and pieces[1].isdigit():
        del pieces[1]
    return joined


def _stemmed(word: str) -> tuple[str, ...]:
    pieces = _pieces(word)
    if len(pieces) < 2:
        return tuple(map(_stem_of, pieces))
    joined = _stem(_joined(pieces))
    return (*map(_stem_of, pieces), joined)


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
        return (_stem_of(word),)
    return _stemmed(word)  # who counts words remembers them itself
