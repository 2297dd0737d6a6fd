"""What hooks, transcripts and commits tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aurora_deliverables.detection import attribution, claude_code, commits, test_runs, transcripts
from aurora_deliverables.detection.attribution import Open, attribute
from aurora_deliverables.detection.recorded_state import state_of
from aurora_deliverables.events import AgentIdentity, HumanIntervened, SessionJoined, TokensUsed, ToolCalled
from aurora_deliverables.evidence import redact, shown


def hook(name: str, **fields: Any) -> claude_code.Hook:
    common = {"session_id": "s-1", "transcript_path": "/t/s-1.jsonl", "cwd": "/w", "permission_mode": "default"}
    return claude_code.decode({**common, "hook_event_name": name, **fields})


def bash(command: str, stdout: str = "", **fields: Any) -> claude_code.Hook:
    response = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False}
    given = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": response, "tool_use_id": "t-1"}
    return hook("PostToolUse", **{**given, **fields})


def test_a_tool_call_is_counted_by_name_and_once() -> None:
    edit = {"file_path": "/w/a.py", "old_string": "x", "new_string": "y"}
    given = hook("PostToolUse", tool_name="Edit", tool_input=edit, tool_use_id="toolu_1", duration_ms=1500)
    events = claude_code.events_of(given, "add-search", 10.0)
    assert [event.what for event in events] == [
        SessionJoined("s-1"),
        ToolCalled("Edit", succeeded=True, duration_seconds=1.5),
    ]
    assert [e.id for e in events] == [e.id for e in claude_code.events_of(given, "add-search", 99.0)]
    assert claude_code.edited_file(given) == "/w/a.py"
    assert all(event.agent == AgentIdentity("claude-code", framework="claude-code") for event in events)


@pytest.mark.parametrize(
    ("command", "is_run"),
    [
        ("pytest -q tests/", True),
        ("cd /w && PYTHONPATH=. python3 -m pytest -x", True),
        ("uv run pytest", True),
        ("timeout 60 .venv/bin/pytest -q | tail -3", True),
        ("npm test -- --coverage", True),
        ("npm run test:unit", True),
        ("go test ./...", True),
        ("cargo test --all", True),
        ("make test", True),
        ("./gradlew test", True),
        ("python -m unittest discover", True),
        ("grep -r pytest .", False),
        ("echo 'npm test'", False),
        ("git commit -m 'make test pass'", False),
        ("pip install pytest", False),
        ("make build", False),
        ("pytest --version", False),
        ("cat 'unfinished", False),
    ],
)
def test_test_runs_are_told_from_other_commands(command: str, is_run: bool) -> None:
    assert test_runs.is_test_run(command) is is_run


@pytest.mark.parametrize(
    ("command", "output", "counts"),
    [
        ("pytest", "===== 2 failed, 13 passed in 1.10s =====", (13, 2, False)),
        ("pytest | tail -1", "15 passed in 1.0s", (15, 0, True)),
        ("pytest | tail -1", "", (None, None, None)),
        (
            "cargo test",
            "test result: ok. 5 passed; 0 failed; 0 ignored\ntest result: ok. 2 passed; 0 failed",
            (7, 0, True),
        ),
        ("npm test", "Tests:       1 failed, 5 passed, 6 total", (5, 1, False)),
        ("go test ./...", "ok  \texample/a\t0.1s\nFAIL\texample/b\t0.2s", (None, 1, False)),
        ("python -m unittest", "Ran 7 tests in 0.1s\n\nFAILED (failures=2, errors=1)", (4, 3, False)),
        ("make test", "fine", (None, None, True)),
    ],
)
def test_what_a_runner_sums_up_is_read(command: str, output: str, counts: tuple[Any, ...]) -> None:
    run = claude_code.test_run(bash(command, output))
    assert run is not None
    assert (run.passed, run.failed, run.succeeded) == counts


def test_a_failing_run_comes_by_the_failure_hook() -> None:
    failure = hook(
        "PostToolUseFailure",
        tool_name="Bash",
        tool_input={"command": "API_TOKEN=hunter2hunter2 pytest"},
        tool_use_id="t",
        error="Exit code 1\n1 failed, 14 passed in 1.21s",
        is_interrupt=False,
    )
    run = claude_code.test_run(failure)
    assert run is not None
    assert (run.passed, run.failed, run.succeeded) == (14, 1, False)
    assert "hunter2" not in repr(claude_code.events_of(failure, "x", 1.0))


@pytest.mark.parametrize(
    ("event", "fields", "went_well"),
    [
        ("PostToolUse", {}, True),
        ("PostToolUse", {"tool_response": {"exitCode": 0}}, True),
        ("PostToolUse", {"tool_response": {"exitCode": 2}}, False),
        ("PostToolUse", {"tool_response": {"interrupted": True, "exitCode": 2}}, None),
        ("PostToolUseFailure", {"is_interrupt": False}, False),
        ("PostToolUseFailure", {"is_interrupt": True}, None),
    ],
)
def test_a_tool_that_a_person_interrupted_neither_failed_nor_went_well(
    event: str, fields: dict[str, Any], went_well: bool | None
) -> None:
    given = hook(event, tool_name="Bash", tool_input={"command": "make"}, tool_use_id="t-1", **fields)
    (called,) = [each.what for each in claude_code.events_of(given, "x", 1.0) if isinstance(each.what, ToolCalled)]
    assert called.succeeded is went_well


@pytest.mark.parametrize(
    "fields", [{"is_interrupt": True}, {"tool_input": {"command": "pytest", "run_in_background": True}}]
)
def test_a_test_run_that_did_not_end_here_tells_nothing(fields: dict[str, Any]) -> None:
    assert claude_code.test_run(bash("pytest", "1 failed, 3 passed in 1.0s", **fields)) is None


def test_a_wait_for_a_person_is_measured_from_the_question_to_the_answer() -> None:
    asked = hook("Notification", notification_type="permission_prompt", message="Claude needs your permission")
    assert claude_code.waits_for(asked) == "permission asked"
    assert claude_code.waits_for(hook("Notification", message="Claude is waiting for your input")) == "input awaited"
    assert claude_code.waits_for(hook("Notification", notification_type="auth_success")) is None
    answered = bash("ls")
    assert claude_code.answers(answered)
    waits = [e.what for e in claude_code.events_of(answered, "x", 52.5, ("permission asked", 10.0))]
    assert HumanIntervened(waited_seconds=42.5, note="permission asked") in waits


def test_a_prompt_leaves_nothing_of_itself() -> None:
    given = hook("UserPromptSubmit", prompt="deploy with password hunter2hunter2")
    assert "hunter2" not in repr(claude_code.events_of(given, "x", 1.0))
    assert "deploy" not in repr(claude_code.events_of(given, "x", 1.0))


@pytest.mark.parametrize("payload", [None, [], {}, {"session_id": "s"}, {"session_id": 1, "hook_event_name": "Stop"}])
def test_what_is_no_hook_is_refused_by_name(payload: object) -> None:
    with pytest.raises(claude_code.NotAHook, match="Claude Code hook"):
        claude_code.decode(payload)


def test_tokens_come_from_the_transcript_once_per_call(tmp_path: Path) -> None:
    def line(call: str, at: str, output: int, **usage: int) -> str:
        given = {"input_tokens": 3, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 1000, **usage}
        message = {"id": call, "model": "claude-opus-4-6", "usage": {**given, "output_tokens": output}, "content": []}
        return json.dumps({"type": "assistant", "timestamp": at, "message": message}) + "\n"

    file = tmp_path / "s-1.jsonl"
    early = line("m-0", "2026-01-01T00:00:00Z", 5)
    file.write_text(early + line("m-1", "2026-02-01T00:00:00Z", 1) + line("m-1", "2026-02-01T00:00:01Z", 40) + '{"ty')
    calls, offset = transcripts.calls_in(file)
    agent = AgentIdentity("claude-code")
    (event,) = transcripts.events_of(calls, "x", "s-1", agent, 1_769_900_000.0, "claude-code-hook")
    assert event.what == TokensUsed(1103, 40, 1000, model="claude-opus-4-6", provider="anthropic")
    with file.open("a") as more:
        more.write('pe": "x"}\nnot json "usage"\n' + line("m-2", "2026-02-01T00:01:00Z", 7))
    later, end = transcripts.calls_in(file, offset)
    assert [call.id for call in later] == ["m-2"]
    assert end == file.stat().st_size
    assert transcripts.calls_in(tmp_path / "none.jsonl") == ([], 0)
    assert transcripts.calls_in(Path("/etc/passwd")) == ([], 0)


def test_secrets_are_not_shown() -> None:
    for text in (
        "curl -H 'Authorization: Bearer abcdef123456' x",
        "export OPENAI_API_KEY=sk-abcdefghijklmnop",
        "git clone https://ann:hunter2@example.org/x",
        "ghp_abcdefghijklmnopqrstuvwx",
        "login --password hunter2x",
    ):
        assert "[redacted]" in redact(text)
        assert not any(secret in redact(text) for secret in ("abcdef", "hunter2"))
    assert redact("pytest tests/test_tokenizer.py -k tokens") == "pytest tests/test_tokenizer.py -k tokens"
    assert redact("Add password reset: tokens expire") == "Add password reset: tokens expire"
    assert shown("a\x1b[31m\n" + "b" * 500, 20) == "a [31m bbbbbbbbbbbb…"


def test_work_belongs_to_the_branch_then_to_the_only_one_and_else_to_none() -> None:
    search, login = Open("add-search", ("find-products",)), Open("fix-login")
    found = attribute([search, login], "feature/add-search")
    assert found is not None
    assert (found.change_id, found.why) == ("add-search", "on branch feature/add-search")
    assert attribute([search], "main") == attribution.Attributed("add-search", "the only open deliverable")
    alone = attribute([search], "feature/add-search")
    assert alone is not None and alone.why == "on branch feature/add-search", "what names it, though it is the only one"
    renamed = attribute([search, login], "ann/find-products")
    assert renamed is not None and renamed.change_id == "add-search"
    assert attribute([search, login], "main") is None, "nothing tells which"
    assert attribution.change_in_branch("ann/12-add-search-v2", ["add-search", "add", "search-v"]) == "add-search"


def test_trailers_name_a_deliverable_and_commits_its_type() -> None:
    said = (
        b"\x1eaaaa\x1f1700000200\x1ffeat(ui)!: search box\x1fDeliverable: add-search\n"
        b"Co-Authored-By: Claude <noreply@anthropic.com>\n\x1d\nsrc/a.py\nsrc/b.py\n"
        b"\x1ebbbb\x1f1700000100\x1fdocs: propose\x1fChange-Id: I0123\n\x1d\nopenspec/changes/x/proposal.md\n"
    )
    first, second = commits.read_log(said)
    assert (first.hash, commits.named(first, ["x"])) == ("bbbb", None)
    assert commits.named(second, []) == "add-search"
    assert second.files == ("src/a.py", "src/b.py")
    events = commits.events_of(second, state_of("add-search", []), "which names it", touches_code=True)
    assert [str(type(event.what).__struct_config__.tag) for event in events] == ["deliverable_start", "phase_start"]
    assert events[0].agent == AgentIdentity("claude-code", framework="claude-code")
    assert events[0].what.type == "feature"  # type: ignore[union-attr]
    assert commits.events_of(second, state_of("add-search", events), "", touches_code=True) == []


@pytest.mark.parametrize(
    ("trailers", "name"),
    [
        pytest.param(["spec", "deliverable", "change-id"], "the-deliverable", id="who names a deliverable means it"),
        pytest.param(["change-id", "spec"], "the-spec", id="a spec comes before what others number changes by"),
        pytest.param(["change-id"], "the-change-id", id="a change that is known"),
    ],
)
def test_of_trailers_the_plainest_names_the_deliverable(trailers: list[str], name: str) -> None:
    commit = commits.Commit("aaaa", 1.0, "x", tuple((key, f"the-{key}") for key in trailers))
    assert commits.named(commit, ["the-change-id"]) == name


def test_a_trailer_that_stands_twice_says_what_it_said_last() -> None:
    commit = commits.Commit("aaaa", 1.0, "x", (("deliverable", "first"), ("spec", "other"), ("deliverable", "last")))
    assert commits.named(commit, []) == "last"


def test_of_two_agents_that_helped_the_one_named_first_is_told() -> None:
    helped = [("co-authored-by", f"{name} <{name}@example.org>") for name in ("Ann", "Copilot", "Claude")]
    agent = commits.Commit("aaaa", 1.0, "x", tuple(helped)).agent
    assert agent is not None and agent.name == "copilot"


def test_only_commits_made_here_leave_files_as_they_are() -> None:
    assert commits.only_commits(b"c3 commit: a\nc2 commit (amend): b\nc1 pull: c\n", "c1")
    assert not commits.only_commits(b"c3 checkout: moving from main to x\nc1 commit: c\n", "c1")
    assert not commits.only_commits(b"c3 commit: a\n", "elsewhere")


def test_a_folder_that_is_called_like_a_transcript_has_no_calls_and_leaves_nothing_open(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").mkdir()
    assert transcripts.calls_in(tmp_path / "a.jsonl", 7) == ([], 7)
