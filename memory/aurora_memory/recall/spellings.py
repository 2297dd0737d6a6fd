"""Variants of spelling, British and American: how a word is spelled on the other side: "synchronised" for
"synchronized". Pure.

Their stems differ, so that who asks in one spelling would not find code in the other. A word that has no other spelling
may get one ("promize"); nothing is called so, and nothing is found by it.
"""

from __future__ import annotations

import re

_BRITISH = (
    (re.compile(r"(?<=[a-z]{3})is(?=(?:e[drs]?|ers|ing|ations?|able)$)"), "iz"),
    (re.compile(r"(?<=[a-z]{2}l)ys(?=(?:e[drs]?|ers|ing)$)"), "yz"),
    (re.compile(r"(?<=[a-z]{3})our(?=(?:s|ed|ing|al|able|ful)?$)"), "or"),
)
_AMERICAN = (
    (re.compile(r"(?<=[a-z]{3})iz(?=(?:e[drs]?|ers|ing|ations?|able)$)"), "is"),
    (re.compile(r"(?<=[a-z]{2}l)yz(?=(?:e[drs]?|ers|ing)$)"), "ys"),
    (re.compile(r"(?<=[a-z]{3})or(?=(?:s|ed|ing|al|able|ful)?$)"), "our"),
)


def other_spelling(word: str) -> str | None:
    """A lower-case word as the other side may spell it; None where both spell it alike."""
    for family, other in (*_BRITISH, *_AMERICAN):
        if family.search(word):
            return family.sub(other, word)
    return None
