"""Memory tools of MCP (recall, code context within a token budget, explain, learn): those that ask memory, and the one
that tells it something.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from aurora_protocol import methods, query_methods
from aurora_protocol.human_text import count, plain, shorten
from aurora_protocol.provenance_text import drifted_at, learned_by
from aurora_server.mcp.daemon_link import DaemonLink, Heard
from aurora_server.mcp.replies import (
    DEFAULT_TOKENS,
    MAX_LINKS,
    MoreLink,
    ToolReply,
    chunk_uri,
    cost,
    document_reply,
    within,
)
from aurora_server.mcp.tool import Arguments, Query, StructuredContent, Tokens, Tool

_TRAILER = 40
"""Tokens kept for what is said at the end."""


_LONGEST_LINE = 150
"""Characters of a result that is told without its text: some 35 tokens."""


def places_reply(result: dict[str, Any], tokens: int) -> ToolReply:
    """A recall's results, best first, a line each, told once: no links, no second form of the same.

    A result's id is `code:` (`know:`), its file and its name, which are in the line.
    """
    lines: list[str] = []
    left = tokens - _TRAILER
    for number, found in enumerate(result["results"], start=1):
        line = _line(number, found)
        if (price := cost(line) + 1) > left:
            break
        left -= price
        lines.append(line)
    omitted = len(result["results"]) - len(lines)
    if not result["results"]:
        lines.append(within(result.get("hint") or "Memory knows nothing like that.", left))
    elif omitted:
        lines.append(f"({omitted} more did not fit; ask for more with `max_tokens`)")
    if result["results"] and result.get("hint"):
        lines.append(shorten(result["hint"], _LONGEST_LINE))
    return ToolReply("\n".join([*lines, *_behind(result["freshness"])]))


def _line(number: int, found: dict[str, Any]) -> str:
    """Result as one line."""
    if not found["file"]:
        where = "".join(f" [{each}]" for each in _marks(found))
        said = f"{number}. {found['id']} {plain(found.get('signature') or '')}"
        return shorten(said, _LONGEST_LINE - len(where)) + where
    lines = f"{found['line']}-{found['line_end']}"
    if found["kind"] == "module" and found["line"] > found["line_start"]:
        lines = f"{found['line']}"  # of what is left of a file, one line answers
    place = f"{number}. {_maybe(found)}{found['name']} {found['file']}:{lines}"
    also = ", ".join(f"{each['name']} :{each['line']}" for each in found.get("also") or ())
    told = [plain(found.get("relation") or ""), f"also {also}" if also else "", plain(found.get("summary") or "")]
    said = next((each for each in told if each and len(place) + 3 + len(each) <= _LONGEST_LINE), "")
    return f"{place} — {said}" if said else place


def _maybe(found: dict[str, Any]) -> str:
    return "maybe " if found.get("likely") else ""


def _marks(found: dict[str, Any]) -> list[str]:
    """What a pattern is to be weighed by: where it is from, whose it is, and what of it holds no more."""
    whose = learned_by(found["provenance"]) if found.get("provenance") else ""
    return [each for each in (_elsewhere(found), whose, drifted_at(found.get("drifted") or ())) if each]


def _elsewhere(found: dict[str, Any]) -> str:
    """Where a pattern of another repository is from, and whose it is: to be weighed as such."""
    if not found.get("transferred_from"):
        return ""
    who = "you" if found.get("learned_by") == "" else shorten(plain(found.get("learned_by") or "a colleague"), 40)
    return f"{who} solved this in another repository, {shorten(plain(found['transferred_from']), 40)}"


def _behind(freshness: dict[str, Any]) -> list[str]:
    """What is not known yet, on a line at the end."""
    if freshness["indexed_at"] is None:
        return ["(memory of this workspace is still being built; ask again in a minute)"]
    behind = freshness["pending_files"]
    return [f"({count(behind, 'file')} still to be indexed)"] if behind else []


def hits_reply(result: dict[str, Any], tokens: int) -> ToolReply:
    """A recall's results with their texts, best first; links lead to what does not fit. Costs at most `tokens`."""
    lines: list[str] = []
    links: list[MoreLink] = []
    left = tokens - _TRAILER
    for number, found in enumerate(result["results"], start=1):
        place = f"{found['file']}:{found['line_start']}-{found['line_end']}" if found["file"] else found["id"]
        block = _block(number, found, place)
        more = MoreLink(chunk_uri(found["id"]), found["name"], place)
        linked = len(links) < MAX_LINKS and (not found.get("content") or found.get("excerpt", False))
        price = cost(block) + more.cost * linked
        if price <= left:
            left -= price
            lines.append(block)
            links += [more] * linked
        elif more.cost <= left and not found.get("transferred_from") and len(links) < MAX_LINKS:
            left -= more.cost
            links.append(more)
    omitted = len(result["results"]) - len(lines)
    if not result["results"]:
        lines.append(within(result.get("hint") or "Memory knows nothing like that.", left))
    elif omitted:
        lines.append(f"({omitted} more did not fit; links lead to them, or ask for more tokens)")
    if result["results"] and result.get("hint"):
        lines.append(shorten(result["hint"], _LONGEST_LINE))
    return ToolReply("\n".join([*lines, *_behind(result["freshness"])]), tuple(links))


def _block(number: int, found: dict[str, Any], place: str) -> str:
    block = [f"{number}. {_maybe(found)}{found['name']} ({found['kind']}, score {found['score']:.2f}) {place}"]
    if found.get("signature"):
        block.append(f"   {found['signature']}")
    block += [f"   {each}" for each in _marks(found)]
    if found.get("summary"):
        block.append(f"   {found['summary']}")
    if found.get("content"):
        block.append(_fenced(found["content"], found["language"]))
    return "\n".join(block)


def _fenced(content: str, language: str) -> str:
    """Code fence longer than any in the content."""
    fence = "```"
    while fence in content:
        fence += "`"
    return f"{fence}{language}\n{content}\n{fence}"


Limit = Annotated[int, Meta(ge=1, le=100, description="Most results")]
Id = Annotated[str, Meta(min_length=1, max_length=2_000)]


FIRST_INDEX_SECONDS = 45.0
"""For a workspace's first index; clients wait a minute for a tool. After that the answer is made of what there is."""


class Recall(Arguments, frozen=True, kw_only=True):
    query: Query
    limit: Limit = 10
    types: Annotated[
        tuple[Literal["code", "reas", "know"], ...],
        Meta(description="reas: earlier answers; know: documents", max_length=3),
    ] = ()
    max_tokens: Tokens = DEFAULT_TOKENS


class RetrieveContext(Arguments, frozen=True, kw_only=True):
    query: Query
    budget: Annotated[int, Meta(ge=100, le=50_000, description="Tokens of text")] = DEFAULT_TOKENS


class Explain(Arguments, frozen=True, kw_only=True):
    id: Annotated[
        Id,
        Meta(description="code:FILE:NAME, a name, or FILE:LINE"),
    ]
    max_tokens: Tokens = DEFAULT_TOKENS


class Learn(Arguments, frozen=True, kw_only=True):
    query: Annotated[str, Meta(min_length=1, max_length=10_000, description="The task")]
    result: Annotated[str, Meta(min_length=1, max_length=200_000, description="What solved it")]
    score: Annotated[float, Meta(ge=0, le=1, description="0 to 1; kept from 0.5")]
    used: Annotated[tuple[Id, ...], Meta(max_length=200, description="Ids that helped")] = ()
    tools: Annotated[
        tuple[Annotated[str, Meta(max_length=200)], ...],
        Meta(max_length=200, description="Tools used"),
    ] = ()


class LearnContent(StructuredContent, frozen=True, kw_only=True):
    outcome: str
    cached: bool
    reasoning_id: str | None
    is_pattern: bool
    unknown: list[str]


async def _known(link: DaemonLink, params: dict[str, Any], heard: Heard) -> dict[str, Any]:
    """Recall; where the workspace was never indexed, that is waited for first, and told as progress."""
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
    """Handler of the recall tool."""
    params: dict[str, Any] = {"query": given.query, "limit": given.limit}
    if given.types:
        params["types"] = given.types
    return places_reply(await _known(link, params, heard), given.max_tokens)


async def _retrieve(link: DaemonLink, given: RetrieveContext, heard: Heard) -> ToolReply:
    """Handler of the tool that retrieves code context within a token budget."""
    # what stands around a chunk's text (its place, its fence) costs as well: what does not fit then is a link
    params = {"query": given.query, "limit": 50, "budget_tokens": given.budget * 4 // 5, "include_content": True}
    return hits_reply(await _known(link, params, heard), given.budget)


async def _explain(link: DaemonLink, given: Explain, _: Heard) -> ToolReply:
    """Handler of the explain tool."""
    found = await link.request(methods.EXPLAIN, {"id": given.id}, again=True)
    chunk = found["chunk"]
    lines = [f"{chunk['id']} ({chunk['kind']})", chunk["signature"], found["docstring"]]
    activation = chunk["activation"]
    lines.append("activation: " + ", ".join(f"{name} {value:.3f}" for name, value in activation.items()))
    if found["accesses"]:
        lines.append(f"used: {', '.join(found['accesses'][:10])}")
    if found["commits"]:
        lines.append(f"changed: {', '.join(found['commits'][:10])}")
    lines += [
        f"{'maybe ' if each.get('likely') else ''}{each['relation']} {each['name']} ({each['id']})"
        for each in found["relations"][:60]
    ]
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
        description="Find functions, documents and earlier solutions: name, file, lines, best first. Free, local, "
        "fast: ask before you search.",
        more="What is most useful for the query now, of this workspace's memory. Takes words or names of code. A "
        "result's id is `code:FILE:NAME` (`know:` for documents, `reas:` for solutions), which aurora_explain takes.",
        core=True,
        takes=Recall,
        handler=_recall,
    ),
    Tool(
        name="aurora_retrieve_context",
        title="Retrieve context",
        description="The text of what matters most for a question, within a token budget: read it before you answer "
        "or change something.",
        more="As fast and free as aurora_recall, which is enough where you want to know only where something is.",
        core=True,
        takes=RetrieveContext,
        handler=_retrieve,
    ),
    Tool(
        name="aurora_explain",
        title="Explain",
        description="Who calls a function, what it calls, what changes with it. Ask before you change it.",
        more="All that memory knows of one chunk: signature, relations, activation, when it changed and was used.",
        core=True,
        takes=Explain,
        handler=_explain,
    ),
    Tool(
        name="aurora_learn",
        title="Learn",
        description="Tell memory how a task was solved, once, after it is checked; recalled next time.",
        more="Kept from a score of 0.5 on, as a pattern from 0.8 on; secrets are taken out before.",
        core=True,
        takes=Learn,
        handler=_learn,
        gives=LearnContent,
        reads=False,
        repeatable=False,
    ),
)
