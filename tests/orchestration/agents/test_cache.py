"""Kept agents: what may stand in the file, and when agents have to be read again."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from aurora_orchestration.agents.cache import Cache, Kept
from aurora_orchestration.types import Agent

PLAIN = Agent(id="a", type="executable", prompt="You test.", command="run")
KEYS = replace(PLAIN, environment={"KEY": "hush"}, headers={"Authorization": "hush"})


@pytest.mark.parametrize(
    ("agent", "ignored", "whole"),
    [
        pytest.param(PLAIN, PLAIN, True, id="what is known of an agent is whole"),
        pytest.param(KEYS, PLAIN, False, id="but for one with keys, which are not kept"),
        pytest.param(PLAIN, KEYS, True, id="an ignored one is never started, so nothing is missing of it"),
    ],
)
def test_what_is_kept_of_agents(tmp_path: Path, agent: Agent, ignored: Agent, whole: bool) -> None:
    cache = Cache(tmp_path, tmp_path / "w")
    with cache.changing() as change:
        found = replace(change.kept.found, agents=(agent,), ignored=(ignored,))
        change.kept = replace(change.kept, found=found)
    kept = cache.read()
    assert kept.whole is whole and "hush" not in cache.path.read_text()
    assert kept.found.agents == (PLAIN,), "an instruction is no key"
    assert kept.found.ignored == (replace(PLAIN, prompt=""),), "of who is not trusted none is needed"


def test_a_file_of_another_version_or_that_is_none_says_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path, tmp_path / "w")
    with cache.changing() as change:
        change.kept = replace(change.kept, refreshed_at=5.0)
    assert cache.read().refreshed_at == 5.0
    for text in (cache.path.read_text().replace('"format":1', '"format":2'), "{", "[]", ""):
        cache.path.write_text(text)
        assert cache.read() == Kept()
