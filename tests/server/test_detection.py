"""A change followed by a running daemon that is told nothing: files, commits and moves are all it sees."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from aurora_orchestration.deliverables.model import Deliverable
from tests.server.daemons import Daemon, until
from tests.server.tracked import deliverable_in, events_in

PROPOSAL = """\
## Why
Customers cannot find products by name. Support hears of it daily.

## What Changes
- A search box over the catalogue
"""
SPEC = """\
## ADDED Requirements

### Requirement: Full-text search
The system SHALL find products by words of their name.

#### Scenario: One word
- **WHEN** a user searches for "lamp"
- **THEN** every product named so is listed

### Requirement: No match
The system SHALL say so.

## MODIFIED Requirements

### Requirement: Catalogue page
The page SHALL show the search box.
```
### Requirement: In an example
```

## REMOVED Requirements

### Requirement: Letter index
**Reason**: search replaces it
"""
TASKS = (
    "## 1. Index\n- [ ] 1.1 Tokenizer\n- [ ] 1.2 Postings\n  - [ ] 1.2.1 Merge\n\n## 2. Page\n- [ ] 2.1 Search box\n"
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    (root / "src" / "catalogue.py").write_text("def products():\n    return []\n")
    git(root, "init", "-q", "-b", "main")
    commit(root, "Begin")
    return root


@pytest.fixture
def daemon(home: Path) -> Iterator[Daemon]:
    with Daemon(home, AURORA_DELIVERABLES_DETECT_ABANDONED_MINUTES="0.01") as daemon:
        yield daemon


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def commit(root: Path, message: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def seen(home: Path, change_id: str, phase: str) -> Deliverable:
    """Wait for a phase to be noticed."""
    until(lambda: (d := deliverable_in(home, change_id)) is not None and d.current_phase == phase, 15, phase)
    found = deliverable_in(home, change_id)
    assert found is not None
    return found


def test_an_openspec_change_is_followed_from_proposal_to_archive(daemon: Daemon, root: Path, home: Path) -> None:
    change = root / "openspec" / "changes" / "add-search"
    with daemon.client(root) as client:
        client.request("aurora/index", timeout=60)
        git(root, "checkout", "-q", "-b", "feature/add-search")
        write(change / "proposal.md", PROPOSAL)
        seen(home, "add-search", "propose")
        write(change / "specs" / "catalogue" / "spec.md", SPEC)
        begun = seen(home, "add-search", "specs")
        assert begun.spec_source is not None
        assert begun.spec_source.framework == "openspec"
        assert begun.spec_source.requirements_count == 4
        assert begun.description == "Customers cannot find products by name."
        write(change / "design.md", "# Design\nAn inverted index.\n")
        seen(home, "add-search", "design")
        write(change / "tasks.md", TASKS)
        planned = seen(home, "add-search", "tasks")
        assert (planned.tasks_completed, planned.tasks_total) == (0, 4)
        commit(root, "docs: propose search")
        write(root / "src" / "search.py", "def search(words):\n    return words\n")
        seen(home, "add-search", "apply")
        for n in range(5):
            write(root / "src" / "search.py", f"def search(words):\n    return words[:{n}]\n")
        done = TASKS.replace("[ ] 1.", "[x] 1.")
        write(change / "tasks.md", done)
        until(lambda: (d := deliverable_in(home, "add-search")) is not None and d.tasks_completed == 3)
        commit(root, "feat(search): tokenizer and postings")
        until(lambda: (d := deliverable_in(home, "add-search")) is not None and d.type == "feature")
        write(change / "tasks.md", done.replace("[ ]", "[x]"))
        until(lambda: (d := deliverable_in(home, "add-search")) is not None and d.tasks_completed == 4)
        archive = root / "openspec" / "changes" / "archive" / "2026-11-22-add-search"
        archive.parent.mkdir()
        change.rename(archive)
        until(lambda: (d := deliverable_in(home, "add-search")) is not None and d.status == "completed", 15)
    final = deliverable_in(home, "add-search")
    assert final is not None
    assert [span.phase for span in final.spans] == ["propose", "specs", "design", "tasks", "apply", "archive"]
    assert final.apply_iterations == 1
    assert final.recovery_attempts == 0
    assert final.conformance is not None
    assert final.conformance.functional == 1.0
    assert final.conformance.correctness is None
    events = events_in(home)
    assert {event.change_id for event in events} == {"add-search"}
    assert all(event.evidence and event.source in ("openspec", "workspace", "git") for event in events)
    assert len(events) < 20, "an event is told for what is new, not for each save"
