"""Recall by meaning, end to end: what is configured, what it finds, and that without it everything is as before."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from aurora_protocol.client import Client
from aurora_protocol.methods import RecallParams
from aurora_server.configuration.live_settings import SettingsSource
from aurora_server.configuration.settings import SettingsError, load
from aurora_server.workspace.composition import WorkspaceOpener
from aurora_server.workspace.workspace import Workspace
from tests.models import bert, static_model, write
from tests.server.daemons import Daemon, until
from tests.wait_limits import HANG

EXTRA = ("tokenizers", "safetensors", "onnxruntime", "sentence_transformers", "huggingface_hub", "model2vec")

SHOP = '''
def authenticate(credentials):
    """Check the credentials."""
    return credentials.valid


def retry(attempt):
    """Attempt it again with a backoff."""
    return attempt + 1


def render(shape):
    return shape.pixels


def invoice_total(lines):
    """The amount of an invoice."""
    return sum(lines)
'''

Opening = Callable[..., AbstractAsyncContextManager[Workspace]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "shop.py").write_text(SHOP)
    return tmp_path / "shop"


@pytest.fixture
def opening(tmp_path: Path, root: Path) -> Opening:
    """Opens the shop as a daemon with that `memory.semantic` would."""
    home = tmp_path / "home"
    home.mkdir()

    @asynccontextmanager
    async def open_shop(**semantic: Any) -> AsyncIterator[Workspace]:
        write(home / "config.json", {"memory": {"semantic": semantic}, "indexing": {"workers": 1}})
        opener = WorkspaceOpener(SettingsSource({"AURORA_HOME": str(home)}), os.environ)
        workspace = await opener.open(root)
        try:
            await workspace.index(None)
            yield workspace
        finally:
            await workspace.close()
            await opener.close()

    return open_shop


async def found(workspace: Workspace, query: str) -> list[str]:
    return [each.name for each in (await workspace.recall(RecallParams(query=query))).results]


async def semantic_line(workspace: Workspace) -> list[tuple[str, str]]:
    findings = (await workspace.doctor()).findings
    return [(each.level, each.what) for each in findings if "semantic recall" in each.what]


async def embedded(workspace: Workspace, chunks: int) -> None:
    async with asyncio.timeout(HANG):
        while not any(f": {chunks} chunks embedded" in what for _, what in await semantic_line(workspace)):
            await asyncio.sleep(0.05)


async def test_a_word_the_code_does_not_say_is_found_by_its_meaning(tmp_path: Path, opening: Opening) -> None:
    async with opening() as workspace:
        assert await found(workspace, "user enter") == []
        plain = await found(workspace, "invoice")
        assert await semantic_line(workspace) == []
    static_model(tmp_path / "home" / "models" / "tiny")
    async with opening(model="models/tiny") as workspace:
        await embedded(workspace, 4)
        assert (await found(workspace, "user enter"))[0] == "authenticate"
        assert (await found(workspace, "retry"))[0] == "retry"
        assert (await found(workspace, "invoice"))[:1] == plain[:1]
        result = await workspace.recall(RecallParams(query="user enter", explain=True))
        assert result.results[0].evidence is not UNSET
        near = result.results[0].evidence.semantic
        assert near is not UNSET and near.rank == 1
        assert 0.8 < near.similarity <= 1
        scores = [each.score for each in result.results]
        assert scores == sorted(scores, reverse=True)
        assert [level for level, _ in await semantic_line(workspace)] == ["ok"]
    async with opening(model="models/tiny", enabled=False) as workspace:
        assert await found(workspace, "user enter") == []


async def test_a_save_is_embedded_and_a_second_start_embeds_nothing(
    tmp_path: Path, opening: Opening, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")

    def passes() -> list[int]:
        return [record.__dict__["chunks"] for record in caplog.records if record.message == "embedded"]

    model = str(static_model(tmp_path / "m"))
    async with opening(model=model) as workspace:
        await embedded(workspace, 4)
        assert (await found(workspace, "repeat"))[0] == "retry"
        changed = SHOP.replace("return shape.pixels", "return deserialize(json.decode(shape))")
        (root / "shop.py").write_text(changed + "\n\ndef pay(bill):\n    return bill.currency\n")
        workspace.files_changed([root / "shop.py"])
        await embedded(workspace, 5)
        async with asyncio.timeout(HANG):
            while "pay" not in (await found(workspace, "price"))[:2]:
                await asyncio.sleep(0.05)
        assert passes() == [4, 2]
    async with opening(model=model) as workspace:
        await embedded(workspace, 5)
        assert (await found(workspace, "enter user"))[0] == "authenticate"
        assert passes() == [4, 2]
    other = static_model(tmp_path / "other", "sentence-transformers")
    async with opening(model=str(other)) as workspace:
        await embedded(workspace, 5)
        assert passes() == [4, 2, 5]


async def test_a_transformer_serves_as_well(tmp_path: Path, opening: Opening) -> None:
    pytest.importorskip("onnxruntime", reason="the semantic extra is not installed")
    async with opening(model=str(bert(tmp_path / "m"))) as workspace:
        await embedded(workspace, 4)
        ((_, line),) = await semantic_line(workspace)
        assert line.endswith("embedded by m (onnxruntime)")
        assert (await found(workspace, "enter password"))[0] == "authenticate"


async def test_a_bad_model_is_one_line_and_stops_nothing(opening: Opening, caplog: pytest.LogCaptureFixture) -> None:
    async with opening(model="/nowhere/minilm") as workspace:
        for _ in range(3):
            assert (await found(workspace, "invoice amount"))[0] == "invoice_total"
        ((level, what),) = await semantic_line(workspace)
        assert level == "warning"
        assert what.startswith("no semantic recall: there is no model folder /nowhere/minilm")
    # of the indexer only: another test's telemetry may still be telling, in its thread, that its collector was gone
    said = [each for each in caplog.records if each.levelname == "WARNING" and each.name.startswith("aurora_indexer")]
    assert [record.message for record in said] == ["no semantic recall"]


def test_only_the_users_own_configuration_names_a_model(tmp_path: Path, root: Path) -> None:
    model = str(static_model(tmp_path / "m"))
    (root / ".aurora").mkdir()
    write(root / ".aurora" / "config.json", {"memory": {"semantic": {"model": model}}})
    with Daemon(tmp_path / "home") as daemon, daemon.client(root) as client:
        client.request("aurora/index", {}, timeout=HANG)
        assert recalled(client, "user enter") == []
        findings = client.request("aurora/doctor", {}, timeout=HANG)["findings"]
        (told,) = [finding["what"] for finding in findings if "semantic" in finding["what"]]
        assert told.endswith("memory.semantic.model is not read from a workspace")


def test_a_model_can_be_named_by_a_variable(tmp_path: Path, root: Path) -> None:
    model = str(static_model(tmp_path / "m"))
    with Daemon(tmp_path / "home", AURORA_MEMORY_SEMANTIC_MODEL=model) as daemon, daemon.client(root) as client:
        client.request("aurora/index", {}, timeout=HANG)
        until(lambda: recalled(client, "user enter")[:1] == ["authenticate"], what="found by meaning")


def recalled(client: Client, query: str) -> list[str]:
    reply = client.request("aurora/recall", {"query": query}, timeout=HANG)
    return [each["name"] for each in reply["results"]]


def test_settings_are_checked(tmp_path: Path) -> None:
    assert load({"AURORA_HOME": str(tmp_path)}).memory.semantic.model is None
    switched = load({"AURORA_HOME": str(tmp_path), "AURORA_MEMORY_SEMANTIC_ENABLED": "false"})
    assert switched.memory.semantic.enabled is False
    for bad in ({"memory": {"semantic": []}}, {"memory": {"semantic": {"model": 5}}}, {"memory": 5}):
        write(tmp_path / "config.json", bad)
        with pytest.raises(SettingsError, match="memory"):
            load({"AURORA_HOME": str(tmp_path)})


@pytest.mark.parametrize("configured", [False, True])
def test_the_daemon_imports_nothing_that_runs_models(tmp_path: Path, root: Path, configured: bool) -> None:
    """With a model as well: it runs in a process of its own."""
    home = tmp_path / "home"
    home.mkdir()
    if configured:
        write(home / "config.json", {"memory": {"semantic": {"model": str(static_model(tmp_path / "m"))}}})
    code = f"""
import asyncio, json, os, sys
from pathlib import Path
from aurora_protocol.methods import RecallParams
from aurora_server.workspace.composition import WorkspaceOpener
from aurora_server.configuration.live_settings import SettingsSource

async def main():
    opener = WorkspaceOpener(SettingsSource({{"AURORA_HOME": {str(home)!r}}}), os.environ)
    workspace = await opener.open(Path({str(root)!r}))
    await workspace.index(None)
    found = await workspace.recall(RecallParams(query="invoice"))
    await workspace.doctor()
    await workspace.close()
    await opener.close()
    print(json.dumps([[each.name for each in found.results], list(sys.modules)]))

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, timeout=HANG)
    names, modules = json.loads(done.stdout)
    assert names[0] == "invoice_total"
    assert not {module.partition(".")[0] for module in modules} & set(EXTRA)
    ours = [module for module in modules if module.startswith("aurora_indexer.embedding")]
    assert bool(ours) == configured
