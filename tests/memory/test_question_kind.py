"""Kinds of questions are told apart as a person would."""

from __future__ import annotations

import pytest

from aurora_memory.recall import parse_question
from aurora_memory.recall.places import QueryPlace
from aurora_memory.recall.question import ERRAND, MAX_REPEATS, REPEATED, TEXT
from aurora_memory.recall.question_kind import ISSUE_WORDS, MEANING, QuestionKind
from aurora_memory.recall.title_likeness import features, title_weights
from tests.memory.test_signals import LEFT_FOR_MEASURING

KINDS: list[tuple[str, QuestionKind]] = [
    ("Session.login", "name"),
    ("where is Session.login defined", "name"),
    ("src/shop/cart.py:45", "place"),
    ("Session in src/shop/cart.py", "name"),
    ("session management", "topic"),
    ("middleware stack and CORS", "topic"),
    ("running work after a response", "topic"),
    ("request helpers and header access", "topic"),
    ("how are routes registered", "how"),
    ("in which order are hooks called", "how"),
    ("under what conditions is a request sent again", "how"),
    ("copy queued messages to another broker", "how"),
    ("copy queued messages to another broker.", "task"),
    ("Copy queued messages to another broker", "task"),
    ("copies queued messages to another broker", "task"),
    ("copy queued messages", "task"),
    ("a dead node comes back and is not asked", "report"),
    ("the queue of messages for another broker", "topic"),
    ("the queue of messages for another broker.", "task"),
    ("A dead node comes back and is not asked", "task"),
    ("where do we retry requests?", "how"),
    ("when does a cached total expire", "how"),
    ("when a cart is empty the totals vanish", "report"),
    ("what if a cart is empty", "report"),
    ("DeprecationWarning: totals of carts", "error"),
    ("Explain how expand fills a template", "how"),
    ("Returns the date of an invoice", "task"),
    ("copies a file over another", "task"),
    ("fetches the rates of a country", "task"),
    ("Whether a file is a test", "task"),
    ("the opening hours of the shop", "topic"),
    ("The opening hours of the shop", "task"),
    ("Conversion to another unit.", "task"),
    ("Fix a race in the pool", "change"),
    ("(fix) a race in the pool", "change"),
    ("handle of an open file", "topic"),
    ("issue of a new token", "topic"),
    ("feat(parser)!: nested comments", "change"),
    ("[CI] newer compilers", "change"),
    ("caching of pages doesn't respect the header", "report"),
    ("pagination ignored for empty lists", "report"),
    ("stack drops attributes of coordinates", "report"),
    ("status of a failed command", "topic"),
    ("retries of failing requests", "topic"),
    ("files that are ignored", "report"),
    ("ignored files", "topic"),
    ("login failed", "report"),
    ("upload failed with an empty file", "report"),
    ("clearing old pages when the cache is full", "topic"),
    ("Clearing old pages when the cache is full", "report"),
    ("clearing old pages fails when the cache is full", "report"),
    ("old pages when the cache is full", "report"),
    ("clearing pages that are old", "report"),
    ("filters not preserving attributes", "report"),
    ("symlinked folders lost since 6.1.0", "report"),
    ("order of `evaluate`", "report"),
    ("a folder is not shown, the default is wrong", "report"),
    ("The default of an invoice is wrong.", "report"),
    ("pool extends its queue", "report"),
    ("timeout of the queue, write race", "report"),
    ("headers are now read twice", "report"),
    ("Support folders as sources", "change"),
    ("Clarify the order of totals", "change"),
    ("Removing empty carts", "change"),
    ("Fix:(issue 7) totals of empty carts", "change"),
    ("fix/total of carts in euros", "change"),
    ("http client/server pairs", "topic"),
    ("support for folders", "topic"),
    ("completion support in shells", "topic"),
    ("race detection and leak reports", "topic"),
    ("error pages", "topic"),
    ("Sends what is left; wrong totals are kept", "task"),
    ("404 not found pages", "topic"),
    ("before and after filter checks for the request lifecycle", "topic"),
    ("error messages and failure handling", "topic"),
    ("TypeError: 'NoneType' object is not iterable", "error"),
    ('it fails\n  File "shop/cart.py", line 4, in add\n    total()', "error"),
    ("the cart " * 30, "issue"),
    (f"why does the cart forget {'its last item ' * 20}", "issue"),
    (f"KeyError: 3, in a report {'of many words ' * 20}", "error"),
]

NOUNS_OR_VERBS: list[tuple[str, QuestionKind]] = [
    ("call graph resolution", "topic"),
    ("rename symbol request", "topic"),
    ("merge base", "topic"),
    ("check cache", "topic"),
    ("check write-back cache", "topic"),
    ("release notes", "topic"),
    ("write lock", "topic"),
    ("walk order", "topic"),
    ("load balancer", "topic"),
    ("change detection", "topic"),
    ("support matrix", "topic"),
    ("watch limit", "topic"),
    ("lock file", "topic"),
    ("index shape", "topic"),
    ("log rotation", "topic"),
    ("request cancellation", "topic"),
    ("cache eviction", "topic"),
    ("only one daemon per workspace", "topic"),
    ("only two daemons at once", "topic"),
    ("only a few totals are wrong", "report"),
    ("only notify slack on failure", "change"),
    ("Merge base", "task"),
    ("Call graph resolution.", "task"),
    ("call the graph resolution", "how"),
    ("check a cache", "task"),
    ("check new cache", "task"),
    ("check per cache", "task"),
    ("check its cache", "task"),
    ("run all steps of the build process", "how"),
    ("read new settings", "task"),
    ("load settings into the cache", "how"),
    ("write records", "task"),
    ("merge two lists", "task"),
    ("merge `base`", "task"),
    ("check cart.total of each request", "how"),
    ("call one two three four five request", "how"),
    ("get session cache", "task"),
    ("release lock", "task"),
    ("dispatch request", "task"),
    ("read token", "task"),
    ("save session", "task"),
    ("check permission", "task"),
    ("load configuration", "task"),
    ("run application", "task"),
    ("check phase", "task"),
    ("add a flag to the request", "change"),
    ("add request", "change"),
    ("fix the crash in the request", "change"),
    ("fix symbol resolution", "change"),
    ("rename Cart to Order", "change"),
    ("rename Symbol request", "change"),
    ("rename the symbol request", "change"),
    ("rename symbol resolution", "change"),
    ("update documentation", "change"),
    ("update release notes", "change"),
    ("document session object lifetime", "change"),
    ("change all symbols", "change"),
    ("log a warning when the request is empty", "report"),
]
"""Words that are nouns as well as verbs: in few lower-case words that end as names do they begin a topic."""


@pytest.mark.parametrize(("query", "kind"), NOUNS_OR_VERBS, ids=[query[:30] for query, _ in NOUNS_OR_VERBS])
def test_a_noun_that_may_be_a_verb_begins_a_topic_and_no_sentence(query: str, kind: QuestionKind) -> None:
    assert parse_question(query).kind == kind


@pytest.mark.parametrize(("query", "kind"), KINDS, ids=[query[:30] for query, _ in KINDS])
def test_kinds_are_told_apart(query: str, kind: QuestionKind) -> None:
    assert parse_question(query).kind == kind
    assert MEANING[kind]


def test_all_words_of_a_report_count_the_title_most_repeated_ones_more() -> None:
    text = " ".join(f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(120))
    question = parse_question(f"ledger broken\n{text} invoice account account account")
    assert question.kind == "issue"
    assert question.weights["ledger"] == 1.0
    assert question.weights["invoic"] == TEXT
    assert question.weights["account"] == pytest.approx(TEXT + 2 * REPEATED)
    assert "wordep" in question.weights
    assert question.weights["wordaa"] == TEXT, "what follows the first line is no title"
    often = parse_question(f"ledger broken\n{text} {'account ' * 9}")
    assert often.weights["account"] == pytest.approx(TEXT + MAX_REPEATS * REPEATED), (
        "repeated for ever it counts no more"
    )


def test_the_last_frames_of_a_traceback_are_the_places_it_names() -> None:
    frames = "\n".join(f'  File "shop/f{n}.py", line {n}, in call_{n}' for n in range(1, 8))
    question = parse_question(f"it fails\nTraceback (most recent call last):\n{frames}\nKeyError: 3")
    assert question.places == tuple(QueryPlace(f"shop/f{n}.py", None, n) for n in (7, 6, 5, 4))
    assert "call_7" in question.identifiers


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("test of the invoice", True),
        ("invoice spec", True),
        ("add tests for the invoice", True),
        ("fix: invoices of the test account are wrong", False),
        ("ValueError: test is not a date", False),
        ("ValueError: no such test", False),
        ("stack drops tests", True),
        ("skip a test by its marker", False),
        ("which fixtures does a test need", False),
        ("where are tests collected", False),
        ("where is the test of the parser", True),
        ("parser tests", True),
        ("how do we test the parser", True),
        ("fix warnings of the invoice tests on Windows", True),
        ("remove the old invoice test", True),
        ("fix several warnings in test_invoice.py", True),
        ("fix the invoice that a test client sends", False),
        ("fix find_spec of the importer", False),
    ],
)
def test_tests_are_asked_for_or_only_mentioned(query: str, wanted: bool) -> None:
    assert parse_question(query).about_tests == wanted


@pytest.mark.parametrize("term", ["test", "spec"])
def test_one_that_is_only_mentioned_counts_less_than_what_is_to_be_changed(term: str) -> None:
    question = parse_question(f"fix invoice of the {term} account")
    assert not question.about_tests
    assert (question.weights[term], question.weights["invoic"]) == (ERRAND, 1.0)


@pytest.mark.parametrize(
    ("text", "kind", "less"),
    [
        ("the invoice is wrong for a test account", "report", True),
        ("ValueError: no invoice of the test account", "error", True),
        ("what tells of a test of the invoice", "how", False),
        ("add tests for the invoice", "change", False),
    ],
)
def test_a_test_counts_less_where_something_else_is_to_be_mended(text: str, kind: QuestionKind, less: bool) -> None:
    question = parse_question(text)
    assert question.kind == kind
    assert question.weights["test"] == (ERRAND if less else 1.0)


def test_in_a_long_report_a_test_counts_less_than_other_words() -> None:
    question = parse_question("the invoice of this account is wrong for test users " * 5)
    assert question.kind == "issue"
    assert question.weights["test"] == pytest.approx(ERRAND * question.weights["invoic"])


@pytest.mark.parametrize(("words", "kind"), [(ISSUE_WORDS - 1, "topic"), (ISSUE_WORDS, "issue")])
def test_forty_words_are_a_report_and_its_number_is_none_of_them(words: int, kind: QuestionKind) -> None:
    text = " ".join(["session"] * words)
    assert parse_question(text).kind == kind
    assert parse_question(f"#12 {text}").kind == kind


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("linkcheck could also check local links", True),
        ("stack casts integers to long ones", True),
        ("glossary duplicate term with another case", True),
        ("argument expected for short option", True),
        ("session management", False),
        ("middleware stack and CORS", False),
        ("http client/server pairs", False),
        ("error pages", False),
        ("how are routes registered", False),
        ("Session.login", False),
    ],
)
def test_what_reads_like_a_title_is_open(text: str, is_open: bool) -> None:
    assert parse_question(text).is_open == is_open


def test_capitals_of_plain_words_do_not_make_a_title() -> None:
    for text in ("session management", "argument expected for short option"):
        assert features(text) == features(text.title())


def test_weights_of_titles_are_of_features_that_there_are_and_of_no_repository_that_is_left_for_measuring() -> None:
    fitted = title_weights()
    known = {"first", "inner", "last"}
    for feature in fitted.weights:
        kind = feature.partition(" ")[0]
        assert kind in known | {"length", "mark", "full", "says", "verb", "s", "joins"}, feature
    used = {name.lower().rpartition("/")[2] for name in fitted.provenance["commits"]}
    assert len(used) >= 30
    assert not used & set(LEFT_FOR_MEASURING.split())


@pytest.mark.parametrize(
    ("text", "there", "missing"),
    [
        pytest.param("Fix it. \n", "full stop", "verb later", id="a sentence ends before white space"),
        pytest.param("Fix. it", "verb first", "full stop", id="not within it"),
        pytest.param("Users adds it now", "verb later", "verb first", id="a verb of somebody else"),
        pytest.param("Users add it now", "joins words", "verb later", id="no other form of it"),
        pytest.param("adds users", "verb first", "verb later", id="which is first or later"),
        pytest.param("a grand class", "last says class", "last ends in s", id="a double s is no ending"),
        pytest.param("we used it", "inner says used", "inner ends in ed", id="nor is what leaves two letters"),
        pytest.param(
            "the cars drive", "s before a word", "joins words", id="what stands before a word may do something"
        ),
        pytest.param("the cars of them", "joins words", "s before a word", id="not before one that joins"),
        pytest.param("cars moved it", "inner ends in ed", "length 4", id="what leaves three is"),
        pytest.param("it " * 14, "length 14", "length 13", id="fourteen words are long"),
        pytest.param("it " * 20, "length 14", "length 20", id="and more are no longer"),
        pytest.param("it " * 39 + "zebra", "last says zebra", "inner says zebra", id="forty words are looked at"),
        pytest.param("it " * 40 + "zebra", "last says it", "last says zebra", id="and no more"),
    ],
)
def test_what_is_seen_of_a_text(text: str, there: str, missing: str) -> None:
    assert there in features(text) and missing not in features(text)
