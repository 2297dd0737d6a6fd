"""Choices of what is noticed of deliverables, a row each: what waits, what is a test run, how an issue ended."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from aurora_deliverables.detection import claude_code, openspec, test_runs
from aurora_deliverables.detection.files import SeenFile
from aurora_deliverables.detection.issues import MAX_ISSUES, UnknownIssue, read_issues
from aurora_deliverables.detection.tickets import Ticket
from aurora_deliverables.events import TestsRan
from aurora_deliverables.reducer import fold
from tests.orchestration.deliverables.test_detection_hooks import bash, hook
from tests.orchestration.deliverables.test_detection_issues import jira

# Hooks of an agent


@pytest.mark.parametrize(
    ("name", "fields", "why"),
    [
        pytest.param("PermissionRequest", {}, "permission asked", id="a permission"),
        pytest.param("PreToolUse", {"tool_name": "AskUserQuestion"}, "asked", id="an answer to a question"),
        pytest.param("PreToolUse", {"tool_name": "ExitPlanMode"}, "asked", id="a plan to be accepted"),
        pytest.param("PreToolUse", {"tool_name": "Bash"}, None, id="not a command"),
        pytest.param("Notification", {"notification_type": "idle_prompt"}, "input awaited", id="the next prompt"),
        pytest.param(
            "Notification", {"message": "Claude needs your permission to use Bash"}, "permission asked",
            id="by the words of a version without types",
        ),
        pytest.param(
            "Notification", {"message": "Permission: Claude is waiting for your input"}, "permission asked",
            id="of both a permission, which stops the work",
        ),
        pytest.param(
            "Notification", {"notification_type": "auth_success", "message": "permission granted"}, None,
            id="a type is not doubted for its words",
        ),
        pytest.param("Stop", {"message": "waiting for your input"}, None, id="and no other hook for its own"),
    ],
)  # fmt: skip
def test_what_an_agent_waits_for_from_a_person(name: str, fields: dict[str, Any], why: str | None) -> None:
    assert claude_code.waits_for(hook(name, **fields)) == why


@pytest.mark.parametrize(
    ("name", "over"),
    [
        ("PostToolUse", True),
        ("PostToolUseFailure", True),
        ("UserPromptSubmit", True),
        ("PermissionDenied", True),
        ("SessionEnd", True),
        ("PreToolUse", False),
        ("Notification", False),
        ("Stop", False),
    ],
)
def test_when_a_wait_for_a_person_is_over(name: str, over: bool) -> None:
    assert claude_code.answers(hook(name)) is over


@pytest.mark.parametrize(
    ("name", "looked_at"),
    [
        ("Stop", True),
        ("SubagentStop", True),
        ("StopFailure", True),
        ("PreCompact", True),
        ("SessionEnd", True),
        ("UserPromptSubmit", False),
        ("PostToolUse", False),
    ],
)
def test_after_which_hooks_a_transcript_has_whole_calls(name: str, looked_at: bool) -> None:
    assert (name in claude_code.TURN_ENDS) is looked_at


@pytest.mark.parametrize(
    ("name", "tool", "given", "file"),
    [
        pytest.param("PostToolUse", "Write", {"file_path": "/w/a"}, "/w/a", id="one that was written"),
        pytest.param("PostToolUse", "MultiEdit", {"file_path": "/w/a"}, "/w/a", id="one that was edited in places"),
        pytest.param("PostToolUse", "NotebookEdit", {"notebook_path": "/w/n"}, "/w/n", id="a notebook"),
        pytest.param("PostToolUse", "Read", {"file_path": "/w/a"}, None, id="not one that was read"),
        pytest.param(
            "PostToolUseFailure", "Write", {"file_path": "/w/a"}, None, id="nor one that could not be written"
        ),
        pytest.param("PostToolUse", "Write", {"file_path": 1}, None, id="nor what is no path"),
    ],
)
def test_which_file_a_tools_call_edited(name: str, tool: str, given: dict[str, Any], file: str | None) -> None:
    assert claude_code.edited_file(hook(name, tool_name=tool, tool_input=given)) == file


@pytest.mark.parametrize(
    ("response", "counts"),
    [
        pytest.param({"stderr": "1 failed, 2 passed in 1s"}, (2, 1, False), id="counts that stand among errors"),
        pytest.param({"exit_code": 1}, (None, None, False), id="an exit, spelt as other versions do"),
        pytest.param({"exitCode": 0, "exit_code": 1}, (None, None, True), id="of two the newer spelling"),
        pytest.param("1 failed, 2 passed in 1s", (2, 1, False), id="a response that is all text"),
    ],
)
def test_what_a_response_tells_of_a_test_run(response: object, counts: tuple[Any, ...]) -> None:
    run = claude_code.test_run(bash("pytest", tool_response=response))
    assert run is not None and (run.passed, run.failed, run.succeeded) == counts


# Test runs


@pytest.mark.parametrize(
    ("command", "is_run"),
    [
        pytest.param("cd /w\npytest", True, id="on a line of its own"),
        pytest.param("nice -n 10 pytest", True, id="behind a program with a number"),
        pytest.param("timeout 5m cargo nextest run", True, id="or a time"),
        pytest.param("env A=1 poetry run pytest", True, id="behind several programs"),
        pytest.param("make -j 4 CI=1 test", True, id="a target behind options"),
        pytest.param("make a b c d e f test", False, id="but not far behind other ones"),
        pytest.param("yarn test:unit", True, id="a script without `run`"),
        pytest.param("bun run tests", True, id="a script with it"),
        pytest.param("npm run-script test:unit", True, id="however it is run"),
        pytest.param("make check", True, id="a target of that name"),
        pytest.param("make tests", True, id="in the plural, too"),
        *(
            pytest.param(each, True, id=each)
            for each in "tox nox jest vitest mocha rspec phpunit ctest gtest bats prove trial nosetests".split()
        ),
        *(
            pytest.param(each, True, id=each)
            for each in ("go test ./...", "cargo test", "mvn verify", "./gradlew check", "dotnet test", "rake spec")
        ),
        pytest.param("npm run latest", False, id="not one that ends like it"),
        pytest.param("npm run", False, id="nor the list of scripts"),
        pytest.param("npm tst", True, id="an alias"),
        pytest.param("node --test", True, id="an option that runs them"),
        pytest.param("py -m pytest", True, id="a module"),
        pytest.param("python pytest", False, id="not a file called like one"),
        pytest.param("python -m pip install pytest", False, id="nor what another module is given"),
        pytest.param("pytest --help", False, id="nor a question to the runner"),
    ],
)
def test_which_commands_run_tests(command: str, is_run: bool) -> None:
    assert test_runs.is_test_run(command) is is_run


@pytest.mark.parametrize(
    ("command", "output", "exited_well", "counts"),
    [
        pytest.param(
            "pytest || true", "1 failed, 2 passed in 1s", True, (2, 1, False), id="a failure, whatever follows"
        ),
        pytest.param("pytest || true", "2 passed in 1s", True, (2, 0, True), id="what passed, by its counts"),
        pytest.param("pytest || true", "", True, (None, None, None), id="nobody knows where the exit is another's"),
        pytest.param("pytest; ls", "", True, (None, None, None), id="of the next command"),
        pytest.param("pytest\nls", "", True, (None, None, None), id="of the next line"),
        pytest.param("pytest & ls", "", True, (None, None, None), id="of what went on meanwhile"),
        pytest.param("pytest && ls", "", True, (None, None, True), id="what follows success tells of it"),
        pytest.param("pytest 2>&1", "", True, (None, None, True), id="a redirection is no other command"),
        pytest.param("pytest &>log", "", True, (None, None, True), id="nor is one of both outputs"),
        pytest.param("pytest;", "", True, (None, None, True), id="nor a semicolon at the end"),
        pytest.param("pytest", "2 passed in 1s", None, (2, 0, True), id="counts, where no exit is known"),
        pytest.param("pytest", "", None, (None, None, None), id="and nothing without them"),
        pytest.param("vitest", "      Tests  1 failed | 3 passed (4)", False, (3, 1, False), id="vitest's sum"),
        pytest.param("mocha", "  3 passing (9ms)\n  1 failing", False, (3, 1, False), id="mocha's"),
        pytest.param("go test -v .", "--- PASS: TestA\n--- FAIL: TestB", False, (1, 1, False), id="one by one, go's"),
        pytest.param(
            "go test ./...", "ok  \ta\t0.1s\nok  \tb\t0.1s", True, (None, None, True), id="packages are no tests"
        ),
        pytest.param(
            "pytest",
            "x\n" * test_runs.MAX_OUTPUT + "1 failed, 2 passed in 1s",
            False,
            (2, 1, False),
            id="of long output the end counts, where runners sum up",
        ),
    ],
)
def test_how_a_test_run_went(command: str, output: str, exited_well: bool | None, counts: tuple[Any, ...]) -> None:
    run = test_runs.run_of(command, output, exited_well=exited_well)
    assert isinstance(run, TestsRan) and (run.passed, run.failed, run.succeeded) == counts


# Issues of a tracker


def ticket(document: object) -> Ticket:
    return read_issues(document, 2e9).tickets[0]


DONE = {"name": "Closed", "statusCategory": {"key": "done"}}


@pytest.mark.parametrize(
    ("resolution", "how"),
    [
        ("Done", "completed"),
        ("Fixed", "completed"),
        ("Won't Fix", "withdrawn"),
        ("Wont Do", "withdrawn"),
        ("Duplicate", "withdrawn"),
        ("Cannot Reproduce", "withdrawn"),
        ("Declined", "withdrawn"),
        ("Rejected", "withdrawn"),
        ("Not Planned", "withdrawn"),
        ("Not a Bug", "withdrawn"),
        ("Obsolete", "withdrawn"),
        ("Cancelled", "withdrawn"),
        ("Incomplete", "failed"),
        ("Abandoned", "failed"),
    ],
)
def test_as_what_an_issue_of_jira_ended(resolution: str, how: str) -> None:
    """Nobody failed at what is not wanted or is asked for elsewhere; at what was given up somebody did."""
    row = f"Issue key,Resolution,Created,Resolved\nSHOP-7,{resolution},26/Feb/26 10:00 AM,26/Feb/26 11:00 AM\n"
    for given in (jira(status=DONE, resolution={"name": resolution}), row):
        found = fold(read_issues(given, 2e9).events)
        assert found is not None
        assert (found.status, found.withdrawn) == ("completed" if how == "completed" else "failed", how == "withdrawn")


@pytest.mark.parametrize(
    ("resolution", "status", "abandoned"),
    [
        pytest.param({"name": "Duplicate"}, "Done", True, id="its resolution"),
        pytest.param({"name": "Fixed"}, "Cancelled", False, id="whatever its last status is called"),
        pytest.param(None, "Cancelled", True, id="its status, where it has no resolution"),
    ],
)
def test_what_tells_how_an_issue_of_jira_ended(resolution: Any, status: str, abandoned: bool) -> None:
    told = jira(resolution=resolution, status={"name": status, "statusCategory": {"key": "done"}})
    assert ticket(told).abandoned is abandoned


@pytest.mark.parametrize(
    ("columns", "values", "fields"),
    [
        pytest.param(
            "Description,Acceptance Criteria", '"* [x] b","* [ ] a"', {"met": 0}, id="criteria of their own first"
        ),
        pytest.param("Acceptance Criteria,Description", ',"* [x] b"', {"met": 1}, id="else those of the description"),
        pytest.param("Resolution", "UNRESOLVED", {"closed": None}, id="what is unresolved is open, in any case"),
        pytest.param("Resolution", " ", {"closed": None}, id="so is what says nothing"),
        pytest.param("Resolution", "Fixed", {"closed": "Fixed"}, id="what has a resolution is closed"),
    ],
)
def test_what_a_row_of_jira_tells(columns: str, values: str, fields: dict[str, Any]) -> None:
    found = ticket(f"Issue key,Created,{columns}\nSHOP-7,26/Feb/26 10:00 AM,{values}\n")
    assert {name: getattr(found, name) for name in fields} == fields


def test_statuses_count_in_the_order_of_their_times_whatever_order_they_are_told_in() -> None:
    document = jira(created="2026-02-26T10:00:00Z")
    document["changelog"] = moves(("In Review", 14), ("In Progress", 12))
    assert [step.phase for step in ticket(document).steps] == ["apply", "verify"]


def moves(*steps: tuple[str, int]) -> dict[str, Any]:
    """Changes of status at so many o'clock."""
    items = [{"created": f"2026-02-26T{at}:00:00Z", "items": [{"field": "status", "toString": to}]} for to, at in steps]
    return {"histories": items}


@pytest.mark.parametrize(
    ("fields", "hour"),
    [
        pytest.param({"resolutiondate": 13, "statuscategorychangedate": 14}, 13, id="when it was resolved"),
        pytest.param({"statuscategorychangedate": 14}, 14, id="when it came to be done"),
        pytest.param({}, 16, id="when it was last moved to where it is"),
        pytest.param({"changelog": None}, 20, id="when it was last changed"),
    ],
)
def test_when_an_issue_of_jira_was_closed(fields: dict[str, Any], hour: int) -> None:
    at = {name: f"2026-02-26T{when}:00:00Z" for name, when in fields.items() if when is not None}
    document = jira(status=DONE, created="2026-02-26T10:00:00Z", updated="2026-02-26T20:00:00Z", **at)
    if "changelog" not in fields:
        document["changelog"] = moves(("Closed", 12), ("In Progress", 15), ("Closed", 16))
    closed = ticket(document).closed_at
    assert closed is not None and (closed % 86_400) / 3600 == hour


@pytest.mark.parametrize(
    ("status", "phase"),
    [
        ("In Progress", "apply"),
        ("In Development", "apply"),
        ("Implementing", "apply"),
        ("Doing", "apply"),
        ("Code Review", "verify"),
        ("Testing", "verify"),
        ("Ready for QA", "verify"),
        ("Verification", "verify"),
        ("Validated", "verify"),
        ("Review in progress", "verify"),
        ("Aquarium", None),
        ("To Do", None),
    ],
)
def test_which_phase_a_status_of_jira_is(status: str, phase: str | None) -> None:
    """A review that is in progress is a review."""
    assert [each.phase for each in ticket({**jira(), "changelog": moves((status, 11))}).steps] == (
        [phase] if phase else []
    )


LONG = "bold and longer than any heading that a person would write above a list of criteria"


def adf(*nodes: dict[str, Any]) -> dict[str, Any]:
    return {"type": "doc", "version": 1, "content": list(nodes)}


def paragraph(text: str, *, bold: bool = False) -> dict[str, Any]:
    marks = {"marks": [{"type": "strong"}]} if bold else {}
    return {"type": "paragraph", "content": [{"type": "text", "text": text, **marks}]}


def bullets(*texts: str) -> dict[str, Any]:
    return {"type": "bulletList", "content": [{"type": "listItem", "content": [paragraph(each)]} for each in texts]}


@pytest.mark.parametrize(
    ("description", "criteria"),
    [
        pytest.param("* [x] a\n* [ ] b\n* c", [True, False], id="boxes, where no heading names criteria"),
        pytest.param("* a\n* b", [], id="and not every list"),
        pytest.param("## Acceptance criteria\n- a\n- b\n## Notes\n- c", [None, None], id="below a heading of Markdown"),
        pytest.param("Acceptance criteria:\n1. a\n2) b", [None, None], id="numbered, below a line with a colon"),
        pytest.param("h2. Acceptance criteria\n** deep", [None], id="deeper items, where there are no others"),
        pytest.param("* (/) a\n* (x) b", [True, False], id="ticks and crosses are boxes"),
        pytest.param(
            adf(paragraph("Acceptance criteria", bold=True), bullets("a", "[x] b")), [None, True],
            id="below a bold line",
        ),
        pytest.param(
            adf(paragraph("Acceptance criteria:"), bullets("a"), paragraph(LONG, bold=True), bullets("b")),
            [None, None], id="a bold sentence ends no list",
        ),
        pytest.param(
            adf(paragraph("Acceptance criteria:"), bullets("a"), paragraph("Notes", bold=True), bullets("b")),
            [None], id="a bold heading does",
        ),
    ],
)  # fmt: skip
def test_which_lines_of_a_description_are_criteria(description: Any, criteria: list[bool | None]) -> None:
    found = ticket(jira(description=description))
    boxed = bool(criteria) and None not in criteria
    assert (found.requirements or 0, found.met) == (len(criteria), sum(map(bool, criteria)) if boxed else None)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param("* a\nsome words\n* b", 2, id="the items of its list"),
        pytest.param("it finds a word\nit finds two", 2, id="each line, where it has no list"),
    ],
)
def test_a_field_of_its_own_for_criteria_is_nothing_else(text: str, count: int) -> None:
    """The names of fields stand beside the issues of a search."""
    issue = jira(description="* [x] no criterion", customfield_1=text)
    found = read_issues({"issues": [issue], "names": {"customfield_1": "Acceptance Criteria"}}, 2e9).tickets[0]
    assert (found.requirements, found.met) == (count, None)


def test_as_many_issues_as_may_be_are_read_at_once() -> None:
    with pytest.raises(UnknownIssue, match="neither"):
        read_issues([{}] * MAX_ISSUES, 2e9)


def test_a_field_that_a_team_named_like_one_of_jiras_does_not_take_its_place() -> None:
    own = "<customfields><customfield><customfieldname>Summary</customfieldname><customfieldvalues>"
    own += "<customfieldvalue>Other</customfieldvalue></customfieldvalues></customfield></customfields>"
    opened = "<key>SHOP-7</key><summary>Search</summary><created>Mon, 2 Mar 2026 10:00:00 +0000</created>"
    assert ticket(f"<rss><channel><item>{opened}{own}</item></channel></rss>").title == "Search"


# OpenSpec


def put(root: Path, path: str, text: str) -> None:
    file = root / "openspec/changes" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    os.utime(file, (10.0, 10.0))


def test_of_changes_that_had_one_name_the_open_one_is_meant_and_then_the_newest_of_the_archive(tmp_path: Path) -> None:
    for name in ("2025-01-02-x", "2026-01-02-x", "2026-09-09-xx"):
        put(tmp_path, f"archive/{name}/proposal.md", "## Why\n")
    seen = openspec.see(tmp_path, "x")
    assert seen is not None and seen.folder == "openspec/changes/archive/2026-01-02-x"
    put(tmp_path, "x/proposal.md", "## Why\n")
    again = openspec.see(tmp_path, "x")
    assert again is not None and (again.folder, again.archived_at) == ("openspec/changes/x", None)
    assert openspec.see(tmp_path, "archive") is None, "which is no change"


def test_a_hidden_folder_is_no_change(tmp_path: Path) -> None:
    put(tmp_path, ".trash/proposal.md", "x")
    put(tmp_path, "x/proposal.md", "x")
    assert openspec.open_changes(tmp_path) == ["x"]


def test_an_empty_proposal_begins_a_change_and_an_empty_list_of_tasks_no_phase() -> None:
    empty = {name: SeenFile(f"{name}.md", " \n", 1.0) for name in ("proposal", "tasks")}
    found = openspec.observation(openspec.SeenChange("x", "openspec/changes/x", **empty))  # type: ignore[arg-type]
    assert found is not None and [each.phase for each in found.artefacts] == ["propose"]


@pytest.mark.parametrize(
    ("proposal", "description"),
    [
        pytest.param("# Change: Search\n", "Search", id="its title"),
        pytest.param("# Change Proposal: Search\n", "Search", id="without the word for what it is"),
        pytest.param("# OpenSpec Change: Search\n", "Search", id="however that is said"),
        pytest.param("# Why\nNobody finds it. So.\n", "Nobody finds it.", id="its reason, where the title is none"),
        pytest.param("Nobody finds it.\n\nMore.\n", "Nobody finds it.", id="its first words, where nothing says why"),
    ],
)
def test_what_a_change_is_called(proposal: str, description: str) -> None:
    seen = openspec.SeenChange("x", "openspec/changes/x", SeenFile("proposal.md", proposal, 1.0))
    found = openspec.observation(seen)
    assert found is not None and found.description == description


def test_of_sections_that_stand_twice_the_first_counts_and_what_is_removed_forbids_nothing() -> None:
    must = "\n#### Scenario: s\nIt MUST NOT x\n"
    text = f"## ADDED Requirements\n### Requirement: A{must}## REMOVED Requirements\n### Requirement: B{must}"
    seen = openspec.SeenChange(
        "x", "f", specs=(SeenFile("s.md", f"{text}## Added requirements\n### Requirement: C\n", 1.0),)
    )
    found = openspec.criteria_of(seen)
    assert [(each.name, each.removed) for each in found.requirements] == [("A", False), ("B", True)]
    assert [each.within[0] for each in found.constraints] == ["A"]
