"""Editor's own language model (LLM lent by the IDE), asked over the editor's own connection; the
server implements `EditorModel`.
"""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from msgspec import Struct

from aurora_orchestration.llm.completion import Unavailable
from aurora_orchestration.llm.providers.provider import Completion, Wanted, count
from aurora_orchestration.types import Usage


class EditorReply(Struct, frozen=True, kw_only=True):
    """Reply of an editor's model. Editors that do not count tokens give None."""

    text: str
    model: str
    input_tokens: int | None = None
    output_tokens: int | None = None


class EditorModel(Protocol):
    """A model that the connected client lends."""

    async def complete(self, system: str, prompt: str, schema: dict[str, Any] | None, max_tokens: int) -> EditorReply:
        """Ask it. Raises an `LlmError`; when cancelled, the client is told."""


class EditorProvider:
    """An editor's model as a provider. `model` is the one that is wished for; editors may answer with another."""

    name = "editor"

    def __init__(self, model: str, editor: EditorModel, timeout: float) -> None:
        self.model = model
        self._editor = editor
        self._timeout = timeout

    async def complete(self, wanted: Wanted) -> Completion:
        """Ask it. It may take as long as a stream of that length."""
        limit = wanted.limit(self._timeout)
        system = wanted.system if wanted.schema is None else wanted.system_with_shape()
        try:
            async with asyncio.timeout(limit):
                reply = await self._editor.complete(system, wanted.prompt, wanted.schema, wanted.max_tokens)
        except TimeoutError:
            raise Unavailable(f"the editor's model did not answer within {limit:g} s; is the editor busy?") from None
        usage = Usage(input_tokens=count(reply.input_tokens), output_tokens=count(reply.output_tokens))
        return Completion(text=reply.text, model=reply.model or self.model, usage=usage)
