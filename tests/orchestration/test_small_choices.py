"""Small choices of orchestration, a rule each: what a retry is told, what a log keeps, which file is an agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aurora_deliverables.detection.issues import read_issues
from aurora_deliverables.transitions import was_under_way
from aurora_orchestration.agents.executors.git_guard import _closed
from aurora_orchestration.agents.formats.markdown import _front_matter, _parted, _tools
from aurora_orchestration.agents.formats.mcp_servers import server_named
from aurora_orchestration.conversations import log_sanitizer
from aurora_orchestration.conversations.log_sanitizer import clean, json_text, quoted, sentence, text
from aurora_orchestration.settings import ScoringSettings
from aurora_orchestration.soar.feedback import MOST_ISSUES, feedback_for
from aurora_orchestration.soar.phase_log import MAX_ITEMS, MAX_TEXT, plain
from aurora_orchestration.soar.prompt_format import MOST_CHARACTERS, outside
from aurora_orchestration.types import Check, Verification

# Feedback


def judged(verdict: Any = "retry", critical: tuple[str, ...] = (), **checks: Check) -> Verification:
    suggestions = ("Read the configuration file first.", "Name the failing test.")
    return Verification(
        checks=checks, overall_score=0.5, verdict=verdict, critical_issues=critical, suggestions=suggestions
    )


def check(score: float, *issues: str, detail: str = "", passed: bool = False) -> Check:
    return Check(score=score, passed=passed, detail=detail, issues=issues)


@pytest.mark.parametrize(
    ("verdict", "told"),
    [
        pytest.param(judged(a=check(0.6, "x"), b=check(0.2, "y")), ["y", "x"], id="the worst check first"),
        pytest.param(judged(b=check(0.2, "y"), a=check(0.2, "x")), ["x", "y"], id="of two as bad by name"),
        pytest.param(judged(a=check(0.2, "x", detail="d")), ["x"], id="a check's issues"),
        pytest.param(judged(a=check(0.2, detail="d")), ["d"], id="else its detail"),
        pytest.param(judged(a=check(0.9, detail="d", passed=True)), [], id="unless it passed"),
        pytest.param(judged("retry", ("x", "z"), a=check(0.2, "x")), ["x", "z"], id="what is critical, once"),
        pytest.param(judged(a=check(0.1, *"abcdefghijklmn")), list("abcdefghijkl"), id=f"{MOST_ISSUES} at most"),
    ],
)
def test_what_a_retry_is_told(verdict: Verification, told: list[str]) -> None:
    assert [each.issue for each in feedback_for(verdict, "synthesis", 1, ScoringSettings()).issues] == told


@pytest.mark.parametrize(
    ("verdict", "attempt", "says", "escalates"),
    [
        pytest.param("retry", 2, "Mend every issue listed", False, id="to mend what is fair"),
        pytest.param("fail", 2, "begin again in a different way", False, id="and to begin anew where it is not"),
        pytest.param("retry", 3, "Mend every issue listed", True, id="and one more than there may be is too many"),
    ],
)
def test_how_a_retry_is_told(verdict: str, attempt: int, says: str, escalates: bool) -> None:
    found = feedback_for(
        judged(verdict, a=check(0.2, "a.", "b.", "c", "d")), "decomposition", attempt, ScoringSettings()
    )
    assert says in found.instruction and "because: a; b; c." in found.instruction, "the three worst"
    assert found.escalate is escalates


def test_a_suggestion_goes_with_the_issue_that_speaks_of_the_same() -> None:
    issues = ("The failing test is not named.", "It is too short.")
    found = feedback_for(judged(a=check(0.2, *issues)), "agent_output", 1, ScoringSettings())
    assert [each.suggestion for each in found.issues] == ["Name the failing test.", ""]


# Logs


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        pytest.param({"api_key": "hunter2"}, {"api_key": "[REDACTED]"}, id="a text that is called a secret"),
        pytest.param({"tokens": 5, "api_key": ""}, {"tokens": 5, "api_key": ""}, id="not a number, nor nothing"),
        pytest.param(float("inf"), None, id="what JSON has no number for"),
        pytest.param(("a", {"b"}), ["a", ["b"]], id="any list as one"),
        pytest.param(Path("/w"), "/w", id="what is nothing of JSON as its text"),
    ],
)
def test_what_a_log_keeps_of_a_value(given: Any, kept: Any) -> None:
    assert clean(given) == kept


def test_what_people_were_asked_is_left_out_where_that_is_asked_for() -> None:
    given = {"user_interactions": ["x"], "a": {"user_interactions": ["y"]}}
    assert clean(given, interactions=False) == {"a": {}} and clean(given) == given


@pytest.mark.parametrize(("more", "left_out"), [(0, False), (1, True)])
def test_of_too_many_items_it_is_said_how_many_are_left_out(
    more: int, left_out: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_sanitizer, "MAX_ITEMS", 2)
    assert clean(list(range(2 + more))) == [0, 1, *(["… 1 more left out"] if left_out else [])]
    assert len(clean({str(n): n for n in range(2 + more)})) == 2 + left_out


def test_a_text_is_cut_where_it_is_longer_and_that_is_said() -> None:
    assert text("a " * 50, 100) == "a " * 50
    assert text("a " * 51, 100) == "a " * 50 + "… (2 characters left out)"


def test_a_block_that_is_too_large_has_its_texts_cut_and_then_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_sanitizer, "MAX_BLOCK", 3_000)
    assert '"left_out"' not in json_text({"a": "b " * 1_400})
    assert "characters left out" in json_text({"a": "b " * 9_000})
    assert '"left_out": "about' in json_text(["b " * 9_000] * 3)


def test_nothing_in_a_quotation_or_a_sentence_is_unseen_or_a_line_of_its_own() -> None:
    assert quoted("# a\n\nb\u200b") == "> # a\n>\n> b\ufffd"
    assert sentence("a\n b\u202e") == "a b\ufffd"


# Agents in files


@pytest.mark.parametrize(
    ("written", "front", "rest"),
    [
        ("---\na: 1\n---\nb", "a: 1", "b"),
        ("--- \na: 1\n--- \nb", "a: 1", "b"),
        ("a\n---\nb\n---\nc", None, "a\n---\nb\n---\nc"),
        ("---\na: 1", None, "---\na: 1"),
    ],
)
def test_what_stands_between_dashes_at_the_beginning_is_about_an_agent(
    written: str, front: str | None, rest: str
) -> None:
    assert _parted(written) == (front, rest)


@pytest.mark.parametrize(
    ("front", "told"),
    [
        pytest.param("description: Use when: asked", {"description": "Use when: asked"}, id="a colon is no mistake"),
        pytest.param("a: 'b: c' d\n  e: f", {"a": "b: c' d"}, id="nor is what lies deeper read then"),
        pytest.param("- a", None, id="a list has no names"),
        pytest.param("1: a", {"1": "a"}, id="a number is a name"),
    ],
)
def test_what_front_matter_tells(front: str, told: dict[str, str] | None) -> None:
    assert _front_matter(front) == told


@pytest.mark.parametrize(
    ("told", "tools"),
    [
        ("Read, Grep,", ("Read", "Grep")),
        ({"write": False, "read": True}, ("read",)),
        (["Read", 5, " "], ("Read",)),
        (None, ()),
    ],
)
def test_which_tools_an_agent_has(told: Any, tools: tuple[str, ...]) -> None:
    assert _tools(told) == tools


@pytest.mark.parametrize(
    ("servers", "found"),
    [
        pytest.param('"a": {"command": "x"}, "b": {"command": "y"}', "y", id="the one of that name"),
        pytest.param('"a": {"command": "x"}', "x", id="else the only one"),
        pytest.param('"a": {"command": "x"}, "c": {"command": "z"}', None, id="of several none"),
        pytest.param('"b": {"command": 5}', None, id="nor one that cannot be read"),
    ],
)
def test_which_server_is_meant(tmp_path: Path, servers: str, found: str | None) -> None:
    (tmp_path / "mcp.json").write_text(f'{{"mcpServers": {{{servers}}}}}')
    server = server_named(tmp_path / "mcp.json", "b")
    assert (server.command if server else None) == found


# Deliverables


@pytest.mark.parametrize(
    ("at", "took", "end", "counts"),
    [
        pytest.param(112.0, 10.0, 100.0, True, id="that it had begun by then, with the time to tell of it"),
        pytest.param(112.1, 10.0, 100.0, False, id="not that it began after"),
        pytest.param(101.0, None, 100.0, False, id="nor where nobody knows how long it took"),
    ],
)
def test_a_call_that_ended_its_deliverable_is_told_by(at: float, took: float | None, end: float, counts: bool) -> None:
    assert was_under_way(at, took, end) is counts


ISSUE: dict[str, Any] = {"number": 5, "title": "t", "body": "", "createdAt": "2026-02-26T10:00:00Z"}


@pytest.mark.parametrize(
    ("more", "fields"),
    [
        pytest.param(
            {"state": "closed", "state_reason": "duplicate"}, {"withdrawn": True, "closed": "duplicate"}, id="duplicate"
        ),
        pytest.param(
            {"state": "closed"}, {"withdrawn": False, "closed": "completed"}, id="done, where no reason is told"
        ),
        pytest.param(
            {"state": "open", "state_reason": "reopened"}, {"reopened": True, "closed": None}, id="open again"
        ),
        pytest.param(
            {"state": "open", "closedAt": "2026-02-26T12:00:00Z"}, {"closed_at": None}, id="open is not closed"
        ),
        pytest.param(
            {"type": {"name": "Bug"}, "labels": ["kind/feature"]}, {"type": "bugfix"}, id="its type before labels"
        ),
        pytest.param(
            {"labels": [{"name": "kind/feature"}, "type: bug"]}, {"type": "feature"}, id="the first that tells"
        ),
        pytest.param({"html_url": "https://github.com/a/b/issues/5"}, {"spec_id": "a/b#5"}, id="where it is"),
        pytest.param(
            {"state": "closed", "state_reason": "not_planned", "stateReason": "COMPLETED"},
            {"closed": "not planned"},
            id="of two spellings that of the API",
        ),
        pytest.param(
            {"url": "https://api.github.com/repos/a/b/issues/5"}, {"spec_id": "a/b#5"}, id="by either address"
        ),
        pytest.param({}, {"spec_id": "#5"}, id="or by its number alone"),
    ],
)
def test_what_an_issue_of_github_tells(more: dict[str, Any], fields: dict[str, Any]) -> None:
    ticket = read_issues({**ISSUE, "state": "open", **more}, 2e9).tickets[0]
    assert {name: getattr(ticket, name) for name in fields} == fields


def test_where_an_issue_is_and_that_it_is_open_again_is_told_by_the_message_before_the_issue() -> None:
    issue = {**ISSUE, "state": "open", "html_url": "https://github.com/a/b/issues/5"}
    message = {"action": "reopened", "issue": issue, "repository": {"full_name": "new/home"}}
    ticket = read_issues(message, 2e9).tickets[0]
    assert (ticket.spec_id, ticket.reopened) == ("new/home#5", True)


# Prompts


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param(float("nan"), None, id="what JSON has no number for"),
        pytest.param(float("-inf"), None, id="of any kind"),
        pytest.param((1.5, {"a": True}), [1.5, {"a": True}], id="what it has as it is"),
        pytest.param("x" * MOST_CHARACTERS, "x" * MOST_CHARACTERS, id="a text in full, up to a size"),
        pytest.param("x" * (MOST_CHARACTERS + 1), "x" * MOST_CHARACTERS + " … [cut]", id="and cut, which is said"),
        pytest.param({"half \ud800": 1}, {"half ?": 1}, id="half a character as none"),
    ],
)
def test_how_what_is_from_outside_stands_in_a_prompt(value: Any, shown: Any) -> None:
    assert outside(value) == shown
    json.dumps(outside(value), allow_nan=False)


# Logs of phases, remotes


def test_of_long_values_a_log_keeps_the_first_items() -> None:
    assert plain(list(range(MAX_ITEMS + 1))) == list(range(MAX_ITEMS))
    assert list(plain(dict.fromkeys(range(MAX_ITEMS + 1), "x"))) == [str(each) for each in range(MAX_ITEMS)]
    assert plain("x" * (MAX_TEXT + 1)) == f"{'x' * MAX_TEXT}… ({MAX_TEXT + 1} characters)"


def test_of_many_remotes_the_first_twenty_are_closed(tmp_path: Path) -> None:
    addresses = [f"https://forge.example/{number}" for number in range(21)]
    assert _closed(tmp_path, addresses) == tuple(addresses[:20])
