"""Source text to search terms, fast: the same terms as `aurora_memory.tokens`, each distinct word split once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from aurora_memory.tokens import MAX_WORD, terms

MAX_TERMS = 3000
"""Terms kept of one text."""

_AT_MOST = 3
"""Times a word is kept: its tenth use tells nothing new."""

_MAX_REMEMBERED = 100_000
"""Words; at some 200 bytes each."""

# Bytes that no word holds become spaces; beyond ASCII, `terms` decides.
_SPACED = bytes(b if b >= 128 or bytes((b,)).isalnum() or b == ord("_") else ord(" ") for b in range(256))


class _SplitWords(dict[bytes, str]):
    """The terms of each word met so far, each followed by a space."""

    def __missing__(self, word: bytes) -> str:
        split = "".join([term + " " for term in terms(word.decode("utf-8", "replace"))])
        if len(word) <= MAX_WORD:
            if len(self) >= _MAX_REMEMBERED:
                self.clear()
            self[word] = split
        return split


_terms_of = _SplitWords().__getitem__


class _SplitNames(dict[str, str]):
    """As above, for the segments of names."""

    def __missing__(self, name: str) -> str:
        split = "".join(map(_terms_of, name.encode("utf-8", "replace").translate(_SPACED).split()))
        if len(self) >= _MAX_REMEMBERED:
            self.clear()
        self[name] = split
        return split


_terms_of_name = _SplitNames().__getitem__


def names_terms(names: Iterable[str]) -> str:
    """The terms of names, which are met often, joined by spaces, in order, with repeats."""
    return "".join(map(_terms_of_name, names)).rstrip()


def all_terms(text: str) -> str:
    """The terms of a short text (a path, a signature) joined by spaces, in order, with repeats."""
    return "".join(map(_terms_of, text.encode("utf-8", "replace").translate(_SPACED).split())).rstrip()


def text_terms(text: bytes) -> str:
    """The terms of a text joined by spaces, each word's at most 3 times and together, by first use; 3,000 in all."""
    counts = Counter(text.translate(_SPACED).split())
    joined = "".join([_terms_of(word) * (n if n < _AT_MOST else _AT_MOST) for word, n in counts.items()])
    if len(joined) > 2 * MAX_TERMS:
        return " ".join(joined.split(" ", MAX_TERMS)[:MAX_TERMS]).rstrip()
    return joined.rstrip()
