"""Precedence among a workspace's agents, a rule each: of paths, of what is kept of them, of words that describe them."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aurora_orchestration.agents.cache import Tally, ToolOffer
from aurora_orchestration.agents.capability_words import MAX_CAPABILITIES, capabilities_of, domains_of
from aurora_orchestration.agents.discovery import Discovered, Places
from aurora_orchestration.agents.registry import DAY, MAX_PATHS, MAX_TALLY, Registry, _with_offer
from aurora_orchestration.settings import AgentSettings
from aurora_orchestration.types import Agent, Declined, Nobody

Put = Callable[[str, str], str]


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # no power fails in here, and disks are slow
    for name in ("w", "h", "u"):
        (tmp_path / name).mkdir()
    return Places(tmp_path / "w", tmp_path / "h", tmp_path / "u")


@pytest.fixture
def put(places: Places) -> Put:
    """Writes a registry below the user's folder that has agent `a` with a command; gives its path."""

    def write(name: str, command: str) -> str:
        path = places.user / name
        path.write_text(f'[{{"id": "a", "type": "executable", "command": "{command}"}}]' if command else "[]")
        return str(path)

    return write


def registry(places: Places, now: Callable[[], float] = lambda: 1e9, trusted: bool = True, **settings: Any) -> Registry:
    chosen = AgentSettings(**settings)
    return Registry(places.home, places.workspace, chosen, now, trusted=trusted, environ=os.environ, user=places.user)


def saying(*answers: str) -> Callable[[str], Awaitable[str]]:
    left = list(answers)

    async def user(_: str) -> str:
        return left.pop(0)

    return user


async def refusing(_: str) -> str:
    raise Declined("no")


async def nobody(_: str) -> str:
    raise Nobody("nobody")


async def command_of(registry: Registry) -> str | None:
    return (await registry.refresh()).agents[0].command


# Paths


async def test_of_paths_that_were_named_the_settings_one_holds_then_the_one_named_first(
    places: Places, put: Put
) -> None:
    first, second, last = put("first.json", "one"), put("second.json", "two"), put("last.json", "last")
    await registry(places).current(saying(first))
    put("first.json", "")
    assert await command_of(registry(places)) is None
    await registry(places).current(saying(second))
    put("first.json", "one")
    assert await command_of(registry(places)) == "one", "the paths keep the order in which they were named"
    assert await command_of(registry(places, last_discovered_path=last)) == "last"


async def test_what_the_settings_and_former_answers_name_is_looked_at_before_a_new_answer(
    places: Places, put: Put
) -> None:
    own = registry(places, last_discovered_path=put("last.json", "last"))
    with own._cache.changing() as change:
        change.kept = msgspec.structs.replace(change.kept, paths=(put("kept.json", "kept"),))
    kept, more = own._cache.read(), (put("new.json", "new"),)
    assert [own._discover(kept, more).agents[0].command] == ["last"]
    put("last.json", "")
    assert own._discover(kept, more).agents[0].command == "kept"
    put("kept.json", "")
    assert own._discover(kept, more).agents[0].command == "new"


def test_of_too_many_paths_the_ones_named_first_are_forgotten(places: Places) -> None:
    own, paths = registry(places), tuple(f"/{number}" for number in range(MAX_PATHS + 1))
    with own._cache.changing() as change:
        change.kept = msgspec.structs.replace(change.kept, paths=paths[:-1])
    assert own._keep(Discovered(), {}, paths[-1]).paths == paths[1:]
    assert own._keep(Discovered(), {}, paths[1]).paths == paths[1:], "one that is named again keeps its place"


def test_agents_were_found_last_where_a_user_said_else_where_the_first_one_was_else_where_they_were(
    places: Places,
) -> None:
    own = registry(places)
    found = [
        own._keep(Discovered(first=first), {}, path).last_discovered_path
        for first, path in ((None, None), ("./a", None), ("./a", "/said"), (None, None), ("./b", None))
    ]
    assert found == [None, "./a", "/said", "/said", "./b"]


# Answers


@pytest.mark.parametrize("answer", ["", "  ", "n", "No", "none", "nothing", "a\0b"])
async def test_an_answer_that_names_no_path_says_that_there_are_none(places: Places, answer: str) -> None:
    known = await registry(places).current(saying(answer))
    assert not known.notices and (await registry(places).current(saying())).agents


async def test_who_is_not_there_to_be_asked_is_asked_another_time_and_who_declined_is_not(
    places: Places, put: Put
) -> None:
    assert "no agents were found" in (await registry(places).current(nobody)).notices[-1]
    await registry(places).current(refusing)
    assert not (await registry(places).current(saying(put("a.json", "a")))).notices, "who declined is told no more"


async def test_a_path_without_agents_is_said_and_asked_for_again(places: Places, put: Put) -> None:
    known = await registry(places).current(saying(put("a.json", "")))
    assert any("a.json: no agents were found there" in each for each in known.notices)
    assert (await registry(places).current(saying(put("b.json", "b")))).agents[0].command == "b"


# When they are looked for


@pytest.mark.parametrize(
    ("before", "after", "days", "due"),
    [
        pytest.param({}, {}, 0.0, False, id="what is known is kept"),
        pytest.param({}, {}, 14.9, False, id="for fifteen days"),
        pytest.param({}, {}, 15.0, True, id="and no longer"),
        pytest.param({}, {}, -1.0, True, id="a clock that was set back tells nothing"),
        pytest.param({}, {"trusted": False}, 0.0, True, id="trust that changed"),
        pytest.param({}, {"auto_discover": False}, 0.0, True, id="settings that changed"),
        pytest.param({"refresh_on_startup": True}, {"refresh_on_startup": True}, 0.0, True, id="a start, where asked for"),
    ],
)
async def test_when_agents_are_looked_for_again(
    places: Places, before: dict[str, Any], after: dict[str, Any], days: float, due: bool
) -> None:
    clock = [1e9]
    await registry(places, lambda: clock[0], **before).current()
    clock[0] += days * DAY
    own = registry(places, lambda: clock[0] + 1.0, **after)
    at = (await own.current()).refreshed_at
    assert (at == clock[0] + 1.0) is due
    assert (await own.current()).refreshed_at == at, "once a start"


def test_only_who_works_for_a_workspace_that_is_trusted_is_found_in_it(places: Places) -> None:
    assert registry(places)._barred is None
    assert registry(places, trusted=False)._barred == places.workspace


async def test_the_model_works_after_all_agents(places: Places, put: Put) -> None:
    known = await registry(places, discovery_paths=(put("a.json", "a"),)).current()
    assert [each.id for each in known.agents] == ["a", "llm-executor"]


# What they did


def test_of_many_works_the_older_ones_fade_and_of_few_none(places: Places) -> None:
    own = registry(places)
    own.learn_all([("a", True)] * 3)
    assert own._cache.read().tallies["a"] == Tally(3.0, 3.0, 1e9)
    own.learn_all([("a", True)] * int(2 * MAX_TALLY))
    assert own._cache.read().tallies["a"].all == pytest.approx(MAX_TALLY)


def test_a_bad_name_has_faded_before_the_next_work_counts(places: Places) -> None:
    clock = [1e9]
    own = registry(places, lambda: clock[0])
    own.learn_all([("a", False)] * 8)
    clock[0] += DAY
    own.learn("a", False)
    assert own._cache.read().tallies["a"].all == pytest.approx(8 / 2 + 1)


# Words


def test_what_a_file_says_an_agent_can_comes_before_what_its_server_offers() -> None:
    agent = Agent(id="a", type="mcp", capabilities=("mine",))
    assert _with_offer(agent, ToolOffer("k", ("scan",), "finds")).capabilities[0] == "mine"


def test_an_agent_is_described_by_its_words_first_then_by_its_tools() -> None:
    tools = tuple(f"tool{number}" for number in range(2 * MAX_CAPABILITIES))
    found = capabilities_of("token-reviewer", "reviews tokens", tools)
    assert found[0] not in tools and found[-MAX_CAPABILITIES:] == tools[:MAX_CAPABILITIES]


@pytest.mark.parametrize(
    ("name", "description", "domains"),
    [
        pytest.param("x", "Reviews SQL and Go code", ("go", "sql"), id="languages by name"),
        pytest.param("go-helper", "helps", ("go",), id="also in the agent's own name"),
        pytest.param("x", "Finds vulnerability and auth token mistakes in Python.", ("python", "security"), id="before the area"),
        pytest.param("auth-token", "writes docs", ("security",), id="the name says more of the area than the words"),
        pytest.param("x", "Helps", ("general",), id="else general"),
    ],
)
def test_which_domains_an_agent_has(name: str, description: str, domains: tuple[str, ...]) -> None:
    assert domains_of(name, description) == domains
