"""What editors say first and most, as plain values, and what they are answered, as lsprotocol's objects."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

_DOCUMENT = {"uri": "file:///a.py"}
_START: dict[str, Any] = {"line": 1, "character": 2}
_RANGE: dict[str, Any] = {"start": _START, "end": _START}

_CAPABILITIES: dict[str, Any] = {
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create"], "failureHandling": "undo"},
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
        "symbol": {"symbolKind": {"valueSet": [1, 2, 3]}, "tagSupport": {"valueSet": [1]}},
        "workspaceFolders": True,
    },
    "textDocument": {
        "synchronization": {"didSave": True},
        "completion": {"completionItem": {"snippetSupport": True, "documentationFormat": ["markdown"]}},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "publishDiagnostics": {"relatedInformation": True, "tagSupport": {"valueSet": [1, 2]}},
        "semanticTokens": {"requests": {"range": True, "full": {"delta": True}}, "tokenTypes": ["class"]}
        | {"tokenModifiers": [], "formats": ["relative"]},
    },
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
    "general": {"positionEncodings": ["utf-16", "utf-8"], "markdown": {"parser": "marked"}},
}

MESSAGES: list[dict[str, Any]] = [
    {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    for number, (method, params) in enumerate(
        [
            (
                types.INITIALIZE,
                {
                    "processId": None,
                    "rootUri": "file:///w",
                    "workspaceFolders": [{"uri": "file:///w", "name": "w"}],
                    "initializationOptions": {"a": [1, None, {"b": "c"}]},
                    "capabilities": _CAPABILITIES,
                },
            ),
            (types.TEXT_DOCUMENT_HOVER, {"textDocument": _DOCUMENT, "position": _START}),
            (
                types.TEXT_DOCUMENT_DID_OPEN,
                {"textDocument": {**_DOCUMENT, "languageId": "python", "version": 1, "text": "x"}},
            ),
            (
                types.TEXT_DOCUMENT_DID_CHANGE,
                {
                    "textDocument": {**_DOCUMENT, "version": 2},
                    "contentChanges": [{"range": _RANGE, "text": "y"}, {"text": "whole"}],
                },
            ),
            (
                types.TEXT_DOCUMENT_CODE_ACTION,
                {
                    "textDocument": _DOCUMENT,
                    "range": _RANGE,
                    "context": {"diagnostics": [{"range": _RANGE, "message": "m", "severity": 2, "code": 7}]},
                },
            ),
            (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, {"changes": [{"uri": "file:///b", "type": 2}]}),
            (types.WORKSPACE_EXECUTE_COMMAND, {"command": "c", "arguments": [{"deep": [1, "two", None]}]}),
        ]
    )
]

_PLACE = types.Range(types.Position(1, 2), types.Position(3, 4))
_EDIT = types.TextEdit(_PLACE, new_text="z")

ANSWERS: list[Any] = [
    types.InitializeResult(
        types.ServerCapabilities(
            text_document_sync=types.TextDocumentSyncOptions(open_close=True, save=types.SaveOptions()),
            hover_provider=True,
            code_lens_provider=types.CodeLensOptions(resolve_provider=True),
            diagnostic_provider=types.DiagnosticOptions(inter_file_dependencies=False, workspace_diagnostics=False),
        ),
        types.ServerInfo("aurora", "1"),
    ),
    types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "text"), _PLACE),
    types.DocumentSymbol("f", types.SymbolKind.Function, _PLACE, _PLACE, children=[]),
    types.CodeLens(_PLACE, types.Command("t", "c", arguments=[{"a": 1}]), data=None),
    types.PublishDiagnosticsParams("file:///a", [types.Diagnostic(_PLACE, "m", types.DiagnosticSeverity.Hint)]),
    types.CodeAction("t", types.CodeActionKind.QuickFix, edit=types.WorkspaceEdit({"file:///a": [_EDIT]})),
    types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier("file:///a"), [_EDIT]),
            types.RenameFile("file:///a", "file:///b"),
        ]
    ),
    types.CompletionList(False, [types.CompletionItem("l", text_edit=_EDIT, kind=types.CompletionItemKind.File)]),
]
