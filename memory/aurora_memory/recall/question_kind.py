"""Kind of a question: name, place, topic, how something works, what a function does, change, report, error, issue.

Who asks for a topic wants the file or class that is about it; who describes a change wants every function it touches,
several of one file as well. The kinds are told apart by how a question begins and by the words that make a sentence of
it: commit subjects and documentation begin with a verb, topics are noun phrases. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from aurora_memory.stopwords import ERRANDS

QuestionKind = Literal["name", "place", "topic", "how", "task", "change", "report", "error", "issue"]
"""`task` says what one function does, as its documentation would; `report` what goes wrong in a
sentence, as titles of issues do; `issue` is a report of many words.
"""

ISSUE_WORDS = 40
"""Words from which on a question is a report."""

MEANING: dict[QuestionKind, str] = {
    "name": "names in the code",
    "place": "places in files",
    "topic": "a topic: one answer for each file, its members beside it",
    "how": "how or where something works: one answer for each file, its members beside it",
    "task": "what a function does: function by function",
    "change": "a change to make: function by function",
    "report": "what goes wrong: function by function, no tests",
    "error": "an error: its names and places, then function by function",
    "issue": "a report: all its words, repeated ones more, function by function",
}
"""What is told to people of each kind, and of what it makes of the answers."""

_ASKS = re.compile(
    r"(?i)\s*(?:(?:explain|describe|show(?: me)?|tell me|find(?: out)?)\s+)?(how|where|which|why|what|who)\b(?! if\b)"
)
_TRACE = re.compile(
    r"(?m)Traceback \(most recent|^\s*File \"[^\"\n]+\", line \d+|^\s+at \S+ ?\(\S+:\d+|^panic: |^goroutine \d"
)
_RAISED = re.compile(r"\b[A-Za-z_]\w*(?:Error|Exception|Warning)\b:")
_PREFIXED = re.compile(r"\s*(?:\[[^\]\n]{1,30}\]|[\w./+-]{1,30}(?:\([^)\n]{0,40}\))?!?:)\s")
"""`fix(parser): …`, `[CI] …`, `http2: …`: how subjects of commits begin."""

_NUMBERED = re.compile(r"^\s*#\d+[:,]?\s")

_SENTENCE = re.compile(
    r"(?i)\b(?:is|are|was|were|isn't|aren't|doesn't|does not|don't|do not|didn't|can't|cannot|won't|should|shouldn't"
    r"|must|fails?|failed|failing|raises?|crash(?:es|ed)?|breaks?|broken|wrong(?:ly)?|incorrect(?:ly)?|unexpected(?:ly)?"
    r"|missing|instead|when|if|because|regression|bug|no longer|ignored)\b"
)
"""Words that stand in sentences about what happens, hardly ever in the name of a topic."""

_REPORTED = re.compile(
    r"(?i)\b(?:not(?! found)|has|have|had|gets?|got|causes?|seems?|please|inconsisten(?:t|tly|cy)|unnecessar(?:y|ily)"
    r"|misleading|false (?:posi|nega)tives?)\b|\b(?:in|since) (?:[a-z]\w{0,20} )?v?\d+\.\d|\w\(|`[^`\n]+`"
)
"""What titles of reports have, and names of topics have not: denial, complaint, a version, code as it is written."""

_JOINS = frozenset("and as at by for from in into like of on or over per than that to via which with".split())
"""Words after which a word that may be a verb (`hooks`, `checks`) has been a noun."""

_DESCRIBED = frozenset(
    "a an the this these called used true false if whether helper recursively internal private".split()
)
"""How documentation begins that does not begin with its verb."""

_VERBS = frozenset(
    """
    accept adjust append apply assert assign attach attempt bind build calculate call check choose clean clear close
    collect compare compute configure connect construct convert copy count create decode define delete derive detach
    detect determine disable discard dispatch draw drop emit enable encode ensure escape evaluate execute expand expose
    extract fetch fill find flush force free generate get give grab guess hide ignore implement include increase
    indicate initialize inject insert inspect install invoke iterate join keep let load locate look mark merge modify
    normalize notify obtain open override parse pass peek perform pop populate prepare preserve print produce provide
    push put raise read receive register reject release render report require resolve restore retrieve return reverse
    run save search select send serialize set show skip specify split start stop store strip substitute suppress take
    tell throw transform translate trim try turn validate verify wait walk wrap write yield
    """.split()
)
"""Verbs with which documentation of functions begins, and which hardly ever begin the name of a topic."""

_CHANGES = ERRANDS - {"support", "supports", "handle", "handles", "issue", "issues"} | frozenset(
    """
    avoid bring cleaned consolidate converted corrected deprecate do don't drop eliminate enforce explicitly extended
    introduce introduced make move moved only optimize optimized prevent reduce reduced reimplement replace replaced
    respect reverted reworked simplified simplify speedup switch switched upgrade upgraded use
    """.split()
)


def kind_of(text: str, names: bool, places: bool) -> QuestionKind:
    """The kind of a query. `names` and `places` say that it is nothing but such."""
    if places:
        return "place"
    if names:
        return "name"
    if _TRACE.search(text) or _RAISED.search(text):
        return "error"
    words = _NUMBERED.sub("", text).split()
    if len(words) >= ISSUE_WORDS:
        return "issue"
    if _ASKS.match(text):
        return "how"
    first = words[0].lower().strip(".,;:`\"'()") if words else ""
    if first in _CHANGES or _PREFIXED.match(text):
        return "change"
    if first in _DESCRIBED or _is_verb(first) or text.rstrip().endswith("."):
        return "task"
    if _SENTENCE.search(text) or _REPORTED.search(text) or _has_verb(words):
        return "report"
    return "topic"


def _has_verb(words: Sequence[str]) -> bool:
    """Whether something is said to do something: a verb in the third person between others, `stack drops names`."""
    said = pairwise(words[1:])
    return any(word.endswith("s") and _is_verb(word) and after.lower() not in _JOINS for word, after in said)


def _is_verb(word: str) -> bool:
    """Whether it is one of the verbs, as it is or in the third person: `writes`, `fetches`, `copies`."""
    if word in _VERBS:
        return True
    if not word.endswith("s"):
        return False
    return word[:-1] in _VERBS or (word.endswith("es") and word[:-2] in _VERBS) or f"{word[:-3]}y" in _VERBS
