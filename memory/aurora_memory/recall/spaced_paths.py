"""Paths with spaces (file names of several words) in a query: kept in one piece, as files here are called.

A space parts the words of every question. Which of them is part of a path, only the files that are here tell. Reads
only.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from aurora_memory.recall.places import QueryPlace
from aurora_memory.recall.question import Question, parse_question
from aurora_memory.store import file_reader
from aurora_memory.store.reader import Reader

_SPACE = "\ue000"
"""What stands for a space within a path: no letter, and no space to who takes a query apart."""


def with_whole_places(reader: Reader, question: Question) -> Question:
    """The question with files whose paths have spaces as the places that it names."""
    whole = with_whole_paths(reader, question.text)
    if whole == question.text:
        return question
    parsed = parse_question(whole)
    return replace(parsed, text=question.text, places=tuple(map(_spaced_place, parsed.places)))


def with_whole_paths(reader: Reader, query: str) -> str:
    """A query in which the spaces of paths, or of their ends, are none; `spaced` has them back."""
    if " " not in query.strip():
        return query
    # Each end of a path ends with the file's name, which few of thousands have in common with a query.
    said = [path for path in file_reader.spaced_paths(reader) if path[path.rfind("/") + 1 :] in query]
    ends = {end for path in said if (end := _longest_end(path, query))}
    for end in sorted(ends, key=len, reverse=True):
        query = query.replace(end, end.replace(" ", _SPACE))
    return query


def spaced(text: str) -> str:
    """A path out of a query that was kept whole, as it is."""
    return text.replace(_SPACE, " ")


def _spaced_place(place: QueryPlace) -> QueryPlace:
    return replace(place, path=spaced(place.path))


def _longest_end(path: str, query: str) -> str:
    """The longest end of a path, from one folder on, that has a space and stands in a query; "" where none does."""
    pieces = path.split("/")
    ends = ("/".join(pieces[n:]) for n in range(len(pieces)))
    said = (end for end in ends if " " in end and end in query)
    return next((end for end in said if re.search(rf"(?<![\w/.-]){re.escape(end)}(?!\w)", query)), "")
