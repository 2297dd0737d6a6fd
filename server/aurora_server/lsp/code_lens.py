"""Code lens provider: above a definition, who calls it and inherits from it; above a spec, its deliverable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from aurora_memory.chunks import MODULE_NAME, CodeChunk
from aurora_memory.views import UsageCounts
from aurora_protocol.human_text import handed_on, heir, used
from aurora_server.lsp import deliverable_lens
from aurora_server.lsp.location import place_of
from aurora_server.lsp.manifests.code_lens import lenses as manifest_lenses
from aurora_server.lsp.manifests.document_cache import manifest_of

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer


def register(server: AuroraServer) -> None:
    """Register the code lens provider, with `codeLens/resolve`, and a refresh when lenses are switched."""
    server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=True))(code_lenses)
    server.feature(types.CODE_LENS_RESOLVE)(resolve)


async def code_lenses(ls: AuroraServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    """Code lens provider of a file: a lens for each definition with something to say; `codeLens/resolve` words it."""
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
    usages = await place.workspace.buffers.usages(place.path, place.text)
    return [_lens(chunk, usage) for chunk, usage in usages if chunk.name != MODULE_NAME and summary(usage)]


def resolve(ls: AuroraServer, lens: types.CodeLens) -> types.CodeLens:
    """Lazy resolve: put the lens into words, and give it the command that explains its chunk."""
    if lens.command is not None:  # a manifest's or deliverable's, which came in words
        return lens
    data: dict[str, Any] = lens.data if isinstance(lens.data, dict) else {}
    arguments = [{"id": data.get("id")}]
    lens.command = types.Command(title=str(data.get("title", "")), command="aurora.explain", arguments=arguments)
    return lens


def summary(usage: UsageCounts, kind: str = "class") -> str:
    """`3 callers and maybe 1 more · 2 subclasses`, of a kind of chunk; empty when there is nothing to say."""
    said = (
        used(usage.callers, usage.likely_callers, "caller"),
        used(usage.subclasses, usage.likely_subclasses, heir(kind)),
        handed_on(usage.handed_on),
    )
    return " · ".join(filter(None, said))


def _lens(chunk: CodeChunk, usage: UsageCounts) -> types.CodeLens:
    """Unresolved lens above a definition, with its data."""
    line = chunk.line - 1
    start = types.Position(line, 0)
    return types.CodeLens(types.Range(start, start), data={"id": chunk.id, "title": summary(usage, chunk.kind)})
