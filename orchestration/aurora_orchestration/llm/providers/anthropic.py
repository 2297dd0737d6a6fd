"""Anthropic's Messages API (Claude), through its own SDK, with fallback where a model lacks a feature (AURORA App. C;
ruling 11).
"""

from __future__ import annotations

import asyncio
import json
import warnings
from typing import TYPE_CHECKING, Any, Literal

from aurora_orchestration.llm.completion import Unavailable
from aurora_orchestration.llm.providers.http_client import open_client, whole_answer
from aurora_orchestration.llm.providers.provider import BadRequest, Completion, Passing, Wanted, count
from aurora_orchestration.llm.providers.retry import retried
from aurora_orchestration.llm.providers.sdk_errors import as_llm_error, failures
from aurora_orchestration.llm.shapes import is_closed
from aurora_orchestration.types import Usage

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import Message

_WAYS = ("output_config", "tool", "plain")
"""How JSON is asked for, the best way first: models know them since late 2025, since 2024, and always."""
_OF_WAYS = ("output_config", "output_format", "output format", "structured", "schema", "tool", "strict")
_TOOL = "answer"
"""The only tool that is ever offered: what it is called with is the answer."""
_STOPS: dict[str | None, Literal["end", "length", "refusal"]] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


class AnthropicProvider:
    """Provider of one model of Anthropic's. What a model turns out not to know is not tried on it again."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        key: str,
        headers: dict[str, str],
        timeout: float,
        retries: int,
        retry_seconds: float,
        name: str = "anthropic",
    ) -> None:
        self.name = name
        self.model = model
        self._base_url = base_url.rstrip("/").removesuffix("/v1")  # the SDK adds it
        self._key = key
        self._headers = headers
        self._timeout = timeout
        self._retries = retries
        self._retry_seconds = retry_seconds
        self._client: AsyncAnthropic | None = None
        self._unknown: set[str] = set()
        self._takes_temperature = True

    async def complete(self, wanted: Wanted) -> Completion:
        """Ask it, in a simpler way where it does not know the one that was tried."""
        if self._client is None:
            self._client = await asyncio.to_thread(self._open)
        client = self._client
        while True:
            way = self._way(wanted)
            warm = self._takes_temperature and wanted.temperature is not None
            try:
                return await retried(
                    lambda way=way: self._attempt(client, wanted, way),  # type: ignore[misc]
                    who=self.name,
                    limit=wanted.limit(self._timeout),
                    retries=self._retries,
                    retry_seconds=self._retry_seconds,
                )
            except BadRequest as error:
                words = error.detail.casefold()
                if error.status not in (400, 422):
                    raise
                if warm and "temperature" in words:
                    self._takes_temperature = False
                elif wanted.schema is not None and way != "plain" and any(word in words for word in _OF_WAYS):
                    self._unknown.add(way)
                else:
                    raise

    def _way(self, wanted: Wanted) -> str:
        """Structured output mode, the best way that is left; `output_config` takes closed shapes only."""
        ways = _WAYS if is_closed(wanted.schema) else _WAYS[1:]
        return next(way for way in ways if way not in self._unknown)

    def _open(self) -> AsyncAnthropic:
        """SDK client, with timeout and without retries of its own."""
        from anthropic import AsyncAnthropic

        # which model is asked is the user's choice; on a daemon's stderr the SDK's advice reaches nobody
        warnings.filterwarnings("ignore", r"The model '.*' is deprecated", DeprecationWarning)
        return AsyncAnthropic(
            api_key=self._key,
            base_url=self._base_url,
            default_headers=self._headers,
            timeout=self._timeout,
            max_retries=0,  # `retried` bounds their time
            http_client=open_client(self._base_url, self._timeout),
        )

    async def _attempt(self, client: AsyncAnthropic, wanted: Wanted, way: str) -> Completion:
        """One request, streamed where the answer may be long. Raises an LlmError."""
        import anthropic

        asked = self._request(wanted, way)
        try:
            if wanted.streamed:
                async with client.messages.stream(**asked) as stream:
                    said = 0
                    async for event in stream:
                        if event.type == "content_block_delta":
                            said += len(getattr(event.delta, "text", "") or getattr(event.delta, "partial_json", ""))
                            wanted.heard(said, self.name)
                    whole = whole_answer(stream.response)
                    message = self._unstreamed(whole) if whole else await stream.get_final_message()
                if message.stop_reason is None:
                    raise Passing(f"{self.name} broke off in the middle of an answer; try again")
            else:
                message = await client.messages.create(**asked)
            return self._answer(message, by_tool="tools" in asked)
        except failures(anthropic) as error:
            raise as_llm_error(error, anthropic, who=self.name, model=self.model, key=self._key) from error

    def _request(self, wanted: Wanted, way: str) -> dict[str, Any]:
        """Request body: system prompt (prompt caching), messages, structured output or a forced tool."""
        system = wanted.system
        more: dict[str, Any] = {}
        if wanted.schema is not None:
            if way == "output_config":
                more["output_config"] = {"format": {"type": "json_schema", "schema": wanted.schema}}
            elif way == "tool":
                more["tools"] = [{"name": _TOOL, "description": "Gives the answer.", "input_schema": wanted.schema}]
                more["tool_choice"] = {"type": "tool", "name": _TOOL}
            else:
                system = wanted.system_with_shape()
        if wanted.temperature is not None and self._takes_temperature:
            more["extra_body"] = {"temperature": min(wanted.temperature, 1.0)}
        return {
            "model": self.model,
            "max_tokens": wanted.max_tokens,
            "system": [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": wanted.prompt}],
            **more,
        }

    def _unstreamed(self, whole: bytes) -> Message:
        """The message of a server that does not know `stream` and said it all at once; it is paid for already."""
        from anthropic.types import Message

        said = json.loads(whole)
        error = said.get("error") if isinstance(said, dict) and said.get("type") == "error" else None
        if isinstance(error, dict):
            what = " ".join(f"{error.get('type') or 'error'}: {error.get('message') or '-'}".split())
            raise Unavailable(f"{self.name} gave an error for an answer ({what[:300]})")
        return Message.model_validate_json(whole)

    def _answer(self, message: Message, *, by_tool: bool) -> Completion:
        """What was said; the input of a tool that nobody offered is no answer."""
        texts = [str(block.text) for block in message.content if block.type == "text"]
        used_tools = [block for block in message.content if block.type == "tool_use"] if by_tool else []
        given = [block.input for block in used_tools if block.name == _TOOL]
        used = message.usage
        return Completion(
            text=json.dumps(given[0], ensure_ascii=False) if given else "".join(texts),
            model=str(message.model or self.model),
            usage=Usage(
                input_tokens=count(used.input_tokens),
                output_tokens=count(used.output_tokens),
                cache_read_tokens=count(used.cache_read_input_tokens),
                cache_write_tokens=count(used.cache_creation_input_tokens),
            ),
            stop=_STOPS.get(message.stop_reason, "end"),
        )
