"""`aurora/who`: who knows a place in the code, by the first folder of the session that has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aurora_memory import UnknownChunk
from aurora_protocol import who_methods
from aurora_protocol.who_methods import WhoParams, WhoResult
from aurora_server.lsp.server import params_as
from aurora_server.session.errors import INVALID_PARAMS, RequestError

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer

MAX_PLACE = 4096


def register(server: AuroraServer) -> None:
    """Answer `aurora/who`."""
    server.feature(who_methods.WHO)(who)


async def who(ls: AuroraServer, value: object) -> WhoResult:
    """Who changed or used a place, who knows it best first. Of others' uses only what they share is told."""
    params = params_as(WhoParams, value)
    if not params.place.strip() or len(params.place) > MAX_PLACE:
        raise RequestError(INVALID_PARAMS, f"invalid params: `place` has 1 to {MAX_PLACE} characters")
    missing: UnknownChunk | None = None
    for workspace in await ls.folders.opened():
        try:
            return await workspace.who(params.place)
        except UnknownChunk as error:
            missing = error
    assert missing is not None, "a session with no open workspace has been told so"
    raise missing
