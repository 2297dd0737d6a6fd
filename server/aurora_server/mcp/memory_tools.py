"""The tools that ask memory, and the one that tells it something."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from aurora_protocol import methods, query_methods
from aurora_server.mcp.daemon_link import DaemonLink, Heard
from aurora_server.mcp.recall_reply import RecallContent, hits_reply
from aurora_server.mcp.replies import DEFAULT_TOKENS, MoreLink, ToolReply, chunk_uri, document_reply, within
from aurora_server.mcp.tool import Arguments, Query, StructuredContent, Tokens, Tool

Limit = Annotated[int, Meta(ge=1, le=100, description="At most so many results.")]
Id = Annotated[str, Meta(min_length=1, max_length=2_000)]


FIRST_INDEX_SECONDS = 45.0
"""For a workspace's first index; clients wait a minute for a tool. After that the answer is made of what there is."""


class Recall(Arguments, frozen=True, kw_only=True):
    query: Query
    limit: Limit = 10
    types: Annotated[
        tuple[Literal["code", "reas", "know"], ...],
        Meta(
            description="Only these: code, reas (how earlier questions were answered), know (documents).", max_length=3
        ),
    ] = ()
    max_tokens: Tokens = DEFAULT_TOKENS


class RetrieveContext(Arguments, frozen=True, kw_only=True):
    query: Query
    budget: Annotated[int, Meta(ge=100, le=50_000, description="At most so many tokens of code and knowledge.")] = (
        DEFAULT_TOKENS
    )


class Explain(Arguments, frozen=True, kw_only=True):
    id: Annotated[Id, Meta(description="A chunk's id as recall gives it; `code:path:name` without lines will do.")]
    max_tokens: Tokens = DEFAULT_TOKENS


class Learn(Arguments, frozen=True, kw_only=True):
    query: Annotated[str, Meta(min_length=1, max_length=10_000, description="What was asked or was to be done.")]
    result: Annotated[str, Meta(min_length=1, max_length=200_000, description="What came of it, in words.")]
    score: Annotated[float, Meta(ge=0, le=1, description="How well it went: kept from 0.5 on, a pattern from 0.8 on.")]
    used: Annotated[tuple[Id, ...], Meta(max_length=200, description="Ids of the chunks that helped.")] = ()
    tools: Annotated[
        tuple[Annotated[str, Meta(max_length=200)], ...],
        Meta(max_length=200, description="Names of the tools that were used, in order."),
    ] = ()


class LearnContent(StructuredContent, frozen=True, kw_only=True):
    outcome: str
    cached: bool
    reasoning_id: str | None
    is_pattern: bool
    unknown: list[str]


async def _known(link: DaemonLink, params: dict[str, Any], heard: Heard) -> dict[str, Any]:
    """What memory knows; where the workspace was never indexed, that is waited for first, and told as progress."""
    found: dict[str, Any] = await link.request(methods.RECALL, params, again=True)
    if found["freshness"]["indexed_at"] is None:
        heard({"stage": "index", "status": "in_progress", "progress": 0.0})
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FIRST_INDEX_SECONDS):
                await link.request(methods.INDEX, {}, again=True)
        heard({"stage": "index", "status": "completed", "progress": 1.0})
        found = await link.request(methods.RECALL, params, again=True)
    return found


async def _recall(link: DaemonLink, given: Recall, heard: Heard) -> ToolReply:
    params: dict[str, Any] = {"query": given.query, "limit": given.limit}
    if given.types:
        params["types"] = given.types
    return hits_reply(await _known(link, params, heard), given.max_tokens, structured=True)


async def _retrieve(link: DaemonLink, given: RetrieveContext, heard: Heard) -> ToolReply:
    # what stands around a chunk's text (its place, its fence) costs as well: what does not fit then is a link
    params = {"query": given.query, "limit": 50, "budget_tokens": given.budget * 4 // 5, "include_content": True}
    return hits_reply(await _known(link, params, heard), given.budget)


async def _explain(link: DaemonLink, given: Explain, _: Heard) -> ToolReply:
    found = await link.request(methods.EXPLAIN, {"id": given.id}, again=True)
    chunk = found["chunk"]
    lines = [f"{chunk['id']} ({chunk['kind']})", chunk["signature"], found["docstring"]]
    activation = chunk["activation"]
    lines.append("activation: " + ", ".join(f"{name} {value:.3f}" for name, value in activation.items()))
    if found["accesses"]:
        lines.append(f"used: {', '.join(found['accesses'][:10])}")
    if found["commits"]:
        lines.append(f"changed: {', '.join(found['commits'][:10])}")
    lines += [f"{each['relation']} {each['name']} ({each['id']})" for each in found["relations"][:60]]
    text = "\n".join(line for line in lines if line)
    more = MoreLink(chunk_uri(chunk["id"]), chunk["name"])
    links = (more,) if more.cost < given.max_tokens // 2 else ()
    return ToolReply(within(text, given.max_tokens - sum(each.cost for each in links)), links)


async def _learn(link: DaemonLink, given: Learn, _: Heard) -> ToolReply:
    found = await link.request(query_methods.LEARN, msgspec.to_builtins(given))
    return document_reply(found, DEFAULT_TOKENS)


MEMORY_TOOLS = (
    Tool(
        name="aurora_recall",
        title="Recall",
        description="Find functions, documents and earlier solutions in this workspace's memory: what is most useful "
        "for the query now, best first, with file, lines and signature. Takes words or names of code. Milliseconds, "
        "free and local; ask it before you search files. Links lead to each one's text.",
        takes=Recall,
        handler=_recall,
        gives=RecallContent,
    ),
    Tool(
        name="aurora_retrieve_context",
        title="Retrieve context",
        description="The code and knowledge that is most useful for a question, with its text, within a budget of "
        "tokens: what to read before you answer or change something. As fast and free as aurora_recall, which is "
        "enough where you want to know only where something is.",
        takes=RetrieveContext,
        handler=_retrieve,
    ),
    Tool(
        name="aurora_explain",
        title="Explain a chunk",
        description="All that memory knows of one chunk by its id: signature, who calls it and what it calls, what is "
        "changed together with it, when it changed and was used. Ask it before you change a function.",
        takes=Explain,
        handler=_explain,
    ),
    Tool(
        name="aurora_learn",
        title="Learn",
        description="Tell memory how something was solved and how well that went, so that it is recalled next time. "
        "Call it once, after a task is done and checked; secrets are taken out before it is kept.",
        takes=Learn,
        handler=_learn,
        gives=LearnContent,
        reads=False,
        repeatable=False,
    ),
)
