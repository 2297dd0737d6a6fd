"""What a tool answers: text an agent can read within its token budget, and links to what did not fit."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

from msgspec import Struct

from aurora_memory.token_cost import estimated_tokens

DEFAULT_TOKENS = 4_000
MAX_TOKENS = 50_000
CHUNK = "aurora://chunk/"


class Link(Struct, frozen=True):
    """A resource that has more: read it with `resources/read`."""

    uri: str
    name: str
    description: str = ""


class ToolReply(Struct, frozen=True):
    """A tool's answer. `data` is what `structuredContent` carries."""

    text: str
    links: tuple[Link, ...] = ()
    data: dict[str, Any] | None = None
    failed: bool = False


def chunk_uri(chunk_id: str) -> str:
    """The resource that is a chunk's text."""
    return CHUNK + quote(chunk_id, safe="")


def chunk_of(uri: str) -> str | None:
    """The chunk id within a resource's address; None for other addresses."""
    return unquote(uri.removeprefix(CHUNK)) if uri.startswith(CHUNK) else None


def within(text: str, tokens: int) -> str:
    """The text, cut at a line's end so that it costs at most `tokens`, with a line that says so."""
    if estimated_tokens(text.encode()) <= tokens:
        return text
    kept: list[str] = []
    left = tokens - 20
    for line in text.splitlines():
        left -= estimated_tokens(line.encode()) + 1
        if left < 0:
            break
        kept.append(line)
    return "\n".join([*kept, f"… cut at {tokens:,} tokens; ask for more with `max_tokens`"])


def hits_reply(result: dict[str, Any], tokens: int) -> ToolReply:
    """A recall's results, best first, whole ones as long as they fit; the others are links."""
    lines: list[str] = []
    links: list[Link] = []
    left = tokens
    for number, hit in enumerate(result["results"], start=1):
        place = f"{hit['file']}:{hit['lineStart']}-{hit['lineEnd']}" if hit["file"] else hit["id"]
        block = [f"{number}. {hit['name']} ({hit['kind']}, score {hit['score']:.2f}) {place}"]
        if hit.get("signature"):
            block.append(f"   {hit['signature']}")
        if hit.get("summary"):
            block.append(f"   {hit['summary']}")
        if hit.get("content"):
            block.append(_fenced(hit["content"], hit["language"]))
        cost = estimated_tokens("\n".join(block).encode())
        if cost > left:
            links.append(Link(chunk_uri(hit["id"]), hit["name"], place))
            continue
        left -= cost
        lines += block
        if not hit.get("content"):
            links.append(Link(chunk_uri(hit["id"]), hit["name"], place))
    if not result["results"]:
        lines.append(result.get("hint") or "Memory knows nothing like that.")
    behind = result["freshness"]["pendingFiles"]
    if behind:
        lines.append(f"({behind} files are not indexed yet)")
    return ToolReply("\n".join(lines), tuple(links[:50]))


def _fenced(content: str, language: str) -> str:
    fence = "```"
    while fence in content:
        fence += "`"
    return f"{fence}{language}\n{content}\n{fence}"
