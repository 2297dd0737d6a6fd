"""Rows of the specification that were missing or half: where memory is, whose word counts, how long a chunk lives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aurora_memory.documents import PatternSubgoal
from aurora_memory.lifespans.evaluate import judge
from aurora_memory.lifespans.policies import BUILT_IN
from aurora_memory.store import Store, learned_reader
from aurora_memory.store.lifespans import lifespan_facts
from aurora_orchestration.settings import KeywordSettings
from aurora_orchestration.soar.keywords import classify
from aurora_server.configuration.layers import settings_for
from aurora_server.configuration.settings import load
from aurora_server.workspace.memory_settings import database_path
from tests.memory.runs import DAY, NOON, run
from tests.orchestration.soar.minds import Mind
from tests.server.client_requests import MEDIUM, TWO, asked


def settings_with(home: Path, path: str) -> Any:
    home.mkdir(exist_ok=True)
    (home / "config.json").write_text(json.dumps({"memory": {"database_path": path}}))
    return load({"AURORA_HOME": str(home)})


async def test_a_database_path_as_in_appendix_c_is_one_file_for_each_workspace(tmp_path: Path) -> None:
    settings = settings_with(tmp_path / "home", str(tmp_path / "memory.db"))
    one, other = tmp_path / "one", tmp_path / "other"
    paths = {database_path(root, settings) for root in (one, other)}
    assert len(paths) == 2 and all(path.name.startswith("memory-") and path.suffix == ".db" for path in paths)
    store = await Store.open(tmp_path / "memory.db")
    await store.remember("root", str(one))
    await store.close()
    assert database_path(one, settings) == tmp_path / "memory.db", "what it had so far is kept"
    assert database_path(other, settings) != tmp_path / "memory.db"


def test_a_file_that_the_user_names_counts_more_than_the_workspaces(tmp_path: Path) -> None:
    root, home = tmp_path / "ws", tmp_path / "home"
    (root / ".aurora").mkdir(parents=True)
    home.mkdir()
    (root / ".aurora/config.json").write_text(json.dumps({"scoring": {"max_retries": 0, "pass_threshold": 0.75}}))
    named = tmp_path / "mine.json"
    named.write_text(json.dumps({"scoring": {"max_retries": 1}}))
    environ = {"AURORA_HOME": str(home)}
    usual, _ = settings_for(root, True, environ)
    mine, _ = settings_for(root, True, environ, named)
    assert (usual.scoring.max_retries, mine.scoring.max_retries) == (0, 1)
    assert mine.scoring.pass_threshold == usual.scoring.pass_threshold, "what it does not say is the workspace's still"


@pytest.mark.parametrize(
    ("query", "level"),
    [
        ("Review our production security", "critical"),
        ("production security", "critical"),
        ("what is production", "simple"),
        ("list the safety checks", "simple"),
        ("Explain the security module", "medium"),
    ],
)
def test_two_grave_words_together_are_what_is_at_stake(query: str, level: str) -> None:
    assert classify(query, KeywordSettings()).complexity == level


def test_thinking_is_exact_and_doing_is_free_where_settings_do_not_say(tmp_path: Path) -> None:
    with asked(tmp_path, Mind(TWO)) as (daemon, provider, root), daemon.client(root) as client:
        assert client.request("aurora/query", {"query": MEDIUM})["state"] == "complete"
        told = {(r.body["temperature"], r.max_tokens) for r in provider.requests if "You work on one" not in r.system}
        doing = {(r.body["temperature"], r.max_tokens) for r in provider.requests if "You work on one" in r.system}
        assert (told, doing) == ({(0.0, 4096)}, {(0.7, 8192)})


def test_every_kind_of_chunk_says_by_which_policy_it_lives(tmp_path: Path) -> None:
    with asked(tmp_path, Mind(TWO)) as (daemon, _, root), daemon.client(root) as client:
        (root / "README.md").write_text("# Templates\n\nExpand fills a template with values of the request.\n")
        client.request("aurora/index", {})
        kept = client.request("aurora/query", {"query": MEDIUM})["reasoning_id"]
        found = client.request("aurora/recall", {"query": "expand template"})["results"]
        ids = {each["type"]: each["id"] for each in found} | {"reas": kept}
        assert set(ids) == {"code", "know", "reas"}
        for chunk_id in ids.values():
            governance = client.request("aurora/explain", {"id": chunk_id})["governance"]
            assert governance["lifespan_policy"] == "conditional" and governance["retention_rules"]
            assert governance["policy"] and governance["state"] == "kept" and governance["reason"]
        assert client.request("aurora/explain", {"id": kept})["governance"]["policy"] == "retain_indefinitely"


def test_a_policy_that_somebody_configured_ends_patterns_too(tmp_path: Path) -> None:
    policies = {"patterns": {"condition": "is_pattern == true", "lifespan": "30_days"}}
    memory = {"lifespan_policies": {"policies": policies}}
    with asked(tmp_path, Mind(TWO), memory=memory) as (daemon, _, root), daemon.client(root) as client:
        kept = client.request("aurora/query", {"query": MEDIUM})["reasoning_id"]
        governance = client.request("aurora/explain", {"id": kept})["governance"]
    assert governance["policy"] == "patterns" and governance["expires_at"], governance


@pytest.mark.parametrize(("days", "state"), [(10, "kept"), (100, "decaying"), (179, "decaying"), (181, "expired")])
async def test_what_succeeded_in_part_ends_after_180_days_without_use(tmp_path: Path, days: int, state: str) -> None:
    store = await Store.open(tmp_path / "memory.db")
    try:
        steps = (PatternSubgoal(id="SG1", description="Find where invoices are listed", agent="coder"),)
        learned = await store.learn(run(1, 0.65, query="Sort the invoices by their date", subgoals=steps))
        row = await store.read(learned_reader.reasoning_named, learned.reasoning_id or "")
        assert row is not None
        facts = (await store.read(lifespan_facts, [row]))[row]
        assert judge(facts, BUILT_IN, NOON + days * DAY).state == state
    finally:
        await store.close()
