"""Text of what was recalled (snippets), read from the files as they stand now: whole, or as excerpts that fit a token
budget.

Whatever is in a file, its secrets are not in the text.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from aurora_indexer import IndexerError
from aurora_indexer.files.safe_read import read_prefix
from aurora_memory.chunk_text import Line, cost, folds, header_line, in_order, joined, own_lines
from aurora_memory.chunks import REASONING, type_of
from aurora_memory.recall import Hit
from aurora_memory.recall.excerpts import FEW_LINES, MAX_LINES, excerpt
from aurora_memory.recall.token_budget import KnapsackItem, fill_token_budget, within_shares
from aurora_memory.store import chunk_reader
from aurora_memory.store.reader import Reader
from aurora_memory.views import ChunkView
from aurora_protocol.secret_mask import masked

MAX_CONTENT_FILE = 8 << 20
"""Bytes of a file that are read for its chunks' text."""


class Text(Struct, frozen=True):
    """Text that is handed over of a chunk.

    `lines` are the numbers of the content's lines, 0 for lines left out; None where the content is the chunk's lines as
    they stand, or stands in no file. `tokens` is what the content costs.
    """

    content: str
    lines: list[int] | None
    tokens: int
    excerpt: bool = False


def surroundings(reader: Reader, hits: Sequence[Hit]) -> dict[str, list[ChunkView]]:
    """The chunks of the files of those hits that fold what they hold: their texts need them."""
    paths = dict.fromkeys(hit.chunk.path for hit in hits if folds(hit.chunk))
    return {path: in_order(chunk_reader.of_file(reader, path)) for path in paths}


def texts(root: Path, hits: Sequence[Hit], around: Mapping[str, Sequence[ChunkView]]) -> list[Text]:
    """Each hit's own text, with its `surroundings`; empty where its file cannot be read. Blocks."""
    return [_whole(hit, text) for hit, text in _read(root, hits, around)]


def raw_text(root: Path, chunk: ChunkView) -> str:
    """A chunk's lines as they stand, with all it holds; empty where its file cannot be read. Blocks."""
    lines = file_text(root, chunk.path).split("\n")
    return masked("\n".join(lines[chunk.line_start - 1 : chunk.line_end]))


def within_budget(
    root: Path, hits: Sequence[Hit], around: Mapping[str, Sequence[ChunkView]], budget: int, limit: int
) -> dict[int, Text]:
    """Selection within a token budget: of the hits (best first) at most `limit`, by their place. Blocks.

    Each comes whole or as an excerpt, which is never as long as the whole (`fill_token_budget`); in the order of the
    hits.
    """
    offers: list[KnapsackItem] = []
    forms: list[tuple[Text, Text | None]] = []
    for hit, text in _read(root, hits, around):
        whole, short = _whole(hit, text), _excerpt(hit, text, budget)
        offers.append(KnapsackItem(hit.score, whole.tokens, short.tokens if short else None))
        forms.append((whole, short))
    offers = within_shares([type_of(hit.chunk.kind) for hit in hits], offers, budget)
    plan = fill_token_budget(offers, budget, limit)
    chosen: dict[int, Text] = {}
    for place in sorted(plan):
        whole, short = forms[place]
        chosen[place] = short if plan[place] == "excerpt" and short is not None else whole
    return chosen


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
        found.append((hit, (_without_secrets(own_lines(chunk, lines, around.get(chunk.path, ()))), header)))
    return found


def _without_secrets(lines: list[Line]) -> list[Line]:
    """Lines with secrets masked."""
    text = joined(lines)
    clean = masked(text)
    if clean == text:
        return lines
    return [(number, line) for (number, _), line in zip(lines, clean.split("\n"), strict=True)]


def _whole(hit: Hit, text: tuple[list[Line], int]) -> Text:
    lines, _ = text
    content = joined(lines)
    stands = not lines or hit.chunk.kind == REASONING or len(lines) == lines[-1][0] - lines[0][0] + 1
    return Text(content, None if stands else _numbers(lines), cost(content))


def _excerpt(hit: Hit, text: tuple[list[Line], int], budget: int) -> Text | None:
    """Snippet, the longest excerpt that fits the budget, else the shortest."""
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
