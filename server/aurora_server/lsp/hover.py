"""Hover provider: what memory knows of the definition under the cursor, in two or three lines; on tasks, their
deliverable.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types
from msgspec import UnsetType, structs, to_builtins

from aurora_indexer import documents
from aurora_protocol.methods import ExplainResult, PatternUse, RelatedChunk
from aurora_protocol.provenance_text import drifted_at, learned_by, parts_of
from aurora_server.lsp import deliverable_lens
from aurora_server.lsp.location import in_code_points, place_of
from aurora_server.lsp.manifests.document_cache import snapshot_of
from aurora_server.lsp.manifests.hover import hover as manifest_hover
from aurora_server.lsp.memory_text import ago, counted, escaped, fenced, file_uri, moment, month, warmth, within
from aurora_server.workspace.wire import named_in

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer

NAMED = 3
"""Related chunks named per relation; the rest are counted."""

PATTERNS = 1
"""Ways of working shown: the one that went best."""

LONGEST_QUERY = 100

BEHIND = "changes pending: files are being checked"

_ORDER = (
    *("called by", "maybe called by", "passed on by", "calls", "inherits", "inherited by", "maybe inherited by"),
    *("edited with", "maybe calls", "maybe inherits"),
)
_UNMENTIONED = frozenset({"passes on", "contains", "contained in", "imports", "imported by", "used", "used by"})


def register(server: AuroraServer) -> None:
    """Answer `textDocument/hover`."""
    server.feature(types.TEXT_DOCUMENT_HOVER)(hover)


async def hover(ls: AuroraServer, params: types.HoverParams) -> types.Hover | None:
    """Hover of the chunk at the cursor; None where nothing is known."""
    uri = params.text_document.uri
    if not ls.preferences.hover:
        return None
    snapshot = await snapshot_of(ls, uri)
    if snapshot is not None:
        return await manifest_hover(snapshot, params.position, markdown=_wants_markdown(ls.client))
    place = await place_of(ls, uri)
    if place is None:
        return None
    as_markdown = _wants_markdown(ls.client)
    of_deliverable = await deliverable_lens.hover(ls, uri, params.position, markdown=as_markdown)
    if of_deliverable is not None:
        return of_deliverable
    position = await in_code_points(ls, uri, params.position)
    here = (place.path, position.line, position.character, place.text)
    explained = await place.workspace.buffers.explain_at(*here)
    is_around = explained is None
    if explained is None:
        explained = await place.workspace.buffers.explain_around(*here, on_names=True)
    if explained is None:
        return None
    title = _title(explained, place.path, is_around=is_around)
    root, now, behind = place.workspace.root, datetime.now(UTC), place.workspace.behind
    if as_markdown:
        text = markdown(explained, root, now, title=title, behind=behind)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))
    return types.Hover(
        types.MarkupContent(types.MarkupKind.PlainText, plain(explained, now, title=title, behind=behind))
    )


def _title(explained: ExplainResult, path: Path, *, is_around: bool) -> str:
    """What is said of which chunk this is: its name where the cursor is elsewhere in it, its signature in documents.

    In code nothing, its name stands before what is known: the language's own server tells the signature.
    """
    if is_around:
        return explained.chunk.name
    return explained.chunk.signature or explained.chunk.name if documents.for_path(path.name) is not None else ""


def markdown(explained: ExplainResult, root: Path, now: datetime, *, title: str = "", behind: bool = False) -> str:
    """The hover's text, every name a link, below its `title`. `behind`: changes of files may be pending."""
    known = f"*{escaped(why(explained, now))}*"
    lines = [fenced(title, explained.chunk.language), known] if title else [f"`{explained.chunk.name}` — {known}"]
    related = _related(explained, lambda link: f"[{escaped(link.name)}]({file_uri(root / link.file, link.line)})")
    if related:
        lines.append(related)
    lines += [
        f"pattern: *{escaped(_quoted(each))}* {_success(each)}{escaped(_marks(each))}"
        for each in explained.patterns[:PATTERNS]
    ]
    if behind:
        lines.append(f"*{BEHIND}*")
    return "\n\n".join(lines)


def plain(explained: ExplainResult, now: datetime, *, title: str = "", behind: bool = False) -> str:
    """The hover's text for clients that show no Markdown."""
    related = _related(explained, lambda link: f"{link.name} ({link.file}:{link.line})")
    patterns = [
        f"pattern: {' '.join(_quoted(each).split())} {_success(each)}{_marks(each)}"
        for each in explained.patterns[:PATTERNS]
    ]
    known = why(explained, now)
    first = (title, known) if title else (f"{explained.chunk.name} — {known}",)
    lines = (*first, related, *patterns, BEHIND if behind else "")
    return "\n".join(line for line in lines if line)


def why(explained: ExplainResult, now: datetime) -> str:
    """How present the chunk is, and the reasons: `warm: used in 3 answers this week, last changed 3 days ago`."""
    chunk = explained.chunk
    reasons = []
    recent = within(explained.accesses, timedelta(days=7), now)
    if recent:
        reasons.append(f"used in {counted(recent, 'answer')} this week")
    elif chunk.last_used is not None:
        reasons.append(f"last used {ago(moment(chunk.last_used), now)}")
    if chunk.last_modified is not None:
        reasons.append(f"last changed {ago(moment(chunk.last_modified), now)}")
    elif chunk.modified_before is not None:
        reasons.append(f"last changed before {month(moment(chunk.modified_before))}")
    if len(explained.commits) > 1:
        reasons.append(counted(len(explained.commits), "commit"))
    evidence = chunk.evidence
    if not isinstance(evidence, UnsetType):
        if evidence.accesses_from == "file" and evidence.accesses:
            reasons.append(f"no change known, its file was written {ago(moment(evidence.accesses[-1]), now)}")
        if others := parts_of([to_builtins(each) for each in evidence.colleagues]):
            reasons.append(others)
    return f"{warmth(chunk.activation.total)}: {', '.join(reasons) or 'not used, no change known'}"


def _marks(pattern: PatternUse) -> str:
    """Whose a pattern is, where a colleague's, and what of it holds no more."""
    whose = learned_by(to_builtins(pattern.provenance)) if pattern.provenance is not None else ""
    return "".join(f" · {each}" for each in (whose, drifted_at(pattern.drifted)) if each)


def _related(explained: ExplainResult, show: Callable[[RelatedChunk], str]) -> str:
    """Lines of relations: callers, callees, inheritance, co-changes."""
    chunk = explained.chunk
    groups: dict[str, list[RelatedChunk]] = {relation: [] for relation in _ORDER}
    told: set[tuple[str, str, str]] = set()
    for link in explained.relations:
        relation = f"maybe {link.relation}" if link.likely else link.relation
        one = (relation, link.file, link.name)  # of overloads, the first
        if link.relation not in _UNMENTIONED and one not in told:
            told.add(one)
            groups.setdefault(relation, []).append(structs.replace(link, name=named_in(link.file, link.name)))
    # Links are cut off where there are many; what is counted is not.
    counts = {
        "called by": chunk.callers,
        "maybe called by": chunk.likely_callers,
        "passed on by": chunk.handed_on,
        "inherited by": chunk.subclasses,
        "maybe inherited by": chunk.likely_subclasses,
    }
    return " · ".join(
        _group(relation, links, counts.get(relation, len(links)), show) for relation, links in groups.items() if links
    )


def _group(relation: str, links: list[RelatedChunk], total: int, show: Callable[[RelatedChunk], str]) -> str:
    named = ", ".join(show(link) for link in links[:NAMED])
    left = max(total, len(links)) - len(links[:NAMED])
    return f"{relation} {named}{f' and {left} more' if left else ''}"


def _quoted(pattern: PatternUse) -> str:
    query = pattern.query
    return f'"{query if len(query) <= LONGEST_QUERY else query[: LONGEST_QUERY - 1].rstrip() + "…"}"'


def _success(pattern: PatternUse) -> str:
    return f"({pattern.score:.2f}, {counted(pattern.uses, 'use')})"


def _wants_markdown(client: types.ClientCapabilities) -> bool:
    """Whether the client shows Markdown, by its capabilities."""
    hovers = client.text_document.hover if client.text_document is not None else None
    formats = hovers.content_format if hovers is not None else None
    return not formats or types.MarkupKind.Markdown in formats
