"""Client preferences: what a user can switch off, per session: `initializationOptions`, pushed settings, or settings
we ask for.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from aurora_protocol import typed

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer

logger = logging.getLogger(__name__)

SECTION = "aurora"


class Preferences(msgspec.Struct, frozen=True, rename="camel"):
    """The `aurora` section of an editor's settings. Unknown names are left alone: they may be the extension's own."""

    hover: bool = True
    code_lens: bool = True
    diagnostics: bool = True


def register(server: AuroraServer) -> None:
    """Answer `workspace/didChangeConfiguration`."""
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(did_change_configuration)


async def did_change_configuration(ls: AuroraServer, params: types.DidChangeConfigurationParams) -> None:
    """Take the settings that were pushed, or fetch them from editors that only say that something changed."""
    pushed = section_of(params.settings)
    if pushed is not None:
        take(ls, pushed)
    else:
        await fetch(ls)


async def fetch(ls: AuroraServer) -> None:
    """Ask the editor for our section, if it answers such questions."""
    if ls.client.workspace is None or not ls.client.workspace.configuration:
        return
    item = types.ConfigurationItem(section=SECTION)
    try:
        answers = await ls.protocol.ask(types.WORKSPACE_CONFIGURATION, types.ConfigurationParams([item]))
    except JsonRpcException as error:
        logger.info("editor did not tell its settings", extra={"code": error.code})
        return
    if answers and isinstance(answers[0], dict):
        take(ls, answers[0])


def take(ls: AuroraServer, section: dict[str, Any]) -> None:
    """Use these settings. What they do not name keeps its default; what has a wrong type is told to the user."""
    known = {field.encode_name for field in msgspec.structs.fields(Preferences)}
    try:
        chosen = typed.convert({name: value for name, value in section.items() if name in known}, Preferences)
    except msgspec.ValidationError as error:
        text = f"AURORA keeps its previous settings: {error} in the '{SECTION}' section"
        ls.protocol.push(types.WINDOW_SHOW_MESSAGE, types.ShowMessageParams(types.MessageType.Warning, text))
        return
    if chosen != ls.preferences:
        ls.preferences = chosen
        for callback in ls.on_preferences:
            callback()


def section_of(settings: Any) -> dict[str, Any] | None:
    """Our section of pushed settings, which may be all of them or the section alone; None when it is not there."""
    if not isinstance(settings, dict):
        return None
    section = settings.get(SECTION, settings)
    return section if isinstance(section, dict) and section else None
