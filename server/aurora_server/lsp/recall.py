"""`aurora/recall` (federated search): one question to all folders of the session, their answers merged into one,
ranked, without duplicates.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol.types import ErrorCodes
from msgspec.structs import replace

from aurora_memory.recall.token_budget import KnapsackItem, fill_token_budget
from aurora_protocol import methods
from aurora_protocol.methods import EditorContext, Freshness, Recalled, RecallParams, RecallResult
from aurora_server.lsp.location import place_of
from aurora_server.lsp.server import params_as
from aurora_server.session.errors import RequestError
from aurora_server.session.folders import owner_of
from aurora_server.workspace.focus import EditorCursor

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer
    from aurora_server.workspace.closed_memories import ClosedAnswers, ClosedMemory
    from aurora_server.workspace.workspace import Workspace

TYPES = ("code", "reas", "know")
MAX_LIMIT = 1000
MAX_QUERY = 16 * 1024
"""Characters: more than any question, less than a pasted log."""

MAX_LOGS = 5

_STATES = ("ready", "scanning", "indexing", "error")
"""From good to bad; a merged answer is as fresh as its worst part."""


def register(server: AuroraServer) -> None:
    """Answer `aurora/recall`."""
    server.feature(methods.RECALL)(recall)


async def recall(ls: AuroraServer, value: object) -> RecallResult:
    """Ask every folder of the session (`everywhere`: every memory that this machine knows), and merge the answers."""
    began = time.perf_counter()
    params = checked(params_as(RecallParams, value))
    workspaces = await _asked(ls, everywhere=params.everywhere)
    closed = asyncio.create_task(_closed(ls, params, workspaces)) if params.everywhere else None
    focus, cursor = await _cursor(ls, params.context)
    answers = await asyncio.gather(
        *(workspace.answer(params, cursor if workspace is focus else None) for workspace in workspaces)
    )
    others = None if closed is None else await closed
    patterns: list[Recalled] = []
    if params.everywhere or params.types == ["reas"]:
        for workspace in workspaces:
            patterns += await workspace.transferred_patterns(params)
    if len(answers) == 1 and others is None:
        whole = answers[0].result
    else:
        took_ms = round((time.perf_counter() - began) * 1000, 3)
        results = [answer.result for answer in answers]
        whole = merged(params, list(zip(workspaces, results, strict=True)), took_ms, others)
    whole = with_patterns(params, whole, patterns)
    for workspace, answer in zip(workspaces, answers, strict=True):
        workspace.uses.show(answer.told(whole.results))
    return whole


def checked(params: RecallParams) -> RecallParams:
    """The params, if they can be answered. Raises RequestError that names the field."""
    if not params.query.strip():
        raise _invalid("`query` is empty; say what you look for")
    if len(params.query) > MAX_QUERY:
        raise _invalid(f"`query` has {len(params.query)} characters; the limit is {MAX_QUERY}")
    if not 1 <= params.limit <= MAX_LIMIT:
        raise _invalid(f"`limit` is {params.limit}; it must be from 1 to {MAX_LIMIT}")
    if params.budget_tokens is not None and params.budget_tokens < 1:
        raise _invalid(f"`budget_tokens` is {params.budget_tokens}; it must be at least 1")
    unknown = [kind for kind in params.types or [] if kind not in TYPES]
    if unknown:
        raise _invalid(f"`types` has {unknown[0]!r}; the types are {', '.join(TYPES)}")
    return params


def merged(
    params: RecallParams,
    answers: list[tuple[Workspace, RecallResult]],
    took_ms: float,
    others: OtherAnswers | None = None,
) -> RecallResult:
    """Merge (rank fusion) of several answers into one: best first, none twice, within the limit and the token budget.

    Where some answer a question about relations, which they say in their hints, only they do. `others` are those of
    memories that nobody has open; how fresh the answer is, they do not say.
    """
    closed = others.answers.found if others is not None else []
    told = [each for each in answers if _tells(each[1])]
    closed_told = [each for each in closed if _tells(each[1])]
    if told or closed_told:
        closed = closed_told
    speaking = told if told or closed_told else answers
    found = own_results([(workspace, answer.results) for workspace, answer in speaking])
    if others is not None:
        found += _new_ones(found, others.first_commits, closed)
    found.sort(key=lambda one: -one.score)
    if params.budget_tokens is None:
        results = found[: params.limit]
    else:
        # Each folder has chosen the form that suits its answer; here only what is delivered can be left out.
        plan = fill_token_budget(
            [KnapsackItem(one.score, one.tokens) for one in found], params.budget_tokens, params.limit
        )
        results = [found[place] for place in sorted(plan)]
    every = [answer for _, answer in speaking] + [answer for _, answer in closed]
    hints = dict.fromkeys(answer.hint for answer in every if answer.hint)
    hint = " ".join(hints) if told or closed_told else None if results else next(iter(hints), None)
    return RecallResult(
        query=params.query,
        took_ms=took_ms,
        freshness=freshness([answer.freshness for _, answer in told or answers]),
        results=results,
        hint=hint,
        missing=not results and any(answer.missing for _, answer in answers),
        logs=sorted((log for _, answer in speaking for log in answer.logs), key=lambda log: -log.score)[:MAX_LOGS],
        left_out=others.answers.left_out if others is not None else [],
    )


def with_patterns(params: RecallParams, answer: RecallResult, patterns: Sequence[Recalled]) -> RecallResult:
    """The answer with patterns of other repositories among its results, but for those that it has already.

    Nothing is added to what is said of one place, or of relations.
    """
    if answer.missing or _tells(answer):
        return answer
    known = {(one.id, one.signature) for one in answer.results}
    new = {(one.id, one.signature): one for one in patterns if (one.id, one.signature) not in known}
    if not new:
        return answer
    found = sorted((*answer.results, *new.values()), key=lambda one: -one.score)[: params.limit]
    if params.budget_tokens is not None:
        plan = fill_token_budget(
            [KnapsackItem(one.score, one.tokens) for one in found], params.budget_tokens, params.limit
        )
        found = [found[place] for place in sorted(plan)]
    return replace(answer, results=found, hint=None if found else answer.hint)


class OtherAnswers(NamedTuple):
    """Answers of memories that nobody has open, and the first commit of each open workspace's repository, by root."""

    answers: ClosedAnswers
    first_commits: Mapping[str, str]


def _tells(answer: RecallResult) -> bool:
    return bool(answer.results and answer.hint)


def _new_ones(
    found: Sequence[Recalled], first_commits: Mapping[str, str], closed: Sequence[tuple[ClosedMemory, RecallResult]]
) -> list[Recalled]:
    """What closed memories tell that nobody told before: clones and work trees of one repository say the same."""
    known = {key for one in found for key in _keys(one, first_commits.get(one.workspace, ""))}
    new: list[Recalled] = []
    for memory, answer in closed:
        for one in answer.results:
            keys = _keys(one, memory.git_root)
            if not known & keys:
                new.append(one)
            known |= keys
    return new


def _keys(one: Recalled, first_commit: str) -> set[tuple[str, ...]]:
    """Deduplication keys, by which results are the same: a place on disk, a place in a repository, a pattern."""
    if not one.file:
        return {(one.id, one.signature)}
    keys: set[tuple[str, ...]] = {(f"{one.workspace}/{one.file}", one.name, str(one.line_start))}
    if first_commit:
        keys.add((first_commit, one.id, one.signature, one.summary))
    return keys


def own_results(answers: Sequence[tuple[Workspace, list[Recalled]]]) -> list[Recalled]:
    """Overlap of nested workspaces: of what both know, only what the deeper one says."""
    workspaces = sorted((each for each, _ in answers), key=lambda each: len(each.root.parts), reverse=True)
    if len(workspaces) < 2:
        return [one for _, found in answers for one in found]
    return [
        one
        for workspace, found in answers
        for one in found
        if not one.file or owner_of(workspace.root / one.file, workspaces) is workspace
    ]


def freshness(parts: list[Freshness]) -> Freshness:
    """Index freshness of several as one: the oldest time, the sums, the worst state."""
    times = [part.indexed_at for part in parts]
    reading = [part.history_percent for part in parts if part.history_percent is not None]
    return Freshness(
        indexed_at=None if None in times else min(time for time in times if time is not None),
        pending_files=sum(part.pending_files for part in parts),
        skipped_files=sum(part.skipped_files for part in parts),
        files=sum(part.files for part in parts),
        chunks=sum(part.chunks for part in parts),
        state=max((part.state for part in parts), key=_STATES.index),
        heard=all(part.heard for part in parts),
        history_percent=min(reading, default=None),
    )


async def _cursor(ls: AuroraServer, context: EditorContext | None) -> tuple[Workspace | None, EditorCursor | None]:
    """Cursor of the user, and the workspace that it is in; None for files outside the session's folders."""
    place = await place_of(ls, context.uri) if context is not None else None
    if context is None or place is None:
        return None, None
    line = None if context.position is None else context.position.line
    return place.workspace, EditorCursor(place.path, line, place.text)


async def _closed(ls: AuroraServer, params: RecallParams, opened: Sequence[Workspace]) -> OtherAnswers:
    """Answers of closed memories (all projects)."""
    commits = await asyncio.gather(*(each.first_commit() for each in opened))
    answers = await ls.core.closed_memories.answer(params, [each.root for each in opened])
    return OtherAnswers(answers, {str(each.root): commit for each, commit in zip(opened, commits, strict=True)})


async def _asked(ls: AuroraServer, *, everywhere: bool) -> list[Workspace]:
    """Workspaces that are asked: the session's, or every open one."""
    if not everywhere:
        return await ls.folders.opened()
    opened = ls.core.workspaces.opened()
    return sorted(opened, key=lambda each: len(each.root.parts), reverse=True) or await ls.folders.opened()


def _invalid(message: str) -> RequestError:
    return RequestError(ErrorCodes.InvalidParams.value, f"invalid params: {message}")
