"""What a provider is told and says, in the wire formats of Anthropic Messages and OpenAI chat completions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["anthropic", "openai"]
JSON = {"content-type": "application/json"}


@dataclass(frozen=True)
class Scripted:
    """One answer, or what goes wrong instead of it. Times in seconds.

    The answer is `text`, or `json` as text. `usage` are tokens by Anthropic's names (`input_tokens`, `output_tokens`,
    `cache_read_input_tokens`, `cache_creation_input_tokens`), whatever is not given being counted by length. `status`
    other than 200 is the provider's own error. `delay` passes before the answer begins, `pause` between the `pieces` of
    a stream, about so many. `cut` sends that many bytes of the body and hangs up; `drop` hangs up at once; `garbage` is
    the body; `breaks` is the type of an error event in the middle of a stream; `unstreamed` answers whole where a
    stream is asked for. With a `status`, `garbage` is that one's body. `rewritten` makes other pieces of those of a
    stream, or of the one body; `headers` are sent besides.
    """

    text: str = ""
    json: Any = None
    usage: dict[str, Any] = field(default_factory=dict)
    stop: Literal["end", "length", "refusal"] = "end"
    status: int = 200
    error: str = ""
    retry_after: float | None = None
    delay: float = 0.0
    pause: float = 0.0
    pieces: int = 12
    cut: int | None = None
    drop: bool = False
    breaks: str = ""
    garbage: bytes | None = None
    unstreamed: bool = False
    rewritten: Callable[[Iterator[bytes]], Iterable[bytes]] = iter
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def said(self) -> str:
        """The answer as text."""
        return self.text if self.json is None else json.dumps(self.json)


@dataclass(frozen=True)
class Request:
    """A request that arrived. `headers` have lower-case names."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def kind(self) -> Kind:
        """Whose wire format it is."""
        return "anthropic" if self.path == "/v1/messages" else "openai"

    @property
    def system(self) -> str:
        """The system text, wherever the format keeps it."""
        if self.kind == "anthropic":
            return _text(self.body.get("system", ""))
        return "\n".join(_text(m["content"]) for m in self.body["messages"] if m["role"] in ("system", "developer"))

    @property
    def prompt(self) -> str:
        """What the user's message says."""
        return "\n".join(_text(message["content"]) for message in self.body["messages"] if message["role"] == "user")

    @property
    def json(self) -> Any:
        """The prompt, decoded; None when it is not JSON."""
        try:
            return json.loads(self.prompt)
        except ValueError:
            return None

    @property
    def model(self) -> str:
        return str(self.body["model"])

    @property
    def streamed(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def max_tokens(self) -> int:
        return int(self.body.get("max_tokens") or self.body.get("max_completion_tokens") or 0)

    @property
    def how(self) -> str:
        """By which of the provider's means JSON is asked for: `output_config`, `tool`, `json_schema`, …, or nothing."""
        if self.kind == "anthropic":
            if (self.body.get("output_config") or {}).get("format"):
                return "output_config"
            return "tool" if (self.body.get("tool_choice") or {}).get("type") == "tool" else ""
        return str((self.body.get("response_format") or {}).get("type", ""))

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON Schema the answer is asked to have, if the request carries one."""
        found: Any = None
        if self.how == "output_config":
            found = self.body["output_config"]["format"]["schema"]
        elif self.how == "tool":
            found = self.body["tools"][0]["input_schema"]
        elif self.how == "json_schema":
            found = self.body["response_format"]["json_schema"]["schema"]
        return found  # type: ignore[no-any-return]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def counted(request: Request, answer: Scripted) -> dict[str, Any]:
    counted = {
        "input_tokens": len(request.system + request.prompt) // 4,
        "output_tokens": len(answer.said) // 4,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 0,
    }
    return {**counted, **answer.usage}


def message(request: Request, answer: Scripted) -> dict[str, Any]:
    """A message as Anthropic sends it."""
    by_tool = request.how == "tool" and answer.stop != "refusal"
    block: dict[str, Any] = {"type": "text", "text": answer.said}
    if by_tool:
        name = request.body["tool_choice"]["name"]
        given = answer.json if answer.json is not None else _loads(answer.text)
        block = {"type": "tool_use", "id": "toolu_loopback", "name": name, "input": given}
    stop = {"end": "tool_use" if by_tool else "end_turn", "length": "max_tokens", "refusal": "refusal"}[answer.stop]
    return {
        "id": "msg_loopback",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": [block] if answer.said else [],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": answer.usage,
    }


def messages(request: Request, answer: Scripted) -> Iterator[bytes]:
    """The same message as Anthropic streams it."""
    whole = message(request, answer)

    def event(name: str, **data: Any) -> bytes:
        return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()

    begun = {**whole, "content": [], "stop_reason": None, "usage": {**answer.usage, "output_tokens": 1}}
    yield event("message_start", message=begun)
    yield event("ping")
    for index, block in enumerate(whole["content"]):
        by_tool = block["type"] == "tool_use"
        yield event(
            "content_block_start", index=index, content_block={**block, **({"input": {}} if by_tool else {"text": ""})}
        )
        for piece in _pieces(answer):
            if answer.breaks:
                yield event("error", error={"type": answer.breaks, "message": "broke off"})
                return
            delta = (
                {"type": "input_json_delta", "partial_json": piece}
                if by_tool
                else {"type": "text_delta", "text": piece}
            )
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield event("message_delta", delta=delta, usage={"output_tokens": answer.usage["output_tokens"]})
    yield event("message_stop")


def _tokens(answer: Scripted) -> dict[str, Any]:
    """Usage as OpenAI counts it: cached tokens are part of the prompt's."""
    used = answer.usage
    cached = used["cache_read_input_tokens"]
    asked, answered = used["input_tokens"], used["output_tokens"]
    countable = all(isinstance(number, int) for number in (asked, answered, cached))
    prompt = asked + cached if countable else asked  # what is scripted may be no number
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answered,
        "total_tokens": prompt + answered if countable else 0,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def completion(request: Request, answer: Scripted) -> dict[str, Any]:
    """A chat completion as OpenAI sends it."""
    refused = answer.stop == "refusal"
    message = {
        "role": "assistant",
        "content": None if refused else answer.said,
        "refusal": answer.said if refused else None,
    }
    finish = {"end": "stop", "length": "length", "refusal": "stop"}[answer.stop]
    return {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": 1,
        "model": request.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": _tokens(answer),
    }


def completions(request: Request, answer: Scripted) -> Iterator[bytes]:
    """The same completion as OpenAI streams it."""

    def chunk(choices: list[Any], **more: Any) -> bytes:
        told = {"id": "chatcmpl-loopback", "object": "chat.completion.chunk", "created": 1, "model": request.model}
        return f"data: {json.dumps({**told, 'choices': choices, **more})}\n\n".encode()

    field_name = "refusal" if answer.stop == "refusal" else "content"
    yield chunk([{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}])
    for piece in _pieces(answer):
        if answer.breaks:
            yield b'data: {"error": {"type": "%s", "message": "broke off"}}\n\n' % answer.breaks.encode()
            return
        yield chunk([{"index": 0, "delta": {field_name: piece}, "finish_reason": None}])
    yield chunk([{"index": 0, "delta": {}, "finish_reason": "length" if answer.stop == "length" else "stop"}])
    if (request.body.get("stream_options") or {}).get("include_usage"):
        yield chunk([], usage=_tokens(answer))
    yield b"data: [DONE]\n\n"


def whole(request: Request, answer: Scripted) -> bytes:
    """The body of an answer that is not streamed."""
    said = message(request, answer) if request.kind == "anthropic" else completion(request, answer)
    return b"".join(answer.rewritten(iter([json.dumps(said).encode()])))


def streamed(request: Request, answer: Scripted) -> Iterable[bytes]:
    """The pieces of an answer that is."""
    return answer.rewritten(messages(request, answer) if request.kind == "anthropic" else completions(request, answer))


def failure(request: Request, answer: Scripted) -> tuple[bytes, dict[str, str]]:
    """The body and headers of an error."""
    if answer.garbage is not None:
        return answer.garbage, {"content-type": "text/html"}
    kinds = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}
    kind = kinds.get(answer.status, "invalid_request_error" if answer.status < 500 else "api_error")
    error: dict[str, Any] = {"type": kind, "message": answer.error or kind.replace("_", " ")}
    said = {"type": "error", "error": error, "request_id": "req_loopback"}
    if request.kind == "openai":
        said = {"error": {**error, "param": None, "code": None}}
    after = {} if answer.retry_after is None else {"retry-after": f"{answer.retry_after:g}"}
    return json.dumps(said).encode(), {**JSON, **after}


def _pieces(answer: Scripted) -> Iterator[str]:
    text = answer.said
    size = max(8, len(text) // answer.pieces)
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return {"text": text}
