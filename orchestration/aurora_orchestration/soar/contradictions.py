"""Contradictions between subgoals (conflicts), and subgoals that are there twice (AURORA §5.2, consistency). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations

from aurora_memory.tokens import terms
from aurora_orchestration.soar.concepts import OPPOSITES, PROCESS, Opposites, Words, telling
from aurora_orchestration.soar.missing_dependencies import role
from aurora_orchestration.soar.structure import depends, reachable
from aurora_orchestration.types import Decomposition

_NEGATED = re.compile(
    r"\b(?:(?:do not|don't|never|refuse to|avoid|give no|with no|skip|ignore)\s+((?:\w+\W+){1,8}))",
    re.IGNORECASE,
)
_REFUSAL = re.compile(r"^\W*(?:do not|don't|never|refuse|skip|ignore|leave|give no|let|avoid)\b", re.IGNORECASE)
_AT_FIRST = re.compile(r"^\W*(?:\w+\W+){0,3}$|[,;:.]\W*(?:\w+\W+){0,3}$")
"""Where a refusal is what the sentence is about: at its beginning, or at that of a clause."""

_CUT = re.compile(r"[,;.:]| (?:if|when|whenever|even|once|until|unless|between|so that)\b", re.IGNORECASE)
_WITHOUT = re.compile(r"\b(?:without|with no|no)\s+(?:(?:a|any|the)\s+)?[\w-]+")
_REPLACED = re.compile(r"\b(?:rather than|instead of|in place of|away from|apart from)\b[^,;.]*", re.IGNORECASE)
_OUTDATED = re.compile(
    r"\b(?:old|legacy|obsolete|deprecated|unused|dead|temporary|stale|existing|former|previous|duplicate|expired|"
    r"offending|infected|invalid|hard-?coded|then switch|until|only|whenever|when|if)\b",
    re.IGNORECASE,
)
_SPECIAL = re.compile(r"\b(?:except|unless|otherwise|older|newer|v\d+)\b", re.IGNORECASE)
_STANDSTILL = re.compile(
    r"^\W*(?:(?:stay|remain|stick|live) (?:on|with|as)\b|(?:go|carry|keep) on\b|continue (?:to|with|\w+ing)\b"
    r"|(?:make|give|propose|take|show|offer|arrive at|express|state|record|list) no\b|(?:do not|don't|never)\b"
    r"|(?:abstain|refrain) from\b|disregard\b|leave (?!out\b|room\b|behind\b))[^,;.]{0,30}",
    re.IGNORECASE,
)
"""How a sentence begins that leaves everything as it is: no step of a plan that means to change something."""

SAME_THING = 0.5
"""The share of the shorter one's telling words that both have to say to be about one thing."""

WIDE = 3
"""The first pairs of opposites (making, allowing, keeping) are of every plan: they need more that is shared."""

TWICE = 0.8
"""The share of all words of two subgoals that they have in common when one is the other again."""


def contradictions(decomposition: Decomposition) -> Iterator[tuple[str, str]]:
    """Pairs that cannot both be done, each with how to mend it."""
    needs = depends(decomposition.subgoals)
    for one, other in combinations(decomposition.subgoals, 2):
        if one.id == other.id:
            continue
        after = one.id in reachable(needs, other.id) or other.id in reachable(needs, one.id)
        found = undoing(one.description, other.description) or undoing(other.description, one.description)
        if not found and "study" not in (role(one), role(other)):  # who looks at a thing does nothing to it
            found = opposed(one.description, other.description, after=after)
        if found:
            yield (
                f"{one.id} and {other.id} contradict each other: {found}",
                f"decide between {one.id} and {other.id}, or say what each of them applies to",
            )


def repeated(decomposition: Decomposition) -> Iterator[tuple[str, str]]:
    """Duplicate subgoals (by Jaccard similarity of their words), each pair with how to mend it."""
    for one, other in combinations(decomposition.subgoals, 2):
        first, second = (frozenset(terms(subgoal.description)) for subgoal in (one, other))
        if first and len(first & second) / len(first | second) >= TWICE:
            yield f"{one.id} and {other.id} are the same subgoal", f"merge {one.id} and {other.id}"


def opposed(one: str, other: str, *, after: bool = False) -> str:
    """In words, what two sentences about one thing say against each other; empty where they don't.

    `after` says that one is meant to follow the other: what is made first may be taken away later.
    """
    first, second = _positive(one), _positive(other)
    shared = _shared(telling(first), telling(second))
    literally = len((telling(first).stems & telling(second).stems) - PROCESS)
    if shared < 0.5:
        return ""
    smaller = max(1, min(len(telling(first).stems - PROCESS), len(telling(second).stems - PROCESS)))
    near = shared >= (2.5 if after else 1.5) or shared / smaller >= SAME_THING
    if _SPECIAL.search(one) and _SPECIAL.search(other):
        return ""
    for refusing, doing in ((one, other), (other, one)):
        denied = _denied(refusing, doing)
        if denied and (not after or _REFUSAL.search(refusing)):
            return denied
    if after and (_OUTDATED.search(one) or _OUTDATED.search(other)):
        return ""
    for number, pair in enumerate(OPPOSITES):
        if (not near or literally < 2) if number < WIDE else not near and shared < 1:
            continue
        found = _across(pair, first, second) or _across(pair, second, first)
        if found:
            return found
    return ""


def undoing(one: str, other: str) -> str:
    """In words, how a sentence says that nothing is done about what the other sets out to do; empty where it isn't."""
    match = _STANDSTILL.search(one)
    if match is None or _STANDSTILL.search(other):
        return ""
    shared = telling(one).stems & telling(other).stems - PROCESS
    return f"one says “{match[0].strip()}”" if shared else ""


def _positive(text: str) -> str:
    """A sentence without what it says is not to be: "x rather than y" is about x."""
    return _REPLACED.sub(" ", text)


def _shared(one: Words, other: Words) -> float:
    return sum(1.0 if other.says(stem) else 0.5 if other.has(stem) else 0.0 for stem in one.stems - PROCESS)


def _denied(refusing: str, doing: str) -> str:
    """What one sentence refuses that the other does: "never save the theme" against "persist the theme"."""
    does = telling(_positive(doing))
    for match in _NEGATED.finditer(_positive(refusing) + "."):
        what = _CUT.split(match[1])[0]
        if _OUTDATED.search(what) or not _AT_FIRST.search(refusing[: match.start(1)]):
            continue
        refused = telling(what)
        own = refused.stems - PROCESS
        if own and sum(does.has(stem) for stem in own) / len(own) >= 0.5 and not _refuses(doing, refused):
            return f"one says “{match[0].strip()}”"
    return ""


def _refuses(text: str, refused: Words) -> bool:
    return any(not refused.stems.isdisjoint(telling(match[1]).stems) for match in _NEGATED.finditer(text + "."))


def _across(pair: Opposites, one: str, other: str) -> str:
    """Antonyms that two sentences say, one each; empty where one says both."""
    left = _said(pair.ones, pair.one_phrases, one)
    right = _said(pair.others, pair.other_phrases, other)
    if not left or not right:
        return ""
    # who says both sides speaks of a change, not of a choice
    if _said(pair.others, pair.other_phrases, one) or _said(pair.ones, pair.one_phrases, other):
        return ""
    return f"“{left}” against “{right}”"


def _said(stems: frozenset[str], phrases: tuple[str, ...], text: str) -> str:
    lowered, by_stem = _spelt(text)
    for phrase in phrases:
        if phrase in lowered:
            return phrase
    return next((word for stem, word in by_stem.items() if stem in stems), "")


@lru_cache(maxsize=256)
def _spelt(text: str) -> tuple[str, dict[str, str]]:
    """A text in small letters, and its words by stem as they come; each text is held against every pair."""
    lowered = text.lower()
    by_stem: dict[str, str] = {}
    for word in re.findall(r"[a-z][\w-]*", _WITHOUT.sub(" ", lowered)):
        for stem in terms(word)[:1]:
            by_stem.setdefault(stem, word)
    return lowered, by_stem
