"""What the command line says of a run: in which of several words a stage, its outcome, its cost and end are told."""

from __future__ import annotations

from typing import Any

import pytest

from aurora_cli.query import prompt_of
from aurora_cli.query_view import (
    claim_lines,
    cost,
    detail_lines,
    done_line,
    outcome,
    stage_details,
    stage_line,
    stage_name,
    sure_line,
)


@pytest.mark.parametrize(
    ("stage", "data", "name"),
    [
        pytest.param("verify", {"option": "option_b"}, "verifying (adversarial)", id="how it is verified"),
        pytest.param("verify", {"by": "deterministic"}, "verifying (by rule)", id="or by what"),
        pytest.param(
            "verify", {"option": "option_c", "by": "deterministic"}, "verifying (deep reasoning)", id="how first"
        ),
        pytest.param("verify", {"of": "answer", "option": "option_a"}, "verifying the answer (self)", id="and what"),
        pytest.param("assess", {"option": "option_b", "of": "x"}, "assessing complexity", id="of no other stage"),
        pytest.param("verify", {"option": "option_z"}, "verifying", id="not in a word that nobody knows"),
        pytest.param("newer\x1b", {}, "newer\ufffd", id="a stage of a newer daemon by its own name"),
    ],
)
def test_what_a_stage_is_called(stage: str, data: dict[str, Any], name: str) -> None:
    assert stage_name({"stage": stage, "data": data}) == name


@pytest.mark.parametrize(
    ("status", "data", "detail", "said"),
    [
        pytest.param(
            "complete", {"complexity": "simple", "confidence": 0.5, "score": 0.9}, "d", "SIMPLE (0.50)", id="how hard"
        ),
        pytest.param("complete", {"complexity": "simple", "score": 0.9}, "", "SIMPLE (0.90)", id="by its score else"),
        pytest.param("failed", {"complexity": "simple"}, "no answer", "FAILED: no answer", id="not where it failed"),
        pytest.param("retry", {"verdict": "fail", "score": 0.25}, "d", "FAIL (0.25)", id="a verdict before the retry"),
        pytest.param("retry", {"overall_score": 0.25}, "d", "RETRY (0.25)", id="a retry before its sentence"),
        pytest.param("retry", {"overall_score": 0.25, "score": 0.5}, "", "RETRY (0.50)", id="its own score first"),
        pytest.param("complete", {}, "d" * 200, "d" * 159 + "…", id="of a long sentence two lines of a terminal"),
        pytest.param("failed", {"score": 0.25}, "", "FAILED (0.25)", id="a failure with its score"),
        pytest.param("complete", {"subgoals": 3}, "found it", "found it", id="its own sentence before its counts"),
        pytest.param("complete", {"subgoals": 1}, "", "1 subgoal", id="how many subgoals"),
        pytest.param("complete", {"subgoals": [1, 2]}, "", "2 subgoals", id="or as many as are listed"),
        pytest.param("complete", {"subgoals": True}, "", "done", id="what is no number is none"),
        pytest.param("complete", {"chunks": {"code": 2, "reas": 1}}, "", "code: 2, reas: 1", id="what memory gave"),
        pytest.param("complete", {"chunks": {}}, "", "nothing", id="that it gave nothing"),
        pytest.param("skipped", {}, "", "skipped", id="that it was skipped"),
        pytest.param("complete", {}, "", "done", id="that it is done"),
    ],
)
def test_what_a_stage_came_to(status: str, data: dict[str, Any], detail: str, said: str) -> None:
    assert outcome({"status": status, "data": data, "detail": detail}) == said


@pytest.mark.parametrize(
    ("notice", "line"),
    [
        ({"stage": "assess", "status": "in_progress"}, None),
        ({"stage": "done", "status": "complete"}, None),
        ({"stage": "assess", "status": "skipped"}, "aurora: assessing complexity... skipped"),
    ],
)
def test_only_what_is_over_has_a_line(notice: dict[str, Any], line: str | None) -> None:
    assert stage_line(notice) == line


@pytest.mark.parametrize(
    ("stage", "data", "lines"),
    [
        pytest.param(
            "assess",
            {"keywords": ["a", "b"], "score": 0.5},
            ["keywords: [a, b] → score: 0.50"],
            id="keywords with the score, once",
        ),
        pytest.param("assess", {"keywords": ["a"]}, ["keywords: [a]"], id="keywords without one"),
        pytest.param(
            "decompose",
            {"subgoals": [{"id": "SG1"}], "plan": [{"description": "Read it", "agent": "coder"}]},
            ['subgoal 1: "Read it" → coder'],
            id="the plan stands for its subgoals",
        ),
        pytest.param(
            "verify",
            {"checks": {"is_true": 0.5}, "score": 0.7, "verdict": "pass", "option": "option_a", "by": "x", "of": "y"},
            ["is true: 0.50", "overall: 0.70 → PASS"],
            id="checks, then the sum; what the line above says is not said again",
        ),
        pytest.param(
            "retrieve", {"used": True, "none": None, "empty": ""}, ["used: yes"], id="what is not known is left out"
        ),
        pytest.param(
            "collect",
            {"found": [{"name": "n", "id": "a", "text": "t", "description": "d", "agent_id": "y", "agent": "x"}]},
            ["found:", '  a: "d" → x'],
            id="one of several by its id, what is to be done, and who does it",
        ),
        pytest.param(
            "collect",
            {
                "found": [
                    {"name": "n", "subgoal_id": "SG1", "text": "t", "agent_id": "y", "cost": 0.5, "deep": {"b": 1}}
                ]
            },
            ["found:", '  SG1: "t" → y cost 0.50'],
            id="else by its subgoal, its text and its agent's id, then what else is said of it in a word",
        ),
        pytest.param(
            "collect",
            {"a": {"b": {"c": {"d": {"e": 1}}}}},
            ["a:", "  b:"],
            id="two levels are opened",
        ),
    ],
)
def test_what_a_stage_found(stage: str, data: dict[str, Any], lines: list[str]) -> None:
    assert stage_details({"stage": stage, "data": data}) == [f"  {line}" for line in lines]


def test_of_what_a_stage_found_forty_lines_are_shown() -> None:
    found = stage_details({"stage": "collect", "data": {f"n{n}": n for n in range(50)}})
    assert (len(found), found[0], found[-1]) == (40, "  n0: 0", "  n39: 39")


@pytest.mark.parametrize(
    ("result", "verbose", "line"),
    [
        ({"state": "complete", "score": 0.5}, False, "aurora: done (score: 0.50)"),
        ({"state": "complete", "score": 0.0, "cached": True}, True, "aurora: done (score: 0.00, cached: yes)"),
        ({"state": "partial"}, False, "aurora: done, in part"),
        ({"state": "dry_run"}, True, "aurora: dry run (cached: no)"),
        ({"state": "of a newer daemon"}, False, "aurora: done"),
    ],
)
def test_how_a_run_ended_is_the_last_line(result: dict[str, Any], verbose: bool, line: str) -> None:
    assert done_line(result, verbose=verbose) == line


@pytest.mark.parametrize(
    ("result", "said"),
    [
        pytest.param({"calls": 0, "cost_usd": 0.5}, "no model asked, no cost", id="without a call"),
        pytest.param({"calls": 2, "cost_usd": 0.5}, "$0.5000", id="of calls with a price"),
        pytest.param(
            {"calls": 2, "cost_usd": 0.5, "counted_usd": 0.75, "unpriced_calls": 1},
            "$0.5000 and 1 call of unknown price (limits count $0.2500 for that)",
            id="what is known, then what is not",
        ),
        pytest.param(
            {"calls": 2, "counted_usd": 0.75, "unpriced_calls": 2},
            "2 calls of unknown price (limits count $0.7500 for that)",
            id="no price of none",
        ),
        pytest.param(
            {"calls": 1, "cost_usd": 0.5, "counted_usd": 0.25, "unpriced_calls": 1},
            "1 call of unknown price (limits count $0.0000 for that)",
            id="never less than nothing",
        ),
    ],
)
def test_what_a_run_cost(result: dict[str, Any], said: str) -> None:
    assert cost(result) == said


def test_the_weakest_check_is_told_with_the_first_of_its_issues() -> None:
    checks = [
        {"name": "is_true", "score": 0.5, "issues": ["x" * 90, "second"]},
        {"name": "unknown", "score": None},
        {"name": "is_whole", "score": 0.75, "issues": []},
    ]
    line = sure_line({"score": 0.7, "confidence": 0.6, "checks": checks, "took_ms": 3.0})
    assert (
        line == f"score 0.70 · confidence 0.60 · weakest: is true 0.50 ({'x' * 79}…) · no model asked, no cost · 3 ms"
    )
    assert sure_line({"checks": [], "took_ms": None}) == "no model asked, no cost · 0.0 ms"


def test_claims_come_with_what_they_rest_on_and_those_that_rest_on_nothing_last() -> None:
    claims = [{"text": "a", "sources": ["x", "y"]}, {"text": "b", "sources": []}]
    assert claim_lines({"claims": claims, "untraced": ["c"]}) == [
        "  - a  [x, y]",
        "  - b  [no source]",
        "  ? c  [no source]",
    ]


@pytest.mark.parametrize(
    ("result", "line"),
    [
        ({"reasoning_id": "reas:a", "runs": 1}, "kept as: reas:a"),
        ({"reasoning_id": "reas:a", "runs": 2}, "kept as: reas:a (with 1 run like it)"),
        ({"reasoning_id": "reas:a", "tokens": {"total": 0, "input": 0}}, "kept as: reas:a"),
        ({"reasoning_id": "reas:a", "runs": 3}, "kept as: reas:a (with 2 runs like it)"),
        ({"estimated_usd": 0.5, "calls": 1, "cost_usd": 0.25}, "cost: $0.2500; $0.5000 were expected"),
        ({"tokens": {"total": 3, "input": 2}, "calls": 1}, "tokens: 3 (2 in, 0 out, 0 cached) in 1 call"),
    ],
)
def test_what_is_told_at_the_end(result: dict[str, Any], line: str) -> None:
    assert detail_lines(result) == [line]


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ('{"hook_event_name": "UserPromptSubmit", "prompt": "why"}', "why"),
        ('{"prompt": "why"}', '{"prompt": "why"}'),
        ('{"hook_event_name": "x", "prompt": 1}', '{"hook_event_name": "x", "prompt": 1}'),
        ("[1]", "[1]"),
        ("why", "why"),
    ],
)
def test_only_a_hooks_payload_is_read_for_its_prompt(text: str, prompt: str) -> None:
    assert prompt_of(text) == prompt


def test_of_what_memory_gave_forty_are_told_and_one_without_activation_has_none() -> None:
    sources = [{"id": f"c{n}", "score": 0.5, "activation": None if n == 0 else 1.5} for n in range(41)]
    told = detail_lines({"sources": sources})
    assert told[:3] == ["from memory:", "  c0  score 0.50, activation 0.00", "  c1  score 0.50, activation 1.50"]
    assert len([line for line in told if line.startswith("  c")]) == 40
