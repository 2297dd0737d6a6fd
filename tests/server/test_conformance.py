"""Conformance of a change as a daemon measures it: an OpenSpec change worked through to its archive in a real
repository, JUnit reports in four dialects, the README's own sequence of commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.daemons import Daemon, until
from tests.server.deliverables import aurora, told
from tests.server.test_detection import TASKS, commit, git, write
from tests.server.tracked import deliverable_in
from tests.wait_limits import HANG

SPEC = """\
## ADDED Requirements

### Requirement: Full-text search
The system SHALL find products by words of their name. It MUST NOT show deleted products.

#### Scenario: One word
- **WHEN** a user searches for "lamp"
- **THEN** every product named so is listed

### Requirement: No match
The system SHALL say so.

## REMOVED Requirements

### Requirement: Letter index
**Reason**: search replaces it
"""
TESTS = """\
def test_full_text_search():
    pass


def test_no_match_is_said():
    pass


def test_does_not_show_deleted_products():
    pass
"""
FOLDER = "openspec/changes/archive/2026-11-22-add-search"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    write(root / "src" / "catalogue.py", "def products():\n    return []\n")
    git(root, "init", "-q", "-b", "main")
    commit(root, "Begin")
    return root


@pytest.fixture
def daemon(home: Path) -> Iterator[Daemon]:
    with Daemon(home) as daemon:
        yield daemon


def report(**outcomes: bool) -> str:
    """A report as pytest writes it."""
    cases = "".join(
        f'<testcase classname="tests.test_search" name="{name}" time="0.1">'
        f"{'' if passed else '<failure message=&quot;no&quot;>x</failure>'}</testcase>".replace("&quot;", '"')
        for name, passed in outcomes.items()
    )
    failed = sum(not passed for passed in outcomes.values())
    suite = f'<testsuite name="pytest" errors="0" failures="{failed}" skipped="0" tests="{len(outcomes)}" time="0.3"'
    stamp = 'timestamp="2026-02-26T10:00:00.000000" hostname="h"'
    inner = f"<testsuites>{suite} {stamp}>{cases}</testsuite></testsuites>"
    return f'<?xml version="1.0" encoding="utf-8"?>{inner}'


def worked(home: Path, root: Path, client: Any, *, done: bool = True) -> None:
    """Propose, plan and implement the change."""
    change = root / "openspec" / "changes" / "add-search"
    client.request("aurora/index", timeout=HANG)
    write(change / "proposal.md", "## Why\nCustomers cannot find products.\n")
    write(change / "specs" / "catalogue" / "spec.md", SPEC)
    write(change / "tasks.md", TASKS)
    until(lambda: (d := deliverable_in(home, "add-search")) is not None and d.tasks_total == 4, "planned")
    commit(root, "docs: propose search")
    write(root / "src" / "search.py", "def search(words):\n    return words\n")
    write(root / "tests" / "test_search.py", TESTS)
    until(lambda: (d := deliverable_in(home, "add-search")) is not None and d.current_phase == "apply", "apply")
    if done:
        write(change / "tasks.md", TASKS.replace("[ ]", "[x]"))
        until(lambda: (d := deliverable_in(home, "add-search")) is not None and d.tasks_completed == 4, "done")
    client.request("aurora/index", timeout=HANG)


def archived(home: Path, root: Path) -> None:
    archive = root / FOLDER
    archive.parent.mkdir(parents=True, exist_ok=True)
    (root / "openspec" / "changes" / "add-search").rename(archive)
    until(lambda: (d := deliverable_in(home, "add-search")) is not None and d.status == "completed", "archived")


def test_a_change_worked_through_to_its_archive_is_measured_with_evidence(
    daemon: Daemon, home: Path, root: Path, tmp_path: Path
) -> None:
    junit = tmp_path / "results.xml"
    names = ("test_full_text_search", "test_no_match_is_said", "test_does_not_show_deleted_products")
    junit.write_text(report(**dict.fromkeys(names, True)))
    with daemon.client(root) as client:
        worked(home, root, client)
        taken = told(home, root, "deliverable", "ingest", "--junit", str(junit))
        assert taken["change_ids"] == ["add-search"] and taken["accepted"] == 2
        assert told(home, root, "deliverable", "ingest", "--junit", str(junit))["duplicates"] == 1
        archived(home, root)
        commit(root, "docs: archive search")
    reply = told(home, root, "deliverable", "criteria", "add-search")
    assert reply["conformance"] == {
        "functional": 1.0, "correctness": 1.0, "constraints": 1.0, "iteration_penalty": 1.0, "overall": 1.0,
    }  # fmt: skip
    assert reply["gaps"] == []
    found = {each["name"]: (each["met"], each["by"], each["evidence"]) for each in reply["criteria"]}
    spec, changes = f"{FOLDER}/specs/catalogue/spec.md", "openspec/changes/add-search/specs/catalogue/spec.md"
    assert found["Full-text search"] == (
        True, "test", f"{changes}:3; tests/test_search.py:1 test_full_text_search passed",
    )  # fmt: skip
    assert found["No match"][2] == f"{changes}:10; tests/test_search.py:5 test_no_match_is_said passed"
    assert found["It MUST NOT show deleted products."][1:] == (
        "test", f"{changes}:4; tests/test_search.py:9 test_does_not_show_deleted_products passed",
    )  # fmt: skip
    assert found["Letter index"] == (True, "task", f"{spec}:15; all 4 tasks of {FOLDER}/tasks.md are checked")
    metrics = told(home, root, "metrics")["metrics"]
    assert {name: each["missing"] for name, each in metrics.items() if each["value"] is None} == {}
    assert metrics["spec_conformance"]["value"] == 1.0
    shown = aurora(home, root, "deliverable", "criteria", "add-search").stdout
    assert "✓ constraint: It MUST NOT show deleted products." in shown and "unmeasured" not in shown


def test_accepted_below_the_threshold_is_a_failure(daemon: Daemon, home: Path, root: Path, tmp_path: Path) -> None:
    junit = tmp_path / "results.xml"
    junit.write_text(
        report(test_full_text_search=False, test_no_match_is_said=False, test_does_not_show_deleted_products=False)
    )
    with daemon.client(root) as client:
        worked(home, root, client)
        told(home, root, "deliverable", "ingest", "--junit", str(junit), "--change", "add-search")
        archived(home, root)
    final = told(home, root, "deliverable", "export", "add-search")
    assert final["status"] == "completed" and final["metrics"]["deliverable_failed"] is True
    assert final["metrics"]["conformance"]["functional"] == pytest.approx(1 / 3), "only the letter index is gone"
    assert final["metrics"]["conformance"]["correctness"] == 0
    assert final["metrics"]["conformance"]["constraints"] == 0.9
    assert final["metrics"]["conformance"]["overall"] < 0.7
    assert told(home, root, "metrics")["metrics"]["deliverable_failure_rate"]["value"] == 100


def test_what_nothing_tells_stays_unknown_and_is_named(daemon: Daemon, home: Path, root: Path) -> None:
    with daemon.client(root) as client:
        worked(home, root, client, done=False)
        archived(home, root)
    reply = told(home, root, "deliverable", "criteria", "add-search")
    assert {each["met"] for each in reply["criteria"]} == {None}, "tasks are open, and no test was run"
    scores = reply["conformance"]
    assert (scores["functional"], scores["correctness"], scores["constraints"], scores["overall"]) == (None,) * 4
    assert [each["what"] for each in reply["gaps"]] == ["functional", "correctness", "constraints"]
    final = told(home, root, "deliverable", "export", "add-search")
    assert final["metrics"]["deliverable_failed"] is False
    missing = told(home, root, "metrics")["metrics"]["spec_conformance"]["missing"]
    assert "functional of 1" in missing and "constraints of 1" in missing


def test_a_run_told_without_names_vouches_for_the_tests_in_files_only_where_all_passed(
    daemon: Daemon, home: Path, root: Path
) -> None:
    with daemon.client(root) as client:
        worked(home, root, client)
        told(home, root, "deliverable", "tests", "add-search", "--passed", "3", "--failed", "1")
        until(lambda: bool((d := deliverable_in(home, "add-search")) and d.criteria), "looked at")
        met = {each["name"]: each["met"] for each in told(home, root, "deliverable", "criteria")["criteria"]}
        assert set(met.values()) == {None}, "one of four failed, and nobody said which: checked boxes vouch for none"
        told(home, root, "deliverable", "tests", "add-search", "--passed", "4", "--failed", "0")

        def vouched() -> bool:
            found = deliverable_in(home, "add-search")
            return any(each.by == "test" for each in (found.criteria if found and found.criteria else ()))

        until(vouched, "looked at again")
        told(home, root, "deliverable", "complete", "add-search")
    reply = told(home, root, "deliverable", "criteria", "add-search")
    assert {each["name"]: each["by"] for each in reply["criteria"]}["Full-text search"] == "test"


@pytest.mark.parametrize("page", ["README.md", "docs/how-to/deliverables.md"])
def test_the_sequence_of_a_page_gives_all_five_metrics(daemon: Daemon, home: Path, root: Path, page: str) -> None:
    told_there = (Path(__file__).parents[2] / page).read_text()
    block = next(
        each for each in re.findall(r"```\n(.*?)```", told_there, re.DOTALL) if "aurora deliverable complete" in each
    )
    until_its_end = block[: block.index("aurora deliverable complete")] + "aurora deliverable complete"
    lines = [each.strip() for line in until_its_end.splitlines() for each in line.partition("#")[0].split(";")]
    said = ""
    for line in lines:
        done = aurora(home, root, *shlex.split(line, comments=True)[1:])
        assert done.returncode == 0, line + done.stderr
        said += done.stdout
    assert "unmeasured" not in said
    five = told(home, root, "metrics")["metrics"]
    assert {name: each["missing"] for name, each in five.items() if each["value"] is None or each["missing"]} == {}
    assert len(five) == 5


def test_a_sequence_that_leaves_something_unmeasured_says_what_and_how(daemon: Daemon, home: Path, root: Path) -> None:
    told(home, root, "deliverable", "start", "add-cart", "--requirements", "6")
    said = aurora(home, root, "deliverable", "complete", "add-cart").stdout
    for what in ("recovery", "functional", "correctness", "constraints", "iteration penalty"):
        assert f"unmeasured   {what}: aurora deliverable" in said
    assert "nothing tells the functional of 1" in aurora(home, root, "metrics").stdout
