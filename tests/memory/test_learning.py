"""The numbers of AURORA §6.7 and Appendix D, and what a run may say."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora_memory.documents import PatternSubgoal
from aurora_memory.learning import (
    POLICY,
    InvalidRun,
    Learned,
    LearningPolicy,
    Outcome,
    Retrieved,
    alikeness,
    boost,
    bounded,
    fingerprint,
    lesson_of,
    outcome,
    signature,
    similar,
)
from aurora_memory.semantic_tags import Tags
from tests.memory.runs import STEPS, retrieved, run


@pytest.mark.parametrize(
    ("score", "named"),
    [
        (1.0, "success"),
        (0.8, "success"),
        (0.79999, "partial"),
        (0.5, "partial"),
        (0.49999, "failure"),
        (0.0, "failure"),
    ],
)
def test_outcomes_by_score(score: float, named: str) -> None:
    assert outcome(score) == named


@pytest.mark.parametrize(
    ("score", "helpful", "reasoning", "amount"),
    [
        (0.9, None, False, 0.0),
        (0.9, False, False, 0.0),
        (0.9, True, True, 0.2),
        (0.6, True, False, 0.05),
        (0.6, False, False, -0.05),
        (0.6, False, True, -0.05),
        (0.6, None, False, 0.0),
        (0.3, True, True, -0.1),
        (0.3, None, True, -0.1),
        (0.3, None, False, 0.0),
        (0.3, False, False, 0.0),
    ],
)
def test_boosts_by_outcome(score: float, helpful: bool | None, reasoning: bool, amount: float) -> None:
    assert boost(outcome(score), helpful, reasoning) == amount


def test_caching_policy() -> None:
    assert (POLICY.kept_score, POLICY.pattern_score) == (0.5, 0.8)
    for score, kept, is_pattern in [(0.8, True, True), (0.7, True, False), (0.5, True, False), (0.49, False, False)]:
        document = lesson_of(run(score=score)).document
        assert (document is not None) == kept
        if document is not None:
            assert document.is_pattern == is_pattern
            assert document.confidence == ("high" if is_pattern else "partial")
            plain = lesson_of(run(score=score), LearningPolicy(flagged=False)).document
            assert plain is not None and b'"confidence"' not in msgspec.json.encode(plain)


@given(st.lists(st.sampled_from([0.2, 0.05, -0.05, -0.1]), max_size=50))
def test_boosts_are_bounded(amounts: list[float]) -> None:
    assert -1.0 <= bounded(sum(amounts)) <= 1.0
    if abs(sum(amounts)) < 1:
        assert bounded(sum(amounts)) == sum(amounts)


def test_what_counts_as_an_access() -> None:
    given_chunks = (Retrieved(1, True), Retrieved(2, False), Retrieved(3))
    of_use = {score: lesson_of(run(score=score, retrieved=given_chunks)).of_use for score in (0.9, 0.6, 0.2)}
    assert of_use == {0.9: (1,), 0.6: (1,), 0.2: ()}
    used = {score: lesson_of(run(score=score, retrieved=given_chunks)).used for score in (0.9, 0.6, 0.2)}
    assert used == {0.9: ((1, 1.0),), 0.6: ((1, 1.0),), 0.2: ()}


def test_a_chunk_named_twice_counts_once() -> None:
    lesson = lesson_of(
        run(score=0.6, retrieved=(Retrieved(1), Retrieved(1, True), Retrieved(1), *retrieved(2, 2, helpful=None)))
    )
    assert lesson.retrieved == (Retrieved(1, True), Retrieved(2))
    anew = lesson_of(run(score=0.6, retrieved=(Retrieved(1, True), Retrieved(1, False))))
    assert anew.retrieved == (Retrieved(1, False),), "what was said of it last holds"


def test_a_document_says_what_was_done() -> None:
    document = lesson_of(run()).document
    assert document is not None
    assert document.id == "reas:oauth2-authentication-api-implementation"
    assert document.metadata.domain == "security"
    assert document.metadata.semantic_role == "oauth2-decomposition-pattern"
    assert document.metadata.timestamp == "2025-12-12T12:00:01Z"
    assert document.content.tool_sequence == ("grep", "edit")
    assert document.governance.compliance_tags == ("high-confidence-pattern", "security")
    partial = lesson_of(run(score=0.6)).document
    assert partial is not None and partial.governance.compliance_tags == ("partial-success", "security")
    rules = {rule.when: rule.then for rule in document.governance.retention_rules}
    assert rules["is_pattern == true"] == "retain_indefinitely"
    assert rules["access_count > 10"] == "escalation_candidate"


def test_a_models_own_names_are_taken() -> None:
    tags = Tags(domain="payments", semantic_role="migration", keywords=("ledger",))
    document = lesson_of(run(pattern="OAuth: the Flow/v2!", tags=tags)).document
    assert document is not None and document.id == "reas:oauth-the-flow-v2"
    assert (document.metadata.domain, document.metadata.semantic_role) == ("payments", "migration")


@pytest.mark.parametrize(
    ("changes", "sequence"),
    [
        ({"tool_sequence": ("edit", "grep", "edit")}, ("edit", "grep", "edit")),
        ({"tools_used": (), "tool_sequence": ()}, ()),
    ],
    ids=["the order they were used in is told as it was", "none was used"],
)
def test_what_tools_a_way_of_working_took(changes: dict[str, Any], sequence: tuple[str, ...]) -> None:
    document = lesson_of(run(**changes)).document
    assert document is not None and document.content.tool_sequence == sequence


def test_a_name_without_a_letter_is_no_name_of_a_pattern() -> None:
    document = lesson_of(run(pattern=" !? ")).document
    assert document is not None and document.id == "reas:query"


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        pytest.param("briefly, how login checks a password, now", True, id="words around a question"),
        pytest.param("how login checks a password and its hash", True, id="a few more words"),
        pytest.param("briefly: how login checks", True, id="with a word around it and fewer of its own"),
        pytest.param("how logout checks a password", False, id="a word in the place of another"),
    ],
)
def test_which_questions_may_be_one_pattern(other: str, alike: bool) -> None:
    one, two = [lesson_of(run(query=query)).document for query in ("how login checks a password", other)]
    assert one is not None and two is not None
    assert (alikeness(one, two) > 0, alikeness(two, one) > 0) == (alike, alike)


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        pytest.param("describe how login checks a password", True, id="to describe is to explain"),
        pytest.param("analyse how login checks a password", True, id="so is to analyse"),
        pytest.param("contrast how login checks a password", False, id="but not to contrast"),
        pytest.param("`describe` how login checks a password", False, id="nor what is called so"),
        pytest.param("describe() how login checks a password", False, id="nor what is called"),
    ],
)
def test_ways_of_asking_for_one_thing_are_one(other: str, alike: bool) -> None:
    one, two = [lesson_of(run(query=query)).document for query in ("explain how login checks a password", other)]
    assert one is not None and two is not None
    assert (alikeness(one, two) > 0) is alike


@pytest.mark.parametrize(
    "words",
    [
        "explain describe clarify outline illustrate understand analyze analyse",
        "compare contrast",
        "fix repair mend",
        "works operates operate behaves behave",
    ],
)
def test_each_word_of_asking_means_what_its_like_do(words: str) -> None:
    first, *others = [lesson_of(run(query=f"{word} login of a password")).document for word in words.split()]
    assert first is not None and others
    assert all(each is not None and alikeness(first, each) > 0 for each in others)


@pytest.mark.parametrize(
    ("steps", "alike"),
    [
        pytest.param(["paint red walls", "weld iron pipes"], True, id="the same steps"),
        pytest.param(["paint red walls", "bake brown bread"], False, id="of which a third is the same"),
        pytest.param(["paint red walls", "weld"], True, id="more than half is"),
        pytest.param(["paint red", "weld"], True, id="half is"),
        pytest.param(["paint red"], False, id="fewer steps"),
        pytest.param(["paint red walls", "weld iron", "pipes"], False, id="more steps, of the same words"),
    ],
)
def test_the_same_question_taken_apart_in_another_way_is_another_pattern(steps: list[str], alike: bool) -> None:
    documents = []
    for said in (["paint red walls", "weld iron pipes"], steps):
        parts = tuple(PatternSubgoal(id=f"SG{n}", description=each, agent="coder") for n, each in enumerate(said, 1))
        documents.append(lesson_of(run(subgoals=parts, tools_used=())).document)
    one, two = documents
    assert one is not None and two is not None
    assert (alikeness(one, two) > 0) is alike


def test_three_of_five_words_in_common_make_one_kind_of_question() -> None:
    assert similar("a b c d", "a b c e")
    assert not similar("a b c", "a b d e")


@pytest.mark.parametrize(
    ("result", "is_pattern", "row", "proved"),
    [
        ("success", True, "reas:one", True),
        ("partial", True, "reas:one", False),  # of a pattern that others made
        ("success", False, "reas:one", False),
        ("success", True, None, False),
    ],
)
def test_a_run_proves_a_pattern_that_succeeds_as_one(
    result: Outcome, is_pattern: bool, row: str | None, proved: bool
) -> None:
    assert Learned(result, row, is_pattern).proved is proved


@pytest.mark.parametrize(
    "changes", [{"id": "i" * 200}, {"query": "x" * 20_000}, {"retrieved": retrieved(*range(1000))}, {"score": 1.0}]
)
def test_what_is_as_large_as_it_may_be_is_learned(changes: dict[str, Any]) -> None:
    assert lesson_of(run(**changes)).document is not None


def test_nothing_is_kept_of_what_was_not_taken_apart() -> None:
    assert lesson_of(run(subgoals=())).document is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"score": 1.2}, r"score of 1\.2 is outside"),
        ({"score": math.nan}, "outside"),
        ({"id": ""}, "needs an id"),
        ({"id": "i" * 201}, "needs an id"),
        ({"query": "  "}, "a query has"),
        ({"query": "x" * 20_001}, "shorten"),
        ({"at": math.inf}, "no time"),
        ({"at": -5.0}, "no time"),
        ({"retrieved": retrieved(*range(1001))}, "1000 are the most"),
    ],
)
def test_runs_that_cannot_be_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidRun, match=said):
        lesson_of(run(**changes))


def test_signatures_ignore_order_case_and_small_words() -> None:
    assert signature("Fix the database migration") == signature("database MIGRATIONS: fix!")
    assert signature("???") == "???"


def test_similar_questions() -> None:
    assert similar(signature("fix the database migration issue"), signature("fix database migration"))
    assert not similar(signature("fix the database migration"), signature("render a button"))


@given(st.text(max_size=60), st.text(max_size=60))
def test_similarity_is_symmetric_and_a_question_is_like_itself(one: str, other: str) -> None:
    mine, theirs = signature(one), signature(other)
    assert similar(mine, theirs) == similar(theirs, mine)
    assert similar(mine, mine) or not mine


def test_decompositions_are_told_apart() -> None:
    renamed = tuple(
        PatternSubgoal(id=f"X{n}", description=step.description, agent=step.agent) for n, step in enumerate(STEPS)
    )
    assert fingerprint(STEPS) == fingerprint(renamed)
    assert fingerprint(STEPS) != fingerprint(STEPS[::-1])
    assert fingerprint(STEPS) != fingerprint(STEPS[:1])


def test_other_numbers_are_followed() -> None:
    policy = LearningPolicy(pattern_score=0.9, kept_score=0.7, success=0.3, helpful=0.1, unhelpful=-0.1, neutral=0.02)
    assert [outcome(score, policy) for score in (0.9, 0.85, 0.6)] == ["success", "partial", "failure"]
    assert boost("success", True, False, policy) == 0.3
    assert [boost("partial", helpful, False, policy) for helpful in (True, False, None)] == [0.1, -0.1, 0.02]
