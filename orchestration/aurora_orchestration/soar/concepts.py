"""Concepts (a thesaurus): synonyms and antonyms in the words of developers, and which words any plan has.

A word stands for its stem and for every group of words it belongs to, so that "document" is found in "describe in the
guide". The words are data, in `concepts.txt`; here they are looked up.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple

from aurora_memory.stopwords import without_stop_words
from aurora_memory.tokens import terms, words


def _read() -> dict[str, list[str]]:
    """The lines of `concepts.txt` by section."""
    found: dict[str, list[str]] = {}
    section: list[str] = []
    for line in files("aurora_orchestration.soar").joinpath("concepts.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            section = found.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            section.append(line)
    return found


_DATA = _read()
PROCESS = frozenset(terms(" ".join(_DATA["process"])))
"""Stems that any plan has, whatever it is for."""


def _groups() -> dict[str, frozenset[int]]:
    """Synonym groups by stem (an index of the thesaurus)."""
    found: dict[str, set[int]] = {}
    for number, line in enumerate(_DATA["same"]):
        for stem in terms(line):
            found.setdefault(stem, set()).add(number)
    return {stem: frozenset(numbers) for stem, numbers in found.items()}


_GROUPS = _groups()
_NONE: frozenset[int] = frozenset()
START = 5
"""How many letters two words have to begin with alike to be taken for forms of one word."""


MOST_LETTERS = 80_000
"""Letters of texts whose words are kept: those of a question and its answers several times over, some 2 MB of words."""


class Words(NamedTuple):
    """The telling words of a text: stems, the groups any of them belongs to, and how the longer ones begin."""

    stems: frozenset[str]
    groups: frozenset[int]
    starts: frozenset[str] = frozenset()

    def has(self, stem: str) -> bool:
        """Whether the word, or another for the same thing, stands in the text."""
        return stem in self.stems or not self.groups.isdisjoint(groups_of(stem))

    def says(self, stem: str) -> bool:
        """Whether the very word stands in the text."""
        return stem in self.stems

    def nearly(self, stem: str) -> bool:
        """Whether a word that begins alike stands in the text ("reconnecting" and "reconnection")."""
        return len(stem) >= START and stem[:START] in self.starts


def groups_of(stem: str) -> frozenset[int]:
    """The groups a stem belongs to."""
    return _GROUPS.get(stem, _NONE)


class _Told(dict[str, Words]):
    """The telling words of texts met so far: a question's are asked for dozens of times, by each of its checks."""

    letters = 0

    def __missing__(self, text: str) -> Words:
        """Cache miss: the words of a text; a full cache is emptied."""
        said = _words_of(text)
        if self.letters + len(text) > MOST_LETTERS:
            self.clear()
            self.letters = 0
        self.letters += len(text)
        self[text] = said
        return said


_TOLD = _Told()


def telling(text: str) -> Words:
    """The words of a text that are not everyday English."""
    return _TOLD[text]


def _words_of(text: str) -> Words:
    stems = frozenset(stem for word in without_stop_words(words(text)) for stem in terms(word))
    return Words(stems, frozenset(group for stem in stems for group in groups_of(stem)), _starts(stems))


def _starts(stems: frozenset[str]) -> frozenset[str]:
    return frozenset(stem[:START] for stem in stems if len(stem) >= START)


def union(texts: Iterable[str]) -> Words:
    """The telling words of several texts."""
    found = [telling(text) for text in texts]
    return Words(
        frozenset(stem for one in found for stem in one.stems),
        frozenset(group for one in found for group in one.groups),
        frozenset(start for one in found for start in one.starts),
    )


class Opposites(NamedTuple):
    """Words of one kind and of the opposite kind: stems, and phrases of several words."""

    ones: frozenset[str]
    others: frozenset[str]
    one_phrases: tuple[str, ...]
    other_phrases: tuple[str, ...]


def _sides(line: str) -> Opposites:
    """Antonyms of a line: stems and phrases on either side."""
    one, other = (side.split() for side in line.split("|"))

    def stems(side: list[str]) -> frozenset[str]:
        return frozenset(stem for word in side if "_" not in word and "-" not in word for stem in terms(word))

    def phrases(side: list[str]) -> tuple[str, ...]:
        return tuple(word.replace("_", " ") for word in side if "_" in word or "-" in word)

    return Opposites(stems(one), stems(other), phrases(one), phrases(other))


OPPOSITES = tuple(_sides(line) for line in _DATA["opposite"])
"""Pairs that cannot both be done to one thing."""
