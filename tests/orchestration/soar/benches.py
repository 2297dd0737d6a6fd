"""A workspace to ask about: real files, a real memory, budget, deliverables and agents; only models are faked."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aurora_deliverables.deliverables import Deliverables
from aurora_memory.documents import CitedSpan
from aurora_memory.learning import Feedback, FinishedRun, Learned
from aurora_memory.recall.patterns import recall_reasoning, weigh_reasoning
from aurora_memory.recall.question import parse_question
from aurora_memory.recall.recall import recall
from aurora_memory.store import Store, learned_reader
from aurora_orchestration.agents.registry import Registry
from aurora_orchestration.guardrails.budget import Budget
from aurora_orchestration.model_settings import LlmSettings
from aurora_orchestration.run_record import RunRecord, RunRequest
from aurora_orchestration.settings import BudgetSettings, SoarSettings
from aurora_orchestration.soar.orchestrator import orchestrate
from aurora_orchestration.soar.services import Services
from aurora_orchestration.soar.sessions import Sessions
from aurora_orchestration.soar.stages import Stage
from aurora_orchestration.types import AskUser, ContextChunk, LogSection
from tests.memory.chunks import chunk, file
from tests.orchestration.nobody import ask_nobody

FILES = {
    "src/template.py": "def expand(template, values):\n    return fill(parse(template), values)\n\n\n# RFC 6570\n",
    "src/action.py": "def request(args):\n    url = expand(TEMPLATE, args)\n    return get(url)\n\n\n",
    "src/auth.py": "def login(user, password):\n    check(password)\n    return token(user)\n\n\n",
}
NAMES = {"src/template.py": "expand", "src/action.py": "request", "src/auth.py": "login"}


class StoreMemory:
    """Memory as the server gives it to the orchestrator, straight on a store. `learned` are the runs it was told of."""

    def __init__(self, root: Path, store: Store) -> None:
        self.root = root
        self.store = store
        self.learned: list[FinishedRun] = []
        self.judged: list[Feedback] = []
        self.indexed: list[str] = []

    async def recall(
        self, query: str, *, budget: int, limit: int, types: Sequence[str] | None = None
    ) -> Sequence[ContextChunk]:
        reader, now = self.store.read, time.time()
        wanted = None if types is None else frozenset(types)
        hits: list[Any] = []
        if query.startswith("reas:"):
            row = await reader(learned_reader.reasoning_named, query)
            hits = await reader(weigh_reasoning, [row], now, parse_question(query).terms) if row is not None else []
        else:
            if wanted is None or wanted & {"code", "know"}:
                hits += await reader(recall, parse_question(query), limit, now, types=wanted)
            if wanted is None or "reas" in wanted:
                hits += await reader(recall_reasoning, parse_question(query), limit, now)
        return [self._chunk(hit) for hit in hits][:limit]

    async def logs(self, query: str, *, budget: int) -> Sequence[LogSection]:
        return ()

    async def learn(self, run: FinishedRun) -> Learned:
        self.learned.append(run)
        return await self.store.learn(run)

    async def judge(self, judgement: Feedback) -> bool:
        self.judged.append(judgement)
        return await self.store.judge(judgement)

    async def difficult(self, query: str) -> bool:
        return await self.store.read(learned_reader.difficult, query, time.time())

    async def cites(self, rows: Sequence[int]) -> Mapping[int, Sequence[CitedSpan]]:
        documents = await self.store.read(learned_reader.reasoning, rows)
        return {row: document.content.cites for row, document in documents.items()}

    async def index_log(self, file: str, text: str, query_id: str, topic: str) -> None:
        self.indexed.append(file)
        await self.store.index_log(file, text, query_id, topic)

    async def forget_logs(self, files: Sequence[str]) -> None:
        await self.store.forget_logs(files)

    def _chunk(self, hit: Any) -> ContextChunk:
        seen = hit.chunk
        reasoning = not seen.path
        text = "" if reasoning else (self.root / seen.path).read_text()
        lines = text.splitlines()[seen.line_start - 1 : seen.line_end]
        return ContextChunk(
            row=seen.id,
            id=f"reas:{seen.name}" if reasoning else f"code:{seen.path}:{seen.name}:{seen.line_start}-{seen.line_end}",
            type="reas" if reasoning else "code",
            name=seen.name,
            file=seen.path,
            line_start=seen.line_start,
            line_end=seen.line_end,
            score=round(hit.score, 3),
            tokens=50,
            content=seen.docstring if reasoning else "\n".join(lines),
        )


class Clock:
    """A clock that goes on by a millisecond at each look, from a fixed moment: runs are the same to the byte."""

    def __init__(self, at: float = 1_765_636_335.0) -> None:
        self.at = at

    def __call__(self) -> float:
        self.at = round(self.at + 0.001, 3)
        return self.at


class Bench:
    """A workspace below `place`, and questions to it. `stages` are all events that were told."""

    def __init__(self, place: Path, store: Store, settings: SoarSettings, environ: dict[str, str], **more: Any) -> None:
        self.root, self.home = place / "workspace", place / "home"
        self.store = store
        self.settings = settings
        self.environ = environ
        self.now: Callable[[], float] = more.get("now", time.time)
        self.memory = StoreMemory(self.root, store)
        self.deliverables = Deliverables(store, self.now)
        self.budget = Budget(self.home / "budget_tracker.json", settings.cost_budgets, self.now)
        self.registry = Registry(
            self.home, self.root, settings.agents, self.now, trusted=True, environ=environ, user=self.home
        )
        self.sessions = Sessions()
        self.stages: list[Stage] = []
        self.services = Services(
            workspace=self.root,
            home=self.home,
            memory=self.memory,
            registry=lambda: self.registry,
            budget=self.budget,
            tracking=self.deliverables,
            sessions=self.sessions,
            settings=lambda _: self.settings,
            trusted=True,
            environ=environ,
            now=self.now,
            random=random.Random(7).random if "now" in more else random.random,
        )

    async def ask(self, query: str, *, ask_user: AskUser = ask_nobody, **request: Any) -> RunRecord:
        return await orchestrate(
            self.services, RunRequest(query=query, **request), tell=self.stages.append, ask_user=ask_user
        )

    def log_of(self, run: RunRecord) -> str:
        assert run.log is not None
        return Path(run.log).read_text()


@asynccontextmanager
async def bench(
    place: Path, llm: LlmSettings | None = None, environ: dict[str, str] | None = None, **more: Any
) -> AsyncIterator[Bench]:
    """A bench with three files in memory. `more`: `now`, and fields of SoarSettings."""
    root = place / "workspace"
    for path, text in FILES.items():
        await asyncio.to_thread(_write, root / path, text)
    (place / "home").mkdir(exist_ok=True)
    now = {"now": more.pop("now")} if "now" in more else {}
    memory = place / "memory.db"
    if not memory.exists():  # it is what a killed process leaves, in some tests
        await _remember(memory)
    store = await Store.open(memory)
    settings = SoarSettings(llm=llm or LlmSettings(), **{"cost_budgets": BudgetSettings(), **more})
    try:
        yield Bench(place, store, settings, environ or {}, **now)
    finally:
        await store.close()


_remembered: list[bytes] = []
"""The memory file that a bench begins with, made once."""


async def _remember(place: Path) -> None:
    if _remembered:
        await asyncio.to_thread(_write, place, _remembered[0])
        return
    store = await Store.open(place)
    await store.write([file(path, chunk(path, NAMES[path], text)) for path, text in FILES.items()])
    await store.close()
    _remembered.append(await asyncio.to_thread(place.read_bytes))


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
