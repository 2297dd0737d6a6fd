"""Common words (low inverse document frequency, markers): why the answer to one word of which everything has some is as
good as any other.
"""

from __future__ import annotations

from aurora_memory.recall import Question
from aurora_memory.stopwords import QUESTION_WORDS, STOP_WORDS
from aurora_memory.store import chunk_reader, file_reader
from aurora_memory.store.reader import Reader
from aurora_memory.tokens import words_in

COMMON = 0.2
COMMON_STOP_WORD = 0.05
"""Shares of all chunks from which on a word tells none of them apart: any, and one that tells little anywhere."""

MARKERS = frozenset({"TODO", "FIXME", "XXX", "HACK"})
"""Marks that people leave in comments: what has one is not about it."""


def why_arbitrary(reader: Reader, question: Question, shown: int, known: int) -> str | None:
    """Reason why the answers `shown` to one word might be others of the `known` chunks; None where they are what is
    meant: what is called so, the file or folder that is, or all that have the word.
    """
    words, text = words_in(question.text), question.text.strip()
    if len(words) != 1 or len(question.terms) != 1 or question.places or not text.isalpha():
        return None
    parts, entries = reader.words.parts(reader.writes), reader.words.entries(question.terms)
    if question.terms[0] not in entries:
        return None
    numbers, _ = entries[question.terms[0]]
    having = len({chunk for chunk in parts.chunks[numbers[numbers < len(parts.chunks)]].tolist() if chunk})
    is_marker = text.upper() in MARKERS
    least = COMMON_STOP_WORD if text.lower() in STOP_WORDS | QUESTION_WORDS else COMMON
    if having == shown or (not is_marker and (having < shown or having < least * known)):
        return None
    if chunk_reader.named(reader, [text], 1) or file_reader.is_place(reader, text):
        return None
    if is_marker and having < shown:
        says = "one of these says" if having == 1 else f"{having} of these say"
        return f"Only {says} '{text}'; the others are related to what does."
    if is_marker:
        return f"{having:,} chunks say '{text}', none is about it: a search of the text (git grep {text}) tells all."
    return (
        f"'{text}' is in {having:,} of {known:,} chunks and the name of none: one more word would tell which is meant."
    )
