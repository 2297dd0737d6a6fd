"""`workspace/executeCommand`: the `aurora/*` requests of `COMMANDS` as commands, for editors that cannot send ours."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from aurora_protocol import deliverable_methods, methods, query_methods, who_methods
from aurora_server.session.errors import INVALID_PARAMS, RequestError

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer


def register(server: AuroraServer) -> None:
    """Offer the commands. Comes after the requests they stand for."""
    kinds = (methods, deliverable_methods, query_methods, who_methods)
    for name, method in {name: method for kind in kinds for name, method in kind.COMMANDS.items()}.items():
        server.command(name)(_command(name, server.protocol.fm.features[method]))


def _command(name: str, request: Callable[[Any], Any]) -> Callable[..., Awaitable[Any]]:
    """Handler of a command, which takes the request's params as its one argument."""

    async def command(*arguments: Any) -> Any:
        if len(arguments) > 1:
            raise RequestError(INVALID_PARAMS, f"invalid params: {name} takes one object, not {len(arguments)} values")
        outcome = request(arguments[0] if arguments else None)
        return await outcome if inspect.isawaitable(outcome) else outcome

    return command
