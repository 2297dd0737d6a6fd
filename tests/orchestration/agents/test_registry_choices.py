"""Choices of who works, a rule each: how long a bad name lasts, what a file says before a server, who steps in."""

from __future__ import annotations

from typing import Any

import pytest

from aurora_orchestration.agents.cache import Tally
from aurora_orchestration.agents.mcp_tools import ToolOffer
from aurora_orchestration.agents.registry import (
    DAY,
    POOR,
    NoAgents,
    Registry,
    _with_offer,
    _with_rate,
    rested,
    success_rate,
)
from aurora_orchestration.settings import AgentSettings
from aurora_orchestration.types import Agent

NOW = 1e9
SAID = "find vulnerability token auth"


@pytest.mark.parametrize(
    ("good", "every", "claimed", "rate"),
    [
        pytest.param(0, 0, None, 0.5, id="nobody knows: as likely good as not"),
        pytest.param(0, 1, None, 1 / 3, id="one failed work is no rate yet"),
        pytest.param(0, 0, 1.0, 5 / 6, id="what it claims counts as four works"),
        pytest.param(0, 6, 1.0, 5 / 12, id="and less, the more it did"),
    ],
)
def test_how_likely_an_agent_does_well(good: float, every: float, claimed: float | None, rate: float) -> None:
    assert success_rate(Tally(good, every), claimed) == pytest.approx(rate)


@pytest.mark.parametrize(
    ("good", "every", "days", "left"),
    [
        pytest.param(0, 4, 1, 2, id="by half for each day of rest"),
        pytest.param(0, 4, -1, 4, id="not for a clock that was set back"),
        pytest.param(2, 8, 9, 8, id="not for one that is just good enough"),
    ],
)
def test_what_an_agent_did_badly_fades(good: float, every: float, days: float, left: float) -> None:
    assert rested(Tally(good, every, NOW - days * DAY), NOW).all == pytest.approx(left)
    assert success_rate(Tally(2, 8)) == POOR


def test_an_agent_that_nobody_tried_and_that_claims_nothing_has_no_rate() -> None:
    agent = Agent(id="a", type="executable")
    assert _with_rate(agent, None, "").success_rate is None
    assert _with_rate(agent, Tally(1, 1), "").success_rate == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("said", "domains", "description"),
    [
        pytest.param(
            {}, ("security",), "find vulnerability token auth", id="what its server says, where its file does not"
        ),
        pytest.param({"domains": ("general",)}, ("security",), SAID, id="or says only in general"),
        pytest.param({"domains": ("docs",), "description": "Mine."}, ("docs",), "Mine.", id="else what its file says"),
    ],
)
def test_what_is_told_of_an_agent_by_its_file_and_its_server(
    said: dict[str, Any], domains: tuple[str, ...], description: str
) -> None:
    offer = ToolOffer("k", ("scan",), SAID)
    found = _with_offer(Agent(id="a", type="mcp", **said), offer)
    assert (found.domains, found.description) == (domains, description)
    assert _with_offer(Agent(id="a", type="mcp"), ToolOffer("k", description="x")).description == "", (
        "without tools nothing"
    )


def fallback(mode: Any, **default: Any) -> tuple[list[Agent], str]:
    settings = AgentSettings()
    agent = type(settings.default_agent)(**default)
    chosen = type(settings)(fallback_mode=mode, default_agent=agent)
    registry = Registry.__new__(Registry)
    registry._settings = chosen
    return registry._fallback()


@pytest.mark.parametrize(
    ("mode", "default", "who"),
    [
        pytest.param("llm_only", {"id": "mine"}, None, id="the model alone, where that is asked for"),
        pytest.param("default_agents", {}, None, id="or where no other agent is named"),
        pytest.param("default_agents", {"id": "mine"}, "mine", id="else the one that is named"),
        pytest.param("default_agents", {"id": "mine", "type": "executable"}, None, id="where it can work by itself"),
    ],
)
def test_who_works_where_no_agent_was_found(mode: str, default: dict[str, Any], who: str | None) -> None:
    agents, told = fallback(mode, **default)
    assert [each.id for each in agents] == ([who] if who else [])
    assert ("default agent mine" in told) is bool(who)


def test_nobody_works_where_that_is_asked_for() -> None:
    with pytest.raises(NoAgents, match="aurora agents list"):
        fallback("fail")
