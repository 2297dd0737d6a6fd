"""Server object of one session (language server): pygls' registry and documents, our folders, preferences and
background tasks.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from aurora_protocol import typed
from aurora_protocol.version import __version__
from aurora_server.lsp.configuration import Preferences
from aurora_server.lsp.documents import Documents
from aurora_server.session.converter import shared_converter
from aurora_server.session.core import Core
from aurora_server.session.dispatch import SessionProtocol
from aurora_server.session.folders import Folders

if TYPE_CHECKING:
    from aurora_deliverables.deliverable import Deliverable
    from aurora_server.configuration.model_selection import ModelChoice
    from aurora_server.workspace.workspace import Workspace

logger = logging.getLogger(__name__)

Params = TypeVar("Params", bound=msgspec.Struct)


class AuroraServer(LanguageServer):
    """Language server of one session. `end` ends it; the argument says why, for the log."""

    protocol: SessionProtocol

    def __init__(self, core: Core, end: Callable[[str], None]) -> None:
        super().__init__("aurora", __version__, protocol_cls=SessionProtocol, converter_factory=shared_converter)
        self.core = core
        self.end = end
        self.on_workspace: list[Callable[[Workspace], Callable[[], None]]] = []
        """Called with each workspace of this session as it opens; what they return is called when it is left."""
        self.on_open: list[Callable[[str], None]] = []
        """Called with the URI of each document that was opened."""
        self.on_change: list[Callable[[str], None]] = []
        """Called with the URI of each document that was changed."""
        self.on_close: list[Callable[[str], None]] = []
        """Called with the URI of each document that was closed."""
        self.on_save: list[Callable[[str], None]] = []
        """Called with the URI of each document that was saved."""
        self.on_preferences: list[Callable[[], None]] = []
        """Called when the user's preferences have changed."""
        self.on_deliverables: list[Callable[[Workspace, Sequence[Deliverable]], None]] = []
        """Called with deliverables that have changed, a moment after they did."""
        self.wants_deliverables = False
        """Whether the client asked, in its `initializationOptions`, to be told of changed deliverables."""
        self.asks_user = False
        """Whether the client said, in its `initializationOptions`, that it puts questions to its user."""
        self.offers_model = False
        """Whether the client offers its own language model."""
        self.model_choice: ModelChoice | None = None
        """The models that the client wishes for, over what is configured."""
        self.trusted = False
        """Whether the editor's user trusts the workspace: it may then run what it brings, as after `aurora trust`."""
        self.folders = Folders(core.workspaces, self._workspace_opened, self._workspace_left)
        self.preferences = Preferences()
        self.source = "lsp"
        """Source that events of deliverables over this session are given: `lsp`, or `cli`."""
        self.cancellable: dict[str | int, asyncio.Task[Any]] = {}
        """Requests with a progress that the user can cancel, by its token."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._farewells: dict[Workspace, list[Callable[[], None]]] = {}

    @property
    def documents(self) -> Documents:
        """The open documents. Only there after `initialize`, as everything that needs them."""
        documents = self.protocol.workspace
        assert isinstance(documents, Documents), "initialize replaces pygls' own documents"
        return documents

    @property
    def client(self) -> types.ClientCapabilities:
        """Capabilities of the client, as it said them."""
        return self.protocol.client_capabilities

    @property
    def pulls_diagnostics(self) -> bool:
        """Whether the client asks for diagnostics itself: then none are pushed to it."""
        text_document = self.client.text_document
        return text_document is not None and text_document.diagnostic is not None

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Background task beside the session's messages; cancelled when the session ends, logged when it fails."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._spawned_ended)
        return task

    def close(self, reason: str = "") -> None:
        """Let go of everything this session holds; `reason` is told to who waits for an answer."""
        self.protocol.close(reason)
        for task in self._tasks:
            task.cancel()
        self.folders.close()

    def take_apart(self) -> bool:
        """Let go of all that refers to itself, where nothing of the session runs any more; returns whether it did.

        A session has thousands of small objects. Apart they go at once; else they stay until all there is is collected,
        which of a daemon that has much to do is hours, and a hundred sessions, later.
        """
        if self._tasks or self.protocol.is_busy():
            return False
        for part in (self.protocol.fm, self.protocol, self):
            vars(part).clear()
        return True

    def _spawned_ended(self, task: asyncio.Task[Any]) -> None:
        """Callback of a background task's end; its error is logged."""
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("background task failed", extra={"task": task.get_name()}, exc_info=error)

    def _workspace_opened(self, workspace: Workspace) -> None:
        if workspace not in self._farewells:  # two folders may be links to one
            self._farewells[workspace] = [callback(workspace) for callback in self.on_workspace]

    def _workspace_left(self, workspace: Workspace) -> None:
        for farewell in self._farewells.pop(workspace, []):
            farewell()


def params_as(shape: type[Params], value: object) -> Params:
    """Check the params of an `aurora/*` request; none at all is the same as `{}`. Raises msgspec.ValidationError."""
    return typed.convert({} if value is None else value, shape)
