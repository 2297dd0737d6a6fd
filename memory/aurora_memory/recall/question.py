"""Question (query parsing): a query parsed into its telling terms, what they may stand for (abbreviations, synonyms),
and the identifiers and places it may spell.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from aurora_memory.recall.phrasal_verbs import meanings, phrases_in, taken_apart
from aurora_memory.recall.places import QueryPlace, is_test, places_in
from aurora_memory.recall.question_kind import ISSUE_WORDS, QuestionKind, is_typed, kind_of
from aurora_memory.recall.report_text import report_text
from aurora_memory.recall.spellings import other_spelling
from aurora_memory.recall.synonyms import synonyms_of
from aurora_memory.recall.title_likeness import title_likeness
from aurora_memory.stopwords import ERRANDS, QUESTION_WORDS, without_stop_words
from aurora_memory.tokens import stem_word, terms, words_in

MAX_TERMS = 250
"""Distinct terms of a question that count: a report of a thousand words."""

MAX_NAMES = 40
"""Names in a question that are looked up."""

MAX_TITLE = 300
"""Characters of a report's first line."""

TEXT = 0.4
REPEATED = 0.15
MAX_REPEATS = 4
"""What a word of a report counts that its first line does not say, what each repetition adds, and how many do."""

SUGGESTED = 0.5
"""Weight of a word that the question does not say but may mean (`config` for `cfg`)."""

_BY_SYNONYMS: frozenset[QuestionKind] = frozenset({"topic", "how"})
"""Kinds of questions of those who may not know what the code calls a thing; a change is told in the code's words."""

ERRAND = 0.4
"""Weight of such a word: some functions are called so."""

_DEFINING = frozenset("class declaration declared defined definition implementation implemented struct type".split())

_TESTS = frozenset({"test", "tests", "spec", "specs", "testing"})

_ASKS_FOR_TESTS = re.compile(
    r"(?i)^\W*(?:tests?|specs?|testing)\b|\b(?:tests?|specs?)(?:\s+(?:about|for|in|of|that|which)\b|\W*$)"
    r"|\b(?:i|they|to|we|you)\s+test\b"
)
"""Tests that are asked for: `login tests`, `tests of the parser`, `how do we test it`; who skips a test wants none."""

_CHANGES_TESTS = re.compile(r"(?i)^\W*(?:tests?|specs?)\(\S+:|(?<!\S)(?:tests|specs)(?!\S)|\b(?:test|spec)\W*$")
"""Tests that are to be changed: `fix matching tests for Windows`, `remove the unicode host test`, `test(http): …`."""

_SCOPE = re.compile(r"\s*(?:\w{1,30}\(([^()\s]{2,40})\)!?:|\[([\w./-]{2,40})\]:?|([A-Za-z][\w./-]{1,40}):(?!:))\s")
_NO_SCOPE = re.compile(
    r"(?i)(?:bug(?:fix)?|build|chore|ci|deps|docs?|feat(?:ure)?s?|fix(?:es|ed)?|lint|minor|perf|refactor|release|revert|rfc"
    r"|style|tests?|todo|types?|typing|wip)"
)
"""What subjects begin with that says of what sort a change is, not where it is made."""

_IDENTIFIER = re.compile(r"[^\W\d]\w*(?:(?:\.|::|#)[^\W\d]\w*)*")
_HYPHENATED = re.compile(r"(?<![\w-])[^\W\d]\w*(?:-[^\W\d]\w*)+(?![\w-])")
_QUOTED = re.compile(r"(?<!`)(`{1,2})(?!`)(?P<said>[^`\n]{1,80})\1(?!`)")
"""What stands between one mark and the next, or between two and two, as reStructuredText has it."""

_PHRASE = re.compile(
    r"(?<![\w=\"])\"(?P<said>[^\"\n]{3,80})\"(?![\w\"])|\u201c(?P<curly>[^\u201c\u201d\n]{3,80})\u201d"
)
"""What stands in quotation marks as people set them."""

MAX_PHRASES = 3

AS_ONE = 0.2
"""Weight of two neighbours as one word."""

_SMALL_LETTERS = re.compile(r"[a-z][a-z' -]*")
_IN_USE = re.compile(r"(?i)\bin use\b")
_AS_CODE = re.compile(r"(?<=\w)(?:\.|::|#)(\w+)\b|\b(\w+)\(")
"""Names that are spelled as code, be they stop words elsewhere: `xr.where`, `get()`."""

_DEFINED = re.compile(
    r"\s*(?:(?:async|pub(?:\([^)]*\))?|public|private|protected|internal|static|final|abstract|export|default|unsafe"
    r"|override|suspend|open|sealed|data|virtual|inline|const)\s+)*"
    r"(?:def|class|func|fn|fun|function\*?|interface|struct|trait|enum|module)\s+(?:\([^()\n]*\)\s*)?"
    r"([A-Za-z_]\w*(?:(?:\.|::)\w+)*[!?]?)(?:<[^\n]*>)?"
    r"(?:[(\[][^\n]*|\s*(?:[{;<][^\n]*|:(?:[^\n]*\{)?\s*)|\s(?:extends|implements)\s[^\n]*)\s*"
)
"""A line that defines something, as it is written in code."""

_RECEIVER = re.compile(r"(?<![\w/])\(\*?([A-Za-z_]\w*)\)(?=\.[A-Za-z_])")
"""A receiver as Go prints it: `(*Command).Execute`."""

_LOOKS_LIKE_CODE = re.compile(r"_|[a-z0-9][A-Z]|\.|::|#|\d")


class Question(Struct, frozen=True):
    """Parsed query: the one form in which it is passed on.

    `terms` are what it says, `weights` those and what they may mean, each with how much it counts. `identifiers` may
    be names in the code, `places` files and what is in them; `by_name` says that the query is nothing but such. Its
    `kind` decides how answers are weighed and ordered.
    """

    text: str
    terms: tuple[str, ...]
    weights: Mapping[str, float]
    identifiers: tuple[str, ...]
    by_name: bool
    about_tests: bool
    places: tuple[QueryPlace, ...] = ()
    completions: Mapping[str, tuple[str, ...]] = {}
    """Terms that stand for several: the beginning of a word (`recall.prefix`) for what it may become, a phrasal verb
    for what code calls it.
    """
    called: tuple[str, ...] = ()
    """What something is called, if anything is, that a question means which is nothing but a phrasal verb."""
    kind: QuestionKind = "topic"
    is_open: bool = False
    """Whether a topic reads like the title of a report: either may be meant, and is answered."""
    is_completed: bool = False
    """Whether the index was asked what its last word may become."""
    scope: tuple[str, ...] = ()
    """The terms of what a change is said to be made in: `http: …`, `fix(parser): …`."""
    heading: frozenset[str] = frozenset()
    """The terms of a report's first line, where more follows."""
    synonyms: frozenset[str] = frozenset()
    """Those of the terms that have weights which only code may have for what the question says."""
    title: Question | None = None
    """A report's first line, asked by itself, where more follows."""
    as_topic: Question | None = None
    """A report asked as a topic, or a change that someone types for himself: a subject of a commit is none."""
    is_in_plain_words: bool = False
    """Whether a report is typed for oneself and spells no name: it may say nothing in the words of what goes wrong."""
    is_title: bool = False
    """Whether it is the first line of a longer report, which is asked as a whole beside it."""

    phrases: tuple[str, ...] = ()
    """What stands in quotation marks, of several words: they are meant as they stand there."""

    @property
    def is_id(self) -> bool:
        """Whether the query is the id of one chunk of a file."""
        return any(place.is_id for place in self.places)

    @property
    def is_in_small_letters(self) -> bool:
        """Whether it is words as people type them, in small letters and nothing else, which may stand in a file all the
        same: what they look for is rather told by its best answer.
        """
        return _SMALL_LETTERS.fullmatch(self.text.strip()) is not None

    @property
    def is_phrase(self) -> bool:
        """Whether the query is nothing but what stands in quotation marks."""
        return bool(self.phrases) and {term for each in self.phrases for term in terms(each)}.issuperset(self.terms)

    @property
    def reasoning_id(self) -> str | None:
        """The id of a reasoning chunk (`reas:token-expiry:v2`), where the query is one."""
        text = self.text.strip()
        return text if text.startswith("reas:") else None


NO_QUESTION = Question("", (), {}, (), by_name=False, about_tests=True)
"""Question that asks nothing: for chunks that are known by other means."""


def parse_question(query: str) -> Question:
    """Query parsing into terms and possible identifiers; stop words go unless nothing else is left.

    Called once, where a query comes in; below, a question goes on as a `Question`.
    """
    question = _parsed(query)
    is_asked = question.kind == "report" or (question.kind == "change" and is_typed(query))
    if is_asked and not question.about_tests:
        is_plain = question.kind == "report" and is_typed(query) and not question.identifiers
        return replace(question, as_topic=_parsed(query, "topic"), is_in_plain_words=is_plain)
    return question


def _parsed(query: str, kind: QuestionKind | None = None) -> Question:
    """The question that a query is, as one of that kind where it is given."""
    phrase = _phrase(query)
    if phrase is not None:
        return phrase
    asked, is_report = query, len(query.split()) >= ISSUE_WORDS
    if is_report:
        query = report_text(query)
    query = _RECEIVER.sub(r"\1", query)
    pieces = [found["said"] for found in _QUOTED.finditer(query)]
    as_code = {word.lower() for found in _AS_CODE.findall(query) for word in found if word}
    as_code |= {words[0].lower() for words in map(words_in, pieces) if len(words) == 1}
    # `nick in use` asks for what says so, and not who uses what is called `nick`.
    asking = QUESTION_WORDS - {"use"} if _IN_USE.search(query) else QUESTION_WORDS
    telling = without_stop_words(words_in(query), asking - as_code)
    counts = Counter(term for word in telling for term in stem_word(word))
    if not counts:
        counts = Counter(terms(query))
    said = tuple(counts)[:MAX_TERMS]
    words = query.split()
    heading = _heading(query) if is_report else frozenset[str]()
    weights = _weights(heading, counts, said) if is_report else dict.fromkeys(said, 1.0)
    errands = {term for word in telling if word.lower() in ERRANDS for term in stem_word(word)}
    if len(errands) < len(weights):
        weights.update(dict.fromkeys(errands & weights.keys(), ERRAND))
    for word in telling if not is_report else ():
        for form in other_forms(word.lower()) if len(telling) > 1 else (*other_forms(word.lower()), *_meant_by(word)):
            for term in stem_word(form):
                weights.setdefault(term, SUGGESTED)
        for term in stem_word(other_spelling(word.lower()) or ""):
            weights.setdefault(term, 1.0)
    for verb, particle in phrases_in([word.lower() for word in words_in(query)]) if not is_report else ():
        as_one, *others = meanings(verb, particle)
        for form, weight in ((as_one, 1.0), *((other, SUGGESTED) for other in others)):
            for term in stem_word(form):
                weights.setdefault(term, weight)
    for term in _joined(query) if not is_report else ():
        weights.setdefault(term, 1.0)
    for term in _as_one(query) if not is_report else ():
        weights.setdefault(term, AS_ONE)
    places, without_places = places_in(query)
    certain = [place for place in places if place.is_certain]
    spelled = _IDENTIFIER.findall(without_places)
    joined = {piece for each in _HYPHENATED.findall(without_places) for piece in each.split("-")}
    rest = without_stop_words(spelled, asking | (_DEFINING - joined))  # `content-type` is no type
    if spelled == [query.strip()]:
        rest = spelled  # `get`: who types one word only asks for what is called so
    quoted = {word for piece in pieces for word in _IDENTIFIER.findall(piece)}
    names = [
        word for word in spelled if (len(rest) == 1 and word in rest) or word in quoted or _LOOKS_LIKE_CODE.search(word)
    ]
    defined = _DEFINED.fullmatch(query) if len(query) <= MAX_TITLE else None
    if defined is not None:
        names = rest = [defined[1].rstrip("!?")]
    phrases = _phrases(query) if not is_report else ()
    for each in phrases:
        weights.setdefault(stem_word("_".join(words_in(each)))[-1], 1.0)
    if phrases and not any(map(_LOOKS_LIKE_CODE.search, names)):
        names = [word for word in names if word in quoted]
    by_name = bool(names or certain) and all(word in names for word in rest) and not phrases
    kind = kind or kind_of(asked, by_name, by_name and bool(certain) and not names)
    about_tests = _wants_tests(kind, counts, words) or (kind == "change" and any(is_test(each.path) for each in places))
    synonyms = frozenset[str]()
    if kind in _BY_SYNONYMS and not by_name:
        # In their order: the last bits of what words are worth depend on which is added first.
        suggested = [term for term in synonyms_of(words_in(query)) if term not in weights]
        weights.update(dict.fromkeys(suggested, SUGGESTED))
        synonyms = frozenset(suggested)
    if kind in {"change", "report", "error", "issue"} and not about_tests:
        weights.update({term: ERRAND * weights[term] for term in ("test", "spec") if term in weights})
    names += [place.name for place in certain if place.name is not None]
    return Question(
        text=asked,
        terms=said,
        weights=weights,
        identifiers=tuple(dict.fromkeys(name.replace("::", ".").replace("#", ".") for name in names))[:MAX_NAMES],
        by_name=by_name,
        about_tests=about_tests,
        places=places,
        kind=kind,
        is_open=kind == "topic" and title_likeness(asked) > 0,
        scope=_scope(asked) if kind == "change" else (),
        heading=heading if "\n" in query.strip() else frozenset(),
        synonyms=synonyms,
        title=_title(query) if is_report or kind == "report" else None,
        phrases=phrases,
    )


def _phrases(query: str) -> tuple[str, ...]:
    """What is quoted of several words."""
    said = (found["said"] or found["curly"] for found in _PHRASE.finditer(query))
    return tuple(dict.fromkeys(each for each in said if len(words_in(each)) > 1))[:MAX_PHRASES]


def _scope(query: str) -> tuple[str, ...]:
    """What a change begins with that is the name of a part: the last one of a path, as its terms."""
    found = _SCOPE.match(query)
    said = "" if found is None else found[1] or found[2] or found[3]
    if not said or _NO_SCOPE.fullmatch(said):
        return ()
    pieces = stem_word(said.rstrip("/").rpartition("/")[2].partition(".")[0])
    return tuple(pieces[:-1] if len(pieces) > 2 else pieces)


def spelled_out(question: Question) -> list[str]:
    """The question's terms, those that are beginnings as all they may become."""
    return list(dict.fromkeys(word for term in question.terms for word in question.completions.get(term, (term,))))


def _phrase(query: str) -> Question | None:
    """The question that a phrasal verb is (`sign in`): all that code may call it is one term; None where it is none.

    Its own words say something else by themselves: `sign in` is not about signatures.
    """
    said = query.lower().split()
    if len(said) != 2 or not (forms := meanings(said[0], said[1])):
        return None
    stems = tuple(dict.fromkeys(term for form in forms for term in stem_word(form)))
    meant = f"{stems[0]}*"  # no term has a star in it
    weights = {meant: 1.0, stems[0]: SUGGESTED, **dict.fromkeys(stem_word(said[0]), ERRAND)}
    return Question(
        text=query,
        terms=(meant,),
        weights=weights,
        identifiers=(),
        by_name=False,
        about_tests=False,
        completions={meant: stems},
        kind="task",
        called=("_".join(said), "".join(said)),
    )


def _meant_by(word: str) -> tuple[str, ...]:
    """Other words for a phrasal verb that is spelled as one and asked for alone: `logout`."""
    apart = taken_apart(word.lower())
    return () if apart is None else meanings(*apart)[1:]


def _joined(query: str) -> list[str]:
    """What names are called that begin with a task or end with a stop word: `addlin` for "add line", `findal`."""
    pairs = pairwise(word.lower() for word in words_in(query))
    joined = [pair for pair in pairs if pair[0] in ERRANDS or pair[1] in QUESTION_WORDS]
    return [stem_word("_".join(pair))[-1] for pair in joined if all(map(str.isalpha, pair))]


def _as_one(query: str) -> list[str]:
    """What two words are called that are written as one: timezone for "time zone"."""
    pairs = pairwise(word.lower() for word in words_in(query))
    return [
        stem_word("".join(pair))[-1]
        for pair in pairs
        if all(map(str.isalpha, pair)) and QUESTION_WORDS.isdisjoint(pair)
    ]


def _heading(query: str) -> frozenset[str]:
    """The terms of a report's first line."""
    return frozenset(terms(query.strip().partition("\n")[0][:MAX_TITLE]))


def _title(query: str) -> Question | None:
    """The question that a report's first line is; None where that is all, one word or a trace's beginning."""
    first, _, more = query.strip().partition("\n")
    if not more or len(first) > MAX_TITLE or len(first.split()) >= ISSUE_WORDS:
        return None
    title = parse_question(first)
    return None if title.kind == "error" or title.by_name or len(title.terms) < 2 else replace(title, is_title=True)


def _weights(heading: Collection[str], counts: Mapping[str, int], said: Collection[str]) -> dict[str, float]:
    """Term weights of a report: those of its first line whole, others less, repeated ones more."""
    return {term: (1.0 if term in heading else TEXT) + REPEATED * min(counts[term] - 1, MAX_REPEATS) for term in said}


def _wants_tests(kind: QuestionKind, counts: Mapping[str, int], words: Sequence[str]) -> bool:
    """Whether tests are asked for; in most sentences `test` is said of something else, or by the way."""
    if kind in {"error", "issue"}:
        return False
    if kind == "change" and _CHANGES_TESTS.search(" ".join(words)):
        return True
    if kind in {"change", "report"}:
        return any(word.lower().strip("`:,()[]") in _TESTS for word in words[:3])
    if "test" not in counts and "spec" not in counts:
        return False
    mentioned = {word for word in words if word.lower().strip("`:,.()[]?") in _TESTS}
    others = {term for word in words if word not in mentioned for term in stem_word(word)}
    return not others.isdisjoint({"test", "spec"}) or _ASKS_FOR_TESTS.search(" ".join(words)) is not None


_SHORT_FORMS = """
    addr address | alloc allocate allocation | app application | arg argument | args arguments | arr array |
    async asynchronous | attr attribute | auth authentication authorization authenticate authorize | avg average |
    bg background | bin binary | bool boolean | btn button | buf buffer | calc calculate calculation | cb callback |
    cert certificate | cfg config configuration configure | chk check | char character | clr clear | cls class |
    cmd command | cmp compare comparison | col column | coll collection | comm communication | concat concatenate |
    cond condition | conf config configuration | conn connection connect | const constant | coord coordinate |
    cpy copy | ctl control | ctor constructor | ctrl control controller | ctx context | cur current | curr current |
    db database | dbg debug | deco decorator | decl declaration declare | def default definition | del delete |
    dep dependency | deps dependencies | desc description descriptor | dest destination | dev development device |
    diff difference | dim dimension | dir directory | dirs directories | disp display | doc document documentation |
    docs documentation documents | dst destination | dtor destructor | dup duplicate | el element | elem element |
    env environment | eq equal equality | err error | eval evaluate evaluation | evt event | exc exception |
    exec execute execution | exp expression exponent | expr expression | ext extension | fd descriptor | fn function |
    fmt format formatting | func function | gen generate generator | hdr header | hist history | idx index |
    impl implementation implement | inc increment include | info information | init initialize initialization |
    ins insert | inst instance | int integer | intf interface | iter iterate iterator iteration | len length |
    lang language | lhs left | lib library | lit literal | loc location | lvl level | max maximum | mem memory |
    mgr manager | mid middle | min minimum minify | misc miscellaneous | mod module modify | msg message |
    mul multiply | mut mutable mutate | nav navigation navigate | neg negative | net network | num number |
    obj object | op operation operator | opt option optimize | opts options | orig original | os operating |
    param parameter | params parameters | pkg package | pos position | pred predicate | pref preference |
    prefs preferences | prep prepare | prev previous | priv private | proc process procedure |
    prod product production | prog program progress | prop property | props properties | proto protocol prototype |
    ptr pointer | pub public publish | pwd password | qty quantity | ref reference | refs references |
    reg register registry | regex expression | rel relative relation | repo repository | repr representation |
    req request | res result response resource | resp response | ret return | rhs right | rm remove | rnd random |
    rng range random | sec second security | sel select selection | seq sequence | sess session | spec specification |
    sql database | src source | srv server | stat status statistics | std standard | stmt statement | str string |
    sub subtract substitute | subst substitute | sum summary | sync synchronize synchronous | sys system | tbl table |
    temp temporary temperature | tmp temporary | tmpl template | tok token | trans transaction translate transform |
    tx transaction | txt text | typ type | ui interface | univ universal | upd update | usr user | util utility |
    utils utilities | val value | var variable | vars variables | vec vector | ver version | vis visible visibility |
    win window | wrt write
"""
"""Abbreviations of code, each with what it may be short for: a question that says one may mean the other."""


def other_forms(word: str) -> tuple[str, ...]:
    """Abbreviations: what a lower-case word may be short for, or be shortened to."""
    return _forms().get(word, ())


@cache
def _forms() -> dict[str, tuple[str, ...]]:
    forms: dict[str, dict[str, None]] = {}
    for entry in _SHORT_FORMS.split("|"):
        short, *longs = entry.split()
        for long in longs:
            forms.setdefault(short, {})[long] = None
            forms.setdefault(long, {})[short] = None
    return {word: tuple(others) for word, others in forms.items()}
