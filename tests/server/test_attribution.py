"""Attribution of what agents' sessions do while several changes are open: by the files they edit, the change's folder,
the branch, then the session; and what cannot be told apart is nobody's.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from aurora_protocol.client import Client
from tests.server.daemons import Daemon, until
from tests.server.test_detection import PROPOSAL, TASKS, commit, git, root, seen, write
from tests.server.tracked import deliverable_in, events_in
from tests.wait_limits import HANG

__all__ = ["root"]

SEARCH, LOGIN = "add-search", "fix-login"
PROMPTS = {"AURORA_DELIVERABLES_DETECT_PROMPTS": "true"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def client(home: Path, root: Path) -> Iterator[Client]:
    with Daemon(home) as daemon, daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        yield client


class Agent:
    """A session of Claude Code: its hooks and its transcript."""

    def __init__(self, client: Client, root: Path, name: str = "s-1") -> None:
        self.client, self.root, self.name = client, root, name
        self.calls = 0
        self.transcript = root.parent / f"{name}.jsonl"
        self.transcript.write_text("")

    def hook(self, name: str, **fields: Any) -> Any:
        common = {"session_id": self.name, "transcript_path": str(self.transcript), "cwd": str(self.root)}
        document = {**common, "hook_event_name": name, **fields}
        params = {"action": "ingest", "format": "claude-code-hook", "document": document}
        return self.client.request("aurora/deliverable", params, timeout=HANG)

    def called(self, tool: str, given: dict[str, Any], **fields: Any) -> Any:
        self.calls += 1
        response = {"stdout": "", "stderr": "", "interrupted": False}
        told = {"tool_name": tool, "tool_input": given, "tool_use_id": f"toolu_{self.name}_{self.calls}", **fields}
        return self.hook("PostToolUse", tool_response=response, **told)

    def runs(self, command: str = "ls", **fields: Any) -> Any:
        return self.called("Bash", {"command": command}, **fields)

    def edits(self, path: str, text: str) -> Any:
        write(self.root / path, text)
        return self.called("Edit", {"file_path": str(self.root / path)})

    def plans(self, change: str) -> Any:
        return self.edits(f"openspec/changes/{change}/tasks.md", TASKS + "- [ ] 2.2 More\n")

    def answers(self, message: str, tokens: int) -> Any:
        usage = {"input_tokens": tokens, "output_tokens": 0}
        line = {"type": "assistant", "timestamp": datetime.now(UTC).isoformat()}
        with self.transcript.open("a") as file:
            file.write(json.dumps({**line, "message": {"id": message, "model": "m-1", "usage": usage}}) + "\n")
        return self.hook("Stop", stop_hook_active=False)


def propose(root: Path, home: Path, *names: str) -> None:
    for name in names:
        write(root / "openspec" / "changes" / name / "proposal.md", PROPOSAL)
        write(root / "openspec" / "changes" / name / "tasks.md", TASKS)
        seen(home, name, "tasks")


def work(home: Path, name: str) -> tuple[dict[str, int], int | None]:
    """Tool calls and tokens that a change has."""
    found = deliverable_in(home, name)
    assert found is not None
    return found.tool_calls, found.tokens.total_tokens if found.tokens is not None else None


def phase(home: Path, name: str) -> str | None:
    found = deliverable_in(home, name)
    return found.current_phase if found is not None else None


def test_calls_tokens_and_phases_go_to_the_change_whose_folder_the_session_edited(
    client: Client, root: Path, home: Path
) -> None:
    propose(root, home, SEARCH, LOGIN)
    agent = Agent(client, root)
    agent.plans(SEARCH)
    agent.edits("src/catalogue.py", "def products():\n    return [1]\n")
    seen(home, SEARCH, "apply")
    agent.runs()
    agent.answers("msg_1", 10)
    assert work(home, SEARCH) == ({"Edit": 2, "Bash": 1}, 10)
    assert work(home, LOGIN) == ({}, None) and phase(home, LOGIN) == "tasks"


def test_the_folder_that_was_edited_counts_above_the_branch(client: Client, root: Path, home: Path) -> None:
    git(root, "checkout", "-q", "-b", f"feature/{LOGIN}")
    propose(root, home, SEARCH, LOGIN)
    agent = Agent(client, root)
    agent.runs()
    assert work(home, LOGIN) == ({"Bash": 1}, None), "the branch, as long as nothing else tells"
    agent.plans(SEARCH)
    agent.runs()
    agent.edits("src/catalogue.py", "def products():\n    return [1]\n")
    seen(home, SEARCH, "apply")
    agent.answers("msg_1", 10)
    assert work(home, SEARCH) == ({"Edit": 2, "Bash": 1}, 10)
    assert work(home, LOGIN) == ({"Bash": 1}, None) and phase(home, LOGIN) == "tasks"


def test_an_edit_is_the_sessions_though_its_hook_comes_after_a_while(client: Client, root: Path, home: Path) -> None:
    git(root, "checkout", "-q", "-b", f"feature/{LOGIN}")
    propose(root, home, SEARCH, LOGIN)
    agent = Agent(client, root)
    agent.plans(SEARCH)
    write(root / "src" / "catalogue.py", "def products():\n    return [1]\n")
    client.request("aurora/index", timeout=HANG)
    time.sleep(1.0)  # longer than a quiet moment, shorter than hooks may take
    agent.called("Edit", {"file_path": str(root / "src" / "catalogue.py")})
    seen(home, SEARCH, "apply")
    assert phase(home, LOGIN) == "tasks"


def test_another_branch_that_is_checked_out_then_counts_above_the_folder(
    client: Client, root: Path, home: Path
) -> None:
    propose(root, home, SEARCH, LOGIN)
    agent = Agent(client, root)
    agent.plans(SEARCH)
    git(root, "checkout", "-q", "-b", f"feature/{LOGIN}")
    agent.runs()
    agent.edits("src/catalogue.py", "def products():\n    return [1]\n")
    seen(home, LOGIN, "apply")
    assert (work(home, SEARCH), work(home, LOGIN)) == (({"Edit": 1}, None), ({"Bash": 1, "Edit": 1}, None))


def test_on_a_branch_that_names_none_the_sessions_change_stays_its_own(client: Client, root: Path, home: Path) -> None:
    propose(root, home, SEARCH, LOGIN)
    agent = Agent(client, root)
    agent.plans(SEARCH)
    git(root, "checkout", "-q", "-b", "wip")
    agent.runs()
    assert (work(home, SEARCH), work(home, LOGIN)) == (({"Edit": 1, "Bash": 1}, None), ({}, None))


def test_two_sessions_side_by_side_work_each_on_its_own(client: Client, root: Path, home: Path) -> None:
    propose(root, home, SEARCH, LOGIN)
    one, other = Agent(client, root, "s-1"), Agent(client, root, "s-2")
    one.plans(SEARCH)
    other.plans(LOGIN)
    one.runs()
    other.runs()
    one.answers("msg_1", 10)
    other.answers("msg_2", 7)
    assert work(home, SEARCH) == ({"Edit": 1, "Bash": 1}, 10)
    assert work(home, LOGIN) == ({"Edit": 1, "Bash": 1}, 7)


def test_what_nothing_tells_apart_is_nobodys_and_said_so(client: Client, root: Path, home: Path) -> None:
    propose(root, home, SEARCH, LOGIN)
    agent = Agent(client, root)
    told = agent.edits("src/catalogue.py", "def products():\n    return [1]\n")
    assert told["accepted"] == 0 and told["notes"][0].startswith("unattributed: 2 deliverables are open")
    assert agent.answers("msg_1", 10)["accepted"] == 0
    agent.client.request("aurora/index", timeout=HANG)
    for name in (SEARCH, LOGIN):
        assert work(home, name) == ({}, None) and phase(home, name) == "tasks"


def test_a_session_goes_on_with_its_change_in_a_new_daemon(root: Path, home: Path) -> None:
    with Daemon(home) as daemon, daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        propose(root, home, SEARCH, LOGIN)
        agent = Agent(client, root)
        agent.plans(LOGIN)
        agent.plans(SEARCH)
        agent.answers("msg_1", 10)
    with Daemon(home) as daemon, daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        agent.client = client
        agent.runs()
        agent.answers("msg_2", 7)
    assert work(home, SEARCH) == ({"Edit": 1, "Bash": 1}, 17), "the first call's tokens once"
    assert work(home, LOGIN) == ({"Edit": 1}, None)


@pytest.mark.parametrize("branch", ["main", f"feature/{LOGIN}"])
def test_the_call_that_archives_and_the_tokens_of_its_turn_are_the_archived_changes(
    client: Client, root: Path, home: Path, branch: str
) -> None:
    if branch != "main":
        git(root, "checkout", "-q", "-b", branch)
    propose(root, home, SEARCH, LOGIN)
    agent = Agent(client, root)
    agent.plans(SEARCH)
    changes = root / "openspec" / "changes"
    (changes / "archive").mkdir()
    began = time.monotonic()
    (changes / SEARCH).rename(changes / "archive" / f"2026-11-22-{SEARCH}")
    until(lambda: (found := deliverable_in(home, SEARCH)) is not None and found.status == "completed")
    agent.runs("openspec archive", duration_ms=1000 * (time.monotonic() - began) + 500)
    agent.answers("msg_1", 10)
    assert work(home, SEARCH) == ({"Edit": 1, "Bash": 1}, 10)
    assert work(home, LOGIN) == ({}, None)
    agent.hook("UserPromptSubmit", prompt="Now the login")
    agent.plans(LOGIN)
    agent.answers("msg_2", 7)
    assert (work(home, SEARCH)[1], work(home, LOGIN)) == (10, ({"Edit": 1}, 7)), "each its own"


def test_a_commit_belongs_to_the_change_whose_folder_it_touches_before_the_branchs(
    client: Client, root: Path, home: Path
) -> None:
    git(root, "checkout", "-q", "-b", f"feature/{LOGIN}")
    propose(root, home, SEARCH, LOGIN)
    commit(root, "docs: two proposals")
    until(lambda: len([each for each in events_in(home) if "commit" in (each.evidence or "")]) >= 2)
    write(root / "openspec" / "changes" / SEARCH / "design.md", "## Context\nWords\n")
    write(root / "src" / "search.py", "def search():\n    return []\n")
    commit(root, "feat: search")
    seen(home, SEARCH, "apply")


def test_what_a_prompt_began_is_its_sessions_alone_and_goes_on_where_that_is_resumed(root: Path, home: Path) -> None:
    with Daemon(home, **PROMPTS) as daemon, daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        one, other = Agent(client, root, "one"), Agent(client, root, "other")
        one.hook("UserPromptSubmit", prompt="Sort them")
        assert other.hook("UserPromptSubmit", prompt="Rename it")["change_ids"] == ["prompt-other"]
        one.runs()
        other.runs()
        other.hook("SessionEnd", reason="other")
        first, second = deliverable_in(home, "prompt-one"), deliverable_in(home, "prompt-other")
        assert first is not None and second is not None
        assert (first.completed_at, second.status) == (None, "completed")
        assert (first.tool_calls, second.tool_calls) == ({"Bash": 1}, {"Bash": 1})
        other.hook("SessionStart", source="resume")
        other.hook("UserPromptSubmit", prompt="And this")
        other.runs()
        again = deliverable_in(home, "prompt-other")
        assert again is not None and (again.completed_at, again.tool_calls) == (None, {"Bash": 2})
        other.hook("SessionEnd", reason="other")
        assert (again := deliverable_in(home, "prompt-other")) is not None and again.status == "completed"


def test_a_prompt_begins_nothing_while_changes_are_open(root: Path, home: Path) -> None:
    with Daemon(home, **PROMPTS) as daemon, daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        propose(root, home, SEARCH, LOGIN)
        told = Agent(client, root).hook("UserPromptSubmit", prompt="Sort them")
    assert told["accepted"] == 0 and deliverable_in(home, "prompt-s-1") is None
