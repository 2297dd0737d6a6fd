"""The other `aurora/*` requests: index, status, explain, doctor, repair, stop."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from aurora_memory import StoreCorrupt, StoreForeign, UnknownChunk
from aurora_protocol import methods
from aurora_protocol.methods import (
    DoctorResult,
    ExplainParams,
    ExplainResult,
    Finding,
    IndexParams,
    IndexResult,
    StatusResult,
)
from aurora_server.lsp.documents import path_of
from aurora_server.lsp.location import in_code_points, place_of
from aurora_server.lsp.progress import Reporter
from aurora_server.lsp.server import params_as
from aurora_server.session.errors import INVALID_PARAMS, RequestError
from aurora_server.workspace.doctor import unopened
from aurora_server.workspace.registry import WorkspaceError

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer
    from aurora_server.workspace.workspace import Workspace

MAX_EXAMPLES = 1000


def register(server: AuroraServer) -> None:
    """Answer `aurora/index`, `aurora/status`, `aurora/explain`, `aurora/doctor`, `aurora/repair`, `aurora/stop`."""
    server.feature(methods.INDEX)(index)
    server.feature(methods.STATUS)(status)
    server.feature(methods.EXPLAIN)(explain)
    server.feature(methods.DOCTOR)(doctor)
    server.feature(methods.REPAIR)(repair)
    server.feature(methods.STOP)(stop)


async def index(ls: AuroraServer, value: object) -> IndexResult:
    """Bring the index up to date, of `paths` or of all folders, and wait. Can be cancelled by its progress token."""
    params = params_as(IndexParams, value)
    wanted: list[tuple[Workspace, list[Path] | None]]
    if params.paths is None:
        wanted = [(workspace, None) for workspace in await ls.folders.opened()]
    else:
        wanted = list((await _owners(ls, params.paths)).items())
    token = params.work_done_token
    task = asyncio.current_task()
    if token is None or task is None:
        return summed([await workspace.index(paths, None) for workspace, paths in wanted])
    names = ", ".join(workspace.root.name or str(workspace.root) for workspace, _ in wanted)
    reporter = Reporter(ls, token, f"Indexing {names}")
    ls.cancellable[token] = task
    reporter.begin(cancellable=True)
    try:
        return summed([await workspace.index(paths, reporter.report) for workspace, paths in wanted])
    finally:
        del ls.cancellable[token]
        reporter.end()


def status(ls: AuroraServer, _: object) -> StatusResult:
    """The daemon and every workspace it has open."""
    return ls.core.status()


async def explain(ls: AuroraServer, value: object) -> ExplainResult | None:
    """One chunk by its id, or the one at a position (None where there is none)."""
    params = params_as(ExplainParams, value)
    if params.id is not None:
        return await _explain_id(ls, params.id)
    if params.uri is None or params.position is None:
        raise RequestError(INVALID_PARAMS, "invalid params: give `id`, or `uri` and `position`")
    place = await place_of(ls, params.uri)
    if place is None:
        return None
    position = await in_code_points(ls, params.uri, params.position)
    return await place.workspace.buffers.explain_at(place.path, position.line, position.character, place.text)


async def doctor(ls: AuroraServer, _: object) -> DoctorResult:
    """What is wrong in this session's folders, and how to mend it."""
    try:
        workspaces = await ls.folders.opened()
    except StoreCorrupt as error:
        return unopened(error)
    return await _configured(ls, _together([await workspace.doctor() for workspace in workspaces]), workspaces)


async def repair(ls: AuroraServer, _: object) -> DoctorResult:
    """Mend what can be mended in this session's folders, then say what doctor says."""
    begun: list[Finding] = []
    for root, error in await ls.folders.failed():
        if isinstance(error, StoreCorrupt) and not isinstance(error, StoreForeign):
            begun += await ls.core.repair(root)
            ls.folders.again(root)
    results = [await workspace.repair() for workspace in await ls.folders.opened()]
    whole = await _configured(ls, _together(results), await ls.folders.opened())
    return msgspec.structs.replace(whole, findings=[*begun, *whole.findings])


async def _configured(ls: AuroraServer, result: DoctorResult, workspaces: Sequence[Workspace]) -> DoctorResult:
    """The same, and what is to be said of configuration."""

    def look() -> list[Finding]:
        return ls.core.source.findings(
            {workspace.root: ls.core.trust.is_trusted(workspace.root) for workspace in workspaces}
        )

    return msgspec.structs.replace(result, findings=[*result.findings, *await asyncio.to_thread(look)])


def _together(results: list[DoctorResult]) -> DoctorResult:
    if len(results) == 1:
        return results[0]
    skipped: Counter[str] = Counter()
    for result in results:
        skipped.update(result.skipped)
    return DoctorResult(
        findings=[finding for result in results for finding in result.findings],
        skipped=dict(skipped),
        examples=[example for result in results for example in result.examples][:MAX_EXAMPLES],
    )


def stop(ls: AuroraServer, _: object) -> None:
    """End the daemon, after this answer has been sent."""
    # Not at once: the answer is written after this returns.
    asyncio.get_running_loop().call_soon(ls.core.stop, "aurora/stop")


async def _explain_id(ls: AuroraServer, chunk_id: str) -> ExplainResult:
    missing: UnknownChunk | None = None
    for workspace in await ls.folders.opened():
        try:
            return await workspace.explain(chunk_id)
        except UnknownChunk as error:
            missing = error
    assert missing is not None, "a session with no open workspace has been told so"
    raise missing


async def _owners(ls: AuroraServer, given: list[str]) -> dict[Workspace, list[Path]]:
    """The workspaces of `given`, which are absolute paths, paths within the first folder, or `file:` URIs."""
    first = (await ls.folders.opened())[-1].root
    paths = [(path_of(one) if one.startswith("file:") else None) or first / one for one in given]
    owners = await ls.folders.group(paths)
    owned = sum(map(len, owners.values()))
    if owned < len(paths):
        outside = [path for path in paths if await ls.folders.owner(path) is None]
        raise WorkspaceError(f"{outside[0]} is outside the session's folders; name its folder with --workspace")
    return owners


def summed(results: list[IndexResult]) -> IndexResult:
    """The counts of several workspaces as one."""
    if len(results) == 1:
        return results[0]
    kinds: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    for result in results:
        kinds.update(result.kinds)
        languages.update(result.languages)
    return IndexResult(
        workspace=", ".join(result.workspace for result in results),
        files=sum(result.files for result in results),
        chunks=sum(result.chunks for result in results),
        definitions=sum(result.definitions for result in results),
        kinds=dict(kinds),
        languages=dict(languages),
        parsed_files=sum(result.parsed_files for result in results),
        unchanged_files=sum(result.unchanged_files for result in results),
        removed_files=sum(result.removed_files for result in results),
        skipped_files=sum(result.skipped_files for result in results),
        failed_files=sum(result.failed_files for result in results),
        took_ms=round(sum(result.took_ms for result in results), 3),
        adoptable=next((result.adoptable for result in results if result.adoptable), None),
    )
