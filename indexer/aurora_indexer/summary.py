"""What a chunk amounts to: how intricate it is, what it costs a language model, and the words that tell it best."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from aurora_indexer.fingerprint import WHITE_SPACE
from aurora_memory.chunks import AstSummary
from aurora_memory.tokens import MAX_WORD, split_word

MIN_KEYWORDS = 5
MAX_KEYWORDS = 7

_MEDIUM = 4
_HIGH = 11
"""Branches and loops from which a chunk is of medium and of high complexity (AURORA §6.3.5)."""

_BYTES_PER_TOKEN = 3.4
"""Bytes other than white space that a token of code stands for, on average over languages and tokenizers."""

_DOC_LOOKED_AT = 400
"""Characters of a docstring that keywords come from: what it is about is said first."""

_WORD = re.compile(r"[^\W\d]\w*")

STOP_WORDS = frozenset(
    "about above after again all also although always among and another any anything are around because been before being"
    " below between both but calls came can cannot case change come could default did does doing done down during each"
    " either else ensure etc even ever every example false first following for from further gets give given gives goes got"
    " had has have having here how however into its itself just kind know last less let like made make makes many may maybe"
    " might more most much must need needed needs neither never new nor not note nothing now off often once one ones only"
    " onto other others otherwise our out over own param params parameter parameters per perhaps please possible rather"
    " really return returned returning returns same see several should simply since some something still such sure take"
    " taken takes than that the their them then there these they thing things this those though through thus todo too true"
    " two under unless until upon use used uses using usually various very via want was way well were what when where"
    " whether which while who whole whose why will with within without would yet you your args arg argument arguments"
    " value values raises raise example examples optional func function method functions methods called call instance"
    " object objects self none null string int bool float def two get set is it in of to an as at be by do if no on or so"
    " up us we he me my am".split()
)


def ast_summary(branches: int, loops: int) -> AstSummary:
    """Sum up branches and loops: to 3 is low, to 10 medium, above high."""
    total = branches + loops
    return AstSummary("low" if total < _MEDIUM else "medium" if total < _HIGH else "high", branches, loops)


def estimated_tokens(text: bytes) -> int:
    """Estimate what a text costs a language model.

    One token per 3.4 bytes other than white space, and one per line for its break and indent.
    """
    return round(len(text.translate(None, WHITE_SPACE)) / _BYTES_PER_TOKEN) + text.count(b"\n") + 1


def keywords(
    name: str, signature: str, docstring: str, more: Iterable[str], language_words: frozenset[str]
) -> tuple[str, ...]:
    """Choose the five to seven words that tell a chunk best, best first.

    A word counts for where it stands (own name, what is around, first sentence, signature, rest of the docstring) and
    for being long; words of the language and of everyday English don't count. `more` fills up to five: names it calls.
    """
    scores: dict[str, float] = {}
    singular: dict[str, str] = {}

    def count(text: str, weight: float) -> None:
        seen: set[str] = set()
        for identifier in _WORD.findall(text):
            for stem, word in _telling(identifier):
                if word in language_words:
                    continue
                if stem in seen:
                    scores[stem] += weight / 4
                    continue
                seen.add(stem)
                if stem in scores:
                    scores[stem] += weight
                else:
                    singular[stem] = word
                    scores[stem] = weight + min(len(stem), 12) / 24

    outer, _, own = name.rpartition(".")
    count(own, 4)
    count(outer, 1.5)
    doc = docstring[:_DOC_LOOKED_AT]
    sentence = doc.partition("\n\n")[0].partition(". ")[0]
    count(sentence, 2)
    count(signature, 1)
    if len(doc) > len(sentence) and len(scores) <= MAX_KEYWORDS:
        count(doc[len(sentence) :], 0.75)
    best = sorted(scores, key=scores.__getitem__, reverse=True)[:MAX_KEYWORDS]
    if len(best) < MIN_KEYWORDS:
        for text in more:
            if len(scores) >= MIN_KEYWORDS:
                break
            count(text, 0.1)
        best = sorted(scores, key=scores.__getitem__, reverse=True)[:MIN_KEYWORDS]
    return tuple(singular[stem] for stem in best)


@lru_cache(maxsize=65536)
def _telling(identifier: str) -> tuple[tuple[str, str], ...]:
    """The words of an identifier that may be keywords, each after the form that plural and singular share."""
    pieces = split_word(identifier) if len(identifier) <= MAX_WORD else ()
    return tuple(
        (word[:-1] if len(word) > 4 and word[-1] == "s" and word[-2] not in "su" else word, word)
        for word in (pieces[:-1] if len(pieces) > 1 else pieces)
        if len(word) >= 3 and word not in STOP_WORDS and word.isalpha()
    )
