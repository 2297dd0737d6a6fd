"""Claude Code's hooks in a workspace: when it is said that their work cannot be told apart."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from aurora_server.workspace.claude_hooks import ClaudeHooks

PAYLOAD = {"session_id": "s", "transcript_path": "", "cwd": "/w", "hook_event_name": "Stop"}


@pytest.mark.parametrize(
    ("open_ids", "hooks", "told"),
    [
        pytest.param((), True, None, id="nothing is open"),
        pytest.param(("add-search",), True, None, id="it is for the only one"),
        pytest.param(("add-search", "fix-login"), True, "unattributed: 2 deliverables are open", id="for which of two"),
        pytest.param(("add-search", "fix-login"), False, None, id="hooks are off"),
    ],
)
def test_of_several_that_are_open_none_is_guessed(open_ids: tuple[str, ...], hooks: bool, told: str | None) -> None:
    detecting = SimpleNamespace(open_ids=open_ids, settings=SimpleNamespace(hooks=hooks))
    said = ClaudeHooks(Path("/w"), cast(Any, None), cast(Any, detecting)).unattributed(PAYLOAD)
    assert said is None if told is None else (said or "").startswith(told)
