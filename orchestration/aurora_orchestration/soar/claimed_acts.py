"""Claimed acts (false claims of work done): sentences of an answer that say somebody changed, ran or verified
something.

Whether that was done is seen by who did it. A model without tools only writes: "I have edited `a.py`" and "all tests
pass" are untrue of it, whatever a judge says. That an answer was verified is for AURORA to say, never for the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aurora_orchestration.soar.sentences import bounded, sentences

_DONE = (
    r"(?:edited|changed|modified|updated|created|added|wrote|written|implemented|fixed|removed|deleted|renamed|moved"
    r"(?! on)|refactored|rewrote|rewritten|replaced|patched|installed|upgraded|migrated|committed|pushed|merged|"
    r"deployed|released|applied|executed|ran|run|tested|built|rebuilt|reverted|configured)(?! (?:nothing|no)\b)"
)
_NOW = r"(?: (?:just|now|also|already|then|since|successfully))*"
_BY_US = re.compile(
    rf"\b(?:I|[Ww]e)(?:['’]ve| have){_NOW} {_DONE}\b|\bI{_NOW} (?!run\b){_DONE}\b|^\W*[Ss]uccessfully {_DONE}\b"
    rf"|\b(?:has|have) (?:just|now|successfully) been {_DONE}\b|\bbeen successfully {_DONE}\b"
)
_TESTS = re.compile(
    r"\b(?:(?:all|every|\d+(?: of \d+|/\d+)?)(?: of)?(?: the)?(?: \d+)?(?: (?:unit|integration|existing|new))* tests?"
    r"|tests(?= (?:now|are|all)\b))"
    r"(?: (?:now|still|all|are|is|have|has))* (?:pass(?:es|ed|ing)?|green|succeed(?:ed|s)?)"
    r"(?=\W*$|[,;:)]| now\b| again\b)",
    re.IGNORECASE,
)
_VERIFIED = re.compile(
    r"\b(?:overall[ _]score|verification score|final score|verdict)\b[\"']?\s*(?:(?:is|of|was|[:=])\s*)?[\"']?"
    r"(?:[01](?:\.\d+)?\b|pass(?:ed)?\b)"
    r"|\b(?:this|the|my|our) (?:answer|response|reply|synthesis) (?:was|is|has been|had been) (?:\w+ )?"
    r"(?:verified|validated|approved|reviewed|checked|confirmed)\b"
    r"|\b(?:verified|validated|approved|confirmed|reviewed) by (?:an?|the|our) (?:\w+ )?"
    r"(?:judge|verifier|reviewer|critic|verification)\b"
    r"|^\W*VERIFIED\b",
    re.IGNORECASE,
)
_ASKED = re.compile(r"\b(?:verif\w+|verdicts?|scor\w+|judg\w+|approv\w+|review\w*)\b", re.IGNORECASE)
"""Questions whose answers speak of verification without meaning themselves."""

_TOLD_OF = re.compile(
    r"\b(?:if|once|when|after|until|unless|whether|should|would|could|to be|must|not|never)\b|n't\b", re.I
)
"""Words with which a sentence speaks of an act without claiming it."""


def claimed_acts(query: str, answer: str, *, acted: bool) -> Iterator[str]:
    """Sentences that claim what was not done. `acted`: somebody who can act worked on the answer."""
    for sentence in sentences(re.sub(r"```.*?(?:```|\Z)", "\n", bounded(answer), flags=re.DOTALL)):
        plain = re.sub(r"`[^`\n]*`", "`x`", sentence)
        if _TOLD_OF.search(plain):
            continue
        of_itself = _VERIFIED.search(plain) and not _ASKED.search(query)
        if of_itself or (not acted and (_BY_US.search(plain) or _TESTS.search(plain))):
            yield " ".join(sentence.split())
