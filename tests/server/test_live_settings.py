"""Configuration that changes under a running daemon: taken when it can be used, told of when it cannot."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from aurora_server.configuration.live_settings import SettingsSource
from aurora_server.configuration.settings import SettingsError
from aurora_server.configuration.trust import Trust
from tests.server.daemons import Daemon, until
from tests.wait_limits import HANG


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "h"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    (tmp_path / "work" / "a.py").write_text("def warehouse(): ...\n")
    return tmp_path / "work"


def write(home: Path, content: object) -> None:
    """Write a configuration as editors do: a new file in the old one's place."""
    home.mkdir(mode=0o700, exist_ok=True)
    new = home / "new.json"
    new.write_text(content if isinstance(content, str) else json.dumps(content))
    new.replace(home / "config.json")


def limit(content: float) -> dict[str, Any]:
    return {"cost_budgets": {"hard_limit_usd": content}}


def test_what_is_written_holds_from_then_on(home: Path) -> None:
    source = SettingsSource({"AURORA_HOME": str(home)})
    first = source.current()
    assert source.current() is first, "nothing is read while nothing changes"
    write(home, limit(1))
    assert source.current().soar.cost_budgets.hard_limit_usd == 1
    (home / "config.json").unlink()
    assert source.current().soar.cost_budgets.hard_limit_usd == 500


@pytest.mark.parametrize("broken", ["{", json.dumps({"cost_budgets": {"hard_limit_usd": "lots"}})])
def test_what_cannot_be_used_leaves_what_was(home: Path, broken: str) -> None:
    write(home, limit(1))
    source = SettingsSource({"AURORA_HOME": str(home)})
    write(home, broken)
    assert source.current().soar.cost_budgets.hard_limit_usd == 1
    (finding,) = source.findings({})
    assert finding.level == "error"
    assert "config.json" in finding.what
    write(home, limit(2))
    assert source.current().soar.cost_budgets.hard_limit_usd == 2
    assert [each.level for each in source.findings({})] == ["ok"]


def test_settings_that_cannot_be_used_from_the_beginning_are_refused(home: Path) -> None:
    write(home, {"cost_budgets": {"period": "yearly"}})
    with pytest.raises(SettingsError, match=r"cost_budgets\.period"):
        SettingsSource({"AURORA_HOME": str(home)})


def test_what_holds_only_from_the_start_is_told(home: Path) -> None:
    source = SettingsSource({"AURORA_HOME": str(home)})
    write(home, {"indexing": {"workers": 1}, "daemon": {"idle_minutes": 1}})
    late = [each for each in source.findings({}) if each.level == "warning"]
    assert len(late) == 1
    assert "indexing" in late[0].what
    assert "daemon stop" in str(late[0].fix)


def test_a_run_has_the_workspaces_settings_of_its_beginning(home: Path, root: Path) -> None:
    source = SettingsSource({"AURORA_HOME": str(home)})
    before, _ = source.soar_for(root, trusted=False)
    (root / ".aurora").mkdir()
    (root / ".aurora" / "config.json").write_text('{"retrieval": {"max_chunks": 3}, "agents": {"max_parallel": 9}}')
    after, notices = source.soar_for(root, trusted=False)
    assert (before.retrieval.max_chunks, after.retrieval.max_chunks) == (24, 3)
    assert notices[0].members == ("agents.max_parallel",)
    assert source.soar_for(root, trusted=True)[0].agents.max_parallel == 9


def findings(daemon: Daemon, root: Path) -> list[dict[str, Any]]:
    with daemon.client(root) as client:
        found: list[dict[str, Any]] = client.request("aurora/doctor", {}, timeout=HANG)["findings"]
        return found


def test_a_daemon_goes_on_with_a_broken_file_and_doctor_says_so(home: Path, root: Path) -> None:
    write(home, {"logging": {"level": "ERROR"}, "scorings": {}})
    with Daemon(home) as daemon:
        assert any("did you mean 'scoring'?" in each["what"] for each in findings(daemon, root))
        write(home, "{")
        told = [each for each in findings(daemon, root) if each["level"] == "error"]
        assert len(told) == 1
        assert "not valid JSON" in told[0]["what"]
        assert "until then the settings from before hold" in told[0]["fix"]
        write(home, {"logging": {"level": "INFO"}})
        assert not [each for each in findings(daemon, root) if each["level"] == "error"]
        until(lambda: bool(findings(daemon, root)) and "session ended" in daemon.address.log.read_text())


def test_a_daemon_takes_its_own_idle_time_while_it_runs(home: Path) -> None:
    with Daemon(home) as daemon:
        write(home, {"daemon": {"idle_minutes": 0.01}})
        assert daemon.process.wait(HANG) == 0


@pytest.mark.parametrize("most", [0.5, 0.25, 0.0])
def test_the_numbers_of_activation_are_the_configured_ones(home: Path, root: Path, most: float) -> None:
    write(home, {"memory": {"activation": {"context_boost_max": most}}})
    with Daemon(home) as daemon, daemon.client(root) as client:
        client.request("aurora/index", {}, timeout=HANG)
        (found,) = client.request("aurora/recall", {"query": "warehouse"}, timeout=HANG)["results"][:1]
        assert found["activation"]["context_boost"] == pytest.approx(most)


def test_doctor_says_what_of_a_workspace_waits_for_trust(home: Path, root: Path) -> None:
    (root / ".aurora").mkdir()
    (root / ".aurora" / "config.json").write_text('{"agents": {"discovery_paths": ["./x.json"]}, "scorin": 1}')
    with Daemon(home) as daemon:
        told = [each["what"] for each in findings(daemon, root) if each["level"] == "warning"]
        assert any("agents.discovery_paths is not used while this workspace is not trusted" in each for each in told)
        assert any("'scorin' is not a setting" in each for each in told)
        Trust(home).trust(Path(os.path.realpath(root)))
        assert not any("not trusted" in each["what"] for each in findings(daemon, root))
