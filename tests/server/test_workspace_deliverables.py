"""A workspace and its deliverables: nothing of them at its start, the configured threshold and window afterwards."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aurora_deliverables.events import Conformed, Ended, Event, PhaseStarted, TokensUsed
from aurora_deliverables.metrics import measure
from aurora_indexer.workers.pool import WorkerPool
from aurora_server.configuration import settings
from aurora_server.workspace.claude_hooks import ClaudeHooks
from aurora_server.workspace.workspace import Workspace


def test_starting_imports_nothing_of_deliverables() -> None:
    program = "import sys, aurora_server.daemon.daemon; print([name for name in sys.modules if 'deliverables' in name])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_a_workspace_measures_what_its_memory_file_tells(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    environ = {"AURORA_HOME": str(tmp_path / "home"), "AURORA_DELIVERABLES_CONFORMANCE_THRESHOLD": "0.9"}
    configured = settings.load(environ | {"AURORA_DELIVERABLES_WINDOW_COUNT": "2"})
    pool = WorkerPool(1, folder=tmp_path, environment=os.environ)
    now = time.time()
    try:
        workspace = await Workspace.open(root, configured, pool)
        try:
            for number in range(3):
                at = now - 900 + number
                told = (
                    PhaseStarted("apply"),
                    Conformed(functional=0.5, correctness=1.0, constraints=1.0),
                    Ended("completed"),
                )
                events = [Event(f"{number}-{n}", f"c{number}", at + 60 * n, what) for n, what in enumerate(told)]
                assert (await workspace.deliverables.record(events)).accepted == 3
            usual = configured.deliverables
            known = await workspace.deliverables.all()
            metrics = measure(known, time.time(), usual.window_days, usual.window_count)
            assert (metrics.window.deliverables, metrics.window.limited_by) == (2, "deliverables")
            assert metrics.metrics.deliverable_failure_rate.value == 100.0, "0.8 is below 0.9"
        finally:
            await workspace.close()
        workspace = await Workspace.open(root, configured, pool)
        try:
            assert {each.change_id for each in await workspace.deliverables.all()} == {"c0", "c1", "c2"}
            await workspace.repair()
            assert len(await workspace.deliverables.all()) == 3
        finally:
            await workspace.close()
    finally:
        await pool.aclose()


async def test_a_turn_that_ends_while_its_change_is_archived_is_that_changes_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    pool = WorkerPool(1, folder=tmp_path, environment=os.environ)
    workspace = await Workspace.open(root, settings.load({"AURORA_HOME": str(tmp_path / "home")}), pool)
    begun = time.time() - 60
    try:
        for name in ("add-search", "fix-login"):
            await workspace.deliverables.record([Event(f"{name}-1", name, begun, PhaseStarted("apply"))])
        hooks = ClaudeHooks(root, workspace.deliverables, workspace.detecting)
        transcript = tmp_path / "5e55.jsonl"
        transcript.write_text("")
        hook = {"session_id": "5e55", "transcript_path": str(transcript), "cwd": str(root)}
        path = str(root / "openspec" / "changes" / "add-search" / "tasks.md")
        edit = hook | {"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": {"file_path": path}}
        edited = await hooks.events_of(edit | {"tool_use_id": "toolu_e"})
        assert {each.change_id for each in edited} == {"add-search"}
        usage = {"input_tokens": 10, "output_tokens": 7}
        message = {"id": "msg_1", "model": "claude-opus-4-6", "usage": usage}
        at = "2100-01-01T00:00:00Z"
        transcript.write_text(json.dumps({"type": "assistant", "timestamp": at, "message": message}) + "\n")

        async def archived_meanwhile() -> None:
            await workspace.deliverables.record([Event("end", "add-search", begun + 30, Ended("completed"))])

        monkeypatch.setattr(workspace.detecting, "branch", archived_meanwhile)
        last = await hooks.events_of(hook | {"hook_event_name": "Stop", "stop_hook_active": False})
        assert [(each.change_id, type(each.what)) for each in last] == [("add-search", TokensUsed)]
    finally:
        await workspace.close()
        await pool.aclose()
