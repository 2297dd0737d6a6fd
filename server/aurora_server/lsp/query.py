"""`aurora/query`: a question for the nine phases. It streams its stages (partial results), can be cancelled, and may
ask back.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
from lsprotocol import types

from aurora_orchestration.soar.stages import Stage, StageName, Status
from aurora_protocol.query_methods import QUERY, QueryParams, QueryResult
from aurora_server.configuration.config_file import SettingsError
from aurora_server.lsp.client_requests import SessionModel, SessionUser
from aurora_server.lsp.location import place_of
from aurora_server.lsp.server import params_as
from aurora_server.session.errors import INVALID_PARAMS, REQUEST_CANCELLED, RequestError

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer
    from aurora_server.workspace.workspace import Workspace


def register(server: AuroraServer) -> None:
    """Answer `aurora/query`."""
    server.feature(QUERY)(query)


async def query(ls: AuroraServer, value: object) -> QueryResult:
    """Work on one question in the folder it is about: that of `context`, else the session's first."""
    params = params_as(QueryParams, value)
    if not params.query.strip() and params.resume is None:
        raise RequestError(INVALID_PARAMS, "invalid params: `query` is empty; ask something")
    workspace = await _asked(ls, params)
    telling = Telling(ls, params)
    token, task = params.work_done_token, asyncio.current_task()
    if token is not None and task is not None:
        ls.cancellable[token] = task
    telling.begin()
    try:
        model = SessionModel(ls, params.partial_result_token) if ls.offers_model else None
        user = SessionUser(ls, params.partial_result_token)
        return await workspace.soar.query(
            params, telling.stage, user, model, trusted=ls.trusted, choice=ls.model_choice
        )
    except SettingsError as error:
        raise RequestError(INVALID_PARAMS, str(error)) from error
    except asyncio.CancelledError as error:
        if telling.run:
            raise RequestError(REQUEST_CANCELLED, f"{QUERY} was cancelled", {"run": telling.run}) from error
        raise
    finally:
        if token is not None:
            ls.cancellable.pop(token, None)
        telling.end()


async def _asked(ls: AuroraServer, params: QueryParams) -> Workspace:
    place = await place_of(ls, params.context.uri) if params.context is not None else None
    return place.workspace if place is not None else (await ls.folders.opened())[0]


class Telling:
    """A run's stages as `$/progress`: whole for a `partialResultToken`, in words for a `workDoneToken`.

    `run` is the run's id, as soon as something was told.
    """

    def __init__(self, ls: AuroraServer, params: QueryParams) -> None:
        self._ls = ls
        self._stages = params.partial_result_token
        self._words = params.work_done_token
        self.run = ""
        self._title = f"Asking: {' '.join(params.query.split())[:60]}"

    def begin(self) -> None:
        """Say that the work has begun."""
        self._say({"kind": "begin", "title": self._title, "cancellable": True, "percentage": 0})

    def stage(self, stage: Stage) -> None:
        """Say what happened."""
        self.run = stage.run
        if self._stages is not None:
            from aurora_server.workspace.query_documents import notice_of  # there by now: the run has begun

            notice = msgspec.to_builtins(notice_of(stage))
            self._ls.protocol.push(types.PROGRESS, {"token": self._stages, "value": notice})
        words = f"{stage.stage}: {stage.detail}" if stage.detail else stage.stage
        self._say({"kind": "report", "message": words, "percentage": int(stage.progress * 100)}, droppable=True)

    def tell(self, stage: StageName, status: Status, detail: str = "", **data: Any) -> None:
        """Say what happened, in the words of a phase that is taken by itself (`stages.Tell`)."""
        self.stage(Stage(stage=stage, status=status, detail=detail, data=data))

    def end(self) -> None:
        """Say that it is over."""
        self._say({"kind": "end"})

    def _say(self, value: dict[str, object], *, droppable: bool = False) -> None:
        if self._words is not None:
            self._ls.protocol.push(types.PROGRESS, {"token": self._words, "value": value}, droppable=droppable)
