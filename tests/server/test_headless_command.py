"""`aurora --headless` as a command: its flags, what it prints, its exit codes."""

import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
from msgspec.structs import replace

from aurora_cli.global_options import GlobalOptions
from aurora_cli.headless import HeadlessContext, pursue_goal, record_of, spent_by
from aurora_cli.headless import opening as opening_for_real
from aurora_cli.headless_options import HeadlessOptions, headless_options, options_of
from aurora_orchestration.guardrails.blocked import Unrecorded
from aurora_orchestration.guardrails.budget import Budget
from aurora_orchestration.guardrails.budget_history import History, Spent
from aurora_orchestration.headless.goals import BadPrompt
from aurora_orchestration.run_record import Mode, RunRecord
from aurora_orchestration.settings import HeadlessSettings
from aurora_orchestration.types import AgentResponse, AgentTry, Output, Subgoal, SubgoalResult
from aurora_server.configuration.budget import open_budget
from aurora_server.configuration.config_file import SettingsError
from aurora_server.workspace.query_documents import result_of


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GlobalOptions:
    monkeypatch.setenv("AURORA_HOME", str(tmp_path / "home"))
    root = tmp_path / "repository"
    (root / "headless").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "-b", "headless"], cwd=root, check=True)
    (root / "headless" / "prompt.md").write_text("All tests pass.\n")
    return GlobalOptions(named_workspace=str(root))


@asynccontextmanager
async def opening(_: GlobalOptions) -> AsyncIterator[HeadlessContext]:
    async def run(query: str, mode: Mode) -> RunRecord:
        return RunRecord(
            id="aurora-1",
            query=query,
            workspace="w",
            started_at=0,
            ended_at=1,
            state="complete",
            answer="Looked.\nNext step: look again",
            score=0.75,
        )

    yield HeadlessContext(HeadlessSettings(), run, None)


def parsed(*arguments: str) -> HeadlessOptions | None:
    found: list[HeadlessOptions | None] = []

    def take(**given: Any) -> None:
        found.append(options_of(given))

    command = click.Command("aurora", params=headless_options(), callback=take)
    command.main(list(arguments), standalone_mode=False)
    return found[0]


def test_the_flags_are_those_of_the_contract() -> None:
    given = parsed("--headless", "--prompt=p.md", "--scratchpad=s.md", "--max-iterations=3", "--budget-limit=0.5")
    assert given == HeadlessOptions(Path("p.md"), Path("s.md"), 3, 0.5)
    assert parsed() is None
    assert parsed("--headless") == HeadlessOptions()


@pytest.mark.parametrize(
    "arguments", [["--prompt=p.md"], ["--headless", "--max-iterations=0"], ["--headless", "--budget-limit=-1"]]
)
def test_flags_that_make_no_sense_are_refused(arguments: list[str]) -> None:
    with pytest.raises(click.UsageError):
        parsed(*arguments)


def test_each_iteration_is_a_line_and_the_end_an_exit_code(
    settings: GlobalOptions, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pursue_goal(settings, HeadlessOptions(max_iterations=2), opening) == 1
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "iteration 1/2 · complete 0.75 · $0.00 · look again",
        "iteration 2/2 · complete 0.75 · $0.00 · look again",
    ]
    assert said.err == "aurora: the goal is not met after 2 iterations (2 iterations, $0.00)\n"
    assert "## Iteration 2" in (settings.workspace / "headless" / "scratchpad.md").read_text()


def test_that_agents_are_not_started_here_is_told_before_a_night_is_spent(
    settings: GlobalOptions, capsys: pytest.CaptureFixture[str]
) -> None:
    @asynccontextmanager
    async def untrusted(options: GlobalOptions) -> AsyncIterator[HeadlessContext]:
        async with opening(options) as wired:
            yield HeadlessContext(wired.settings, wired.run, wired.judge, trusted=False)

    pursue_goal(settings, HeadlessOptions(max_iterations=1), untrusted)
    first, _ = capsys.readouterr().err.splitlines()
    assert first.startswith(f"aurora: {settings.workspace} is not trusted, so that agents are started in AURORA's home")
    assert first.endswith("aurora trust")


def test_as_json_each_line_is_a_document(settings: GlobalOptions, capsys: pytest.CaptureFixture[str]) -> None:
    settings.json = True
    pursue_goal(settings, HeadlessOptions(max_iterations=1), opening)
    iteration, end = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (iteration["event"], iteration["iteration"], iteration["next_step"]) == ("iteration", 1, "look again")
    assert (end["event"], end["status"], end["exit_code"]) == ("end", "iterations", 1)


def test_what_a_run_did_reaches_the_scratchpad(settings: GlobalOptions) -> None:
    step = Subgoal(id="SG1", description="Run the tests", agent="llm-executor")
    done = AgentResponse(
        subgoal_id="SG1", agent_id="a1", status="success", output=Output(summary="2 fail", confidence=0.9)
    )
    broken = AgentResponse(subgoal_id="SG2", agent_id="a2", status="error", error="exit 3")
    tries = (AgentTry(agent_id="a1", status="success"),)
    record = RunRecord(
        id="aurora-1",
        query="q",
        workspace="w",
        started_at=0,
        ended_at=1,
        state="partial",
        answer="Ran them.",
        results=(
            SubgoalResult(subgoal=step, response=done, tries=tries),
            SubgoalResult(subgoal=replace(step, id="SG2", description="Fix them"), response=broken, tries=tries),
            SubgoalResult(subgoal=replace(step, id="SG3"), response=broken, skipped="needs SG2"),
        ),
    )
    told = record_of(json.loads(json.dumps(msgspec.to_builtins(result_of(record)))), "w", "headless")
    outputs = [result.response.output for result in record.results]
    assert [each.response.output and each.response.output.summary for each in told.results] == [
        each and each.summary for each in outputs
    ], "what agents say is looked at for a claim"
    assert any(outputs)

    @asynccontextmanager
    async def opens(_: GlobalOptions) -> AsyncIterator[HeadlessContext]:
        async def run(query: str, mode: Mode) -> RunRecord:
            return told

        yield HeadlessContext(HeadlessSettings(), run, None)

    pursue_goal(settings, HeadlessOptions(max_iterations=1), opens)
    notes = (settings.workspace / "headless" / "scratchpad.md").read_text()
    assert "**Action:** Run the tests; Fix them (failed: exit 3)\n" in notes


def test_on_main_it_is_blocked_with_the_way_out(settings: GlobalOptions, capsys: pytest.CaptureFixture[str]) -> None:
    subprocess.run(["git", "symbolic-ref", "HEAD", "refs/heads/main"], cwd=settings.workspace, check=True)
    assert pursue_goal(settings, HeadlessOptions(), opening) == 4
    assert "Run: git checkout -b headless" in capsys.readouterr().err


def test_a_missing_prompt_is_bad_input(settings: GlobalOptions) -> None:
    with pytest.raises(BadPrompt, match="no such file"):
        pursue_goal(settings, HeadlessOptions(prompt=Path("nowhere.md")), opening)


def test_on_main_the_branch_is_told_before_a_missing_prompt(
    settings: GlobalOptions, capsys: pytest.CaptureFixture[str]
) -> None:
    subprocess.run(["git", "symbolic-ref", "HEAD", "refs/heads/main"], cwd=settings.workspace, check=True)
    assert pursue_goal(settings, HeadlessOptions(prompt=Path("nowhere.md")), opening) == 4
    assert "Run: git checkout -b headless" in capsys.readouterr().err


def test_a_configuration_that_cannot_be_used_is_bad_input(settings: GlobalOptions, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/config.json").write_text('{"llm": 5}')
    with pytest.raises(SettingsError, match="'llm' must be an object"):
        pursue_goal(settings, HeadlessOptions(), opening_for_real)


@pytest.mark.parametrize(
    ("stage", "paid", "spent"),
    [
        pytest.param({"run": "r", "cost_usd": 0.5}, {"r": 0.2}, 0.5, id="what its last stage said"),
        pytest.param({"run": "r", "cost_usd": 0.5}, {"r": 0.8}, 0.8, id="or the budget, by what was paid since"),
        pytest.param({"run": "r", "cost_usd": 0.5}, {"other": 9.0}, 0.5, id="other runs are not counted"),
        pytest.param({"cost_usd": 0.5}, {"r": 9.0}, 0.5, id="of no known run, what was said"),
        pytest.param({"run": "r", "cost_usd": 0.5}, {"r": 0.25}, 0.5, id="what was said, where the ledger is behind"),
        pytest.param({}, {}, 0.0, id="nothing before a stage"),
        pytest.param({"run": "r", "cost_usd": 0.5}, None, 0.5, id="what was said, where the ledger cannot be read"),
    ],
)
def test_what_a_cancelled_run_has_cost(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stage: dict[str, Any],
    paid: dict[str, float] | None,
    spent: float,
) -> None:
    def history(_: Budget) -> History:
        if paid is None:
            raise Unrecorded("the ledger is away")
        entries = tuple(Spent(at="x", run=run, key="k", usd=usd) for run, usd in paid.items())
        return History(month=None, total_usd=0.0, query_count=0, days=(), entries=entries, ended=())

    monkeypatch.setattr(Budget, "history", history)
    assert spent_by(open_budget({"AURORA_HOME": str(tmp_path)}, None), stage) == spent
