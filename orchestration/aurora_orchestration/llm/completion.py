"""Completion request and reply, and the errors (exceptions) of a call: what is asked of a language model (LLM) and what
comes back, whoever provides it.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

from msgspec import Struct

from aurora_orchestration import OrchestrationError
from aurora_orchestration.types import Rate, Role, Usage
from aurora_protocol import BLOCKED, NO


class LlmError(OrchestrationError):
    """A model cannot be asked, or its answer cannot be used."""

    exit_code = NO


class NotConfigured(LlmError):
    """No model is configured, or its key is missing."""


class CapReached(LlmError):
    """The call could cost more than the run or its phase may still spend; it was not made."""

    exit_code = BLOCKED


class ModelRefused(LlmError):
    """The model declined to answer."""


class Truncated(LlmError):
    """The answer did not fit into `max_tokens`; `so_far` is what there is of it."""

    def __init__(self, message: str, so_far: str = "", max_tokens: int = 0) -> None:
        super().__init__(message)
        self.so_far = so_far
        self.max_tokens = max_tokens


class Unavailable(LlmError):
    """The provider could not be reached, or was overloaded until patience ended."""


class Rejected(LlmError):
    """The provider did not take the request: wrong key, unknown model, bad request."""


class BadReply(LlmError):
    """The answer is not what was asked for (ruling 13), also after one repair."""


class Speechless(BadReply):
    """The model answered twice in a row without JSON: it is asked for none again in this run."""


class Unjudged(BadReply):
    """A judge gave no verdict that can be used, also after one repair: what it judges is not made anew for that."""


class Ask(Struct, frozen=True, kw_only=True):
    """Completion request: one question to a model.

    `system` is the stable part: the same for every call of its `purpose`, so that providers can cache it. `prompt` is
    this call's part. With a `schema` (JSON Schema, an object) the answer is JSON under it. `phase` is one of
    `settings.PHASES` or `assess`; `purpose` names the call in logs and traces: "decompose", "verify decomposition".
    None leaves `max_tokens` and `temperature` to the model's settings. `prose`: words without JSON are an answer too.
    """

    phase: str
    purpose: str
    system: str
    prompt: str
    schema: dict[str, Any] | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    prose: bool = False


class ModelReply(Struct, frozen=True, kw_only=True):
    """Reply of a model. `cost_usd` is None where the price is not known; `replayed` replies were paid earlier."""

    text: str
    model: str
    provider: str
    usage: Usage = Usage()
    stop: Literal["end", "length", "refusal"] = "end"
    cost_usd: float | None = None
    took_ms: float = 0.0
    replayed: bool = False


class Llm(Protocol):
    """Language model (LLM) that can be asked. Costs are metered, capped and journalled behind this."""

    @property
    def model(self) -> str:
        """The model's name, as its provider spells it."""

    async def ask(self, ask: Ask) -> ModelReply:
        """Put one question. Raises an `LlmError`; when cancelled, the request is dropped."""


class Models(Struct, frozen=True, kw_only=True):
    """Models of one run: for thinking and for doing. None where there is none: `why` says it in a line.

    `notices` are for the user: a model whose price is not known, a price file that cannot be read. `rates` are what
    they are counted at, by role.
    """

    reasoning: Llm | None = None
    solving: Llm | None = None
    why: str = ""
    notices: tuple[str, ...] = ()
    rates: dict[Role, Rate] = {}
