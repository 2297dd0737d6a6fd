"""`aurora logs`: conversations listed, searched, shown and exported, without a daemon (AURORA §9.7)."""

from __future__ import annotations

import gzip
import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aurora_cli.app import run as aurora
from aurora_cli.logs import document, found_lines, list_lines
from aurora_cli.output import TerminalStyle
from aurora_orchestration.conversations import log_reader
from aurora_orchestration.conversations.log_search import FoundSection, Line
from aurora_orchestration.settings import ConversationSettings
from tests import programs
from tests.orchestration.runs import BEGAN, ID, QUERY, run
from tests.orchestration.written_log import write_log
from tests.programs import COMMAND
from tests.wait_limits import HANG

Said = Callable[..., tuple[str, str, int]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four conversations: two of one day, one compressed of the month before, one of just now."""
    home = tmp_path / "home"
    monkeypatch.setenv("AURORA_HOME", str(home))
    folder, settings = home / "logs" / "conversations", ConversationSettings()
    write_log(run(), folder, settings)
    write_log(run(id="aurora-20251213-150000-bbbbbb", started_at=BEGAN + 1700, state="failed"), folder, settings)
    older = write_log(run(id="aurora-2", query="rotate signing keys", started_at=BEGAN - 30 * 86_400), folder, settings)
    older.with_name(f"{older.name}.gz").write_bytes(gzip.compress(older.read_bytes()))
    older.unlink()
    write_log(run(id="aurora-now", query="what sorts tokens", started_at=time.time()), folder, settings)
    return home


@pytest.fixture
def said(home: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    """What a command prints on standard output and standard error, and its exit code."""

    def run_it(*arguments: str) -> tuple[str, str, int]:
        capsys.readouterr()
        code = aurora(["logs", *arguments])
        return *capsys.readouterr(), code

    return run_it


def names(said: Said, *arguments: str) -> list[str]:
    return [each["name"] for each in json.loads(said(*arguments, "--json")[0])["logs"]]


TWO = ["oauth-login-2025-12-13-2", "oauth-login-2025-12-13"]
OLD = "rotate-signing-2025-11-13"


def test_lists_by_day_month_and_range(said: Said) -> None:
    new = names(said)[0]
    assert new.startswith("sorts-tokens-")
    assert names(said, "list") == names(said) == [new, *TWO, OLD]
    assert names(said, "today") == [new]
    assert names(said, "--date", "2025-12-13") == TWO
    assert names(said, "--month", "2025-11") == names(said, "list", "2025/11") == [OLD]
    assert names(said, "list", "2025") == [*TWO, OLD]
    assert names(said, "--from", "2025-12-01", "--to", "2025-12-31") == TWO
    assert names(said, "list", "--from", "2025-12-14") == [new]


def test_a_range_has_its_first_and_its_last_day_and_may_be_one_day(said: Said) -> None:
    assert names(said, "--from", "2025-12-13", "--to", "2025-12-13") == TWO
    assert names(said, "--from", "2025-11-13", "--to", "2025-12-13") == [*TWO, OLD]
    assert names(said, "--to", "2025-12-12") == [OLD]


def test_a_search_that_is_limited_gives_the_latest(said: Said) -> None:
    found = json.loads(said("search", "auth0", "--to", "2025-12-31", "--limit", "2", "--json")[0])["results"]
    assert [each["name"] for each in found] == TWO


def test_today_is_the_users_own_day(said: Said, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        try:
            assert len(names(said, "today")) == 1
        finally:
            monkeypatch.delenv("TZ")
            time.tzset()


def test_a_list_says_when_what_how_well_and_how_dear(said: Said) -> None:
    lines = said("--date", "2025-12-13")[0].splitlines()
    when = datetime.fromtimestamp(BEGAN).strftime("%Y-%m-%d %H:%M")
    assert lines[1] == f"{when}  oauth-login-2025-12-13    0.93   $0.0100    12.8 s  {QUERY}"
    assert "failed: Add OAuth2" in lines[0] and lines[-1] == "2 conversations · $0.02"
    out, err, code = said("--date", "2024-01-01")
    assert out.startswith("no conversation of 2024-01-01; logs are kept in /") and (err, code) == ("", 0)


def test_the_facts_of_a_list_are_in_json(said: Said) -> None:
    document = json.loads(said("--date", "2025-12-13", "--json")[0])
    assert document["folder"].endswith("/logs/conversations")
    told = document["logs"][1]
    assert {key: told[key] for key in ("id", "date", "state", "score", "cost_usd", "tokens", "compressed")} == {
        "id": ID,
        "date": "2025-12-13",
        "state": "complete",
        "score": 0.93,
        "cost_usd": 0.01,
        "tokens": 6000,
        "compressed": False,
    }
    assert told["file"] == "2025/12/oauth-login-2025-12-13.md"


def test_search_finds_words_with_their_lines(said: Said) -> None:
    out, _, code = said("search", "SIGNING keys")
    assert out.splitlines()[0] == f"{OLD}  rotate signing keys" and code == 0
    assert '    4  **User Query**: "rotate signing keys"' in out.splitlines()[1:][0] or "4  **User Query**" in out
    found = json.loads(said("search", "auth0", "--to", "2025-12-31", "--context", "1", "--json")[0])["results"]
    assert [each["name"] for each in found] == [*TWO, OLD]
    assert [line["hit"] for line in found[0]["lines"]] == [False, True, False]
    assert len(json.loads(said("search", "auth0", "--limit", "1", "--json")[0])["results"]) == 1
    assert said("search", "kangaroo", "--month", "2025-12")[0].startswith(
        "no conversation from 2025-12-01 up to 2025-12-31 has 'kangaroo'"
    )


def test_view_and_export_give_the_log_as_it_is(said: Said, home: Path) -> None:
    text = (home / "logs/conversations/2025/12/oauth-login-2025-12-13.md").read_text()
    assert said("view", "oauth-login-2025-12-13") == (text, "", 0)
    assert said("export", ID) == (text, "", 0)
    assert "rotate signing keys" in said("view", "rotate")[0], "compressed, and by part of its name"
    document = json.loads(said("export", ID, "--json")[0])
    assert document["markdown"] == text and document["execution_summary"]["score"] == 0.93
    phases = [each["phase"] for each in document["trace"] if "phase" in each]
    assert phases[:3] == ["guard", "assess", "retrieve"] and len(phases) == 11
    assert json.loads(said("view", "rotate-signing", "--json")[0])["id"] == "aurora-2"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["view", "oauth"], "'oauth' may be 2 conversations, name one: oauth-login-2025-12-13"),
        (["view", "nothing"], "no conversation is called 'nothing'"),
        (["view", "../../etc/passwd"], "no conversation is called"),
        (["export", "aurora-0"], "no conversation has the id 'aurora-0'"),
        (["--date", "13.12.2025"], "write --date as YYYY-MM-DD"),
        (["--month", "2025-13"], "'2025-13' is no day of the calendar; write --month as YYYY-MM"),
        (["--month", "9999-12"], "write --month as YYYY-MM"),
        (["list", "december"], "write it as YYYY/MM"),
        (["--from", "2025-12-02", "--to", "2025-12-01"], "is after"),
        (["--date", "2025-12-13", "--month", "2025-12"], "exclude each other"),
        (["--date", "2025-12-13", "today"], "put the dates behind `today`"),
        (["search", " "], "the words are empty"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_2(said: Said, arguments: list[str], words: str) -> None:
    out, err, code = said(*arguments)
    assert (out, code) == ("", 2)
    assert words in err and err.count("\n") == 1 and err.startswith("aurora: ")


def test_a_log_someone_edited_cannot_command_the_terminal(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from aurora_cli.logs import render

    render("# x\x1b]0;t\x07\n```\n\x1b[2Jwords\n```", TerminalStyle(rich=True, width=60))
    out = capsys.readouterr().out
    assert "words" in out and "\x07" not in out and "\x1b]0" not in out and "\x1b[2J" not in out


def test_no_daemon_is_started_and_the_configured_folder_is_read(home: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    (home / "logs" / "conversations").rename(moved)
    (home / "config.json").write_text(json.dumps({"logging": {"conversations": {"path": str(moved)}}}))
    done = programs.run(
        [*COMMAND, "logs", "--month", "2025-12", "--json"],
        env={**os.environ, "AURORA_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=HANG,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["folder"] == str(moved) and len(told["logs"]) == 2
    assert not (home / "run").exists()


def test_a_configuration_that_cannot_be_used_is_one_line(home: Path, said: Said) -> None:
    (home / "config.json").write_text('{"logging": {"conversations": {"retention_days": -1}}}')
    out, err, code = said("list")
    assert (out, code) == ("", 2) and "retention_days" in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("many", "named"),
    [
        pytest.param(5, "log-0, log-1, log-2, log-3, log-4", id="five are named"),
        pytest.param(6, "log-0, log-1, log-2, log-3, log-4 and 1 more", id="the others are counted"),
    ],
)
def test_of_conversations_that_a_name_may_be(
    many: int, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AURORA_HOME", str(tmp_path))
    found = [SimpleNamespace(name=f"log-{n}") for n in range(many)]
    monkeypatch.setattr(log_reader, "by_name", lambda folder, name: found)
    assert aurora(["logs", "view", "log"]) == 2
    assert capsys.readouterr().err.rstrip().endswith(f"'log' may be {many} conversations, name one: {named}")


def test_today_begins_with_midnight_and_has_what_does_not_say_when_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AURORA_HOME", str(tmp_path))
    midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)
    began = {
        "at-midnight": f"{midnight:%Y-%m-%dT%H:%M:%S}",
        "before": f"{midnight - timedelta(seconds=1):%Y-%m-%dT%H:%M:%S}",
        "edited": None,
    }
    day = f"{midnight:%Y-%m-%d}"
    found = [log_reader.Conversation(file=name, path=tmp_path, day=day, started_at=at) for name, at in began.items()]
    monkeypatch.setattr(log_reader, "conversations", lambda folder, first, last: found)
    assert aurora(["logs", "today", "--json"]) == 0
    assert [each["name"] for each in json.loads(capsys.readouterr().out)["logs"]] == ["at-midnight", "edited"]


def test_a_log_as_json_has_its_summary_apart_and_leaves_out_what_is_no_json(tmp_path: Path) -> None:
    blocks = ('{"execution_summary": {}}', '{"phase": 1}', "{edited", "[" * 100_000, "[2]")
    text = "".join(f"```json\n{block}\n```\n" for block in blocks)
    told = document(log_reader.Conversation(file="a", path=tmp_path, day="2026-01-02"), text)
    assert (told["trace"], told["execution_summary"], told["markdown"]) == ([{"phase": 1}, [2]], None, text)


def test_a_conversation_that_does_not_say_when_it_began_is_listed_by_its_day(tmp_path: Path) -> None:
    made = log_reader.Conversation(file="a", path=tmp_path, day="2026-01-02", started_at="edited")
    assert list_lines([made], TerminalStyle())[0].strip().startswith("2026-01-02  a")


def found_in(tmp_path: Path, width: int | None, *lines: tuple[int, str, bool], rich: bool = False) -> list[str]:
    made = log_reader.Conversation(file="a", path=tmp_path, day="2026-01-02", query="q")
    section = FoundSection(made, 1, tuple(Line(*each) for each in lines))
    return found_lines([section], ["Login"], TerminalStyle(width=width, rich=rich))[1:]


def test_hits_alone_stand_below_each_other_and_with_context_a_gap_is_shown(tmp_path: Path) -> None:
    first, last = (1, "login", True), (9, "login", True)
    assert found_in(tmp_path, None, first, last) == ["    1  login", "    9  login"]
    assert found_in(tmp_path, None, first, (2, "x", False), last)[2:3] == ["    ⋮"]
    assert not any("⋮" in line for line in found_in(tmp_path, None, first, (2, "x", False))), "not between neighbours"


def test_a_word_is_marked_in_whatever_case_and_a_narrow_terminal_still_shows_twenty_columns(tmp_path: Path) -> None:
    (marked,) = found_in(tmp_path, None, (1, "my LOGIN", True), rich=True)
    assert "my \x1b[33mLOGIN\x1b[" in marked
    (narrow,) = found_in(tmp_path, 10, (1, "x" * 40, True))
    assert narrow == f"    1  {'x' * 19}…"
    (piped,) = found_in(tmp_path, None, (1, "x" * 200, True))
    assert piped == f"    1  {'x' * 112}…", "120 columns where nobody says how many there are"
