"""What folders of specs show, and which of it is news."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aurora_deliverables.detection import checklists, files, openspec, speckit, work_phase
from aurora_deliverables.detection.files import SeenFile
from aurora_deliverables.detection.observation import Observation, news
from aurora_deliverables.detection.recorded_state import state_of
from aurora_deliverables.events import Event, PhaseStarted, RecoveryBegan, TestsRan
from aurora_deliverables.reducer import fold
from tests.growth import grows_with_length

PATTERNS = ("specs/*.md", "docs/specs/**/*.md")


def put(root: Path, path: str, text: str, at: float) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    os.utime(file, (at, at))


def change(root: Path, change_id: str) -> Observation:
    seen = openspec.see(root, change_id)
    assert seen is not None
    sighting = openspec.observation(seen)
    assert sighting is not None
    return sighting


def phases(events: list[Event]) -> list[tuple[str, float]]:
    return [(event.what.phase, event.at) for event in events if isinstance(event.what, PhaseStarted)]


def test_a_change_written_at_once_begins_its_phases_in_their_order(tmp_path: Path) -> None:
    put(tmp_path, "openspec/changes/fix-login/proposal.md", "# Change: Fix the login\n", 40.0)
    put(tmp_path, "openspec/changes/fix-login/tasks.md", "- [ ] 1.1 a\n", 20.0)
    put(tmp_path, "openspec/changes/fix-login/specs/auth/spec.md", "## ADDED Requirements\n### Requirement: X\n", 30.0)
    events = news(change(tmp_path, "fix-login"), state_of("fix-login", []), 100.0)
    assert phases(events) == [("propose", 20.0), ("specs", 20.0), ("tasks", 20.0)]
    found = fold(events)
    assert found is not None
    assert (found.description, found.type, found.tasks_total) == ("Fix the login", "bugfix", 1)
    assert found.spec_source is not None
    assert found.spec_source.requirements_count == 1


def test_what_was_told_is_not_told_again(tmp_path: Path) -> None:
    put(tmp_path, "openspec/changes/x/proposal.md", "## Why\nBecause.\n", 10.0)
    put(tmp_path, "openspec/changes/x/tasks.md", "- [x] a\n- [ ] b\n", 12.0)
    seen = change(tmp_path, "x")
    events = news(seen, state_of("x", []), 100.0)
    assert news(seen, state_of("x", events), 200.0) == []
    assert [event.id for event in events] == [event.id for event in news(seen, state_of("x", []), 300.0)]


def test_a_count_that_comes_back_is_a_new_event(tmp_path: Path) -> None:
    events: list[Event] = []
    for at, text in ((10.0, "- [ ] a\n"), (20.0, "- [x] a\n"), (30.0, "- [ ] a\n"), (40.0, "- [x] a\n")):
        put(tmp_path, "openspec/changes/x/tasks.md", text, at)
        events += news(change(tmp_path, "x"), state_of("x", events), 100.0)
    assert len({event.id for event in events}) == len(events)
    found = fold(events)
    assert found is not None
    assert (found.tasks_completed, found.current_phase) == (1, "apply")


def test_removed_and_renamed_requirements_count_in_all_their_spellings() -> None:
    text = (
        "## REMOVED Requirements\n- `### Requirement: Old`\n\n### Requirement: Older\n\n"
        "## RENAMED Requirements\n- FROM: `### Requirement: A`\n- TO: `### Requirement: B`\n"
    )
    assert openspec.requirements((SeenFile("spec.md", text, 0.0),)) == 3
    assert openspec.requirements((SeenFile("spec.md", "## Notes\n### Requirement: no delta\n", 0.0),)) == 0
    assert openspec.requirements(()) is None


def test_an_archived_change_with_open_tasks_has_no_functional_score(tmp_path: Path) -> None:
    put(tmp_path, "openspec/changes/x/tasks.md", "- [x] a\n- [ ] b\n", 10.0)
    put(tmp_path, "openspec/changes/x/specs/a/spec.md", "## ADDED Requirements\n### Requirement: R\n", 10.0)
    events = news(change(tmp_path, "x"), state_of("x", []), 20.0)
    (tmp_path / "openspec/changes/archive").mkdir()
    (tmp_path / "openspec/changes/x").rename(tmp_path / "openspec/changes/archive/2026-01-02-x")
    events += news(change(tmp_path, "x"), state_of("x", events), 2e9)
    found = fold(events)
    assert found is not None
    assert found.status == "completed"
    assert found.conformance is None or found.conformance.functional is None


def test_what_was_archived_before_anybody_looked_is_no_deliverable(tmp_path: Path) -> None:
    put(tmp_path, "openspec/changes/archive/2025-01-02-old/tasks.md", "- [x] a\n", 10.0)
    assert news(change(tmp_path, "old"), state_of("old", []), 20.0) == []


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("openspec/changes/x/proposal.md", "x"),
        ("openspec/changes/archive/2026-01-02-x/tasks.md", "x"),
        ("openspec/changes/x", "x"),
        ("openspec/changes/IMPLEMENTATION_ORDER.md", None),
        ("openspec/specs/x/spec.md", None),
        ("src/openspec/changes/x/proposal.md", None),
    ],
)
def test_paths_tell_their_change(path: str, found: str | None) -> None:
    assert openspec.change_of(path) == found


def test_links_out_of_the_workspace_and_large_files_are_not_read(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    put(outside, "tasks.md", "- [ ] secret\n", 1.0)
    (root / "openspec/changes/linked").mkdir(parents=True)
    (root / "openspec/changes/linked/tasks.md").symlink_to(outside / "tasks.md")
    (root / "openspec/changes/away").symlink_to(outside)
    put(root, "openspec/changes/large/tasks.md", "- [ ] x\n" * 200_000, 1.0)
    assert openspec.open_changes(root) == ["large", "linked"]
    for name in ("linked", "large"):
        seen = openspec.see(root, name)
        assert seen is not None
        assert openspec.observation(seen) is None
    assert openspec.see(root, "away") is None
    assert files.see(root, "../outside/tasks.md") is None


def test_a_spec_kit_feature_counts_its_numbered_requirements_and_tasks(tmp_path: Path) -> None:
    folder = "specs/001-photo-albums"
    spec = "# Feature Specification: Photo Albums\n- **FR-001**: MUST a\n- **FR-002**: MUST b\n  see FR-001\n- SC-001\n"
    put(tmp_path, f"{folder}/spec.md", spec, 10.0)
    put(tmp_path, f"{folder}/plan.md", "# Plan\n", 20.0)
    put(tmp_path, f"{folder}/tasks.md", "- [x] T001 Set up\n- [ ] T002 [P] Model\n- [ ] plan.md is there\n", 30.0)
    assert speckit.features(tmp_path) == ["001-photo-albums"]
    seen = speckit.see(tmp_path, "001-photo-albums")
    assert seen is not None
    events = news(speckit.observation(seen), state_of("001-photo-albums", []), 100.0)
    assert phases(events) == [("specs", 10.0), ("design", 20.0), ("tasks", 30.0), ("apply", 30.0)]
    found = fold(events)
    assert found is not None
    assert (found.description, found.tasks_completed, found.tasks_total) == ("Photo Albums", 1, 2)
    assert found.spec_source is not None
    assert found.spec_source.requirements_count == 2


@pytest.mark.parametrize(
    ("path", "name"),
    [
        pytest.param("specs/add-search.md", "add-search", id="by its file's name"),
        pytest.param("docs/specs/mail/spec.md", "docs-specs-mail", id="by its folder where that says nothing"),
        pytest.param("docs/specs/mail/Specification.md", "docs-specs-mail", id="in any case and length"),
        pytest.param("docs/specs/mail/specs.md", "specs", id="and not where it nearly says nothing"),
        pytest.param("SPEC.md", "SPEC", id="which at the top it has to"),
    ],
)
def test_a_plain_spec_is_called(path: str, name: str) -> None:
    assert checklists.change_of(path) == name


@pytest.mark.parametrize(
    ("path", "looked_into"),
    [
        ("specs/a.md", True),
        ("specs/deep/a.md", False),
        ("docs/specs/a.md", True),
        ("docs/specs/deep/er/a.md", True),
        ("SPEC.md", True),
        ("docs/SPEC.md", False),
        ("specs/README.md", False),
        ("docs/specs/deep/index.md", False),
        ("specs/changelog.md", False),
        ("specs/a.txt", False),
    ],
)
def test_where_plain_specs_are_looked_for_and_what_is_none(path: str, looked_into: bool) -> None:
    assert checklists.is_spec(path) is looked_into


def test_a_box_without_a_word_is_called_by_its_number_and_two_of_one_name_are_told_apart() -> None:
    text = "# Spec: Filters\n- [x]\n- [ ]\n- [ ] three\n- [ ] three\n"
    seen = checklists.observation(SeenFile("docs/specs/a.md", text, 10.0))
    assert seen is not None
    assert [each.name for each in seen.criteria.requirements] == ["box 1", "box 2", "three", "three (specs:5)"]


def test_a_document_with_a_checklist_is_met_box_by_box() -> None:
    path = "docs/specs/mail/add-filters.md"
    assert checklists.is_spec(path, PATTERNS)
    assert not checklists.is_spec("docs/guide.md", PATTERNS)
    text = "---\ntitle: x\n---\n# Spec: Filters\n- [x] one\n1. [ ] two\n```\n- [ ] code\n```\n<!--\n- [ ] hidden\n-->\n"
    seen = checklists.observation(SeenFile(path, text, 10.0))
    assert seen is not None
    events = news(seen, state_of("add-filters", []), 20.0)
    half = fold(events)
    assert half is not None
    assert half.conformance is not None
    assert (half.description, half.conformance.functional, half.status) == ("Filters", 0.5, "planning")
    done = checklists.observation(SeenFile(path, text.replace("[ ] two", "[x] two"), 30.0))
    assert done is not None
    events += news(done, state_of("add-filters", events), 40.0)
    whole = fold(events)
    assert whole is not None
    assert whole.conformance is not None
    assert (whole.conformance.functional, whole.status) == (1.0, "completed")
    assert checklists.observation(SeenFile(path, "# No boxes\n- a bullet\n", 10.0)) is None


def test_edits_and_tests_make_apply_verify_and_recovery(tmp_path: Path) -> None:
    put(tmp_path, "openspec/changes/x/tasks.md", "- [ ] a\n", 10.0)
    events = news(change(tmp_path, "x"), state_of("x", []), 20.0)

    def ran(at: float, failed: int) -> None:
        run = TestsRan(passed=3, failed=failed, succeeded=not failed, command="pytest")
        before = state_of("x", events)
        events.append(Event(f"run-{at}", "x", at, run))
        events.extend(work_phase.tested(run, before, at))

    events += work_phase.edited(["a.py"], state_of("x", events), 30.0, "the only open deliverable")
    assert work_phase.edited(["a.py", "b.py"], state_of("x", events), 31.0, "again") == []
    ran(40.0, failed=1)
    assert state_of("x", events).phase == "verify"
    assert work_phase.edited(["a.py"], state_of("x", events), 39.0, "noticed late") == []
    events += work_phase.edited(["a.py"], state_of("x", events), 50.0, "the only open deliverable")
    assert isinstance(events[-1].what, RecoveryBegan)
    ran(60.0, failed=0)
    assert state_of("x", events).phase == "apply", "passing while a task is open checks the way, not the whole"
    put(tmp_path, "openspec/changes/x/tasks.md", "- [x] a\n", 70.0)
    events += news(change(tmp_path, "x"), state_of("x", events), 80.0)
    events += work_phase.finished(state_of("x", events), 80.0)
    found = fold(events)
    assert found is not None
    assert [span.phase for span in found.spans] == ["tasks", "apply", "verify", "apply", "verify"]
    assert (found.apply_iterations, found.recovery_attempts, found.recovery_seconds) == (2, 1, 30.0)


def test_code_that_changes_before_there_are_tasks_is_not_yet_work(tmp_path: Path) -> None:
    put(tmp_path, "openspec/changes/x/proposal.md", "## Why\nBecause.\n", 10.0)
    events = news(change(tmp_path, "x"), state_of("x", []), 20.0)
    assert work_phase.edited(["a.py"], state_of("x", events), 30.0, "the only open deliverable") == []


def test_a_long_list_of_tasks_is_read_in_time_linear_in_its_length() -> None:
    def read(count: int) -> None:
        openspec.observation(
            openspec.SeenChange("c", "openspec/changes/c", tasks=SeenFile("t.md", "- [x] a\n" * count, 1.0))
        )

    assert grows_with_length(read, 4_000, 64_000)


def test_many_requirements_in_one_delta_are_read_in_time_linear_in_their_number() -> None:
    def read(count: int) -> None:
        text = "## ADDED Requirements\n" + "### Requirement: r\n#### Scenario: s\nIt MUST NOT x\n" * count
        openspec.requirements((SeenFile("spec.md", text, 1.0),))

    assert grows_with_length(read, 100, 1_600)


def test_of_very_many_tasks_the_open_ones_are_compared_and_all_are_counted() -> None:
    text = "- [x] done\n" * (2 * openspec.MAX_TASK_LINES) + "- [ ] left open\n"
    seen = openspec.SeenChange("c", "openspec/changes/c", tasks=SeenFile("t.md", text, 1.0))
    observation = openspec.observation(seen)
    assert observation is not None and observation.tasks is not None
    assert observation.tasks.total == 2 * openspec.MAX_TASK_LINES + 1
    criteria = openspec.criteria_of(seen)
    assert len(criteria.tasks) == openspec.MAX_TASK_LINES
    assert criteria.more_tasks == openspec.MAX_TASK_LINES + 1
    assert criteria.tasks[-1].text == "left open"


def test_of_very_long_deltas_of_one_change_a_bounded_part_is_read(tmp_path: Path) -> None:
    for number in range(30):
        put(tmp_path, f"openspec/changes/c/specs/s{number:02}/spec.md", "word " * 40_000, 1.0)
    seen = openspec.see(tmp_path, "c")
    assert seen is not None
    assert len(seen.specs) == 8
