"""What an editor says of a deliverable, a rule each: what is told, what is out of the ordinary, what is trouble."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol.types import DiagnosticSeverity

from aurora_deliverables.deliverable import Conformance, Deliverable, PhaseSpan, TokenUsage
from aurora_deliverables.events import Event, TestsRan, ToolCalled
from aurora_server.lsp.deliverable_diagnostics import troubles
from aurora_server.lsp.deliverable_text import hover_lines, lasting, lens_title, stage, summary
from aurora_server.mcp.client_requests import AskedClient, _first_folder
from aurora_server.workspace import work_trees
from aurora_server.workspace.claude_hooks import ClaudeHooks, _Session
from aurora_server.workspace.who import _Gathered
from aurora_server.workspace.wire import iso
from tests.orchestration.deliverables.test_detection_hooks import hook

BEGAN = 1_772_096_400.0
HOUR = 3600.0


def deliverable(status: Any = "executing", **more: Any) -> Deliverable:
    return Deliverable("add-search", status, BEGAN, BEGAN + HOUR, **more)


# What is told


@pytest.mark.parametrize(
    ("status", "phase", "told"),
    [
        pytest.param("executing", "apply", "apply", id="the phase it is in"),
        pytest.param("planning", None, "planning", id="its status between phases"),
        pytest.param("completed", "archive", "completed", id="how it ended"),
        pytest.param("failed", "apply", "failed", id="however that was"),
    ],
)
def test_where_a_deliverable_stands(status: str, phase: Any, told: str) -> None:
    assert stage(deliverable(status, current_phase=phase)) == told


@pytest.mark.parametrize(
    ("buffer", "told"),
    [
        pytest.param((3, 9), "add-search · executing · 3/9 tasks", id="as the buffer has them, which is newer"),
        pytest.param((0, 0), "add-search · executing · 1/8 tasks", id="as recorded, where the buffer has none"),
    ],
)
def test_which_tasks_are_counted(buffer: tuple[int, int], told: str) -> None:
    assert summary(deliverable(tasks_completed=1, tasks_total=8), *buffer) == told
    assert summary(deliverable()) == "add-search · executing"


@pytest.mark.parametrize(
    ("more", "told"),
    [
        pytest.param({"apply_iterations": 1}, "", id="work that was done once is nothing out of the ordinary"),
        pytest.param({"apply_iterations": 2}, " · 2 iterations", id="twice is"),
        pytest.param({"recovery_attempts": 1}, " · 1 recovery", id="as a recovery is"),
        pytest.param({"recovery_attempts": 2, "apply_iterations": 3}, " · 2 recoveries · 3 iterations", id="both"),
    ],
)
def test_what_a_lens_says_beside_tasks(more: dict[str, int], told: str) -> None:
    assert lens_title(deliverable(**more), 1, 2) == f"add-search · executing · 1/2 tasks{told}"


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (59.9, "59 s"),
        (60, "1 min"),
        (3599, "59 min"),
        (3600, "1 h"),
        (3660, "1 h 1 min"),
        (86_399, "23 h 59 min"),
        (86_400, "1 d"),
        (86_460, "1 d"),
        (90_000, "1 d 1 h"),
    ],
)
def test_how_long_something_lasts_is_told_in_two_units_at_most(seconds: float, told: str) -> None:
    assert lasting(seconds) == told


def test_a_hover_says_how_long_each_phase_took_how_often_and_which_tools_were_used_most() -> None:
    spans = (
        PhaseSpan("apply", BEGAN, BEGAN + 60, 1),
        PhaseSpan("verify", BEGAN + 60, BEGAN + 120, 1),
        PhaseSpan("apply", BEGAN + 120, None, 2),
    )
    calls = {"read": 1, "edit": 5, "bash": 3, "grep": 2, "glob": 1}
    found = deliverable(
        spans=spans, tool_calls=calls, failure_type="infinite_loop", conformance=Conformance(overall=0.876),
        tokens=TokenUsage(1000, 200, cost_usd=0.5),
    )  # fmt: skip
    now = datetime.fromtimestamp(BEGAN + 180, UTC)
    *_, phases, effort, quality = hover_lines(found, now, markdown=False)
    assert phases == "apply 2 min (2×) → verify 1 min"
    assert effort == "12 tool calls (edit 5, bash 3, grep 2, read 1) · 1,200 tokens · $0.50"
    assert quality == "conformance 0.88 · failed by infinite loop"
    ended = deliverable("failed", spans=spans[2:], completed_at=BEGAN + 150)
    assert hover_lines(ended, now, markdown=False)[-1] == "apply 30 s (2×)", "a phase that goes on ends with it"


# Trouble


def ran(*, failed: int | None = 0, succeeded: bool | None = None) -> Event:
    return Event("e", "add-search", BEGAN, TestsRan(1, failed, succeeded=succeeded, command="pytest"))


@pytest.mark.parametrize(
    ("more", "events", "codes"),
    [
        pytest.param({"status": "completed", "recovery_attempts": 9}, [], [], id="none of what is done"),
        pytest.param({"status": "failed", "recovery_attempts": 9}, [], ["failed"], id="of what failed that alone"),
        pytest.param({}, [ran(failed=2)], ["failing"], id="tests that fail"),
        pytest.param({}, [ran(failed=2), ran()], [], id="the last run counts"),
        pytest.param({}, [ran(succeeded=False)], ["failing"], id="whether or not it counted"),
        pytest.param({}, [ran(failed=2, succeeded=True)], [], id="and what it came to, over its counts"),
        pytest.param(
            {}, [ran(failed=1), Event("t", "x", BEGAN, ToolCalled("a"))], ["failing"], id="whatever happened since"
        ),
        pytest.param({"recovery_attempts": 2}, [], [], id="two recoveries are none"),
        pytest.param({"recovery_attempts": 3}, [], ["circles"], id="three are a circle"),
    ],
)
def test_what_of_a_deliverable_a_person_should_look_at(
    more: dict[str, Any], events: list[Event], codes: list[str]
) -> None:
    found = troubles(deliverable(**more), events, BEGAN + HOUR, 24.0)
    assert [each.code.removeprefix("deliverable-") for each in found] == codes


@pytest.mark.parametrize(("hours", "stuck"), [(23.9, False), (24.0, True)])
def test_what_is_quiet_for_a_day_is_hinted_at(hours: float, stuck: bool) -> None:
    found = troubles(deliverable(), [], BEGAN + HOUR + hours * HOUR, 24.0)
    assert [each.severity for each in found] == ([DiagnosticSeverity.Hint] if stuck else [])


# Sessions of agents


def test_a_person_is_waited_for_since_the_first_question() -> None:
    """Until they answer: a reminder is no new wait."""
    made: Any = ClaudeHooks.__new__(ClaudeHooks)
    clock = iter([10.0, 20.0, 30.0])
    made._now, session = lambda: next(clock), _Session()
    asked = hook("PermissionRequest")
    reminded = hook("Notification", notification_type="idle_prompt")
    assert made._waited(asked, session) is None and made._waited(reminded, session) is None
    assert made._waited(hook("PostToolUse"), session) == ("permission asked", 10.0)
    assert made._waited(hook("PostToolUse"), session) is None, "that is told once"


@pytest.mark.parametrize(
    ("edited", "path"),
    [("/w/src/a.py", "src/a.py"), ("/elsewhere/a.py", None), ("src/a.py", "src/a.py"), ("/w2/a.py", None)],
)
def test_which_edited_file_is_the_workspaces(edited: str, path: str | None) -> None:
    made: Any = ClaudeHooks.__new__(ClaudeHooks)
    made._root = Path("/w")
    assert made._edited_path(hook("PostToolUse", tool_name="Write", tool_input={"file_path": edited})) == path


# Clients of MCP


@pytest.mark.parametrize(
    ("uris", "first"),
    [
        pytest.param(["{0}/a", "{0}/b"], "a", id="the first folder"),
        pytest.param(["{0}/gone", "{0}/b"], "b", id="that is there"),
        pytest.param(["https://example.com{1}/a", "{0}/b"], "b", id="and here"),
        pytest.param(["{0}/a%20file", "{0}/b%20c"], "b c", id="and a folder, however it is spelt"),
        pytest.param([], None, id="else none"),
    ],
)
def test_which_of_a_clients_roots_is_worked_in(tmp_path: Path, uris: list[str], first: str | None) -> None:
    for name in ("a", "b", "b c"):
        (tmp_path / name).mkdir()
    (tmp_path / "a file").touch()
    given = [each.format(f"file://{tmp_path}", tmp_path) for each in uris]
    assert _first_folder(given) == (tmp_path / first if first else None)


@pytest.mark.parametrize(
    ("form", "url", "asks"),
    [
        pytest.param(object(), None, True, id="one with forms"),
        pytest.param(None, None, True, id="one of before there was anything else"),
        pytest.param(None, object(), False, id="not one that opens pages alone"),
    ],
)
def test_which_clients_put_questions_to_their_user(form: Any, url: Any, asks: bool) -> None:
    offered = SimpleNamespace(elicitation=SimpleNamespace(form=form, url=url))
    session = SimpleNamespace(client_capabilities=offered, can_send_request=True)
    context: Any = SimpleNamespace(session=session)
    assert AskedClient().elicits(context) is asks


# Siblings and people


def test_a_new_work_tree_starts_from_the_sibling_at_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And from another where that one cannot be copied."""
    at = {Path("/new"): "c2", Path("/one"): "c1", Path("/two"): "c2"}
    tree: Any = lambda root: (root, Path())  # noqa: E731
    files = [SimpleNamespace(root=root, path=root / "m.db", left=False) for root in (Path("/one"), Path("/two"))]
    monkeypatch.setattr(work_trees, "_place", tree)
    monkeypatch.setattr(work_trees, "_commit", at.get)
    monkeypatch.setattr(work_trees, "find_git_directory", lambda root: root)
    monkeypatch.setattr(work_trees, "memory_files", lambda folder: files)
    monkeypatch.setattr(work_trees, "_is_sibling", lambda each, *place: True)
    broken: set[Path] = set()
    monkeypatch.setattr(work_trees, "copy_index", lambda source, path, root: source.parent not in broken)
    start = lambda: work_trees.start_from_sibling(Path("/new"), tmp_path / "m.db")  # noqa: E731
    assert start() == Path("/two")
    broken.add(Path("/two"))
    assert start() == Path("/one")
    (tmp_path / "m.db").touch()
    assert start() is None, "what is there is not replaced"


def test_people_are_called_as_they_last_called_themselves_and_known_by_all_their_addresses() -> None:
    known: Any = [
        SimpleNamespace(at=2.0, name="Ann New", email="ann@new", raw_email="ann@old", commit="b"),
        SimpleNamespace(at=1.0, name="Ann Old", email="ann@new", raw_email="ann@new", commit="a"),
    ]
    gathered = _Gathered("me", known)
    assert list(gathered.names.values()) == ["Ann New"]
    old, new = (next(key for key in gathered._alias if gathered._alias[key]), gathered.of(known[0]))
    assert gathered.canonical(old) == new and gathered.canonical("stranger") == "stranger"


def test_who_knows_as_much_is_told_by_name() -> None:
    gathered = _Gathered("me", [])
    for person, name in (("1", "Bo"), ("2", "Al"), ("me", "Zoe")):
        gathered.touch(person, 50.0, commits=1)
        gathered.names[person] = name
    gathered.touch("me", 90.0, uses=2)
    found = gathered.people(100.0)
    assert [each.name for each in found] == ["Zoe", "Al", "Bo"]
    assert (found[0].you, found[0].uses, found[0].commits) == (True, 2, 1)
    assert found[0].last_touch == iso(90.0), "by the latest of all that one did"
    gathered.touch("0", 50.0, commits=1)
    gathered.names["0"] = "Bo"
    assert [each.author for each in gathered.people(100.0)] == ["me", "2", "0", "1"], "of two of one name by the id"
