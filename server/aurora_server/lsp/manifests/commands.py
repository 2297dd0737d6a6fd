"""Commands about one capability, for every editor: the HTTP request it makes (as curl too), and where it is used.

Both answer what they found, for clients that want to do more with it, and show it by LSP's own means.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec
from lsprotocol import types

from aurora_server.lsp.manifests.document_cache import Snapshot, manifest_of
from aurora_server.lsp.server import params_as
from aurora_server.session.errors import INVALID_PARAMS, RequestError

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer

EXAMPLE = "aurora.manifest.example"
USES = "aurora.manifest.uses"

LONGEST_MESSAGE = 4_000
"""Characters of a request that are shown; the answer has all of it."""


class Which(msgspec.Struct, frozen=True):
    """The only argument of both commands: a manifest and the name of one of its capabilities."""

    uri: str
    capability: str


class ExampleRequest(msgspec.Struct, frozen=True):
    """The request as HTTP writes it, and as a shell command; `text` is the reason where there is none."""

    text: str
    command: str


def register(server: AuroraServer) -> None:
    """Offer the commands to `workspace/executeCommand`."""
    server.command(EXAMPLE)(_command(server, EXAMPLE, example))
    server.command(USES)(_command(server, USES, uses))


async def example(ls: AuroraServer, snapshot: Snapshot, which: Which) -> ExampleRequest:
    """The request that a call with example arguments would send: answered, and shown as a message."""
    found = await asyncio.to_thread(_example, snapshot, which.capability)
    text = f"{found.text}\n\n{found.command}" if found.command else found.text
    ls.protocol.push(types.WINDOW_SHOW_MESSAGE, types.ShowMessageParams(types.MessageType.Info, text[:LONGEST_MESSAGE]))
    return found


async def uses(ls: AuroraServer, snapshot: Snapshot, which: Which) -> list[types.Location]:
    """Usages of the capability by resources: answered, and the first one shown where the client can show places."""
    from aurora_manifest.editing.occurrences import uses_of

    found = [
        types.Location(snapshot.uri, snapshot.range(each.start, each.end))
        for each in uses_of(snapshot.manifest, which.capability)
    ]
    window = ls.client.window
    if found and window is not None and window.show_document is not None and window.show_document.support:
        shown = types.ShowDocumentParams(snapshot.uri, take_focus=True, selection=found[0].range)
        ls.spawn(_show(ls, shown), "show a use of a capability")
    return found


async def _show(ls: AuroraServer, shown: types.ShowDocumentParams) -> None:
    await ls.protocol.ask(types.WINDOW_SHOW_DOCUMENT, shown)


def _example(snapshot: Snapshot, name: str) -> ExampleRequest:
    from aurora_manifest.editing.examples import example_of

    capability = snapshot.manifest.capabilities.get(name)
    if capability is None:
        raise RequestError(INVALID_PARAMS, f'the manifest has no capability "{name[:100]}"')
    found = example_of(snapshot.manifest, capability)
    return ExampleRequest(found.text, found.command)


def _command(
    ls: AuroraServer, name: str, work: Callable[[AuroraServer, Snapshot, Which], Awaitable[Any]]
) -> Callable[..., Awaitable[Any]]:
    async def command(*arguments: Any) -> Any:
        if len(arguments) != 1:
            raise RequestError(INVALID_PARAMS, f"invalid params: {name} takes one object, not {len(arguments)} values")
        which = params_as(Which, arguments[0])
        snapshot = await manifest_of(ls, which.uri)
        if snapshot is None:
            raise RequestError(INVALID_PARAMS, f"invalid params: {which.uri[:200]} is no manifest")
        return await work(ls, snapshot, which)

    return command
