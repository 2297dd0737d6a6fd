"""A source file becomes its chunks: parse, capture, assign, cut (AURORA §6.3.5)."""

from __future__ import annotations

from hashlib import blake2b

from tree_sitter import Node, Parser, QueryCursor

from aurora_indexer import languages
from aurora_indexer.chunking import Chunker, blanked
from aurora_indexer.languages import Language, UnsupportedLanguage
from aurora_indexer.leading import Captures, Span
from aurora_indexer.outline import outline
from aurora_indexer.uses import uses_of
from aurora_memory.chunks import CodeChunk, Import, ParsedFile

__all__ = ["UnsupportedLanguage", "parse_file"]

_BOM = b"\xef\xbb\xbf"
_FIRST_LINE = 256

_MAX_PUNCTUATION = 10_000
"""Tokens directly in one syntax error, past which a file is taken as text of no structure. No such code is known."""



def parse_file(path: str, source: bytes) -> ParsedFile:
    """Cut one source file into chunks.

    `path` is relative to the workspace, with `/`; `source` is the file as read, in any bytes. Nothing else is looked
    at. Syntax errors lose nothing but what they are in. Raises `UnsupportedLanguage` where the name, or the `#!` line
    of a file without suffix, tells no language we know.
    """
    language = languages.for_path(path, source[:_FIRST_LINE].partition(b"\n")[0])
    if language is None:
        raise UnsupportedLanguage(f"{path}: no language is known for this name; index one of {_known_suffixes()}")
    content_hash = blake2b(source, digest_size=16).digest()
    source = _readable(source)
    language = languages.for_source(language, source)
    compiled = languages.compiled(language.name)
    root = Parser(compiled.grammar).parse(source).root_node
    hopeless = root.has_error and _is_hopeless(root)
    captures = {} if hopeless else QueryCursor(compiled.query).captures(root)
    bare = blanked(source, _spans(captures, "comment"))
    found = outline(language, source, bare, captures)
    uses, module_uses = uses_of(source, captures, found)
    chunker = Chunker(path, language, source, bare)
    chunks: list[CodeChunk] = []
    top_level = [(d.start, d.end) for d in found.definitions if d.around is None]
    module = chunker.module(
        root, top_level, _spans(captures, "import"), _spans(captures, "trivia"), found.docs, module_uses
    )
    if module is not None:
        chunks.append(module)
    chunks.extend(map(chunker.definition, found.definitions, uses))
    mistakes = 1 if hopeless else 0
    if root.has_error and not hopeless:
        mistakes = len(QueryCursor(compiled.mistakes).captures(root).get("mistake", ()))
    return ParsedFile(
        path=path,
        language=language.name,
        content_hash=content_hash,
        imports=_imports(language, bare, captures),
        chunks=tuple(chunks),
        syntax_errors=mistakes,
    )


def _is_hopeless(root: Node) -> bool:
    """Whether a stretch that makes no sense is so long a run of punctuation that querying it takes the square of it."""
    todo = [root]
    while todo:
        node = todo.pop()
        if node.is_error and node.child_count - node.named_child_count > _MAX_PUNCTUATION:
            return True
        todo.extend(child for child in node.children if child.has_error)
    return False


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


def _spans(captures: Captures, label: str) -> list[Span]:
    return sorted([(node.start_byte, node.end_byte) for node in captures.get(label, ())])


def _imports(language: Language, bare: bytes, captures: Captures) -> tuple[Import, ...]:
    spans = sorted({node.byte_range for label in ("import", "import.inner") for node in captures.get(label, ())})
    found: dict[Import, None] = {}
    for start, end in spans:
        found.update(dict.fromkeys(language.read_imports(bare[start:end].decode("utf-8", "replace"))))
    return tuple(found)


def _known_suffixes() -> str:
    return ", ".join(suffix for language in languages.LANGUAGES for suffix in language.suffixes)
