"""Tokenizer of code (splitting of camel case and snake case): what an identifier says, in words, with stemming for the
index and for queries.

`parseHTTPResponse2` reads as *parse http response 2*; each compound also yields itself joined (`parsehttpresponse2`),
so that `parse_http_response2` and `parseHttpResponse2` find each other. `words` keeps words as written (for people),
`terms` stems them (for the index and for queries), so that "expanding" finds `expand`. Letters fold (`café` is `cafe`),
and a script that sets no spaces (Chinese, Japanese; Korean for its particles) is cut into pairs of characters.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from unicodedata import normalize

import Stemmer

_WORD = re.compile(r"[^\W_]\w*")
_CJK = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = re.compile(f"[{_CJK}]+")
_PIECE = re.compile(rf"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[{_CJK}]+|[^\W\da-zA-Z_{_CJK}]+")
_stem = Stemmer.Stemmer("english", 0).stemWord  # no cache of its own: ours are bounded

MAX_WORD = 80
"""Longer words are data (base64, hashes, minified code), not names. A sentence without spaces is no such word."""

_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
    | {"Æ": "AE", "Œ": "OE", "Ø": "O", "Ł": "L", "Đ": "D", "Ð": "D", "Þ": "TH", "ẞ": "SS", "ς": "σ"}
)
"""Letters that are another's variant and have no parts for Unicode."""

_MARKED = re.compile("[A-Za-z\u0370-\u03ff][\u0300-\u036f]+")
"""A Latin or Greek letter with its marks: of others (й, が) the mark makes another letter."""

_MAX_STEMS = 8192
"""Pieces of identifiers whose stems are remembered; few occur in many identifiers."""

MAX_WORDS = 6144
"""Identifiers whose stems are remembered: of 523,000 that tags of an index of 17,326 chunks ask for, 95 to 96 % are
known then, and 96.7 % where all 17,265 different ones are kept, for three times the memory."""

MAX_SPLIT = 1024
"""Identifiers whose pieces are remembered here: who asks for many of them remembers what they make of it."""


class _Stems(dict[str, str]):
    """Cache of the stems of the pieces met so far."""

    def __missing__(self, piece: str) -> str:
        if len(self) >= _MAX_STEMS:
            self.clear()
        stem: str = _stem(piece)
        self[piece] = stem
        return stem


_stem_of = _Stems().__getitem__


@lru_cache(maxsize=MAX_SPLIT)
def split_word(word: str) -> tuple[str, ...]:
    """Split one identifier into lower-case pieces, followed by the joined whole where there is more than one."""
    pieces = _pieces(word)
    if is_unspaced(word):
        return tuple(pieces)
    if len(pieces) > 1:
        pieces.append(_joined(pieces))
    return tuple(pieces)


@lru_cache(maxsize=MAX_WORDS)
def stem_word(word: str) -> tuple[str, ...]:
    """Split one identifier as `split_word` does, each piece stemmed."""
    return _stemmed(word)


def folded(word: str) -> str:
    """Unicode normalization, a word without accents (diacritics): `café` as `cafe`, `Größe` as `Grosse`, full-width
    letters as plain ones.
    """
    if word.isascii():
        return word
    parts = normalize("NFKD", word.translate(_LETTERS))
    return normalize("NFC", _MARKED.sub(lambda letter: letter[0][0], parts))


def _pieces(word: str) -> list[str]:
    """The pieces of an identifier: only its own, where a script sets no spaces in it (no whole is told beside them)."""
    return list(map(str.lower, _PIECE.findall(word if word.isascii() else folded(word))))


def _pairs(run: str) -> list[str]:
    """Bigrams (n-grams): the pairs of characters in text that sets no spaces; one character stays one."""
    return [one + other for one, other in pairwise(run)] or [run]


def _segmented(pieces: list[str]) -> list[str]:
    """The same pieces, those that set no spaces cut into pairs."""
    return [part for piece in pieces for part in (_pairs(piece) if _UNSPACED.match(piece) else (piece,))]


def is_unspaced(word: str) -> bool:
    """Word with characters of a script that sets no spaces."""
    return not word.isascii() and _UNSPACED.search(word) is not None


def _joined(pieces: list[str]) -> str:
    """Two pieces or more as one word; of letters and a number behind them, only the letters stay as a piece."""
    joined = "".join(pieces)
    if len(pieces) == 2 and pieces[1].isdigit():
        del pieces[1]
    return joined


def _stemmed(word: str) -> tuple[str, ...]:
    """Stems of a word's pieces, and of its whole where there are several."""
    pieces = _pieces(word)
    if is_unspaced(word):
        return tuple(map(_stem_of, _segmented(pieces)))
    if len(pieces) < 2:
        return tuple(map(_stem_of, pieces))
    joined = _stem(_joined(pieces))
    return (*map(_stem_of, pieces), joined)


def words_in(text: str) -> list[str]:
    """The words of `text` as they are written, a letter and its mark as one character."""
    found: list[str] = _WORD.findall(text if text.isascii() else normalize("NFC", text))
    return found


def words(text: str) -> list[str]:
    """Every word of `text` as people read it: split and lower-cased, in order, with repeats."""
    found: list[str] = []
    for word in words_in(text):
        if len(word) <= MAX_WORD or is_unspaced(word):
            found.extend(split_word(word))
    return found


def terms(text: str) -> list[str]:
    """Every term of `text` as the index knows it: split, lower-cased and stemmed, in order, with repeats."""
    found: list[str] = []
    for word in words_in(text):
        if len(word) <= MAX_WORD or is_unspaced(word):
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
