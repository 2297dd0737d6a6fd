"""File features: what a question's candidates say of their files together, in numbers of which each is weighed. Pure.

What they weigh (`file_order.json`) was fitted on questions that developers would ask, each with the places that answer
it, and on subjects of commits and the files they changed, by `tests/benchmarks/file_order_fit.py`. A new feature is a
field of `FileFeatures` and two weights there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from operator import mul
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple

from aurora_memory.chunks import KNOWLEDGE_KINDS, MODULE_NAME
from aurora_memory.recall.candidates import Candidates
from aurora_memory.recall.places import is_aside, is_test
from aurora_memory.recall.ranking import Rank, score
from aurora_memory.recall.signals import CALLABLES
from aurora_memory.views import ChunkHead
from aurora_protocol import typed

DECAY = 0.6
"""What each further chunk of a file adds, beside the one before it."""

NEAR_DECAY = 0.3
"""What the cosine of each further chunk adds, beside that of the one before it, nearest first."""

PARTLY = 0.6
WHOLLY = 0.8
"""Shares of a question between which a file's own documentation comes to count."""

MOST_LINES = 30
"""Lines of a function beyond which it tells no more for being longer: what goes on for pages mentions everything."""

_OUTDATED = re.compile(r"(?i)(?:^|[/_.-])(?:deprecated|legacy|obsolete|v1)(?:[/_.-]|$)")


class FileFeatures(Struct, frozen=True, gc=False):
    """Features of a file, each with a weight of its name.

    `chunks` is the decaying sum of its chunks' scores, `best` the strength of its best one, which tells more where
    scores are all good. `near` is the decaying sum of cosines, `near_function` the highest of a function, `words` the
    question's words in the file as one. `documented` says that its own documentation says several words as good as
    wholly, `called`, `called_by` and `folders` what names have of the question (`NameShares`). `best_part` is the
    question's words in its best part, `episodes` the root of the most that similar commits brought to a chunk of it,
    `depth` how many folders it lies in. The rest is 0 or 1: a test where none is asked for, what lies aside, a document
    where code answers too, a folder that is kept for those who have not moved on.
    """

    chunks: float
    best: float
    near: float
    near_function: float
    words: float
    documented: float
    called: float
    called_by: float
    folders: float
    best_part: float
    episodes: float
    depth: float
    test: float
    aside: float
    document: float
    outdated: float


class MemberWeights(Struct, frozen=True):
    """Weights by which one chunk answers for its file, beside its strength: of the question's words in it, of what a
    function tells by its length (`told_by_lines`), and of being called by the file's strongest.
    """

    words: float
    lines: float
    called: float


class FileOrder(Struct, frozen=True):
    """Fitted weights of files, by a feature's name, of their members, and of files that something is to be changed in
    (`reports`); and of what data. `lead` is how much more than the third likeliest file the first amounts to where the
    third answer is its second chunk.
    """

    provenance: Mapping[str, Any]
    files: Mapping[str, float]
    members: MemberWeights
    lead: float
    reports: Mapping[str, float]


@cache
def file_order() -> FileOrder:
    """The weights that `tests/benchmarks/file_order_fit.py` wrote."""
    return typed.decode(Path(__file__).with_name("file_order.json").read_bytes(), FileOrder)


@cache
def _weights(of_reports: bool) -> tuple[float, ...]:
    order = file_order()
    files = order.reports if of_reports else order.files
    return tuple(files[name] for name in FileFeatures.__struct_fields__)


def weighed(features: FileFeatures, *, of_reports: bool = False) -> float:
    """What a file's features amount to, for who asks about something or, `of_reports`, wants something changed."""
    return float(sum(map(mul, _weights(of_reports), astuple(features))))


def features_of(candidates: Candidates, ranks: Sequence[Rank]) -> dict[str, FileFeatures]:
    """The features of each file that has a candidate, by its path. `ranks` are the candidates, best first."""
    heads = candidates.heads
    members: dict[str, list[Rank]] = {}
    code: set[str] = set()
    for rank in ranks:
        head = heads[rank.place]
        members.setdefault(head.path, []).append(rank)
        if head.kind not in KNOWLEDGE_KINDS:
            code.add(head.path)
    return {path: _features(candidates, path, own, bool(code) and path not in code) for path, own in members.items()}


def _features(candidates: Candidates, path: str, members: Sequence[Rank], document: bool) -> FileFeatures:
    heads, matches, alike = candidates.heads, candidates.matches, candidates.alike
    said_by_files = candidates.matched["file_words"]
    several = len(candidates.question.terms) > 1
    chunks, share, near, near_function, words, documented = 0.0, 1.0, 0.0, 0.0, 0.0, 0.0
    cosines = []
    for rank in members:
        place = rank.place
        chunks += share * score(rank.strength)
        share *= DECAY
        head, file_words, cosine = heads[place], said_by_files[place], alike[place]
        if file_words > words:
            words = file_words
        if head.name == MODULE_NAME:
            said = (matches[place].doc_cover - PARTLY) / (WHOLLY - PARTLY)
            documented += min(1.0, max(0.0, said)) if several else 0.0
        elif cosine > near_function and head.kind in CALLABLES:
            near_function = cosine
        if cosine:  # none is below 0
            cosines.append(cosine)
    share = 1.0
    for cosine in sorted(cosines, reverse=True) if len(cosines) > 1 else cosines:
        near += share * cosine
        share *= NEAR_DECAY
    names = candidates.names_of_files[path]
    return FileFeatures(
        chunks,
        members[0].strength,
        near,
        near_function,
        words,
        documented,
        names.said,
        names.heard,
        names.above,
        matches[members[0].place].file_best,
        math.sqrt(candidates.brought_to_file[members[0].place]),
        float(path.count("/")),
        1.0 if is_test(path) and not candidates.question.about_tests else 0.0,
        1.0 if is_aside(path) else 0.0,
        1.0 if document else 0.0,
        1.0 if _is_outdated(path) else 0.0,
    )


@lru_cache(maxsize=2048)
def _is_outdated(path: str) -> bool:
    return _OUTDATED.search(path) is not None


def answering(candidates: Candidates, members: Sequence[Rank], called: Collection[int] = ()) -> Rank:
    """The chunk that answers for its file, of `members`, best first: a short function that has a word in its name tells
    less of how something works than the one that does it. `called` are the chunks (row ids) that the file's strongest
    calls: it may only hand on to them.
    """
    first = members[0]
    if len(members) == 1:
        return first
    heads, matches, weights = candidates.heads, candidates.matches, file_order().members
    most = -math.inf
    for rank in members:
        worth = rank.strength + weights.words * matches[rank.place].words
        worth += weights.lines * told_by_lines(heads[rank.place])
        if rank.id in called:
            worth += weights.called
        if worth > most:
            first, most = rank, worth
    return first


def told_by_lines(head: ChunkHead) -> float:
    """What a function tells by its length: the logarithm of its lines, of a long one no more than of `MOST_LINES`."""
    return math.log1p(min(head.line_end - head.line_start, MOST_LINES)) if head.kind in CALLABLES else 0.0
