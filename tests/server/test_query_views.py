"""A run in the terminal: quiet, `-v`, `-vv`, `--json`, piped and live (AURORA §9.5)."""

from __future__ import annotations

import io
import json
import os
import pty
from typing import Any

import msgspec
import pytest

from aurora_cli.global_options import GlobalOptions
from aurora_cli.query import exit_code_of, run_view
from aurora_cli.query_view import sure_line
from aurora_orchestration.soar.stages import Stage
from aurora_server.workspace.query_documents import notice_of, result_of
from tests.orchestration.runs import ANSWER, run, verification

STAGES = (
    Stage(stage="assess", status="in_progress", progress=0.05),
    Stage(
        stage="assess",
        status="complete",
        data={"complexity": "complex", "confidence": 0.82, "keywords": ["auth", "implement"]},
        progress=0.1,
        elapsed_ms=40.0,
    ),
    Stage(stage="retrieve", status="complete", data={"chunks": {"code": 5, "reas": 2}}, progress=0.2),
    Stage(
        stage="decompose",
        status="complete",
        data={"subgoals": [{"id": "SG1", "description": "Research OAuth providers", "agent": "research-agent"}]},
        progress=0.3,
        cost_usd=0.004,
    ),
    Stage(stage="verify", status="retry", data={"option": "option_b", "score": 0.61}, progress=0.4),
    Stage(
        stage="verify",
        status="complete",
        data={"option": "option_b", "verdict": "pass", "score": 0.85, "checks": {"completeness": 0.9}},
        progress=0.5,
    ),
    Stage(stage="done", status="complete", progress=1.0),
)


def wire(message: Any) -> Any:
    """A message as it comes over the wire."""
    return msgspec.json.decode(msgspec.json.encode(message))


def shown(*, record: Any = None, stages: bool = True, **options: Any) -> tuple[str, str, int]:
    """Standard output, standard error and the exit code, both piped."""
    out, err = io.StringIO(), io.StringIO()
    with run_view(GlobalOptions(**options), out=out, err=err) as view:
        for stage in STAGES if stages else ():
            view.stage(wire(notice_of(stage)))
        code = view.finish(wire(result_of(record or run())))
    return out.getvalue(), err.getvalue(), code


def test_quiet_is_the_answer_and_one_line() -> None:
    assert shown() == (f"{ANSWER}\naurora: done (score: 0.93)\n", "", 0)


def test_v_tells_stages_and_scores() -> None:
    said, err, _ = shown(verbosity=1)
    assert said.splitlines()[:5] == [
        "aurora: assessing complexity... COMPLEX (0.82)",
        "aurora: retrieving context... code: 5, reas: 2",
        "aurora: decomposing... 1 subgoal",
        "aurora: verifying (adversarial)... RETRY (0.61)",
        "aurora: verifying (adversarial)... PASS (0.85)",
    ]
    assert said.endswith("aurora: done (score: 0.93, cached: yes)\n") and err == ""
    assert "  - login goes through OAuthClient  [src/auth.py:41, SG2]\n" in said
    assert "score 0.93 · confidence 0.88 · weakest: calibrated 0.90 · $0.0100 · 12.8 s" in said
    assert "\x1b" not in said


def test_vv_tells_everything() -> None:
    said, _, _ = shown(verbosity=2)
    for line in (
        "  keywords: [auth, implement]",
        "  chunks: code 5, reas 2",
        '  SG1: "Research OAuth providers" → research-agent',
        "  completeness: 0.90",
        "  addresses_query: 0.95",
        "  code:src/auth.py:login:41-60  score 0.90, activation 0.80",
        "  COLLECT (Agents)             6.0 s   46.9 %  1.8 s in models",
        "tokens: 6,000 (4,500 in, 1,000 out, 500 cached) in 5 calls",
        "kept as: reas:oauth2-login",
    ):
        assert line in said, line
    assert "12.8 s  7.2 s in models · 4.0 s in agents · 1.6 s of our own" in said


def test_json_is_one_object_per_stage_and_the_whole_result_last() -> None:
    said, err, code = shown(json=True)
    lines = [json.loads(line) for line in said.splitlines()]
    assert [(each["stage"], each["status"]) for each in lines] == [
        ("assess", "in_progress"),
        ("assess", "complete"),
        ("retrieve", "complete"),
        ("decompose", "complete"),
        ("verify", "retry"),
        ("verify", "complete"),
        ("done", "complete"),
    ]
    assert lines[1]["complexity"] == "complex" and lines[1]["confidence"] == 0.82
    assert lines[2]["chunks"] == {"code": 5, "reas": 2} and lines[5]["verdict"] == "pass"
    last = lines[-1]
    assert (last["final_score"], last["cached"], last["answer"]) == (0.93, True, ANSWER)
    assert last["cost_usd"] == 0.01 and last["took_ms"] == 12_800 and last["reasoning_id"] == "reas:oauth2-login"
    assert last["timing"]["phases"][3] | {"calls": 1} == {
        "phase": "DECOMPOSE",
        "duration_ms": 2000.0,
        "percentage": 15.6,
        "llm_ms": 1900.0,
        "own_ms": 100.0,
        "calls": 1,
    }
    assert last["trace"][1]["phase"] == "assess" and last["trace"][1]["output"]["confidence"] == 0.87
    assert (err, code) == ("", 0)


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("complete", 0),
        ("partial", 0),
        ("dry_run", 0),
        ("failed", 1),
        ("no_provider", 1),
        ("blocked", 4),
        ("cancelled", 130),
        ("interrupted", 130),
    ],
)
def test_how_a_run_ended_is_the_exit_code(state: Any, code: int) -> None:
    assert exit_code_of(wire(result_of(run(state=state)))) == code


def test_what_went_wrong_and_notices_go_to_standard_error() -> None:
    record = run(
        state="no_provider",
        answer="",
        score=None,
        learned=None,
        error="no model; aurora config set …",
        notices=("n 1",),
    )
    assert shown(record=record, stages=False) == (
        "aurora: no model\n",
        "aurora: n 1\naurora: no model; aurora config set …\n",
        1,
    )


def test_why_the_answer_is_not_surer_is_said_with_its_weakest_check() -> None:
    synthesis = run().synthesis
    assert synthesis is not None
    weak = msgspec.structs.replace(synthesis, verification=verification(0.7, weakest=0.5, traceable=0.9))
    said = sure_line(wire(result_of(run(synthesis=weak, score=0.7))))
    assert "weakest: calibrated 0.50 (says 'always' where one file was read)" in said


def test_an_answer_from_memory_says_that_it_cost_nothing() -> None:
    assert "no model asked, no cost" in sure_line(wire(result_of(run(calls=()))))


def test_what_a_model_said_cannot_command_the_terminal() -> None:
    evil = "safe\x1b]0;title\x07\x1b[2J\u202e"
    stage = Stage(stage="collect", status="complete", detail=evil, data={evil: [evil, {evil: evil}]})
    out, err = io.StringIO(), io.StringIO()
    with run_view(GlobalOptions(verbosity=2), out=out, err=err) as view:
        view.stage(wire(notice_of(stage)))
        view.finish(wire(result_of(run(answer=evil, error=evil, notices=(evil,)))))
    for text in (out.getvalue(), err.getvalue()):
        assert "safe" in text and not {"\x1b", "\x07", "\u202e"} & set(text)


def everything(reader: int) -> str:
    """All that was written to a terminal that is closed by now."""
    found = b""
    try:
        while part := os.read(reader, 4096):
            found += part
    except OSError:  # how Linux says that a terminal has ended
        pass
    os.close(reader)
    return found.decode()


def test_on_a_terminal_stages_are_shown_live_and_the_answer_is_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "90")
    reader, writer = pty.openpty()
    with (
        os.fdopen(writer, "w", encoding="utf-8") as terminal,
        run_view(GlobalOptions(), out=terminal, err=terminal) as view,
    ):
        for stage in STAGES:
            view.stage(wire(notice_of(stage)))
        with view.paused():
            terminal.write("Which provider? ")
        view.finish(wire(result_of(run())))
    said = everything(reader)
    assert "✓ assessing complexity · COMPLEX (0.82)" in said and "↻ verifying (adversarial) · RETRY (0.61)" in said
    assert "• " in said and "- tokens" not in said and "tokens are refreshed" in said, "Markdown is laid out"
    assert "login goes through OAuthClient" in said and "score 0.93 · confidence 0.88" in said
    assert "done (score: 0.93)" in said
