"""Choices of what a commit tells, a rule each: which trailer names its deliverable, who helped, what it begins."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from aurora_deliverables.detection.attribution import Open, attribute, change_in_branch
from aurora_deliverables.detection.change_title import type_of_name, type_of_subject
from aurora_deliverables.detection.commits import Commit, events_of, named, only_commits
from aurora_deliverables.detection.recorded_state import RecordedState
from aurora_deliverables.events import PhaseStarted, Started

COMMIT = Commit("a" * 40, 1000.0, "feat: search box")
NEW = RecordedState("add-search")
PLANNED = replace(NEW, started_at=10.0, phase="tasks", phase_at=10.0)


def signed(*trailers: tuple[str, str]) -> Commit:
    return replace(COMMIT, trailers=trailers)


@pytest.mark.parametrize(
    ("trailers", "name"),
    [
        pytest.param([("deliverable", "a"), ("spec", "specs/b")], "a", id="the deliverable before its spec"),
        pytest.param([("spec", "specs/b"), ("change-id", "known")], "b", id="the spec before the change"),
        pytest.param([("change-id", "known"), ("deliverable", "a")], "a", id="whichever stands first"),
        pytest.param([("deliverable", "a"), ("deliverable", "c")], "c", id="of two the last"),
        pytest.param([("change-id", "known")], "known", id="a change that is known"),
        pytest.param([("change-id", "I0123")], None, id="no other change: Gerrit's look like that"),
        pytest.param([("spec", "specs/new")], "new", id="a spec that nobody knows begins it"),
        pytest.param([("spec", "specs/b/")], "b", id="a folder with its slash"),
        pytest.param([("spec", "docs/b.md")], "b", id="a file without its ending"),
        pytest.param([("deliverable", "two words"), ("spec", "specs/b")], "b", id="what is no name is passed over"),
    ],
)
def test_which_deliverable_a_commit_names(trailers: list[tuple[str, str]], name: str | None) -> None:
    assert named(signed(*trailers), ["known"]) == name


@pytest.mark.parametrize(
    ("authors", "agent"),
    [
        pytest.param(["Claude <noreply@anthropic.com>"], "claude-code", id="Claude"),
        pytest.param(["Copilot <x@github.com>"], "copilot", id="Copilot"),
        pytest.param(["copilot <x@github.com>", "claude <y>"], "copilot", id="of two agents the one named first"),
        pytest.param(["Ann <ann@x.y>", "Claude <y>"], "claude-code", id="beside a person the agent"),
        pytest.param(["Jean-Claude <jc@x.y>"], None, id="not who is only called like one"),
    ],
)
def test_which_agent_helped_with_a_commit(authors: list[str], agent: str | None) -> None:
    found = signed(*(("co-authored-by", author) for author in authors)).agent
    assert (found.name if found is not None else None) == agent


@pytest.mark.parametrize(
    ("told", "code", "events"),
    [
        pytest.param(NEW, True, [("feature", 1000.0), ("apply", 1000.0)], id="what nobody knows begins, with work"),
        pytest.param(NEW, False, [(None, 1000.0)], id="without code it is no work, and of no type"),
        pytest.param(PLANNED, True, [("feature", 1000.0), ("apply", 1000.0)], id="work begins with the first code"),
        pytest.param(PLANNED, False, [], id="not with papers"),
        pytest.param(replace(PLANNED, type="bugfix"), True, [("apply", 1000.0)], id="a type that is known stays"),
        pytest.param(replace(PLANNED, type="x", phase="verify"), True, [], id="after planning nothing begins again"),
        pytest.param(replace(NEW, ended=True), True, [], id="nothing of what is over"),
        pytest.param(
            replace(PLANNED, type="x", phase_at=2000.0), True, [("apply", 2000.0)], id="not before the phase it is in"
        ),
    ],
)
def test_what_a_commit_tells(told: RecordedState, code: bool, events: list[tuple[str | None, float]]) -> None:
    found = events_of(COMMIT, told, "by its trailer", touches_code=code)
    said = [(each.what.type if isinstance(each.what, Started) else each.what.phase, each.at) for each in found]  # type: ignore[union-attr]
    assert said == events
    assert all(isinstance(each.what, Started | PhaseStarted) for each in found)


@pytest.mark.parametrize(
    ("reflog", "since", "only"),
    [
        pytest.param("b commit: two\na commit: one", "a", True, id="a commit on top of what was known"),
        pytest.param("b commit: two\na pull: fast-forward", "a", True, id="however that itself came"),
        pytest.param("c commit: three\nb pull: fast-forward\na commit: one", "a", False, id="a pull in between"),
        pytest.param("b commit: two", None, True, id="the first ones of a repository"),
        pytest.param("b commit: two", "gone", False, id="what was known is nowhere: nobody can tell"),
    ],
)
def test_whether_head_moved_by_commits_made_here(reflog: str, since: str | None, only: bool) -> None:
    assert only_commits(reflog.encode(), since) is only


@pytest.mark.parametrize(
    ("branch", "change"),
    [
        pytest.param("ann/add-search", "add-search", id="after a slash"),
        pytest.param("ann_add-search_2", "add-search", id="between underscores"),
        pytest.param("Feature/ADD-Search", "add-search", id="in any case"),
        pytest.param("add-searching", "add", id="words only whole"),
        pytest.param("add-fix-it", "fix-it", id="the longest that is in it"),
        pytest.param("add-search-fix", "add-search", id="whatever it is called"),
        pytest.param("add/fix", "fix", id="of two as long the later by name, every time"),
        pytest.param("main", None, id="or none"),
    ],
)
def test_which_change_a_branch_is_for(branch: str, change: str | None) -> None:
    ids = ["fix", "add", "add-search", "fix-it"]
    assert change_in_branch(branch, ids) == change_in_branch(branch, ids[::-1]) == change


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("feat feature add implement create introduce support enhancement story", "feature"),
        ("fix bug bugfix hotfix", "bugfix"),
        ("refactor refactoring", "refactoring"),
        ("docs doc documentation document", "docs"),
        ("chore build ci", "chore"),
        ("perf", "performance"),
        ("test tests", "test"),
        ("wip update merge", None),
    ],
)
def test_which_type_of_change_a_subject_says(words: str, kind: str | None) -> None:
    for word in words.split():
        assert type_of_subject(f"{word}: x") == type_of_subject(f"{word}(ui)!: x") == kind, word
        assert type_of_name(f"{word}-x") == type_of_name(word.upper()) == kind, word
        assert type_of_subject(f"{word} x") is None, "only as a conventional commit says it"


def test_a_branch_that_names_nothing_leaves_work_to_the_only_open_change() -> None:
    found = attribute([Open("add-search")], None)
    assert found is not None and found.change_id == "add-search"
    assert attribute([], "add-search") is None
