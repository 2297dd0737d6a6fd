"""What a question asks for, piece by piece, and which pieces no subgoal speaks of (AURORA §5.2, completeness)."""

from __future__ import annotations

import re

from msgspec import Struct

from aurora_memory.stopwords import STOP_WORDS
from aurora_memory.tokens import terms
from aurora_orchestration.soar.concepts import PROCESS, Words, telling, union
from aurora_orchestration.soar.missing_dependencies import role
from aurora_orchestration.types import Decomposition, Given

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
COVERED = 0.5
"""The weighted share of a piece's words that has to be spoken of."""

HINTED = 0.15
"""Below this share nothing of a piece is spoken of."""

STATED = 0.45
"""The share of a piece's words that a given has to say to be the fact that states it."""

LOOSE, NEAR = 0.7, 0.9
"""What it counts that a word is said in another word for the same thing, or in another form of it."""

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
    return tuple(_piece(text, stems, shared) for text, stems in found if not stems <= PROCESS)


def _piece(text: str, stems: frozenset[str], shared: dict[str, int]) -> Piece:
    names = _names(text)
    return Piece(text, {stem: _weight(stem, names) / shared[stem] ** 1.5 for stem in stems})


def identifiers(query: str) -> tuple[str, ...]:
    """Names of code and files that the question spells out."""
    found = (next(filter(None, match.groups())) for match in _IDENTIFIER.finditer(query))
    return tuple(name for name in dict.fromkeys(found) if not _BRANDS.match(name))


class Uncovered(Struct, frozen=True):
    """What no subgoal seems to serve. `sure` where the plan itself shows it; words alone are only worth a hint."""

    text: str
    sure: bool


def uncovered(query: str, decomposition: Decomposition) -> tuple[Uncovered, ...]:
    """The pieces of the question that no subgoal serves, as written.

    A good plan says a demand in words of its own, which no list of words foresees. It does state the demand as a
    given, and the subgoals that serve it require that given: so what is missing for sure is a given that is required
    by nobody. Where only those who check and tell require it, or one subgoal that speaks of nothing in it, that is
    a hint: it was wrong about one unseen plan in ten.
    """
    texts = [f"{subgoal.description} {subgoal.expected_output}" for subgoal in decomposition.subgoals]
    said = _Said([telling(text) for text in texts], union(texts))
    asked = telling(query)
    found: dict[str, bool] = {}
    for given in decomposition.given:
        if not any(given.id in subgoal.requires for subgoal in decomposition.subgoals):
            found[given.fact] = True
        elif given.source == "query" and _unserved(given, decomposition, said, asked):
            found.setdefault(given.fact, False)
    for piece in pieces(query):
        stating = _stating(piece, decomposition)
        spoken = said.share(piece)
        if stating:
            missing = spoken < COVERED and not _makers(stating, decomposition)
        else:
            missing = spoken < HINTED and len(_specific(piece)) >= 3
        if missing:
            found.setdefault(piece.text, False)
    everything = " ".join(
        [*texts, decomposition.goal.description, *(given.fact for given in decomposition.given)]
    ).lower()
    for name in identifiers(query):
        if name.lower() not in everything and name.rsplit("/", 1)[-1].lower() not in everything:
            found.setdefault(name, False)
    return tuple(Uncovered(text, sure) for text, sure in found.items())


class _Said(Struct, frozen=True):
    """What all subgoals say, one by one and together."""

    each: list[Words]
    together: Words

    def share(self, piece: Piece) -> float:
        """The weighted share of a piece's words that one subgoal says; all of them together count less."""
        return max(max((share(piece, one) for one in self.each), default=0.0), 0.8 * share(piece, self.together))


def share(piece: Piece, said: Words) -> float:
    """The weighted share of a piece's words that are said: as they are, in another form, or in other words."""
    total = sum(piece.weights.values())
    return sum(weight * _said(stem, said) for stem, weight in piece.weights.items()) / total if total else 0.0


def _said(stem: str, said: Words) -> float:
    if said.says(stem):
        return 1.0
    if said.nearly(stem):
        return NEAR
    return LOOSE if said.has(stem) else 0.0


def _plainly(text: str) -> Piece:
    return Piece(text, dict.fromkeys(telling(text).stems - PROCESS, 1.0))


def _specific(piece: Piece) -> frozenset[str]:
    return frozenset(piece.weights) - PROCESS - _FILLERS


def _unserved(given: Given, decomposition: Decomposition, said: _Said, asked: Words) -> bool:
    """Whether one subgoal alone requires a fact of the question and speaks of nothing in it, nor do the others."""
    by = sum(given.id in subgoal.requires for subgoal in decomposition.subgoals)
    fact = _plainly(given.fact)
    if by > 1:
        return False
    demanded = [stem for stem in _specific(fact) if asked.says(stem) or asked.nearly(stem)]
    return len(demanded) >= 2 and not any(_said(stem, said.together) for stem in demanded)


def _stating(piece: Piece, decomposition: Decomposition) -> tuple[str, ...]:
    """The givens that state a piece of the question, as well as the best of them or nearly."""
    near = {given.id: share(piece, telling(given.fact)) for given in decomposition.given if given.source == "query"}
    best = max(near.values(), default=0.0)
    return tuple(one for one, how in near.items() if how >= max(STATED, best - 0.15))


def _makers(givens: tuple[str, ...], decomposition: Decomposition) -> bool:
    """Whether a subgoal requires one of these facts to do more than to check or to tell."""
    return any(
        set(subgoal.requires) & set(givens) and role(subgoal) not in ("check", "tell")
        for subgoal in decomposition.subgoals
    )


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
