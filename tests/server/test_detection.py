"""A change followed by a running daemon that is told nothing: files, commits and moves are all it sees."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from aurora_deliverables.deliverable import Deliverable
from aurora_protocol import RequestFailed
from aurora_protocol.client import Client
from tests.server.daemons import Daemon, until
from tests.server.tracked import deliverable_in, events_in
from tests.wait_limits import HANG

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


EXPORTED = {"action": "export", "change_id": "add-search"}


def seen(home: Path, change_id: str, phase: str) -> Deliverable:
    """Wait for a phase to be noticed."""
    until(lambda: (d := deliverable_in(home, change_id)) is not None and d.current_phase == phase, phase)
    found = deliverable_in(home, change_id)
    assert found is not None
    return found


def test_an_openspec_change_is_followed_from_proposal_to_archive(daemon: Daemon, root: Path, home: Path) -> None:
    change = root / "openspec" / "changes" / "add-search"
    with daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
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
        until(lambda: (d := deliverable_in(home, "add-search")) is not None and d.status == "completed")
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


class Session:
    """An agent's session: its hooks, as `aurora deliverable ingest --claude-code-hook` passes them on."""

    def __init__(self, client: Client, root: Path) -> None:
        self.client = client
        self.root = root
        self.calls = 0
        self.transcript = root.parent / "5e55.jsonl"
        self.transcript.write_text("")

    def hook(self, name: str, **fields: Any) -> Any:
        common = {"session_id": "5e55", "transcript_path": str(self.transcript), "cwd": str(self.root)}
        document = {**common, "hook_event_name": name, **fields}
        return self.client.request(
            "aurora/deliverable", {"action": "ingest", "format": "claude-code-hook", "document": document}
        )

    def ran(self, command: str, said: str, *, well: bool) -> Any:
        self.calls += 1
        tool = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"toolu_{self.calls}"}
        if well:
            return self.hook("PostToolUse", **tool, tool_response={"stdout": said, "stderr": "", "interrupted": False})
        return self.hook("PostToolUseFailure", **tool, error=f"Exit code 1\n{said}", is_interrupt=False)


def test_a_change_with_tests_that_fail_first_has_one_recovery_and_a_valid_record(
    daemon: Daemon, root: Path, home: Path
) -> None:
    change = root / "openspec" / "changes" / "add-search"
    with daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        session = Session(client, root)
        assert session.hook("SessionStart", source="startup", model="claude-opus-4-6")["accepted"] == 0
        write(change / "proposal.md", PROPOSAL)
        write(change / "specs" / "catalogue" / "spec.md", SPEC)
        write(change / "tasks.md", TASKS)
        seen(home, "add-search", "tasks")
        write(root / "src" / "search.py", "def search(words):\n    return words\n")
        seen(home, "add-search", "apply")
        session.ran("pytest -q", "2 failed, 3 passed in 0.41s", well=False)
        seen(home, "add-search", "verify")
        session.hook("Notification", notification_type="permission_prompt", message="Claude needs your permission")
        write(root / "src" / "search.py", "def search(words):\n    return sorted(words)\n")
        seen(home, "add-search", "apply")
        write(change / "tasks.md", TASKS.replace("[ ]", "[x]"))
        until(lambda: (d := deliverable_in(home, "add-search")) is not None and d.tasks_completed == 4)
        session.ran("cd src && pytest -q | tail -1", "5 passed in 0.40s", well=True)
        seen(home, "add-search", "verify")
        usage = {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 7}
        message = {"id": "msg_1", "model": "claude-opus-4-6", "usage": usage}
        at = datetime.now(UTC).isoformat()
        session.transcript.write_text(json.dumps({"type": "assistant", "timestamp": at, "message": message}) + "\n")
        session.hook("Stop", stop_hook_active=False)
        assert session.hook("Stop", stop_hook_active=False)["accepted"] == 0, "the same again is nothing new"
        archive = root / "openspec" / "changes" / "archive" / "2026-11-22-add-search"
        archive.parent.mkdir()
        change.rename(archive)
        # Asked of the daemon: what it has written it may not have taken in yet.
        until(lambda: client.request("aurora/deliverable", EXPORTED)["status"] == "completed", "it is completed")
        record = client.request("aurora/deliverable", EXPORTED)
    final = deliverable_in(home, "add-search")
    assert final is not None
    phases = ["propose", "specs", "tasks", "apply", "verify", "apply", "verify", "archive"]
    assert [span.phase for span in final.spans] == phases
    assert (final.apply_iterations, final.recovery_attempts) == (2, 1)
    assert final.recovery_seconds > 0
    assert final.tool_calls == {"Bash": 2}
    assert final.sessions == ("5e55",)
    assert final.human_interventions == 1
    assert final.tokens is not None
    assert (final.tokens.input_tokens, final.tokens.output_tokens, final.tokens.cached_tokens) == (100, 7, 90)
    assert final.agent is not None
    assert (final.agent.name, final.agent.model) == ("claude-code", "claude-opus-4-6")
    assert record["status"] == "completed"
    assert record["metrics"]["tasks_completed"] == 4
    assert record["metrics"]["recovery_attempts"] == 1
    assert record["metrics"]["conformance"]["functional"] == 1.0


def test_a_change_that_goes_with_its_branch_is_not_abandoned_but_one_that_is_deleted_is(
    daemon: Daemon, root: Path, home: Path
) -> None:
    with daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        git(root, "checkout", "-q", "-b", "feature/x")
        write(root / "openspec" / "changes" / "x" / "proposal.md", "## Why\nBecause.\n")
        seen(home, "x", "propose")
        commit(root, "docs: propose x")
        git(root, "checkout", "-q", "main")
        write(root / "openspec" / "changes" / "y" / "proposal.md", "## Why\nBecause of y.\n")
        seen(home, "y", "propose")
        shutil.rmtree(root / "openspec" / "changes" / "y")
        until(lambda: (d := deliverable_in(home, "y")) is not None and d.status == "failed", "y is abandoned")
    gone, away = deliverable_in(home, "y"), deliverable_in(home, "x")
    assert gone is not None
    assert away is not None
    assert (gone.failure_type, away.status) == ("incomplete", "planning")
    assert "removed and not archived" in (events_in(home, "y")[-1].evidence or "")


def test_what_happened_while_no_daemon_ran_is_found_and_nothing_is_told_twice(root: Path, home: Path) -> None:
    change = root / "openspec" / "changes" / "add-search"
    write(change / "proposal.md", PROPOSAL)
    write(change / "tasks.md", TASKS)
    write(root / "docs" / "specs" / "fix-mail.md", "# Spec: Mail\n- [ ] sent\n- [ ] received\n")
    write(
        root / "specs" / "001-albums" / "spec.md", "# Feature Specification: Albums\n- **FR-001**: MUST hold photos\n"
    )
    with Daemon(home) as daemon, daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        until(lambda: {event.change_id for event in events_in(home)} == {"add-search", "fix-mail", "001-albums"})
        seen(home, "add-search", "tasks")
    before = [event.id for event in events_in(home)]
    archive = root / "openspec" / "changes" / "archive" / "2026-11-22-add-search"
    archive.parent.mkdir()
    change.rename(archive)
    with Daemon(home) as daemon, daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        until(lambda: (d := deliverable_in(home, "add-search")) is not None and d.status == "completed")
    events = events_in(home)
    assert [event.id for event in events[: len(before)]] == before
    assert {event.change_id for event in events[len(before) :]} == {"add-search"}


def test_a_source_that_is_off_sees_nothing(root: Path, home: Path) -> None:
    write(root / "openspec" / "changes" / "x" / "proposal.md", "## Why\nBecause.\n")
    write(
        root / "specs" / "001-albums" / "spec.md", "# Feature Specification: Albums\n- **FR-001**: MUST hold photos\n"
    )
    with Daemon(home, AURORA_DELIVERABLES_DETECT_OPENSPEC="false") as daemon, daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        until(lambda: bool(events_in(home, "001-albums")))
    assert events_in(home, "x") == []


def test_a_commit_that_names_a_deliverable_begins_it(daemon: Daemon, root: Path, home: Path) -> None:
    with daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        write(root / "src" / "filter.py", "def filtered():\n    return []\n")
        commit(root, "fix(ui): a filter that filters\n\nDeliverable: fix-filter\n")
        found = seen(home, "fix-filter", "apply")
    assert (found.type, found.description) == ("bugfix", "fix(ui): a filter that filters")


def test_a_prompt_is_a_deliverable_only_where_that_is_wanted(root: Path, home: Path) -> None:
    with Daemon(home, AURORA_DELIVERABLES_DETECT_PROMPTS="true") as daemon, daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        session = Session(client, root)
        assert session.hook("UserPromptSubmit", prompt="Sort with key hunter2hunter2")["change_ids"] == ["prompt-5e55"]
        write(root / "src" / "catalogue.py", "def products():\n    return sorted([])\n")
        seen(home, "prompt-5e55", "apply")
        session.ran("make test", "ok", well=True)
        found = seen(home, "prompt-5e55", "verify")
    assert found.spec_source is not None
    assert (found.spec_source.framework, found.spec_source.requirements_count) == ("prompt", 1)
    assert found.description == "a prompt of 4 words"
    assert "hunter2" not in repr(events_in(home))


def test_a_hook_that_is_none_is_refused_and_hurts_nobody(daemon: Daemon, root: Path) -> None:
    with daemon.client(root) as client:
        for document in ({}, {"session_id": "s", "hook_event_name": 3}, {"session_id": "", "hook_event_name": "Stop"}):
            params = {"action": "ingest", "format": "claude-code-hook", "document": document}
            with pytest.raises(RequestFailed, match="Claude Code hook"):
                client.request("aurora/deliverable", params)


def test_of_two_open_changes_each_session_works_on_its_own_and_what_cannot_be_told_apart_on_none(
    daemon: Daemon, root: Path, home: Path
) -> None:
    with daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        for name in ("add-search", "fix-login"):
            write(root / "openspec" / "changes" / name / "proposal.md", PROPOSAL)
            write(root / "openspec" / "changes" / name / "tasks.md", TASKS)
            seen(home, name, "tasks")
        session = Session(client, root)
        told = session.ran("ls", "", well=True)
        assert told["accepted"] == 0 and told["notes"][0].startswith("unattributed: 2 deliverables are open")
        tasks = root / "openspec" / "changes" / "add-search" / "tasks.md"
        session.hook("PostToolUse", tool_name="Edit", tool_input={"file_path": str(tasks)}, tool_use_id="toolu_e")
        session.ran("ls", "", well=True)
        usage = {"input_tokens": 10, "output_tokens": 7}
        message = {"id": "msg_1", "model": "claude-opus-4-6", "usage": usage}
        at = datetime.now(UTC).isoformat()
        archive = root / "openspec" / "changes" / "archive" / "2026-11-22-add-search"
        archive.parent.mkdir()
        tasks.parent.rename(archive)
        until(lambda: (d := deliverable_in(home, "add-search")) is not None and d.status == "completed")
        session.transcript.write_text(json.dumps({"type": "assistant", "timestamp": at, "message": message}) + "\n")
        session.hook("Stop", stop_hook_active=False)
    mine, other = deliverable_in(home, "add-search"), deliverable_in(home, "fix-login")
    assert mine is not None and other is not None
    assert mine.tool_calls == {"Edit": 1, "Bash": 1} and other.tool_calls == {}
    assert mine.tokens is not None and mine.tokens.total_tokens == 17, "of the turn that archived it"
    assert other.tokens is None and other.sessions == ()


def test_a_prompts_deliverable_ends_with_its_session(root: Path, home: Path) -> None:
    with Daemon(home, AURORA_DELIVERABLES_DETECT_PROMPTS="true") as daemon, daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        session = Session(client, root)
        session.hook("UserPromptSubmit", prompt="Sort them")
        seen(home, "prompt-5e55", "propose")
        session.hook("SessionEnd", reason="other")
        until(lambda: (d := deliverable_in(home, "prompt-5e55")) is not None and d.completed_at is not None)
    found = deliverable_in(home, "prompt-5e55")
    assert found is not None and (found.status, found.deliverable_failed) == ("completed", False)
