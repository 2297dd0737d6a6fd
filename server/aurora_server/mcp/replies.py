"""Tool replies (output of a tool, truncated): text an agent can read within its token budget, and links to what did not
fit.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, unquote

from msgspec import Struct

from aurora_memory.token_cost import estimated_tokens

DEFAULT_TOKENS = 4_000
MAX_TOKENS = 50_000
MAX_LINKS = 50
CHUNK = "aurora://chunk/"

_LINK_TOKENS = 24
"""Tokens of a link besides its words: its type, its names of members."""
_SHORTENED = (4_000, 1_000, 250, 60)
"""Characters to which the texts of a document are cut, until it fits."""
_FEWER = (50, 20, 5, 1)
"""Items to which its lists are cut after that."""


class MoreLink(Struct, frozen=True):
    """A resource that has more: read it with `resources/read`."""

    uri: str
    name: str
    description: str = ""

    @property
    def cost(self) -> int:
        """In tokens, as it travels."""
        return cost(f"{self.uri}{self.name}{self.description}") + _LINK_TOKENS


class ToolReply(Struct, frozen=True):
    """A tool's answer. `data` is what `structuredContent` carries."""

    text: str
    links: tuple[MoreLink, ...] = ()
    data: dict[str, Any] | None = None
    failed: bool = False


def cost(text: str) -> int:
    """Cost of a text, in tokens."""
    return estimated_tokens(text.encode("utf-8", "replace"))


def chunk_uri(chunk_id: str) -> str:
    """The resource that is a chunk's text."""
    return CHUNK + quote(chunk_id, safe="")


def chunk_of(uri: str) -> str | None:
    """The chunk id within a resource's address; None for other addresses."""
    return unquote(uri.removeprefix(CHUNK)) if uri.startswith(CHUNK) else None


def within(text: str, tokens: int, more: str = "ask for more with `max_tokens`") -> str:
    """Truncated text, of at most `tokens`: cut at a line's end where there is one, with a line that says so."""
    if cost(text) <= tokens:
        return text
    last = f"… cut at {tokens:,} tokens; {more}"
    left = tokens - cost(last) - 1
    kept: list[str] = []
    for line in text.splitlines():
        price = cost(line) + 1
        if price > left:
            if not kept:
                kept.append(line[: max(left * 2 // 3, 0)])  # a character costs 1.2 tokens at most
            break
        left -= price
        kept.append(line)
    return "\n".join([*kept, last])


def document_reply(document: dict[str, Any], tokens: int, *, structured: bool = True) -> ToolReply:
    """A document as JSON, and as structured content too, which cost at most `tokens` together."""
    fitted = within_document(document, tokens // 2 if structured else tokens)
    return ToolReply(_json(fitted), data=fitted if structured else None)


def within_document(document: Any, tokens: int) -> Any:
    """The document with its texts, then its lists, cut until it costs at most `tokens` as JSON, as far as that goes."""
    fitted = document
    for most in (None, *_SHORTENED):
        fitted = _cut(document, most, None)
        if cost(_json(fitted)) <= tokens:
            return fitted
    for few in _FEWER:
        fitted = _cut(document, _SHORTENED[-1], few)
        if cost(_json(fitted)) <= tokens:
            return fitted
    return fitted


def _cut(value: Any, most: int | None, few: int | None) -> Any:
    """Document with long texts and lists truncated."""
    if isinstance(value, str):
        return value if most is None or len(value) <= most else value[: most - 1] + "…"
    if isinstance(value, dict):
        return {key: _cut(each, most, few) for key, each in value.items()}
    if isinstance(value, list):
        return [_cut(each, most, few) for each in (value if few is None else value[:few])]
    return value


def _json(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))
