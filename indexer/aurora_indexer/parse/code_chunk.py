"""Code chunk (function, class, module), made of one definition, or of what is left of a file between its definitions
(AURORA §6.3.5, §6.6).
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from posixpath import basename, splitext

from tree_sitter import Node

from aurora_indexer.languages import Language
from aurora_indexer.parse import references, signature, summary
from aurora_indexer.parse.definitions import Definition, Docs
from aurora_indexer.parse.fingerprint import body_hash, shape_hash
from aurora_indexer.parse.parts import first_part, later_part, packed_name, packed_path
from aurora_indexer.parse.references import Uses
from aurora_indexer.parse.spans import NO_CODE, Span, between, blanked, code_extent, extent, without
from aurora_indexer.parse.split import is_long, split
from aurora_memory.chunks import MODULE_NAME, ChunkKind, ChunkPart, CodeChunk
from aurora_memory.token_cost import estimated_tokens

_BLOCK = 512
"""Bytes whose line breaks are counted together."""


class Chunker:
    """Chunker of one file: makes its chunks. `bare` is its source with the comments blanked, byte for byte."""

    def __init__(self, path: str, language: Language, source: bytes, bare: bytes) -> None:
        self._path = path
        self._language = language
        self._source = source
        self._bare = bare
        without_suffix = splitext(path)[0]
        self._path_terms = packed_path(without_suffix)
        self._ordinals: dict[str, int] = {}
        self._stem = basename(without_suffix)
        self._keywords = _keywords(language)
        blocks = range(0, len(source), _BLOCK)
        self._breaks_before = [0, *accumulate([source.count(b"\n", at, at + _BLOCK) for at in blocks])]

    def definition(self, definition: Definition, uses: Uses) -> CodeChunk:
        """Chunk of a definition."""
        start, end = definition.start, definition.end
        source = self._source
        text = source[start:end]
        header = self._bare[definition.head : definition.header_end]
        if definition.bracket[1]:
            low, high = definition.bracket
            header = self._bare[definition.head : low] + self._bare[high : definition.header_end]
        if definition.written not in header:  # `typedef struct { … } name`
            header += b" " + definition.written
        return self._chunk(
            name=definition.name,
            kind=definition.kind,
            parent=definition.parent_name,
            span=(start, end),
            named=definition.named if definition.named < definition.header_end else definition.head,
            node=definition.node,
            excluded=[*definition.docs.spans, *definition.inside],
            docstring=self._docstring(definition.docs),
            heading=signature.signature(header),
            hashes=(body_hash(text), shape_hash(self._bare[start:end], definition.written)),
            tokens=estimated_tokens(text),
            uses=uses,
        )

    def module(
        self, root: Node, top_level: list[Span], imports: list[Span], trivia: list[Span], docs: Docs, uses: Uses
    ) -> CodeChunk | None:
        """Chunk of what is left between definitions, if that is more than imports, comments and trivia."""
        docstring = self._docstring(docs)
        bare = self._bare
        trivia = sorted([*top_level, *trivia])
        if not docstring:
            around = between(sorted([*trivia, *imports, *docs.spans]), 0, len(bare))
            if not any(bare[low:high].strip(NO_CODE) for low, high in around):
                return None
        left = between(trivia, 0, len(bare))
        start, end = code_extent(bare, left)
        if docs.spans:
            start, end = min(start, docs.spans[0][0]), max(end, docs.spans[-1][1])
        shape = b"".join([bare[low:high] for low, high in left])
        return self._chunk(
            name=MODULE_NAME,
            kind="module",
            parent=None,
            span=(start, end),
            named=start,
            node=root,
            excluded=[*docs.spans, *top_level],
            docstring=docstring,
            heading="",
            hashes=(body_hash(blanked(self._source, top_level)[start:end]), shape_hash(shape, b"")),
            tokens=0,  # a module's text holds other chunks: `with_own_tokens` counts it
            uses=uses,
        )

    def _chunk(
        self,
        *,
        name: str,
        kind: ChunkKind,
        parent: str | None,
        span: Span,
        named: int,
        node: Node,
        excluded: list[Span],
        docstring: str,
        heading: str,
        hashes: tuple[bytes, bytes],
        tokens: int,
        uses: Uses,
    ) -> CodeChunk:
        """Chunk with its text's parts, its keywords, references and hashes."""
        start, end = span
        line_start, line_end = self._line(start), self._line(max(start, end - 1))
        rows = references.references(uses)
        called = [row.name for row in rows if row.kind == "calls"]
        names = packed_name(name)
        parts: list[ChunkPart] = []
        body = without(self._source, start, end, excluded)
        spans: list[Span] = [span]
        if is_long(body):
            text = blanked(
                self._source[start:end], sorted((max(s, start) - start, min(e, end) - start) for s, e in excluded)
            )
            spans = split(node, text, start)
        if len(spans) > 1:
            for low, high in spans[1:]:
                piece = text[low - start : high - start]
                first, last = extent(piece)
                lines = (self._line(low + first), self._line(low + max(first, last - 1)))
                parts.append(later_part(lines, names, piece))
            body = text[: spans[0][1] - start]
            first_end = self._line(start + max(0, extent(body)[1] - 1))
        else:
            first_end = line_end
        parts.insert(
            0,
            first_part(
                (line_start, first_end),
                names,
                self._path_terms,
                heading=heading,
                docstring=docstring.encode(),
                calls=called,
                body=body,
            ),
        )
        ordinal = self._ordinals.get(name, 0)
        self._ordinals[name] = ordinal + 1
        return CodeChunk(
            path=self._path,
            name=name,
            kind=kind,
            language=self._language.name,
            line_start=line_start,
            line_end=line_end,
            signature=heading,
            docstring=docstring,
            parent=parent,
            references=rows,
            ast_summary=summary.ast_summary(uses.branches, uses.loops),
            keywords=self._keywords.choose("" if kind == "module" else name, heading, docstring, (*called, self._stem)),
            body_hash=hashes[0],
            shape_hash=hashes[1],
            tokens=tokens,
            parts=tuple(parts),
            ordinal=ordinal,
            lead=self._line(named) - line_start,
        )

    def _docstring(self, docs: Docs) -> str:
        """Docstring extraction: from a string, or from comments."""
        if not docs.spans:
            return ""
        texts = [self._source[start:end] for start, end in docs.spans]
        return signature.docstring_of_comments(texts) if docs.are_comments else signature.docstring_of_string(texts[0])

    def _line(self, position: int) -> int:
        """The 1-based line of a byte position; a line break belongs to the line it ends."""
        block = position // _BLOCK
        return 1 + self._breaks_before[block] + self._source.count(b"\n", block * _BLOCK, position)


@cache
def _keywords(language: Language) -> summary.Keywords:
    return summary.Keywords(language.words)
