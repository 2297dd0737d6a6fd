"""Title likeness (a small trained text classifier): whether a question that may be a topic reads like the title of a
bug report, or like a commit's subject.

`toctree contains a reference to a missing document` and `stack casts integers` have none of the words that rules go by
(`recall.question_kind`), and are no topics. A small logistic model of a question's wording tells them apart, as far as
wording does: `title_weights.json`, fitted by `tests/benchmarks/title_fit.py` on subjects and changelogs of commits
against headings and lists of documentation. It looks at nothing but the text. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from aurora_memory.recall.question_kind import is_verb_of_subjects
from aurora_protocol import typed

MOST_WORDS = 40
"""Words of a text that are looked at."""

LONG = 14
"""Words from which on all lengths are one."""

_ENDINGS = ("able", "ed", "er", "ing", "ion", "ions", "ity", "ly", "ment", "or", "s")
_MARKS = re.compile(r"[`'\"(:,.;#&=<>\[\]!?+*{]")
_EDGES = ".,;:()'\"`?!"
_CODE = re.compile(r"_|[a-z]\w*[A-Z]|::|\w\.\w|\(\)|^--?\w|\w\(")
_JOINING = frozenset(
    "a an the this that to of in on for with from by when if is are and or not no into as at it its be via without"
    " than after before over per".split()
)


class TitleWeights(Struct, frozen=True):
    """Weights of features, in log odds, and of what they were fitted; `base` is what a text without any has."""

    provenance: Mapping[str, Any]
    base: float
    weights: Mapping[str, float]


@cache
def title_weights() -> TitleWeights:
    """The weights that `tests/benchmarks/title_fit.py` wrote."""
    return typed.decode(Path(__file__).with_name("title_weights.json").read_bytes(), TitleWeights)


def title_likeness(text: str) -> float:
    """How much a text reads like a title rather than a topic, in log odds; 0 is as much one as the other."""
    known = title_weights()
    return known.base + sum(known.weights.get(feature, 0.0) for feature in features(text))


def features(text: str) -> set[str]:
    """Feature extraction: a text's length, and of its words how they are spelled, how they end, and the frequent ones.

    Capitals of plain words tell where a text was written, not what it is.
    """
    words = text.split()[:MOST_WORDS]
    bare = [word.lower().strip(_EDGES) for word in words]
    last = len(words) - 1
    found = {f"length {min(len(words), LONG)}", *(f"mark {mark}" for mark in _MARKS.findall(text))}
    if text.rstrip().endswith("."):
        found.add("full stop")
    for n, (word, plain) in enumerate(zip(words, bare, strict=True)):
        place = "first" if n == 0 else "last" if n == last else "inner"
        spelling = _spelling(word)
        found.add(f"{place} is {spelling}")
        if spelling != "plain" or not plain:
            continue
        found |= {f"says {plain}", f"{place} says {plain}"}
        if not plain.endswith("ss"):
            found |= {
                f"{place} ends in {each}" for each in _ENDINGS if plain.endswith(each) and len(plain) > len(each) + 2
            }
        if n == 0 and is_verb_of_subjects(plain):
            found.add("verb first")
        elif n and plain.endswith("s") and is_verb_of_subjects(plain):
            found.add("verb later")
        if 0 < n < last:
            if plain.endswith("s") and bare[n + 1] not in _JOINING:
                found.add("s before a word")
            if plain in _JOINING:
                found.add("joins words")
    return found


def _spelling(word: str) -> str:
    bare = word.strip(_EDGES)
    if _CODE.search(word):
        return "code"
    if re.search(r"\d", bare):
        return "a number"
    if len(bare) > 1 and bare.isupper():
        return "capitals"
    return "slashed" if "/" in bare else "hyphened" if "-" in bare else "plain"
