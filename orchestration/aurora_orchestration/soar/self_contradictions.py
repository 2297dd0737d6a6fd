"""Self-contradictions: inconsistency within an answer: a sentence says that something is so, another that it is not.

"Replies are cached … Replies are not cached"; "it retries 3 times … it retries 5 times". Sentences that name a
condition, a time or an exception each speak of their own case, and are not held against each other. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations

from msgspec import Struct

from aurora_memory.tokens import terms, words
from aurora_orchestration.soar.concepts import OPPOSITES, Opposites
from aurora_orchestration.soar.sentences import bounded, sentences

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
_NEVER = re.compile(r"\b(?:never|at no time|under no circumstances|in no case)\b", re.IGNORECASE)
_DEFAULT = re.compile(
    r"\bby default\b|\b(?:if|when|where|as long as) nothing (?:else )?is (?:configured|set|given|said|passed)\b|"
    r"\b(?:the |its )?default (?:value )?(?:of|for)\b|\bdefaults? to\b|\bunless (?:told|configured|set) otherwise\b",
    re.IGNORECASE,
)
_BY_DEFAULT = re.compile(r"\bby default\b", re.IGNORECASE)
_ON = re.compile(r"\b(?:enabled|(?:switched|turned|is|are) on|on by default)\b", re.IGNORECASE)
_OFF = re.compile(r"\b(?:disabled|(?:switched|turned|is|are) off|off by default)\b", re.IGNORECASE)
_TRUTH = re.compile(r"\b(?:True|False|None|true|false|null)\b")
_ONE = re.compile(r"\b(?:exactly|only|just|at most|no more than) (?:one|a single)\b|\ba single\b", re.IGNORECASE)
_EVERY = re.compile(r"\b(?:all|every)\b(?! (?:calls?|times?)\b)", re.IGNORECASE)
_COUNTING = frozenset(terms("exactly only just single one once at most more than call calls time every all each"))
_NUMBER = re.compile(r"(?<![\w.:#-])\d+(?:\.\d+)?(?![\w:-]|\.\d)")
_PLACE = re.compile(
    r"\(?`?[\w./-]+\.\w+(?::\d+(?:[-–]\d+)?)`?\)?|\blines?\s+\d+(?:\s*(?:-|–|to)\s*\d+)?", re.IGNORECASE
)
_WHOSE = re.compile(
    r"\b(?:that|which|who)\s+(?:(?:is|are|was|were|does|do|did|has|have|had|can|could)\s+)?(?:not|never|no)\b",
    re.IGNORECASE,
)
"""A denial of what is spoken of, not of what is said of it."""

_AT_ALL = frozenset(terms("touch change modify use look at"))
"""What stands for any act where it is denied: who never touches a thing does not remove it."""

_ORDER = re.compile(r"\b(before|after)\b", re.IGNORECASE)
_ONLY = re.compile(r"^\W*only (?:the |a |an )?(?P<who>`[^`]+`|\w+) (?P<does>.+)$", re.IGNORECASE | re.DOTALL)
_TOO = re.compile(r"\b(?:as well|too|also)\b", re.IGNORECASE)
_TAIL = re.compile(r"\b(?:and|but|,|;) (?:is |are |it is )?not (?P<what>[^,;]+)$|\bnot (?P<end>[^,;]+)$", re.IGNORECASE)
_IDLE = re.compile(r"\b(?:is a no-?op|does nothing|do nothing)\b", re.IGNORECASE)
_OTHER_THAN = re.compile(r"\b(?:an)?other\b[^.;]*\bthan\b", re.IGNORECASE)
_CONDITIONS = frozenset({"if", "when", "whenever", "where", "while"})
_FILLERS = frozenset(terms("simply another plainly own any if when whenever where while"))
BRIEF = 3
"""Words of a sentence so brief that one shared with another is its matter."""

_NOTHING = re.compile(r"\b(?:nothing|none|no one|nobody)\b", re.IGNORECASE)
_PASSIVE = re.compile(r"\bby\s+`")
_NAME = re.compile(r"`([^`\n]+)`")
_VALUE = re.compile(
    r"\b(?:is|are|be|defaults? to|set to|returns?|equals|takes?|named|called|raises?|throws?)\s+"
    r"(?:an?\s+|the\s+)?`(?P<value>[^`]+)`"
    r"(?P<rest>[^`]*)$"
)


_FUNCTION_WORDS = frozenset(
    """a an the this that these those it its they them their there here he she we you i is are was were be been being am
    do does did done has have had having will would shall should can could may might must of to in on at by with from as
    and so also too very just still even both each every any all such than then which who whose what where how why own
    itself themselves into onto over under about up out off via per always really actually""".split()
)
"""Words that say nothing of what a sentence is about."""


_NEEDED = Opposites(frozenset(terms("need require")), frozenset(terms("optional")), (), ())
"""Opposites in what code is said to do, not in plans, which need much."""

_BASE = {
    form: base
    for base, forms in (
        line.split(":")
        for line in """write:written wrote;keep:kept;send:sent;throw:thrown threw;hold:held;take:taken took;
        give:given gave;get:got gotten;find:found;build:built;make:made;lose:lost;leave:left;
        run:ran;hide:hidden;break:broken broke;drive:driven;swallow:swallowed;mean:meant;catch:caught;bind:bound;
        show:shown;know:known knew;forget:forgotten;freeze:frozen froze;split:splitting;fall:fallen fell""".replace(
            "\n", ""
        ).split(";")
    )
    for form in forms.split()
    for base in (base.strip(),)
}
"""Irregular forms, which stemming does not bring together."""


class _Said(Struct, frozen=True):
    text: str
    stems: frozenset[str]
    names: tuple[str, ...]
    denied: bool
    cases: frozenset[str]
    numbers: tuple[str, ...]
    frame: str


def self_contradictions(texts: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Pairs of sentences that cannot both be so, and why."""
    said = [_said(each) for text in texts for each in sentences(_without_code(text))][:MAX_SENTENCES]
    said = list({each.text: each for each in said if each.stems or each.names}.values())
    for one, other in combinations(said, 2):
        why = _against(one, other)
        if why:
            yield one.text, other.text, why


def _against(one: _Said, other: _Said) -> str:
    """Contradiction of two sentences by any of the rules, in words; empty where there is none."""
    for rule in (_orders, _only_one, _denied_tail, _idle, _always_one, _whatever_case):
        if why := rule(one, other) or rule(other, one):
            return why
    if _DEFAULT.search(one.text) and _DEFAULT.search(other.text):
        return _other_default(one, other)
    if how_many := _how_many(one, other):
        return how_many
    if _never(one, other) or _never(other, one):
        return "one denies in every case what the other says"
    if one.cases != other.cases and not (_ALWAYS.search(one.text) or _ALWAYS.search(other.text)):
        return ""
    if one.names != other.names and one.names and other.names:
        if one.denied != other.denied and one.stems == other.stems and _NOTHING.search(f"{one.text}\n{other.text}"):
            return "one says that there is none"
        return _other_value(one, other)
    shared, union = one.stems & other.stems, one.stems | other.stems
    alike = len(shared) + (len(one.names) if one.names == other.names else 0)
    if not shared or alike < 2 or len(shared) / len(union) < SAME:
        return _opposite(one, other, alike)
    if one.denied != other.denied:
        return "one denies what the other says"
    if (
        one.numbers
        and len(one.numbers) == len(other.numbers)
        and one.numbers != other.numbers
        and one.stems == other.stems
    ):
        return f"{', '.join(one.numbers)} against {', '.join(other.numbers)}"
    return _opposite(one, other, alike)


def _never(denying: _Said, other: _Said) -> bool:
    """Whether a sentence says "never", in no case or the other's, of what that says, be it in some case only."""
    return (
        denying.denied
        and not other.denied
        and (not denying.cases or denying.cases == other.cases)
        and _NEVER.search(denying.text) is not None
        and len(denying.stems) + len(denying.names) > 1
        and denying.names == other.names[: len(denying.names)]
        and denying.stems - (_AT_ALL if len(denying.names) > 1 else frozenset()) <= other.stems
    )


def _other_default(one: _Said, other: _Said) -> str:
    """Two defaults of one thing: "spaces become `+` by default" against "by default spaces become `%20`"."""
    if one.denied or other.denied:
        return ""
    if one.names == other.names:
        truths = [set(_TRUTH.findall(each.text)) for each in (one, other)]
        same = _without_default(one) == _without_default(other)
        if same and len(truths[0]) == len(truths[1]) == 1 and truths[0] != truths[1]:
            return f"{truths[0].pop()} against {truths[1].pop()}"
        if same and one.numbers != other.numbers and len(one.numbers) == len(other.numbers) == 1:
            return f"{one.numbers[0]} against {other.numbers[0]}"
        for first, second in ((one.text, other.text), (other.text, one.text)):
            if same and _ON.search(first) and _OFF.search(second):
                return "on against off"
    if not (_BY_DEFAULT.search(one.text) and _BY_DEFAULT.search(other.text)):
        return ""
    if one.stems != other.stems or len(one.names) != len(other.names):
        return ""
    left, right = set(one.names) - set(other.names), set(other.names) - set(one.names)
    return f"`{left.pop()}` against `{right.pop()}`" if len(left) == len(right) == 1 else ""


def _how_many(one: _Said, other: _Said) -> str:
    """One against all of the same: "wakes exactly one waiter" against "wakes all waiters"."""
    if one.names != other.names or one.denied or other.denied or one.stems - _COUNTING != other.stems - _COUNTING:
        return ""
    for few, many in ((one.text, other.text), (other.text, one.text)):
        if (alone := _ONE.search(few)) and (every := _EVERY.search(many)) and not _ONE.search(many):
            return f"“{alone[0]}” against “{every[0]}”"
    return ""


def _other_value(one: _Said, other: _Said) -> str:
    """The same sentence with another value: "the default is `a`" against "the default is `b`"."""
    first, second = _VALUE.search(one.text), _VALUE.search(other.text)
    if not first or not second or one.denied or other.denied or first["value"] == second["value"]:
        return ""
    return f"`{first['value']}` against `{second['value']}`" if one.frame == other.frame else ""


def _opposite(one: _Said, other: _Said, alike: int) -> str:
    """Two sentences that differ by a word and its opposite alone: synchronously, asynchronously."""
    left, right = one.stems - other.stems, other.stems - one.stems
    if one.denied != other.denied or not left or not right or len(left) > 2 or len(right) > 2:
        return ""
    if alike < 2 and not (alike and max(len(one.stems), len(other.stems)) <= BRIEF):
        return ""
    return _opposed(left, right)


def _opposed(left: frozenset[str], right: frozenset[str]) -> str:
    """Antonyms that two sentences say."""
    for pair in (*OPPOSITES, _NEEDED):
        if (left & pair.ones and right & pair.others) or (left & pair.others and right & pair.ones):
            return f"“{' '.join(sorted(left))}” against “{' '.join(sorted(right))}”"
    return ""


def _without_default(said: _Said) -> frozenset[str]:
    """The stems of what is so by default, be it on or off, true or false."""
    plain = _OFF.sub(" ", _ON.sub(" ", _BY_DEFAULT.sub(" by default ", _TRUTH.sub(" ", said.text))))
    return _said(_DEFAULT.sub(" ", plain)).stems - frozenset(terms("default"))


def _orders(one: _Said, other: _Said) -> str:
    """What comes first: "closes A before it kills B" against "kills B before A is closed"."""
    first, second = _ordered(one), _ordered(other)
    if first is None or second is None or one.denied or other.denied:
        return ""
    crossed = min(_alike(first[0], second[1]), _alike(first[1], second[0]))
    if crossed >= SAME and max(_alike(first[0], second[0]), _alike(first[1], second[1])) < crossed:
        return "each says that the other thing comes first"
    return ""


def _ordered(said: _Said) -> tuple[frozenset[str], frozenset[str]] | None:
    """The stems of what a sentence says comes first, and of what comes then."""
    parts = _ORDER.split(said.text)
    if len(parts) != 3:
        return None
    left, right = (_said(part) for part in (parts[0], parts[2]))
    pair = (left.stems, right.stems) if parts[1].lower() == "before" else (right.stems, left.stems)
    return pair if all(len(each) > 1 for each in pair) else None


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)


def _only_one(one: _Said, other: _Said) -> str:
    """One alone against another as well: "only the loader writes X" against "each worker writes X as well"."""
    alone = _ONLY.search(one.text)
    if alone is None or one.denied or other.denied or not _TOO.search(other.text):
        return ""
    who, does = _said(alone["who"]), _said(alone["does"])
    who_else = other.stems - does.stems
    named = who.names and set(who.names) & set(other.names)
    if (
        len(does.stems) > 1
        and does.stems <= other.stems
        and len(who_else) <= 2
        and not named
        and not who.stems & who_else
    ):
        return f"“only {alone['who']}” against “as well”"
    return ""


def _denied_tail(one: _Said, other: _Said) -> str:
    """What the end of a sentence denies: "it is deprecated" against "it is recommended and not deprecated"."""
    tail = _TAIL.search(one.text.rstrip(". "))
    if not tail or other.denied or one.cases or other.cases or not other.names or one.names != other.names:
        return ""
    denied = _said(tail["what"] or tail["end"])
    return "one denies what the other says" if denied.stems and denied.stems == other.stems else ""


def _idle(one: _Said, other: _Said) -> str:
    """Nothing against something, in the same case."""
    if not _IDLE.search(one.text) or _IDLE.search(other.text) or not one.names or one.names != other.names:
        return ""
    rest = _said(_IDLE.sub(" ", one.text)).stems
    same = not other.denied and one.cases == other.cases and rest <= other.stems
    return "one says that nothing is done" if same and 0 < len(other.stems - rest) <= 2 else ""


def _always_one(one: _Said, other: _Said) -> str:
    """Always this against at times another: "exits with 0 always" against "may exit with another than 0"."""
    if not _ALWAYS.search(one.text) or not _OTHER_THAN.search(other.text) or one.denied or not one.numbers:
        return ""
    same = one.names and one.names == other.names and one.numbers == other.numbers[: len(one.numbers)]
    return f"always {one.numbers[0]} against another" if same and one.stems - _COUNTING <= other.stems else ""


def _whatever_case(one: _Said, other: _Said) -> str:
    """A denial of the very same with its condition in other words: "when X runs, it does" against "it does not while
    X runs".
    """
    if one.denied == other.denied or not (one.cases | other.cases) <= _CONDITIONS or one.names != other.names:
        return ""
    left, right = one.stems - _FILLERS, other.stems - _FILLERS
    return "one denies what the other says" if one.names and left == right and len(left) > 3 else ""


@lru_cache(maxsize=512)
def _said(sentence: str) -> _Said:
    """Sentence analysed: negation, stems, names, numbers."""
    plain = _PLACE.sub(" ", sentence)
    denied = len(_NOT.findall(_WHOSE.sub(" ", _DEFAULT.sub(" ", plain)))) % 2 == 1
    positive = _NAME.sub(" ", _NOT.sub(" ", plain))
    names = _NAME.findall(plain)
    content = (word for word in words(_NUMBER.sub(" ", positive)) if word not in _FUNCTION_WORDS)
    stems = frozenset(stem for word in content for stem in terms(_BASE.get(word, word)))
    value = _VALUE.search(sentence)
    frame = f"{sentence[: value.start('value')]}|{value['rest']}" if value else ""
    return _Said(
        text=" ".join(sentence.split()),
        stems=stems,
        names=tuple(names if _PASSIVE.search(plain) is None else reversed(names)),
        denied=denied,
        cases=frozenset(each.lower() for each in _CASE.findall(plain)),
        numbers=tuple(_NUMBER.findall(plain)),
        frame=" ".join(_PLACE.sub(" ", frame).lower().strip("-*. \t").split()),
    )


def _without_code(text: str) -> str:
    return re.sub(r"```.*?(?:```|\Z)", "\n", bounded(text), flags=re.DOTALL)
