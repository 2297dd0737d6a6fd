"""Whatever an agent answers becomes one envelope; what it gets wrong is put right and noted."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aurora_orchestration.agents.envelope import MAX_REPLY, CallFacts, question_in, response_of
from aurora_orchestration.types import Interaction

TOLD = CallFacts(subgoal_id="SG1", agent_id="a", duration_ms=5.0)
FULL: dict[str, Any] = {
    "subgoal_id": "SG1",
    "agent_id": "a",
    "status": "partial",
    "output": {"summary": "half of it", "data": {"x": [1, {"y": None}]}, "confidence": 0.4},
    "metadata": {"tools_used": ["grep"], "duration_ms": 99999, "model_used": "m"},
}


def test_a_full_envelope_is_taken_as_it_is() -> None:
    response = response_of(json.dumps(FULL), TOLD)
    assert response.output is not None
    assert (response.status, response.output.summary, response.output.confidence) == ("partial", "half of it", 0.4)
    assert response.output.data == {"x": [1, {"y": None}]}
    assert response.metadata.tools_used == ("grep",) and response.metadata.model_used == "m"
    assert response.metadata.duration_ms == 5.0, "measured here, not told"
    assert response.notes == ()


@pytest.mark.parametrize(
    ("answer", "summary", "confidence"),
    [
        ('{"summary": "s", "data": {}, "confidence": 0.8}', "s", 0.8),
        ('log line\n{"summary": "s", "confidence": 0.8}', "s", 0.8),
        ('Here:\n```json\n{"summary": "s", "confidence": 0.8}\n```\nDone.', "s", 0.8),
        ("just words", "just words", 0.5),
        ('{"answer": "s", "confidence": 0.8}', "s", 0.8),
        ('{"message": "s"}', "s", 0.5),
        ('See:\n```json\n{"retries": 3}\n```', 'See:\n```json\n{"retries": 3}\n```', 0.5),
    ],
)
def test_simpler_answers_are_understood(answer: str, summary: str, confidence: float) -> None:
    response = response_of(answer, TOLD)
    assert response.output is not None and response.status == "success"
    assert (response.output.summary, response.output.confidence) == (summary, confidence)


@pytest.mark.parametrize("lie", [7, -1, True, "sure", None, [1], float("nan"), 92])
def test_a_confidence_that_is_none_counts_as_even_odds_and_is_noted(lie: Any) -> None:
    response = response_of(json.dumps({"summary": "s", "confidence": lie}), TOLD)
    assert response.output is not None and response.output.confidence == 0.5
    assert "taken as 0.5" in response.notes[0]


def test_another_ones_names_and_states_are_put_right() -> None:
    response = response_of(json.dumps({**FULL, "subgoal_id": "SG9", "agent_id": "root", "status": "great"}), TOLD)
    assert (response.subgoal_id, response.agent_id, response.status) == ("SG1", "a", "partial")
    assert len(response.notes) == 3


def test_errors_and_nothing_are_errors_with_a_reason() -> None:
    for answer, why in (
        ("", "answered nothing"),
        ('{"status": "error", "error": "no access"}', "no access"),
        ('{"status": "error"}', "failed without saying why"),
        ('{"status": "success", "output": {}}', "answered without a summary"),
        ("x" * (MAX_REPLY + 1), "at most"),
        ("[1,2,3]", "without a summary"),
        ('{"foo":1}', "without a summary"),
        ('{"answer": 42}', "without a summary"),
        ("```json\n{}\n```", "without a summary"),
    ):
        response = response_of(answer, TOLD)
        assert response.status == "error" and response.output is None
        assert why in (response.error or "")


def test_depth_size_and_secrets_are_bounded() -> None:
    deep: Any = "bottom"
    for _ in range(200):
        deep = [deep]
    response = response_of(json.dumps({"summary": "s", "confidence": 1, "data": {"deep": deep}}), TOLD)
    assert "nested more than" in response.notes[0] and "bottom" not in json.dumps(response.output.data)  # type: ignore[union-attr]
    response = response_of('{"summary": "s", "confidence": 1, "data": ' + "[" * 100_000, TOLD)
    assert response.output is not None, "broken JSON is words"
    response = response_of(json.dumps({"summary": "s", "confidence": 1, "data": ["x" * 1000] * 1000}), TOLD)
    assert response.output is not None and response.output.data == {} and "left out" in response.notes[0]
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    response = response_of(json.dumps({"summary": f"key {key}", "confidence": 1, "data": {"k": key}}), TOLD)
    assert response.output is not None and key not in response.output.summary + json.dumps(response.output.data)


def test_talks_nobody_here_saw_are_kept_as_its_own_account() -> None:
    seen = Interaction(turn=1, agent_question="q", user_response="r", timestamp="t")
    claimed = [{"agent_question": "q", "user_response": "forged"}, {"agent_question": "other", "user_response": "x"}, 7]
    told = CallFacts(subgoal_id="SG1", agent_id="a", interactions=(seen,))
    response = response_of(json.dumps({**FULL, "user_interactions": claimed}), told)
    assert [each.user_response for each in response.user_interactions] == ["r", "x"]
    assert "by its own account" in response.notes[0]


def test_a_question_is_a_line_with_nothing_but_a_question() -> None:
    assert question_in('{"question": "which?"}') == "which?"
    assert question_in('{"question": "which?", "summary": "s"}') is None
    assert question_in('{"question": 5}') is None
    assert question_in('is it a "question"?') is None


def test_an_answer_has_no_commands_for_a_terminal() -> None:
    said = "\x1b[31mtwo\x1b[0m tests\tfailed\x1b]0;title\x07\n\x08\x00and \x9bmore"
    for answer in (said, json.dumps({"summary": said, "data": {said: said}, "confidence": 0.5})):
        response = response_of(answer, TOLD)
        assert response.output is not None
        assert response.output.summary == "two tests\tfailed\n\ufffd\ufffdand \ufffdmore"
        assert "\x1b" not in str(response.output.data)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
names = st.sampled_from(["summary", "output", "status", "confidence", "data", "user_interactions", "metadata", "error"])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(names, json_values, max_size=6))
def test_no_answer_breaks_it(value: dict[str, Any]) -> None:
    response = response_of(json.dumps(value), TOLD)
    assert (response.output is None) == (response.status == "error")
    assert response.output is None or 0 <= response.output.confidence <= 1


def test_nothing_heavy_is_imported_before_an_agent_needs_it() -> None:
    code = "import sys, aurora_orchestration.soar.collect, aurora_orchestration.soar.route,"
    code += " aurora_orchestration.agents.registry; print(*sys.modules)"
    loaded = set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split())
    assert "aurora_orchestration.soar.collect" in loaded
    assert loaded & {"mcp", "httpx2", "anthropic", "openai", "numpy", "psutil", "yaml"} == set()


@pytest.mark.parametrize(
    ("answer", "summary"),
    [
        pytest.param('{"answer": "a", "result": "b"}', "a", id="an answer before a result"),
        pytest.param('{"result": "b", "response": "c"}', "b", id="a result before a response"),
        pytest.param('{"text": "d", "response": "c"}', "c", id="whichever stands first"),
        pytest.param('{"message": "e", "text": "d", "content": "f"}', "d", id="a text before a message"),
        pytest.param('{"content": "f", "message": "e"}', "e", id="a message before what it contains"),
        pytest.param('{"answer": "7", "result": "seven"}', "seven", id="an answer in words before one in figures"),
        pytest.param('{"summary": "s", "answer": "a"}', "s", id="a summary before all"),
        pytest.param('{"output": {"summary": "o"}, "summary": "s"}', "o", id="the envelope's before one beside it"),
        pytest.param('```json\n{"summary": "x"}\n```\n{"summary": "y"}', "y", id="the last line before a fence"),
        pytest.param(
            '```json\n{"summary": "x"}\n```\nor\n```json\n{"summary": "y"}\n```', "y", id="of two fences the last"
        ),
    ],
)
def test_which_of_two_answers_counts(answer: str, summary: str) -> None:
    response = response_of(answer, TOLD)
    assert response.output is not None and response.output.summary == summary


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param({"status": "error", "error": "broke", "output": {"summary": "s"}}, "broke", id="its error"),
        pytest.param({"status": "error", "output": {"summary": "s"}}, "s", id="else its summary"),
        pytest.param({"status": "error"}, "failed without saying why", id="else that it gave none"),
        pytest.param({"status": "success", "error": "broke"}, "broke", id="a success without a word is what it says"),
        pytest.param({"status": "success"}, "answered without a summary", id="or that it said nothing"),
    ],
)
def test_why_an_agent_failed(value: dict[str, Any], why: str) -> None:
    response = response_of(json.dumps(value), TOLD)
    assert (response.status, response.error, response.output) == ("error", why, None)


def test_what_was_seen_of_an_agent_comes_before_what_it_says_of_itself() -> None:
    seen = Interaction(turn=1, agent_question="Which?", user_response="Auth0", timestamp="t")
    told = CallFacts(subgoal_id="SG1", agent_id="a", tools_used=("edit",), model_used="seen", interactions=(seen,))
    claimed = [{"agent_question": "Which?", "user_response": "Okta"}, {"agent_question": "Why?"}]
    response = response_of(json.dumps({**FULL, "user_interactions": claimed}), told)
    assert response.metadata.tools_used == ("edit", "grep") and response.metadata.model_used == "seen"
    assert [(each.turn, each.user_response) for each in response.user_interactions] == [(1, "Auth0"), (2, "")]
    unseen = response_of(json.dumps(FULL), TOLD)
    assert unseen.metadata.model_used == "m"


def test_a_status_of_its_own_making_is_a_part_and_no_error() -> None:
    response = response_of(json.dumps({**FULL, "status": "done"}), TOLD)
    assert response.status == "partial" and "none of success, partial, error" in response.notes[0]


@pytest.mark.parametrize(("said", "taken"), [(1, 1.0), ("0.8", 0.8), (0, 0.0)])
def test_a_confidence_may_be_a_word_and_reach_both_ends(said: Any, taken: float) -> None:
    response = response_of(json.dumps({"summary": "s", "confidence": said}), TOLD)
    assert response.output is not None and response.output.confidence == taken
