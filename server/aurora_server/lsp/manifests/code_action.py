"""Code action provider (quick fixes, light bulb): fixes of findings, all fixes at once, and "ignore this rule here"."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_server.lsp.manifests.document_cache import Snapshot, checked, workspace_edit

if TYPE_CHECKING:
    from aurora_manifest.editing.actions import Action
    from aurora_manifest.findings import Finding
    from aurora_server.lsp.server import AuroraServer

FIX_ALL = "source.fixAll.aurora"
"""Our kind of `source.fixAll`; who asks for that one gets ours as well (LSP 3.17 "CodeActionKind")."""


def register(server: AuroraServer) -> None:
    """Answer `textDocument/codeAction`."""
    options = types.CodeActionOptions([types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll, FIX_ALL])
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(code_actions)


async def code_actions(ls: AuroraServer, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    """Code actions for the findings in a range; None in documents that are not ours."""
    found = await checked(ls, params.text_document.uri)
    if found is None:
        return None
    snapshot, findings = found
    return await asyncio.to_thread(_actions, ls.client, snapshot, findings, params)


def _actions(
    client: types.ClientCapabilities,
    snapshot: Snapshot,
    findings: list[Finding],
    params: types.CodeActionParams,
) -> list[types.CodeAction]:
    """Quick fixes, fix-all and suppressions for a range, by the kinds asked for."""
    from aurora_manifest.editing.actions import actions, fix_all_edits

    start, end = snapshot.offset(params.range.start), snapshot.offset(params.range.end)
    answers: list[types.CodeAction] = []
    if _wanted(types.CodeActionKind.QuickFix, params.context.only):
        offered = actions(snapshot.json, findings, start, end)
        answers += (_quick_fix(client, snapshot, each, params.context.diagnostics) for each in offered)
    if _wanted(FIX_ALL, params.context.only):
        if snapshot.fix_all is None:
            snapshot.fix_all = fix_all_edits(snapshot.json, findings, snapshot.check_again())
        edits = snapshot.fix_all
    else:
        edits = []
    if edits:
        edit = workspace_edit(client, snapshot, edits)
        answers.append(types.CodeAction("Fix all that AURORA can fix", FIX_ALL, edit=edit))
    return answers


def _quick_fix(
    client: types.ClientCapabilities, snapshot: Snapshot, action: Action, shown: Sequence[types.Diagnostic]
) -> types.CodeAction:
    """Quick fix of a finding, tied to the diagnostics shown."""
    finding = action.finding
    where = snapshot.range(finding.start, finding.end)
    meant = [each for each in shown if each.code == finding.rule and _same(each.range, where)]
    return types.CodeAction(
        action.title,
        types.CodeActionKind.QuickFix,
        diagnostics=meant or None,
        is_preferred=True if action.obvious else None,
        edit=workspace_edit(client, snapshot, list(action.edits)),
    )


def _wanted(kind: str, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Whether a kind is asked for: by itself, or by one it is a kind of."""
    return only is None or any(kind == each or kind.startswith(f"{each}.") for each in map(_spelt, only))


def _spelt(kind: types.CodeActionKind | str) -> str:
    return kind.value if isinstance(kind, types.CodeActionKind) else kind


def _same(one: types.Range, other: types.Range) -> bool:
    # lsprotocol's classes cannot be compared here: `lean_lsprotocol` leaves that out of them.
    return all(
        (getattr(one, end).line, getattr(one, end).character)
        == (getattr(other, end).line, getattr(other, end).character)
        for end in ("start", "end")
    )
