"""Checks of a spec: which test names what, and what follows for requirements and constraints."""

from __future__ import annotations

from pathlib import Path

import pytest

from aurora_deliverables.detection import checklists, files, openspec, speckit
from aurora_deliverables.detection.names_in_tests import (
    TestTitle,
    is_test_file,
    names,
    names_constraint,
    titles_in,
    words,
)
from aurora_deliverables.detection.spec_check import check, told_by_tests
from aurora_deliverables.detection.spec_criteria import SpecCriteria
from aurora_deliverables.events import Criterion

DELTA = """\
## ADDED Requirements
### Requirement: Full-text search
Words SHALL be found.
The index **MUST NOT** exceed 5 MB. Queries must never
block the page.
```
It MUST NOT count in code.
```
#### Scenario: One word
- **THEN** it is listed
#### Scenario: Two words
- **THEN** the page SHALL NOT reload
### Requirement: Login
x
## MODIFIED Requirements
### Requirement: Catalogue page
y
## REMOVED Requirements
### Requirement: Letter index
It MUST NOT count when it is removed.
## RENAMED Requirements
- FROM: `### Requirement: Basket`
- TO: `### Requirement: Cart`
"""
TASKS = "- [x] 1.1 Full-text search\n- [ ] 1.2 Login form\n- [x] 1.3 Catalogue page\n"


def spec_of(root: Path, tasks: str = TASKS) -> SpecCriteria:
    folder = root / "openspec/changes/add-search"
    (folder / "specs/catalogue").mkdir(parents=True)
    (folder / "specs/catalogue/spec.md").write_text(DELTA)
    (folder / "tasks.md").write_text(tasks)
    seen = openspec.see(root, "add-search")
    assert seen is not None
    assert openspec.requirements(seen.specs) == 5
    return openspec.criteria_of(seen)


def found(
    spec: SpecCriteria, *tests: TestTitle, before: dict[tuple[str, str], Criterion] | None = None
) -> dict[str, Criterion]:
    return {each.name: each for each in check(spec, tests, before or {}).criteria}


def test_criteria_of_a_delta_have_their_lines(tmp_path: Path) -> None:
    spec = spec_of(tmp_path)
    assert [(each.name, each.line, each.scenarios, each.removed) for each in spec.requirements] == [
        ("Full-text search", 2, ("One word", "Two words"), False),
        ("Login", 13, (), False),
        ("Catalogue page", 16, (), False),
        ("Letter index", 19, (), True),
        ("Basket", 22, (), True),
    ]
    assert [(each.name, each.forbidden, each.within) for each in spec.constraints] == [
        ("The index MUST NOT exceed 5 MB.", "exceed 5 MB", ("Full-text search",)),
        ("Queries must never block the page.", "block the page", ("Full-text search",)),
        ("THEN the page SHALL NOT reload", "reload", ("Full-text search", "Two words")),
    ]
    assert [(each.text, each.line, each.checked) for each in spec.tasks][1] == ("Login form", 2, False)


def test_tests_tell_more_than_tasks_and_a_failure_more_than_a_pass(tmp_path: Path) -> None:
    spec = spec_of(tmp_path)
    passed = found(spec, TestTitle("test_full_text_search", "t.py", 3, True))["Full-text search"]
    assert (passed.met, passed.by) == (True, "test")
    assert (
        passed.evidence == "openspec/changes/add-search/specs/catalogue/spec.md:2; t.py:3 test_full_text_search passed"
    )
    failing = TestTitle("finds one word", "t.ts", 9, False)
    told = found(spec, TestTitle("test_full_text_search", "t.py", 3, True), failing)["Full-text search"]
    assert (told.met, told.by) == (False, "test") and "t.ts:9 finds one word failed" in (told.evidence or "")
    by_tasks = found(spec)
    assert (by_tasks["Full-text search"].met, by_tasks["Full-text search"].by) == (True, "task")
    assert by_tasks["Catalogue page"].met is True
    assert by_tasks["Login"].met is None, "a task of one word names it only where that is all of it"
    assert by_tasks["Letter index"].met is None, "tasks are open, and none names it"


def test_the_task_that_names_a_requirement_is_told_before_all_of_them(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, "- [x] 1.1 Full-text search\n- [x] 1.2 Full-text search, again\n- [x] 1.3 Else\n")
    told = found(spec)
    assert (told["Full-text search"].evidence or "").endswith("tasks.md:1 is checked"), "of several the first"
    assert (told["Catalogue page"].evidence or "").endswith(
        "all 3 tasks of openspec/changes/add-search/tasks.md are checked"
    )


def test_one_open_task_that_names_a_requirement_leaves_it_unmet_whatever_else_is_checked(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, "- [x] 1.1 Full-text search\n- [ ] 1.2 Full-text search, again\n")
    told = found(spec)["Full-text search"]
    assert (told.met, told.by) == (False, "task")
    assert (told.evidence or "").endswith("tasks.md:2 is open")
    assert found(spec, TestTitle("test_full_text_search", passed=True))["Full-text search"].met is True, (
        "tests tell more"
    )


def test_where_tests_failed_and_nobody_told_which_a_checked_task_meets_nothing(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, "- [x] 1.1 Full-text search\n- [x] 1.2 The index does not exceed 5 MB\n")
    before = {each.name: each.met for each in check(spec, (), {}).criteria}
    assert set(before.values()) == {True, None}
    failing = check(spec, (), {}, failing=True).criteria
    assert {each.met for each in failing} == {None} and {each.by for each in failing} == {None}
    assert failing[0].evidence is not None and failing[0].evidence.endswith("but tests failed, nobody told which")
    left = spec_of(tmp_path / "left", "- [ ] 1.1 Full-text search\n")
    assert check(left, (), {}, failing=True).criteria[0].met is False, "what is open stays open"
    named = (TestTitle("test_full_text_search", passed=True),)
    assert check(spec, named, {}, failing=True).criteria[0].met is True, "what a test tells stays told"


def test_every_scenario_passed_is_a_requirement_met_and_one_alone_is_not(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, "- [ ] 1.1 Everything\n")
    one, two = TestTitle("one word", passed=True), TestTitle("two words", passed=True)
    assert found(spec, one)["Full-text search"].met is None
    assert found(spec, one, two)["Full-text search"].met is True
    assert found(spec, one, TestTitle("two words"))["Full-text search"].met is None, "nobody knows how that went"


def test_constraints_are_kept_by_what_names_them_and_unknown_else(tmp_path: Path) -> None:
    spec = spec_of(tmp_path)
    size, page, again = (each.name for each in spec.constraints)
    assert {found(spec)[each].met for each in (size, page, again)} == {None}
    kept = found(spec, TestTitle("test_index_does_not_exceed_5_mb", passed=True))
    assert (kept[size].met, kept[page].met) == (True, None)
    assert found(spec, TestTitle("the page does not block", passed=False))[page].met is False
    assert found(spec, TestTitle("block the page", passed=False))[page].met is None, "it does not say that it must not"
    assert found(spec, TestTitle("Full-text search", passed=True))[size].met is True, "its requirement was tested"
    assert found(spec, TestTitle("two words", passed=False))[again].met is False, "its scenario failed"


def test_what_tests_told_before_holds_until_tests_tell_otherwise(tmp_path: Path) -> None:
    spec = spec_of(tmp_path)
    first = check(spec, [TestTitle("test_full_text_search", passed=False)], {})
    later = {each.name: each for each in check(spec, [], told_by_tests(first)).criteria}
    assert (later["Full-text search"].met, later["Full-text search"].by) == (False, "test")
    again = check(spec, [TestTitle("test_full_text_search", passed=True)], told_by_tests(first))
    assert {each.name: each.met for each in again.criteria}["Full-text search"] is True


def test_spec_kit_and_checklists_are_checked_alike(tmp_path: Path) -> None:
    feature = tmp_path / "specs/001-search"
    feature.mkdir(parents=True)
    (feature / "spec.md").write_text(
        "- **FR-001**: System MUST find\n- **FR-002**: System MUST NOT show deleted items\n"
    )
    (feature / "tasks.md").write_text("- [x] T001 Index for FR-001\n- [ ] T002 Filter (FR-002)\n")
    seen = speckit.see(tmp_path, "001-search")
    assert seen is not None
    criteria = check(speckit.observation(seen).criteria, [TestTitle("test_never_shows_deleted_items", passed=True)], {})
    assert [(each.kind, each.name, each.met) for each in criteria.criteria] == [
        ("requirement", "FR-001", True),
        ("requirement", "FR-002", False),
        ("constraint", "FR-002: System MUST NOT show deleted items", True),
    ]
    (tmp_path / "SPEC.md").write_text("# Cart\nIt must not lose items.\n- [x] Add an item\n- [ ] Remove an item\n")
    file = files.see(tmp_path, "SPEC.md")
    assert file is not None
    listed = checklists.observation(file)
    assert listed is not None
    assert [(each.name, each.met) for each in check(listed.criteria, [], {}).criteria] == [
        ("Add an item", True),
        ("Remove an item", False),
        ("It must not lose items.", None),
    ]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("def test_full_text_search(client):", "test_full_text_search"),
        ("    it('full-text search', async () => {", "full-text search"),
        ('test.each([1])("full text search", (n) => {', "full text search"),
        ("func TestFullTextSearch(t *testing.T) {", "TestFullTextSearch"),
        ("fn full_text_search() {", "full_text_search"),
        ('@DisplayName("Full-text search")', "Full-text search"),
        ("fun `full text search`() {", "full text search"),
        ('\tt.Run("full text search", func(t *testing.T) {', "full text search"),
        ('TEST_CASE("full text search", "[a]") {', "full text search"),
        ("  Scenario: Full-text search", "Scenario: Full-text search"),
        ("# Requirement: Full-text search", "Requirement: Full-text search"),
    ],
)
def test_titles_of_tests_are_found_in_many_languages(line: str, title: str) -> None:
    found = list(titles_in(f"\n{line}\n", "t"))
    assert (title, 2) in [(each.title, each.line) for each in found]
    assert any(names(words(each.title), words("Full-text search")) for each in found)


def test_a_name_of_one_word_is_the_whole_title() -> None:
    assert names(words("test_login"), words("Login")) and names(words("Requirement: Login"), words("Login"))
    assert not names(words("test_login_page"), words("Login")) and not names(words("test"), ())
    assert not names(words("search full text"), words("full-text search"))
    assert names_constraint(words("does not show deleted items"), words("show deleted items"))
    assert not names_constraint(words("test_not_shown"), words("shown")), "one word is in too many titles"


@pytest.mark.parametrize(
    "path", ["tests/test_a.py", "src/a.test.ts", "a_test.go", "src/test/java/ATest.java", "x/a.feature"]
)
def test_files_of_tests_are_told_by_their_names(path: str) -> None:
    assert is_test_file(path) and not is_test_file("src/contest.py") and not is_test_file("latest.md")
