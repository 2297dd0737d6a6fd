"""Recall reply: what a recall found, as a reply: whole results as long as they fit, links to the others."""

from __future__ import annotations

from typing import Any

import msgspec

from aurora_server.mcp.replies import MAX_LINKS, MoreLink, ToolReply, chunk_uri, cost, within
from aurora_server.mcp.tool import StructuredContent

_TRAILER = 40
"""Tokens kept for what is said at the end."""


class RecalledChunk(StructuredContent, frozen=True, kw_only=True):
    id: str
    kind: str
    name: str
    file: str
    line_start: int
    line_end: int
    score: float
    signature: str


class RecallContent(StructuredContent, frozen=True, kw_only=True):
    """`omitted`: so many results did not fit; `pending_files` are not indexed yet."""

    results: list[RecalledChunk]
    omitted: int
    pending_files: int


def hits_reply(result: dict[str, Any], tokens: int, *, structured: bool = False) -> ToolReply:
    """A recall's results, best first. Text, links and structured content cost at most `tokens` together."""
    lines: list[str] = []
    links: list[MoreLink] = []
    told: list[RecalledChunk] = []
    left = tokens - _TRAILER
    for number, found in enumerate(result["results"], start=1):
        place = f"{found['file']}:{found['line_start']}-{found['line_end']}" if found["file"] else found["id"]
        block = _block(number, found, place)
        more = MoreLink(chunk_uri(found["id"]), found["name"], place)
        linked = len(links) < MAX_LINKS and (structured or not found.get("content") or found.get("excerpt", False))
        hit = _hit(found) if structured else None
        price = cost(block) + more.cost * linked + (cost(msgspec.json.encode(hit).decode()) if hit else 0)
        if price <= left:
            left -= price
            lines.append(block)
            links += [more] * linked
            told += [hit] if hit else []
        elif more.cost <= left and len(links) < MAX_LINKS:
            left -= more.cost
            links.append(more)
    omitted = len(result["results"]) - len(lines)
    if not result["results"]:
        lines.append(within(result.get("hint") or "Memory knows nothing like that.", left))
    elif omitted:
        lines.append(f"({omitted} more did not fit; links lead to them, or ask for more tokens)")
    behind = result["freshness"]["pending_files"]
    if result["freshness"]["indexed_at"] is None:
        lines.append("(memory of this workspace is still being built; ask again in a minute)")
    elif behind:
        lines.append(f"({behind} files are not indexed yet)")
    data = (
        msgspec.to_builtins(RecallContent(results=told, omitted=omitted, pending_files=behind)) if structured else None
    )
    return ToolReply("\n".join(lines), tuple(links), data)


def _block(number: int, found: dict[str, Any], place: str) -> str:
    block = [f"{number}. {found['name']} ({found['kind']}, score {found['score']:.2f}) {place}"]
    if found.get("signature"):
        block.append(f"   {found['signature']}")
    if found.get("summary"):
        block.append(f"   {found['summary']}")
    if found.get("content"):
        block.append(_fenced(found["content"], found["language"]))
    return "\n".join(block)


def _hit(found: dict[str, Any]) -> RecalledChunk:
    return RecalledChunk(
        id=found["id"],
        kind=found["kind"],
        name=found["name"],
        file=found["file"],
        line_start=found["line_start"],
        line_end=found["line_end"],
        score=round(found["score"], 4),
        signature=found.get("signature") or "",
    )


def _fenced(content: str, language: str) -> str:
    fence = "```"
    while fence in content:
        fence += "`"
    return f"{fence}{language}\n{content}\n{fence}"
