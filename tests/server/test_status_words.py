"""What the command line says of memory, daemon, trust, money, team and manifests: one line for each state of each."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from aurora_cli.agents import agent_lines
from aurora_cli.budget import history_lines
from aurora_cli.budget import status_lines as budget_lines
from aurora_cli.config import _same_place
from aurora_cli.deliverable_ingest import _documents, _is_event, _requests, outcome_lines, reports_of, xml_text
from aurora_cli.demo import _goes_on
from aurora_cli.doctor import _tells, doctor_lines
from aurora_cli.headless import iteration_line
from aurora_cli.manifest_validate import mended_lines, summary_line
from aurora_cli.memory import import_lines, other_lines, told
from aurora_cli.output import TerminalStyle
from aurora_cli.status import status_lines
from aurora_cli.team import _named, _print_outcome, _tell
from aurora_manifest.kinds import MANIFEST
from aurora_protocol import AuroraError
from aurora_protocol.human_text import lasting, used
from aurora_protocol.provenance_text import learned_by, parts_of

NOW = datetime(2026, 2, 8, tzinfo=UTC)
PLAIN = TerminalStyle()
ROOT: dict[str, Any] = {
    "root": "/w", "trusted": False, "open": True, "state": "ready", "files": 1, "chunks": 2, "pending_files": 0,
    "skipped_files": 0, "database_bytes": 2048,
}  # fmt: skip
DAEMON = {"version": "1.2", "pid": 7, "uptime_s": 65, "rss_bytes": 2**20, "connections": 2}
BUDGET: dict[str, Any] = {
    "state": "fine", "consumed_usd": 0.5, "limit_usd": 5.0, "query_count": 1, "period_end": "2026-03-01T00:00:00Z",
}  # fmt: skip
TOLD: dict[str, Any] = {
    "daemon": DAEMON, "workspace": ROOT, "other_workspaces": [], "budget": BUDGET, "teams": [],
    "deliverables": {"deliverables": [], "total": 0, "names": {}},
}  # fmt: skip


def status(**changes: Any) -> dict[str, str]:
    """What is said on one screen, by the name of each line."""
    lines = [line.split("  ", 1) for line in status_lines(TOLD | changes, PLAIN, NOW)]
    return {name.strip(): said.strip() for name, said in lines if name.strip()}


@pytest.mark.parametrize(
    ("changes", "name", "said"),
    [
        ({}, "workspace", "/w: ready · 1 file · 2 chunks · 2.0 KiB"),
        (
            {"workspace": ROOT | {"pending_files": 3, "skipped_files": 1, "last_error": "disk"}},
            "workspace",
            "/w: ready · 1 file · 2 chunks · 3 pending · 1 skipped (aurora doctor) · 2.0 KiB · "
            "last error: disk (aurora doctor)",
        ),
        (
            {"workspace": {"root": "/w", "trusted": True, "open": False}},
            "workspace",
            "/w: not open now; the next command or editor in it opens it",
        ),
        ({}, "daemon", "aurora 1.2, process 7, up 65.0 s, 1.0 MiB, 1 other connection"),
        (
            {"daemon": DAEMON | {"connections": 0}},
            "daemon",
            "aurora 1.2, process 7, up 65.0 s, 1.0 MiB, 0 other connections",
        ),
        ({"daemon": None}, "daemon", "none is running; the next command that needs one starts it"),
        ({}, "trust", "not trusted: what its .aurora/ would run or redirect is ignored (aurora trust)"),
        (
            {"workspace": ROOT | {"trusted": True}},
            "trust",
            "trusted: its .aurora/ may name models, addresses and agents; aurora trust --revoke takes that back",
        ),
        ({"other_workspaces": [{"root": "/a"}, {"root": "/b"}]}, "also open", "/a, /b"),
        ({}, "under way", "no change"),
        (
            {"workspace": {"root": "/w", "trusted": True, "open": False}},
            "under way",
            "not known while the workspace is not open",
        ),
        ({}, "budget", "$0.50 of $5.00 until 2026-03-01, 1 question"),
        (
            {"budget": BUDGET | {"state": "blocked"}},
            "budget",
            "$0.50 of $5.00 until 2026-03-01, 1 question; questions that cost are blocked (aurora budget status)",
        ),
        ({"budget": {"state": "off"}}, "budget", "not enforced: cost_budgets.enabled is off"),
        ({}, "team", "none was joined; nothing leaves this machine"),
        (
            {"teams": [{"team": "a", "problem": ""}, {"team": "b", "problem": "away"}]},
            "team",
            "a: fine; b: away (aurora team status)",
        ),
    ],
)
def test_one_screen_says(changes: dict[str, Any], name: str, said: str) -> None:
    assert status(**changes)[name] == said


def test_matters_stand_in_one_order_and_deliverables_that_are_left_out_are_counted() -> None:
    state = {"change_id": "c", "status": "in_progress"}
    told = {"deliverables": [state], "total": 3, "names": {}}
    lines = status_lines(TOLD | {"deliverables": told}, PLAIN, NOW)
    assert [line.split("  ")[0] for line in lines if not line.startswith(" ")] == [
        "workspace", "daemon", "trust", "under way", "budget", "team",
    ]  # fmt: skip
    assert [line.strip() for line in lines][4] == "and 2 more (aurora deliverable list --status open)"


@pytest.mark.parametrize(
    ("line", "tells"),
    [
        ('{"level": "info", "event": "ready"}', False),
        ('{"level": "debug"}', False),
        ('{"level": "warning"}', True),
        ('{"event": "of an older one"}', True),
        ("Traceback (most recent call last):", True),
        ("  ", False),
    ],
)
def test_of_a_log_what_may_be_wrong_is_told(line: str, tells: bool) -> None:
    assert _tells(line) is tells


def test_a_finding_of_a_newer_daemon_is_told_all_the_same_and_its_fix_below_it() -> None:
    findings = [{"level": level, "what": level, "fix": None} for level in ("ok", "warning", "error", "later")]
    findings[1]["fix"] = "do it"
    lines = doctor_lines({"findings": findings, "skipped": {}, "examples": []}, PLAIN)
    assert lines == ["✓ ok", "! warning", "    → do it", "✗ error", "· later"]


OUTCOME: dict[str, Any] = {
    "team": "t",
    "sent": 1,
    "fetched": 2,
    "erased": 3,
    "refused": 0,
    "stopped": {},
    "secrets": [],
}


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({}, ["t: 1 sent, 2 fetched, 3 erased at the hub"]),
        ({"problem": "the hub is away"}, ["t: the hub is away"]),
        (
            {"refused": 1, "stopped": {"b": 2, "a": 1000}, "secrets": ["id1"]},
            ["t: 1 sent, 2 fetched, 3 erased at the hub", "  1 refused: they are not what they say they are",
             "  stayed: 1,000, a", "  stayed: 2, b", "  stopped for a secret: entry id1"],
        ),
    ],
)  # fmt: skip
def test_what_came_of_an_exchange(
    changes: dict[str, Any], lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _print_outcome(OUTCOME | changes)
    assert capsys.readouterr().out.splitlines() == lines


MEMBERSHIPS: Any = [
    SimpleNamespace(team="a", url="x"),
    SimpleNamespace(team="b", url="y"),
    SimpleNamespace(team="c", url="y"),
    SimpleNamespace(team="y", url="z"),
]


@pytest.mark.parametrize(("name", "found"), [("a", 0), ("x", 0), ("b", 1), ("y", 3), ("z", 3)])
def test_a_team_goes_by_its_name_or_where_it_is_the_only_one_there_by_its_address(name: str, found: int) -> None:
    assert _named(MEMBERSHIPS, name) is MEMBERSHIPS[found]


def test_an_address_of_several_teams_and_a_name_of_none_are_told() -> None:
    with pytest.raises(AuroraError, match="several teams were joined at y; name one: b, c"):
        _named(MEMBERSHIPS[:3], "y")
    with pytest.raises(AuroraError, match="the team q was not joined; aurora team status lists"):
        _named(MEMBERSHIPS, "q")


IMPORTED: dict[str, Any] = {
    "workspace": "/w", "source": "f", "added": {"access": 2, "reasoning": 1}, "moved": 0, "waiting": 0,
    "same_repository": True,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({}, ["/w: 2 accesses, 1 reasoning chunk, from f"]),
        ({"added": {}}, ["/w: nothing new, from f"]),
        ({"moved": 1, "waiting": 2},
         ["/w: 2 accesses, 1 reasoning chunk, from f", "  1 chunk found in another place by their shape",
          "  2 chunks not here now; their history comes back with their files"]),
        ({"same_repository": None}, ["/w: 2 accesses, 1 reasoning chunk, from f"]),
        ({"same_repository": False},
         ["/w: 2 accesses, 1 reasoning chunk, from f", "  this was exported from another repository"]),
        ({"same_repository": False, "left_out": 2},
         ["/w: 2 accesses, 1 reasoning chunk, from f",
          "  this was exported from another repository; left out: 2 events of deliverables"]),
    ],
)  # fmt: skip
def test_what_came_of_an_import(changes: dict[str, Any], lines: list[str]) -> None:
    assert import_lines(IMPORTED | changes) == lines


def test_what_was_learned_is_counted_in_peoples_words() -> None:
    assert (
        told({"log": 2, "log2": 1, "use": 1, "deliverable": 1})
        == "2 log entries, 1 log2, 1 use, 1 event of a deliverable"
    )
    assert told({}) == "nothing was learned yet"
    one = {"root": "/a", "path": "/m/a.db", "learned": 1000, "same_repository": True, "left": True}
    other = {"root": "/b", "path": "/m/b.db", "learned": 0, "same_repository": False, "left": False}
    assert other_lines([one, other]) == [
        "/a  (1,000 learned, same repository, folder gone)", "    /m/a.db", "/b  (0 learned)", "    /m/b.db",
    ]  # fmt: skip
    assert other_lines([]) == ["there are no other memories"]


def budget(**changes: Any) -> list[str]:
    given = {
        "period": "monthly", "period_start": "2026-02-01", "period_end": "2026-03-01", "state": "fine", "percent": 10.0,
        "consumed_usd": 0.5, "reserved_usd": 0.0, "uncertain_usd": 0.0, "limit_usd": 5.0, "warn_usd": 4.0,
        "remaining_usd": 4.5, "query_count": 1, "questions_left": None, "hard_limit_usd": 5.0,
    }  # fmt: skip
    known: Any = SimpleNamespace(**(given | changes))
    return [" ".join(line.split()) for line in budget_lines(known, PLAIN)]


def test_a_budget_tells_what_is_reserved_uncertain_and_left_where_there_is_such() -> None:
    assert budget() == [
        "monthly budget, 2026-02-01 to 2026-03-01 (UTC)",
        f"{'█' * 3}{'░' * 27} 10 % $0.50 of $5.00",
        "spent $0.50 in 1 question",
        "left $4.50",
        "warned of from $4.00 on, blocked beyond $5.00",
    ]
    more = budget(reserved_usd=0.25, uncertain_usd=0.5, questions_left=9)
    assert more[1].endswith("$0.75 of $5.00"), "what is reserved counts as spent"
    assert more[3:6] == [
        "reserved $0.25 for calls that are being made",
        "uncertain $0.50 of it: a process ended during its calls",
        "left $4.50, about 9 questions",
    ]


def test_a_budget_that_blocks_says_how_to_go_on_and_one_that_is_off_that_nothing_is_noted() -> None:
    assert budget(state="blocked", percent=150.0)[-4:] == [
        "questions that cost something are blocked; to go on:",
        "wait until 2026-03-01 is over",
        "aurora config set cost_budgets.hard_limit_usd 10",
        "aurora budget reset",
    ]
    assert budget(state="blocked", percent=150.0)[1].startswith("█" * 30 + " 150 %"), "the bar is full, not longer"
    assert budget(state="blocked", hard_limit_usd=0.1)[-2].endswith(" 1"), "a limit of something"
    assert budget(state="off")[-1] == "not enforced, nothing is noted: cost_budgets.enabled is off"
    assert budget(state="warned") == budget()


def test_a_history_without_a_call_says_so_and_tells_how_each_period_ended() -> None:
    ended = [
        SimpleNamespace(by_hand=by_hand, period_start="2026-01-01", period_end="2026-02-01", at="2026-02-01T00:00:00Z",
                        query_count=2, consumed_usd=1.0)
        for by_hand in (True, False)
    ]  # fmt: skip
    known: Any = SimpleNamespace(month=None, total_usd=0.0, entries=[], query_count=0, days=[], ended=ended)
    assert history_lines(known, PLAIN, calls=False) == [
        "all time: $0.00 in 0 calls, 0 questions",
        "nothing was spent",
        "  reset 2026-02-01: 2026-01-01 to 2026-02-01, $1.00, 2 questions",
        "  ended 2026-02-01: 2026-01-01 to 2026-02-01, $1.00, 2 questions",
    ]


def agent(**changes: Any) -> Any:
    given = {
        "id": "a",
        "type": "cli",
        "success_rate": None,
        "capabilities": ("x",),
        "domains": (),
        "description": "",
        "origin": "here",
    }
    return SimpleNamespace(**(given | changes))


def test_of_an_agent_its_description_is_told_before_what_it_can_and_how_well_it_did() -> None:
    known: Any = SimpleNamespace(
        agents=[agent(description="Reads.", success_rate=0.0)],
        ignored=[agent(id=f"i{n}") for n in range(12)],
        notices=["n"],
    )
    names = ", ".join(f"i{n}" for n in range(10))
    assert agent_lines(known, PLAIN) == [
        "1 agent", "  a cli · 0% done well", "    Reads.", "    here",
        f"ignored, because this workspace is not trusted: {names}", "n",
    ]  # fmt: skip


def checked(*severities: str, name: str = "a", kind: Any = MANIFEST, fixed: tuple[str, ...] = ()) -> Any:
    findings = [SimpleNamespace(severity=each, fix=None, rule="r") for each in severities]
    return SimpleNamespace(
        source=SimpleNamespace(name=name), kind=kind, findings=findings, valid="error" not in severities,
        manifest=SimpleNamespace(resources=[], capabilities={}), fixed=[SimpleNamespace(rule=each) for each in fixed],
    )  # fmt: skip


SETTINGS = SimpleNamespace(noun="settings", name="settings")


@pytest.mark.parametrize(
    ("files", "line"),
    [
        pytest.param([checked()], "✓ a: valid, 0 resources, 0 capabilities", id="what a manifest declares"),
        pytest.param([checked(), checked()], "✓ 2 manifests: valid, 0 resources, 0 capabilities", id="of several all"),
        pytest.param([checked(kind=SETTINGS)], "✓ a (settings): valid", id="a file of another kind declares nothing"),
        pytest.param(
            [checked(kind=SETTINGS), checked()], "✓ 2 files: valid, 0 resources, 0 capabilities", id="both are files"
        ),
        pytest.param([checked("warning", "hint", "hint")], "! a: valid, 1 warning, 2 hints", id="no error"),
        pytest.param(
            [checked("hint", "error", "info", "info")], "✗ a: not valid, 1 error, 2 info, 1 hint", id="the worst first"
        ),
        pytest.param([checked("error"), checked()], "✗ 2 manifests: 1 not valid, 1 error", id="how many are not"),
    ],
)
def test_what_a_check_comes_to(files: list[Any], line: str) -> None:
    assert summary_line(files, PLAIN) == line


def test_what_was_mended_is_told_by_rule() -> None:
    assert list(mended_lines(checked(fixed=("b", "a", "b")))) == ["fixed a: 2 b, 1 a"]
    assert list(mended_lines(checked())) == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("a.b", "a", True), ("a", "a.b", True), ("a.b", "a.b", True), ("a.b", "a.bc", False), ("ab", "a", False)],
)
def test_a_setting_is_of_a_section_that_has_its_name(one: str, other: str, same: bool) -> None:
    assert _same_place(one, other) is same


@pytest.mark.parametrize(
    ("total", "line"),
    [
        ({}, "1 event taken"),
        ({"duplicates": 2, "refused": [1]}, "1 event taken · 2 known already · 1 refused"),
        ({"change_ids": list("abcde")}, "1 event taken: a, b, c, d, e"),
        ({"change_ids": list("abcdef")}, "1 event taken: a, b, c, d, e …"),
    ],
)
def test_what_became_of_events(total: dict[str, Any], line: str) -> None:
    assert outcome_lines({"accepted": 1, "duplicates": 0, "refused": [], "change_ids": []} | total) == [line]


@pytest.mark.parametrize(
    ("line", "is_event"),
    [
        ('{"event_type": "x"}', True),
        ('{"what": {}}', True),
        ('{"issues": []}', False),
        ('["what"]', False),
        ("{", False),
    ],
)
def test_a_first_line_that_says_what_happened_begins_lines_of_events(line: str, is_event: bool) -> None:
    assert _is_event(line.encode()) is is_event


def test_a_document_several_one_a_line_or_another_format() -> None:
    assert _documents(b'\xef\xbb\xbf{"a":\n1}', "f") == [{"a": 1}]
    assert _documents(b'{"a": 1}\n\n{"b": 2}', "f") == [{"a": 1}, {"b": 2}]
    assert _documents(b" id,title\n1,x", "f") == [" id,title\n1,x"]
    for broken in (b'{"a": 1', b"[1]\n[2]"):
        with pytest.raises(click.BadParameter, match="f is neither JSON lines of events nor one JSON document"):
            _documents(broken, "f")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ('<?xml version="1.0" encoding="latin-1"?>é'.encode("latin-1"), "é"),
        ('<?xml version="1.0" encoding="nonesuch"?>é'.encode(), "é"),
        ("\ufeffé".encode(), "é"),
        ("\ufeffé".encode("utf-16-le"), "\ufeffé"[-1]),
        (b"\xe9", "\ufffd"),
    ],
)
def test_a_report_is_read_by_its_mark_or_as_it_declares_else_as_utf_8(content: bytes, text: str) -> None:
    assert xml_text(content)[-1] == text[-1]


def test_reports_of_a_folder_are_its_xml_files_by_name(tmp_path: Path) -> None:
    for name in ("b.xml", "a.xml", "c.txt"):
        (tmp_path / name).write_text(name)
    (tmp_path / "d.xml").mkdir()
    assert reports_of([str(tmp_path / "c.txt"), str(tmp_path)]) == ["c.txt", "a.xml", "b.xml"]
    with pytest.raises(click.BadParameter, match=r"there is no \*\.xml in"):
        reports_of([str(tmp_path / "d.xml")])


@pytest.mark.parametrize(("answer", "goes_on"), [("", True), ("y", True), (" Q ", False), ("quit", False)])
def test_a_reader_of_the_demo_ends_it(monkeypatch: pytest.MonkeyPatch, answer: str, goes_on: bool) -> None:
    terminal = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    monkeypatch.setattr("aurora_cli.demo.sys", SimpleNamespace(stdin=terminal, stdout=terminal))
    monkeypatch.setattr("builtins.input", lambda _: answer)
    assert _goes_on() is goes_on
    monkeypatch.setattr(
        "aurora_cli.demo.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: False), stdout=terminal)
    )
    assert _goes_on(), "without a terminal nobody is asked"


def test_of_an_iteration_its_next_step_is_told_else_what_it_said_else_why_not() -> None:
    def line(**record: Any) -> str:
        told = SimpleNamespace(**({"state": "partial", "score": None, "answer": "", "error": "no model"} | record))
        iteration: Any = SimpleNamespace(number=1, limit=2, record=told, cost_usd=0.0, next_step="")
        return iteration_line(iteration, PLAIN)

    assert line() == "iteration 1/2 · partial · $0.00 · no model"
    assert line(answer="a\n b") == "iteration 1/2 · partial · $0.00 · a b"
    assert line(error=None) == "iteration 1/2 · partial · $0.00"


@pytest.mark.parametrize(
    ("sure", "likely", "noun", "said"),
    [
        (1, 0, "caller", "1 caller"),
        (2, 1, "caller", "2 callers and maybe 1 more"),
        (0, 2, "subclass", "maybe 2 subclasses"),
        (1, 0, "subclass", "1 subclass"),
        (0, 0, "caller", ""),
    ],
)
def test_who_uses_it_is_counted(sure: int, likely: int, noun: str, said: str) -> None:
    assert used(sure, likely, noun) == said
    assert lasting(59.6) == "1 min", "rounded, not cut"


def test_of_colleagues_three_are_named_and_those_who_do_not_share_their_names_are_not() -> None:
    part = {"uses": 2, "boosts": 0, "last": "2026-02-01T00:00:00Z"}
    some = [
        {"name": "Ann", **part},
        {"name": None, **part, "boosts": 1},
        {"name": "x" * 50, **part, "uses": 0, "boosts": 1},
    ]
    assert parts_of([*some, *some]) == (
        "of colleagues: Ann (2 uses, last 2026-02-01), "
        "who do not share their names (2 uses, 1 boost, last 2026-02-01), "
        f"{'x' * 39}… (1 boost, last 2026-02-01) and 3 more"
    )
    assert parts_of([]) == ""
    assert learned_by({"name": "", "at": "2026-02-01T00:00:00Z"}) == "a colleague learned this on 2026-02-01"


@pytest.mark.parametrize(
    ("given", "documents"),
    [(b"", []), (b"\n  \n", []), (b"\n{}", [{}]), (b"\n# Report", ["# Report"])],
)
def test_of_a_file_that_says_nothing_nothing_is_asked(given: bytes, documents: list[Any]) -> None:
    asked = list(_requests(io.BytesIO(given), "a"))
    assert asked == [{"action": "ingest", "document": each} for each in documents]


@pytest.mark.parametrize(("as_json", "said"), [(True, '{"left":"a b"}\n'), (False, "left a\ufffd b\n")])
def test_what_was_done_with_a_team_is_told_to_people_or_to_programs(
    capsys: pytest.CaptureFixture[str], as_json: bool, said: str
) -> None:
    _tell(SimpleNamespace(json=as_json), {"left": "a b"}, "left a\x1b b")  # type: ignore[arg-type]
    assert capsys.readouterr().out.replace(": ", ":") == said
