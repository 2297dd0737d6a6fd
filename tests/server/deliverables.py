"""What tests of deliverables share: the command line in a process of its own, made event logs, a workspace."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.programs import COMMAND, run
from tests.wait_limits import HANG


def aurora(
    home: Path, root: Path, *arguments: str, given: str | None = None, cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the command line on the workspace at `root`."""
    named = () if cwd is not None else ("--workspace", str(root))
    command = [*COMMAND, *named, *arguments]
    environment = {**os.environ, "AURORA_HOME": str(home), "PYTHONWARNINGS": "error", "TZ": "UTC", **variables}
    return run(
        command, env=environment, input=given, capture_output=True, text=True, timeout=HANG, check=False, cwd=cwd
    )


def told(home: Path, root: Path, *arguments: str, given: str | None = None) -> Any:
    """What a command says with --json; it must succeed."""
    done = aurora(home, root, *arguments, "--json", given=given)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def line(kind: str, at: str, change: str = "add-search", **more: Any) -> str:
    """An event as `ingest` reads it; what is neither an id nor a phase is its data."""
    own = {key: more.pop(key) for key in ("id", "phase", "session", "agent") if key in more}
    event = {"event_type": kind, "timestamp": at, "change_id": change, **own}
    return json.dumps({**event, "data": more} if more else event)


def lifetime(change: str, day: str, *, status: str = "completed", tokens: int = 100, **agent: str) -> str:
    """The events of a deliverable that took an hour from 10:00, 30 minutes of it in apply, as lines."""
    at = f"{day}T10:{{}}:00Z"
    who = {"agent": agent} if agent else {}
    return "\n".join(
        [
            line("deliverable_start", at.format("00"), change, id=f"{change}-1", description=f"Do {change}", **who),
            line("phase_start", at.format("10"), change, id=f"{change}-2", phase="apply"),
            line("tool_call", at.format("20"), change, id=f"{change}-3", tool="file_edit", count=3),
            line("tokens", at.format("30"), change, id=f"{change}-4", input_tokens=tokens, cost_usd=0.5),
            line("phase_start", at.format("40"), change, id=f"{change}-5", phase="verify"),
            line("deliverable_end", f"{day}T11:00:00Z", change, id=f"{change}-6", status=status),
        ]
    )
