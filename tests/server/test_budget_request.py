"""`aurora/budget`: what editors show of the budget."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aurora_protocol import RequestFailed
from tests.server.client_requests import workspace
from tests.server.daemons import Daemon
from tests.server.deliverables import told
from tests.server.test_budget_command import spend


def test_it_says_what_the_command_says_and_which_model_is_paid(tmp_path: Path) -> None:
    home, root = tmp_path / "home", workspace(tmp_path / "ws")
    with Daemon(home) as daemon, daemon.client(root) as client:
        before = client.request("aurora/budget", None)
        assert (before["consumed_usd"], before["state"], before["model"]) == (0.0, "fine", None)
        spend(home, "a", 9.0)
        model = {"provider": "anthropic", "model": "claude-sonnet-5.5"}
        limits = {"soft_limit_usd": 10, "hard_limit_usd": 20}
        (home / "config.json").write_text(json.dumps({"cost_budgets": limits, "llm": {"reasoning_llm": model}}))
        after = client.request("workspace/executeCommand", {"command": "aurora.budget", "arguments": []})
        assert (after["consumed_usd"], after["state"]) == (9.0, "warned")
        assert after.pop("model") == "anthropic/claude-sonnet-5.5"
        assert after == told(home, tmp_path, "budget", "status")


def test_what_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    home, root = tmp_path / "home", workspace(tmp_path / "ws")
    (home / "budget_tracker.json").mkdir(parents=True)
    with Daemon(home) as daemon, daemon.client(root) as client:
        with pytest.raises(RequestFailed, match=r"budget_tracker\.json"):
            client.request("aurora/budget", {})
        assert client.request("aurora/status", None)["version"]
