"""Code lenses: above a definition, who calls it and what is edited together with it; above a spec, its deliverable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from aurora_memory.chunks import MODULE_NAME, CodeChunk
from aurora_protocol.methods import RelatedChunk
from aurora_server.lsp import deliverable_lens
from aurora_server.lsp.location import place_of
from aurora_server.lsp.manifests.code_lens import lenses as manifest_lenses
from aurora_server.lsp.manifests.document_cache import manifest_of
from aurora_server.lsp.memory_text import counted

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer

NAMED = 2
"""Co-edited chunks named in a lens."""


def register(server: AuroraServer) -> None:
    """Answer `textDocument/codeLens` and `codeLens/resolve`, and ask for a refresh when lenses are switched."""
    server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=True))(code_lenses)
    server.feature(types.CODE_LENS_RESOLVE)(resolve)


async def code_lenses(ls: AuroraServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    """A lens for each definition that something is known about; its words come with `codeLens/resolve`."""
    uri = params.text_document.uri
    if not ls.preferences.code_lens:
        return []
    manifest = await manifest_of(ls, uri)
    if manifest is not None:
        return await manifest_lenses(manifest)
    place = await place_of(ls, uri)
    if place is None:
        return []
    of_spec = await deliverable_lens.lenses(ls, uri)
    if of_spec:
        return of_spec
    related = await place.workspace.buffers.related(place.path, place.text)
    return [_lens(chunk, links) for chunk, links in related if chunk.name != MODULE_NAME and summary(links)]


def resolve(ls: AuroraServer, lens: types.CodeLens) -> types.CodeLens:
    """Put the lens into words, and give it the command that explains its chunk."""
    if lens.command is not None:  # a manifest's or deliverable's, which came in words
        return lens
    data: dict[str, Any] = lens.data if isinstance(lens.data, dict) else {}
    arguments = [{"id": data.get("id")}]
    lens.command = types.Command(title=str(data.get("title", "")), command="aurora.explain", arguments=arguments)
    return lens


def summary(links: list[RelatedChunk]) -> str:
    """`3 callers · edited with parse, render`; empty when there is nothing to say."""
    callers = sum(link.relation == "called by" for link in links)
    heirs = sum(link.relation == "inherited by" for link in links)
    together = [link.name for link in links if link.relation == "edited with"]
    words = [counted(callers, "caller")] if callers else []
    if heirs:
        words.append(counted(heirs, "subclass") if heirs == 1 else f"{heirs} subclasses")
    if together:
        words.append(f"edited with {', '.join(together[:NAMED])}")
    return " · ".join(words)


def _lens(chunk: CodeChunk, links: list[RelatedChunk]) -> types.CodeLens:
    line = chunk.line_start - 1
    start = types.Position(line, 0)
    return types.CodeLens(types.Range(start, start), data={"id": chunk.id, "title": summary(links)})
