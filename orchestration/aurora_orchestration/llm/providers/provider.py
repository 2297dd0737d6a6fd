"""Provider (LLM backend interface): what a provider is given and gives, and how it says that it could not."""

from __future__ import annotations

import json
from typing import Any, Literal, Protocol

from msgspec import Struct

from aurora_orchestration.llm.completion import Rejected, Unavailable
from aurora_orchestration.types import Usage

STREAM_FROM = 2048
"""Answers that may get longer than so many tokens are streamed: silence is noticed, length is not taken for it."""
_CHARACTERS = 64
"""Characters of one token at the most, for a stream that knows no end: a token of code is some blanks, or a word."""
_SLOWEST = 20.0
"""Tokens per second below which a stream is given up."""


class Wanted(Struct, frozen=True, kw_only=True):
    """Request as a provider is given it: everything decided. `schema` is a shape of `shapes`, or None for text."""

    system: str
    prompt: str
    schema: dict[str, Any] | None
    max_tokens: int
    temperature: float | None

    @property
    def streamed(self) -> bool:
        """Whether the answer is long enough to be streamed."""
        return self.max_tokens > STREAM_FROM

    def limit(self, timeout: float) -> float:
        """Seconds an attempt may take in all, when `timeout` is what it may be silent for."""
        return timeout + (self.max_tokens / _SLOWEST if self.streamed else 0.0)

    def heard(self, characters: int, who: str) -> None:
        """Raise `Unavailable` where a stream has said more than any answer of so many tokens has."""
        if characters > self.max_tokens * _CHARACTERS:
            raise Unavailable(
                f"{who} does not come to an end: {characters} characters, asked for {self.max_tokens} tokens"
            )

    def system_with_shape(self) -> str:
        """The system text with the shape in words, for where a provider takes it in no other way."""
        shape = json.dumps(self.schema, separators=(",", ":"))
        return f"{self.system}\n\nAnswer with one JSON object and nothing else. Its JSON Schema: {shape}"


class Completion(Struct, frozen=True, kw_only=True):
    """Answer of a provider, as it said it: its counts are not to be trusted yet."""

    text: str
    model: str
    usage: Usage
    stop: Literal["end", "length", "refusal"] = "end"


class Provider(Protocol):
    """Provider port: one model of one provider."""

    @property
    def name(self) -> str:
        """The provider, as configured."""

    @property
    def model(self) -> str:
        """The model, as the provider spells it."""

    async def complete(self, wanted: Wanted) -> Completion:
        """Ask it. Raises an `LlmError`; when cancelled, the request is dropped."""


class Passing(Unavailable):
    """Failure that may be over soon; `wait` is how many seconds the provider asks to stay away for.

    `taken` says that the request may have been worked on, and so may be charged for: one that was answered with a
    status of failure was not.
    """

    def __init__(self, message: str, wait: float | None = None, *, taken: bool = True) -> None:
        super().__init__(message)
        self.wait = wait
        self.taken = taken


class BadRequest(Rejected):
    """A request that was not taken, with the status and the provider's words."""

    def __init__(self, message: str, status: int, detail: str) -> None:
        super().__init__(message)
        self.status = status
        self.detail = detail


def count(value: object) -> int:
    """A count of tokens out of an answer; 0 for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
