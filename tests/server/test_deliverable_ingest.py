"""`aurora deliverable ingest` of documents, issues and hooks, through a real daemon."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.documents import documents
from tests.server.daemons import Daemon
from tests.server.deliverables import aurora, told
from tests.wait_limits import HANG

STATE: dict[str, Any] = {
    "change_id": "add-search",
    "status": "executing",
    "started_at": "2026-02-26T09:00:00Z",
    "updated_at": "2026-02-26T09:35:00Z",
    "complexity": "moderate",
    "description": "Full-text search",
    "spec_source": {"framework": "openspec", "spec_id": "changes/add-search", "requirements_count": 6},
    "phases": {
        "propose": {"started_at": "2026-02-26T09:00:00Z", "completed_at": "2026-02-26T09:02:00Z"},
        "apply": {"started_at": "2026-02-26T09:12:00Z", "completed_at": None},
    },
    "current_phase": "apply",
    "tasks_total": 8,
    "tasks_completed": 4,
    "tool_calls": {"file_edit": 8, "Bash": 3},
    "tool_calls_total": 11,
    "recovery_attempts": 0,
    "apply_iterations": 1,
    "sessions": ["session-1"],
}
FINAL: dict[str, Any] = {
    "schema_version": "0.1.0",
    "change_id": "migrate",
    "started_at": "2026-02-25T14:00:00Z",
    "completed_at": "2026-02-25T16:30:00Z",
    "status": "failed",
    "metrics": {
        "resolution_latency_seconds": 9000,
        "phase_durations": {"propose": 120, "apply": 6600, "verify": 1200},
        "tool_calls": {"bash": 67, "total": 67},
        "apply_iterations": 6,
        "recovery_attempts": 5,
        "tasks_completed": 4,
        "tasks_total": 15,
        "conformance": {"functional": 0.27, "correctness": 0.4, "constraints": 0.5},
        "deliverable_failed": True,
        "failure_type": "infinite_loop",
        "token_usage": {"input_tokens": 850, "output_tokens": 620, "total_tokens": 1470, "estimated_cost_usd": 1.82},
        "human_interventions": 2,
    },
    "agent": {"name": "bot", "model": "m-1"},
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("aurora") / "home"
    with Daemon(folder):
        yield folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


def test_a_state_comes_out_as_it_went_in(home: Path, root: Path, tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_text(json.dumps(STATE, indent=2))
    told(home, root, "deliverable", "ingest", str(file))
    assert told(home, root, "deliverable", "show", "add-search") == STATE
    again = told(home, root, "deliverable", "ingest", str(file))
    assert again["accepted"] == 0, "what is known already is not counted twice"
    grown = {**STATE, "tool_calls": {"file_edit": 10, "Bash": 3}, "tool_calls_total": 13, "tasks_completed": 7}
    told(home, root, "deliverable", "ingest", given=json.dumps({**grown, "updated_at": "2026-02-26T09:40:00Z"}))
    state = told(home, root, "deliverable", "show")
    assert state["tool_calls"] == {"file_edit": 10, "Bash": 3} and state["tasks_completed"] == 7


def test_documents_may_stand_one_a_line(home: Path, root: Path) -> None:
    lines = [json.dumps({**FINAL, "change_id": name}) for name in ("one", "two")]
    taken = told(home, root, "deliverable", "ingest", given="\n".join(lines) + "\n")
    assert sorted(taken["change_ids"]) == ["one", "two"]
    broken = aurora(home, root, "deliverable", "ingest", given=lines[0] + "\n{")
    assert (broken.returncode, len(broken.stderr.splitlines())) == (2, 1)


def test_a_final_record_comes_out_as_it_went_in(home: Path, root: Path) -> None:
    told(home, root, "deliverable", "ingest", given=json.dumps(FINAL))
    out = told(home, root, "deliverable", "export", "migrate")
    assert out["metrics"] | {"conformance": None} == FINAL["metrics"] | {"conformance": None}
    assert out["metrics"]["conformance"] | FINAL["metrics"]["conformance"] == out["metrics"]["conformance"]
    assert out["metrics"]["conformance"]["iteration_penalty"] == pytest.approx(0.25)
    assert out["agent"] == FINAL["agent"] and out["completed_at"] == FINAL["completed_at"]
    assert told(home, root, "deliverable", "ingest", given=json.dumps(FINAL))["accepted"] == 0


def test_a_completed_record_that_failed_counts_as_failed_everywhere(home: Path, root: Path) -> None:
    metrics = {
        "recovery_attempts": 1,
        "apply_iterations": 2,
        "tool_calls": {"bash": 24, "total": 45},
        "deliverable_failed": True,
        "failure_type": "regression",
        "token_usage": {"total_tokens": 500, "estimated_cost_usd": 0.3},
    }
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    record = {**FINAL, "started_at": now, "completed_at": now, "status": "completed", "metrics": metrics}
    told(home, root, "deliverable", "ingest", given=json.dumps(record))
    out = told(home, root, "deliverable", "export", "migrate")["metrics"]
    assert {name: out[name] for name in metrics} == metrics
    measured = told(home, root, "metrics")
    values = {name: measure["value"] for name, measure in measured["metrics"].items()}
    assert (values["deliverable_failure_rate"], values["feature_throughput"]) == (100.0, 0.0)
    assert (values["recovery_efficiency"], values["resolution_latency"]) == (None, None)
    report = told(home, root, "report", "daily")
    assert (report["deliverables"]["completed"], report["deliverables"]["failed"]) == (0, 1)
    shown = aurora(home, root, "report", "daily").stdout
    assert "completed, failed: regression" in shown and "500 tokens, $0.30" in shown
    listed = aurora(home, root, "deliverable", "show", "migrate").stdout
    assert "45: bash 24" in listed and "500 · $0.30" in listed


@pytest.mark.parametrize(
    "document",
    [each for name in ("deliverable-state", "metrics-output") for each in documents(name)],
    ids=lambda each: each["change_id"],
)
def test_documents_of_another_tool_are_taken_in_and_reproduced(
    home: Path, root: Path, document: dict[str, Any]
) -> None:
    document = dict(document)
    told(home, root, "deliverable", "ingest", given=json.dumps(document))
    out = told(home, root, "deliverable", "export", document["change_id"])
    given, derived = dict(document.pop("metrics", {})), out.pop("metrics", {})
    assert document == {key: out.get(key) for key in document}
    scores = given.pop("conformance", {})
    assert given == {key: derived.get(key) for key in given}
    for dimension, score in scores.items():
        assert derived["conformance"][dimension] == pytest.approx(score, abs=0.005), dimension


def test_issues_are_taken_in(home: Path, root: Path) -> None:
    issue = {
        "number": 12,
        "title": "Login fails",
        "body": "- [x] reproduce\n- [ ] fix",
        "state": "OPEN",
        "createdAt": "2026-02-26T09:00:00Z",
        "updatedAt": "2026-02-26T10:00:00Z",
        "url": "https://github.com/me/shop/issues/12",
    }
    reply = told(home, root, "deliverable", "ingest", given=json.dumps(issue))
    (change,) = reply["change_ids"]
    assert told(home, root, "deliverable", "show", change)["spec_source"]["requirements_count"] == 2


def test_an_issue_that_is_opened_again_stays_completed_and_says_so(home: Path, root: Path) -> None:
    def issue(updated: str, **more: Any) -> str:
        given = {"number": 12, "title": "Login", "body": "- [x] fix", "created_at": "2026-02-19T09:00:00Z"}
        return json.dumps({**given, "updated_at": updated, **more})

    first = issue("2026-02-20T09:00:00Z", state="closed", closed_at="2026-02-20T09:00:00Z")
    again = issue("2026-02-21T09:00:00Z", state="open", state_reason="reopened", closed_at=None)
    last = issue("2026-02-22T09:00:00Z", state="closed", state_reason="completed", closed_at="2026-02-22T09:00:00Z")
    stays = "it stays completed here, as it ended on 2026-02-20T09:00:00Z"
    reopened = f"aurora: issue-12 was reopened; {stays}; work after that needs a deliverable of its own\n"
    closed = f"aurora: issue-12 was closed as completed on 2026-02-22T09:00:00Z; {stays}\n"
    for given, note in ((first, ""), (first, ""), (again, reopened), (last, closed), (last, closed)):
        done = aurora(home, root, "deliverable", "ingest", given=given)
        assert (done.returncode, done.stderr) == (0, note), done.stdout
        assert "refused" not in done.stdout
    assert told(home, root, "deliverable", "export", "issue-12")["completed_at"] == "2026-02-20T09:00:00Z"


def test_pull_requests_in_a_list_of_issues_are_left_out_and_counted(home: Path, root: Path) -> None:
    pull = {"number": 3, "title": "Search", "state": "closed", "pull_request": {"merged_at": None}}
    issue = {"number": 4, "title": "Search", "state": "open", "created_at": "2026-02-26T09:00:00Z"}
    done = aurora(home, root, "deliverable", "ingest", given=json.dumps([pull, pull, issue]))
    assert (done.returncode, done.stdout) == (0, "2 events taken: issue-4\n")
    assert done.stderr == "aurora: 2 pull requests are left out: only issues are deliverables\n"
    assert [each["change_id"] for each in told(home, root, "deliverable", "list")["deliverables"]] == ["issue-4"]


def test_a_row_whose_time_cannot_be_read_is_refused_and_the_others_are_taken(home: Path, root: Path) -> None:
    rows = (
        "Summary,Issue key,Status,Resolution,Created,Updated,Resolved\n"
        "Login,SHOP-4,Done,Done,01/Okt/26 9:00 AM,05/Okt/26 11:00 AM,05/Okt/26 10:30 AM\n"
        "Search,SHOP-5,Done,Done,01/Oct/26 9:00 AM,05/Oct/26 11:00 AM,05/Oct/26 10:30 AM\n"
    )
    for taken in ("4 events taken", "0 events taken · 4 known already"):
        done = aurora(home, root, "deliverable", "ingest", given=rows)
        assert (done.returncode, done.stdout) == (1, f"{taken} · 1 refused: SHOP-5\n")
        assert done.stderr.startswith("aurora: refused SHOP-4: row 2: Created is '01/Okt/26 9:00 AM', which cannot")


@pytest.mark.parametrize(
    "given",
    ["{", '{"what": "ever"', "<xml/>", '{"change_id": "x", "status": "flying", "started_at": "now"}', "[1]"],
)
def test_what_is_none_of_it_is_one_line(home: Path, root: Path, given: str) -> None:
    done = aurora(home, root, "deliverable", "ingest", given=given)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stdout + done.stderr
    assert told(home, root, "deliverable", "list")["deliverables"] == []


def hook(home: Path, cwd: Path, payload: object, **variables: str) -> subprocess.CompletedProcess[str]:
    given = payload if isinstance(payload, str) else json.dumps(payload)
    return aurora(home, cwd, "deliverable", "ingest", "--claude-code-hook", given=given, cwd=cwd, **variables)


def called(root: Path, **more: Any) -> dict[str, Any]:
    return {
        "session_id": "s-1",
        "transcript_path": "/nowhere/transcript.jsonl",
        "cwd": str(root),
        "hook_event_name": "PostToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": str(root / "a.py"), "content": "x = 1\n" * 100_000},
        "tool_response": {"success": True},
        "tool_use_id": "toolu_1",
        **more,
    }


def test_hooks_count_tool_calls_and_test_runs(home: Path, root: Path, tmp_path: Path) -> None:
    told(home, root, "deliverable", "start", "one")
    done = hook(home, tmp_path, called(root))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), "the payload's cwd says which workspace"
    hook(home, tmp_path, called(root))
    run = called(root, tool_name="Bash", tool_use_id="toolu_2", tool_input={"command": "pytest -q"},
                 tool_response={"stdout": "2 failed, 5 passed in 0.1s", "stderr": "", "exitCode": 1})  # fmt: skip
    hook(home, tmp_path, run)
    state = told(home, root, "deliverable", "show", "one")
    assert state["tool_calls"] == {"Write": 1, "Bash": 1}, "the same call twice is one"
    assert state["sessions"] == ["s-1"]
    assert "tests" in aurora(home, root, "deliverable", "events", "one").stdout


@pytest.mark.parametrize("payload", ["", "{", "[]", "{}", '{"session_id": 3}', "[" * 100_000, '{"cwd": "/nowhere"}'])
def test_a_hook_that_is_none_fails_nobodys_tool_call(home: Path, root: Path, payload: str) -> None:
    done = hook(home, root, payload)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("aurora: this hook was not recorded: ") and len(done.stderr.splitlines()) == 1
    assert "internal error" not in done.stderr


def test_a_hook_with_nobody_there_says_so_and_exits_0(tmp_path: Path, root: Path) -> None:
    occupied = tmp_path / "home"
    occupied.write_text("a file where AURORA's folder should be")
    done = hook(occupied, root, called(root))
    assert done.returncode == 0 and len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith("aurora: this hook was not recorded: ")


def test_a_hook_imports_little(home: Path, root: Path) -> None:
    code = "import sys; from aurora_cli import main, fast_exit; "
    code += "fast_exit.leave = lambda code: print(*sys.modules) or code;"
    code += "sys.argv[1:] = ['deliverable', 'ingest', '--claude-code-hook']; main()"
    environ = {**os.environ, "AURORA_HOME": str(home)}
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, cwd=root, env=environ, input="{}", capture_output=True, text=True, check=False)
    heavy = {"msgspec", "asyncio", "rich", "pygls", "lsprotocol", "numpy", "aurora_memory", "aurora_orchestration"}
    assert heavy & set(done.stdout.split()) == set()


def test_a_daemon_that_does_not_answer_holds_no_hook_up_for_long(tmp_path: Path, root: Path) -> None:
    from aurora_protocol.address import Address
    from tests.fake_daemon import FakeDaemon

    address, over = Address.of(tmp_path / "h"), threading.Event()
    with FakeDaemon(address, {"aurora/deliverable": lambda session, params: over.wait(2 * HANG)}):
        done = hook(tmp_path / "h", root, called(root))
        over.set()
    assert done.returncode == 0 and "did not answer aurora/deliverable within 5 s" in done.stderr
