"""Summary of a chunk: its cyclomatic complexity, and the keywords that tell it best."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

from aurora_memory.chunks import ComplexityCounts
from aurora_memory.stopwords import STOP_WORDS
from aurora_memory.tokens import MAX_WORD, split_word

MIN_KEYWORDS = 5
MAX_KEYWORDS = 7

_MEDIUM = 4
_HIGH = 11
"""Branches and loops from which a chunk is of medium and of high complexity (AURORA §6.3.5)."""

_SENTENCE = 240
"""Characters at most of a docstring's first sentence: what a chunk is about is said first."""

MAX_REMEMBERED = 4_096
"""Names and texts of one language whose words are remembered; at some 200 bytes each."""

_WORD = re.compile(r"[^\W\d]\w*")


def ast_summary(branches: int, loops: int) -> ComplexityCounts:
    """Complexity by branches and loops (cyclomatic, less one): to 3 is low, to 10 medium, above high."""
    total = branches + loops
    return ComplexityCounts("low" if total < _MEDIUM else "medium" if total < _HIGH else "high", branches, loops)


class Keywords:
    """Keyword extraction: the five to seven words that tell a chunk best. `words` of the language say nothing."""

    def __init__(self, words: frozenset[str]) -> None:
        self._telling = _Telling(STOP_WORDS | words).__getitem__

    def choose(self, name: str, signature: str, docstring: str, more: Iterable[str]) -> tuple[str, ...]:
        """Keywords, best first.

        A word counts for where it stands, and each time: in the chunk's own name, the first sentence of its docstring,
        the names around it, its signature. The rest of the docstring, and `more` (names it calls), fill up.
        """
        telling = self._telling
        find = _WORD.findall
        scores: dict[str, float] = {}
        outer, _, own = name.rpartition(".")
        sentence = docstring[:_SENTENCE]
        if len(docstring) > 40:
            sentence = sentence.partition("\n\n")[0].partition(". ")[0]
        for word in telling(own):
            scores[word] = scores.get(word, 0.0) + 4.0
        if sentence:
            for word in chain.from_iterable(map(telling, find(sentence))):
                scores[word] = scores.get(word, 0.0) + 2.0
        if outer:
            for word in telling(outer):
                scores[word] = scores.get(word, 0.0) + 1.5
        for word in chain.from_iterable(map(telling, find(signature))):
            scores[word] = scores.get(word, 0.0) + 1.0
        if len(scores) < MAX_KEYWORDS and len(docstring) > len(sentence):
            rest = find(docstring, len(sentence), len(sentence) + _SENTENCE)
            for word in chain.from_iterable(map(telling, rest)):
                scores[word] = scores.get(word, 0.0) + 0.5
        if len(scores) < MIN_KEYWORDS:
            for text in more:
                for word in telling(text):
                    scores[word] = scores.get(word, 0.0) + 0.25
                if len(scores) >= MAX_KEYWORDS:
                    break
        return tuple(sorted(scores, key=scores.__getitem__, reverse=True)[:MAX_KEYWORDS])


class _Telling(dict[str, tuple[str, ...]]):
    """The words of a name, or of any short text, that may be keywords."""

    def __init__(self, silent: frozenset[str]) -> None:
        self._silent = silent

    def __missing__(self, text: str) -> tuple[str, ...]:
        found = tuple(
            [
                word
                for identifier in _WORD.findall(text)
                if len(identifier) <= MAX_WORD
                for word in _pieces(identifier)
                if len(word) >= 3 and word not in self._silent and word.isalpha()
            ]
        )
        if len(self) >= MAX_REMEMBERED:
            self.clear()
        self[text] = found
        return found


def _pieces(identifier: str) -> tuple[str, ...]:
    pieces = split_word(identifier)
    return pieces[:-1] if len(pieces) > 1 else pieces
