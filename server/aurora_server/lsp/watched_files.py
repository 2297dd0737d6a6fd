"""Watched files (client-side file watching, dynamically registered): what the editor saw change on disk, beside the
daemon's own watcher.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from aurora_server.lsp.documents import path_of

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer

logger = logging.getLogger(__name__)

REGISTRATION = "aurora-watched-files"


def register(server: AuroraServer) -> None:
    """Answer `workspace/didChangeWatchedFiles`."""
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(did_change_watched_files)


async def subscribe(ls: AuroraServer) -> None:
    """Ask the editor to watch source files and ignore rules, if it takes such requests."""
    workspace = ls.client.workspace
    watching = workspace.did_change_watched_files if workspace is not None else None
    if watching is None or not watching.dynamic_registration:
        return
    options = types.DidChangeWatchedFilesRegistrationOptions(
        watchers=[types.FileSystemWatcher(glob_pattern=pattern) for pattern in _patterns()]
    )
    registration = types.Registration(REGISTRATION, types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
    try:
        await ls.protocol.ask(types.CLIENT_REGISTER_CAPABILITY, types.RegistrationParams([registration]))
    except JsonRpcException as error:
        logger.info("editor does not watch files for us", extra={"code": error.code})


async def did_change_watched_files(ls: AuroraServer, params: types.DidChangeWatchedFilesParams) -> None:
    """Hand the changed paths to the workspaces they belong to. A branch switch brings thousands at once."""
    paths = [path for change in params.changes if (path := path_of(change.uri)) is not None]
    for workspace, its_paths in (await ls.folders.group(paths)).items():
        workspace.files_changed(its_paths)


def _patterns() -> list[str]:
    """Glob patterns of the files that the client is to watch."""
    from aurora_indexer.languages import all_languages  # with tree-sitter's names; only editors need it

    suffixes = sorted({suffix.removeprefix(".") for language in all_languages() for suffix in language.suffixes})
    return [f"**/*.{{{','.join(suffixes)}}}", "**/.gitignore", "**/.auroraignore"]
