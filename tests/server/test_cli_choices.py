"""What the command line chooses: what travels by default, which daemon and workspace, what comes first, what is cut."""

from __future__ import annotations

import csv
import gc
import os
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from aurora_cli import fast_exit, session
from aurora_cli.agents import agent_lines
from aurora_cli.app import aurora, run
from aurora_cli.command_types import LazyGroup
from aurora_cli.deliverable_view import tool_words
from aurora_cli.global_options import GlobalOptions
from aurora_cli.headless import iteration_line
from aurora_cli.index import summary_lines
from aurora_cli.logs import found_lines, list_lines
from aurora_cli.metrics_csv import metrics_csv
from aurora_cli.output import TerminalStyle, style_of
from aurora_cli.query import run_view
from aurora_cli.recall_view import recall_lines
from aurora_cli.site_view import finding_lines, reply_lines
from aurora_manifest.client.transport import SiteReply
from aurora_protocol.address import Address
from aurora_protocol.client import ConnectionLost
from aurora_protocol.connection import NobodyThere
from aurora_server.lsp.recall import MAX_LIMIT
from tests.fake_daemon import FakeDaemon

NOW = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
FRESH = {"indexed_at": "2026-11-21T20:00:00Z", "pending_files": 0, "skipped_files": 0, "state": "ready"}
RECALLED = {"query": "q", "took_ms": 4.0, "freshness": FRESH, "results": [], "hint": None}
INDEXED = {
    "workspace": "/w", "files": 3, "chunks": 9, "took_ms": 4.0, "parsed_files": 3, "unchanged_files": 0,
    "removed_files": 0, "skipped_files": 0, "failed_files": 0, "kinds": {},
}  # fmt: skip
METRICS = {
    "window": {"deliverables": 0, "from": "2026-02-20T10:00:00+00:00", "to": "2026-02-27T10:00:00+00:00"},
    "metrics": {},
    "groups": {},
}
REPLIES: dict[str, Any] = {
    "aurora/recall": RECALLED,
    "aurora/index": INDEXED,
    "aurora/metrics": METRICS,
    "aurora/doctor": {"findings": [], "skipped": {}, "examples": []},
    "aurora/repair": {"findings": [], "skipped": {}, "examples": []},
    "aurora/deliverable": {"deliverables": [], "events": [], "total": 0, "change_id": "c"},
    "aurora/memory/adopt": {"others": []},
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    monkeypatch.setenv("AURORA_HOME", str(home))
    return home


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    (root / "src").mkdir()
    monkeypatch.chdir(root / "src")
    return root


@pytest.fixture
def daemon(home: Path) -> Iterator[FakeDaemon]:
    def answer(reply: Any) -> Callable[[Any, Any], Any]:
        return lambda session, params: reply

    with FakeDaemon(Address.of(home), {method: answer(reply) for method, reply in REPLIES.items()}) as running:
        yield running


def asked(daemon: FakeDaemon, method: str) -> dict[str, Any]:
    """The params of the last request of that name."""
    found: dict[str, Any] = [each for each in daemon.received if each.get("method") == method][-1].get("params") or {}
    return found


RECALL = {"query": "q", "limit": 10, "include_content": False, "explain": False, "everywhere": False}


@pytest.mark.parametrize(
    ("arguments", "method", "params"),
    [
        ("mem q", "aurora/recall", RECALL),
        ("m q", "aurora/recall", RECALL),
        ("mem how is q", "aurora/recall", RECALL | {"query": "how is q"}),
        ("mem q --limit 3", "aurora/recall", RECALL | {"limit": 3}),
        (f"mem q --limit {MAX_LIMIT}", "aurora/recall", RECALL | {"limit": MAX_LIMIT}),
        ("who calls q", "aurora/recall", RECALL | {"query": "who calls q"}),
        ("mem q --content", "aurora/recall", RECALL | {"include_content": True}),
        ("mem q --explain", "aurora/recall", RECALL | {"explain": True}),
        ("mem q --everywhere", "aurora/recall", RECALL | {"everywhere": True}),
        ("mem q --budget 500", "aurora/recall", RECALL | {"budget_tokens": 500}),
        ("mem q --type know --type code --type know", "aurora/recall", RECALL | {"types": ["know", "code"]}),
        ("index", "aurora/index", {}),
        ("metrics", "aurora/metrics", {}),
        ("metrics --window-days 7 --by agent", "aurora/metrics", {"window_days": 7.0, "by": "agent"}),
        ("metrics --window-count 20", "aurora/metrics", {"window_count": 20}),
        ("doctor", "aurora/doctor", {}),
        ("doctor --repair", "aurora/repair", {}),
        ("deliverable list", "aurora/deliverable", {"action": "list", "limit": 50}),
        ("deliverable events c", "aurora/deliverable", {"action": "events", "change_id": "c", "limit": 1000}),
        ("memory adopt --list", "aurora/memory/adopt", {"list": True}),
    ],
)
def test_what_travels(daemon: FakeDaemon, workspace: Path, arguments: str, method: str, params: dict[str, Any]) -> None:
    assert run([*arguments.split(), "--json"]) == 0
    assert asked(daemon, method).items() >= params.items()
    told = {"partialResultToken", "workDoneToken", "_meta"}
    assert asked(daemon, method).keys() - told == params.keys()


@pytest.mark.parametrize(
    ("arguments", "root"),
    [
        ("mem q", "repository"),  # the nearest folder upward with .git, from repository/src
        ("--workspace {other} mem q", "other"),
        ("mem q --workspace {other}", "other"),
        ("--workspace {other} mem q --workspace {third}", "third"),
    ],
)
def test_which_workspace_is_meant(
    daemon: FakeDaemon, workspace: Path, tmp_path: Path, arguments: str, root: str
) -> None:
    for name in ("other", "third"):
        (tmp_path / name).mkdir()
    assert run(arguments.format(other=tmp_path / "other", third=tmp_path / "third").split()) == 0
    folders = asked(daemon, "initialize")["workspaceFolders"]
    assert [each["uri"] for each in folders] == [(tmp_path / root).as_uri()]


class Scripted:
    """A client whose `initialize` ends as it was told to."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error
        self.closed = False

    def initialize(self, *_: object, **__: object) -> None:
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        self.closed = True


def test_a_daemon_that_was_just_ending_is_replaced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ending, fresh = Scripted(ConnectionLost("gone")), Scripted()
    reached = iter([ending, fresh])
    monkeypatch.setattr(session, "reach_daemon", lambda settings: next(reached))
    with session.open_session(GlobalOptions(), None) as client:
        used: object = client
        assert used is fresh and ending.closed
    assert fresh.closed


def test_a_second_daemon_that_ends_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    clients = [Scripted(ConnectionLost("gone")) for _ in range(3)]
    reached = iter(clients)
    monkeypatch.setattr(session, "reach_daemon", lambda settings: next(reached))
    with pytest.raises(ConnectionLost), session.open_session(GlobalOptions(), None):
        raise AssertionError("there is no session")
    assert [each.closed for each in clients] == [True, True, False]


def test_a_daemon_is_started_only_where_none_listens(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    started: list[dict[str, str]] = []
    config = tmp_path / "c.json"

    def nobody(address: Address) -> Scripted:
        raise NobodyThere(str(address.socket))

    def ensure(address: Address, environ: dict[str, str]) -> Scripted:
        assert address == Address.of(home)
        started.append(environ)
        return Scripted()

    monkeypatch.setattr("aurora_protocol.launch.ensure_daemon", ensure)
    monkeypatch.setattr(session.Client, "connect", nobody)
    session.reach_daemon(GlobalOptions(config=config))
    assert started[0]["AURORA_CONFIG"] == str(config), "what is started is told of the file"
    assert capsys.readouterr().err == ""

    monkeypatch.setattr(session.Client, "connect", lambda address: Scripted())
    session.reach_daemon(GlobalOptions())
    assert capsys.readouterr().err == ""
    session.reach_daemon(GlobalOptions(config=config, lifespan_policies=config))
    assert "stop it for --config and --lifespan-policies" in capsys.readouterr().err
    assert len(started) == 1, "what runs already stays"


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 0


@pytest.mark.parametrize(
    ("environ", "no_color", "rich", "width"),
    [
        ({}, False, True, 123),
        ({"COLUMNS": "60"}, False, True, 60),
        ({"COLUMNS": "wide"}, False, True, 123),
        ({"COLUMNS": "0"}, False, True, 123),
        ({"NO_COLOR": "1"}, False, False, 123),
        ({"NO_COLOR": ""}, False, True, 123),
        ({"TERM": "dumb"}, False, False, 123),
        ({}, True, False, 123),
    ],
)
def test_how_a_terminal_is_written_to(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], no_color: bool, rich: bool, width: int
) -> None:
    monkeypatch.setattr("os.get_terminal_size", lambda _: SimpleNamespace(columns=123))
    assert style_of(Terminal(), environ, no_color=no_color) == TerminalStyle(rich=rich, width=width)
    assert style_of(StringIO(), environ, no_color=no_color) == TerminalStyle(rich=False, width=None)


def test_a_terminal_that_does_not_know_its_width_has_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.get_terminal_size", lambda _: SimpleNamespace(columns=0))
    assert style_of(Terminal(), {}, no_color=False).width == 80


def result(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "function", "name": "f", "file": "a.py", "line_start": 1, "line": 1, "signature": "def f()",
        "score": 0.5, "workspace": "/w", **changes,
    }  # fmt: skip


def shown(results: list[dict[str, Any]], width: int | None, **more: Any) -> list[str]:
    reply = RECALLED | {"results": results} | more
    return recall_lines(reply, style=TerminalStyle(width=width), here=Path("/w"), now=NOW)


def test_results_come_first_then_the_hint_then_logs_and_how_fresh_it_is_last() -> None:
    log = {"file": "l.md", "line_start": 7, "section": "s"}
    lines = shown([result(), result(name="g", signature="def g()")], 80, hint="try --everywhere", logs=[log])
    assert [line.split()[0] for line in lines] == ["1", "2", "try", "see", "index"]


@pytest.mark.parametrize(
    ("name", "column"),
    [("f", 7), ("d" * 30, 36), ("d" * 80, 54)],  # where the place of a short name begins
)
def test_one_long_name_does_not_push_all_places_away(name: str, column: int) -> None:
    lines = shown([result(), result(name=name)], 120)
    assert lines[0].index("a.py") == column


@pytest.mark.parametrize(("width", "kept"), [(None, 300), (120, 48), (80, 48), (60, 56), (20, 16)])
def test_what_is_left_of_a_long_name(width: int | None, kept: int) -> None:
    line = shown([result(name="x" * 300)], width)[0]
    name = line.removeprefix(" 1  ").partition("  ")[0]
    assert len(name) == kept and name.endswith("x" if width is None else "…"), "what is piped is whole"


def test_kinds_are_told_by_how_many_there_are_then_by_name() -> None:
    kinds = {"method": 2, "class": 1, "function": 7, "constant": 2}
    assert summary_lines(INDEXED | {"kinds": kinds})[-1] == "  7 functions · 2 constants · 2 methods · 1 class"


def finding(severity: str, start: int) -> Any:
    place = SimpleNamespace(start=SimpleNamespace(line=start, character=0))
    return SimpleNamespace(
        severity=severity, start=start, message=f"{severity} {start}", rule="r", range=lambda _: place
    )


def test_errors_of_a_site_come_first_and_twenty_are_shown() -> None:
    found = [finding("warning", number) for number in range(21)] + [finding("error", 30), finding("error", 25)]
    published: Any = SimpleNamespace(findings=found, document=SimpleNamespace(lines=None))
    lines = finding_lines(published, TerminalStyle())
    assert [line.split(" ", 2)[2] for line in lines[:3]] == ["error 25 r", "error 30 r", "warning 0 r"]
    assert len(lines) == 21 and lines[-1] == "… and 3 more; --json lists them"
    clean: Any = SimpleNamespace(findings=found[:1], document=SimpleNamespace(lines=None))
    assert finding_lines(clean, TerminalStyle())[-1] == "✓ valid"


def test_a_long_answer_of_a_site_is_cut_at_four_hundred_lines() -> None:
    def answer(lines: int) -> list[str]:
        reply = SiteReply(
            method="GET",
            url="https://a.example/",
            status=200,
            headers=(("content-type", "text/plain"),),
            body=b"\n".join([b"x"] * lines),
            took_ms=1.0,
        )
        return reply_lines(reply, TerminalStyle())

    assert answer(400).count("x") == 400 and answer(400)[-1] == "x"
    assert answer(402).count("x") == 400 and answer(402)[-1] == "… and 2 more lines; --json shows them"


@pytest.mark.parametrize(("width", "kept"), [(60, 60), (None, 200)])
def test_an_iteration_is_one_line_of_the_terminal(width: int | None, kept: int) -> None:
    record = SimpleNamespace(state="complete", score=0.75, answer="word " * 100, error=None)
    iteration: Any = SimpleNamespace(number=1, limit=3, record=record, cost_usd=0.5, next_step="")
    line = iteration_line(iteration, TerminalStyle(width=width))
    assert line.startswith("iteration 1/3 · complete 0.75 · $0.50 · word") and line.endswith("…") and len(line) == kept
    iteration.next_step = "look again"
    assert iteration_line(iteration, TerminalStyle()).endswith(" · look again"), "what comes next is told before more"


DEFAULTS = {
    "mem --limit": 10,
    "logs search --limit": 20,
    "logs search --context": 0,
    "deliverable list --limit": 50,
    "deliverable events --limit": 1000,
    "manifest fetch --timeout": 30.0,
    "manifest serve --port": 8765,
    "manifest serve --rate-limit": 120,
    "dashboard --port": 0,
    "manifest validate --stdin-filename": "<stdin>",
    "memory export file": "-",
}


@pytest.mark.parametrize("option", DEFAULTS)
def test_what_an_option_is_that_nobody_gives(option: str) -> None:
    *names, given = option.split()
    command: click.Command = aurora
    for name in names:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    (parameter,) = (each for each in command.params if given in each.opts or given == each.name)
    assert parameter.default == DEFAULTS[option]


def conversation(**changes: Any) -> Any:
    told = {"started_at": "2026-02-01T10:00:00+00:00", "day": "2026-02-01", "name": "n" * 70, "query": "q" * 300}
    return SimpleNamespace(**(told | {"state": "complete", "score": 0.9, "cost_usd": 0.01, "duration_ms": 9} | changes))


def test_of_a_conversation_the_name_stays_whole_and_the_question_gives_way() -> None:
    """A name is what `aurora logs view` takes."""
    narrow, _ = list_lines([conversation()], TerminalStyle(width=80))
    assert "n" * 70 in narrow and narrow.endswith("q" * 19 + "…")
    piped, _ = list_lines([conversation()], TerminalStyle())
    assert piped.endswith("  " + "q" * 119 + "…"), "a question may be pages long"
    stopped, _ = list_lines([conversation(state="interrupted")], TerminalStyle())
    assert stopped.endswith("  interrupted: " + "q" * 106 + "…")


def test_of_an_agent_six_capabilities_and_three_domains_are_told() -> None:
    agent = SimpleNamespace(
        id="a", type="cli", success_rate=None, capabilities=tuple("abcdefgh"), domains=tuple("uvwxyz"),
        description="", origin="here",
    )  # fmt: skip
    known: Any = SimpleNamespace(agents=[agent], ignored=[], notices=[])
    assert agent_lines(known, TerminalStyle())[2] == "    a, b, c, d, e, f, u, v, w"


@pytest.mark.parametrize(("stage", "said"), [("guard", "interrupted\n"), ("assess", "--resume aurora-1\n")])
def test_a_run_can_be_gone_on_with_from_its_first_kept_stage(stage: str, said: str) -> None:
    err = StringIO()
    with run_view(GlobalOptions(), out=StringIO(), err=err) as view:
        view.stage({"run": "aurora-1", "stage": stage, "status": "in_progress"})
        assert view.interrupted() == 130
    assert err.getvalue().endswith(said)


def test_a_command_in_a_hurry_ends_at_once_and_one_that_stays_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    class AtOnce(Exception):
        pass

    def ended(code: int) -> None:
        raise AtOnce(code)

    monkeypatch.setattr(os, "_exit", ended)
    collecting = gc.isenabled()
    try:
        fast_exit.hurry()
        with pytest.raises(AtOnce, match="4"):
            fast_exit.leave(4)
        fast_exit.stay()
        assert fast_exit.leave(4) == 4
    finally:
        (gc.enable if collecting else gc.disable)()


@pytest.mark.parametrize(
    ("text", "words", "shown"),
    [
        pytest.param("the oauth login", ["login"], "the oauth login", id="a line that fits as it is"),
        pytest.param("oauth " + "x" * 40, ["oauth"], "oauth xxxxxxxxxxxxxxxxxxxxxxx…", id="from its beginning"),
        pytest.param("a" * 13 + " login " + "x" * 40, ["login"], "a" * 13 + " login xxxxxxxxx…", id="still from there"),
        pytest.param("a" * 14 + " login " + "x" * 40, ["login"], "…aaaaaaaaa login xxxxxxxxxxxx…", id="from its half"),
        pytest.param("x" * 60 + " login", ["login"], "…xxxxxxxxxxxxxxxxxxxxxxx login", id="a word at the end, whole"),
        pytest.param(
            "b" * 20 + " login " + "x" * 40 + " oauth", ["oauth", "login"], "…bbbbbbbb", id="the first on the line"
        ),
        pytest.param("a" * 60, [" ", "none"], "a" * 29 + "…", id="where no word is on it, from its beginning"),
    ],
)
def test_of_a_long_line_of_a_log_what_is_around_the_first_word_is_shown(
    text: str, words: list[str], shown: str
) -> None:
    line = SimpleNamespace(number=1, text=text, hit=True)
    found: Any = SimpleNamespace(conversation=conversation(name="n", query="q"), lines=[line], matches=1)
    _, said = found_lines([found], words, TerminalStyle(width=37))
    assert said.removeprefix("    1  ").startswith(shown) and len(said) <= 37


@pytest.mark.parametrize(
    ("tools", "total", "said"),
    [
        pytest.param({"b": 2, "c": 3, "a": 2}, None, "7: c 3, a 2, b 2", id="those used most first, as many by name"),
        pytest.param(dict.fromkeys("fedcba", 1), None, "6: a 1, b 1, c 1, d 1, e 1, …", id="five of them"),
        pytest.param({"a": 1200}, 1500, "1,500: a 1,200", id="all calls, those of tools without a name too"),
        pytest.param({}, 3, "3", id="calls alone where no tool has a name"),
        pytest.param({}, None, "", id="nothing where nobody told of one"),
    ],
)
def test_which_tools_of_a_deliverable_are_told(tools: dict[str, int], total: int | None, said: str) -> None:
    assert tool_words(tools, total) == said


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_a_name_that_a_spreadsheet_would_calculate_is_kept_from_it(begin: str) -> None:
    """Also by the full-width forms, which some of them take for the same."""
    cost = {"deliverables": 1, "accepted": -1, "costed": 1, "cost_usd": None, "cost_per_accepted_usd": None}
    named = [{"name": f"{begin}cmd()", "metrics": {}, "cost": cost}]
    window = {"from": "2026-02-20T10:00:00+00:00", "to": "2026-02-27T10:00:00+00:00"}
    text = metrics_csv({"window": window, "metrics": {}, "groups": {"agent": named}})
    rows = list(csv.DictReader(StringIO(text, newline="")))
    assert {row["name"] for row in rows} == {f"'{begin}cmd()"}
    assert [row["value"] for row in rows] == ["1", "-1", "", ""], "numbers stay numbers; what nobody told is empty"


@pytest.mark.parametrize(
    ("group", "names"),
    [
        ("", "agents budget completion config daemon dashboard deliverable demo doctor explain index logs lsp "
         "manifest mcp mem memory metrics query report status team trust uninstall who"),
        ("manifest", "call crawl do fetch serve state validate"),
        ("deliverable", "complete conform criteria events export fail ingest intervene iterate list phase recovery "
         "rename revive session show start task tests tokens tool-call"),
    ],
)  # fmt: skip
def test_what_can_be_typed(group: str, names: str) -> None:
    found: Any = aurora.get_command(click.Context(aurora), group) if group else aurora
    context = click.Context(found)
    assert set(names.split()) <= set(found.list_commands(context))
    for name in names.split():
        command = found.get_command(context, name)
        assert command is not None and command.help, f"{name} says what it is for"


def test_without_a_word_help_is_shown_and_unattended_no_command_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0 and "Words that are no command are recalled" in capsys.readouterr().out
    assert run(["--headless", "status"]) == 2 and "--headless takes no command" in capsys.readouterr().err


def test_commands_that_ask_and_commands_that_tell_are_listed_together_by_name() -> None:
    group = aurora.get_command(click.Context(aurora), "deliverable")
    assert isinstance(group, click.Group)
    names = group.list_commands(click.Context(group))
    assert names == sorted(names) and {"ingest", "list", "start"} <= set(names)


@pytest.mark.parametrize(("state", "colour"), [("partial", "33"), ("failed", "31"), ("of_a_newer_one", "33")])
def test_how_a_conversation_ended_is_coloured_where_it_is_not_complete(state: str, colour: str) -> None:
    lines = list_lines([conversation(state=state)], TerminalStyle(rich=True, width=200))
    assert f"\x1b[{colour}m{state.replace('_', ' ')}" in lines[0]
    assert "complete" not in list_lines([conversation()], TerminalStyle(rich=True, width=200))[0]


def test_a_plug_in_takes_no_name_of_ours_however_it_may_be_spelled() -> None:
    asked: list[set[str]] = []

    def plugged(taken: Collection[str]) -> dict[str, click.Command]:
        asked.append(set(taken))
        return {}

    group = LazyGroup("aurora", places={"memory": ("m", "memory")}, aliases={"memories": "memory"}, plugged=plugged)
    assert group.list_commands(click.Context(group)) == ["memory"]
    assert asked == [{"memory", "memories"}]
