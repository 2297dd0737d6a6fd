"""Paths that no file can have or that are no files: whoever asks about one hears so, and nobody else notices."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aurora_protocol import RequestFailed
from aurora_protocol.client import Client
from aurora_server.session.folders import real
from tests.server.daemons import Daemon
from tests.wait_limits import HANG

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes and links are POSIX's")

INSIDE = "failed inside AURORA"
START = {"line": 0, "character": 0}
ODD = {
    "a pipe": "pipe.py",
    "a pipe for a manifest": "aura.json",
    "a device": "null.py",
    "below a circle of links": "circle/a.py",
    "a circle of links": "circle",
    "a NUL": "%00.py",
    "a folder with a NUL": "%00/a.py",
    "a name too long": "x" * 300 + ".py",
    "a path too long": "y/" * 3000 + "a.py",
    "below a file": "shop.py/a.py",
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("aurora") / "home") as daemon:
        yield daemon


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shop")
    (root / "shop.py").write_text("def checkout():\n    return 1\n")
    os.mkfifo(root / "pipe.py")
    os.mkfifo(root / "aura.json")
    (root / "null.py").symlink_to(os.devnull)
    (root / "circle").symlink_to("elcric")
    (root / "elcric").symlink_to("circle")
    for arguments in (["init", "-q"], ["config", "remote.origin.url", "file:///a%00b"]):
        subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, timeout=HANG)
    return root


def questions(uri: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Whatever an editor asks about a file."""
    document = {"textDocument": {"uri": uri}}
    for name in ("documentSymbol", "diagnostic", "codeLens", "documentLink", "foldingRange"):
        yield f"textDocument/{name}", document
    for name in ("hover", "completion", "definition", "documentHighlight", "prepareRename"):
        yield f"textDocument/{name}", {**document, "position": START}
    context = {"context": {"includeDeclaration": True}}
    yield "textDocument/references", {**document, "position": START, **context}
    yield "textDocument/formatting", {**document, "options": {"tabSize": 2, "insertSpaces": True}}
    yield "textDocument/selectionRange", {**document, "positions": [START]}
    yield "aurora/explain", {"uri": uri, "position": START}
    yield "aurora/recall", {"query": "checkout", "context": {"uri": uri, "position": START}}
    yield "aurora/index", {"paths": [uri]}
    yield "aurora/index", {"paths": [uri.removeprefix("file://").replace("%00", "\0")]}
    yield "aurora/memory/adopt", {"source": uri.removeprefix("file://")}


def answer(client: Client, method: str, params: dict[str, Any]) -> str:
    """What came back, a refusal in its words."""
    try:
        return str(client.request(method, params, timeout=HANG))
    except RequestFailed as error:
        return str(error)


@pytest.mark.parametrize("name", ODD.values(), ids=ODD)
def test_each_question_about_an_odd_path_is_answered_or_refused(daemon: Daemon, root: Path, name: str) -> None:
    with daemon.client(root) as client:
        told = {method: answer(client, method, params) for method, params in questions(f"file://{root}/{name}")}
    assert {method: text[:300] for method, text in told.items() if INSIDE in text} == {}


def test_an_odd_path_among_what_changed_keeps_nothing_else_from_being_seen(daemon: Daemon, root: Path) -> None:
    with daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        for number, name in enumerate(ODD.values()):
            (root / "shop.py").write_text(f"def checkout_{number}():\n    return 1\n")
            uris = [f"file://{root}/{each}" for each in (name, "shop.py")]
            for uri in uris:
                document = {"uri": uri, "languageId": "python", "version": 1, "text": "def a(): pass\n"}
                client.notify("textDocument/didOpen", {"textDocument": document})
                client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
                client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
            client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": 2} for uri in uris]})
            client.request("aurora/index", {"paths": ["shop.py"]}, timeout=HANG)
            found = client.request("aurora/recall", {"query": f"checkout_{number}"}, timeout=HANG)["results"]
            assert [each["name"] for each in found][:1] == [f"checkout_{number}"], name
    log = daemon.address.log.read_text("utf-8")
    assert "indexing failed" not in log and "notification failed" not in log and "record not exchanged" not in log


def test_a_path_through_a_circle_of_links_stays_as_it_was_given(root: Path) -> None:
    assert real(root / "circle" / "a.py") == root.resolve() / "circle" / "a.py"
