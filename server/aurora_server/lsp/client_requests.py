"""Requests to the client (server to client): what the daemon asks of a client in the middle of a run: an answer of its
user, a completion of its language model.

LSP has neither, so they are requests of ours, sent only to clients whose `initializationOptions` say that they answer:
`{"askUser": true, "languageModel": true}`. Each names the `partialResultToken` of the request that it is asked for, so
that a client with several under way knows which it is about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from pygls.exceptions import JsonRpcException

from aurora_orchestration.llm.completion import BadReply, Unavailable
from aurora_orchestration.llm.providers.editor import EditorReply
from aurora_orchestration.types import Declined, Nobody
from aurora_protocol import typed
from aurora_protocol.query_methods import ASK_USER, LANGUAGE_MODEL, LanguageModelResult

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer

MAX_ANSWER = 20_000
"""Characters of a user's answer; what is longer is cut."""


class SessionUser:
    """The user at the other end of a session (`aurora_orchestration.types.AskUser`)."""

    def __init__(self, ls: AuroraServer, token: int | str | None = None) -> None:
        self._ls = ls
        self._token = token

    async def __call__(self, question: str) -> str:
        """The user's answer. Raises `Nobody` where the client does not ask its user, or the user declines."""
        if not self._ls.asks_user:
            raise Nobody("this client does not ask its user")
        try:
            result = await self._ls.protocol.ask(ASK_USER, {"question": question, "partialResultToken": self._token})
        except JsonRpcException as error:
            raise Nobody(f"the client could not ask its user: {error.message}") from error
        answer = result.get("answer") if isinstance(result, dict) else None
        if not isinstance(answer, str) or not answer.strip():
            raise Declined("the user gave no answer")
        return answer[:MAX_ANSWER]


class SessionModel:
    """The language model of a session's client (`llm.providers.editor.EditorModel`)."""

    def __init__(self, ls: AuroraServer, token: int | str | None = None) -> None:
        self._ls = ls
        self._token = token

    async def complete(self, system: str, prompt: str, schema: dict[str, Any] | None, max_tokens: int) -> EditorReply:
        """Put one question to it. Raises `Unavailable` where the client refuses, `BadReply` for what is no reply."""
        params = {"system": system, "prompt": prompt, "schema": schema, "max_tokens": max_tokens}
        params["partialResultToken"] = self._token
        try:
            result = await self._ls.protocol.ask(LANGUAGE_MODEL, params)
        except JsonRpcException as error:
            raise Unavailable(f"the editor's language model cannot be asked: {error.message}") from error
        try:
            reply = typed.convert(result, LanguageModelResult)
        except msgspec.ValidationError as error:
            raise BadReply(f"the editor's answer to {LANGUAGE_MODEL} is none: {error}") from error
        return EditorReply(
            text=reply.text, model=reply.model, input_tokens=reply.input_tokens, output_tokens=reply.output_tokens
        )
