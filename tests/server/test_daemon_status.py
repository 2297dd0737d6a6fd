"""What `aurora daemon status` tells of the daemon and its workspaces, and what it leaves out."""

from __future__ import annotations

from typing import Any

import pytest

from aurora_cli.daemon import status_lines

WORKSPACE = {
    "root": "/w", "state": "ready", "files": 1, "chunks": 2, "database_bytes": 2048, "pending_files": 0,
    "skipped_files": 0, "last_error": None,
}  # fmt: skip


def told(*workspaces: dict[str, Any]) -> list[str]:
    reply = {
        "version": "1.2.3", "pid": 7, "uptime_s": 60.0, "rss_bytes": 1 << 20, "connections": 1, "socket": "/s",
        "workspaces": list(workspaces),
    }  # fmt: skip
    return status_lines(reply)


@pytest.mark.parametrize(
    ("said", "line"),
    [
        pytest.param({}, "/w: ready · 1 file · 2 chunks · 2.0 KiB", id="nothing of what is none"),
        pytest.param({"pending_files": 3}, "· 3 pending", id="what waits"),
        pytest.param({"skipped_files": 2}, "· 2 skipped", id="what was left out"),
        pytest.param({"pending_files": 3, "skipped_files": 2}, "· 3 pending · 2 skipped", id="both beside each other"),
        pytest.param({"skipped_files": 2, "last_error": "x"}, "· 2 skipped · last error: x", id="the error last"),
        pytest.param({"root": "/w\x1b[31m"}, "/w", id="no escapes of a folder's name"),
    ],
)
def test_a_workspace_is_a_line(said: dict[str, Any], line: str) -> None:
    (shown,) = told({**WORKSPACE, **said})[2:]
    assert shown.endswith(line) if line.startswith("·") else shown.startswith(line)
    assert "\x1b" not in shown


def test_a_daemon_without_workspaces_says_so() -> None:
    assert told()[1:] == ["socket /s", "no workspace is open"]
