"""Metered model of a run (cost accounting, spending caps): money for every call reserved, capped before it is made,
counted, paid for once, journalled and told.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

import msgspec

from aurora_memory.token_cost import estimated_tokens
from aurora_orchestration import OrchestrationError
from aurora_orchestration.llm.completion import (
    Ask,
    CapReached,
    LlmError,
    ModelRefused,
    ModelReply,
    Rejected,
    Speechless,
    Truncated,
)
from aurora_orchestration.llm.journal import Journal, JournalEntry
from aurora_orchestration.llm.prices import Prices
from aurora_orchestration.llm.providers.provider import Completion, Passing, Provider, Wanted
from aurora_orchestration.llm.structured import has_json
from aurora_orchestration.model_settings import Caps, ModelSettings
from aurora_orchestration.types import ModelCall, Rate, Role, Usage

P = ParamSpec("P")
T = TypeVar("T")

_MARGIN = 1.5
"""How far an estimate of input tokens may be off; what is reserved is meant to be more than what is paid."""
_WRAPPING_TOKENS = 1000
"""Tokens that a provider puts around a question."""
_USUAL_TOKENS = 4096
"""Tokens of an answer where neither the question nor the settings say."""
_PATIENCE = 2
"""Answers without JSON, one after the other, after which a model is asked for none any more."""


class BudgetPort(Protocol):
    """Budget over many runs, as a model needs it (`guardrails.budget`). Called in threads; idempotent by key."""

    def reserve(self, key: str, run: str, usd: float, *, force: bool = False) -> object:
        """Set aside what a call may cost. Raises an `OrchestrationError` when the budget would be passed."""

    def settle(self, key: str, usd: float, *, phase: str = "", model: str = "") -> object:
        """Put what a call did cost in the place of what was set aside for it."""

    def release(self, key: str) -> object:
        """Give back what was set aside for a call that cost nothing."""


class RunSpending:
    """Ledger of one run: spent and set aside, by phase; shared by all models of the run.

    Not for threads: looked at and changed between two awaits, so that calls at once cannot pass a cap together.
    """

    def __init__(self, caps: Caps, journal: Journal | None = None) -> None:
        self._caps = caps
        self._by_phase: defaultdict[str, float] = defaultdict(float)
        self._keys: Counter[str] = Counter()
        self._wordy: Counter[str] = Counter()
        self.calls = 0
        for entry in journal.entries if journal else ():
            self._by_phase[entry.phase] += entry.usd
            self._keys[entry.digest] += 1
            self.calls += 1

    @property
    def usd(self) -> float:
        """All of it, what is set aside included."""
        return sum(self._by_phase.values())

    def set_aside(self, phase: str, usd: float) -> None:
        """Take a call into account. Raises `CapReached` when it could pass a cap."""
        caps = self._caps
        if self.calls >= caps.max_calls:
            raise CapReached(f"{self.calls} calls were made, as many as llm.caps.max_calls allows")
        _check("run", self.usd, usd, caps.run_usd, "llm.caps.run_usd")
        if phase in caps.phase_usd:
            _check(f"phase {phase}", self._by_phase[phase], usd, caps.phase_usd[phase], f"llm.caps.phase_usd.{phase}")
        self._by_phase[phase] += usd
        self.calls += 1

    def correct(self, phase: str, aside: float, usd: float) -> None:
        """What was set aside turned out to be so much."""
        self._by_phase[phase] += usd - aside

    def not_made(self, phase: str, aside: float) -> None:
        """The call was not made after all."""
        self._by_phase[phase] -= aside
        self.calls -= 1

    def heard_json(self, model: str, *, any_json: bool) -> None:
        """Take in whether a model answered with JSON, as it was asked to."""
        self._wordy[model] = 0 if any_json else self._wordy[model] + 1

    def is_wordy(self, model: str) -> bool:
        """Circuit breaker: whether a model answered without JSON so often that it is asked for none any more."""
        return self._wordy[model] >= _PATIENCE

    def key(self, run: str, digest: str) -> str:
        """Idempotency key of the next call of a run with this question: the same one after an interruption."""
        ordinal = self._keys[digest]
        self._keys[digest] += 1
        return f"{run}:{digest[:24]}:{ordinal}"


class MeteredLlm:
    """Metered model: a provider's for one run, in one role."""

    def __init__(
        self,
        provider: Provider,
        settings: ModelSettings,
        role: Role,
        *,
        run: str,
        spending: RunSpending,
        prices: Prices,
        heard: Callable[[ModelCall], None],
        budget: BudgetPort | None = None,
        journal: Journal | None = None,
        force: bool = False,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._provider = provider
        self._settings = settings
        self._role = role
        self._run = run
        self._spending = spending
        self._prices = prices
        self._heard = heard
        self._budget = budget
        self._journal = journal
        self._force = force
        self._now = now

    @property
    def model(self) -> str:
        """The model's name, as its provider spells it."""
        return self._provider.model

    @property
    def rate(self) -> Rate:
        """The prices that its calls are counted at."""
        price = self._prices.price(self.model, self._provider.name) or self._prices.unknown
        return Rate(price.input, price.output)

    async def ask(self, ask: Ask) -> ModelReply:
        """Put one question, unless it could pass a cap or the budget, or was answered before an interruption.

        Raises `CapReached` and `Speechless` before anything is sent; then `ModelRefused`, `Truncated` (with a schema;
        without one the reply says `stop="length"`), `Unavailable`, `Rejected`. A call that broke off or was cancelled
        may have been paid for: it is counted at what its question costs.
        """
        if ask.schema is not None and not ask.prose and self._spending.is_wordy(self.model):
            raise Speechless(
                f"{self.model} answered twice without JSON, which it was asked for: choose a model that can"
                " (--llm-model, or llm.reasoning_llm)"
            )
        wanted = Wanted(
            system=ask.system,
            prompt=ask.prompt,
            schema=ask.schema,
            max_tokens=ask.max_tokens or self._settings.max_tokens or _USUAL_TOKENS,
            temperature=self._settings.temperature if ask.temperature is None else ask.temperature,
        )
        digest = self._digest(wanted)
        earlier = self._journal.replay(digest) if self._journal else None
        if earlier is not None and earlier.reply is not None:
            return await self._replayed(ask, wanted, earlier, earlier.reply)
        asked_tokens = self._tokens(wanted)
        aside = self._prices.at_most(
            self.model, self._provider.name, round(asked_tokens * _MARGIN) + _WRAPPING_TOKENS, wanted.max_tokens
        )
        self._spending.set_aside(ask.phase, aside)
        key = self._spending.key(self._run, digest)
        await self._reserve(ask, key, aside)
        began, clock = self._now(), time.perf_counter()
        try:
            answer = await self._provider.complete(wanted)
        except BaseException as error:
            took = (time.perf_counter() - clock) * 1000
            await self._failed(ask, key, digest, aside, asked_tokens, began, took, error)
            raise
        took = (time.perf_counter() - clock) * 1000
        usage = _believable(answer, wanted, asked_tokens)
        reply = ModelReply(
            text=answer.text,
            model=answer.model,
            provider=self._provider.name,
            usage=usage,
            stop=answer.stop,
            cost_usd=self._prices.cost_of(usage, self.model, self._provider.name),
            took_ms=took,
        )
        usd = self._prices.assumed_cost(usage, self.model, self._provider.name)
        self._spending.correct(ask.phase, aside, usd)
        try:
            await _to_the_end(self._book, JournalEntry(key=key, digest=digest, phase=ask.phase, usd=usd, reply=reply))
        finally:
            self._tell(ask, key, reply, began, took, usd)
        return self._checked(ask, wanted, reply)

    def _checked(self, ask: Ask, wanted: Wanted, reply: ModelReply) -> ModelReply:
        if ask.schema is not None and not ask.prose and reply.stop == "end":
            self._spending.heard_json(self.model, any_json=has_json(reply.text))
        return _checked(ask, wanted, reply)

    def _digest(self, wanted: Wanted) -> str:
        told = [self._provider.name, self.model, self._role, wanted]
        return hashlib.sha256(msgspec.json.encode(told, order="sorted")).hexdigest()

    def _tokens(self, wanted: Wanted) -> int:
        schema = msgspec.json.encode(wanted.schema) if wanted.schema else b""
        return sum(estimated_tokens(text) for text in (wanted.system.encode(), wanted.prompt.encode(), schema))

    async def _reserve(self, ask: Ask, key: str, aside: float) -> None:
        """Reservation (hold) in the budget before a call. Raises CapReached."""
        if self._budget is None:
            return
        try:
            await _to_the_end(self._budget.reserve, key, self._run, aside, force=self._force)
        except asyncio.CancelledError:
            self._spending.not_made(ask.phase, aside)
            await _to_the_end(self._budget.release, key)
            raise
        except OrchestrationError as error:
            self._spending.not_made(ask.phase, aside)
            raise CapReached(str(error)) from error

    def _book(self, entry: JournalEntry) -> None:
        """On disk first, then paid: killed in between, a resumed run finds the reply and settles its key."""
        if self._journal is not None and (entry.reply is not None or entry.usd):
            try:
                self._journal.record(entry)
            except OSError as error:
                raise LlmError(
                    f"cannot write {self._journal.path}: {error.strerror or error}; is the disk full?"
                ) from error
            finally:
                self._settle(entry)
        else:
            self._settle(entry)

    def _settle(self, entry: JournalEntry) -> None:
        """Settlement of the reservation: what the call cost, or its release."""
        if self._budget is None:
            return
        if entry.reply is None and not entry.usd:
            self._budget.release(entry.key)
        else:
            self._budget.settle(entry.key, entry.usd, phase=entry.phase, model=self.model)

    async def _replayed(self, ask: Ask, wanted: Wanted, entry: JournalEntry, reply: ModelReply) -> ModelReply:
        """An answer that was paid for earlier; its key is settled in case that was what the interruption was in."""
        await _to_the_end(self._settle, entry)
        reply = msgspec.structs.replace(reply, replayed=True, took_ms=0.0)
        self._tell(ask, entry.key, reply, self._now(), 0.0, entry.usd)
        return self._checked(ask, wanted, reply)

    async def _failed(
        self,
        ask: Ask,
        key: str,
        digest: str,
        aside: float,
        tokens: int,
        began: float,
        took: float,
        error: BaseException,
    ) -> None:
        """Accounting for a failed call, without an answer: a request that was not taken, by its status, costs nothing.

        Where that cannot be written down, what was set aside stays so, and the error of the call is still the one told.
        """
        refused = isinstance(error, Rejected) or (isinstance(error, Passing) and not error.taken)
        usage = Usage() if refused else Usage(input_tokens=tokens)
        usd = self._prices.assumed_cost(usage, self.model, self._provider.name)
        self._spending.correct(ask.phase, aside, usd)
        try:
            await _to_the_end(self._book, JournalEntry(key=key, digest=digest, phase=ask.phase, usd=usd))
        except (OrchestrationError, OSError) as trouble:
            error.add_note(f"its cost is not written down: {trouble}")
        self._heard(
            ModelCall(
                phase=ask.phase,
                purpose=ask.purpose,
                role=self._role,
                provider=self._provider.name,
                model=self.model,
                usage=usage,
                cost_usd=self._prices.cost_of(usage, self.model, self._provider.name),
                started_at=began,
                took_ms=took,
                error=str(error) if isinstance(error, LlmError) else type(error).__name__,
                key=key,
                counted_usd=usd,
            )
        )

    def _tell(self, ask: Ask, key: str, reply: ModelReply, began: float, took: float, usd: float) -> None:
        """Record of a call: tokens, cost, duration, and why it stopped."""
        stopped = {"end": None, "length": "the answer did not fit into max_tokens", "refusal": "the model declined"}
        self._heard(
            ModelCall(
                phase=ask.phase,
                purpose=ask.purpose,
                role=self._role,
                provider=reply.provider,
                model=reply.model,
                usage=reply.usage,
                cost_usd=reply.cost_usd,
                started_at=began,
                took_ms=took,
                replayed=reply.replayed,
                error=stopped[reply.stop],
                key=key,
                counted_usd=usd,
            )
        )


def _check(what: str, spent: float, usd: float, cap: float, setting: str) -> None:
    """Spending cap: raises CapReached where the next call could pass it."""
    if spent + usd > cap:
        left = max(0.0, cap - spent)
        raise CapReached(
            f"the next call could cost ${usd:.4f}; this {what} has ${left:.4f} left of {setting} ${cap:.2f}"
        )


def _checked(ask: Ask, wanted: Wanted, reply: ModelReply) -> ModelReply:
    """Reply that can be used. Raises ModelRefused (refusal) and Truncated (token limit)."""
    if reply.stop == "refusal":
        raise ModelRefused(
            f"{ask.purpose}: {reply.model} declined to answer: {' '.join(reply.text.split())[:200] or '-'}"
        )
    if reply.stop == "length" and ask.schema is not None:
        raise Truncated(
            f"{ask.purpose}: the answer of {reply.model} did not fit into {wanted.max_tokens} tokens; raise max_tokens",
            reply.text,
            wanted.max_tokens,
        )
    return reply


def _believable(answer: Completion, wanted: Wanted, asked_tokens: int) -> Usage:
    """Plausible token counts of what a provider says it used; estimated where it does not say.

    A token stands for at least a byte, and no answer is longer than was allowed (what was thought is part of it).
    """
    said = answer.usage
    if not said.total:
        return Usage(input_tokens=asked_tokens, output_tokens=estimated_tokens(answer.text.encode()))
    schema = msgspec.json.encode(wanted.schema) if wanted.schema else b""
    most = len(wanted.system.encode()) + len(wanted.prompt.encode()) + len(schema) + _WRAPPING_TOKENS
    read = min(said.cache_read_tokens, most)
    written = min(said.cache_write_tokens, most - read)
    return Usage(
        input_tokens=min(said.input_tokens, most - read - written),
        output_tokens=min(said.output_tokens, max(wanted.max_tokens, 1)),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


async def _to_the_end(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a call in a thread and wait for its end, also when cancelled meanwhile: money is not counted by halves."""
    running = asyncio.ensure_future(asyncio.to_thread(call, *args, **kwargs))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise
