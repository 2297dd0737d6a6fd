"""Dates as they are told: a function changed when git or an edit says so, and where neither does, that is not known."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.indexer.repository import commit, new_repository, run
from tests.server.daemons import Daemon, Wire, until

LONG_AGO, LATER, LAST = 1_577_836_800, 1_690_000_000, 1_700_000_000
"""The first of January 2020, and two later moments."""
TOLD_2020 = "2020-01-01T00:00:00Z"
FUTURE = 4_000_000_000

GAMMA = "def gamma():\n    return 'third of the alphabet'\n"
BETA = "def beta():\n    return 'second of the alphabet'\n"
BOTH = f"{GAMMA}\n\n{BETA}"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("aurora") / "home") as daemon:
        yield daemon


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = new_repository(tmp_path / "work")
    commit(root, "one", {"a.py": BOTH, "other.py": "def other():\n    return 0\n"}, at=LONG_AGO)
    return root


@pytest.fixture
def wire(daemon: Daemon, root: Path) -> Iterator[Wire]:
    with daemon.wire() as wire:
        wire.initialize(root)
        yield wire


def changed(wire: Wire, name: str = "gamma") -> Any:
    """When a function was changed last, as an answer tells it."""
    found = wire.result("aurora/recall", {"query": name, "limit": 1})["results"]
    return found[0]["last_modified"] if found and found[0]["name"] == name else "not found"


def is_told(wire: Wire, expected: str | None, name: str = "gamma") -> None:
    wire.result("aurora/index")
    until(lambda: changed(wire, name) == expected, f"{name} changed {expected}")


def edit(root: Path, wire: Wire, text: str) -> None:
    """Save a file, and have memory see that."""
    (root / "a.py").write_text(text)
    until(lambda: (wire.result("aurora/index"), changed(wire) not in (TOLD_2020, None))[1], "the edit is seen")


def restored(root: Path, wire: Wire) -> None:
    edit(root, wire, BOTH.replace("third", "3rd"))
    run(root, "checkout", "--", "a.py")


def stashed(root: Path, wire: Wire) -> None:
    edit(root, wire, BOTH.replace("third", "3rd"))
    run(root, "stash", "-q")


def undone(root: Path, wire: Wire) -> None:
    edit(root, wire, BOTH.replace("third", "3rd"))
    (root / "a.py").write_text(BOTH)


def undone_beside_another(root: Path, wire: Wire) -> None:
    edit(root, wire, BOTH.replace("third", "3rd"))
    (root / "a.py").write_text(BOTH.replace("second", "2nd"))


def moved_within(root: Path, wire: Wire) -> None:
    (root / "a.py").write_text(f"{BETA}\n\n{GAMMA}")


def removed(root: Path, wire: Wire) -> None:
    shutil.copy2(root / "a.py", root.parent / "backup.py")
    (root / "a.py").unlink()
    until(lambda: (wire.result("aurora/index"), changed(wire) == "not found")[1], "the file is seen to be gone")
    shutil.copy2(root.parent / "backup.py", root / "a.py")


def renamed(root: Path, wire: Wire) -> None:
    run(root, "mv", "a.py", "b.py")


def renamed_in_case_only(root: Path, wire: Wire) -> None:
    run(root, "mv", "a.py", "A.py")


@pytest.mark.parametrize(
    "happens",
    [restored, stashed, undone, undone_beside_another, moved_within, removed, renamed, renamed_in_case_only],
)
def test_what_is_as_it_was_committed_was_not_changed_just_now(
    root: Path, wire: Wire, happens: Callable[[Path, Wire], None]
) -> None:
    is_told(wire, TOLD_2020)
    happens(root, wire)
    is_told(wire, TOLD_2020)


def test_what_is_edited_was_changed_just_now(root: Path, wire: Wire) -> None:
    is_told(wire, TOLD_2020)
    edit(root, wire, BOTH.replace("third", "3rd"))
    time.sleep(0.5)
    assert changed(wire) not in (TOLD_2020, None)
    is_told(wire, TOLD_2020, "beta")


def test_a_rename_that_was_pending_at_the_first_index_is_followed_to_the_beginning(root: Path, wire: Wire) -> None:
    run(root, "mv", "a.py", "b.py")
    run(root, "commit", "-q", "-m", "rename only", at=LATER)
    run(root, "mv", "b.py", "c.py")
    is_told(wire, None)
    run(root, "commit", "-q", "-m", "rename again", at=LAST)
    is_told(wire, TOLD_2020)


def test_a_commit_of_the_future_dates_nothing_and_doctor_tells(root: Path, wire: Wire) -> None:
    commit(root, "by a clock that is wrong", {"a.py": BOTH.replace("third", "3rd")}, at=FUTURE)
    is_told(wire, TOLD_2020, "beta")
    is_told(wire, None)
    told = [each["what"] for each in wire.result("aurora/doctor")["findings"] if each["level"] == "warning"]
    assert [each for each in told if "2096-10-02" in each]
