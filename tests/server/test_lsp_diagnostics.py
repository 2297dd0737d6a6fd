"""Manifest diagnostics, pushed and pulled, with exact ranges."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.daemons import Daemon, Wire

VALID: dict[str, Any] = {
    "$schema": "https://aura.dev/schemas/v1.0.json",
    "protocol": "AURA",
    "version": "1.0",
    "site": {"name": "Shop", "url": "https://shop.example"},
    "resources": {},
    "capabilities": {},
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("aurora") / "home") as daemon:
        yield daemon


@pytest.fixture
def wire(daemon: Daemon) -> Iterator[Wire]:
    with daemon.wire() as wire:
        wire.initialize()
        yield wire


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return (tmp_path / ".well-known" / "aura.json").as_uri()


def opened(wire: Wire, uri: str, text: str) -> None:
    document = {"uri": uri, "languageId": "json", "version": 1, "text": text}
    wire.notify("textDocument/didOpen", {"textDocument": document})


def changed(wire: Wire, uri: str, version: int, text: str) -> None:
    document = {"uri": uri, "version": version}
    wire.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})


def pushed(wire: Wire) -> dict[str, Any]:
    return wire.notification("textDocument/publishDiagnostics")


def test_a_valid_manifest_has_none(wire: Wire, uri: str) -> None:
    opened(wire, uri, json.dumps(VALID, indent=2))
    assert pushed(wire) == {"uri": uri, "version": 1, "diagnostics": []}


@pytest.mark.parametrize(("encoding", "start"), [("utf-8", 22), ("utf-16", 20), ("utf-32", 19)])
def test_ranges_are_exact_in_every_encoding(daemon: Daemon, uri: str, encoding: str, start: int) -> None:
    with daemon.wire() as wire:
        wire.initialize(capabilities={"general": {"positionEncodings": [encoding]}})
        opened(wire, uri, '{\n  "protocol": "😀", nonsense\n}')
        found = [each for each in pushed(wire)["diagnostics"] if "nonsense" in each["message"]]
        assert [each["range"]["start"] for each in found] == [{"line": 1, "character": start}]


def test_they_follow_typing_saving_and_closing(wire: Wire, uri: str) -> None:
    opened(wire, uri, "{")
    assert pushed(wire)["diagnostics"]
    for version in range(2, 8):
        changed(wire, uri, version, "{" * version)
    changed(wire, uri, 8, json.dumps(VALID))
    assert pushed(wire) == {"uri": uri, "version": 8, "diagnostics": []}, "only the last of a burst is checked"
    wire.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert pushed(wire)["version"] == 8
    changed(wire, uri, 9, "[]")
    (first, *_) = pushed(wire)["diagnostics"]
    assert (first["severity"], first["source"]) == (1, "aurora")
    wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert pushed(wire)["diagnostics"] == []


def test_other_documents_are_left_alone(wire: Wire, tmp_path: Path, uri: str) -> None:
    opened(wire, (tmp_path / "package.json").as_uri(), "{")
    opened(wire, uri, "{")
    assert pushed(wire)["uri"] == uri


def test_they_can_be_pulled_once_per_text(wire: Wire, uri: str) -> None:
    opened(wire, uri, "{")
    report = wire.result("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    assert report["kind"] == "full"
    assert report["items"] == pushed(wire)["diagnostics"]
    again = {"textDocument": {"uri": uri}, "previousResultId": report["resultId"]}
    assert wire.result("textDocument/diagnostic", again) == {"kind": "unchanged", "resultId": report["resultId"]}
    changed(wire, uri, 2, json.dumps(VALID))
    assert wire.result("textDocument/diagnostic", again)["items"] == []


def test_files_that_are_not_open_can_be_pulled(wire: Wire, tmp_path: Path) -> None:
    (tmp_path / "aura.json").write_text("[")
    uri = (tmp_path / "aura.json").as_uri()
    assert wire.result("textDocument/diagnostic", {"textDocument": {"uri": uri}})["items"]
    missing = (tmp_path / "none" / "aura.json").as_uri()
    assert wire.ask("textDocument/diagnostic", {"textDocument": {"uri": missing}})["error"]["code"] == -32602


def test_a_client_that_pulls_is_not_pushed_to(daemon: Daemon, uri: str) -> None:
    with daemon.wire() as wire:
        wire.initialize(capabilities={"textDocument": {"diagnostic": {}}})
        opened(wire, uri, "{")
        assert wire.result("textDocument/diagnostic", {"textDocument": {"uri": uri}})["items"]
        with pytest.raises(TimeoutError):
            wire.notification("textDocument/publishDiagnostics", 0.5)


def test_switching_them_off_takes_them_away(wire: Wire, uri: str) -> None:
    opened(wire, uri, "{")
    assert pushed(wire)["diagnostics"]
    wire.notify("workspace/didChangeConfiguration", {"settings": {"aurora": {"diagnostics": False}}})
    assert pushed(wire)["diagnostics"] == []
    wire.notify("workspace/didChangeConfiguration", {"settings": {"aurora": {"diagnostics": True}}})
    assert pushed(wire)["diagnostics"]


def test_a_huge_manifest_is_said_not_to_be_checked(wire: Wire, uri: str) -> None:
    opened(wire, uri, "[" + " " * (8 << 20))
    (only,) = pushed(wire)["diagnostics"]
    assert only["code"] == "json-too-large"
