"""The text of what was recalled, read from the files as they stand now: whole, or as excerpts that fit a budget."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from aurora_indexer import IndexerError
from aurora_indexer.files.safe_read import read_prefix
from aurora_memory.chunk_text import Line, cost, folds, header_line, in_order, joined, own_lines
from aurora_memory.chunks import REASONING
from aurora_memory.recall import Hit
from aurora_memory.recall.budget import Offer, choose
from aurora_memory.recall.excerpts import FEW_LINES, MAX_LINES, excerpt
from aurora_memory.store.reader import ChunkView, Reader

MAX_CONTENT_FILE = 8 << 20
"""Bytes of a file that are read for its chunks' text."""


class Text(Struct, frozen=True):
    """What is handed over of a chunk.

    `lines` are the numbers of the content's lines, 0 for lines left out; None where the content is the chunk's lines as
    they stand, or stands in no file. `tokens` is what the content costs.
    """

    content: str
    lines: list[int] | None
    tokens: int
    excerpt: bool = False


async def texts(root: Path, reader: Reader, hits: Sequence[Hit]) -> list[Text]:
    """Each hit's own text; empty where its file cannot be read."""
    around = await _around(reader, [hit.chunk for hit in hits])
    return await asyncio.to_thread(lambda: [_whole(hit, text) for hit, text in _read(root, hits, around)])


async def within_budget(
    root: Path, reader: Reader, hits: Sequence[Hit], budget: int, limit: int
) -> tuple[list[Hit], list[Text]]:
    """Of the hits (best first) at most `limit`, whole or as excerpts, that are most useful in `budget` tokens."""
    around = await _around(reader, [hit.chunk for hit in hits])
    return await asyncio.to_thread(_chosen, root, hits, around, budget, limit)


async def raw_text(root: Path, chunk: ChunkView) -> str:
    """A chunk's lines as they stand, with all it holds; empty where its file cannot be read."""
    lines = (await asyncio.to_thread(file_text, root, chunk.path)).split("\n")
    return "\n".join(lines[chunk.line_start - 1 : chunk.line_end])


async def _around(reader: Reader, chunks: Sequence[ChunkView]) -> dict[str, list[ChunkView]]:
    """The chunks of the files of those that fold what they hold."""
    paths = dict.fromkeys(chunk.path for chunk in chunks if folds(chunk))
    return {path: in_order(await reader.chunks_of(path)) for path in paths}


def _chosen(
    root: Path, hits: Sequence[Hit], around: Mapping[str, Sequence[ChunkView]], budget: int, limit: int
) -> tuple[list[Hit], list[Text]]:
    offers: list[Offer] = []
    forms: list[tuple[Text, Text | None]] = []
    for hit, text in _read(root, hits, around):
        whole, short = _whole(hit, text), _excerpt(hit, text, budget)
        if short is not None and short.tokens >= whole.tokens:
            short = None
        offers.append(Offer(hit.score, whole.tokens, short.tokens if short else None))
        forms.append((whole, short))
    plan = choose(offers, budget, limit)
    kept: list[Hit] = []
    chosen: list[Text] = []
    for place in sorted(plan):
        whole, short = forms[place]
        kept.append(hits[place])
        chosen.append(short if plan[place] == "excerpt" and short is not None else whole)
    return kept, chosen


def _read(
    root: Path, hits: Sequence[Hit], around: Mapping[str, Sequence[ChunkView]]
) -> list[tuple[Hit, tuple[list[Line], int]]]:
    """Each hit with its own text and the line of its signature. A file is read once."""
    files: dict[str, list[str]] = {}
    found: list[tuple[Hit, tuple[list[Line], int]]] = []
    for hit in hits:
        chunk = hit.chunk
        if chunk.kind == REASONING:
            found.append((hit, ([(0, line) for line in chunk.docstring.split("\n")], 0)))
            continue
        if chunk.path not in files:
            text = file_text(root, chunk.path)
            files[chunk.path] = text.split("\n") if text else []
        lines = files[chunk.path]
        header = header_line(chunk, lines) if lines else chunk.line_start
        found.append((hit, (own_lines(chunk, lines, around.get(chunk.path, ())), header)))
    return found


def _whole(hit: Hit, text: tuple[list[Line], int]) -> Text:
    lines, _ = text
    content = joined(lines)
    stands = not lines or hit.chunk.kind == REASONING or len(lines) == lines[-1][0] - lines[0][0] + 1
    return Text(content, None if stands else _numbers(lines), cost(content))


def _excerpt(hit: Hit, text: tuple[list[Line], int], budget: int) -> Text | None:
    """The longest excerpt that fits the budget, else the shortest."""
    lines, header = text
    chunk = hit.chunk
    if chunk.kind == REASONING or not lines:
        return None
    focus = None if hit.focus == (chunk.line_start, chunk.line_end) else hit.focus
    found: Text | None = None
    for most in (MAX_LINES, FEW_LINES, 0):
        short = excerpt(lines, chunk.signature, header, chunk.docstring, hit.matched, focus, most)
        content = joined(short)
        found = Text(content, _numbers(short), cost(content), excerpt=True)
        if found.tokens <= budget:
            break
    return found


def _numbers(lines: Sequence[Line]) -> list[int]:
    return [number for number, _ in lines]


def file_text(root: Path, path: str) -> str:
    """A file as it stands now; "" where it cannot be read. Blocks."""
    try:
        source = read_prefix(os.fspath(root / path), MAX_CONTENT_FILE)
    except (OSError, IndexerError):  # gone, unreadable, or a pipe by now
        return ""
    return source.decode("utf-8", "replace").removeprefix("\ufeff")
