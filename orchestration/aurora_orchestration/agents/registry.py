"""Registry of a workspace's agents (AURORA §7.2, App. F): found, cached, found again when the cache has expired, judged
by their success rates.

They are looked for again every 15 days, when a file they come from changed, when the settings or the trust did, and
when told to. MCP servers are asked what they offer then, and only then; so nothing is started by a mere look.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from aurora_orchestration import OrchestrationError
from aurora_orchestration.agents.cache import Cache, Kept, Tally, ToolOffer
from aurora_orchestration.agents.capability_words import capabilities_of, domains_of
from aurora_orchestration.agents.discovery import Discovered, Places, discover
from aurora_orchestration.agents.executors.builtin import GENERIC, LLM_EXECUTOR
from aurora_orchestration.agents.executors.plugin_executors import plugged
from aurora_orchestration.agents.mcp_tools import ask_servers
from aurora_orchestration.agents.sources import look
from aurora_orchestration.settings import AgentSettings
from aurora_orchestration.types import Agent, AskUser, Declined, Nobody

DAY = 86_400.0
MAX_TALLY = 200.0
"""Works beyond which older ones fade: an agent can change."""

PRIOR_GOOD, PRIOR_ALL = 1.0, 2.0
"""An agent nobody has tried is as likely good as not (Laplace)."""

CLAIM_WEIGHT = 4.0
"""What an agent's own `success_rate` in its registry is worth, in works."""

POOR = 0.3
"""A success rate below which an agent gives way to others; one failed work is no rate yet."""

MAX_PATHS = 20


class NoAgents(OrchestrationError):
    """There are none, and `agents.fallback_mode` is `fail`."""


class Known(Struct, frozen=True, kw_only=True):
    """Known agents, those that work can be given to, llm-executor last; and what is to be said of how they
    were found.
    """

    agents: tuple[Agent, ...]
    ignored: tuple[Agent, ...] = ()
    notices: tuple[str, ...] = ()
    refreshed_at: float = 0.0
    last_discovered_path: str | None = None


class Registry:
    """Registry of the agents of one workspace. Several processes may hold one; what they learn adds up."""

    def __init__(
        self,
        home: Path,
        workspace: Path,
        settings: AgentSettings,
        now: Callable[[], float],
        *,
        trusted: bool,
        environ: Mapping[str, str],
        user: Path | None = None,
    ) -> None:
        self._places = Places(workspace, home, user or Path.home())
        self._settings = settings
        self._now = now
        self._trusted = trusted
        self._environ = environ
        self._cache = Cache(home, workspace)
        self._asked = hashlib.sha256(
            msgspec.json.encode((settings, str(self._places.user), *sorted(plugged())))
        ).hexdigest()[:16]
        self._fresh: Discovered | None = None
        self._started = False
        self._busy = asyncio.Lock()

    async def current(self, ask_user: AskUser | None = None) -> Known:
        """The agents as they are now, looked for again where that is due. Raises `NoAgents`, OrchestrationError.

        With none found, a user who is there is asked for a path, if so configured, until they decline (App. F).
        """
        async with self._busy:
            kept = await asyncio.to_thread(self._cache.read)
            known = await self._refreshed(kept) if await asyncio.to_thread(self._is_due, kept) else kept
            self._started = True
            missing = not known.found.agents and self._settings.prompt_for_path_if_missing
            if missing and ask_user is not None and not await asyncio.to_thread(self._cache.declined.exists):
                known = await self._prompted(known, ask_user)
            return await asyncio.to_thread(self._known, known)

    async def refresh(self) -> Known:
        """Look for agents now, and ask MCP servers what they offer."""
        async with self._busy:
            kept = await asyncio.to_thread(self._cache.read)
            kept = await self._refreshed(msgspec.structs.replace(kept, offers={}))
            self._started = True
            return await asyncio.to_thread(self._known, kept)

    def learn(self, agent_id: str, ok: bool) -> float:
        """Remember how an agent did; returns its success rate from now on. Blocks. Raises OrchestrationError."""
        return self.learn_all([(agent_id, ok)])[agent_id]

    def learn_all(self, outcomes: Sequence[tuple[str, bool]]) -> dict[str, float]:
        """`learn` for what several agents did, in order, written down once; the success rates of all of them."""
        if not outcomes:
            return {}
        with self._cache.changing() as change:
            tallies = dict(change.kept.tallies)
            now = self._now()
            for agent_id, ok in outcomes:
                tally = rested(tallies.get(agent_id, Tally()), now)
                fade = min(1.0, MAX_TALLY / (tally.all + 1.0))
                tallies[agent_id] = Tally(fade * (tally.good + ok), fade * (tally.all + 1.0), now)
            change.kept = msgspec.structs.replace(change.kept, tallies=tallies)
        return {agent_id: success_rate(tallies[agent_id]) for agent_id, _ in outcomes}

    def _is_due(self, kept: Kept) -> bool:
        """Cache expiry (TTL): whether agents must be looked for again, by age, trust or changed files."""
        if kept.refreshed_at == 0 or kept.trusted != self._trusted or kept.asked != self._asked:
            return True
        if self._settings.refresh_on_startup and not self._started:
            return True
        if not 0 <= self._now() - kept.refreshed_at < self._settings.refresh_interval_days * DAY:
            return True
        return self._settings.check_file_modified and any(look(Path(each.path)) != each for each in kept.found.seen)

    async def _refreshed(self, kept: Kept) -> Kept:
        """Refresh of the cache: discovery, and offers of MCP servers."""
        found = await asyncio.to_thread(self._discover, kept)
        old = kept.offers if 0 <= self._now() - kept.refreshed_at < self._settings.refresh_interval_days * DAY else {}
        offers = await ask_servers(found.agents, old, self._places.home, self._environ, self._barred)
        return await asyncio.to_thread(self._keep, found, offers)

    async def _prompted(self, kept: Kept, ask_user: AskUser) -> Kept:
        """Agents found where the user says, asked once (onboarding)."""
        try:
            answer = await ask_user("no agents were found; where is your agent registry? (a path, or nothing)")
        except Declined:
            answer = ""
        except Nobody:
            return kept
        path = answer.strip()[:4_000]
        if not path or "\0" in path or path.lower() in ("n", "no", "none", "nothing"):
            await asyncio.to_thread(self._cache.decline)
            return kept
        found = await asyncio.to_thread(self._discover, kept, (path,))
        if not found.agents:
            notice = f"{path}: no agents were found there"
            self._fresh = msgspec.structs.replace(found, notices=(*found.notices, notice))
            return msgspec.structs.replace(kept, found=self._fresh)
        offers = await ask_servers(found.agents, kept.offers, self._places.home, self._environ, self._barred)
        return await asyncio.to_thread(self._keep, found, offers, path)

    @property
    def _barred(self) -> Path | None:
        return None if self._trusted else self._places.workspace

    def _discover(self, kept: Kept, more: tuple[str, ...] = ()) -> Discovered:
        last = (self._settings.last_discovered_path,) if self._settings.last_discovered_path else ()
        self._fresh = discover(self._places, self._settings, trusted=self._trusted, more=(*last, *kept.paths, *more))
        return self._fresh

    def _keep(self, found: Discovered, offers: dict[str, ToolOffer], path: str | None = None) -> Kept:
        """What was found, written to the cache under its lock."""
        with self._cache.changing() as change:
            paths = (*change.kept.paths, path) if path and path not in change.kept.paths else change.kept.paths
            change.kept = msgspec.structs.replace(
                change.kept,
                refreshed_at=self._now(),
                trusted=self._trusted,
                asked=self._asked,
                found=found,
                offers=offers,
                paths=paths[-MAX_PATHS:],
                last_discovered_path=path or found.first or change.kept.last_discovered_path,
            )
        return change.kept

    def _known(self, kept: Kept) -> Known:
        """What is kept, as agents: with what their servers offer, and how they have worked. Blocks."""
        found = kept.found
        if not kept.whole:
            found = self._fresh or self._discover(kept)
        elif self._fresh is not None and self._fresh.seen != kept.found.seen:
            self._fresh = None
        refreshed = datetime.fromtimestamp(kept.refreshed_at, UTC).isoformat(timespec="seconds")
        now = self._now()
        tallies = {agent_id: rested(tally, now) for agent_id, tally in kept.tallies.items()}
        agents = [
            _with_rate(_with_offer(agent, kept.offers.get(agent.id)), tallies.get(agent.id), refreshed)
            for agent in found.agents
        ]
        notices = list(found.notices)
        notices += [offer.trouble for agent in agents if (offer := kept.offers.get(agent.id)) and offer.trouble]
        if not agents:
            agents, said = self._fallback()
            if not self._cache.declined.exists():  # who wants none need not be told each time
                notices.append(said)
        if LLM_EXECUTOR not in {agent.id for agent in agents}:
            agents.append(_with_rate(GENERIC, tallies.get(LLM_EXECUTOR), refreshed))
        return Known(
            agents=tuple(agents),
            ignored=found.ignored,
            notices=tuple(notices),
            refreshed_at=kept.refreshed_at,
            last_discovered_path=kept.last_discovered_path,
        )

    def _fallback(self) -> tuple[list[Agent], str]:
        """Who works where no agent was found (App. F), and the sentence on it. Raises `NoAgents`."""
        mode = self._settings.fallback_mode
        if mode == "fail":
            raise NoAgents(
                "no agents were found, and agents.fallback_mode is fail; add an agents.json (aurora agents list)"
            )
        default = self._settings.default_agent
        if mode == "llm_only" or default == type(default)() or default.type not in ("builtin", "built_in"):
            return [], f"no agents were found; {LLM_EXECUTOR} works on every subgoal"
        agent = Agent(
            id=default.id,
            type="builtin",
            capabilities=default.capabilities,
            domains=default.domains,
            origin="agents.default_agent",
        )
        return [agent], f"no agents were found; the default agent {default.id} works on every subgoal"


def success_rate(tally: Tally, claimed: float | None = None) -> float:
    """How likely an agent does well next: what it did, over a prior (Laplace smoothing); its registry's own claim
    counts a little."""
    good, every = PRIOR_GOOD, PRIOR_ALL
    if claimed is not None:
        good, every = good + claimed * CLAIM_WEIGHT, every + CLAIM_WEIGHT
    return (tally.good + good) / (tally.all + every)


def rested(tally: Tally, now: float) -> Tally:
    """A tally as it counts now (exponential decay): works of an agent that gives way have a half-life of a day without
    work.

    Otherwise it would never be tried again, and nobody would see that it was mended.
    """
    if success_rate(tally) >= POOR:
        return tally
    fade = 0.5 ** (max(0.0, now - tally.last) / DAY)
    return msgspec.structs.replace(tally, good=fade * tally.good, all=fade * tally.all)


def _with_rate(agent: Agent, tally: Tally | None, refreshed: str) -> Agent:
    """Agent with its success rate so far."""
    claimed = agent.success_rate
    rate = success_rate(tally or Tally(), claimed) if tally is not None or claimed is not None else None
    return msgspec.structs.replace(agent, success_rate=rate, last_refresh=refreshed)


def _with_offer(agent: Agent, offer: ToolOffer | None) -> Agent:
    """Agent with capabilities learned from its server's tools."""
    if offer is None or not offer.tools:
        return agent
    described = f"{agent.description} {offer.description}".strip()
    return msgspec.structs.replace(
        agent,
        capabilities=tuple(dict.fromkeys((*agent.capabilities, *capabilities_of(agent.id, described, offer.tools)))),
        domains=agent.domains if agent.domains not in ((), ("general",)) else domains_of(agent.id, described),
        description=agent.description or offer.description[:1_000],
    )
