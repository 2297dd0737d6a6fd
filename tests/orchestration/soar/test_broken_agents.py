"""Agents that crash, hang or say nothing: seen by the user, learned from, and not waited for twice."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aurora_orchestration.model_settings import Caps
from aurora_orchestration.run_record import RunRecord
from aurora_orchestration.settings import AgentSettings
from tests.orchestration.llm.loopback import LoopbackProvider
from tests.orchestration.soar.benches import Bench, bench
from tests.orchestration.soar.minds import Mind

QUERY = "Explain how expand fills a template and compare it with request"
TWO = ("Explain how expand fills a template", "Compare expand with request")
CRASHES = "import os, sys; open(sys.argv[1], 'a').write('x'); sys.stderr.write('oops\\n'); os.kill(os.getpid(), 11)"
HANGS = "import sys, time; open(sys.argv[1], 'a').write('x'); time.sleep(600)"


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    with LoopbackProvider() as running:
        yield running


class Routing(Mind):
    """Gives its subgoals, one after the other, to `finder`."""

    def body(self, query: str) -> dict[str, Any]:
        body = super().body(query)
        for each in body["subgoals"]:
            each["agent"] = "finder"
        return body


def install(it: Bench, code: str, **more: Any) -> Path:
    """Make `finder` a program of the user; returns the file that has a mark of each of its starts."""
    marks = it.home / "starts"
    agent = {"id": "finder", "type": "executable", "path": sys.executable, "arguments": ["-c", code, str(marks)]}
    found = {"capabilities": ["explain", "compare", "templates"], **more}
    (it.home / "agents.json").write_text(json.dumps({"agents": [{**agent, **found}]}))
    return marks


async def asked(it: Bench, provider: LoopbackProvider) -> RunRecord:
    provider.otherwise = Routing(TWO, depends={1: (0,)})
    return await it.ask(QUERY)


def rate(it: Bench, agents: tuple[Any, ...]) -> float | None:
    return next(each.success_rate for each in agents if each.id == "finder")


async def test_a_crash_is_a_line_and_a_caveat_and_lowers_the_success_rate(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        starts = install(it, CRASHES)
        before = rate(it, (await it.registry.current()).agents)
        run = await asked(it, provider)
        assert run.state == "complete", run.error
        line = "agent finder failed: signal 11 (oops); llm-executor took over"
        assert line in run.notices
        assert any(line[1:] in caveat for caveat in run.caveats)
        assert starts.read_text() == "x", "it was asked for the second subgoal too, and not started for it"
        after = rate(it, (await it.registry.current()).agents)
        assert after is not None and after < (0.5 if before is None else before)


async def test_a_hung_agent_has_its_share_of_the_runs_time_and_is_not_waited_for_twice(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    llm = provider.llm_settings(caps=Caps(run_seconds=24.0))
    async with bench(tmp_path, llm, provider.environ, agents=AgentSettings(timeout_seconds=300.0)) as it:
        starts = install(it, HANGS)
        run = await asked(it, provider)
        assert run.state == "complete", run.error
        (told,) = [each for each in run.notices if "finder failed: not done within" in each and "took over" in each]
        share = float(told.partition("not done within ")[2].split()[0])
        assert share <= 24 * 0.8 / 2 / 2, "for there are two waves, and another may have to do its work"
        assert starts.read_text() == "x"


async def test_a_run_whose_agents_all_fail_says_who_and_remembers_it(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        install(it, CRASHES)
        mind = Routing(TWO, depends={1: (0,)})
        mind.instead["work"] = lambda _: {"status": "error", "summary": "no", "confidence": 0.1}
        provider.otherwise = mind
        run = await it.ask(QUERY)
        assert run.state == "failed"
        assert "agent finder failed: signal 11 (oops); nobody could take over" in run.notices
        after = rate(it, (await it.registry.current()).agents)
        assert after is not None and after < 0.5
