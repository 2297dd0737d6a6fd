"""How commands end and what they count, a rule each: which code, which of two values, what was done before it."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from aurora_cli import (
    daemon,
    demo,
    fast_exit,
    headless,
    manifest_check,
    manifest_plan,
    query,
    report,
    site_call,
    status,
)
from aurora_cli.app import run
from aurora_cli.lsp import Farewell
from aurora_cli.manifest_check import Checked
from aurora_cli.manifest_files import UnreadableManifest
from aurora_cli.manifest_plan import PlanRun
from aurora_cli.output import TerminalStyle
from aurora_cli.sarif import log
from aurora_cli.site_view import published_lines
from aurora_orchestration.guardrails.budget import Unrecorded
from aurora_protocol import CallBlocked, SiteError
from aurora_protocol.client import DaemonUnreachable
from aurora_protocol.connection import NobodyThere
from aurora_protocol.frames import encode

PLAIN = TerminalStyle()


# A plan's steps


def planned(reply: Any, raised: BaseException | None = None, *, yes: bool = True) -> Any:
    """A run of one step that is answered with that, or that ends so."""
    made: Any = PlanRun.__new__(PlanRun)
    made._yes, made._style, made._jar, made._policy = yes, None, None, None
    made._answers, made.documents = [], []

    def call(_: Any) -> Any:
        if raised is not None:
            raise raised
        return object()

    made._call, made._capability = call, lambda _: None
    return made


def answered(status_: int = 200, *, cut: str = "") -> Any:
    return SimpleNamespace(fine=status_ < 400, cut=cut, status=status_, reason="Not Found" if status_ == 404 else "")


STEP: Any = SimpleNamespace(capability="add")


@pytest.mark.parametrize(
    ("reply", "ended"),
    [
        pytest.param(answered(), (0, ""), id="the site did it"),
        pytest.param(answered(404), (1, "the site answered 404 Not Found"), id="it did not"),
        pytest.param(answered(599), (1, "the site answered 599"), id="and says no more"),
        pytest.param(answered(cut="8 MiB"), (1, "the answer is cut, and nothing further rests on it"), id="cut"),
        pytest.param(answered(404, cut="8 MiB"), (1, "the site answered 404 Not Found"), id="refused, though cut"),
    ],
)
def test_how_a_step_ends(reply: Any, ended: tuple[int, str], monkeypatch: pytest.MonkeyPatch) -> None:
    async def sent(*_: Any) -> Any:
        return reply

    monkeypatch.setattr(manifest_plan, "send_call", sent)
    for name, made in (("body_value", None), ("reply_document", {}), ("hint_after", None)):
        monkeypatch.setattr(manifest_plan, name, lambda *_, made=made: made)
    run_ = planned(reply)
    assert run_._attempt(1, STEP) == ended and len(run_.documents) == 1


@pytest.mark.parametrize(
    ("error", "ended"),
    [
        (CallBlocked("add: not sent"), (4, "not sent")),
        (SiteError("add: no way"), (1, "no way")),
        (SiteError("other: no way"), (1, "other: no way")),
        (click.BadParameter("bad"), (1, "Invalid value: bad")),
        (KeyboardInterrupt(), (130, "interrupted before it was sent")),
        (click.Abort(), (130, "interrupted before it was sent")),
    ],
)
def test_how_a_step_ends_that_was_not_sent(error: BaseException, ended: tuple[int, str]) -> None:
    assert planned(None, error)._attempt(1, STEP) == ended


def test_what_was_interrupted_after_it_was_sent_may_have_been_done(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(manifest_plan, "confirm_call", lambda *given: asked.append(given))

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    for yes in (True, False):
        made = planned(None, yes=yes)
        made._send = interrupted
        assert made._attempt(1, STEP) == (130, "interrupted; the site may have done it")
    assert len(asked) == 1, "with --yes nobody is asked"


# Arguments of a call


def test_of_arguments_given_both_ways_words_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_call, "typed", lambda capability, name, values: values[-1])
    nothing: Any = None
    assert site_call.arguments_of(nothing, {"a": 1, "b": 2}, {"b": ["x"]}) == {"a": 1, "b": "x"}


def test_arguments_that_go_nowhere_are_told_but_for_those_of_the_address(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found: list[Any] = []
    monkeypatch.setattr(site_call, "misfits", lambda *_: found)
    monkeypatch.setattr(site_call, "unused", lambda *_: ["id", "x", "y"])
    monkeypatch.setattr(site_call, "mapping_of", lambda _: None)
    capability: Any = SimpleNamespace(
        name="add", parameters=None, template=SimpleNamespace(variables=[SimpleNamespace(name="id")])
    )
    site_call.check_arguments(capability, {})
    assert capsys.readouterr().err == "aurora: the manifest maps no parameter to x, y: not sent\n"
    found += [SimpleNamespace(path="/a", message="is missing"), SimpleNamespace(path="", message="are too many")]
    with pytest.raises(SiteError, match=r"^add: /a is missing; the arguments are too many$"):
        site_call.check_arguments(capability, {})
    assert capsys.readouterr().err == "", "of what is not sent at all no more is said"


# Files that are checked


def test_each_file_is_checked_once_in_the_order_in_which_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be checked comes in its place; what is none of ours is checked as a manifest."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".aurora").mkdir()
    for name in ("b.json", "a.json", ".aurora/config.json"):
        (tmp_path / name).write_text("{}")
    given = ["b.json", "gone/*.json", "a.json", "./b.json", "gone.json", ".aurora/config.json"]
    found = list(manifest_check.checks(given, tmp_path, "<stdin>", {}, tmp_path / "home", fix=False))
    assert [each.source.name if isinstance(each, Checked) else "error" for each in found] == [
        "b.json", "error", "a.json", "error", ".aurora/config.json"
    ]  # fmt: skip
    kinds = [each.kind.name for each in found if isinstance(each, Checked)]
    assert kinds[0] == kinds[1] != kinds[2]
    whole = manifest_check.report([each for each in found if isinstance(each, Checked)], ["why"])
    assert not whole.valid and [each.file for each in whole.files] == ["b.json", "a.json", ".aurora/config.json"]
    assert all(isinstance(each, Checked | UnreadableManifest) for each in found)


@pytest.mark.parametrize(("severity", "valid"), [("warning", True), ("info", True), ("error", False)])
def test_only_an_error_makes_a_manifest_invalid(severity: str, valid: bool) -> None:
    made: Any = SimpleNamespace(findings=[SimpleNamespace(severity=severity)])
    assert Checked.valid.fget(made) is valid  # type: ignore[attr-defined]


def test_in_sarif_rules_are_numbered_as_they_are_listed_and_those_that_are_not_behind_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("aurora_cli.sarif._result", lambda finding, lines, artifact, number: (finding.rule, number))
    monkeypatch.setattr("aurora_cli.sarif._artifact", lambda *_: {})
    rules: Any = [SimpleNamespace(id=name, severity="hint", summary="", documentation="") for name in ("b", "a")]
    found: Any = [SimpleNamespace(findings=[SimpleNamespace(rule=rule)], lines=None, source=None) for rule in "axb"]
    run_ = log(found, ["why"], rules, tmp_path)["runs"][0]
    assert run_["results"] == [("a", 1), ("x", 2), ("b", 0)]
    assert [each["id"] for each in run_["tool"]["driver"]["rules"]] == ["b", "a", "x"]
    assert run_["invocations"][0]["executionSuccessful"] is False
    assert log([], [], rules, tmp_path)["runs"][0]["invocations"] == [{"executionSuccessful": True}]


# Sites


def test_a_manifest_is_told_where_it_is_from_then_whose_then_how_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aurora_cli.site_view.finding_lines", lambda *_: ["found"])
    values = {"name": "Shop", "url": "https://a.example", "authHint": "cookie"}
    monkeypatch.setattr(
        "aurora_cli.site_view.string_at",
        lambda part, name: SimpleNamespace(value=values[name]) if part and name in part else None,
    )
    manifest: Any = SimpleNamespace(site=["name", "url"], policy=["authHint"], capabilities={"a": 1}, resources=[1, 2])
    told: Any = SimpleNamespace(text="x" * 2048, source="cache", url="https://a.example/aura.json", manifest=manifest)
    assert published_lines(told, PLAIN) == [
        "https://a.example/aura.json  2.0 KiB, kept here, still fresh",
        "Shop · https://a.example",
        "1 capability, 2 resources, auth by cookie",
        "found",
    ]
    manifest.site, manifest.policy, told.source = [], [], "site"
    assert published_lines(told, PLAIN)[1:] == ["1 capability, 2 resources", "found"]


# Unattended


@pytest.mark.parametrize(
    ("stage", "enabled", "usd"),
    [
        pytest.param({"run": "r", "cost_usd": 1.0}, True, 3.0, id="what the budget knows, of this run alone"),
        pytest.param({"run": "r", "cost_usd": 9.0}, True, 9.0, id="or what was told, where that is more"),
        pytest.param({"run": "r", "cost_usd": 1.0}, False, 1.0, id="alone, where nothing is written down"),
        pytest.param({"cost_usd": None}, True, 0.0, id="and of no run nothing"),
    ],
)
def test_what_a_run_that_was_cancelled_has_cost(stage: dict[str, Any], enabled: bool, usd: float) -> None:
    entries = [SimpleNamespace(run="r", usd=1.0), SimpleNamespace(run="r", usd=2.0), SimpleNamespace(run="x", usd=50.0)]
    budget: Any = SimpleNamespace(
        settings=SimpleNamespace(enabled=enabled), history=lambda: SimpleNamespace(entries=entries)
    )
    assert headless.spent_by(budget, stage) == usd

    def closed() -> Any:
        raise Unrecorded("closed")

    budget.history = closed
    assert headless.spent_by(budget, stage) == float(stage["cost_usd"] or 0.0)


# Reports that are kept


def test_a_report_is_kept_by_a_name_that_every_disk_takes_where_that_is_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where: Any = SimpleNamespace(enabled=True, output_path=str(tmp_path / "kept"))
    report.keep_report(where, "my shop/a:b_2026", "text")
    assert [each.name for each in (tmp_path / "kept").iterdir()] == ["my-shop-a-b_2026.md"]
    for changed in ({"enabled": False}, {"output_path": ""}):
        off: Any = SimpleNamespace(**({"enabled": True, "output_path": str(tmp_path / "off")} | changed))
        report.keep_report(off, "x", "text")
    assert not (tmp_path / "off").exists() and capsys.readouterr().err == ""
    (tmp_path / "file").touch()
    where.output_path = str(tmp_path / "file")
    report.keep_report(where, "x", "text")
    assert "is not kept in" in capsys.readouterr().err, "a report that cannot be kept is printed all the same"


# The way out


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        (['{"method": "shutdown"}', '{"method": "exit"}'], (True, True)),
        (['{"method": "exit"}'], (False, True)),
        (['{"method": "textDocument/didOpen", "params": {"text": "shutdown exit"}}'], (False, False)),
        (['["shutdown"]', "shutdown"], (False, False)),
    ],
)
def test_what_an_editor_says_last(messages: list[str], said: tuple[bool, bool]) -> None:
    farewell = Farewell()
    farewell.watch(b"".join(encode(each.encode()) for each in messages))
    assert (farewell.shutdown, farewell.exit) == said


def test_a_stream_that_was_closed_leads_nowhere_and_the_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(sys, "stderr", None)
    out = sys.stdout
    fast_exit.open_streams()
    try:
        assert sys.stdin.readable() and sys.stderr.writable() and sys.stdout is out
        assert sys.stdin.read() == ""
    finally:
        sys.stdin.close()
        sys.stderr.close()


# Wrong questions


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["query", " "], 2, "the question is empty"),
        (["query", "x", "--resume", "r"], 2, "--resume goes on with its own question"),
        (["query", "x" * 200_001], 2, "more than 200,000 characters"),
        (["mem", " "], 2, "the query is empty"),
        (["explain", " "], 2, "nothing is named"),
        (["metrics", "--csv", "--json"], 2, "give --csv or --json, not both"),
        (["deliverable", "ingest", "a", "--junit", "b"], 2, "give FILEs or --junit, not both"),
        (["deliverable", "ingest", "--change", "x"], 2, "--change and --at are for --junit"),
        (["logs", "--date", "2026-02-01", "today"], 2, "put the dates behind `today`"),
        (["logs", "list", "2026-02"], 2, "is no month; write it as YYYY/MM"),
        (["logs", "list", "2026/02", "--date", "2026-02-01"], 2, "a month and other dates exclude each other"),
        (["logs", "search", " "], 2, "the words are empty"),
        (["config", "set", "a.b"], 2, "every KEY needs a VALUE"),
        (["config", "set", "--nope", "1"], 2, "No such option '--nope'; see: "),
        (["mem", "what", "--no-cache", "does"], 2, "for a word write: aurora mem -- --no-cache; see: aurora mem"),
        (["query", "--no-cache"], 2, "for a word write: aurora query -- --no-cache; see: "),
        (["mem", "-no-cache"], 2, "for a word write: aurora mem -- …; see: "),
        (["--no-cache"], 2, "for a word write: aurora mem -- --no-cache; see: "),
        (["--", "--no-cache"], 2, "to recall it: aur mem -- --no-cache; see: "),
        (["who", "--xyz"], 2, "No such option '--xyz'; see: "),
    ],
)
def test_what_cannot_be_asked_is_told_before_anybody_is_asked(
    arguments: list[str], code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def reached(*_: Any) -> Any:
        raise AssertionError("a daemon was asked")

    monkeypatch.setenv("AURORA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("aurora_cli.session.reach_daemon", reached)
    assert run(arguments) == code and said in capsys.readouterr().err


# Stopping a daemon


class Launch:
    """A system in which daemons are stopped: which processes go, and when."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **more: Any) -> None:
        self.done: list[str] = []
        told: dict[str, Any] = {"asked": (None, None), "info": None, "gone": [], "stops": True, "kills": True} | more
        gone = iter(told["gone"])
        info = None if told["info"] is None else SimpleNamespace(pid=told["info"], socket="s")
        monkeypatch.setattr(daemon, "_ask_to_stop", lambda _: told["asked"])
        monkeypatch.setattr(daemon, "read_info", lambda _: info)
        launch = "aurora_protocol.launch."
        monkeypatch.setattr(f"{launch}wait_until_gone", lambda *_: next(gone))
        monkeypatch.setattr(f"{launch}stop_listener", lambda *_: self.done.append("stop") or told["stops"])
        monkeypatch.setattr(f"{launch}kill_listener", lambda *_: self.done.append("kill") or told["kills"])


@pytest.mark.parametrize(
    ("system", "pid", "done"),
    [
        pytest.param({}, None, [], id="none runs"),
        pytest.param({"asked": (7, None), "gone": [True]}, 7, [], id="one that goes when it is asked"),
        pytest.param({"asked": (7, None), "gone": [False, True], "info": 7}, 7, ["stop"], id="else it is signalled"),
        pytest.param({"asked": (7, None), "gone": [False, False, True], "info": 7}, 7, ["stop", "kill"], id="killed"),
        pytest.param({"asked": (7, None), "gone": [False, True], "info": 9}, 7, [], id="a successor is left alone"),
        pytest.param({"info": 7, "gone": [True]}, 7, ["stop"], id="one that hangs is found by its socket"),
        pytest.param({"info": 7, "stops": False}, None, ["stop"], id="whose process may be gone"),
        pytest.param({"asked": (None, DaemonUnreachable("x")), "info": 7, "gone": [True]}, 7, ["stop"], id="or silent"),
    ],
)
def test_how_a_daemon_is_stopped(system: Any, pid: int | None, done: list[str], monkeypatch: Any) -> None:
    launch = Launch(monkeypatch, **system)
    nothing: Any = None
    assert daemon.stop_daemon(nothing) == pid and launch.done == done


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ({"asked": (None, DaemonUnreachable("it is another's"))}, "it is another's"),
        ({"asked": (7, None), "gone": [False, False], "info": 9}, r"process 7\) does not end"),
        ({"info": 7, "gone": [False], "kills": False}, r"process 7\) does not stop"),
        ({"info": 7, "gone": [False, False]}, r"process 7\) does not stop"),
    ],
)
def test_a_daemon_that_stays_is_told_with_what_ends_it(system: Any, said: str, monkeypatch: Any) -> None:
    Launch(monkeypatch, **system)
    nothing: Any = None
    with pytest.raises(DaemonUnreachable, match=said):
        daemon.stop_daemon(nothing)


@pytest.mark.parametrize(
    ("error", "found"), [(NobodyThere("x"), (None, None)), (DaemonUnreachable("closed"), (None, "closed"))]
)
def test_where_nobody_is_there_nothing_is_wrong(error: Exception, found: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(_: Any) -> Any:
        raise error

    monkeypatch.setattr(daemon.Client, "connect", connect)
    nothing: Any = None
    pid, why = daemon._ask_to_stop(nothing)
    assert (pid, None if why is None else str(why)) == found


# One screen, and a walk


def test_what_a_list_of_what_is_under_way_lacks_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    class Client:
        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def initialize(self, *_: Any, **__: Any) -> None:
            pass

        def request(self, _: str, asked: Any, **__: Any) -> Any:
            assert asked == {"action": "list", "status": "open", "limit": 5}
            return {"total": 3, "names": None}

    monkeypatch.setattr(status.Client, "connect", lambda _: Client())
    settings: Any = SimpleNamespace(address=None)
    assert status._under_way(settings, Path("/w")) == {"deliverables": [], "total": 3, "names": {}}


def test_a_step_is_shown_as_one_types_it_and_says_what_for_where_it_is_new() -> None:
    mem, other = demo.Step("Recall.", ("mem", "how is it", "x")), demo.Step("", ("metrics",))
    assert demo._typed(mem) == 'aur mem "how is it" x' and demo._typed(other) == "aurora metrics"
    assert demo._heading(2, mem, PLAIN) == ["", f"2/{len(demo.STEPS)} Recall.", '$ aur mem "how is it" x']
    assert demo._heading(3, other, PLAIN) == ["", "$ aurora metrics"]


# A question that is asked back


@pytest.mark.parametrize(("typed", "answer"), [("the left one", "the left one"), ("", None)])
def test_what_is_typed_is_the_answer_and_nothing_is_none(typed: str, answer: str | None, monkeypatch: Any) -> None:
    answerers: dict[str, Any] = {}
    asked: dict[str, Any] = {}

    class Client:
        def answer(self, method: str, how: Any) -> None:
            answerers[method] = how

        def request(self, method: str, params: Any, on_progress: Any) -> Any:
            asked.update(params)
            return {"answered": answerers["aurora/askUser"]({"question": "which?"})}

    told: list[Any] = []
    monkeypatch.setattr(query, "open_session", lambda settings, root, options: nullcontext(Client()))
    monkeypatch.setattr(query, "index_once", lambda *_: None)
    monkeypatch.setattr(query.click, "prompt", lambda said, **_: told.append(said) or typed)
    view: Any = SimpleNamespace(paused=nullcontext, stage=None, finish=lambda result: result["answered"])
    settings: Any = SimpleNamespace(json=False, workspace=Path("/w"))
    assert query.ask(settings, {"query": "q"}, view) == {"answer": answer}
    assert told == ["\nwhich?\n"] and asked["query"] == "q" and asked["partialResultToken"]


@pytest.mark.parametrize(
    ("params", "as_json", "shown"),
    [({"if_called": True}, False, False), ({"if_called": True}, True, True), ({"if_called": False}, False, True)],
)
def test_a_hook_that_does_not_call_says_nothing(params: Any, as_json: bool, shown: bool, monkeypatch: Any) -> None:
    client: Any = SimpleNamespace(answer=lambda *_: None, request=lambda *_, **__: {"id": ""})
    monkeypatch.setattr(query, "open_session", lambda *_: nullcontext(client))
    monkeypatch.setattr(query, "index_once", lambda *_: None)
    finished: list[Any] = []
    view: Any = SimpleNamespace(paused=nullcontext, stage=None, finish=lambda result: finished.append(result) or 0)
    settings: Any = SimpleNamespace(json=as_json, workspace=Path("/w"))
    assert query.ask(settings, params, view) == 0 and bool(finished) is shown
