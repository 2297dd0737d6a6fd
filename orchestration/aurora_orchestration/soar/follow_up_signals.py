"""Follow-up signals (intent of a reply): what a next message says of the last answer: thanks, more, wrong, again, or
stop (AURORA Appendix E). Pure.

The words are ordinary ones ("no", "and", "good", "stop"), so a word alone is no signal: it must stand where such a
signal stands, at the message's beginning, and what follows must fit. "No, the other file" denies; "no cache?" asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from aurora_orchestration.settings import SignalSettings
from aurora_orchestration.soar.cues import CHANGING

Kind = Literal["positive", "followup", "negative", "recourse", "abort", "acknowledged"]

MAX_READ = 4_000
"""Characters that are looked at: a signal stands at the beginning."""

_MAX_SIGNALS = 4
_MAX_NOTED = 4
_ALONE, _CLEAR, _LIKELY, _UNLIKELY = 0.95, 0.9, 0.85, 0.4

_BY_WEIGHT: tuple[Kind, ...] = ("abort", "negative", "recourse", "followup", "positive")
"""Which of several signals counts: "thanks, but that is wrong" denies."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_FENCE = re.compile(r"```|~~~|`")
_ENDS = frozenset(",.;:!?\n—–-…)")

_BEFORE = frozenset(
    "oh hm hmm ah uh well ok okay sorry actually please yes yeah hey but so right just alright now".split()
)
_JUDGED = (
    (("i", "think"), ("i", "believe"), ("i", "guess"), ()),
    (("that",), ("this",), ("it",), ("the", "answer"), ("your", "answer"), ("the", "plan"), ("you",), ("all",), ()),
    (("is",), ("was",), ("are",), ("looks",), ("seems",), ("works",), ("sounds",), ("still",), ("is", "still"),
     ("is", "just"), ("is", "simply"), ("is", "completely"), ("is", "totally"), ("is", "really")),
)  # fmt: skip
"""How a judgement on the last answer begins: "I think that is …"."""

_MORE = frozenset(
    """what how where why which who when is are does do did can could should would will also now then if for in on the
    a an with i we you it that this there please to about after before as by from at all my our""".split()
)
_FOLLOWING: dict[Kind, frozenset[str]] = {
    "positive": frozenset("a so for you again very that this it much but".split()),
    "followup": _MORE | CHANGING | frozenset("explain compare list tell describe implement build design".split()),
    "negative": frozenset("that this it i you not its wrong again still the because".split()),
    "recourse": frozenset("please that this it with your the but using and from more again".split()),
    "abort": frozenset("it this that please here everything all now for".split()),
}
"""What may follow a one-word signal without a mark between."""

_NOTED = frozenset("yes no ok okay k kk yep yup nope sure fine cool noted understood right great got it i see".split())
"""Words that a message of nothing else says no more with than that it was read."""

_PRAISED = frozenset("job work answer stuff point one explanation catch idea enough thanks result".split())
_FAULTED = frozenset("answer file place function one approach direction project module folder class way line".split())
_REQUESTING = frozenset(
    """can could would you please let us i we want to need try use take a with the it that this now maybe should do
    have go for and another think time give think""".split()
)
_SAME = {"thanks": ("thank you", "thx", "many thanks")}
_LONG_FORMS = {"that's": "that is", "thats": "that is", "it's": "it is", "let's": "let us", "isn't": "is not"}


class Signal(Struct, frozen=True, kw_only=True):
    """Signal of a message about the last answer. `rest` is what it asks besides, `evidence` the words that told.

    `thanked` says that there was praise too, whatever `kind` is.
    """

    kind: Kind
    confidence: float
    rest: str = ""
    evidence: tuple[str, ...] = ()
    thanked: bool = False


class _Token(Struct, frozen=True):
    word: str
    start: int
    end: int
    ends: bool
    asks: bool


class _FoundSignal(Struct, frozen=True):
    kind: Kind
    phrase: str
    confidence: float
    after: int


def detect(message: str, settings: SignalSettings, *, has_previous: bool) -> Signal | None:
    """Intent of `message`, its signal; None where none is sure enough, or no earlier answer it could be about."""
    if not settings.enabled or not has_previous:
        return None
    text = message[:MAX_READ].replace("’", "'")
    code = _FENCE.search(text)
    tokens = _tokens(text[: code.start()] if code else text)
    table = _table(settings)
    found = list(_leading(tokens, table, settings.confidence_threshold)) or list(_within(tokens, table))
    found = [one for one in found if one.confidence >= settings.confidence_threshold]
    if not found:
        return None
    weightiest = min(found, key=lambda one: _BY_WEIGHT.index(one.kind))
    after = max(one.after for one in found)
    end = tokens[after - 1].end if after else 0
    return Signal(
        kind=weightiest.kind,
        confidence=weightiest.confidence,
        rest=message[end:].lstrip(" \t\n,.;:!?—–-…)").rstrip(),
        evidence=tuple(one.phrase for one in found),
        thanked=any(one.kind == "positive" for one in found),
    )


def acknowledges(message: str, patterns: Sequence[str]) -> bool:
    """Whether a message only says that the last one was read: "ok", "got it", or one of `aurora.exclude_patterns`.

    Nothing is asked by it, so nothing is to be paid for it.
    """
    words = tuple(token.word for token in _tokens(message[:MAX_READ]))
    if not words or "?" in message:
        return False
    excluded = {tuple(token.word for token in _tokens(pattern)) for pattern in patterns}
    return words in excluded or (len(words) <= _MAX_NOTED and _NOTED.union(_BEFORE).issuperset(words))


def _table(settings: SignalSettings) -> list[tuple[Kind, tuple[str, ...]]]:
    """Every configured phrase with its kind, longest first."""
    configured: tuple[tuple[Kind, tuple[str, ...]], ...] = (
        ("positive", settings.positive),
        ("followup", settings.followup),
        ("negative", settings.negative),
        ("recourse", settings.recourse),
        ("abort", settings.abort),
    )
    table = [
        (kind, tuple(token.word for token in _tokens(spelling.replace("’", "'"))))
        for kind, phrases in configured
        for phrase in phrases
        for spelling in (phrase, *_SAME.get(phrase.lower(), ()))
    ]
    return sorted(((kind, words) for kind, words in table if words), key=lambda entry: -len(entry[1]))


def _tokens(text: str) -> list[_Token]:
    """Tokenizer of a message: words with the sign that ends them."""
    tokens = []
    for match in _WORD.finditer(text):
        tail = text[match.end() : match.end() + 3]
        mark = tail.lstrip(" \t\"'*")[:1]
        joined = tail[:1] in "-_." and tail[1:2].isalnum()
        ends = (mark in _ENDS or not mark) and not joined
        word = match.group().lower()
        *first, last = _LONG_FORMS.get(word, word).split()
        tokens += [_Token(part, match.start(), match.end(), False, False) for part in first]
        tokens.append(_Token(last, match.start(), match.end(), ends, mark == "?"))
    return tokens


def _leading(
    tokens: Sequence[_Token], table: Sequence[tuple[Kind, tuple[str, ...]]], threshold: float
) -> Iterator[_FoundSignal]:
    """The signals that a message begins with, one after the other."""
    at = 0
    for _ in range(_MAX_SIGNALS):
        while at < len(tokens) and tokens[at].word in _BEFORE:
            at += 1
        found = _judgement(tokens, at, table) or _at(tokens, at, table)
        if found is None or found.confidence < threshold:
            return
        yield found
        at = found.after


def _at(tokens: Sequence[_Token], at: int, table: Sequence[tuple[Kind, tuple[str, ...]]]) -> _FoundSignal | None:
    """Signal phrase at a token; None where there is none."""
    for kind, phrase in table:
        end = at + len(phrase)
        if tuple(token.word for token in tokens[at:end]) == phrase:
            if phrase == ("no",) and end < len(tokens) and tokens[end].word in ("thanks", "thank"):
                return _FoundSignal("abort", "no thanks", _CLEAR, end + 1 + (tokens[end].word == "thank"))
            return _FoundSignal(kind, " ".join(phrase), _confidence(kind, phrase, tokens, at, end), end)
    return None


def _confidence(kind: Kind, phrase: tuple[str, ...], tokens: Sequence[_Token], at: int, end: int) -> float:
    """Confidence that a phrase is meant as a signal, by where it stands."""
    last, following = tokens[end - 1], tokens[end : end + 2]
    if last.asks and kind in ("positive", "negative"):
        return _UNLIKELY
    if not following:
        return _UNLIKELY if kind == "followup" and last.asks else _ALONE
    if last.ends or len(phrase) > 2:
        return _CLEAR
    after = following[0]
    if kind == "followup" and phrase == ("and",) and after.word not in _FOLLOWING["followup"]:
        return _UNLIKELY
    if kind == "followup" and len(phrase[0]) > len("plus"):
        return _CLEAR
    if after.word in _FOLLOWING[kind]:
        polite = following[-1].ends and following[-1].word in _FOLLOWING["abort"]
        if kind == "abort" and not (after.ends or polite):
            return _UNLIKELY
        return _CLEAR if kind != "followup" else _LIKELY
    nouns = {"positive": _PRAISED, "negative": _FAULTED}.get(kind, frozenset())
    if after.word in nouns and after.ends and not after.asks:
        return _CLEAR
    return _LIKELY if kind == "followup" and phrase == ("also",) else _UNLIKELY


def _judgement(tokens: Sequence[_Token], at: int, table: Sequence[tuple[Kind, tuple[str, ...]]]) -> _FoundSignal | None:
    """ "That is wrong", "it looks good": a judgement on the last answer, said as a sentence."""
    begin = at
    for part in _JUDGED:
        begin += max(
            (
                len(words)
                for words in part
                if tuple(token.word for token in tokens[begin : begin + len(words)]) == words
            ),
            default=-1,
        )
        if begin < at:
            return None
    if begin == at:
        return None
    negated = begin < len(tokens) and tokens[begin].word == "not"
    found = _at(tokens, begin + negated, table)
    if found is None or found.kind not in ("positive", "negative"):
        return None
    last = tokens[found.after - 1]
    because = found.after < len(tokens) and tokens[found.after].word in ("because", "since", "as", "but", "and")
    if last.asks or not (last.ends or because):
        return None
    kind: Kind = "negative" if (found.kind == "negative") != negated else "positive"
    return _FoundSignal(kind, " ".join(token.word for token in tokens[at : found.after]), _CLEAR, found.after)


def _within(tokens: Sequence[_Token], table: Sequence[tuple[Kind, tuple[str, ...]]]) -> Iterator[_FoundSignal]:
    """Phrases that mean the last answer wherever they stand: "can you try again", "that is not what I meant"."""
    for kind, phrase in table:
        if len(phrase) < 2 or kind not in ("negative", "recourse"):
            continue
        for at in range(1, min(len(tokens), 16) - len(phrase) + 1):
            end = at + len(phrase)
            if tuple(token.word for token in tokens[at:end]) != phrase:
                continue
            requested = all(token.word in _REQUESTING for token in tokens[:at])
            closed = tokens[end - 1].ends or tokens[end].word in _FOLLOWING["recourse"]
            if (len(phrase) > 2 and not tokens[end - 1].asks) or (requested and closed):
                yield _FoundSignal(kind, " ".join(phrase), _CLEAR, end)
            return
