"""Deliverables in an editor: requests, commands, changes told, lenses, hovers and diagnostics on task files."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.server.daemons import Daemon, Wire
from tests.server.deliverables import lifetime, line
from tests.wait_limits import HANG

TASKS = """# Tasks

## 1. Index

- [x] 1.1 Tokenize
- [ ] 1.2 Größe 😀 store

## 2. Query
- [ ] 2.1 Rank

```
- [ ] no task
```
"""


QUIET = {
    "AURORA_DELIVERABLES_STUCK_HOURS": "2",
    "AURORA_DELIVERABLES_DETECT_OPENSPEC": "false",
    "AURORA_DELIVERABLES_DETECT_SPECKIT": "false",
    "AURORA_DELIVERABLES_DETECT_MARKDOWN": "false",
}
"""Nothing is noticed by itself: what these tests look at is told."""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("aurora") / "home", **QUIET) as daemon:
        yield daemon


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    tasks = folder / "openspec" / "changes" / "add-search" / "tasks.md"
    tasks.parent.mkdir(parents=True)
    tasks.write_text(TASKS)
    return folder


@pytest.fixture
def tasks(root: Path) -> Path:
    return root / "openspec" / "changes" / "add-search" / "tasks.md"


@pytest.fixture
def wire(daemon: Daemon, root: Path) -> Iterator[Wire]:
    with daemon.wire() as wire:
        wire.initialize(root, initializationOptions={"deliverableChanges": True})
        yield wire


def act(wire: Wire, action: str, change: str | None = "add-search", **more: Any) -> Any:
    params = {"action": action, **more} if change is None else {"action": action, "change_id": change, **more}
    return wire.result("aurora/deliverable", params)


def opened(wire: Wire, path: Path, text: str = TASKS) -> None:
    document = {"uri": path.as_uri(), "languageId": "markdown", "version": 1, "text": text}
    wire.notify("textDocument/didOpen", {"textDocument": document})


def iso(hours_ago: float) -> str:
    return datetime.fromtimestamp(time.time() - hours_ago * 3600, UTC).isoformat()


def test_the_request_and_the_command_answer_alike_in_snake_case(wire: Wire) -> None:
    state = act(wire, "start", description="Search", requirements_count=6, framework="openspec")
    assert state["change_id"] == "add-search" and state["spec_source"]["requirements_count"] == 6
    act(wire, "tool-call", tool="file_edit", count=2)
    shown = act(wire, "show", None)
    assert shown["tool_calls"] == {"file_edit": 2}
    asked = {"command": "aurora.deliverable", "arguments": [{"action": "show", "change_id": "add-search"}]}
    assert wire.result("workspace/executeCommand", asked) == shown
    (first, second) = act(wire, "events")["events"]
    assert (first["event_type"], second["event_type"]) == ("deliverable_start", "tool_call")
    assert first["data"]["source"] == "lsp"


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "action"),
        ({"action": "explode"}, "explode"),
        ({"action": "phase", "change_id": "add-search"}, "`phase` is missing"),
        ({"action": "start", "change_id": "x" * 300}, "change_id"),
        ({"action": "tool-call", "change_id": "add-search", "tool": "x", "count": -1}, "count"),
        ({"action": "ingest"}, "`lines`"),
        ({"action": "ingest", "lines": ["{}"] * 5001}, "lines"),
        ({"action": "show", "workspace": "/nowhere"}, "/nowhere"),
    ],
)
def test_params_that_make_no_sense_are_named(wire: Wire, params: dict[str, Any], said: str) -> None:
    act(wire, "start")
    error = wire.ask("aurora/deliverable", params)["error"]
    assert error["code"] == -32602 and said in error["message"]


def test_a_refusal_says_so_in_its_data(wire: Wire) -> None:
    act(wire, "start")
    act(wire, "complete")
    error = wire.ask("aurora/deliverable", {"action": "phase", "phase": "apply", "change_id": "add-search"})["error"]
    assert error["data"] == {"kind": "Refused"} and "completed" in error["message"]


def test_changes_are_told_to_who_asked_and_to_nobody_else(wire: Wire, daemon: Daemon, root: Path) -> None:
    with daemon.wire() as other:
        other.initialize(root)
        act(wire, "start")
        act(wire, "phase", phase="apply")
        act(wire, "task", completed=4, total=8)
        while (told := wire.notification("aurora/deliverableChanged"))["summary"] != "add-search · apply · 4/8 tasks":
            pass
        assert told["workspace"] == root.as_uri()
        assert told["deliverable"]["tasks_completed"] == 4
        act(other, "show")
        assert not [each for each in other.received if each.get("method") == "aurora/deliverableChanged"]


def test_what_the_command_line_says_reaches_the_editor(wire: Wire, daemon: Daemon, root: Path) -> None:
    client = daemon.client(root)
    client.request("aurora/deliverable", {"action": "start", "change_id": "fix-login"})
    client.close()
    assert wire.notification("aurora/deliverableChanged")["summary"] == "fix-login · planning"


def test_task_files_have_lenses_with_the_progress_of_the_buffer(wire: Wire, tasks: Path) -> None:
    document = {"textDocument": {"uri": tasks.as_uri()}}
    assert wire.result("textDocument/codeLens", document) == []
    act(wire, "start")
    act(wire, "phase", phase="apply")
    lenses = wire.result("textDocument/codeLens", document)
    assert [(lens["range"]["start"]["line"], lens["command"]["title"]) for lens in lenses] == [
        (0, "add-search · apply · 1/3 tasks"),
        (2, "1/2 tasks"),
        (7, "0/1 tasks"),
    ]
    assert wire.result("codeLens/resolve", lenses[0])["command"] == lenses[0]["command"]
    command = {key: lenses[0]["command"][key] for key in ("command", "arguments")}
    assert wire.result("workspace/executeCommand", command)["change_id"] == "add-search"
    opened(wire, tasks, TASKS.replace("[ ] 1.2", "[x] 1.2"))
    (first, *_) = wire.result("textDocument/codeLens", document)
    assert first["command"]["title"] == "add-search · apply · 2/3 tasks", "unsaved boxes count"


def test_lenses_are_asked_for_anew_when_their_deliverable_changes(daemon: Daemon, root: Path, tasks: Path) -> None:
    with daemon.wire() as wire:
        wire.initialize(root, capabilities={"workspace": {"codeLens": {"refreshSupport": True}}})
        opened(wire, tasks)
        act(wire, "start")
        deadline = time.monotonic() + HANG
        while not any(each["method"] == "workspace/codeLens/refresh" for each in wire.asked):
            act(wire, "show")
            assert time.monotonic() < deadline


def test_other_sources_of_specs_are_found_by_their_place(wire: Wire, root: Path) -> None:
    for path in ("specs/001-login/tasks.md", "docs/export.md", "README.md"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("# Work\n\n- [x] one\n- [ ] two\n")
    act(wire, "start", "001-login")
    act(wire, "start", "export", framework="markdown", spec_id="docs/export.md")

    def titles(path: str) -> list[str]:
        lenses = wire.result("textDocument/codeLens", {"textDocument": {"uri": (root / path).as_uri()}})
        return [lens["command"]["title"] for lens in lenses if "command" in lens]

    assert titles("specs/001-login/tasks.md") == ["001-login · planning · 1/2 tasks"]
    assert titles("docs/export.md") == ["export · planning · 1/2 tasks"]
    assert titles("README.md") == []


def test_hovering_a_task_tells_of_the_deliverable(wire: Wire, tasks: Path) -> None:
    lines = lifetime("add-search", "2026-02-26").splitlines()
    act(wire, "ingest", None, lines=lines)
    at = {"textDocument": {"uri": tasks.as_uri()}, "position": {"line": 5, "character": 3}}
    said = wire.result("textDocument/hover", at)["contents"]["value"]
    assert said.startswith("**add-search** · completed")
    assert "apply 30 min → verify 20 min" in said and "3 tool calls (file\\_edit 3)" in said and "$0.50" in said
    elsewhere = wire.result("textDocument/hover", {**at, "position": {"line": 1, "character": 0}})
    assert elsewhere is None or "3 tool calls" not in elsewhere["contents"]["value"]


def published(wire: Wire) -> list[tuple[str, int, int]]:
    found = wire.notification("textDocument/publishDiagnostics")["diagnostics"]
    return [(each["code"], each["severity"], each["range"]["start"]["line"]) for each in found]


def test_a_deliverable_that_nothing_happens_to_is_hinted_at_until_something_does(wire: Wire, tasks: Path) -> None:
    act(wire, "start", at=iso(30))
    act(wire, "phase", phase="apply", at=iso(26))
    opened(wire, tasks)
    (found,) = wire.notification("textDocument/publishDiagnostics")["diagnostics"]
    assert found["code"] == "deliverable-stuck" and found["severity"] == 4
    assert "stuck in apply" in found["message"] and "1 d 2 h" in found["message"]
    line_ = "- [ ] 1.2 Größe 😀 store"
    assert found["range"] == {
        "start": {"line": 5, "character": 0},
        "end": {"line": 5, "character": len(line_) + 1},
    }, "the first open task, in UTF-16"
    act(wire, "tool-call", tool="bash")
    assert published(wire) == []
    wire.notify("textDocument/didClose", {"textDocument": {"uri": tasks.as_uri()}})


def test_failing_tests_and_circles_are_warnings_until_the_tests_pass(wire: Wire, tasks: Path) -> None:
    act(wire, "start")
    opened(wire, tasks)
    act(wire, "tests", passed=3, failed=2, command="make test")
    found = wire.notification("textDocument/publishDiagnostics")["diagnostics"]
    assert [each["message"] for each in found] == ["add-search: 2 tests failed just now (make test)"]
    assert [each["severity"] for each in found] == [2]
    lines = [line("recovery", iso(0), id=f"r-{n}") for n in range(3)]
    act(wire, "ingest", None, lines=lines)
    while (codes := [code for code, _, _ in published(wire)]) == ["deliverable-failing"]:
        pass  # what was found before may be told once more
    assert codes == ["deliverable-failing", "deliverable-circles"]
    act(wire, "tests", passed=5, failed=0)
    assert [code for code, _, _ in published(wire)] == ["deliverable-circles"]
    act(wire, "complete")
    assert published(wire) == []


def test_clients_that_pull_get_the_same_and_are_not_pushed_to(daemon: Daemon, root: Path, tasks: Path) -> None:
    with daemon.wire() as wire:
        wire.initialize(root, capabilities={"textDocument": {"diagnostic": {}}})
        opened(wire, tasks)
        act(wire, "start", at=iso(30))
        asked = {"textDocument": {"uri": tasks.as_uri()}}
        report = wire.result("textDocument/diagnostic", asked)
        assert [each["code"] for each in report["items"]] == ["deliverable-stuck"]
        again = wire.result("textDocument/diagnostic", {**asked, "previousResultId": report["resultId"]})
        assert again == {"kind": "unchanged", "resultId": report["resultId"]}
        act(wire, "fail", failure_type="infinite_loop")
        changed = wire.result("textDocument/diagnostic", {**asked, "previousResultId": report["resultId"]})
        assert [each["message"] for each in changed["items"]] == ["add-search has failed: infinite loop"]
        assert not [each for each in wire.received if each.get("method") == "textDocument/publishDiagnostics"]


def test_preferences_switch_them_off(wire: Wire, tasks: Path) -> None:
    act(wire, "start", at=iso(30))
    opened(wire, tasks)
    assert [code for code, _, _ in published(wire)] == ["deliverable-stuck"]
    settings = {"settings": {"aurora": {"diagnostics": False, "codeLens": False, "hover": False}}}
    wire.notify("workspace/didChangeConfiguration", settings)
    assert published(wire) == []
    assert wire.result("textDocument/codeLens", {"textDocument": {"uri": tasks.as_uri()}}) == []


def test_with_several_folders_the_one_that_knows_the_change_is_meant(daemon: Daemon, tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    with daemon.wire() as wire:
        wire.initialize(None, workspaceFolders=[{"uri": each.as_uri(), "name": each.name} for each in folders])
        error = wire.ask("aurora/deliverable", {"action": "start", "change_id": "one"})["error"]
        assert "name one in `workspace`" in error["message"]
        act(wire, "start", "one", workspace=folders[1].as_uri())
        act(wire, "phase", "one", phase="apply")
        listed = act(wire, "list", None, workspace=str(folders[1]))["deliverables"]
        assert [each["current_phase"] for each in listed] == ["apply"]
        assert act(wire, "list", None, workspace=str(folders[0]))["deliverables"] == []
