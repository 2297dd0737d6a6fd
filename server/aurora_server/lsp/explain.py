"""`aurora/explain`: one chunk, by its id, its name, or a place, with its activation, history and relations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aurora_memory import UnknownChunk
from aurora_protocol import methods
from aurora_protocol.methods import ExplainParams, ExplainResult
from aurora_server.lsp.location import in_code_points, place_of
from aurora_server.lsp.server import params_as
from aurora_server.session.errors import INVALID_PARAMS, RequestError

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer


def register(server: AuroraServer) -> None:
    """Answer `aurora/explain`."""
    server.feature(methods.EXPLAIN)(explain)


async def explain(ls: AuroraServer, value: object) -> ExplainResult | None:
    """One chunk by its id, name or place; or what a position means, else the innermost definition around it."""
    params = params_as(ExplainParams, value)
    if params.id is not None:
        return await _explain_id(ls, params.id)
    if params.uri is None or params.position is None:
        raise RequestError(INVALID_PARAMS, "invalid params: give `id`, or `uri` and `position`")
    place = await place_of(ls, params.uri)
    if place is None:
        return None
    position = await in_code_points(ls, params.uri, params.position)
    place.workspace.uses.looked_at(place.workspace.relative(place.path), position.line + 1)
    here = (place.path, position.line, position.character, place.text)
    buffers = place.workspace.buffers
    return await buffers.explain_at(*here) or await buffers.explain_around(*here)


async def _explain_id(ls: AuroraServer, chunk_id: str) -> ExplainResult:
    missing: UnknownChunk | None = None
    for workspace in await ls.folders.opened():
        try:
            return await workspace.explain(chunk_id)
        except UnknownChunk as error:
            missing = error
    assert missing is not None, "a session with no open workspace has been told so"
    raise missing
