"""One LSP converter for all sessions: building it, and its first use, cost tens of milliseconds."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from cattrs import Converter
from lsprotocol import converters, types


@cache
def shared_converter() -> Converter:
    """Between JSON's plain values and lsprotocol's classes. Plain dicts and msgspec structs go out as they are."""
    return converters.get_converter()


def encode(message: Any) -> bytes:
    """A message as JSON. Takes lsprotocol objects and msgspec structs at any depth of plain containers.

    Raises UnicodeEncodeError when a text holds half a surrogate pair (a file name that is not UTF-8).
    """
    return msgspec.json.encode(shared_converter().unstructure(message))


def plain(value: Any) -> Any:
    """lsprotocol objects as plain values: for long lists, in a thread, so that sending them is quick."""
    return shared_converter().unstructure(value)


def warm_up() -> None:
    """Do what the first editor would otherwise wait for: generate the code that reads an `initialize`."""
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"processId": None, "capabilities": {}}}
    request = shared_converter().structure({**message, "params": {**_CLIENT}}, types.InitializeRequest)
    encode({"result": types.InitializeResult(types.ServerCapabilities()), "params": request.params})


_CLIENT = {
    "processId": None,
    "rootUri": None,
    "workspaceFolders": [{"uri": "file:///", "name": "/"}],
    "capabilities": {
        "workspace": {"workspaceFolders": True, "didChangeWatchedFiles": {"dynamicRegistration": True}},
        "textDocument": {"hover": {}, "documentSymbol": {}, "codeLens": {}, "publishDiagnostics": {}, "diagnostic": {}},
        "window": {"workDoneProgress": True},
        "general": {"positionEncodings": ["utf-16"]},
    },
}
