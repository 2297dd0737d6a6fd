"""Converter of LSP types (cattrs serialization), one for all sessions: building it, and its first use, cost tens of
milliseconds.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import cache
from typing import Any

import attrs
import msgspec
from cattrs import Converter
from lsprotocol import converters, types


@cache
def shared_converter() -> Converter:
    """Between JSON's plain values and lsprotocol's classes. Plain dicts and msgspec structs go out as they are."""
    return converters.get_converter(_Unhurried())


def encode(message: Any) -> bytes:
    """A message as JSON. Takes lsprotocol objects and msgspec structs at any depth of plain containers.

    Raises UnicodeEncodeError when a text holds half a surrogate pair (a file name that is not UTF-8).
    """
    return msgspec.json.encode(shared_converter().unstructure(message))


def plain(value: Any) -> Any:
    """lsprotocol objects as plain values: for long lists, in a thread, so that sending them is quick."""
    return shared_converter().unstructure(value)


def get_ready_for(message: Any) -> None:
    """Generate the code that reads this `initialize`, in a thread: the first of an editor takes 50 ms."""
    if isinstance(message, dict) and message.get("method") == types.INITIALIZE:
        try:
            shared_converter().structure(message, types.InitializeRequest)
        except Exception as error:  # noqa: BLE001 - of what is wrong with it the client is told when it is handled
            let_go(error)


def let_go(error: BaseException) -> None:
    """Empty the frames that an error came through: cattrs' hold the errors they collect, and so all of the message,
    until everything is collected.
    """
    traceback.clear_frames(error.__traceback__)
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            let_go(each)


def warm_up() -> None:
    """Do what the first session would otherwise wait for: use each class that an `initialize` and its answer need."""
    params = {
        "processId": 0,
        "clientInfo": {"name": ""},
        "rootUri": "",
        "workspaceFolders": [{"uri": "", "name": ""}],
        "capabilities": {"window": {"workDoneProgress": True}},
    }
    get_ready_for({"jsonrpc": "2.0", "id": 0, "method": types.INITIALIZE, "params": params})
    capabilities = types.ServerCapabilities(
        text_document_sync=types.TextDocumentSyncOptions(save=types.SaveOptions()),
        workspace=types.WorkspaceOptions(
            workspace_folders=types.WorkspaceFoldersServerCapabilities(), file_operations=types.FileOperationOptions()
        ),
        code_action_provider=types.CodeActionOptions(),
        code_lens_provider=types.CodeLensOptions(),
        completion_provider=types.CompletionOptions(),
        diagnostic_provider=types.DiagnosticOptions(inter_file_dependencies=False, workspace_diagnostics=False),
        document_link_provider=types.DocumentLinkOptions(),
        execute_command_provider=types.ExecuteCommandOptions(commands=[]),
        inlay_hint_provider=types.InlayHintOptions(),
        rename_provider=types.RenameOptions(),
        workspace_symbol_provider=types.WorkspaceSymbolOptions(),
    )
    encode(types.InitializeResult(capabilities, types.ServerInfo(name="")))


@cache
def warm_up_for_editing() -> None:
    """Generate the code that reads and answers what editors ask first and most. In a thread."""
    place = types.Range(types.Position(0, 0), types.Position(0, 0))
    text = types.MarkupContent(types.MarkupKind.Markdown, "")
    lens = types.CodeLens(place, command=types.Command(title="", command=""))
    symbol = types.DocumentSymbol("", types.SymbolKind.Function, place, place)
    found = types.PublishDiagnosticsParams("", [types.Diagnostic(place, "")])
    encode([types.Hover(text, place), lens, symbol, found, types.Location("", place)])
    document, start = {"uri": ""}, {"line": 0, "character": 0}
    opened = {"uri": "", "languageId": "", "version": 0, "text": ""}
    change = {"range": {"start": start, "end": start}, "text": ""}
    for method, params in (
        (types.TEXT_DOCUMENT_DID_OPEN, {"textDocument": opened}),
        (types.TEXT_DOCUMENT_DID_CHANGE, {"textDocument": {"uri": "", "version": 1}, "contentChanges": [change]}),
        (types.TEXT_DOCUMENT_DID_SAVE, {"textDocument": document}),
        (types.TEXT_DOCUMENT_HOVER, {"textDocument": document, "position": start}),
        (types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, {"textDocument": document}),
        (types.TEXT_DOCUMENT_CODE_LENS, {"textDocument": document}),
    ):
        message = {"jsonrpc": "2.0", "id": 0, "method": method, "params": params}
        shared_converter().structure(message, types.METHOD_TO_TYPES[method][0])


class _Unhurried(Converter):
    """Generates the code for a class of lsprotocol when that is first used, not with the first that refers to it."""

    def register_unstructure_hook_factory(self, predicate: Any, factory: Any = None) -> Any:
        if predicate is attrs.has and factory is not None:
            factory = _at_first_use(factory)
        return super().register_unstructure_hook_factory(predicate, factory)


def _at_first_use(factory: Callable[[type], Callable[[Any], Any]]) -> Callable[[type], Callable[[Any], Any]]:
    """A hook whose code is generated lazily, when it is called first."""

    @cache  # cattrs asks anew for each class that refers to this one
    def hook_for(cls: type) -> Callable[[Any], Any]:
        hook: Callable[[Any], Any] | None = None

        def unstructure(value: Any) -> Any:
            nonlocal hook
            if hook is None:
                hook = factory(cls)
            return hook(value)

        return unstructure

    return hook_for
