"""Source text to search terms, fast: the same terms as `aurora_memory.tokens`, each distinct word split once."""

from __future__ import annotations

from collections import Counter
from itertools import chain

from aurora_memory.tokens import MAX_WORD, terms

MAX_TERMS = 3000
"""Terms kept of one text."""

_AT_MOST = 3
"""Times a term is kept: its tenth use tells nothing new."""

_MAX_REMEMBERED = 65536

# Bytes that no word holds become spaces; beyond ASCII, `terms` decides.
_SPACED = bytes(b if b >= 128 or bytes((b,)).isalnum() or b == ord("_") else ord(" ") for b in range(256))


class _SplitWords(dict[bytes, tuple[str, ...]]):
    """The terms of each word met so far."""

    def __missing__(self, word: bytes) -> tuple[str, ...]:
        if word.isdigit():
            return (word.decode(),) if len(word) <= MAX_WORD else ()
        split = tuple(terms(word.decode("utf-8", "replace")))
        if len(word) <= MAX_WORD:
            if len(self) >= _MAX_REMEMBERED:
                self.clear()
            self[word] = split
        return split


_terms_of = _SplitWords().__getitem__


def all_terms(text: str) -> str:
    """The terms of a short text (a name, a signature) joined by spaces, in order, with repeats."""
    return " ".join(chain.from_iterable(map(_terms_of, text.encode("utf-8", "replace").translate(_SPACED).split())))


def text_terms(text: bytes) -> str:
    """The terms of a text joined by spaces, grouped, in order of first use: each at most 3 times, 3,000 in all."""
    counts = Counter(chain.from_iterable(map(_terms_of, text.translate(_SPACED).split())))
    joined = [term if n == 1 else f"{term} {term}" if n == 2 else f"{term} {term} {term}" for term, n in counts.items()]
    if len(counts) * _AT_MOST > MAX_TERMS:
        return " ".join(" ".join(joined).split(" ", MAX_TERMS)[:MAX_TERMS])
    return " ".join(joined)
