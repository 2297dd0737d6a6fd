"""What commands choose, a rule each: which files are meant, what is refused, what is told first and what is counted."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from aurora_cli import doctor, explain, logs, manifest_files, manifest_sites, report, status, uninstall
from aurora_cli.config import _same_place
from aurora_cli.deliverable_record import command
from aurora_cli.errors import exit_code, one_line
from aurora_cli.import_path import closed_path
from aurora_cli.index import done
from aurora_cli.manifest_files import UnreadableManifest
from aurora_cli.output import TerminalStyle
from aurora_cli.query_view import cost
from aurora_cli.recall_view import _below, _parameter
from aurora_cli.who import facts, name, who_lines
from aurora_protocol import AuroraError, SiteError
from aurora_protocol.client import DaemonUnreachable

NOW = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
PLAIN = TerminalStyle()


# Files of manifests


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for place in ("aura.json", "b/aura.json", "b/other.json", "a/deep/aura.json", ".git/aura.json",
                  "node_modules/x/aura.json", ".well-known/aura.json", "[x].json"):  # fmt: skip
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("argument", "found"),
    [
        pytest.param(".", [".well-known/aura.json", "a/deep/aura.json", "aura.json", "b/aura.json"], id="of a folder"),
        pytest.param("**/*.json", [".well-known/aura.json", "[x].json", "a/deep/aura.json", "aura.json", "b/aura.json",
                                   "b/other.json"], id="at any depth, sorted"),
        pytest.param("b/*.json", ["b/aura.json", "b/other.json"], id="in one folder"),
        pytest.param("*/aura.json", [".git/aura.json", ".well-known/aura.json", "b/aura.json"], id="one folder down"),
        pytest.param("[x].json", ["[x].json"], id="a file whose name looks like a pattern"),
        pytest.param("gone.json", ["gone.json"], id="what is named is told of when it is read"),
        pytest.param("b/**", ["b/aura.json", "b/other.json"], id="all that is below"),
    ],
)  # fmt: skip
def test_which_files_an_argument_names(site: Path, argument: str, found: list[str]) -> None:
    assert [each.as_posix() for each in manifest_files.matching(argument)] == found


@pytest.mark.parametrize(("argument", "said"), [("empty", "there is no aura.json in empty"), ("x*", "no file matches")])
def test_an_argument_that_names_none_says_what_would(site: Path, argument: str, said: str) -> None:
    (site / "empty").mkdir()
    with pytest.raises(UnreadableManifest, match=said):
        manifest_files.matching(argument)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfea", "this is UTF-16"),
        (b"\xfe\xffa", "this is UTF-16"),
        (b"{}\n\n \xff", r"line 3 is not UTF-8 \(byte 5\)"),
    ],
)
def test_what_is_not_utf_8_is_told_with_its_line(content: bytes, said: str) -> None:
    with pytest.raises(UnreadableManifest, match=said):
        manifest_files.decoded(content, "a.json")


def test_a_file_that_is_too_large_may_end_within_a_character(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest_files, "MAX_BYTES", 3)
    assert manifest_files.decoded("aaä".encode()[:4], "a") == "aaä"
    assert manifest_files.decoded(b"aaa\xc3", "a") == "aaa\ufffd"
    with pytest.raises(UnreadableManifest):
        manifest_files.decoded(b"aa\xc3", "a")


# Uninstalling


@pytest.mark.parametrize(
    ("made", "home", "said"),
    [
        pytest.param([], "user/.aurora", None, id="what is not there"),
        pytest.param(["user/.aurora/run/x"], "user/.aurora", None, id="what has AURORA's sockets"),
        pytest.param(["user/.aurora/memory/x"], "user/.aurora", "does not look like AURORA's", id="not what has none"),
        pytest.param(
            ["user/.aurora/.git/x", "user/.aurora/run/x"], "user/.aurora", "a repository", id="nor a repository"
        ),
        pytest.param(["user/run/x"], "user", "which your own home is in", id="nor the user's home"),
        pytest.param(["user/run/x", "run/x"], ".", "which your own home is in", id="nor what that is in"),
    ],
)
def test_what_is_removed(tmp_path: Path, made: list[str], home: str, said: str | None) -> None:
    (tmp_path / "user").mkdir()
    for each in made:
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).touch()
    told = uninstall.refusal(tmp_path / home, tmp_path / "user")
    assert told is None if said is None else said in str(told)


@pytest.mark.parametrize(("many", "ends"), [(12, "e11)"), (13, "e11 and 1 more)")])
def test_before_it_is_removed_what_is_in_it_is_told_twelve_by_name(tmp_path: Path, many: int, ends: str) -> None:
    for n in range(many):
        (tmp_path / f"e{n:02}").write_text("x")
    asked = uninstall.question(tmp_path)
    assert asked.partition(", and")[0].endswith(ends) and "e00, e01" in asked and asked.endswith("0 workspaces?")


def test_sockets_of_every_version_go_with_their_home(tmp_path: Path) -> None:
    for each in ("aurora-u1-1.0.sock", "aurora-u1-2.0.sock", "aurora-u11-1.0.sock", "aurora-u1-1.0.token"):
        (tmp_path / each).touch()
    there: Any = SimpleNamespace(socket=tmp_path / "aurora-u1-2.0.sock", home=Path("/h"), version="2.0")
    assert sorted(each.name for each in uninstall._sockets(there)) == ["aurora-u1-1.0.sock", "aurora-u1-2.0.sock"]
    there.home = tmp_path
    assert uninstall._sockets(there) == [], "those within it go with it"


# Who, and what is explained


def person(**changes: Any) -> dict[str, Any]:
    usual = {"author": "0123456789ab", "name": "Ann", "you": False, "activation": 0.5,
             "last_touch": "2026-11-21T19:00:00Z", "commits": 0, "lines": 0, "uses": 0, "uncommitted": 0}  # fmt: skip
    return {**usual, **changes}


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, "Ann"),
        ({"you": True}, "Ann (you)"),
        ({"name": "", "you": True}, "you"),
        ({"name": ""}, "somebody (01234567)"),
    ],
)
def test_what_a_person_is_called(changes: dict[str, Any], shown: str) -> None:
    assert name(person(**changes)) == shown


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""),
        (
            {"lines": 1, "commits": 2, "uncommitted": 3, "uses": 4},
            "1 line, 2 commits, 3 lines not committed, used 4 times",
        ),
        ({"uses": 1}, "used once"),
    ],
)
def test_what_a_person_did_is_told_what_stands_there_first(changes: dict[str, Any], said: str) -> None:
    assert facts(person(**changes)) == said


def test_people_are_told_in_their_order_then_that_others_keep_it_to_themselves_then_what_is_not_known() -> None:
    found = {"place": {"name": "f"}, "people": [person(), person(name="Bob")], "others": True, "unknown": ["u1", "u2"]}
    told = who_lines(found, "a.py:1", PLAIN, NOW)
    assert [line.split()[0] for line in told[:3]] == ["f", "1", "2"] and "Ann" in told[1] and "Bob" in told[2]
    assert told[3:] == ["others used it and do not share who they are", "u1", "u2"]
    assert who_lines({**found, "people": []}, "a.py:1", PLAIN, NOW)[1] == "nobody is known to have touched it"


def test_of_a_chunk_its_signature_is_told_then_what_it_is_for_then_what_happened_to_it() -> None:
    chunk = {
        "signature": "def f()",
        "summary": "Does it.",
        "last_modified": "2026-11-20T20:00:00Z",
        "drifted": ["a.py:3"],
    }
    told = explain._told({"chunk": chunk, "commits": ["a"], "accesses": ["b", "c"]}, NOW)
    assert told[:2] == ["def f()", "Does it."]
    assert [each.split()[0] for each in told[2].split(" · ")][-3:] == ["changed", "1", "used"] and "a.py:3" in told[2]
    assert explain._told({"chunk": {"signature": "", "summary": ""}, "commits": [], "accesses": []}, NOW) == []


# Errors and exit codes


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (FileNotFoundError(2, "No such file", "a.py"), "a.py: No such file; check the path"),
        (NotADirectoryError(20, "Not a directory", "a"), "a: Not a directory; check the path"),
        (PermissionError(13, "Permission denied", "a.py"), "a.py: Permission denied"),
        (OSError("disk\nfull"), "disk full"),
        (click.ClickException("bad\nuse"), "bad use"),
    ],
)
def test_an_error_is_one_line_and_names_its_file(error: Exception, line: str) -> None:
    assert one_line(error) == line


def test_what_was_interrupted_is_told_so_whatever_it_was() -> None:
    class Odd(AuroraError, KeyboardInterrupt):
        exit_code = 3

    assert exit_code(Odd("x")) == exit_code(KeyboardInterrupt()) == exit_code(click.Abort()) == 130


# The log, and a doctor without a daemon


def test_where_no_daemon_can_be_asked_its_last_words_are_told_and_only_those_that_tell(tmp_path: Path) -> None:
    log = tmp_path / "log"
    lines = [json.dumps({"level": "error", "message": f"e{n}"}) for n in range(6)]
    log.write_text("\n".join([*lines, json.dumps({"level": "info"})]))
    address: Any = SimpleNamespace(home="/h", log=log)
    found = doctor.without_daemon(DaemonUnreachable("it hangs; stop it"), address)["findings"]
    assert [(each["level"], each["fix"]) for each in found[:2]] == [("error", "stop it"), ("ok", None)]
    assert found[0]["what"] == "it hangs" and found[1]["what"] == "memory is kept in /h"
    assert [each["what"][-4:-2] for each in found[2:]] == ["e2", "e3", "e4", "e5"], "of the last five lines"
    address.log = tmp_path / "gone"
    bare = doctor.without_daemon(DaemonUnreachable("it hangs"), address)["findings"]
    assert (bare[0]["what"], bare[0]["fix"], len(bare)) == ("it hangs", None, 2)


@pytest.mark.parametrize(
    ("dates", "found"),
    [
        ((None, None, None, None), (logs.FIRST, logs.LAST)),
        (("2026-02-01", None, None, None), ("2026-02-01", "2026-02-01")),
        ((None, "2026-12", None, None), ("2026-12-01", "2026-12-31")),
        ((None, "2028-02", None, None), ("2028-02-01", "2028-02-29")),
        ((None, None, "2026-02-01", None), ("2026-02-01", logs.LAST)),
        ((None, None, "2026-02-01", "2026-02-01"), ("2026-02-01", "2026-02-01")),
        ((None, None, "2026-02-02", "2026-02-01"), None),
        (("2026-02-01", "2026-02", None, None), None),
        (("2026-02-01", None, None, "2026-02-03"), None),
        ((None, "2026-02", "2026-02-01", None), None),
    ],
)
def test_which_days_are_meant(dates: Any, found: Any) -> None:
    with click.Context(click.Command("logs")):
        if found is None:
            with pytest.raises(click.UsageError):
                logs._range(*dates)
        else:
            assert logs._range(*dates) == found


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [("2026-02-01", "2026-02-01", " of 2026-02-01"), (logs.FIRST, "2026-02-01", " up to 2026-02-01"),
     ("2026-02-01", logs.LAST, " from 2026-02-01"), (logs.FIRST, logs.LAST, "")],
)  # fmt: skip
def test_a_range_is_said_where_there_is_one(first: str, last: str, said: str) -> None:
    assert logs._said_range(first, last) == said


# Sites


async def test_a_manifest_is_that_which_everybody_sees_else_that_of_the_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who is signed in asks again for what is not offered to everybody; who is not is told what is wrong."""
    asked: list[bool] = []
    offers: list[Any] = [["a"], ["a", "b"]]

    async def fetched(url: str, policy: Any, *, cache: Any = None, cookies: Any = None, token: Any = None) -> Any:
        own = cookies is not None or token is not None
        asked.append(own)
        if not own and offers[0] is None:
            raise SiteError("refused")
        return SimpleNamespace(manifest=SimpleNamespace(capabilities=offers[own]))

    monkeypatch.setattr(manifest_sites, "fetch_manifest", fetched)

    async def found(capability: str, *, token: str | None = None, cookies: Any = None) -> list[str]:
        asked.clear()
        site: Any = SimpleNamespace(
            cookies=lambda *_: cookies, checked_token=lambda: token, cache=lambda _: None, policy=None
        )
        nothing: Any = None
        capabilities: Any = (await manifest_sites._manifest_for("u", capability, site, nothing)).manifest.capabilities
        return list(capabilities)

    assert (await found("a", token="t"), asked) == (["a"], [False])
    assert (await found("b", token="t"), asked) == (["a", "b"], [False, True])
    assert (await found("b"), asked) == (["a"], [False])
    assert (await found("b", cookies=[]), asked) == (["a"], [False]), "an empty jar signs nobody in"
    assert (await found("b", cookies=[1]), asked) == (["a", "b"], [False, True])
    offers[0] = None
    assert (await found("b", token="t"), asked) == (["a", "b"], [False, True])
    with pytest.raises(SiteError, match="refused"):
        await found("a")


def test_a_site_that_cannot_be_read_weighs_more_than_one_that_is_not_valid() -> None:
    sites: list[Any] = [SiteError("gone"), SimpleNamespace(valid=False), SimpleNamespace(valid=True)]
    codes = [manifest_sites._code(each) for each in sites]
    assert codes == [SiteError("").exit_code, 1, 0] and max(codes) == codes[0]


# What a figure is


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({}, "no model asked, no cost"),
        ({"calls": 2, "cost_usd": 0.5}, "$0.5000"),
    ],
)
def test_what_a_question_cost(result: dict[str, Any], said: str) -> None:
    assert cost(result) == said


def test_what_was_indexed_is_told_files_first() -> None:
    assert done({"files": 1, "chunks": 2, "took_ms": 3000}) == "1 file · 2 chunks · 3.0 s"


@pytest.mark.parametrize(
    ("one", "other", "same"), [("a.b", "a.b", True), ("a", "a.b", True), ("a.b", "a", True), ("a.b", "a.bc", False)]
)
def test_a_setting_within_another_is_of_it(one: str, other: str, same: bool) -> None:
    assert _same_place(one, other) is same


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ({"total_tokens": 3, "output_tokens": 2, "input_tokens": 1, "cached_tokens": 0, "cost_usd": 0.5},
         "3 tokens (1 in, 2 out), $0.50"),
        ({"total_tokens": 3, "cached_tokens": 2, "input_tokens": 0}, "3 tokens (0 in, 2 cached)"),
        ({"cost_usd": 1234.5}, "$1,234.50"),
        ({"total_tokens": 1}, "1 token"),
    ],
)  # fmt: skip
def test_what_tokens_of_a_report_are_told(tokens: dict[str, Any], said: str) -> None:
    assert report._cost(tokens) == said


# One screen


@pytest.mark.parametrize(
    ("teams", "said"),
    [
        ([], "none was joined; nothing leaves this machine"),
        ([{"team": "a", "problem": None}, {"team": "b", "problem": "away"}], "a: fine; b: away (aurora team status)"),
    ],
)
def test_a_team_is_fine_or_says_what_is_wrong(teams: list[Any], said: str) -> None:
    assert status._team_words(teams) == said


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("off", "not enforced: cost_budgets.enabled is off"),
        ("ok", "$1.00 of $5.00 until 2026-03-01, 1 question"),
        (
            "blocked",
            "$1.00 of $5.00 until 2026-03-01, 1 question; questions that cost are blocked (aurora budget status)",
        ),
    ],
)
def test_what_is_left_to_spend(state: str, said: str) -> None:
    told = {"state": state, "consumed_usd": 1.0, "limit_usd": 5.0, "query_count": 1, "period_end": "2026-03-01T00:00"}
    assert status._budget_words(told) == said


def test_of_a_workspace_what_waits_and_what_is_left_out_is_told_where_there_is_any() -> None:
    told = {"root": "/w", "open": True, "state": "ready", "files": 1, "chunks": 2, "pending_files": 0,
            "skipped_files": 3, "database_bytes": 2048, "last_error": None}  # fmt: skip
    said = status._workspace_words(told)
    assert said == "/w: ready · 1 file · 2 chunks · 3 skipped (aurora doctor) · 2.0 KiB"
    assert status._workspace_words({**told, "last_error": "full"}).endswith("last error: full (aurora doctor)")
    assert "not open now" in status._workspace_words({**told, "open": False})


# The import path


@pytest.mark.parametrize(
    ("suspects", "left"),
    [
        pytest.param(["/w/lib"], ["/usr/lib", "/own"], id="folders of a workspace go"),
        pytest.param(["/w"], ["/w/lib", "/usr/lib", "/own"], id="those that are suspected alone"),
        pytest.param(["/usr/lib"], ["/w/lib", "/usr/lib", "/own"], id="what lies elsewhere stays"),
    ],
)
def test_what_stays_on_the_import_path(suspects: list[str], left: list[str]) -> None:
    assert closed_path(["/w/lib", "/usr/lib", "/own"], suspects, ["/w"], "/own/aurora_cli/__init__.py") == left
    ours = closed_path(["/w/server"], ["/w/server"], ["/w"], "/w/server/aurora_cli/__init__.py")
    assert ours == ["/w/server"], "but our own, where we run from a checkout"
    assert closed_path(["/w2/lib"], ["/w2/lib"], ["/w"], "/own/x/__init__.py") == ["/w2/lib"]


# Limits of a line


@pytest.mark.parametrize(("columns", "width", "shown"), [(160, 156, True), (160, 157, False), (None, 1000, True)])
def test_what_a_chunk_is_for_is_told_where_it_fits_a_terminal_and_on_a_pipe_always(
    columns: int | None, width: int, shown: bool
) -> None:
    item = {"signature": "", "summary": "x" * width, "kind": "function", "language": "python", "name": "f"}
    assert bool(_below(item, TerminalStyle(width=columns))) is shown


@pytest.mark.parametrize(
    ("text", "language", "name"),
    [
        ("a: int = 5", "python", "a"),
        ("a = 5", "python", "a"),
        ("int a", "java", "int a"),
        ("a: int", "java", "a: int"),
        ("&mut self", "rust", "&mut self"),
    ],
)
def test_a_parameter_goes_by_its_name_where_its_type_stands_behind(text: str, language: str, name: str) -> None:
    assert _parameter(text, language) == name


@pytest.mark.parametrize(
    ("given", "option", "said"),
    [
        ("2026-13-01", "--month", "'2026-13' is no day of the calendar; write --month as YYYY-MM"),
        ("2026-2-1", "--date", "'2026-2-1' is no day of the calendar; write --date as YYYY-MM-DD"),
        ("9999-01-01", "--to", "'9999-01-01' is no day"),
    ],
)
def test_a_day_that_is_none_is_told_as_it_was_typed(given: str, option: str, said: str) -> None:
    with pytest.raises(click.BadParameter) as refused:
        logs._day(given, option)
    assert refused.value.message.startswith(said)
    assert logs._day("9998-12-31", option) == "9998-12-31"


@pytest.mark.parametrize(
    ("month", "asked"),
    [("2026-12", ("2026-12-01", "2027-01-01", "December 2026", "2026-12")), (None, ("01", "01", "", ""))],
)
def test_a_month_is_reported_from_its_first_day_to_the_next(month: Any, asked: Any, monkeypatch: Any) -> None:
    told: list[Any] = []
    monkeypatch.setattr(report, "_span", lambda begin, after: {"start": f"{begin}", "end": f"{after}"})
    monkeypatch.setattr(
        report, "_report", lambda settings, params, title, name, team: told.append((params, title, name))
    )
    settings: Any = None
    report.monthly.callback.__wrapped__(settings, month, team=False)  # type: ignore[union-attr]
    ((params, title, name_),) = told
    if month is not None:
        assert (params["start"], params["end"], title, name_) == asked
    else:
        assert params["start"].endswith("-01") and params["end"].endswith("-01")


@pytest.mark.parametrize(
    ("option", "value", "fits"),
    [("functional", "1", True), ("functional", "1.1", False), ("functional", "-0.1", False)],
)
def test_a_score_is_from_nothing_to_one(option: str, value: str, fits: bool) -> None:
    (made,) = (each for each in command("conform").params if each.name == option)
    with click.Context(command("conform")) as context:
        if fits:
            assert made.type.convert(value, made, context) == 1.0
        else:
            with pytest.raises(click.BadParameter):
                made.type.convert(value, made, context)
