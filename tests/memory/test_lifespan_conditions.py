"""The policy language: what it says, that it is read back as written, and that no text can do harm."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora_memory.lifespans import ConditionError
from aurora_memory.lifespans.condition_parser import MAX_LENGTH, parse
from aurora_memory.lifespans.conditions import (
    And,
    Comparison,
    Condition,
    HasTag,
    InactiveFor,
    Not,
    Or,
    spelled,
)
from aurora_memory.lifespans.facts import PROPERTIES, ChunkFacts, Property
from aurora_memory.lifespans.predicates import DAY, matcher
from tests.growth import grows_with_length

NOW = 1_800_000_000.0
PATTERN = ChunkFacts(
    1,
    "reasoning",
    access_count=4,
    last_used=NOW - 20 * DAY,
    made_at=NOW - 200 * DAY,
    is_pattern=True,
    success_score=0.92,
    domain="Security",
    complexity="complex",
    tags=("high-confidence-pattern", "Security-Critical"),
    keywords="oauth2 token insecurity",
)
CODE = ChunkFacts(2, "code", made_at=NOW - 100 * DAY, language="python", path="src/auth.py", commits=7)


def holds(text: str, facts: ChunkFacts) -> bool:
    return matcher(parse(text))(facts, NOW)


@pytest.mark.parametrize(
    "text",
    [
        "is_pattern == true",
        "is_pattern == true AND success_score >= 0.8",
        "score >= 0.5",
        "access_count > 0",
        "access_count <= 4.0",
        "contains_tag('security') OR domain == 'security'",
        'contains_tag("CRITICAL")',
        "contains_tag(oauth2)",
        "contains_tag('high-confidence')",
        "domain == security",
        "domain != finance",
        "type == reasoning",
        "last_accessed_days > 19 and last_accessed_days < 21",
        "age_days == 200",
        "inactive_for_20_days",
        "inactive_for_1_day",
        "not inactive_for_21_days",
        "NOT domain == finance AND complexity == complex",
        "domain == finance AND is_pattern == false OR access_count==4",
        "domain == finance AND (is_pattern == false OR access_count==4) Or type == 'reasoning'",
        "success_score > -1 and success_score < +1.5e0 AND success_score > .5",
    ],
)
def test_holds(text: str) -> None:
    assert holds(text, PATTERN)


@pytest.mark.parametrize(
    "text",
    [
        "is_pattern != true",
        "success_score < 0.92",
        "contains_tag('secur')",
        "contains_tag('pattern-high')",
        "contains_tag('security critical')",
        "inactive_for_21_days",
        "last_accessed_days > 90 AND access_count <= 2",
        "NOT (domain == security OR type == code)",
        "domain == finance AND (is_pattern == true OR access_count == 4)",
    ],
)
def test_does_not_hold(text: str) -> None:
    assert not holds(text, PATTERN)


@pytest.mark.parametrize("name", ["success_score", "confidence"])
@pytest.mark.parametrize("operator", ["==", "!=", "<", "<=", ">", ">="])
def test_what_a_chunk_does_not_know_compares_false_with_everything(name: str, operator: str) -> None:
    assert not holds(f"{name} {operator} 0.5", CODE)
    assert holds(f"NOT {name} {operator} 0.5", CODE)


@pytest.mark.parametrize(
    "text", ["is_pattern == false", "is_pattern != true", "domain != 'security'", "contains_tag(x)"]
)
def test_unknown_flags_texts_and_tags_are_not_there(text: str) -> None:
    assert not holds(text, CODE)


def test_before_the_first_access_a_chunk_was_last_seen_when_it_was_made() -> None:
    assert holds("last_accessed_days == 100 AND inactive_for_100_days AND commits == 7", CODE)
    assert not holds("last_accessed_days >= 0", ChunkFacts(3, "code"))


def test_a_clock_that_jumped_back_makes_nothing_older_or_younger_than_now() -> None:
    assert holds("age_days == 0 AND age_days < 1", ChunkFacts(3, "code", made_at=NOW + DAY))


@pytest.mark.parametrize("name", ["security-reviewed", "api_security", "SECURITY", "x/security"])
def test_a_tag_is_found_as_a_word(name: str) -> None:
    assert holds("contains_tag('security')", ChunkFacts(3, "code", tags=("tested", name)))
    assert holds("contains_tag('security')", ChunkFacts(3, "code", keywords=f"a {name}"))
    assert holds("contains_tag('security')", ChunkFacts(3, "code", semantic_role=name))


def test_and_binds_closer_than_or() -> None:
    a, b, c = (Comparison("access_count", "==", float(n)) for n in (1, 2, 3))
    text = "access_count == 1 OR access_count == 2 AND NOT access_count == 3"
    assert parse(text) == Or((a, And((b, Not(c)))))


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "expected a property"),
        ("   ", 4, "not the end"),
        ("succes_score >= 0.8", 1, "no property is called 'succes_score'; did you mean 'success_score'?"),
        ("zzz == 1", 1, "known are is_pattern, success_score"),
        ("is_pattern", 11, "expected ==, !=, <, <=, > or >= after 'is_pattern', not the end"),
        ("is_pattern = true", 12, "equality is =="),
        ("is_pattern == maybe", 15, "expected true or false"),
        ("is_pattern > true", 12, "expected == or != ('is_pattern' has no order)"),
        ("score >= '0.8'", 10, "expected a number ('score' is one), not \"'0.8'\""),
        ("score >= 1e999", 10, "expected a number"),
        ("score >= 90days", 10, "not '9'"),
        ("domain == 5", 11, "expected a text such as 'security'"),
        ("domain == true", 11, "expected a text"),
        ("domain == 'open", 11, "expected a closing '"),
        ("type == reas", 9, "expected code, reasoning, knowledge, not 'reas'; did you mean 'reasoning'?"),
        ("(score >= 1", 12, "expected ')', not the end"),
        ("score >= 1)", 11, "expected AND, OR or the end, not ')'"),
        ("score >= 1 score >= 2", 12, "expected AND, OR or the end, not 'score'"),
        ("score >= 1 AND", 15, "not the end"),
        ("score >= 1 && score < 2", 12, "not '&'"),
        ("0.5 <= score", 1, "not '0.5'"),
        ("1 < score < 2", 1, "not '1'"),
        ("contains_tags('x')", 1, "did you mean 'contains_tag'?"),
        ("eval('x')", 1, "no function is called 'eval'"),
        ("contains_tag('')", 14, "a tag of 1 to 64 characters"),
        ("contains_tag(5)", 14, "expected a tag"),
        ("inactive_for_ninety_days", 1, "did you mean 'inactive_for_90_days'?"),
    ],
)
def test_a_bad_condition_is_told_by_column_and_what_was_expected(text: str, column: int, message: str) -> None:
    with pytest.raises(ConditionError) as caught:
        parse(text)
    assert caught.value.column == column
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"column {column}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "(" * 900,
        "(" * 900 + "score > 1" + ")" * 900,
        "NOT " * 400 + "score > 1",
        "'" * 100_000,
        "\\'" * 900,
        "'" + "\\" * 1900,
        "a" * 2000,
        "inactive_for_" + "9" * 1900 + "_days",
        "score > " + "9" * 1900 + "x",
        "score > 1 AND " * 140,
        " " * MAX_LENGTH,
    ],
)
def test_hostile_text_fails_fast(text: str) -> None:
    with pytest.raises(ConditionError) as caught:
        parse(text)
    assert len(str(caught.value)) < 400

    def read(length: int) -> None:
        with contextlib.suppress(ConditionError):
            parse(text[:length])

    assert grows_with_length(read, MAX_LENGTH // 10, MAX_LENGTH)


def test_long_conditions_within_the_bound_are_read() -> None:
    assert isinstance(parse(" OR ".join(["score > 1"] * 100)), Or)


words = ("score", "contains_tag", "inactive_for_9_days", "AND", "or", "Not", "true", "(", ")", "==", ">=", "'x'", '"y"')
odd = ("0.5", "-3", "word", "'", "\\", " ", "\n", "\0", "é", "٣")
fragments = st.sampled_from([*PROPERTIES, *words, *odd])


@given(st.one_of(st.text(max_size=200), st.lists(fragments, max_size=30).map(" ".join)))
def test_any_text_is_a_condition_or_a_condition_error(text: str) -> None:
    try:
        condition = parse(text)
    except ConditionError as error:
        assert 1 <= error.column <= len(text) + 1
        assert len(str(error).splitlines()) == 1
    else:
        assert matcher(condition)(PATTERN, NOW) in (True, False)
        assert parse(spelled(condition)) == condition


def comparisons_of(asked: Property) -> st.SearchStrategy[Condition]:
    name = st.just(asked.name)
    if asked.kind == "flag":
        return st.builds(Comparison, name, st.sampled_from(["==", "!="]), st.booleans())
    if asked.kind == "text":
        texts = st.sampled_from(asked.values) if asked.values else st.text(max_size=30)
        return st.builds(Comparison, name, st.sampled_from(["==", "!="]), texts)
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    return st.builds(Comparison, name, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), numbers)


leaves: st.SearchStrategy[Condition] = st.one_of(
    *(comparisons_of(asked) for asked in PROPERTIES.values()),
    st.builds(HasTag, st.text(min_size=1, max_size=30).filter(str.strip)),
    st.builds(InactiveFor, st.integers(0, 99_999)),
)
conditions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=8,
)


@given(conditions.filter(lambda condition: len(spelled(condition)) <= MAX_LENGTH))
def test_a_condition_is_read_as_it_was_written(condition: Condition) -> None:
    assert parse(spelled(condition)) == condition
