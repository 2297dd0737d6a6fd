"""Prefix search (autocomplete, type-ahead, search as you type): the last, unfinished word of a query as the beginning
of one. Reads only.

A word that the index has is itself and nothing else, unless a client asks for what it may become as well; then it
still counts more. One that it has not (`sessi`, `authenti`) stands for all words that begin so, taken together as one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from aurora_memory.bm25 import weighted
from aurora_memory.recall.question import SUGGESTED, Question
from aurora_memory.store import chunk_reader, file_reader
from aurora_memory.store.reader import Reader
from aurora_memory.tokens import is_unspaced, split_word, stem_word
from aurora_memory.views import ChunkView

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Entries = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]

SHORTEST = 3
"""Letters of a beginning: fewer could become anything. One character is enough of a script that sets no spaces."""

COMPLETIONS = 12
"""Words, the most frequent, that a beginning stands for."""

_SHORTEST_STEM = 4
_LAST_WORD = re.compile(r"[^\W_]\w*$")
_ENDINGS = (
    "able ably age al ally ance ances ant ary ate ated ates ating ation ations ative ator ators ed ely en ence"
    " ences ent er ers es ful fully ible ibly ic ical ically ication ications ied ier ies ify ility ing ings ion ions"
    " ious ish ism ist istic ities ity ive ively iveness ization izations ize ized izer izers izes izing less ly ment"
    " ments ness or ors ory ous ously s ual"
).split()
"""Endings that stemming takes away: `authenti` is on its way to `authentication`, whose stem is `authent`."""


def completed(reader: Reader, question: Question, *, always: bool = False) -> Question:
    """Prefix expansion: the question with what its last word may become, which is nothing else where the index has it
    or it is short.

    With `always` (a client that asks at every key) a word that it has may become others too, for less.
    """
    if question.is_completed or question.completions or question.is_id:
        return question
    question = replace(question, is_completed=True)
    last = _LAST_WORD.search(question.text)
    if last is None or last[0].lower().startswith("reas:"):
        return question
    found: dict[str, tuple[str, ...]] = {}
    weights = dict(question.weights)
    for stem, begun in _beginnings(last[0]):
        if stem not in question.terms:
            continue
        if not reader.words.has(stem):
            found[stem] = tuple(reader.words.beginning(begun, COMPLETIONS)) or tuple(_stems(reader, begun))
        elif always:
            others = tuple(each for each in reader.words.beginning(begun, COMPLETIONS) if each != stem)
            if others:
                found[f"{stem}*"] = others  # no term has a star in it
                weights[f"{stem}*"] = SUGGESTED
    found = {term: others for term, others in found.items() if others}
    return replace(question, completions=found, weights=weights) if found else question


def whole_name(reader: Reader, begun: str) -> str | None:
    """The name, the shortest, that `begun` is the beginning of: of a member where it is dotted, in one file behind a
    colon. None where it is short, or a plain word that the index has.
    """
    path, colon, name = begun.rpartition(":")
    leaf = name.rpartition(".")[2]
    is_word = begun.isalpha() and begun.islower() and reader.words.has(stem_word(begun)[-1])
    if len(leaf) < SHORTEST or is_word:
        return None
    if colon:
        names = [each.name for each in begun_in(reader, path, name)]
    elif "." in name:
        names = chunk_reader.members_from(reader, name, 1)
    else:
        names = [each.name.rpartition(".")[2] for each in chunk_reader.name_prefix(reader, name, 1)]
    return f"{path}{colon}{names[0]}" if names else None


def begun_in(reader: Reader, path: str, name: str) -> list[ChunkView]:
    """What a file defines whose simple or qualified name begins so, shortest first; of a path the shortest counts."""
    begun = name.lower()
    found = [
        chunk
        for file in file_reader.files_like(reader, path, 1)
        for chunk in chunk_reader.of_file(reader, file)
        if chunk.name.lower().startswith(begun) or chunk.name.lower().rpartition(".")[2].startswith(begun)
    ]
    return sorted(found, key=lambda chunk: (len(chunk.name), chunk.line_start))


def entries_of(reader: Reader, question: Question) -> dict[str, Entries]:
    """Where the question's terms stand; a beginning stands wherever one of its words does, the best of them counts."""
    import numpy as np

    wanted = [word for term in question.weights for word in question.completions.get(term, (term,))]
    entries = reader.words.entries(list(dict.fromkeys(wanted)))
    if not question.completions:
        return entries
    found: dict[str, Entries] = {}
    for term in question.weights:
        words = [entries[word] for word in question.completions.get(term, (term,)) if word in entries]
        if len(words) == 1:
            found[term] = words[0]
        elif words:
            numbers = np.concatenate([numbers for numbers, _ in words])
            packed = np.concatenate([packed for _, packed in words])
            order = np.lexsort((-weighted(packed), numbers))
            kept, first = np.unique(numbers[order], return_index=True)
            found[term] = kept, packed[order][first]
    return found


def _beginnings(word: str) -> Sequence[tuple[str, str]]:
    """The last piece of a word, and the whole of several, as term of the question and as it is spelled."""
    if is_unspaced(word):
        return [(word, word)] if len(word) == 1 else []
    stems, pieces = stem_word(word), split_word(word)
    last = len(pieces) - 1 if len(pieces) < 2 or pieces[-2].isdigit() else len(pieces) - 2
    places = dict.fromkeys((last, len(pieces) - 1)) if pieces else ()
    return [(stems[place], pieces[place]) for place in places if len(pieces[place]) >= SHORTEST]


def _stems(reader: Reader, begun: str) -> list[str]:
    """The longest stem that the index has of which a beginning spells more, with part of an ending."""
    for length in range(len(begun) - 1, _SHORTEST_STEM - 1, -1):
        stem, rest = begun[:length], begun[length:]
        if any(ending.startswith(rest) for ending in _ENDINGS) and reader.words.has(stem):
            return [stem]
    return []
