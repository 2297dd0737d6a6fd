"""Completion provider (autocomplete): names, values, capability ids, variables, pointers and whole parts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from lsprotocol import types
from msgspec import Struct

from aurora_server.lsp.manifests.document_cache import Snapshot, snapshot_of

if TYPE_CHECKING:
    from aurora_manifest.editing.completion import Proposal
    from aurora_protocol.positions import Range
    from aurora_server.lsp.server import AuroraServer

TRIGGERS = ('"', ":", ",", "{", "/", "?", "&")

_KINDS = {
    "member": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.Value,
    "choice": types.CompletionItemKind.EnumMember,
    "reference": types.CompletionItemKind.Reference,
    "variable": types.CompletionItemKind.Variable,
    "snippet": types.CompletionItemKind.Snippet,
}
_ADJUST_INDENTATION = types.InsertTextMode.AdjustIndentation.value


class TextEdit(Struct, frozen=True, rename="camel"):
    """LSP's, as a struct: a thousand of lsprotocol's cost more than finding them."""

    range: Range
    new_text: str


class CompletionItem(Struct, frozen=True, rename="camel", omit_defaults=True):
    """LSP's CompletionItem."""

    label: str
    kind: int
    sort_text: str
    filter_text: str
    text_edit: TextEdit
    insert_text_format: int
    detail: str | None = None
    documentation: dict[str, str] | None = None
    additional_text_edits: list[TextEdit] | None = None
    insert_text_mode: int | None = None
    preselect: bool = False


class CompletionList(Struct, frozen=True, rename="camel"):
    """LSP's CompletionList."""

    is_incomplete: bool
    items: list[CompletionItem]


def register(server: AuroraServer) -> None:
    """Answer `textDocument/completion`."""
    options = types.CompletionOptions(trigger_characters=TRIGGERS)
    server.feature(types.TEXT_DOCUMENT_COMPLETION, options)(completion)


async def completion(ls: AuroraServer, params: types.CompletionParams) -> CompletionList | None:
    """Completion items for the cursor; None in documents that are not ours."""
    snapshot = await snapshot_of(ls, params.text_document.uri)
    if snapshot is None:
        return None
    offered = _offered(ls.client)
    snippets = bool(offered and offered.snippet_support)
    adjusts = _adjusts(offered)
    return await asyncio.to_thread(_items, snapshot, snapshot.offset(params.position), snippets, adjusts)


def _items(snapshot: Snapshot, offset: int, snippets: bool, adjusts: bool) -> CompletionList:
    """Completion list at an offset."""
    from aurora_manifest.editing.completion import complete, complete_by_schema

    if snapshot.is_manifest:
        proposals = complete(snapshot.manifest, offset, snippets=snippets)
    else:
        proposals = complete_by_schema(snapshot.json, snapshot.schema, offset, snippets=snippets)
    ranges: dict[tuple[int, int], Range] = {}  # nearly always one, for all proposals

    def range_of(start: int, end: int) -> Range:
        if (start, end) not in ranges:
            ranges[start, end] = snapshot.index.range(start, end, snapshot.encoding)
        return ranges[start, end]

    return CompletionList(False, [_item(each, number, range_of, adjusts) for number, each in enumerate(proposals)])


def _item(proposal: Proposal, number: int, range_of: Callable[[int, int], Range], adjusts: bool) -> CompletionItem:
    """Completion item: label, kind, text edit, documentation."""
    more = [TextEdit(range_of(each.start, each.end), each.text) for each in proposal.more]
    words = proposal.documentation
    return CompletionItem(
        label=proposal.label,
        kind=_KINDS[proposal.kind].value,
        sort_text=f"{number:05}",
        filter_text=proposal.filter,
        text_edit=TextEdit(range_of(proposal.start, proposal.end), proposal.text),
        insert_text_format=2 if proposal.snippet else 1,
        detail=proposal.detail or None,
        documentation={"kind": "markdown", "value": words} if words else None,
        additional_text_edits=more or None,
        insert_text_mode=_ADJUST_INDENTATION if adjusts and "\n" in proposal.text else None,
        preselect=number == 0,
    )


def _offered(client: types.ClientCapabilities) -> types.ClientCompletionItemOptions | None:
    completing = client.text_document.completion if client.text_document is not None else None
    return completing.completion_item if completing is not None else None


def _adjusts(offered: types.ClientCompletionItemOptions | None) -> bool:
    modes = offered.insert_text_mode_support if offered is not None else None
    return modes is not None and types.InsertTextMode.AdjustIndentation in modes.value_set
