"""What git's log tells of changes, read from logs made by hand: which of several moments counts for what."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from aurora_deliverables.detection.change_history import ChangeHistory, events_of, read_history
from aurora_deliverables.detection.recorded_state import state_of
from aurora_deliverables.events import (
    Ended,
    Event,
    EventBody,
    PhaseStarted,
    Renamed,
    Revived,
    SpecSource,
    Started,
)
from aurora_deliverables.reducer import fold

CHANGE = "openspec/changes/add-search"
ARCHIVED = "openspec/changes/archive/2026-11-20-add-search"


def log(*commits: tuple[int, Sequence[str]]) -> bytes:
    """What git says of commits: when each was made, and what it touched."""
    entries = [f"\x1ec{at}\x1f{at}\x1fAnn\n\n" + "".join(f"{line}\n" for line in touched) for at, touched in commits]
    return "".join(entries).encode()


def added(folder: str, *names: str) -> list[str]:
    return [f"A\t{folder}/{name}" for name in names]


def moved(old: str, new: str, *names: str) -> list[str]:
    return [f"R100\t{old}/{name}\t{new}/{name}" for name in names]


def history(*commits: tuple[int, Sequence[str]]) -> ChangeHistory:
    return read_history(log(*commits))["add-search"]


PROPOSED = (1, added(CHANGE, "proposal.md", "tasks.md"))
DONE = (3, moved(CHANGE, ARCHIVED, "proposal.md", "tasks.md"))


def test_a_change_was_archived_when_it_was_moved_first_and_not_where_another_branch_did_so_too() -> None:
    found = history(PROPOSED, DONE, (5, moved(CHANGE, ARCHIVED, "proposal.md", "tasks.md")))
    assert found.archived is not None and found.archived.at == 3


def test_what_is_put_right_in_the_archive_archives_nothing() -> None:
    later = "openspec/changes/archive/2026-11-21-add-search"
    found = history(PROPOSED, (3, [f"M\t{ARCHIVED}/tasks.md"]), (4, moved(ARCHIVED, later, "proposal.md")))
    assert found.archived is None


def test_work_begins_with_the_first_edit_of_its_tasks_and_not_with_their_writing() -> None:
    assert [phase for phase, _ in history(PROPOSED).phases] == ["propose", "tasks"]
    found = history(PROPOSED, (2, [f"M\t{CHANGE}/tasks.md"]), (3, [f"M\t{CHANGE}/tasks.md"]))
    assert [(phase, dated.at) for phase, dated in found.phases] == [("propose", 1), ("tasks", 1), ("apply", 2)]
    assert found.tasks_at == 3


def test_a_change_is_removed_with_its_proposal_alone_and_is_back_with_any_file() -> None:
    gone = (2, [f"D\t{CHANGE}/tasks.md"])
    assert history(PROPOSED, gone).removed is None, "it is a change without tasks now"
    removed = history(PROPOSED, (2, [f"D\t{CHANGE}/proposal.md"]))
    assert removed.removed is not None and removed.removed.at == 2
    assert history(PROPOSED, (2, [f"D\t{CHANGE}/proposal.md"]), (3, added(CHANGE, "design.md"))).removed is None


def test_a_change_has_its_first_name_and_goes_by_all_that_it_had() -> None:
    new = "openspec/changes/find-products"
    known = read_history(log(PROPOSED, (2, moved(CHANGE, new, "proposal.md")), (3, [f"M\t{new}/tasks.md"])))
    assert known["find-products"] is known["add-search"]
    found = known["find-products"]
    assert (found.change_id, found.name) == ("add-search", "find-products")
    assert ("apply", 3) in [(phase, dated.at) for phase, dated in found.phases], "its work goes on under its new name"


def test_a_new_name_is_one_however_the_clocks_of_the_commits_that_gave_and_archived_it_went() -> None:
    new, archived = "openspec/changes/find-products", "openspec/changes/archive/2026-11-20-find-products"
    renamed, done = moved(CHANGE, new, "proposal.md"), moved(new, archived, "proposal.md")
    for at_renamed, at_done in ((1, 1), (2, 3), (5, 3)):
        known = read_history(log(PROPOSED, (at_renamed, renamed), (at_done, done)))
        assert {each.change_id for each in known.values()} == {"add-search"}, (at_renamed, at_done)
        found = known["find-products"]
        assert found.begun.at == 1 and found.archived is not None and found.archived.at == at_done


def test_a_folder_that_was_moved_with_other_words_in_its_proposal_was_not_removed() -> None:
    new = "openspec/changes/find-products"
    words = [f"A\t{new}/proposal.md", *moved(CHANGE, new, "tasks.md"), f"D\t{CHANGE}/proposal.md"]
    found = history(PROPOSED, (2, words))
    assert found.name == "find-products"
    assert (found.removed, found.returned) == (None, None)


def test_a_proposal_moved_onto_a_change_that_there_is_renames_none() -> None:
    other = "openspec/changes/other"
    known = read_history(log(PROPOSED, (2, added(other, "proposal.md")), (3, moved(CHANGE, other, "proposal.md"))))
    assert known["add-search"].names == () and known["other"].change_id == "other"


def test_moments_are_in_the_order_of_their_authors_whatever_order_the_log_has() -> None:
    found = history((9, [f"M\t{CHANGE}/tasks.md"]), PROPOSED)
    assert found.begun.at == 1


def told_of(
    found: ChangeHistory, *before: tuple[float, EventBody], names: Sequence[str] = (), given_up: bool = False
) -> list[tuple[float, EventBody]]:
    """When what is told of a change, after some events of it were."""
    events = [Event(f"e{n}", "add-search", at, what) for n, (at, what) in enumerate(before)]
    later = events_of(found, state_of("add-search", events), "add-search", names, given_up=given_up)
    return [(each.at, each.what) for each in later]


@pytest.fixture
def whole() -> ChangeHistory:
    """A change from its proposal to the archive."""
    return history(PROPOSED, (2, [f"M\t{CHANGE}/tasks.md"]), DONE)


BEGUN = Started(type="feature", spec_source=SpecSource("openspec", "changes/add-search"), author="Ann")
OVER = [(3, PhaseStarted("archive")), (3, Ended("completed", reason="archived"))]


def test_of_a_change_nobody_told_of_all_is_told_with_the_times_of_its_commits(whole: ChangeHistory) -> None:
    assert told_of(whole) == [
        (1, BEGUN),
        (1, PhaseStarted("propose")),
        (1, PhaseStarted("tasks")),
        (2, PhaseStarted("apply")),
        *OVER,
    ]


def test_what_was_told_too_late_or_without_its_author_is_told_again_and_its_source_and_type_are_not(
    whole: ChangeHistory,
) -> None:
    again = Started(author="Ann")
    late, nameless, right = (
        [what for _, what in told_of(whole, (at, Started(type="bugfix", author=author))) if isinstance(what, Started)]
        for at, author in ((2, "Bob"), (1, None), (1, "Bob"))
    )
    assert (late, nameless, right) == ([again], [again], [])


def test_of_a_change_at_work_only_that_work_began_is_told_of_its_phases(whole: ChangeHistory) -> None:
    working = ((1, Started(author="Ann")), (1.5, PhaseStarted("verify")))
    assert next(what for _, what in told_of(whole, *working)) == PhaseStarted("apply")
    planning = ((1, Started(author="Ann")), (1.5, PhaseStarted("propose")))
    assert [what for _, what in told_of(whole, *planning)][:2] == [PhaseStarted("tasks"), PhaseStarted("apply")]


def test_the_end_is_not_before_what_was_told_last(whole: ChangeHistory) -> None:
    assert told_of(whole, (1, BEGUN), (7, PhaseStarted("apply"))) == [(7, what) for _, what in OVER]


def test_what_is_over_goes_on_only_where_it_was_missed_and_is_archived_after_all(whole: ChangeHistory) -> None:
    begun, ended = (1, BEGUN), (5, Ended("failed", "incomplete", "removed"))
    assert told_of(whole, begun, (5, Ended("completed"))) == []
    missed = state_of("add-search", [Event("a", "add-search", 1, BEGUN)])
    lost = replace(missed, ended=True, abandoned=True, told_at=5.0)
    kinds = [type(each.what) for each in events_of(whole, lost, "add-search", ())]
    assert kinds[0] is Revived and kinds[-1] is Ended
    unarchived = history(PROPOSED)
    assert events_of(unarchived, lost, "add-search", ()) == [] and told_of(unarchived, begun, ended) == []


def test_a_change_that_is_nowhere_any_more_failed_where_it_was_removed(whole: ChangeHistory) -> None:
    removed = history(PROPOSED, (4, [f"D\t{CHANGE}/proposal.md"]))
    failed = (4, Ended("failed", "incomplete", "removed and not archived"))
    assert told_of(removed, given_up=True)[-1] == failed
    assert failed not in told_of(removed), "it may be on another branch"
    assert told_of(whole, given_up=True)[-1] == OVER[-1], "what is archived is done, wherever it was removed"


def test_names_are_told_once() -> None:
    new = "openspec/changes/find-products"
    renamed = read_history(log(PROPOSED, (2, moved(CHANGE, new, "proposal.md"))))["add-search"]
    assert (2, Renamed("find-products")) in told_of(renamed)
    assert not any(isinstance(what, Renamed) for _, what in told_of(renamed, names=["find-products"]))


def test_a_phase_is_told_by_the_files_it_makes() -> None:
    def phases(*paths: str) -> list[str]:
        return [phase for phase, _ in history((1, added(CHANGE, *paths))).phases]

    assert phases("proposal.md", "design.md", "specs/shop/spec.md", "tasks.md") == [
        "propose",
        "specs",
        "design",
        "tasks",
    ]
    assert phases("specs/shop/notes.txt", "specs.md", "docs/shop/spec.md", "docs/design.md") == []


def test_a_line_that_is_none_of_gits_is_passed_over() -> None:
    said = b"\x1eno commit\n" + log(PROPOSED, (2, ["T\tx", f"R100\t{CHANGE}/tasks.md", "C100\ta\tb"]))
    assert read_history(said)["add-search"].begun.at == 1


def test_what_a_merge_did_itself_is_told_and_what_its_sides_did_is_not_told_again() -> None:
    merge = (3, [f"AR\t{ARCHIVED}/{name}\t{CHANGE}/{name}\t{ARCHIVED}/{name}" for name in ("proposal.md", "tasks.md")])
    found = history(PROPOSED, merge, (4, [f"MM\t{CHANGE}/tasks.md\t{CHANGE}/tasks.md\t{CHANGE}/tasks.md"]))
    assert found.archived is not None and (found.archived.at, dict(found.phases).get("apply")) == (3, None)
    gone = [f"DD\t{CHANGE}/{name}\t{CHANGE}/{name}\t{CHANGE}/{name}" for name in ("proposal.md", "tasks.md")]
    found = history(PROPOSED, (3, gone))
    assert found.removed is not None and found.removed.at == 3


def test_a_folder_whose_tasks_moved_while_its_proposal_stayed_is_not_renamed() -> None:
    other = "openspec/changes/add-cart"
    found = read_history(log(PROPOSED, (3, [*added(other, "proposal.md"), *moved(CHANGE, other, "tasks.md")])))
    assert found["add-search"].names == () and found["add-cart"].begun.at == 3
    rewritten = [f"D\t{CHANGE}/proposal.md", *added(other, "proposal.md"), *moved(CHANGE, other, "tasks.md")]
    found = read_history(log(PROPOSED, (3, rewritten)))
    assert found["add-search"] is found["add-cart"] and found["add-cart"].name == "add-cart"


def test_commits_that_a_shallow_clone_ends_at_tell_no_begin_and_no_phase() -> None:
    touched = (2, [f"M\t{CHANGE}/tasks.md"])
    found = read_history(log(PROPOSED, touched, DONE), {"c1"})["add-search"]
    assert found.cut and [dated.commit for _, dated in found.phases] == ["c2", "c2"]
    assert {type(event.what) for event in events_of(found, state_of("add-search", []), "add-search", ())} == {
        PhaseStarted,
        Ended,
    }


def test_a_change_taken_back_twice_is_revived_twice() -> None:
    back = moved(ARCHIVED, CHANGE, "proposal.md", "tasks.md")
    again = moved(CHANGE, ARCHIVED, "proposal.md", "tasks.md")
    heard: list[Event] = []
    commits: list[tuple[int, Sequence[str]]] = [PROPOSED]
    for commit in (DONE, (5, back), (6, again), (7, back), (8, again)):
        commits.append(commit)
        heard += events_of(history(*commits), state_of("add-search", heard), "add-search", ())
    assert [event.at for event in heard if isinstance(event.what, Revived)] == [5, 7]
    assert [event.at for event in heard if isinstance(event.what, Ended)] == [3, 6, 8]
    assert len({event.id for event in heard}) == len(heard)
    assert events_of(history(*commits), state_of("add-search", heard), "add-search", ()) == []


def test_who_archived_it_first_ended_it_however_late_that_is_heard() -> None:
    heard = events_of(history(PROPOSED, (12, DONE[1])), state_of("add-search", []), "add-search", ())
    sooner = history(PROPOSED, (8, DONE[1]))
    state = state_of("add-search", heard)
    more = events_of(sooner, state, "add-search", ())
    assert [(event.at, type(event.what)) for event in more] == [(8, PhaseStarted), (8, Ended)]
    folded = fold([*heard, *more])
    assert folded is not None and folded.completed_at == 8
    assert events_of(sooner, state_of("add-search", [*heard, *more]), "add-search", ()) == []
    by_hand = [replace(heard[-1], source="user")]
    assert events_of(sooner, state_of("add-search", [*heard[:-1], *by_hand]), "add-search", ()) == []
