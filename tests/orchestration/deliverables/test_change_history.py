"""What git's log tells of changes, read from logs made by hand: which of several moments counts for what."""

from __future__ import annotations

from collections.abc import Sequence

from aurora_deliverables.detection.change_history import ChangeHistory, read_history

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


def test_a_proposal_moved_onto_a_change_that_there_is_renames_none() -> None:
    other = "openspec/changes/other"
    known = read_history(log(PROPOSED, (2, added(other, "proposal.md")), (3, moved(CHANGE, other, "proposal.md"))))
    assert known["add-search"].names == () and known["other"].change_id == "other"


def test_moments_are_in_the_order_of_their_authors_whatever_order_the_log_has() -> None:
    found = history((9, [f"M\t{CHANGE}/tasks.md"]), PROPOSED)
    assert found.begun.at == 1
