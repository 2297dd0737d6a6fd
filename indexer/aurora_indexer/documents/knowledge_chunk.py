"""Chunk of a document, made of a piece as a code chunk is of a definition: hashes, keywords, parts (AURORA §6.3.5)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from posixpath import basename, splitext

from msgspec import Struct

from aurora_indexer.documents import tags_of
from aurora_indexer.parse import summary
from aurora_indexer.parse.fingerprint import body_hash, shape_hash
from aurora_indexer.parse.parts import first_part, later_part, packed_name, packed_path
from aurora_indexer.parse.signature import MAX_DOCSTRING, MAX_SIGNATURE
from aurora_indexer.parse.split import is_long, split_at
from aurora_memory.chunks import ChunkKind, ChunkPart, CodeChunk, Reference
from aurora_memory.token_cost import estimated_tokens

Span = tuple[int, int]

MAX_NAME = 80
"""Characters of one segment of a chunk's name: `know:README.md:Install.Linux:3-9` has two."""

UNTITLED = "Untitled"

_DOT = re.compile(r"\.(?=\w)")
_APART = re.compile(r"[\s.:]+")

MAX_CHUNKS = 5_000
"""Pieces of one document; a file with more is data, and what follows them is left out."""

MAX_REFERENCES = 60

_KEYWORDS = summary.Keywords(frozenset())


class DocumentPiece(Struct, frozen=True):
    """Finding of a format: a stretch of its document and what it is. Positions are code points in the document.

    `silent` are spans that other fields say already (heading, documentation), `apart` those that are pieces of their
    own; `borders` are where the piece may be cut when it is long. `named` is where its name stands, where not at its
    start: below a comment, or a line of marks.
    """

    name: str
    kind: ChunkKind
    start: int
    end: int
    heading: str = ""
    doc: str = ""
    parent: str | None = None
    references: Sequence[Reference] = ()
    silent: Sequence[Span] = ()
    apart: Sequence[Span] = ()
    borders: Sequence[int] = ()
    named: int | None = None


class Builder:
    """Builder of one document's chunks; `language` is the name that its format goes by."""

    def __init__(self, path: str, language: str, text: str) -> None:
        without_suffix = splitext(path)[0]
        self._path = path
        self._language = language
        self._text = text
        self._tags = tags_of(path)
        self._stem = basename(without_suffix)
        self._path_terms = packed_path(without_suffix)
        self._line_starts = list(accumulate([len(line) + 1 for line in text.split("\n")], initial=0))
        self._ordinals: dict[str, int] = {}
        self.chunks: list[CodeChunk] = []

    def add(self, piece: DocumentPiece) -> None:
        """Make a chunk of a piece; past 5,000 of them, nothing."""
        if len(self.chunks) >= MAX_CHUNKS:
            return
        text = self._text[piece.start : piece.end].rstrip()
        own = _blanked(text, piece.start, piece.apart)
        body = _blanked(own, piece.start, piece.silent)
        whole = own.encode("utf-8", "replace")
        line_start, line_end = self._line(piece.start), self._line(piece.start + max(0, len(text) - 1))
        heading = shortened(" ".join(piece.heading[: 8 * MAX_SIGNATURE].split()), MAX_SIGNATURE)
        doc = shortened(piece.doc.strip(), MAX_DOCSTRING)
        references = tuple(dict.fromkeys(piece.references))[:MAX_REFERENCES]
        mentioned = [reference.name for reference in references if reference.kind == "mentions"]
        ordinal = self._ordinals.get(piece.name, 0)
        self._ordinals[piece.name] = ordinal + 1
        named = not piece.name.startswith("<")
        self.chunks.append(
            CodeChunk(
                path=self._path,
                name=piece.name,
                kind=piece.kind,
                language=self._language,
                line_start=line_start,
                line_end=line_end,
                signature=heading,
                docstring=doc,
                parent=piece.parent,
                references=references,
                ast_summary=summary.ast_summary(0, 0),
                keywords=self._keywords(piece.name if named else "", heading, doc, [*mentioned, self._stem]),
                body_hash=body_hash(whole),
                shape_hash=shape_hash(body.encode("utf-8", "replace"), b""),
                tokens=estimated_tokens(whole),
                parts=self._parts(piece, body, (line_start, line_end), heading, doc, mentioned),
                ordinal=ordinal,
                lead=0 if piece.named is None else self._line(piece.named) - line_start,
            )
        )

    def _parts(
        self, piece: DocumentPiece, body: str, lines: Span, heading: str, doc: str, mentioned: Sequence[str]
    ) -> tuple[ChunkPart, ...]:
        """Chunking of a piece into searchable parts."""
        names = packed_name(piece.name)
        source = body.encode("utf-8", "replace")
        texts = [body]
        if is_long(source):
            borders = _in_bytes(body, [border - piece.start for border in piece.borders])
            texts = [source[start:end].decode("utf-8", "replace") for start, end in split_at(borders, source)]
        parts: list[ChunkPart] = []
        at = piece.start
        for number, text in enumerate(texts):
            bare = text.strip()
            low = at + len(text) - len(text.lstrip())
            first, last = self._line(low), self._line(low + max(0, len(bare) - 1))
            at += len(text)
            written = bare.encode("utf-8", "replace")
            if number:
                parts.append(later_part((first, last), names, written))
                continue
            parts.append(
                first_part(
                    (lines[0], lines[1] if len(texts) == 1 else max(lines[0], last)),
                    names,
                    self._path_terms,
                    heading=heading,
                    docstring=doc.encode("utf-8", "replace"),
                    calls=mentioned,
                    body=written,
                )
            )
        return tuple(parts)

    def _keywords(self, name: str, heading: str, doc: str, more: Sequence[str]) -> tuple[str, ...]:
        """Keyword extraction, after the document's own tags."""
        chosen = _KEYWORDS.choose(name, heading, doc, more)
        return tuple(dict.fromkeys((*self._tags, *chosen)))[: summary.MAX_KEYWORDS]

    def _line(self, position: int) -> int:
        """The 1-based line of a position; a line break belongs to the line it ends."""
        return bisect_right(self._line_starts, position)


def clean_name(text: str) -> str:
    """Make one segment of a qualified name: no dots (they join segments), no colons (they join ids), one line.

    A dot inside a word becomes `_` (`Node.js` → `Node_js`, `v1.2` → `v1_2`); at most 80 characters.
    """
    text = _DOT.sub("_", text[: 4 * MAX_NAME])
    return " ".join(_APART.split(text)).strip()[:MAX_NAME].rstrip() or UNTITLED


def shortened(text: str, limit: int) -> str:
    """Truncation to at most `limit` characters, the last of them an ellipsis where something was cut."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def _blanked(text: str, offset: int, spans: Sequence[Span]) -> str:
    """As long as before, with spaces where the spans are; `offset` is where the text stands in its document."""
    pieces: list[str] = []
    at = 0
    for low, high in sorted(spans):
        start, end = max(low - offset, at), min(high - offset, len(text))
        if start < end:
            pieces += [text[at:start], " " * (end - start)]
            at = end
    return "".join([*pieces, text[at:]])


def _in_bytes(text: str, positions: Sequence[int]) -> list[int]:
    """Code point positions as byte positions."""
    if text.isascii():
        return list(positions)
    found: list[int] = []
    at = total = 0
    for position in sorted(positions):
        if position > at:
            total += len(text[at:position].encode("utf-8", "replace"))
            at = position
        found.append(total)
    return found
