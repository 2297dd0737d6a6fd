"""OpenAI's chat completions API (GPT), and whoever speaks it (Ollama, vLLM, llama.cpp, …), with fallback where a server
lacks a feature (ruling 11).
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, Literal

from aurora_orchestration.llm.completion import Unavailable
from aurora_orchestration.llm.providers.http_client import open_client, whole_answer
from aurora_orchestration.llm.providers.provider import BadRequest, Completion, Passing, Wanted, count
from aurora_orchestration.llm.providers.retry import retried
from aurora_orchestration.llm.providers.sdk_errors import as_llm_error, failures
from aurora_orchestration.llm.shapes import is_closed
from aurora_orchestration.types import Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletion

_WAYS = ("json_schema", "json_object", "plain")
"""How JSON is asked for, the best way first; servers of open models often know only a part."""
_OF_WAYS = ("response_format", "json_schema", "json_object", "schema", "grammar", "strict")
_LIMITS = ("max_tokens", "max_completion_tokens")
_STOPS: dict[str | None, Literal["end", "length", "refusal"]] = {"length": "length", "content_filter": "refusal"}
_NO_KEY = "none"
"""What is sent where no key is configured: the SDK wants one, servers of open models read none."""


class OpenAiProvider:
    """Provider of one model behind an OpenAI-compatible address. What it turns out not to know is not tried on it
    again.
    """

    def __init__(
        self,
        model: str,
        *,
        name: str,
        base_url: str,
        key: str | None,
        headers: dict[str, str],
        timeout: float,
        retries: int,
        retry_seconds: float,
    ) -> None:
        self.name = name
        self.model = model
        self._base_url = base_url.rstrip("/")
        self._key = key
        self._headers = headers
        self._timeout = timeout
        self._retries = retries
        self._retry_seconds = retry_seconds
        self._client: AsyncOpenAI | None = None
        self._way = 0
        self._limit = 1 if name == "openai" else 0  # reasoning models of OpenAI's take only the newer name
        self._limits_tried = 1
        self._takes_temperature = True
        self._counts_streams = True

    async def complete(self, wanted: Wanted) -> Completion:
        """Ask it, in a simpler way where it does not know the one that was tried."""
        if self._client is None:
            self._client = await asyncio.to_thread(self._open)
        client = self._client
        while True:
            request = self._request(wanted)
            try:
                return await retried(
                    lambda request=request: self._attempt(client, request, wanted),  # type: ignore[misc]
                    who=self.name,
                    limit=wanted.limit(self._timeout),
                    retries=self._retries,
                    retry_seconds=self._retry_seconds,
                )
            except BadRequest as error:
                if error.status not in (400, 422) or not self._learned(error.detail.casefold(), request):
                    raise

    def _learned(self, words: str, request: dict[str, Any]) -> bool:
        """Feature fallback: whether a refusal says what to leave out next time. Each thing once: it ends."""
        if "temperature" in request and "temperature" in words:
            self._takes_temperature = False
        elif any(name in words for name in _LIMITS) and self._limits_tried < len(_LIMITS):
            self._limit = 1 - self._limit
            self._limits_tried += 1
        elif "stream_options" in request and "stream_options" in words:
            self._counts_streams = False
        elif "response_format" in request and any(word in words for word in _OF_WAYS):
            self._way += 1
        else:
            return False
        return True

    def _open(self) -> AsyncOpenAI:
        """SDK client, with timeout and without retries of its own."""
        from openai import AsyncOpenAI

        return AsyncOpenAI(
            api_key=self._key or _NO_KEY,
            base_url=self._base_url,
            default_headers=self._headers,
            timeout=self._timeout,
            max_retries=0,  # `retried` bounds their time
            http_client=open_client(self._base_url, self._timeout),
        )

    def _request(self, wanted: Wanted) -> dict[str, Any]:
        """Request body: messages, structured output (`response_format`, JSON mode), token limit."""
        way = _WAYS[self._way]
        more: dict[str, Any] = {}
        system = wanted.system
        if wanted.schema is not None:
            if way == "json_schema":
                shape = {"name": "answer", "schema": wanted.schema, "strict": is_closed(wanted.schema)}
                more["response_format"] = {"type": "json_schema", "json_schema": shape}
            else:
                system = wanted.system_with_shape()
                if way == "json_object":
                    more["response_format"] = {"type": "json_object"}
        if wanted.temperature is not None and self._takes_temperature:
            more["temperature"] = wanted.temperature
        if wanted.streamed:
            more["stream"] = True
            if self._counts_streams:
                more["stream_options"] = {"include_usage": True}
        return {
            "model": self.model,
            _LIMITS[self._limit]: wanted.max_tokens,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": wanted.prompt}],
            **more,
        }

    async def _attempt(self, client: AsyncOpenAI, request: dict[str, Any], wanted: Wanted) -> Completion:
        """One request, streamed where the answer may be long. Raises an LlmError."""
        import openai

        try:
            answered = await client.chat.completions.create(**request)
            if request.get("stream"):
                return await self._gathered(answered, wanted)
            return self._from_whole(answered)
        except failures(openai) as error:
            raise as_llm_error(error, openai, who=self.name, model=self.model, key=self._key) from error

    def _from_whole(self, answered: ChatCompletion) -> Completion:
        """Completion of an answer that was not streamed."""
        choice = answered.choices[0]
        said, refused = choice.message.content, choice.message.refusal
        return self._answer(said or "", refused or "", choice.finish_reason, answered.model, answered.usage)

    def _unstreamed(self, whole: bytes) -> Completion:
        """The answer of a server that does not know `stream` and said it all at once; it is paid for already."""
        from openai.types.chat import ChatCompletion

        found = json.loads(whole)
        if isinstance(found, dict) and found.get("error"):
            raise Unavailable(f"{self.name} failed: {' '.join(str(found['error']).split())[:300]}")
        return self._from_whole(ChatCompletion.model_validate(found))

    async def _gathered(self, stream: Any, wanted: Wanted) -> Completion:
        """Streamed answer (chunks, deltas, tool calls left out) gathered as one."""
        said: list[str] = []
        refused: list[str] = []
        finish, model, used = None, None, None
        length = 0
        async with stream:
            async for chunk in stream:
                model, used = chunk.model or model, chunk.usage or used
                # One answer was asked for; of a server that gives several, the first is it.
                for choice in (each for each in chunk.choices or () if not each.index):
                    said.append(choice.delta.content or "")
                    refused.append(getattr(choice.delta, "refusal", None) or "")
                    finish = choice.finish_reason or finish
                    length += len(said[-1]) + len(refused[-1])
                    wanted.heard(length, self.name)
        if finish is None and (whole := whole_answer(stream.response)):
            return self._unstreamed(whole)
        if finish is None:
            raise Passing(f"{self.name} broke off in the middle of an answer; try again")
        return self._answer("".join(said), "".join(refused), finish, model, used)

    def _answer(self, said: str, refused: str, finish: str | None, model: str | None, used: Any) -> Completion:
        """Completion with its usage: prompt, cached and output tokens, and why it stopped (finish reason)."""
        details = getattr(used, "prompt_tokens_details", None)
        read = count(getattr(details, "cached_tokens", None))
        written = count(getattr(details, "cache_write_tokens", None))
        asked = count(getattr(used, "prompt_tokens", None))
        return Completion(
            text=refused or str(said),
            model=str(model or self.model),
            usage=Usage(
                input_tokens=max(0, asked - read - written),
                output_tokens=count(getattr(used, "completion_tokens", None)),
                cache_read_tokens=min(read, asked),
                cache_write_tokens=min(written, max(0, asked - read)),
            ),
            stop="refusal" if refused else _STOPS.get(finish, "end"),
        )
