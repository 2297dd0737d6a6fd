"""Kind of a question (query intent, classification): name, place, topic, how something works, what a function does,
change, report, error, issue.

Who asks for a topic wants the file or class that is about it; who describes a change wants every function it touches,
several of one file as well. The kinds are told apart by how a question begins and by the words that make a sentence of
it: commit subjects and documentation begin with a verb, topics are noun phrases. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Literal

from aurora_memory.stopwords import ERRANDS, STOP_WORDS

QuestionKind = Literal["name", "place", "topic", "how", "task", "change", "report", "error", "issue"]
"""`task` says what one function does, as its documentation would; `report` what goes wrong in a
sentence, as titles of issues do; `issue` is a report of many words.
"""

ISSUE_WORDS = 40
"""Words from which on a question is a report."""

SENTENCE = 4
"""Words from which on an imperative as it is typed, `copy messages to another broker`, asks where that is done.
Documentation begins with a capital or ends with a point; fewer words may be a name: `dispatch request`.
"""

COMPOUND_WORDS = range(2, 7)
"""Words of a name of a topic that begins with what may be a verb."""

MEANING: dict[QuestionKind, str] = {
    "name": "names in the code",
    "place": "places in files",
    "topic": "a topic: one answer for each file, its members beside it",
    "how": "how or where something works: one answer for each file, its members beside it",
    "task": "what a function does: function by function, the likeliest files among the first",
    "change": "a change to make: function by function, the likeliest files among the first",
    "report": "what goes wrong: its likeliest files, then function by function, tests behind; in turns with "
    "a topic's, four in all; in plain words a topic's first",
    "error": "an error: its names and places, then function by function",
    "issue": "a report: all its words, repeated ones more, function by function",
}
"""What is told to people of each kind, and of what it makes of the answers."""

_ASKS = re.compile(
    r"(?i)\s*(?:(?:explain|describe|show(?: me)?|tell me|find(?: out)?)\s+)?"
    r"(?:(?:(?:after|at|before|by|for|from|in|on|to|under|until|with)\s+)?(?:how|where|which|why|what|who)\b(?! if\b)"
    r"|when (?:are|can|did|do|does|is|must|should|was|were|will)\b)"
)
"""How questions begin, `in which order …` as well. `When` alone begins reports: `When a cart is empty, …`."""
_TRACE = re.compile(
    r"(?m)Traceback \(most recent|^\s*File \"[^\"\n]+\", line \d+|^\s+at \S+ ?\(\S+:\d+|^panic: |^goroutine \d"
)
_RAISED = re.compile(r"\b[A-Za-z_]\w*(?:Error|Exception|Warning)\b:")
_PREFIXED = re.compile(
    r"\s*(?:\[[^\]\n]{1,30}\]|[\w./+-]{1,30}(?:\([^)\n]{0,40}\))?!?:(?:\([^)\n]{0,40}\))?)\s|(?i:feat|feature|fix)[:/]\w"
)
"""`fix(parser): …`, `[CI] …`, `http2: …`, `Fix:(issue 7) …`, `fix/total of carts`: how subjects of commits begin."""

_NUMBERED = re.compile(r"^\s*#\d+[:,]?\s")

_SENTENCE = re.compile(
    r"(?i)\b(?:is|are|was|were|isn't|aren't|doesn't|does not|don't|do not|didn't|can't|cannot|won't|should|shouldn't"
    r"|must|fails?|raises?|crash(?:es|ed)?|breaks?|broken|wrong(?:ly)?|incorrect(?:ly)?|unexpected(?:ly)?"
    r"|missing|instead|when|if|because|regression|bug|no longer)\b"
    r"|\b(?:failed|failing|ignored)(?=\W*$|\W+(?:after|and|as|at|but|by|due|during|for|from|in|on|since|to|while|with)\b)"
)
"""Words that stand in sentences about what happens, hardly ever in the name of a topic. `A failed command` is a thing:
what has failed is told of it with another word, or with none behind it.
"""

_WHEN = re.compile(r"\b(?:when|while|if|once|after|before)\b.*", re.DOTALL)
"""What a noun phrase goes on with: `evicting old entries when the disk is full`."""

_REPORTED = re.compile(
    r"(?i)\b(?:not(?! found)|has|have|had|gets?|got|causes?|seems?|please|inconsisten(?:t|tly|cy)|unnecessar(?:y|ily)"
    r"|misleading|false (?:posi|nega)tives?|now|correctly|properly)\b"
    r"|\b(?:in|since) (?:[a-z]\w{0,20} )?v?\d+\.\d|\w\(|`[^`\n]+`"
    r"|\b(?:conflicts?|crash|deadlock|leaks?|race|typos?|warning)\W*$"
)
"""What titles of reports have, and names of topics have not: denial, complaint, a version, code as it is written, and
what has gone wrong as the last word.
"""

_COMPLAINT = re.compile(
    r"(?i)\b(?:(?:won't|doesn't|don't|do(?:es)? not|not) (?:get|work|appear|happen|show)(?:ing)?|broken"
    r"|incorrect(?:ly)?|wrong(?:ly)?|unexpected(?:ly)?|regression)\b"
)
"""What titles of reports have and documentation hardly has, though it begins as they do: `The default is wrong.`"""

_JOINS = frozenset("and as at by for from in into like of on or over per than that to via which with".split())
"""Words after which a word that may be a verb (`hooks`, `checks`) has been a noun."""

_BEFORE_NOUNS = frozenset("a all both first last multiple new next no out several up".split())
"""Words that begin an object or belong to the verb before them, beside stop words: `run all checks`."""

_PLAIN = re.compile(r"[a-z]+(?:-[a-z]+)*")

_DESCRIBED = frozenset(
    "a an the this these called used true false if whether helper recursively internal private".split()
)
"""How documentation begins that does not begin with its verb."""

_ARTICLES = frozenset({"a", "an", "the"})
"""Of these, what a sentence begins with that somebody types."""

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
    actually adopt align also avoid better bring changing clarified clarify cleaned coerce consolidate converted
    correct corrected correcting correctly created delegate deprecate disallow do document don't drop dropped
    dropping eliminate enabled enforce enhance enhanced exclude explicitly exposed extended factored forbid further
    generalize implemented improvements improving introduce introduced isolate made make memoize mention migrate
    modified more move moved moving only optimize optimized patched ported prefer prevent propagate properly reduce
    reduced refine reformat reformatted reimplement relax removing reordered reorganize replace replaced replacing
    respect restrict reuse reverted revise rework reworked rewrite shorten silence simplified simplify small speedup
    standardize switch switched tidied tighten tiny tweaked unify updating upgrade upgraded use
    """.split()
)
"""Words with which subjects of commits begin, and hardly ever documentation or the name of a topic: counted on the
first words of 18,400 subjects, 2,988 sentences of documentation and 2,724 headings and classes of 42 repositories.
"""

_NOUNS = frozenset(
    """
    call check copy count display escape join load match merge read run search select split trim wait walk write
    """.split()
)
"""Verbs of documentation that are nouns as well, and may begin the name of a topic: `call graph`, `merge base`."""

_HEADS = frozenset(
    """
    access balancer base boundary buffer cache chain clock cycle depth frequency graph hierarchy interval latency level
    limit lock loop mechanism mode order pipeline policy pool priority queue range rate scheduler semantics
    strategy system threshold throughput timeout window
    """.split()
)
"""Words with which such names end, beside those that are made of a verb (`_OF_VERB`)."""

_OF_VERB = re.compile(
    r"(?!(?:annot|applic|configur|declar|document|inform|loc|oper)ation)\w{3,}[au]tion|(?:manage|place|measure)ment"
    r"|inference"
)
"""What is done (resolution, cancellation), rather than a thing to which something is done (configuration)."""

_COMPOUNDS: dict[str, frozenset[str]] = {
    "change": frozenset({"detection", "history", "log", "summary", "tracking"}),
    "document": frozenset({"outline", "symbol", "symbols"}),
    "feature": frozenset({"flag", "flags"}),
    "issue": frozenset({"tracker", "tracking"}),
    "move": frozenset({"detection"}),
    "release": frozenset({"cycle", "notes"}),
    "rename": frozenset({"detection", "provider", "request"}),
    "support": frozenset({"matrix"}),
}
"""Words that begin a change much more often than a name, each with the last words of the names it begins."""

_SAID = frozenset(
    """
    add allow assume break change default depend display do drop duplicate extend fix follow forget ignore
    improve lose make miss mutate need omit overwrite propagate reject remove rename replace require respect show
    support swallow treat understand update use want
    """.split()
)
"""Verbs that are told of what does something, beside those with which documentation begins."""


def kind_of(text: str, names: bool, places: bool) -> QuestionKind:
    """Classification of a query: its kind. `names` and `places` say that it is nothing but such."""
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
    if _is_compound(first, words):
        return "topic"
    if (first in _CHANGES and not _is_limit(first, words)) or _PREFIXED.match(text) or _is_support(first, words):
        return "change"
    as_typed = len(words) >= SENTENCE and is_typed(text)
    if first in _VERBS and as_typed:
        return "how"
    is_described = (first in _DESCRIBED and not (as_typed and first in _ARTICLES)) or text.rstrip().endswith(".")
    if _is_verb(first) or (is_described and not (len(words) > 1 and _COMPLAINT.search(text))):
        return "task"
    told = _WHEN.sub("", text) if _PLAIN.fullmatch(first) and first.endswith("ing") and words[0] == first else text
    if _SENTENCE.search(told) or _REPORTED.search(told) or _has_verb(told.split()):
        return "report"
    return "topic"


def is_typed(text: str) -> bool:
    """Whether a sentence is as people type one for themselves: it begins with a small letter and no label, and does not
    end with a point. Subjects and documentation are mostly written with more care.
    """
    return text.lstrip()[:1].islower() and not text.rstrip().endswith(".") and not _PREFIXED.match(text)


def _is_compound(first: str, words: Sequence[str]) -> bool:
    """Whether a few words are a noun phrase though the first may be a verb: `call graph resolution`.

    Only lower-case words without any that an object begins with or a sentence goes on with: documentation and subjects
    of commits have a capital, an article or a preposition where a name has none.
    """
    if len(words) not in COMPOUND_WORDS or not all(_PLAIN.fullmatch(word) for word in words):
        return False
    if any(word in _JOINS or word in STOP_WORDS or word in _BEFORE_NOUNS for word in words[1:]):
        return False
    last = words[-1]
    is_head = last in _HEADS or _OF_VERB.fullmatch(last) is not None
    return (first in _NOUNS and is_head) or last in _COMPOUNDS.get(first, ())


def _is_limit(first: str, words: Sequence[str]) -> bool:
    """Whether `only` says of how many something is told (`only one daemon`), and not what is to be done."""
    return first == "only" and len(words) > 2 and words[1].lower() in {"a", "one", "two", "the"}


def _has_verb(words: Sequence[str]) -> bool:
    """Whether something is said to do something: a verb in the third person between others, `stack drops names`."""
    said = pairwise(words[1:])
    return any(
        word.endswith("s") and _is_verb(word, _VERBS | _SAID) and after.lower() not in _JOINS for word, after in said
    )


def is_verb_of_subjects(word: str) -> bool:
    """Whether a lower-case word is a verb with which documentation or subjects of commits begin, in either person."""
    return word in _CHANGES or _is_verb(word, _VERBS | _SAID)


def _is_support(first: str, words: Sequence[str]) -> bool:
    """Whether support is what is to be made (`Support pathlib`): that `for` something, or what follows, is a topic."""
    return first in {"support", "supports"} and len(words) > 1 and words[1].lower() not in _JOINS


def _is_verb(word: str, verbs: Collection[str] = _VERBS) -> bool:
    """Whether it is one of the verbs, as it is or in the third person: `writes`, `fetches`, `copies`."""
    if word in verbs:
        return True
    if not word.endswith("s"):
        return False
    return word[:-1] in verbs or (word.endswith("es") and word[:-2] in verbs) or f"{word[:-3]}y" in verbs
