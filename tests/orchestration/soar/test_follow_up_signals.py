"""What a next message says of the last answer (Appendix E), and what only sounds like it."""

import json
from pathlib import Path

import pytest

from aurora_orchestration.settings import SignalSettings
from aurora_orchestration.soar.follow_up_signals import Signal, detect

SETTINGS = SignalSettings()


def said(message: str, settings: SignalSettings = SETTINGS) -> Signal | None:
    return detect(message, settings, has_previous=True)


@pytest.mark.parametrize(
    ("message", "kind", "rest"),
    [
        ("thanks", "positive", ""),
        ("Great!", "positive", ""),
        ("perfect, that did it", "positive", "that did it"),
        ("Thank you very much", "positive", "very much"),
        ("good job.", "positive", "job."),
        ("ok great", "positive", ""),
        ("That looks good.", "positive", ""),
        ("This is perfect", "positive", ""),
        ("also explain the cache", "followup", "explain the cache"),
        ("and where is that called?", "followup", "where is that called?"),
        ("Additionally, list the callers of `flush`", "followup", "list the callers of `flush`"),
        ("plus, what about Windows?", "followup", "what about Windows?"),
        ("furthermore it should log", "followup", "it should log"),
        ("Thanks! Also, how do I run it?", "followup", "how do I run it?"),
        ("no", "negative", ""),
        ("No, I meant the other parser", "negative", "I meant the other parser"),
        ("no that is the old file", "negative", "that is the old file"),
        ("wrong", "negative", ""),
        ("Wrong file.", "negative", "file."),
        ("That's wrong", "negative", ""),
        ("that is incorrect because it returns None", "negative", "because it returns None"),
        ("that’s not right", "negative", ""),
        ("This is not what I meant", "negative", ""),
        ("thanks, but that is wrong", "negative", ""),
        ("I think this is wrong", "negative", ""),
        ("that is not good", "negative", ""),
        ("try again", "recourse", ""),
        ("please try again with more detail", "recourse", "with more detail"),
        ("can you try again?", "recourse", ""),
        ("Let's use a different approach", "recourse", ""),
        ("Retry!", "recourse", ""),
        ("no, try again", "negative", ""),
        ("never mind", "abort", ""),
        ("Never mind, I found it", "abort", "I found it"),
        ("stop", "abort", ""),
        ("stop it please", "abort", "it please"),
        ("cancel that", "abort", "that"),
        ("forget it", "abort", ""),
        ("skip", "abort", ""),
        ("no thanks", "abort", ""),
    ],
)
def test_what_is_meant_of_the_last_answer_is_heard(message: str, kind: str, rest: str) -> None:
    signal = said(message)
    assert signal is not None
    assert (signal.kind, signal.rest) == (kind, rest)
    assert signal.confidence >= SETTINGS.confidence_threshold
    assert signal.evidence


@pytest.mark.parametrize(
    "message",
    [
        "is there no cache?",
        "no cache?",
        "no module named requests",
        "what is a good way to test this?",
        "good way to test this?",
        "good practices for logging",
        "how do I stop the server",
        "stop the server gracefully on SIGTERM",
        "what is a skip list",
        "skip list implementation in Go",
        "skip this test on Windows",
        "cancel the subscription when payment fails",
        "how does the client try again after a failure?",
        "where is the retry logic",
        "retry logic for webhooks",
        "retry-after header support",
        "perfect hash functions in C",
        "great circle distance formula",
        "wrong password is accepted at login",
        "why is the total wrong?",
        "is that wrong?",
        "explain the difference between and and or",
        "AND operator in SQL",
        "plus sign is dropped from the query string",
        "what does `thanks` do",
        "Fix the bug where 'no' is parsed as a boolean",
        "what is not good about globals?",
        "list files and folders",
        "compare a different approach to hashing with ours",
        "nothing",
        "",
        "?!",
    ],
)
def test_a_question_with_such_a_word_in_it_is_a_question(message: str) -> None:
    assert said(message) is None


def test_without_an_earlier_answer_there_is_nothing_to_judge() -> None:
    assert detect("thanks", SETTINGS, has_previous=False) is None


def test_signals_can_be_switched_off_and_want_the_configured_confidence() -> None:
    assert said("thanks", SignalSettings(enabled=False)) is None
    assert said("also explain the cache", SignalSettings(confidence_threshold=0.94)) is None
    assert said("thanks", SignalSettings(confidence_threshold=0.94)) is not None


def test_configured_words_replace_the_usual_ones() -> None:
    settings = SignalSettings(positive=("merci",), negative=("falsch", "so nicht gemeint"))
    assert said("thanks", settings) is None
    assert (heard := said("Merci!", settings)) is not None
    assert heard.kind == "positive"
    assert (heard := said("das war so nicht gemeint", settings)) is not None
    assert heard.kind == "negative"


def test_praise_before_another_signal_is_not_lost() -> None:
    signal = said("Great, thanks! Also where is it tested?")
    assert signal is not None
    assert signal.kind == "followup"
    assert signal.thanked
    assert signal.evidence == ("great", "thanks", "also")


def test_code_after_a_signal_is_no_signal_but_belongs_to_the_rest() -> None:
    signal = said("also explain ```stop no wrong```")
    assert signal is not None
    assert signal.kind == "followup"
    assert signal.rest == "explain ```stop no wrong```"


def test_of_two_hundred_questions_only_the_follow_ups_are_taken_for_signals() -> None:
    queries = json.loads((Path(__file__).parent / "data" / "complexity_queries.json").read_bytes())
    heard = [query["kind"] for query in queries if said(query["query"])]
    assert set(heard) == {"follow-up"}
