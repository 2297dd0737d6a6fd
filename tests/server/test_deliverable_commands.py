"""`aurora deliverable …` through a real daemon, in processes of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from aurora_cli.deliverable_ingest import BATCH
from tests.server.daemons import Daemon
from tests.server.deliverables import aurora, lifetime, line, told
from tests.server.tracked import events_in


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


@pytest.fixture(scope="module")
def begun(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace in which `one` is open, and stays as it is."""
    folder = tmp_path_factory.mktemp("begun") / "shop"
    (folder / ".git").mkdir(parents=True)
    told(home, folder, "deliverable", "start", "one")
    return folder


def test_a_renamed_deliverable_is_shown_by_the_name_that_it_has_now(home: Path, root: Path) -> None:
    told(home, root, "deliverable", "start", "add-search", "--description", "Full-text search")
    renamed = aurora(home, root, "deliverable", "rename", "add-search", "find-products")
    assert renamed.stdout == "find-products (add-search) · planning\n"
    for command in (
        ("show", "find-products"),
        ("phase", "find-products", "apply"),
        ("list",),
        ("criteria", "add-search"),
    ):
        done = aurora(home, root, "deliverable", *command)
        assert done.stdout.startswith("find-products (add-search) · "), command
    state = told(home, root, "deliverable", "show", "find-products")
    assert state["change_id"] == "add-search", "the document of AURA-M has the id that it began with"
    assert told(home, root, "deliverable", "list")["names"] == {"add-search": "find-products"}


def test_a_change_from_start_to_completion(home: Path, root: Path) -> None:
    state = told(
        home, root, "deliverable", "start", "add-search", "--description", "Full-text search",
        "--complexity", "moderate", "--framework", "openspec", "--spec-id", "changes/add-search",
        "--requirements", "6", "--session", "s-1",
        "--at", "2026-02-26T09:00:00Z",
    )  # fmt: skip
    assert state["change_id"] == "add-search" and state["status"] == "planning"
    assert state["spec_source"] == {"framework": "openspec", "spec_id": "changes/add-search", "requirements_count": 6}
    assert state["started_at"] == "2026-02-26T09:00:00Z"
    told(home, root, "deliverable", "phase", "add-search", "apply", "--at", "2026-02-26T09:12:00Z")
    told(home, root, "deliverable", "task", "add-search", "--completed", "4", "--total", "8")
    told(home, root, "deliverable", "tool-call", "add-search", "file_edit", "--count", "8")
    told(home, root, "deliverable", "tool-call", "add-search", "Bash")
    told(home, root, "deliverable", "tokens", "add-search", "--input", "100", "--output", "20", "--cost", "0.25")
    told(home, root, "deliverable", "session", "add-search", "s-2")
    told(home, root, "deliverable", "intervene", "add-search", "--waited", "30", "--note", "which index?")
    state = told(home, root, "deliverable", "show", "add-search")
    assert state["status"] == "executing" and state["current_phase"] == "apply"
    assert (state["tasks_completed"], state["tasks_total"]) == (4, 8)
    assert state["tool_calls"] == {"file_edit": 8, "Bash": 1}, "names of tools stay as they are"
    assert state["tool_calls_total"] == 9
    assert state["token_usage"]["total_tokens"] == 120
    assert state["human_interventions"] == 1
    assert state["sessions"] == ["s-1", "s-2"]

    told(home, root, "deliverable", "phase", "add-search", "verify")
    told(home, root, "deliverable", "tests", "add-search", "--passed", "40", "--failed", "1")
    told(home, root, "deliverable", "recovery", "add-search", "--reason", "a test fails")
    told(home, root, "deliverable", "phase", "add-search", "apply")
    told(home, root, "deliverable", "conform", "add-search", "--completed", "6", "--total", "6", "--correctness", "1",
         "--violations", "1")  # fmt: skip
    done = aurora(home, root, "deliverable", "complete", "add-search")
    assert done.returncode == 0, done.stderr
    first, *numbers = done.stdout.splitlines()
    assert first == "add-search · completed · 4/8 tasks"
    assert any("longest in apply" in each for each in numbers)
    assert any("1 recovery in 2 iterations" in each for each in numbers)
    final = told(home, root, "deliverable", "export", "add-search")
    assert final["schema_version"] == "0.1.0" and final["status"] == "completed"
    assert final["metrics"]["tool_calls"] == {"file_edit": 8, "Bash": 1, "total": 9}
    assert final["metrics"]["conformance"]["constraints"] == 0.9


def test_the_only_open_one_is_meant_and_that_is_said(home: Path, root: Path) -> None:
    done = aurora(home, root, "deliverable", "phase", "apply")
    assert done.returncode == 2 and "no deliverable is open" in done.stderr
    told(home, root, "deliverable", "start", "one")
    done = aurora(home, root, "deliverable", "phase", "apply")
    assert done.returncode == 0 and done.stdout == "one · apply\n"
    assert done.stderr == "aurora: one is meant, the only one that is open\n"
    told(home, root, "deliverable", "start", "two")
    done = aurora(home, root, "deliverable", "phase", "verify")
    assert done.returncode == 2 and "2 deliverables are open: " in done.stderr
    assert told(home, root, "deliverable", "show", "one")["current_phase"] == "apply"


def test_what_cannot_follow_is_refused_with_what_can(home: Path, root: Path) -> None:
    told(home, root, "deliverable", "start", "one")
    told(home, root, "deliverable", "fail", "one", "--failure-type", "incomplete")
    done = aurora(home, root, "deliverable", "phase", "one", "apply")
    assert done.returncode == 1 and done.stdout == ""
    (said,) = done.stderr.splitlines()
    assert "one" in said and "failed" in said and "may follow" in said
    assert told(home, root, "deliverable", "export", "one")["metrics"]["failure_type"] == "incomplete"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["phase", "one", "aply"], "choose from propose"),
        (["phase"], "[CHANGE] PHASE"),
        (["task", "one"], "give `completed`"),
        (["tool-call", "nobody", "bash"], "no deliverable nobody"),
        (["start"], "name the change"),
        (["start", "x\x07y"], "change_id"),
        (["phase", "one", "apply", "--at", "tomorrow"], "write a time as"),
        (["conform", "one", "--completed", "3", "--total", "2"], "3 of 2"),
        (["export", "nobody"], "there are one"),
        (["fail", "one", "--failure-type", "bad luck"], "infinite_loop"),
        (["task", "--completed", "9", "--total", "3"], "9 of 3 tasks cannot be completed"),
    ],
)
def test_mistakes_are_one_line_and_leave_no_trace(home: Path, begun: Path, arguments: list[str], said: str) -> None:
    before = events_in(home)
    done = aurora(home, begun, "deliverable", *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr and len(done.stderr.splitlines()) == 1
    assert events_in(home) == before


@pytest.mark.parametrize(
    ("given", "kept"),
    [("2026-11-22T10:00", "2026-11-22T15:00:00Z"), ("2026-11-22T10:00+02:00", "2026-11-22T08:00:00Z")],
)
def test_a_time_without_a_zone_is_that_of_the_clock_on_the_wall(home: Path, root: Path, given: str, kept: str) -> None:
    done = aurora(home, root, "deliverable", "start", "one", "--at", given, "--json", TZ="America/New_York")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["started_at"] == kept
    shown = aurora(home, root, "deliverable", "events", "one", TZ="America/New_York").stdout
    assert shown.startswith(kept.replace("T", " ")), "what is shown says that it is UTC"


def test_the_same_event_id_is_one_event(home: Path, root: Path) -> None:
    told(home, root, "deliverable", "start", "one")
    for _ in range(3):
        told(home, root, "deliverable", "tool-call", "one", "bash", "--event-id", "call-7")
    assert told(home, root, "deliverable", "show", "one")["tool_calls"] == {"bash": 1}


def test_events_are_json_in_every_encoding(home: Path, root: Path) -> None:
    told(home, root, "deliverable", "start", "one", "--description", "é 文 😀")
    done = aurora(home, root, "deliverable", "events", "one", "--json", PYTHONIOENCODING="cp1252")
    assert "é 文 😀" in json.dumps(json.loads(done.stdout), ensure_ascii=False)


def test_events_go_out_as_lines_and_come_in_again_elsewhere(home: Path, root: Path, tmp_path: Path) -> None:
    done = aurora(home, root, "deliverable", "ingest", given=lifetime("one", "2026-02-26", name="bot", model="m-1"))
    assert done.returncode == 0 and done.stdout == "6 events taken: one\n", done.stderr
    lines = aurora(home, root, "deliverable", "events", "one", "--json").stdout
    last = json.loads(lines.splitlines()[-1])
    assert last["event_type"] == "deliverable_end" and last["timestamp"] == "2026-02-26T11:00:00Z"
    assert len(aurora(home, root, "deliverable", "events", "one", "--limit", "2").stdout.splitlines()) == 2
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    (other / "events.jsonl").write_text(lines)
    assert told(home, other, "deliverable", "ingest", str(other / "events.jsonl"))["accepted"] == 6
    again = aurora(home, other, "deliverable", "ingest", str(other / "events.jsonl"))
    assert again.stdout == "0 events taken · 6 known already: one\n"
    here, there = (told(home, place, "deliverable", "export", "one") for place in (root, other))
    assert here == there
    assert here["metrics"]["resolution_latency_seconds"] == 3600
    assert here["agent"] == {"name": "bot", "model": "m-1"}


def test_bad_lines_are_refused_by_number_and_the_rest_is_taken(home: Path, root: Path) -> None:
    lines = [
        line("deliverable_start", "2026-02-26T10:00:00Z"),
        "not json",
        "",
        line("phase_start", "2026-02-26T10:01:00Z", phase="aply"),
        line("tool_call", "2026-02-26T10:01:00Z", tool="bash", count=-1),
        line("tool_call", "2026-02-26T10:02:00Z", tool_name="bash"),
        line("tool_call", "2026-02-26T10:02:00Z", tool_name="bash"),
        '{"event_type": "tool_call"}',
        "[" * 5000,
        line("nonsense", "2026-02-26T10:02:00Z"),
        line("tokens", "2026-02-26T10:02:00Z", note="x" * 300_000),
    ]
    done = aurora(home, root, "deliverable", "ingest", given="\n".join(lines))
    assert done.returncode == 1
    assert done.stdout == "3 events taken · 7 refused: add-search\n"
    named = [said.split(": ")[1] for said in done.stderr.splitlines()]
    assert named == [f"refused -:{number}" for number in (2, 4, 5, 8, 9, 10, 11)]
    assert told(home, root, "deliverable", "show")["tool_calls"] == {"bash": 2}, "two alike are two"
    again = aurora(home, root, "deliverable", "ingest", given="\n".join(lines))
    assert again.stdout == "0 events taken · 3 known already · 7 refused: add-search\n"


MANY = BATCH + 100


def test_many_events_come_in_batches_and_none_is_lost(home: Path, root: Path) -> None:
    start = line("deliverable_start", "2026-02-26T09:00:00Z")
    calls = [
        line("tool_call", f"2026-02-26T10:{n // 60 % 60:02}:{n % 60:02}Z", id=f"call-{n}", tool=f"t{n % 3}")
        for n in range(MANY)
    ]
    reply = told(home, root, "deliverable", "ingest", "-", given="\n".join([start, *calls]))
    assert (reply["accepted"], reply["duplicates"], reply["refused"]) == (MANY + 1, 0, [])
    assert told(home, root, "deliverable", "show", "add-search")["tool_calls_total"] == MANY


def test_lists_are_filtered_and_told_in_lines(home: Path, root: Path) -> None:
    assert aurora(home, root, "deliverable", "list").stdout.startswith("no deliverables; begin one with")
    told(home, root, "deliverable", "ingest", given=lifetime("one", "2026-02-26"))
    told(home, root, "deliverable", "start", "two")
    listed = told(home, root, "deliverable", "list")["deliverables"]
    assert [each["change_id"] for each in listed] == ["two", "one"]
    assert [
        each["change_id"] for each in told(home, root, "deliverable", "list", "--status", "open")["deliverables"]
    ] == ["two"]
    assert "one · completed" in aurora(home, root, "deliverable", "list", "--status", "completed").stdout
    told(home, root, "deliverable", "start", "a-question", "--kind", "run")
    for kind, names in (("run", ["a-question"]), ("change", ["two", "one"])):
        listed = told(home, root, "deliverable", "list", "--kind", kind)["deliverables"]
        assert [each["change_id"] for each in listed] == names
