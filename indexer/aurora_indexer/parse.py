"""A source file becomes its chunks: parse, capture, assign, cut (AURORA §6.3.5)."""

from __future__ import annotations

from bisect import bisect_left
from hashlib import blake2b
from operator import attrgetter

from tree_sitter import Node, Parser, QueryCursor

from aurora_indexer import languages
from aurora_indexer.chunking import Chunker, Uses, blanked
from aurora_indexer.languages import Compiled, Language, UnsupportedLanguage
from aurora_indexer.outline import Captures, Outline, Span, outline, owner_at, owners
from aurora_indexer.references import MAX_WRITTEN
from aurora_memory.chunks import CodeChunk, Import, ParsedFile

__all__ = ["UnsupportedLanguage", "parse_file"]

_BOM = b"\xef\xbb\xbf"
_FIRST_LINE = 256
_start = attrgetter("start_byte")


def parse_file(path: str, source: bytes) -> ParsedFile:
    """Cut one source file into chunks.

    `path` is relative to the workspace, with `/`; `source` is the file as read, in any bytes. Nothing else is looked
    at. Raises `UnsupportedLanguage` where the name, or the `#!` line of a file without suffix, tells no language we know.
    Syntax errors lose nothing but what they are in.
    """
    language = languages.for_path(path, source[:_FIRST_LINE].partition(b"\n")[0])
    if language is None:
        raise UnsupportedLanguage(f"{path}: no language is known for this name; index one of {_known_suffixes()}")
    content_hash = blake2b(source, digest_size=16).digest()
    source = _readable(source)
    language = languages.for_source(language, source)
    compiled = languages.compiled(language.name)
    root = Parser(compiled.grammar).parse(source).root_node
    captures = QueryCursor(compiled.query).captures(root)
    bare = blanked(source, sorted(node.byte_range for node in captures.get("comment", ())))
    found = outline(language, source, bare, captures)
    uses, module_uses = _uses(source, captures, found)
    chunker = Chunker(path, language, source, bare)
    chunks: list[CodeChunk] = []
    top_level = [(d.start, d.end) for d in found.definitions if d.around is None]
    ignored: list[Span] = [
        node.byte_range for label in ("import", "trivia") for node in captures.get(label, ())
    ] + found.docs
    module = chunker.module(root, top_level, ignored, found.docs, found.doc_is_comment, module_uses)
    if module is not None:
        chunks.append(module)
    chunks.extend(map(chunker.definition, found.definitions, uses))
    mistakes = 0
    if root.has_error:
        mistakes = len(QueryCursor(compiled.mistakes).captures(root).get("mistake", ()))
    return ParsedFile(
        path=path,
        language=language.name,
        content_hash=content_hash,
        imports=_imports(language, bare, captures),
        chunks=tuple(chunks),
        syntax_errors=mistakes,
    )


def _readable(source: bytes) -> bytes:
    """The source as UTF-8 without byte order mark; what isn't UTF-8 is replaced."""
    source = source.removeprefix(_BOM)
    if source.isascii():
        return source
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        return source.decode("utf-8", "replace").encode("utf-8")
    return source


def _uses(source: bytes, captures: Captures, found: Outline) -> tuple[list[Uses], Uses]:
    """Give each name in use, branch and loop to the innermost definition around it, or to the module."""
    uses = [Uses() for _ in found.definitions]
    module = Uses()
    everyone = [*uses, module]  # Index -1, the file itself, is the last.
    bounds, holders = owners(found.definitions)
    receivers = {node.end_byte: node.start_byte for node in captures.get("receiver", ())}
    calls = sorted(captures.get("call", ()), key=_start)
    starts = list(map(_start, calls))
    at = 0
    for bound, holder in zip([*bounds[1:], len(source) + 1], holders, strict=True):
        # All calls up to where the innermost definition changes.
        until = bisect_left(starts, bound, at)
        if until > at:
            everyone[holder].called.extend([_written(source, node, receivers) for node in calls[at:until]])
            at = until
    for node in captures.get("component", ()):
        written = _written(source, node, receivers)
        if written[:1].isupper() or b"." in written:
            everyone[owner_at(bounds, holders, node.start_byte)].called.append(written)
    for node in captures.get("inherits", ()):
        index = _heir(found, owner_at(bounds, holders, node.start_byte), node.start_byte)
        everyone[index].inherited.append(_written(source, node, receivers))
    for node in captures.get("branch", ()):
        everyone[owner_at(bounds, holders, node.start_byte)].branches += 1
    for node in captures.get("loop", ()):
        everyone[owner_at(bounds, holders, node.start_byte)].loops += 1
    return uses, module


def _written(source: bytes, node: Node, receivers: dict[int, int]) -> bytes:
    """The name in use as written, from its end: a chain of calls may be as long as the file."""
    start, end = node.start_byte, node.end_byte
    if receivers:
        # What a method is called on ends at `.`, or two bytes further left at `&.` and `::`.
        start = receivers.get(start - 1, receivers.get(start - 2, start))
    return source[start:end] if end - start <= MAX_WRITTEN else source[end - MAX_WRITTEN : end]


def _heir(found: Outline, index: int, position: int) -> int:
    """Which definition a base named at a position belongs to: in `impl Trait for Type`, it is `Type`'s."""
    for start, end, path in found.scopes:
        if start <= position < end and (index < 0 or found.definitions[index].start < start):
            return next((at for at, d in enumerate(found.definitions) if d.name == path), index)
    return index


def _imports(language: Language, bare: bytes, captures: Captures) -> tuple[Import, ...]:
    spans = sorted({node.byte_range for label in ("import", "import.inner") for node in captures.get(label, ())})
    found: dict[Import, None] = {}
    for start, end in spans:
        found.update(dict.fromkeys(language.read_imports(bare[start:end].decode("utf-8", "replace"))))
    return tuple(found)


def _known_suffixes() -> str:
    return ", ".join(suffix for language in languages.LANGUAGES for suffix in language.suffixes)
