"""What is reported of checks, runs, teams and lifespans, a rule each: what decides the end, and what counts."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aurora_cli import report, team
from aurora_cli.app import run
from aurora_cli.logs import render
from aurora_cli.manifest_validate import framed_lines
from aurora_cli.metrics_csv import metrics_csv
from aurora_cli.output import TerminalStyle
from aurora_cli.team import SHOWN
from aurora_memory.learning import Retrieved
from aurora_orchestration.settings import SoarSettings
from aurora_protocol.query_methods import LearnParams
from aurora_server.configuration.layers import _rank
from aurora_server.configuration.values import _explained
from aurora_server.daemon import listener
from aurora_server.daemon.listener import MAX_SESSIONS, Listener
from aurora_server.demo_site.capabilities import RateLimit
from aurora_server.mcp.manifest_tools import MANIFEST_TOOL, ValidateManifest
from aurora_server.workspace import maintenance, query_documents
from aurora_server.workspace.maintenance import REVIEW_SECONDS, LifespanReview
from aurora_server.workspace.recall_documents import summary
from aurora_server.workspace.registry import Workspaces
from aurora_server.workspace.soar_steps import Steps
from aurora_server.workspace.spec_observations import SpecObservations

PLAIN = TerminalStyle()

# Checks

GOOD = {
    "$schema": "https://unpkg.com/aura-protocol@1.0.5/dist/aura-v1.0.schema.json", "protocol": "AURA", "version": "1.0",
    "site": {"name": "Shop", "url": "https://shop.example"}, "resources": {}, "capabilities": {},
}  # fmt: skip


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AURORA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "good.json").write_text(json.dumps(GOOD))
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "latin.json").write_bytes(b"\xe9")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["good.json"], 0),
        (["bad.json"], 1),
        (["gone.json"], 2),
        pytest.param(["bad.json", "gone.json"], 2, id="one that cannot be read decides"),
        pytest.param(["bad.json", "latin.json", "--concise"], 2, id="in every form"),
        pytest.param(["good.json", "--severity", "parse=off"], 2, id="a rule that is none is told"),
        pytest.param(["good.json", "--sarif", "--concise"], 2, id="two forms exclude each other"),
        pytest.param(["good.json", "--json", "--sarif"], 2, id="whichever they are"),
        pytest.param(["-", "--fix"], 2, id="nothing is mended where nothing can be written"),
        pytest.param([], 2, id="without a file the workspace's own is meant"),
    ],
)
def test_how_a_check_ends(site: Path, arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    found = run(["manifest", "validate", *arguments])
    said = capsys.readouterr()
    if arguments:
        assert found == code, said.err
    else:
        assert found != 0 and ".well-known/aura.json; name the file" in said.err


def test_what_can_be_mended_and_what_a_person_decides_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aurora_cli.manifest_validate.code_frame", lambda *_, **__: ["frame"])
    monkeypatch.setattr("aurora_cli.manifest_validate._place", lambda *_: "a.json:1:1")
    monkeypatch.setattr("aurora_cli.manifest_validate.is_fixable", lambda finding: finding.rule == "sure")
    found = [
        SimpleNamespace(rule=rule, severity="error", message="m", path="/p" if fix else "", start=0, end=1, fix=fix)
        for rule, fix in (
            ("sure", SimpleNamespace(title="do")),
            ("perhaps", SimpleNamespace(title="may")),
            ("none", None),
        )
    ]
    checked: Any = SimpleNamespace(findings=found, lines=None)
    told = list(framed_lines(checked, PLAIN))
    assert told == [
        "error[sure]: m", "  --> a.json:1:1  /p", "frame", "  = --fix can mend this: do", "",
        "error[perhaps]: m", "  --> a.json:1:1  /p", "frame", "  = perhaps, for you to decide: may", "",
        "error[none]: m", "  --> a.json:1:1", "frame", "",
    ]  # fmt: skip


# Figures


def test_a_spreadsheet_has_all_first_then_groups_then_agents_with_models_then_weeks() -> None:
    cost = {"deliverables": 2, "accepted": 1, "cost_usd": 0.5, "cost_per_accepted_usd": None, "costed": 1}
    metrics = {"m": {"value": 1.0, "missing": None}}
    window = {"from": "2026-02-01T00", "to": "2026-02-08T00"}
    reply = {
        "window": window, "metrics": metrics, "cost": cost, "groups": {"agent": [{"name": "=a", "metrics": metrics}]},
        "costs": [{"agent": "a", "model": "b", **cost}],
        "weekly": [{"from": "2026-02-01T00", "to": "2026-02-08T00", "metrics": metrics, "latency": {"p50": 3}}],
    }  # fmt: skip
    rows = [line.split(",") for line in metrics_csv(reply).splitlines()[1:]]
    assert [(row[0], row[1], row[2]) for row in rows] == [
        ("all", "all", "m"), *(("all", "all", name) for name in cost if name != "costed"), ("agent", "'=a", "m"),
        *(("agent and model", "a / b", name) for name in cost if name != "costed"),
        ("week", "2026-02-01", "m"), ("week", "2026-02-01", "resolution_latency_p50"),
    ]  # fmt: skip
    assert rows[1][8:10] == ["", ""] and rows[3][8:10] == ["1", "2"], "of money is told of how many it is known"


@pytest.mark.parametrize(
    ("period", "start", "end", "first", "since", "parts"),
    [
        pytest.param("daily", "2026-02-01T00:00:00Z", "2026-02-02T00:00:00Z", None, 1769904000.0, [], id="day"),
        pytest.param("monthly", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z", None, 1769904000.0, "weeks",
                     id="a month by weeks"),
        pytest.param("cumulative", None, "2026-03-01T00:00:00Z", 5.0, 5.0, "months", id="all since the first"),
        pytest.param("cumulative", None, "2026-03-01T00:00:00Z", None, 1772323200.0, "months", id="of none nothing"),
        pytest.param("cumulative", None, "2026-03-01T00:00:00Z", 9e9, 1772323200.0, "months", id="nor of tomorrow"),
    ],
)  # fmt: skip
def test_since_when_questions_are_reported_and_in_which_parts(
    period: str, start: Any, end: Any, first: Any, since: float, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    statistics = "aurora_orchestration.conversations.run_statistics."
    monkeypatch.setattr("aurora_deliverables.report.weeks", lambda *_: "weeks")
    monkeypatch.setattr("aurora_deliverables.report.months", lambda *_: "months")
    monkeypatch.setattr("aurora_orchestration.conversations.log_names.logs_folder", lambda _: Path("/l"))
    monkeypatch.setattr(f"{statistics}first_at", lambda _: first)
    monkeypatch.setattr(f"{statistics}report", lambda folder, since, before, parts: (since, parts))
    nothing: Any = None
    told: Any = report.runs_of(nothing, period, start, end)
    assert told == (since, parts)


# Teams


@pytest.mark.parametrize(
    ("members", "code", "lines"),
    [
        ([], 0, ["no team was joined; nothing leaves this machine"]),
        ([("a", "", "")], 0, ["a at u: fine; last reached"]),
        ([("a", "k", ""), ("b", "", "it is away")], 1, ["a at u, by pseudonyms: fine; last reached",
                                                       "b at u: it is away; last reached"]),
    ],
)  # fmt: skip
def test_a_team_that_has_a_problem_decides(members: Any, code: int, lines: Any, monkeypatch: Any, capsys: Any) -> None:
    told = [SimpleNamespace(team=name, key=key, problem=said, url="u", reached_at=0.0) for name, key, said in members]
    monkeypatch.setattr(team, "_memberships", lambda _: SimpleNamespace(read=lambda: told))
    settings: Any = SimpleNamespace(json=False)
    assert team.status.callback.__wrapped__(settings) == code  # type: ignore[union-attr]
    said = capsys.readouterr().out.splitlines()
    assert len(said) == len(lines) and all(each.startswith(line) for each, line in zip(said, lines, strict=True))


# Lifespans


@pytest.mark.parametrize(
    ("last", "reviewed"),
    [
        pytest.param(None, True, id="never yet"),
        pytest.param("odd", True, id="nobody can tell when"),
        pytest.param(str(1e6 - REVIEW_SECONDS), True, id="a day ago"),
        pytest.param(str(1e6 - REVIEW_SECONDS + 1), False, id="less than a day ago"),
        pytest.param(str(1e6), False, id="just now"),
        pytest.param(str(1e6 + 1), True, id="at a time to come, which would put it off for ever"),
    ],
)
async def test_lifespans_are_reviewed_once_a_day(last: str | None, reviewed: bool, monkeypatch: Any) -> None:
    monkeypatch.setattr(maintenance.time, "time", lambda: 1e6)
    done: list[float] = []

    async def read(*_: Any) -> str | None:
        return last

    async def review(_: Any, now: float) -> Any:
        done.append(now)
        return SimpleNamespace(archived=0, flagged=0)

    store: Any = SimpleNamespace(read=read, review_lifespans=review)
    indexer: Any = SimpleNamespace(on_progress=lambda _: lambda: None, state="ready")
    nothing: Any = None
    upkeep = LifespanReview(Path("/w"), store, indexer, nothing)
    upkeep._heard(None)
    assert upkeep._task is not None
    await upkeep._task
    assert done == ([1e6] if reviewed else []) and upkeep._due >= 1e6
    for state, progress in (("ready", None), ("ready", object()), ("error", None)):
        before, indexer.state = upkeep._task, state
        upkeep._due = 2e6 if state == "ready" and progress is None else 0.0
        told: Any = progress
        upkeep._heard(told)
        assert upkeep._task is before, "not before it is due, while something is indexed, or where that failed"
    await upkeep.close()


# Settings of a workspace, and who may come


@pytest.mark.parametrize(("way", "laxer", "stricter"), [("lower", 5, 3), ("higher", 3, 5)])
def test_which_of_two_limits_is_the_stricter(way: str, laxer: int, stricter: int) -> None:
    member: Any = SimpleNamespace(marks={"stricter": way}, annotation=int)
    rank = _rank(member)
    assert rank(laxer) < rank(stricter)


def test_of_choices_the_later_is_the_stricter_and_off_the_laxest() -> None:
    from typing import Literal

    member: Any = SimpleNamespace(marks={"stricter": "higher"}, annotation=Literal["warn", "off", "block"])
    rank = _rank(member)
    assert rank("off") < rank("warn") < rank("block")


@pytest.mark.parametrize(
    ("connections", "user", "let_in"),
    [
        (MAX_SESSIONS, 0, True),
        (MAX_SESSIONS + 1, 0, False),
        (1, 1, False),
        pytest.param(
            1, None, True, id="where the system does not tell whose it is, the socket's folder keeps others out"
        ),
        pytest.param(MAX_SESSIONS + 1, 1, False, id="too many is told before whose it is"),
    ],
)
async def test_who_has_a_session(connections: int, user: int | None, let_in: bool, monkeypatch: Any) -> None:
    monkeypatch.setattr(listener.os, "geteuid", lambda: 0)
    monkeypatch.setattr(listener, "peer_user", lambda _: user)
    made: Any = Listener.__new__(Listener)
    made._core, made._endpoint = SimpleNamespace(connections=connections), SimpleNamespace(token=None)
    written: list[bytes] = []
    writer: Any = SimpleNamespace(write=written.append, get_extra_info=lambda _: None)
    reader: Any = None
    assert await made._welcome(reader, writer, 1) is let_in
    assert bool(written) is (connections > MAX_SESSIONS)


def test_workspaces_are_told_by_root_and_one_that_failed_with_why() -> None:
    async def never(_: Path) -> Any:
        raise AssertionError("nothing is opened")

    known = Workspaces(never, linger=1.0, user_home=Path("/home"))
    from aurora_server.workspace.registry import _OpenWorkspace

    for root, error in (("/w/b", "it is damaged"), ("/w/a", None)):
        known._entries[Path(root)] = _OpenWorkspace(Path(root), error=error)
    assert [(each.root, each.state, each.last_error) for each in known.status()] == [
        ("/w/a", "scanning", None), ("/w/b", "error", "it is damaged")
    ]  # fmt: skip


# Answers of runs


def ran(**changes: Any) -> Any:
    usual = {
        "id": "r", "query": "q", "state": "complete", "answer": "a", "score": 0.5, "confidence": 0.5, "because": "",
        "caveats": (), "from_memory": None, "complexity": None, "assessment": None, "context": None, "results": (),
        "notices": ("n", "m"), "cost_usd": 0.0, "counted_usd": 0.0, "estimated_usd": 0.0, "calls": (), "tokens": 0,
        "started_at": 9.0, "ended_at": 5.0, "log": None, "learned": None, "phases": (), "error": None, "plan": None,
        "synthesis": None,
    }  # fmt: skip
    return SimpleNamespace(**{**usual, **changes})


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(query_documents, "timing", lambda _: None)
    monkeypatch.setattr(query_documents, "timing_of", lambda _: None)
    monkeypatch.setattr(query_documents, "_checks", lambda judged: (judged,))
    return query_documents.result_of


def test_of_an_answer_its_own_verdict_is_told_else_that_of_the_plan(told: Any) -> None:
    plan = SimpleNamespace(verification="of the plan")

    def answer(verdict: str | None) -> Any:
        return SimpleNamespace(verification=verdict, claims=(), untraced=())

    assert told(ran(plan=plan, synthesis=answer("of the answer"))).checks == ("of the answer",)
    assert told(ran(plan=plan, synthesis=answer(None))).checks == ("of the plan",)
    assert told(ran(plan=plan)).checks == ("of the plan",) and told(ran()).checks == (None,)


def test_of_a_run_calls_that_were_made_count_and_words_are_told_once_those_before_it_first(told: Any) -> None:
    usage = SimpleNamespace(input_tokens=3, output_tokens=2, cache_read_tokens=1, cache_write_tokens=0, total=6)
    calls = tuple(
        SimpleNamespace(replayed=replayed, cost_usd=usd, usage=usage, role=role)
        for replayed, usd, role in ((False, None, "reasoning"), (False, 0.1, "solving"), (True, 0.2, "solving"))
    )
    found = told(ran(calls=calls, tokens=12, assessment=SimpleNamespace(complexity="simple")), ["first", "n"])
    assert found.notices == ("first", "n", "m")
    assert (found.calls, found.unpriced_calls, found.tokens.input, found.tokens.total) == (2, 1, 6, 12)
    assert (found.tokens.reasoning_llm, found.tokens.agents) == (6, 6)
    assert (found.complexity, found.took_ms) == ("simple", 0.0), "a clock that was set back takes no time away"


@pytest.mark.parametrize(
    ("learned", "from_memory", "found"),
    [
        (None, None, (False, None, 0)),
        (None, "reas:old", (False, "reas:old", 0)),
        (SimpleNamespace(reasoning_id="reas:new", runs=3), "reas:old", (True, "reas:new", 3)),
        (SimpleNamespace(reasoning_id=None, runs=1), None, (False, None, 1)),
    ],
)
def test_as_what_an_answer_is_kept(told: Any, learned: Any, from_memory: Any, found: Any) -> None:
    reply = told(ran(learned=learned, from_memory=from_memory))
    assert (reply.cached, reply.reasoning_id, reply.runs) == found


# Steps, specs and reports


@pytest.mark.parametrize(("length", "kept"), [(4000, 4000), (4001, 4000)])
async def test_of_what_solved_it_four_thousand_characters_are_learned(length: int, kept: int) -> None:
    """Of an id that helped, what memory has is credited and the rest told; tools are named once, their order kept."""
    learned: list[Any] = []

    async def recall(each: str, **_: Any) -> Any:
        return [SimpleNamespace(row=7, id="code:a.py:f:1-2")] if each != "none" else []

    async def learn(told: Any) -> Any:
        learned.append(told)
        return SimpleNamespace(outcome="kept", reasoning_id=None, is_pattern=False)

    memory = SimpleNamespace(recall=recall, learn=learn)
    services: Any = SimpleNamespace(settings=lambda _: SoarSettings(), memory=memory, now=lambda: 1.0)
    steps = Steps(services, None)
    given = LearnParams(
        query="q", result="x" * length, score=0.9, used=("code:a.py:f", "other", "none"), tools=("b", "a", "b")
    )
    reply = await steps.learn(given)
    assert len(learned[0].subgoals[0].description) == kept
    assert learned[0].retrieved == (Retrieved(7, helpful=True),) and reply.unknown == ("other", "none")
    assert (learned[0].tool_sequence, learned[0].tools_used[0].tools) == (("b", "a", "b"), ("b", "a"))


async def test_only_of_what_git_dates_git_is_asked() -> None:
    asked: list[str] = []

    async def dated(seen: Any) -> None:
        asked.append(seen.source)

    for source, git in (("openspec", True), ("openspec", False), ("speckit", True)):
        made: Any = SpecObservations.__new__(SpecObservations)
        made.settings, made._dated_by_git = SimpleNamespace(git=git), dated

        class Named(Exception):
            pass

        def named(_: str) -> str:
            raise Named

        made._deliverables = SimpleNamespace(named=named)
        seen: Any = SimpleNamespace(source=source, change_id="x")
        if source == "openspec" and git:
            await made.look_at(seen)  # git says that it is none of this folder: nothing is told
        else:
            with pytest.raises(Named):
                await made.look_at(seen)
    assert asked == ["openspec"]


async def test_what_a_manifest_comes_to_is_told_before_its_findings() -> None:
    nothing: Any = None
    told = await MANIFEST_TOOL.handler(nothing, ValidateManifest(text="{"), lambda _: None)
    lines = told.text.split("\n")
    assert lines[0].startswith("not valid: 1 errors") and lines[1].startswith("error 1:")


@pytest.mark.parametrize(("length", "whole"), [(240, True), (241, False)])
def test_a_first_sentence_of_240_characters_is_told_whole(length: int, whole: bool) -> None:
    made: Any = SimpleNamespace(docstring="word " * ((length - 5) // 5) + "x" * (5 + (length % 5)))
    said = summary(made)
    assert (len(said) == length) is whole


def test_so_many_requests_a_minute_are_let_in_at_once_and_then_one_as_it_comes() -> None:
    limit = RateLimit(60)
    assert [limit.wait("a", 0.0) for _ in range(61)] == [0] * 60 + [1]
    assert (limit.wait("b", 0.0), limit.wait("a", 1.0), limit.wait("a", 1.0)) == (0, 0, 1)
    slow = RateLimit(1)
    assert (slow.wait("a", 0.0), slow.wait("a", 0.0), slow.wait("a", 30.0)) == (0, 60, 30)


def test_a_log_is_laid_out_where_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    render("# Title\n\nword", TerminalStyle(rich=True, width=40))
    assert "\x1b[" in capsys.readouterr().out


def test_a_long_error_of_a_setting_is_cut_and_says_what_may_be() -> None:
    told = _explained("scoring.max_retries", "Expected " + "x" * 400)
    said, _, may_be = told.partition("; it may be ")
    assert len(said) == len("scoring.max_retries: ") + 300 and may_be.startswith("a whole number")


@pytest.mark.parametrize(("many", "ends"), [(SHOWN, "reason: " + ", ".join(f"e{n}" for n in range(SHOWN))),
                                            (SHOWN + 1, " and 1 more")])  # fmt: skip
def test_of_what_would_stay_some_are_named_and_each_once(many: int, ends: str, monkeypatch: Any, capsys: Any) -> None:
    entries = [SimpleNamespace(id=f"e{n}") for n in range(many)]
    monkeypatch.setattr(team, "_team", lambda _: SimpleNamespace(share=(), names="plain"))
    monkeypatch.setattr(team, "_memberships", lambda _: SimpleNamespace(read=list))
    monkeypatch.setattr(team, "_guise", lambda *_: None)
    monkeypatch.setattr(team, "_outgoing", lambda *_: nullcontext((SimpleNamespace(repository="r"), None)))
    monkeypatch.setattr(
        "aurora_team.synchronization.preview", lambda *_: [(each, "reason") for each in (*entries, entries[0])]
    )
    settings: Any = None
    team.preview.callback.__wrapped__(settings)  # type: ignore[union-attr]
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "to a team: 0 entries" and told[1].startswith(f"would stay: {many}, reason: e0, ")
    assert told[1].endswith(ends)
