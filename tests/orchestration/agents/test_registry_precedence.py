"""Precedence among agents, a rule each: of paths, of what is kept of them, of the words that describe them."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aurora_orchestration.agents.cache import Tally, ToolOffer
from aurora_orchestration.agents.capability_words import MAX_CAPABILITIES, capabilities_of, domains_of
from aurora_orchestration.agents.discovery import Discovered, Places, discover, source_of
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


def test_of_places_the_workspaces_come_before_the_users_and_registries_before_other_tools(places: Places) -> None:
    """An agent of one name stands in all of them; each is taken away once it was found."""
    folders = (
        places.workspace / ".claude/agents",
        places.workspace / "agents",
        places.workspace / "droids",
        places.workspace / "agent",
    )
    others = (places.user / ".claude/agents", places.user / ".config/amp/agents", places.user / ".factory/droids")
    registry_text = '[{"id": "a", "type": "executable", "command": "x"}]'
    servers = '{"mcpServers": {"a": {"command": "x"}}}'
    texts = {
        places.workspace / ".aurora/agents.json": registry_text,
        **{folder / "a.md": "---\ndescription: Helps\n---\nHelp." for folder in folders},
        places.home / "agents.json": registry_text,
        **{folder / "a.md": "---\ndescription: Helps\n---\nHelp." for folder in others},
        places.user / ".config/opencode/agent/a.md": "---\ndescription: Helps\n---\nHelp.",
        places.workspace / ".mcp.json": servers,
        places.home / "mcp.json": servers,
        places.user / ".claude.json": servers,
    }
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert discover(places, AgentSettings(), trusted=True).first == "./.aurora/agents.json"
    for path in texts:
        (agent,) = discover(places, AgentSettings(), trusted=True).agents
        assert agent.origin == str(path)
        path.unlink()


@pytest.mark.parametrize(
    ("path", "ours", "base"),
    [
        pytest.param("~/.aurora/a.json", False, "h", id="the home folder of AURORA"),
        pytest.param("~/a.json", False, "u", id="the user's"),
        pytest.param("a.json", True, "w", id="a bare name is the workspace's"),
        pytest.param("../u/a.json", True, "w", id="also one that leads out of it: it was said there"),
        pytest.param("{tmp}/w/sub/a.json", True, "w", id="and a whole one that lies in it"),
        pytest.param("{tmp}/u/a.json", False, "u", id="not one that lies elsewhere"),
        pytest.param("{tmp}/u", False, "u", id="of a folder itself is where its paths begin"),
    ],
)
def test_whose_a_path_is(places: Places, path: str, ours: bool, base: str) -> None:
    source = source_of(path.format(tmp=places.workspace.parent), places, trusted=False)
    assert (source.ours, source.trusted, source.base.name) == (ours, not ours, base)


def test_of_what_a_workspace_offers_untrusted_five_are_named_and_the_first_of_a_name_is_kept(places: Places) -> None:
    entries = ", ".join(f'{{"id": "{name}", "type": "executable", "command": "x"}}' for name in "abcdef")
    for file in (places.workspace / ".aurora/agents.json", places.workspace / "more.json"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"[{entries}]")
    found = discover(places, AgentSettings(), trusted=False, more=("more.json",))
    assert len(found.ignored) == 6 and {each.origin for each in found.ignored} == {
        str(places.workspace / ".aurora/agents.json")
    }
    assert "'d', 'e' and 1 more, because" in found.notices[0]
    (places.workspace / "more.json").write_text(f"[{entries.rpartition(', {')[0]}]")
    assert "'d', 'e', because" in discover(places, AgentSettings(), trusted=False, more=("more.json",)).notices[1]


# Formats


@pytest.mark.parametrize(
    ("entry", "member", "value"),
    [
        pytest.param({"path": "./p", "command": "c"}, "command", "c", id="a command before a path"),
        pytest.param({"path": "./p"}, "command", "{w}/p", id="of a program its path is its command"),
        pytest.param(
            {"command": "c", "arguments": ["1"], "args": ["2"]}, "arguments", ("1",), id="arguments before args"
        ),
        pytest.param({"command": "c", "arguments": [], "args": ["2"]}, "arguments", (), id="also where they are none"),
        pytest.param({"command": "c", "args": ["2"]}, "arguments", ("2",), id="else args"),
        pytest.param(
            {"command": "c", "environment": {}, "env": {"A": "1"}}, "environment", {}, id="environment before env"
        ),
        pytest.param({"command": "c", "env": {"A": "1"}}, "environment", {"A": "1"}, id="else env"),
        pytest.param({"command": "bin/c"}, "command", "{w}/bin/c", id="a path with a slash is from the file"),
        pytest.param({"command": "c"}, "command", "c", id="a bare name is looked for"),
    ],
)
def test_which_of_two_spellings_of_a_registry_counts(
    places: Places, entry: dict[str, Any], member: str, value: Any
) -> None:
    file = places.workspace / ".aurora/agents.json"
    file.parent.mkdir()
    file.write_bytes(msgspec.json.encode([{"id": "a", "type": "executable", **entry}]))
    (agent,) = discover(places, AgentSettings(), trusted=True).agents
    assert getattr(agent, member) == (value.format(w=places.workspace) if isinstance(value, str) else value)


def test_a_registry_is_read_by_its_own_name_before_a_bare_list(places: Places) -> None:
    file = places.home / "agents.json"
    one = '[{{"id": "{}", "type": "executable", "command": "c"}}]'
    file.write_text(f'{{"agents": {one.format("b")}, "agent_registry": {{"agents": {one.format("a")}}}}}')
    assert [each.id for each in discover(places, AgentSettings(), trusted=True).agents] == ["a"]
    file.write_text(f'{{"agents": {one.format("b")}}}')
    assert [each.id for each in discover(places, AgentSettings(), trusted=True).agents] == ["b"]


def test_a_server_of_this_project_comes_before_that_of_all_and_one_that_is_off_is_no_mistake(places: Places) -> None:
    file = places.user / ".claude.json"
    project = {"mcpServers": {"a": {"command": "mine"}, "off": {"url": "https://x", "disabled": True}}}
    document = {"mcpServers": {"a": {"command": "all"}}, "projects": {str(places.workspace): project}}
    file.write_bytes(msgspec.json.encode(document))
    found = discover(places, AgentSettings(), trusted=True)
    assert [(each.id, each.command) for each in found.agents] == [("a", "mine")] and not found.notices
    (places.workspace / ".mcp.json").write_bytes(msgspec.json.encode(document))
    file.unlink()
    (agent,) = discover(places, AgentSettings(), trusted=True).agents
    assert agent.command == "all", "a workspace's own file has no projects"


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
        pytest.param(
            {"refresh_on_startup": True}, {"refresh_on_startup": True}, 0.0, True, id="a start, where asked for"
        ),
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
        pytest.param(
            "x", "Finds vulnerability and auth token mistakes in Python.", ("python", "security"), id="before the area"
        ),
        pytest.param("auth-token", "writes docs", ("security",), id="the name says more of the area than the words"),
        pytest.param("x", "Helps", ("general",), id="else general"),
    ],
)
def test_which_domains_an_agent_has(name: str, description: str, domains: tuple[str, ...]) -> None:
    assert domains_of(name, description) == domains
