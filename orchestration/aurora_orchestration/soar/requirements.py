"""What a question asks for, piece by piece, and which pieces no subgoal speaks of (AURORA §5.2, completeness)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from aurora_memory.everyday import STOP_WORDS
from aurora_memory.tokens import terms
from aurora_orchestration.soar.concepts import PROCESS, Words, groups_of, telling, union
from aurora_orchestration.soar.model import Decomposition
from aurora_orchestration.soar.products import role

_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)]|\(\w\))\s+")
_SENTENCE = re.compile(r"(?<=[.?!;])\s+|\n+")
_CLAUSE = re.compile(
    r",\s*(?:and|or|but|then)?\s+|\s+(?:and then|and|but|then|while|so that|without|with|because)\s+|:\s+",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:must|should|shall|need|needs|has to|have to|want|wants|allow|let|can|please|make sure|ensure|required)\b",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(
    r"`([^`\n]{2,80})`|\b([A-Za-z]\w*_\w+|[a-z]+[A-Z]\w+|[A-Z][a-z]+(?:[A-Z][a-z]+)+)\b|(?<![\w/])((?:[\w.-]+/)+[\w-]+\.\w{1,5})\b"
)
_BRANDS = re.compile(r"^(?:GitHub|GitLab|JavaScript|TypeScript|PostgreSQL|MongoDB|GraphQL|WebSockets?|PyPI|DevOps)$")
_ASIDE = re.compile(
    r"^\s*(?:which|that|who) (?:has|have|is|are|was|were|now)\b|\b(?:later|eventually|some day)\s*[.?!]?\s*$"
)
_REPLACING = re.compile(r"\b((?:replac|swap|exchang|substitut)\w*\b[^,.;:]*?) with ([^,.;:]*)", re.IGNORECASE)
COVERED = 0.36
"""The weighted share of a piece's words that has to be spoken of."""

FIRST_COVERED = 0.2
"""The same for the first piece: it tells the whole matter, which subgoals need not repeat."""

LOOSE = 0.7
"""What it counts that a word is said in another word for the same thing."""

_MENDING = frozenset(terms("fix solve resolve it bug problem issue"))
"""Words of a piece that asks for a cure and does not say which: any subgoal that makes something may be it."""

_FILLERS = frozenset(terms("rid top codebase back rest existing old public twice else awareness aware transparently"))

MOST_PIECES = 60
"""More pieces than this are not told apart: such a question is a document."""


class Piece(Struct, frozen=True):
    """One thing that is asked for: as written, and how much each of its words counts."""

    text: str
    weights: dict[str, float]


def pieces(query: str) -> tuple[Piece, ...]:
    """Clauses, items and constraints of a question. Words that several of them share count less in each."""
    clauses = [clause for clause in _clauses(query) if clause.strip()][:MOST_PIECES]
    found = [(clause.strip(" .?!;,:"), _stems(clause)) for clause in clauses]
    found = [(text, stems) for text, stems in found if stems]
    shared: dict[str, int] = {}
    for _, stems in found:
        for stem in stems:
            shared[stem] = shared.get(stem, 0) + 1
    return tuple(
        Piece(text, {stem: _weight(stem, _names(text)) / shared[stem] ** 1.5 for stem in stems})
        for text, stems in found
        if not stems <= PROCESS
    )


def identifiers(query: str) -> tuple[str, ...]:
    """Names of code and files that the question spells out."""
    found = (next(filter(None, match.groups())) for match in _IDENTIFIER.finditer(query))
    return tuple(name for name in dict.fromkeys(found) if not _BRANDS.match(name))


def uncovered(query: str, decomposition: Decomposition) -> tuple[str, ...]:
    """The pieces of the question that no subgoal speaks of, as written."""
    texts = [f"{subgoal.description} {subgoal.expected_output}" for subgoal in decomposition.subgoals]
    each = [telling(text) for text in texts]
    together = union(texts)
    missing = [
        piece.text
        for number, piece in enumerate(pieces(query))
        if not (
            _MENDING.issuperset(piece.weights) and any(role(subgoal) == "make" for subgoal in decomposition.subgoals)
        )
        and coverage(piece, each, together) < (COVERED if number else FIRST_COVERED)
    ]
    everything = " ".join(
        [*texts, decomposition.goal.description, *(given.fact for given in decomposition.given)]
    ).lower()
    named = [
        name
        for name in identifiers(query)
        if name.lower() not in everything and name.rsplit("/", 1)[-1].lower() not in everything
    ]
    return tuple(dict.fromkeys((*missing, *named)))


def coverage(piece: Piece, each: Sequence[Words], together: Words) -> float:
    """The weighted share of a piece's words that one subgoal says in some words; all of them together count less."""
    total = sum(piece.weights.values())

    def share(said: Words) -> float:
        return sum(weight * _said(stem, said) for stem, weight in piece.weights.items()) / total

    return max(max((share(one) for one in each), default=0.0), 0.8 * share(together))


def _said(stem: str, said: Words) -> float:
    if said.says(stem):
        return 1.0
    groups = groups_of(stem)
    return LOOSE if groups and not said.groups.isdisjoint(groups) else 0.0


def _stems(clause: str) -> frozenset[str]:
    # of a compound only the whole counts ("graphql"): its pieces would ask for themselves three times
    found = (terms(word)[-1:] for word in re.findall(r"[^\W_]\w*", clause) if word.lower() not in STOP_WORDS)
    return frozenset(stem for one in found for stem in one if len(stem) > 1 or stem.isdigit())


def _weight(stem: str, names: frozenset[str]) -> float:
    if stem in PROCESS or stem in _FILLERS:
        return 0.35
    return 0.6 if stem in names else 1.0


def _names(text: str) -> frozenset[str]:
    """What is written like a name within a clause: often left out once it is clear what it is about."""
    return frozenset(stem for word in re.findall(r"(?<!^)\b[A-Z][\w+#]*", text) for stem in terms(word))


def _clauses(query: str) -> list[str]:
    lines = query.splitlines()
    listed = any(_ITEM.match(line) for line in lines)
    found: list[str] = []
    sentences: list[str] = []
    for line in lines:
        if _ITEM.match(line):
            found.extend(_CLAUSE.split(_ITEM.sub("", line)))
        elif not (listed and line.rstrip().endswith(":")):
            sentences.extend(_SENTENCE.split(line))
    asking = [one for one in sentences if _asks(one)]
    for sentence in asking or ([] if found else sentences):
        found.extend(_parts(sentence))
    return [clause for clause in found if not _ASIDE.search(clause)]


def _parts(sentence: str) -> list[str]:
    # "an audit log: who, when, …" asks for the things after the colon
    _, colon, listed = sentence.partition(": ")
    if colon and "," in listed:
        return _CLAUSE.split(listed)
    return _CLAUSE.split(_REPLACING.sub(r"\1 \2", sentence))


def _asks(sentence: str) -> bool:
    """Whether a sentence asks for something; others tell how things are, and need no subgoal of their own."""
    if "?" in sentence or _ASKS.search(sentence):
        return True
    first = re.match(r"\s*(\w+)", sentence)
    return first is not None and first[1].lower() not in _TELLING


_TELLING = frozenset(
    "the a an our my your their its this that these those there it we i they he she two three some many several users"
    " all when whenever since currently sometimes ci right now today".split()
)
"""First words of sentences that describe."""
