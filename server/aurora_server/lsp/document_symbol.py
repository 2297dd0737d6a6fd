"""Document symbol provider (outline): the outline of a buffer as it is now, saved or not."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, cast

from lsprotocol import types

from aurora_memory.chunks import MODULE_NAME, ChunkKind, CodeChunk
from aurora_protocol.positions import Encoding, LineIndex
from aurora_server.lsp.documents import path_of
from aurora_server.lsp.location import place_of
from aurora_server.lsp.manifests.document_cache import manifest_of
from aurora_server.lsp.manifests.document_symbol import symbols as manifest_symbols
from aurora_server.lsp.ranges import range_of
from aurora_server.session.converter import plain

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer

KINDS: dict[ChunkKind, types.SymbolKind] = {
    "function": types.SymbolKind.Function,
    "method": types.SymbolKind.Method,
    "class": types.SymbolKind.Class,
    "interface": types.SymbolKind.Interface,
    "struct": types.SymbolKind.Struct,
    "trait": types.SymbolKind.Interface,
    "enum": types.SymbolKind.Enum,
    "type": types.SymbolKind.Class,
    "namespace": types.SymbolKind.Namespace,
    "macro": types.SymbolKind.Constant,
    "module": types.SymbolKind.Module,
    "section": types.SymbolKind.String,
    "schema": types.SymbolKind.Struct,
    "operation": types.SymbolKind.Event,
    "table": types.SymbolKind.Struct,
    "view": types.SymbolKind.Interface,
}

NAME_LINES = 40
"""Lines of a definition, after its comments and decorators began, in which its name is looked for."""


def register(server: AuroraServer) -> None:
    """Answer `textDocument/documentSymbol`."""
    server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)(document_symbols)


async def document_symbols(
    ls: AuroraServer, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | list[types.SymbolInformation] | None:
    """The definitions of a document, nested if the client can show that."""
    uri = params.text_document.uri
    manifest = await manifest_of(ls, uri)
    if manifest is not None:
        outline = await manifest_symbols(manifest)
        shown = outline if _shows_trees(ls.client) else _flat(outline, uri, None)
        return cast("list[types.DocumentSymbol]", await asyncio.to_thread(plain, shown))
    place = await place_of(ls, uri)
    path = path_of(uri)
    if place is None or path is None:
        return None
    index = await asyncio.to_thread(ls.documents.line_index, uri, path)
    chunks = await place.workspace.buffers.outline(place.path, index.text)
    tree = symbol_tree(chunks, index, ls.documents.encoding)
    return tree if _shows_trees(ls.client) else _flat(tree, uri, None)


def symbol_tree(chunks: list[CodeChunk], index: LineIndex, encoding: Encoding) -> list[types.DocumentSymbol]:
    """Chunks as symbols, each below the definition around it, in the order of the text."""
    top: list[types.DocumentSymbol] = []
    placed: dict[str, list[tuple[CodeChunk, types.DocumentSymbol]]] = {}
    ordered = sorted(
        (chunk for chunk in chunks if chunk.name != MODULE_NAME),
        key=lambda chunk: (chunk.line_start, -chunk.line_end, chunk.name.count(".")),
    )
    for chunk in ordered:
        symbol = _symbol(chunk, index, encoding)
        around = [
            outer
            for candidate, outer in placed.get(chunk.parent or "", [])
            if candidate.line_start <= chunk.line_start
            and (chunk.line_end <= candidate.line_end or chunk.kind == "section")
        ]
        siblings = top
        if around:
            children = around[-1].children
            siblings = around[-1].children = [] if children is None else list(children)
            if chunk.kind == "section":  # ends at the next heading; in an outline it holds those below
                _widen(chunk.parent, placed, symbol.range.end)
        siblings.append(symbol)
        placed.setdefault(chunk.name, []).append((chunk, symbol))
    return top


def _widen(
    name: str | None, placed: dict[str, list[tuple[CodeChunk, types.DocumentSymbol]]], end: types.Position
) -> None:
    """Ranges of parents widened to hold a child."""
    while name is not None and placed.get(name):
        chunk, symbol = placed[name][-1]
        symbol.range = types.Range(symbol.range.start, end)
        name = chunk.parent


def _symbol(chunk: CodeChunk, index: LineIndex, encoding: Encoding) -> types.DocumentSymbol:
    """Symbol of a chunk, with its range and that of its name (selection range)."""
    last = min(chunk.line_end, index.line_count) - 1
    first = min(chunk.line_start - 1, last)
    start, end = index.line_start(first), index.line_end(last)
    # A range that begins in the indentation makes editors highlight it; it begins with the first character.
    start += len(index.text[start:end]) - len(index.text[start:end].lstrip(" \t"))
    simple = chunk.name.rpartition(".")[2] or chunk.name
    name_start, name_end = _name_span(chunk, simple, index.text, start, end)
    return types.DocumentSymbol(
        name=simple,
        kind=KINDS[chunk.kind],
        range=range_of(index, start, end, encoding),
        selection_range=range_of(index, name_start, name_end, encoding),
        detail=chunk.signature or None,
    )


def _name_span(chunk: CodeChunk, simple: str, text: str, start: int, end: int) -> tuple[int, int]:
    """Selection range: where the name itself stands, in the signature's first words, else its first mention."""
    before, found, _ = chunk.signature.partition(simple)
    head = text[start:end]
    limit = _nth_line_end(head, NAME_LINES)
    patterns = [r"(?<!\w)" + re.escape(simple) + r"(?!\w)"]
    if found and before.strip():
        patterns.insert(0, r"(?<!\w)" + r"\s+".join(map(re.escape, before.split())) + r"\s*(" + patterns[0] + ")")
    for pattern in patterns:
        match = re.compile(pattern).search(head, 0, limit)
        if match is not None:
            group = match.lastindex or 0
            return start + match.start(group), start + match.end(group)
    line_end = start + _nth_line_end(head, 1)
    return start, min(end, line_end)


def _nth_line_end(text: str, count: int) -> int:
    at = -1
    for _ in range(count):
        at = text.find("\n", at + 1)
        if at < 0:
            return len(text)
    return at


def _flat(tree: list[types.DocumentSymbol], uri: str, container: str | None) -> list[types.SymbolInformation]:
    """Symbols flattened, for clients without hierarchical outlines."""
    flat: list[types.SymbolInformation] = []
    for symbol in tree:
        where = types.Location(uri, symbol.range)
        flat.append(types.SymbolInformation(where, symbol.name, symbol.kind, container_name=container))
        flat += _flat(list(symbol.children or []), uri, symbol.name)
    return flat


def _shows_trees(client: types.ClientCapabilities) -> bool:
    symbols = client.text_document.document_symbol if client.text_document is not None else None
    return symbols is not None and bool(symbols.hierarchical_document_symbol_support)
