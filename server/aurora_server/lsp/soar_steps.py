"""`aurora/assess`, `…/decompose`, `…/verify`, `…/learn`: single steps, for agents that work on their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aurora_protocol.query_methods import (
    ASSESS,
    DECOMPOSE,
    LEARN,
    VERIFY,
    AssessParams,
    AssessResult,
    DecomposeParams,
    LearnParams,
    LearnResult,
    QueryParams,
    StepResult,
    VerifyParams,
)
from aurora_server.lsp.client_requests import SessionModel
from aurora_server.lsp.query import Telling
from aurora_server.lsp.server import params_as

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer
    from aurora_server.workspace.soar_steps import Steps


def register(server: AuroraServer) -> None:
    """Answer the requests."""
    server.feature(ASSESS)(assess)
    server.feature(DECOMPOSE)(decompose)
    server.feature(VERIFY)(verify)
    server.feature(LEARN)(learn)


async def assess(ls: AuroraServer, value: object) -> AssessResult:
    """How hard is it?"""
    return (await _steps(ls)).assess(params_as(AssessParams, value).query)


async def decompose(ls: AuroraServer, value: object) -> StepResult:
    """Decomposition of a question: its subgoals, verified."""
    params = params_as(DecomposeParams, value)
    telling = Telling(ls, QueryParams(query=params.query, partial_result_token=params.partial_result_token))
    return await (await _steps(ls, params.partial_result_token)).decompose(params, telling.tell)


async def verify(ls: AuroraServer, value: object) -> StepResult:
    """How good is it?"""
    params = params_as(VerifyParams, value)
    return await (await _steps(ls, params.partial_result_token)).verify(params)


async def learn(ls: AuroraServer, value: object) -> LearnResult:
    """Learning from a run that somebody else made."""
    return await (await _steps(ls)).learn(params_as(LearnParams, value))


async def _steps(ls: AuroraServer, token: int | str | None = None) -> Steps:
    """Steps with the models of the session's first folder."""
    workspace = (await ls.folders.opened())[0]
    model = SessionModel(ls, token) if ls.offers_model else None
    return await workspace.soar.steps(model, trusted=ls.trusted, choice=ls.model_choice)
