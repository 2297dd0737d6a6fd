"""Diagnostics of AURORA's own documents in an editor: configuration, agents, deliverables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.daemons import Daemon, Wire

STATE = {"change_id": "add-dark-mode", "status": "executing", "started_at": "2026-02-26T10:00:00Z"}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("aurora") / "home") as daemon:
        yield daemon


def diagnosed(daemon: Daemon, path: Path, document: Any) -> list[tuple[str, int, str]]:
    """What is pushed for a document, and pulled: the same, or the test fails."""
    with daemon.wire() as wire:
        wire.initialize()
        text = document if isinstance(document, str) else json.dumps(document)
        opened(wire, path, text)
        pushed = wire.notification("textDocument/publishDiagnostics")
        assert pushed["uri"] == path.as_uri()
        pulled = wire.result("textDocument/diagnostic", {"textDocument": {"uri": path.as_uri()}})
        assert pulled["items"] == pushed["diagnostics"]
        return [
            (
                each["code"],
                each["severity"],
                text[each["range"]["start"]["character"] : each["range"]["end"]["character"]],
            )
            for each in pushed["diagnostics"]
        ]


def opened(wire: Wire, path: Path, text: str) -> None:
    document = {"uri": path.as_uri(), "languageId": "json", "version": 1, "text": text}
    wire.notify("textDocument/didOpen", {"textDocument": document})


def test_a_workspaces_configuration(daemon: Daemon, tmp_path: Path) -> None:
    path = tmp_path / ".aurora" / "config.json"
    assert diagnosed(daemon, path, {"daemon": {"idle_minutes": 5}}) == []
    found = diagnosed(daemon, path, {"daemon": {"idle_minuts": 5}, "logging": {"level": "LOUD"}})
    assert found == [("schema-unknown-member", 2, '"idle_minuts"'), ("schema-enum", 1, '"LOUD"')]


def test_the_users_configuration_wherever_home_is(daemon: Daemon, tmp_path: Path) -> None:
    home = daemon.address.home
    assert diagnosed(daemon, home / "config.json", "[]") == [("schema-type", 1, "[]")]
    with daemon.wire() as wire:
        wire.initialize()
        opened(wire, tmp_path / "config.json", "[]")
        opened(wire, home / "agents.json", "{}")
        assert wire.notification("textDocument/publishDiagnostics")["uri"] == (home / "agents.json").as_uri()


def test_the_users_severities_hold_in_editors(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    severities = {"manifest": {"severities": {"schema-required": "off", "schema-const": "hint"}}}
    (home / "config.json").write_text(json.dumps(severities))
    with Daemon(home) as daemon:
        assert diagnosed(daemon, tmp_path / "aura.json", '{"version": "2.0"}') == [("schema-const", 4, '"2.0"')]


def test_severities_that_change_hold_for_documents_that_are_open(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon, daemon.wire() as wire:
        wire.initialize()
        path = tmp_path / "aura.json"
        opened(wire, path, "[]")

        def pull(known: str | None = None) -> Any:
            asked = {"textDocument": {"uri": path.as_uri()}, "previousResultId": known}
            return wire.result("textDocument/diagnostic", asked)

        before = pull()
        assert [each["severity"] for each in before["items"]] == [1]
        assert pull(before["resultId"])["kind"] == "unchanged"
        severities = {"manifest": {"severities": {"schema-type": "hint"}}}
        (tmp_path / "home" / "config.json").write_text(json.dumps(severities))
        after = pull(before["resultId"])
        assert [each["severity"] for each in after["items"]] == [4]


def test_a_registry_of_agents(daemon: Daemon, tmp_path: Path) -> None:
    agents = {"agent_registry": {"agents": [{"id": "remote", "type": "http", "endpoint": None}]}}
    assert diagnosed(daemon, tmp_path / ".aurora" / "agents.json", agents) == [("schema-type", 1, "null")]


def test_documents_of_deliverables_are_known_by_name_or_by_what_is_in_them(daemon: Daemon, tmp_path: Path) -> None:
    assert diagnosed(daemon, tmp_path / "deliverable-state.json", {**STATE, "status": "done"}) == [
        ("schema-enum", 1, '"done"')
    ]
    folder = tmp_path / ".aurora" / "deliverables"
    assert diagnosed(daemon, folder / "dark.json", STATE) == []
    final = {**STATE, "status": "failed", "completed_at": "2026-02-26T11:00:00Z", "schema_version": "0.1.0"}
    found = diagnosed(daemon, folder / "dark.json", {**final, "metrics": {"failure_type": "lazy"}})
    assert found == [("schema-enum", 1, '"lazy"')]


def test_files_that_are_not_open_can_be_pulled(daemon: Daemon, tmp_path: Path) -> None:
    path = tmp_path / "metrics-output.json"
    path.write_text("{}")
    with daemon.wire() as wire:
        wire.initialize()
        report = wire.result("textDocument/diagnostic", {"textDocument": {"uri": path.as_uri()}})
    assert {each["code"] for each in report["items"]} == {"schema-required"}
    assert len(report["items"]) == 6
