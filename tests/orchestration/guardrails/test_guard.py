"""Phase 0: what a question may hold, and the trail of what was taken out of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from aurora_orchestration.guardrails.audit import Audit, guard_noted
from aurora_orchestration.guardrails.blocked import QuestionBlocked
from aurora_orchestration.guardrails.guard import Held, guard
from aurora_orchestration.settings import GuardrailSettings
from tests.programs import CODE, start
from tests.wait_limits import HANG

USUAL = GuardrailSettings()
MAIL = "What's the authentication bug? My email is john@example.com"
KEY = "why does ghp_abcdefghij0123456789abcdefghij012345 not work"


def test_what_is_personal_is_redacted_and_said() -> None:
    guarded = guard(MAIL, USUAL)
    assert guarded.query == "What's the authentication bug? My email is [REDACTED]"
    assert [(each.kind, each.count) for each in guarded.redactions] == [("email", 1)]
    assert guarded.notices == ("redacted from the question: 1 email address",)
    assert guard("where is login", USUAL).notices == ()


def test_settings_say_whether_it_is_redacted_rejected_or_left() -> None:
    with pytest.raises(Held, match="1 email address") as raised:
        guard(MAIL, GuardrailSettings(pii="reject"))
    assert raised.value.reason == "pii" and "john" not in str(raised.value)
    assert guard(MAIL, GuardrailSettings(pii="off")).query == MAIL
    with pytest.raises(Held) as raised:
        guard(KEY, GuardrailSettings(secrets="reject"))
    assert raised.value.reason == "secret" and "ghp_" not in str(raised.value)
    off = GuardrailSettings(enabled=False, pii="reject", secrets="reject", max_query_length=3)
    assert guard(MAIL, off).query == MAIL
    assert guard(KEY, off).query == "why does [REDACTED] not work", "secrets are never sent"


@pytest.mark.parametrize(
    ("query", "reason", "said"),
    [
        ("x" * 10_001, "length", "10,001 characters"),
        ("a\ud800b", "encoding", "U+D800 at character 2"),
        ("a\ufffe", "encoding", "U+FFFE"),
        ("a\U0010ffff", "encoding", "U+10FFFF"),
        ("a\x00b", "control", "a NUL"),
        ("a\x1b[31mb", "control", "U+001B in it, at character 2"),
        ("\x85", "control", "U+0085"),
        ("", "empty", "ask something"),
        (" \n\t ", "empty", "ask something"),
        ("\u200b\ufeff", "empty", "ask something"),
    ],
)
def test_what_is_no_question_is_refused_with_the_reason(query: str, reason: str, said: str) -> None:
    with pytest.raises(QuestionBlocked) as raised:
        guard(query, USUAL)
    assert said in str(raised.value) and raised.value.reason == reason and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("a\x00" * 6, "length"),  # how long it is before what is in it
        ("\ud800\x00", "encoding"),  # what can be no text before what ought not to be in one
        ("\x00", "control"),  # no question, but not an empty one
        (f"{MAIL[-16:]} {KEY[9:50]}", "secret"),  # keys before personal data
        (MAIL[-16:], "pii"),
    ],
)
def test_of_several_reasons_the_first_is_told(query: str, reason: str) -> None:
    limit = 10 if reason == "length" else 100
    with pytest.raises(QuestionBlocked) as raised:
        guard(query, GuardrailSettings(max_query_length=limit, pii="reject", secrets="reject"))
    assert raised.value.reason == reason


@pytest.mark.parametrize(
    ("pii", "secrets", "query", "held"),
    [
        ("redact", "reject", MAIL, False),  # each setting is for its own kind
        ("reject", "redact", KEY, False),
        ("off", "reject", f"{MAIL} {KEY}", True),
        ("redact", "reject", f"{MAIL} {KEY}", True),
        ("reject", "redact", f"{MAIL} {KEY}", True),
    ],
)
def test_a_question_is_held_back_for_what_the_setting_is_about(pii: str, secrets: str, query: str, held: bool) -> None:
    settings = replace(USUAL, pii=pii, secrets=secrets)
    if not held:
        assert guard(query, settings).redactions
        return
    with pytest.raises(Held) as raised:
        guard(query, settings)
    assert {each.kind for each in raised.value.found} == (
        {"github_token", "email"} if pii != "off" else {"github_token"}
    )
    told = {"secret": "1 github token;", "pii": "1 email address;"}[raised.value.reason]
    assert f"the question holds {told}" in str(raised.value), "what it is held back for, and no more"


@pytest.mark.parametrize(
    "bad", ["\ufffe", "\uffff", "\U0001fffe", "\U0008ffff", "\U0010fffe", "\ufdd0", "\ufdef", "\udfff"]
)
def test_what_is_no_character_is_refused_even_where_guardrails_are_off(bad: str) -> None:
    for settings in (USUAL, GuardrailSettings(enabled=False)):
        with pytest.raises(QuestionBlocked, match="not valid Unicode"):
            guard(f"a{bad}", settings)


@pytest.mark.parametrize(
    "good", ["\ufffd", "\ufdcf", "\ufdf0", "\U0001fffd", "\U00020000", "\U0010fffd", "\t", "\n", "\r", "\xa0"]
)
def test_its_neighbours_are_taken(good: str) -> None:
    assert guard(f"a{good}b", USUAL).query == f"a{good}b"


def test_ordinary_text_of_any_language_passes_as_it_is() -> None:
    for query in ("x" * 10_000, "a\tb\r\nc", "где вход? 登录在哪里 🧑‍💻 é", "a\ufffdb"):
        assert guard(query, USUAL).query == query


def test_characters_that_mislead_are_noted() -> None:
    assert "direction" in guard("delete \u202etxt.exe", USUAL).notices[0]
    assert "cannot be seen" in guard("a\U000e0041b", USUAL).notices[0]
    both = guard("delete \u202etxt.exe a\u200bb", USUAL).notices
    assert ["direction" in both[0], "cannot be seen" in both[1]] == [True, True], "of one that does both, both"


def test_the_trail_has_kinds_and_counts_and_no_values(tmp_path: Path) -> None:
    audit = Audit(tmp_path / "audit", lambda: 1_766_241_000.0)
    audit.passed("run-1", guard(f"{MAIL}, jane@example.com, {KEY}", USUAL))
    audit.passed("run-2", guard("where is login", USUAL))
    for settings in (GuardrailSettings(pii="reject"), GuardrailSettings(max_query_length=3)):
        with pytest.raises(QuestionBlocked) as raised:
            guard(MAIL, settings)
        audit.blocked("run-3", raised.value)
    first, second, third = map(json.loads, audit.path.read_text().splitlines())
    assert first == {
        "at": "2025-12-20T14:30:00Z",
        "run": "run-1",
        "action": "redacted",
        "found": {"github_token": 1, "email": 2},
    }
    assert (second["action"], second["reason"], second["found"]) == ("rejected", "pii", {"email": 1})
    assert third["reason"] == "length" and "found" not in third
    assert audit.path.stat().st_mode & 0o777 == 0o600 and audit.path.parent.stat().st_mode & 0o777 == 0o700


def test_two_processes_write_one_trail(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path\n"
        "from aurora_orchestration.guardrails import audit\n"
        "from aurora_orchestration.guardrails.blocked import QuestionBlocked\n"
        "audit.ROTATE_BYTES = 4000\n"
        "trail = audit.Audit(Path(sys.argv[1]), time.time)\n"
        "for n in range(60): trail.blocked(f'{sys.argv[2]}-{n}', QuestionBlocked('', 'empty'))\n"
    )
    started = [start([*CODE, code, str(tmp_path), name]) for name in "ab"]
    assert [each.wait(HANG) for each in started] == [0, 0]
    runs = [each.run for each in Audit(tmp_path, lambda: 0.0).entries()]
    assert sorted(runs) == sorted(f"{name}-{n}" for name in "ab" for n in range(60))
    assert (tmp_path / "guardrails.1.jsonl").exists()


def test_a_trail_keeps_its_last_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aurora_orchestration.guardrails.audit.ROTATE_BYTES", 1)
    audit = Audit(tmp_path, lambda: 0.0)
    for number in range(10):
        audit.blocked(f"run-{number}", QuestionBlocked("", "empty"))
    assert [each.run for each in audit.entries()] == [f"run-{number}" for number in range(4, 10)]


def test_what_was_redacted_is_said_before_that_it_could_not_be_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Audit, "_write", full)
    _, notices = guard_noted(MAIL, USUAL, tmp_path, "run-1", lambda: 0.0)
    assert "redacted from the question" in notices[0] and "No space left on device" in notices[1]
    with pytest.raises(Held):
        guard_noted(MAIL, replace(USUAL, pii="reject"), tmp_path, "run-1", lambda: 0.0)
    assert guard_noted(MAIL, replace(USUAL, audit=False), tmp_path, "run-1", lambda: 0.0)[1] == notices[:1]
