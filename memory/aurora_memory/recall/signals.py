"""Ranking signals (scoring features of a linear ranker): what speaks for a chunk or against it. One function here is
one signal, in all that it is.

`@signal(weight=…)` declares it: the function gives its value for each candidate, its name is its name for people, as
`--explain` has it, its docstring what the reference says of it (`docs/reference/signals.md`). Ranking, fusion and
explanations read `SIGNALS` only.
For some kinds of questions other weights are fitted on many repositories (`fitted_weights.json`); a signal of weight 0
counts for those only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from itertools import chain
from operator import mul, sub
from pathlib import Path
from typing import Any

from msgspec import Struct

from aurora_memory.chunks import KNOWLEDGE_KINDS
from aurora_memory.recall.candidates import Candidates, Column
from aurora_memory.recall.places import is_aside, is_copied, is_test, is_test_code
from aurora_memory.recall.question import Question
from aurora_memory.recall.question_kind import QuestionKind
from aurora_protocol import typed

Weights = tuple[float, ...]
"""One weight for each signal, in the order of `SIGNALS`."""

NAMED = 20.0
"""Weight of a name that a query of nothing but names spells: more than any words can bring."""

MENTIONED = 0.4
"""Weight of a name that stands in a question among other words."""

BESIDE = 0.6
"""Share of a name's weight where a test or an example is called so."""

CALLABLES = frozenset({"function", "method", "macro"})
"""Kinds of chunks that are called."""


_NO_TYPES = CALLABLES | KNOWLEDGE_KINDS
"""Kinds of chunks that are called, or no code."""


class RankingSignal(Struct, frozen=True):
    """Ranking signal: its column among `SIGNALS`, its name, what a value of 1 adds in log odds, and what it means, for
    the reference.
    """

    place: int
    name: str
    weight: float
    meaning: str
    column: Callable[[Candidates], Column]


SIGNALS: list[RankingSignal] = []
"""Every signal, in the order in which they are declared."""


class Signals(Struct, frozen=True, gc=False):
    """Signal values of one chunk, in the order of `SIGNALS`; shares of the question are in [0, 1]."""

    values: tuple[float, ...]

    def __getitem__(self, one: RankingSignal) -> float:
        return self.values[one.place]

    @classmethod
    def of(cls, known: Mapping[RankingSignal, float]) -> Signals:
        """From those that are not 0."""
        return cls(tuple(known.get(each, 0.0) for each in SIGNALS))

    def strength(self, weights: Weights | None = None) -> float:
        """Sum of the weighted signals, as log odds."""
        return float(sum(map(mul, weights_of() if weights is None else weights, self.values)))


class Fit(Struct, frozen=True):
    """Fitted weights: by kind of question and signal's name, what replaces a signal's own weight, and of what data."""

    provenance: Mapping[str, Any]
    kinds: Mapping[QuestionKind, Mapping[str, float]]


@cache
def fitted() -> Fit:
    """The weights that `tests/benchmarks/recall_fit.py` wrote."""
    return typed.decode(Path(__file__).with_name("fitted_weights.json").read_bytes(), Fit)


def weights_of(kind: QuestionKind | None = None, without: Collection[str] = ()) -> Weights:
    """The weights of all signals for a kind of question, 0 for those whose names are given."""
    own = fitted().kinds.get(kind, {}) if kind is not None else {}
    return tuple(0.0 if each.name in without else own.get(each.name, each.weight) for each in SIGNALS)


def asks_vectors(question: Question) -> bool:
    """Whether word vectors count for a question of that kind."""
    return not question.by_name and weights_of(question.kind)[meaning.place] != 0


class SignalTable:
    """Signals of all candidates: `rows`, one for each, in their order."""

    def __init__(self, columns: Sequence[Column]) -> None:
        import numpy as np

        self.rows = [Signals(values) for values in zip(*columns, strict=True)]
        size = len(columns) * len(self.rows)
        values = np.fromiter(chain.from_iterable(columns), dtype=np.float64, count=size)
        self._columns = values.reshape(len(columns), len(self.rows))

    @classmethod
    def of(cls, candidates: Candidates) -> SignalTable:
        """The table of all signals."""
        return cls([each.column(candidates) for each in SIGNALS])

    def strengths(self, weights: Weights) -> list[float]:
        """The strength of each, as `Signals.strength` has it to the last bit: signal by signal, in their order."""
        import numpy as np

        weighed = np.array(weights, dtype=np.float64)[:, None] * self._columns
        found: list[float] = np.add.reduce(weighed, axis=0).tolist()
        return found


def signal(*, weight: float) -> Callable[[Callable[[Candidates], Column]], RankingSignal]:
    """Declare a function as a ranking signal of that weight."""

    def declare(column: Callable[[Candidates], Column]) -> RankingSignal:
        meaning = " ".join((column.__doc__ or "").split())
        declared = RankingSignal(len(SIGNALS), column.__name__.replace("_", " "), weight, meaning, column)
        SIGNALS.append(declared)
        return declared

    return declare


@signal(weight=2.8)
def words(candidates: Candidates) -> Column:
    """The question's words in its best part: BM25 over weighted fields, per unit of their rarity."""
    return candidates.matched["words"]


@signal(weight=1.3)
def cover(candidates: Candidates) -> Column:
    """Share of the question that stands in its best part."""
    return candidates.matched["cover"]


@signal(weight=1.0)
def name_cover(candidates: Candidates) -> Column:
    """Share of the question that stands in its name."""
    return candidates.matched["name_cover"]


@signal(weight=2.3)
def name_share(candidates: Candidates) -> Column:
    """Share of its name that the question says."""
    return candidates.matched["name_share"]


@signal(weight=0.0)
def name_fit(candidates: Candidates) -> Column:
    """Share of its name that the question says, for what that is of the question beside the name that says most of it:
    a name of one word is said as a whole by many questions that are about something else.
    """
    covers = _of_most(candidates.matched["name_cover"])
    return list(map(mul, candidates.matched["name_share"], covers))


@signal(weight=0.5)
def file_cover(candidates: Candidates) -> Column:
    """Share of the question that stands anywhere in its file."""
    return candidates.matched["file_cover"]


@signal(weight=4.0)
def file_best(candidates: Candidates) -> Column:
    """The question's words in the best part of its file."""
    return candidates.matched["file_best"]


@signal(weight=0.0)
def signature_cover(candidates: Candidates) -> Column:
    """Share of the question that stands in its signature."""
    return candidates.matched["signature_cover"]


@signal(weight=0.0)
def file_words(candidates: Candidates) -> Column:
    """The question's words in its file as one: BM25 over weighted fields, per unit of their rarity."""
    return candidates.matched["file_words"]


@signal(weight=0.0)
def words_beside_best(candidates: Candidates) -> Column:
    """The question's words in its best part, as a share of the most that any candidate has: the same for long
    questions, of which no part has much, as for short ones.
    """
    return _of_most(candidates.matched["words"])


@signal(weight=0.0)
def heading_words_beside_best(candidates: Candidates) -> Column:
    """The words of a report's first line in its best part, as a share of the most that any candidate has: what follows
    quotes, logs and shows more than it tells.
    """
    return _of_most(candidates.matched["heading_words"])


@signal(weight=0.0)
def file_words_beside_best(candidates: Candidates) -> Column:
    """The question's words in its file as one, as a share of the most that any candidate's file has."""
    return _of_most(candidates.matched["file_words"])


@signal(weight=0.0)
def file_name(candidates: Candidates) -> Column:
    """Share of the question that stands in the name of its file."""
    return [names.said for names in candidates.file_names]


@signal(weight=0.0)
def file_name_share(candidates: Candidates) -> Column:
    """Share of its file's name that the question says."""
    return [names.heard for names in candidates.file_names]


@signal(weight=0.0)
def folders(candidates: Candidates) -> Column:
    """Share of its folders' names that the question says."""
    return [names.above for names in candidates.file_names]


@signal(weight=0.0)
def scope(candidates: Candidates) -> Column:
    """Share of a change's scope (`parser: …`, `fix(parser): …`) that its file or folders are called; of a test's only
    where tests are to be changed.
    """
    if not candidates.question.scope:
        return [0.0] * len(candidates.heads)
    tests, names = candidates.question.about_tests, candidates.names_of_files
    return [names[head.path].scoped if tests or not is_test(head.path) else 0.0 for head in candidates.heads]


@signal(weight=0.0)
def size(candidates: Candidates) -> Column:
    """How long it is: the logarithm of its lines."""
    return [math.log1p(head.line_end - head.line_start) for head in candidates.heads]


@signal(weight=0.0)
def changes(candidates: Candidates) -> Column:
    """How often it was used or changed, by its logarithm, beside what recency makes of that."""
    return list(map(math.log1p, candidates.counts))


@signal(weight=0.0)
def internal(candidates: Candidates) -> Column:
    """A name that begins with an underscore."""
    return [
        1.0 if (name[:1] == "_" or "._" in name) and name.startswith("_", name.rfind(".") + 1) else 0.0
        for name in (head.name for head in candidates.heads)
    ]


@signal(weight=3.5)
def spreading(candidates: Candidates) -> Column:
    """Activation over relations from what the question and the editor prime, by its root (AURORA §6.3)."""
    return list(map(math.sqrt, candidates.reached))


@signal(weight=5.0)
def episodes(candidates: Candidates) -> Column:
    """Activation from commits whose messages resemble the question and that changed it, by its root."""
    return list(map(math.sqrt, candidates.brought))


@signal(weight=2.8)
def file_episodes(candidates: Candidates) -> Column:
    """The most that such commits brought to any candidate of its file, by its root."""
    return list(map(math.sqrt, candidates.brought_to_file))


@signal(weight=2.0)
def context_boost(candidates: Candidates) -> Column:
    """Context boost: the share of the question's keywords, by rarity, that its name answers (AURORA §6.3)."""
    return candidates.boosts


@signal(weight=0.25)
def recency(candidates: Candidates) -> Column:
    """Base level less decay: how often and how lately it was used or changed (AURORA §6.3)."""
    return list(map(sub, candidates.levels, candidates.decays))


@signal(weight=1.0)
def learned(candidates: Candidates) -> Column:
    """What finished runs added or took (AURORA §6.7)."""
    return candidates.learned


@signal(weight=-2.0)
def type_like(candidates: Candidates) -> Column:
    """A definition that is not called: a class, a type, a constant's home."""
    found = [0.0 if kind in _NO_TYPES else 1.0 for kind in candidates.kinds]
    for n in candidates.remainders:
        found[n] = 0.0
    return found


@signal(weight=-3.5)
def remainder(candidates: Candidates) -> Column:
    """A file's remainder between its definitions, unless it declares what the question names."""
    found = [0.0] * len(candidates.heads)
    for n in candidates.remainders:
        found[n] = 0.0 if candidates.declares[n] else 1.0
    return found


@signal(weight=0.0)
def file_documentation(candidates: Candidates) -> Column:
    """What a file's remainder says of the question in its documentation, as a share of all that it says of it."""
    found = [0.0] * len(candidates.heads)
    for n in candidates.remainders:
        match = candidates.matches[n]
        found[n] = match.doc_cover / match.cover if match.cover > 0 else 0.0
    return found


@signal(weight=-3.0)
def document(candidates: Candidates) -> Column:
    """A passage of a document, not code."""
    return [1.0 if kind in KNOWLEDGE_KINDS else 0.0 for kind in candidates.kinds]


@signal(weight=-2.2)
def test(candidates: Candidates) -> Column:
    """Part of a test, where the question does not ask for tests; no part of one, where it asks to change tests."""
    if not candidates.question.about_tests:
        return [1.0 if is_test_code(head.path, head.name) else 0.0 for head in candidates.heads]
    if candidates.question.kind == "change":
        return [0.0 if is_test_code(head.path, head.name) else 1.0 for head in candidates.heads]
    return [0.0] * len(candidates.heads)


@signal(weight=0.0)
def aside(candidates: Candidates) -> Column:
    """Beside what is made here: an example, a benchmark, or a library that was copied in."""
    return _of_files(candidates, is_aside)


@signal(weight=-6.0)
def copied(candidates: Candidates) -> Column:
    """In a library that was copied in: what is asked about is made here, and examples are changed where it is."""
    return _of_files(candidates, is_copied)


@signal(weight=1.0)
def named(candidates: Candidates) -> Column:
    """Its name or place is spelled in the question: the exact spelling before any other case, the top level first, and
    tests and examples behind what is made here and called so in any spelling.
    """
    question = candidates.question
    if not question.identifiers and not question.places:
        return [0.0] * len(candidates.heads)
    found = [0.0] * len(candidates.heads)
    wanted = set(map(_last_name, question.identifiers))
    for n, head in enumerate(candidates.heads):
        standing, declares = candidates.standing[n], candidates.declares[n]
        is_called_so = _last_name(head.name) in wanted  # which hardly any chunk is
        if not is_called_so and not standing and not declares:
            continue
        best = max(1.0 if declares else 0.0, _best_spelling(head.name, question.identifiers) if is_called_so else 0.0)
        if (
            question.by_name
            and not question.about_tests
            and (is_test_code(head.path, head.name) or is_aside(head.path))
        ):
            best *= BESIDE
        found[n] = MENTIONED * (best + standing)
        if question.by_name:
            found[n] = NAMED * (best + standing) + (1.0 if best and head.parent is None else 0.0)
    return found


@signal(weight=0.0)
def meaning(candidates: Candidates) -> Column:
    """How near its words are in meaning to the question's, by the table of word vectors: the cosine of both."""
    return candidates.alike


@signal(weight=0.0)
def pointed_at(candidates: Candidates) -> Column:
    """A report points at it: by a link to its lines, or by a traceback, of which the frame that raised counts most."""
    if not candidates.pointed.chunks:
        return [0.0] * len(candidates.heads)
    return [candidates.pointed.chunks.get(head.id, 0.0) for head in candidates.heads]


@signal(weight=0.0)
def file_pointed_at(candidates: Candidates) -> Column:
    """A report points at its file: by a link, a path or a traceback."""
    if not candidates.pointed.files:
        return [0.0] * len(candidates.heads)
    return [candidates.pointed.files.get(head.path, 0.0) for head in candidates.heads]


@signal(weight=6.0)
def phrases(candidates: Candidates) -> Column:
    """Share of what the question has in quotation marks that stands in it word for word, or as a name."""
    return candidates.phrased


def _of_files(candidates: Candidates, holds: Callable[[str], bool]) -> Column:
    """1 for those of files of which something holds."""
    known = {path: 1.0 if holds(path) else 0.0 for path in candidates.names_of_files}
    return list(map(known.__getitem__, candidates.paths))


def _of_most(values: Column) -> Column:
    most = max(values, default=0.0)
    return [value / most for value in values] if most > 0 else values


def _best_spelling(name: str, identifiers: tuple[str, ...]) -> float:
    """How exactly a name is one of those a question spells, in [0, 1]."""
    return max(_spelled(name, wanted) or 0.8 * _spelled(name.lower(), wanted.lower()) for wanted in identifiers)


def _last_name(name: str) -> str:
    """What two spellings of a name have in common, whatever stands before it and in whichever case."""
    return name.lower().rpartition(".")[2]


def _spelled(name: str, wanted: str) -> float:
    if name == wanted:
        return 1.0
    if "." in wanted:
        return 0.95 if name.endswith("." + wanted) else 0.0
    return 0.9 if name.rpartition(".")[2] == wanted else 0.0
