"""Self-contradictions of an answer: two sentences of which one says that something is so, the other that it is not.

"Replies are cached … Replies are not cached"; "it retries 3 times … it retries 5 times". Sentences that name a
condition, a time or an exception each speak of their own case, and are not held against each other. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations

from msgspec import Struct

from aurora_memory.stopwords import without_stop_words
from aurora_memory.tokens import terms, words
from aurora_orchestration.soar.concepts import OPPOSITES
from aurora_orchestration.soar.references import sentences

MAX_SENTENCES = 120
SAME = 0.75
"""The share of all telling words of two sentences that both have when they are about the same."""

_NOT = re.compile(
    r"\b(?:is|are|was|were|be|been|does|do|did|has|have|had|can|could|will|would|should|must|may)(?:\s+not\b|n't\b)|"
    r"\bcannot\b|\bnever\b|\bno longer\b|\bneither\b|\bnor\b|\bwithout\b|\bnothing\b|\bnowhere\b|\bnobody\b|\bno one\b|"
    r"\bnot\b|\bno\b|\bfails? to\b|\brefuses? to\b",
    re.IGNORECASE,
)
_CASE = re.compile(
    r"\b(?:if|when|whenever|unless|except|otherwise|until|once|before|after|only|in case|provided|while|where|"
    r"by default|"
    r"previously|formerly|used to|originally|first|then|later|now|in (?:debug|production|tests?)|"
    r"on (?:windows|linux|macos)|"
    r"but|although|though|however|whereas|instead|rather than|some|most|many|either|or|for)\b",
    re.IGNORECASE,
)
_ALWAYS = re.compile(r"\b(?:always|in every case|every time|each time|all)\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.:#-])\d+(?:\.\d+)?(?![\w:-]|\.\d)")
_PLACE = re.compile(
    r"\(?`?[\w./-]+\.\w+(?::\d+(?:[-–]\d+)?)`?\)?|\blines?\s+\d+(?:\s*(?:-|–|to)\s*\d+)?", re.IGNORECASE
)
_VALUE = re.compile(
    r"\b(?:is|are|be|defaults? to|set to|returns?|equals|takes?|named|called|raises?|throws?)\s+"
    r"(?:an?\s+|the\s+)?`(?P<value>[^`]+)`"
    r"(?P<rest>[^`]*)$"
)


class _Said(Struct, frozen=True):
    text: str
    stems: frozenset[str]
    names: frozenset[str]
    denied: bool
    cases: frozenset[str]
    numbers: tuple[str, ...]
    frame: str


def self_contradictions(texts: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Pairs of sentences that cannot both be so, and why."""
    said = [_said(each) for text in texts for each in sentences(_without_code(text))][:MAX_SENTENCES]
    said = list({each.text: each for each in said if len(each.stems) >= 2}.values())
    for one, other in combinations(said, 2):
        why = _against(one, other)
        if why:
            yield one.text, other.text, why


def _against(one: _Said, other: _Said) -> str:
    if one.cases != other.cases and not (_ALWAYS.search(one.text) or _ALWAYS.search(other.text)):
        return ""
    if one.names != other.names and one.names and other.names:
        return _other_value(one, other)
    shared, union = one.stems & other.stems, one.stems | other.stems
    if len(shared) < 2 or len(shared) / len(union) < SAME:
        return _opposite(one, other)
    if one.denied != other.denied:
        return "one denies what the other says"
    if (
        one.numbers
        and len(one.numbers) == len(other.numbers)
        and one.numbers != other.numbers
        and one.stems == other.stems
    ):
        return f"{', '.join(one.numbers)} against {', '.join(other.numbers)}"
    return _opposite(one, other)


def _other_value(one: _Said, other: _Said) -> str:
    """The same sentence with another value: "the default is `a`" against "the default is `b`"."""
    first, second = _VALUE.search(one.text), _VALUE.search(other.text)
    if not first or not second or one.denied or other.denied or first["value"] == second["value"]:
        return ""
    return f"`{first['value']}` against `{second['value']}`" if one.frame == other.frame else ""


def _opposite(one: _Said, other: _Said) -> str:
    """Two sentences that differ by a word and its opposite alone: synchronously, asynchronously."""
    left, right = one.stems - other.stems, other.stems - one.stems
    if one.denied != other.denied or not left or not right or len(left) > 2 or len(right) > 2:
        return ""
    if len(one.stems & other.stems) < 2:
        return ""
    for pair in OPPOSITES:
        if (left & pair.ones and right & pair.others) or (left & pair.others and right & pair.ones):
            return f"“{' '.join(sorted(left))}” against “{' '.join(sorted(right))}”"
    return ""


@lru_cache(maxsize=512)
def _said(sentence: str) -> _Said:
    plain = _PLACE.sub(" ", sentence)
    denied = len(_NOT.findall(plain)) % 2 == 1
    positive = _NOT.sub(" ", plain)
    stems = frozenset(stem for word in without_stop_words(words(_NUMBER.sub(" ", positive))) for stem in terms(word))
    value = _VALUE.search(sentence)
    frame = f"{sentence[: value.start('value')]}|{value['rest']}" if value else ""
    return _Said(
        text=" ".join(sentence.split()),
        stems=stems,
        names=frozenset(re.findall(r"`([^`]+)`", plain)),
        denied=denied,
        cases=frozenset(each.lower() for each in _CASE.findall(plain)),
        numbers=tuple(_NUMBER.findall(plain)),
        frame=" ".join(_PLACE.sub(" ", frame).lower().strip("-*. \t").split()),
    )


def _without_code(text: str) -> str:
    return re.sub(r"```.*?(?:```|\Z)", "\n", text, flags=re.DOTALL)
