"""Complexity by keywords (rule-based text classifier): how hard a question is, told from its words alone (AURORA §8.2
tier 1, Appendix G). Pure, free, about 1 ms.

Appendix G's meaning holds: every level has a weight (0.0, 0.3, 0.7, 1.0), the heaviest level found is the level, length
and several questions add 0.1 each, and a score in the borderline range is nobody's to decide without a model. What is
otherwise here, and why:

- Keywords are whole words and phrases, with their inflections. As substrings, "list" is in "listener".
- A keyword counts in full where it is what is asked for ("design a …", "…, then compare …") and not as a topic ("where
  is the production config", "why does the build fail"). Keywords that a user configures count wherever they stand.
- Confidence follows the evidence: that the asking was recognised, that nothing else points two levels away, that the
  score is not near a boundary. Appendix G has 0.6 for every medium and complex question, so a model would see them all.
- Shape is evidence too: numbered steps, a chain of actions, wide scope, stack traces, several questions. It can lift a
  question to `complex`, never to `critical`: that takes words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct

from aurora_orchestration.settings import KeywordSettings
from aurora_orchestration.soar import cues
from aurora_orchestration.soar.query_text import Clause, QueryReading, read
from aurora_orchestration.types import LEVELS, Complexity

WEIGHTS: dict[Complexity, float] = {"simple": 0.0, "medium": 0.3, "complex": 0.7, "critical": 1.0}
CERTAIN = 0.8
"""A keyword result of this confidence stands without a model (§8.2)."""

_BOUNDARIES = (0.15, 0.5)
_MOST_BY_SHAPE = 0.9
_LONG, _VERY_LONG = 20, 60
_MANY_STEPS, _MANY_ACTIONS = 4, 4
_TERSE, _WORDY, _SHORT = 4, 9, 12
_UNKNOWN = 0.5
"""The weight of what may be medium as well as complex: in the middle of the usual borderline."""

_MODALS = (("do",), ("can",), ("could",), ("would",), ("should",))
_SOMEBODY = (("i",), ("we",), ("you",), ("one",))
_VAGUE = frozenset("better faster fast good nice nicer work great robust clean scalable production ready".split())

Phrases = tuple[tuple[str, ...], ...]


class Keyed(Struct, frozen=True):
    """The keyword tier's verdict. `decided` is False where a model should be asked, if there is one (§8.2)."""

    complexity: Complexity
    score: float
    confidence: float
    indicators: tuple[str, ...]
    decided: bool


class _Sign(Struct, frozen=True):
    """Something that points to a level. A `weak` one is a topic: it lowers confidence, and decides nothing."""

    level: Complexity
    what: str
    weak: bool = False
    weight: float | None = None


def classify(query: str, settings: KeywordSettings) -> Keyed:
    """Tell how hard `query` is; any text, the empty one too (which nobody is sure of)."""
    reading = read(query)
    if not reading.words and not reading.identifiers:
        return Keyed("simple", 0.0, 0.3, (), decided=False)
    signs = tuple(_signs(reading, settings))
    strong = [sign for sign in signs if not sign.weak]
    base = max((_weight(sign) for sign in strong), default=0.0)
    lift, shape = _lift(reading, base)
    critical = any(sign.level == "critical" for sign in strong)
    score = min(1.0 if critical else _MOST_BY_SHAPE, base + lift)
    level: Complexity = "critical" if critical else LEVELS[sum(score >= boundary for boundary in _BOUNDARIES)]
    confidence = round(_confidence(reading, signs, level, score), 2)
    low, high = settings.borderline_range
    borderline = settings.borderline_llm_verify and low <= score <= high
    indicators = tuple(dict.fromkeys([*(sign.what for sign in signs if sign.level == level), *shape]))[:8]
    return Keyed(level, round(score, 3), confidence, indicators, decided=confidence >= CERTAIN and not borderline)


def _signs(reading: QueryReading, settings: KeywordSettings) -> Iterable[_Sign]:
    """Features of a question that point to a level: demands, keywords, stakes, traces, steps."""
    clauses = [clause for sentence in reading.sentences for clause in sentence.clauses]
    for clause in clauses:
        yield from _demands(clause, settings)
    yield from _keywords(reading, clauses, settings)
    yield from _stakes(reading)
    if reading.has_trace:
        yield _Sign("medium", "stack trace")
    if reading.steps:
        yield _Sign("complex" if reading.steps >= _MANY_STEPS else "medium", f"{reading.steps} steps")
    actions = _actions(clauses)
    if actions >= 2:
        yield _Sign("complex" if actions >= _MANY_ACTIONS else "medium", f"{actions} actions")
    if failing := _first(cues.FAILING, reading.words):
        yield _Sign("medium", failing, weak=bool(clauses) and _begins(cues.LOOKUP, clauses[0].opening) != "")
    if choice := _choice(reading):
        yield _Sign("medium", choice)


def _demands(clause: Clause, settings: KeywordSettings) -> Iterable[_Sign]:
    """What a clause asks for, by how it begins."""
    opening = clause.opening
    if not opening:
        return
    if found := _begins(cues.HOW_TO_BUILD, opening):
        yield _Sign("complex", found)
    elif opening[0] == "how" and opening[1:2] == ("to",):
        yield _how_to(opening[2:])
    elif opening[0] == "how" and opening[1:2] in _MODALS and opening[2:3] in _SOMEBODY:
        yield _how_to(opening[3:])
    elif found := _begins(cues.OPEN, opening):
        yield _Sign("complex", found, weak=True)
    elif found := _begins(cues.EXPLAINING, opening):
        yield _Sign("medium", found)
    elif found := _begins(cues.SMALL, opening):
        yield _Sign("simple", found)
    elif opening[0] == "make" and opening[-1] in _VAGUE:
        yield _Sign("complex", f"make {opening[-1]}", weak=True)
    elif found := _begins(cues.PLANNING, opening) or _begins(cues.BUILDING, opening):
        yield from _building(found, opening, planned=bool(_begins(cues.PLANNING, opening)), settings=settings)
    elif opening[1:2] != ("not",) and (found := _begins(cues.LOOKUP, opening)):
        advice = _first(cues.ADVICE, clause.words)
        yield _Sign("medium", advice) if advice else _Sign("simple", found)
    elif opening[0] in cues.CHANGING:
        large = _first(cues.LARGE, opening)
        yield _Sign("medium", f"{opening[0]} {large}".strip(), weight=_UNKNOWN if large else None)


def _building(verb: str, opening: tuple[str, ...], *, planned: bool, settings: KeywordSettings) -> Iterable[_Sign]:
    """How much is to be built: the same verb begins systems and one-liners."""
    if any(verb == word for word in KeywordSettings().complex_keywords) and verb not in settings.complex_keywords:
        return
    large = _first(cues.LARGE, opening) or _first(cues.SCOPE, opening)
    little = "" if large else _first(cues.LITTLE, opening)
    if verb in ("create", "make", "set up", "replace") and not large:
        yield _Sign("medium", verb)
    elif large or (not little and (planned or len(opening) > _WORDY)):
        yield _Sign("complex", f"{verb} {large}".strip())
    else:
        yield _Sign("complex", f"{verb} {little}".strip(), weight=_UNKNOWN)


def _how_to(rest: tuple[str, ...]) -> _Sign:
    """Level of a "how to" question, by its verb."""
    if rest and rest[0] in cues.OPERATING:
        return _Sign("simple", f"how to {rest[0]}")
    if rest and rest[0] in cues.CHANGING:
        return _Sign("medium", f"how to {rest[0]}")
    return _Sign("medium", "how to", weak=True)


def _keywords(reading: QueryReading, clauses: Sequence[Clause], settings: KeywordSettings) -> Iterable[_Sign]:
    """The dictionaries of configuration. Those of Appendix G are ordinary words: elsewhere than at a clause's beginning
    they name a topic. Words a user added mean what the user says."""
    usual = KeywordSettings()
    dictionaries: tuple[tuple[Complexity, tuple[str, ...], tuple[str, ...]], ...] = (
        ("simple", settings.simple_keywords, usual.simple_keywords),
        ("medium", settings.medium_keywords, usual.medium_keywords),
        ("complex", settings.complex_keywords, usual.complex_keywords),
        ("critical", settings.critical_keywords, usual.critical_keywords),
    )
    for level, words, known in dictionaries:
        added = [word for word in words if word not in known]
        if found := _first(_split(added), reading.words):
            yield _Sign(level, found)
        kept = _split(word for word in words if word in known)
        begun = next((found for clause in clauses if (found := _begins(kept, clause.opening))), "")
        if begun and level == "medium":
            yield _Sign(level, begun)
        elif level == "critical" and len(grave := _apart(_all(kept, reading.words))) > 1:
            # One of these words names a topic; two of them together ("production security") name what is at stake.
            yield _Sign(level, " ".join(grave))
        elif level != "simple" and (found := _first(kept, reading.words)):
            yield _Sign(level, found, weak=True)
    for name, words in settings.custom_keywords.items():
        of = next((level for level in LEVELS if name.lower().endswith(level)), None)
        if of is not None and (found := _first(_split(words), reading.words)):
            yield _Sign(of, found)


def _stakes(reading: QueryReading) -> Iterable[_Sign]:
    """What makes a question critical: grave words, harm to what is in use, or decisions others are held to."""
    if grave := _first(cues.GRAVE, reading.words):
        yield _Sign("critical", grave)
    in_use, harm = _first(cues.IN_USE, reading.words), _first(cues.HARM, reading.words)
    perhaps = _first(cues.PERHAPS_IN_USE, reading.words), _first(cues.PERHAPS_HARM, reading.words)
    held = _all(cues.ADMITTED, reading.words)
    if (in_use and (harm or perhaps[1])) or (harm and perhaps[0]):
        yield _Sign("critical", f"{in_use or perhaps[0]}: {harm or perhaps[1]}")
    if (held and (in_use or harm)) or len(held) > 1:
        yield _Sign("critical", ", ".join([*held, *filter(None, (in_use, harm))][:3]))
    elif vague := (held[0] if held else harm or perhaps[1] or (in_use and _first(cues.FAILING, reading.words))):
        yield _Sign("critical", vague, weak=True)


def _lift(reading: QueryReading, base: float) -> tuple[float, list[str]]:
    """What length, several questions, scope and conditions add to the score (App. G's heuristics, and two more)."""
    lift, shape = 0.0, []
    length = len(reading.words)
    if length > _LONG:
        lift += 0.1 if length <= _VERY_LONG else 0.2
        shape.append(f"{length} words")
    if reading.questions > 1:
        lift += 0.1
        shape.append(f"{reading.questions} questions")
    if base >= WEIGHTS["medium"]:
        scope = _all(cues.SCOPE, reading.words)
        lift += min(0.3, 0.15 * len(scope))
        shape += scope[:3]
        if "all" in reading.words or "every" in reading.words or "everywhere" in reading.words:
            lift += 0.1
            shape.append("all")
        if conditions := _all(cues.CONDITIONS, reading.words):
            lift += 0.05
            shape.append(conditions[0])
    return lift, shape


def _confidence(reading: QueryReading, signs: Sequence[_Sign], level: Complexity, score: float) -> float:
    """Confidence of the classifier, by how well the signs agree."""
    strong = [sign for sign in signs if not sign.weak]
    agreeing = {sign.what for sign in strong if sign.level == level}
    if not strong:
        # Nothing was recognised: a few words are a look-up, a longer text could be anything.
        terse = len(reading.words) <= _TERSE and not any(sign.weak for sign in signs)
        return 0.8 if terse else 0.5
    confidence = 0.85 if agreeing else 0.65
    confidence += 0.05 * (len(agreeing) > 1)
    place = LEVELS.index(level)
    heavier = [sign for sign in signs if sign.weak and LEVELS.index(sign.level) > place]
    opening = reading.sentences[0].clauses[0].opening if reading.sentences else ()
    lookup = level == "simple" and len(reading.words) <= _SHORT and not reading.code_lines
    yes_or_no = bool(opening) and opening[0] in cues.YES_OR_NO
    if heavier and (not lookup or (yes_or_no and not _is_topic_only(heavier))):
        confidence -= 0.15 if any(sign.level == "critical" for sign in heavier) else 0.1
    asked = place > 1 and any(sign.level == "simple" for sign in strong)
    if asked or (level == "critical" and _begins(cues.EXPLAINING, opening)):
        confidence -= 0.1
    if level != "critical" and any(abs(score - boundary) < 0.06 for boundary in _BOUNDARIES):
        confidence -= 0.15
    if level == "simple" and len(reading.words) > _WORDY + 5:
        confidence -= 0.2
    return max(0.0, min(0.95, confidence))


def _is_topic_only(signs: Sequence[_Sign]) -> bool:
    return all(sign.what in ("production", "security", "safety", "critical", "design", "build") for sign in signs)


def _weight(sign: _Sign) -> float:
    return WEIGHTS[sign.level] if sign.weight is None else sign.weight


def _actions(clauses: Sequence[Clause]) -> int:
    """How many clauses begin with something to do."""
    built = {phrase[0] for phrase in cues.BUILDING + cues.PLANNING if len(phrase) == 1}
    return sum(bool(clause.opening) and clause.opening[0] in cues.CHANGING | built for clause in clauses)


def _choice(reading: QueryReading) -> str:
    """ "REST or gRPC?": a question between two things, told from a yes-or-no question by its beginning."""
    for sentence in reading.sentences:
        opening = sentence.clauses[0].opening
        if sentence.asks and "or" in opening[1:-1] and opening[0] not in ("is", "are", "does", "do", "what", "where"):
            return "a choice"
    return _first((("versus",), ("vs",), ("difference", "between"), ("differences", "between")), reading.words)


def _split(words: Iterable[str]) -> Phrases:
    return tuple(tuple(word.lower().replace("-", " ").split()) for word in words if word.strip())


def _begins(table: Phrases, opening: tuple[str, ...]) -> str:
    """The longest phrase of `table` that `opening` begins with, or the empty text."""
    forms, lengths = _compiled(table)
    for length in reversed(lengths):
        if opening[:length] in forms:
            return " ".join(table[forms[opening[:length]]])
    return ""


def _apart(found: Sequence[str]) -> list[str]:
    """Phrases without those that are a part of another ("critical" of "mission critical")."""
    return [one for one in found if not any(one != other and one in other for other in found)]


def _first(table: Phrases, words: tuple[str, ...]) -> str:
    found = _all(table, words)
    return found[0] if found else ""


def _all(table: Phrases, words: tuple[str, ...]) -> list[str]:
    """The phrases of `table` that occur in `words`, in the table's order."""
    forms, lengths = _compiled(table)
    slices = (words[at : at + length] for length in lengths for at in range(len(words) - length + 1))
    return [" ".join(table[place]) for place in sorted({forms[piece] for piece in slices if piece in forms})]


@lru_cache(maxsize=64)
def _compiled(table: Phrases) -> tuple[dict[tuple[str, ...], int], tuple[int, ...]]:
    """Every phrase with the inflections of its last word, by its place in the table; and the lengths there are."""
    forms: dict[tuple[str, ...], int] = {}
    for place, phrase in enumerate(table):
        for form in _forms(phrase[-1]):
            forms.setdefault((*phrase[:-1], form), place)
    return forms, tuple(sorted({len(phrase) for phrase in table}))


def _forms(word: str) -> tuple[str, ...]:
    stem = word.removesuffix("e")
    return (word, f"{word}s", f"{stem}ed", f"{stem}ing") if len(word) > 3 else (word,)


def explained(keyed: Keyed) -> str:
    """The verdict in a sentence, for logs and prompts."""
    why = ", ".join(keyed.indicators) or "no wording that tells"
    return f"keywords say {keyed.complexity} ({keyed.confidence:.2f}): {why}"
