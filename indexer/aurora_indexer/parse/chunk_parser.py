"""Parser of source files into chunks, by tree-sitter (syntax trees): parse, capture, assign, cut (AURORA §6.3.5)."""

from __future__ import annotations

import time
from collections.abc import Callable
from hashlib import blake2b
from itertools import groupby

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor, Tree

from aurora_indexer import ParseTimeout, languages
from aurora_indexer.languages import Language, UnsupportedLanguage
from aurora_indexer.parse.code_chunk import Chunker
from aurora_indexer.parse.definitions import outline
from aurora_indexer.parse.leading_comments import Captures, unseen
from aurora_indexer.parse.references import uses_of
from aurora_indexer.parse.spans import Span, blanked
from aurora_memory.chunk_text import with_own_tokens
from aurora_memory.chunks import CodeChunk, Import, ParsedFile

__all__ = ["UnsupportedLanguage", "parse_file"]

PARSE_SECONDS = 20.0
_READ = 1 << 11
_SMALL = 1 << 15
"""Bytes of source that no grammar takes long for; reading through a callback costs a tenth more."""

_PATIENCE = 1.0
_SLOWEST = 60_000
"""Seconds for any source, and bytes a second beyond them, that a watched grammar has: it does twenty times as many."""

_BOM = b"\xef\xbb\xbf"

_MAX_MATCHES = 1024
"""Patterns half matched at a time. Code that people write stays far below; each one costs at every node."""

_MAX_DEPTH = 30_000
"""Nodes deep that are queried; tree-sitter loses itself past 65,535. Ten thousand nested functions are less."""

_MAX_PUNCTUATION = 400_000_000
"""Sum of squared runs of punctuation in a syntax error, past which a file is taken as text: about a second of time."""


def parse_file(path: str, source: bytes, seconds: float = PARSE_SECONDS, *, shown: bytes | None = None) -> ParsedFile:
    """Chunks of one source file.

    `path` is relative to the workspace, with `/`; `source` is the file as read, in any bytes. Nothing else is looked
    at. `shown` is the source without its secrets, byte for byte as long: chunks are cut where `source` has them, and
    all that they say is of `shown`. Syntax errors lose nothing but what they are in. Raises `UnsupportedLanguage` where
    the name, or the `#!` line of a file without suffix, tells no language we know; `ParseTimeout` where the grammar
    takes longer than `seconds`.
    """
    language = languages.for_path(path, languages.first_line(source))
    if language is None:
        raise UnsupportedLanguage(f"{path}: no language is known for this name; index one of {_known_suffixes()}")
    content_hash = blake2b(source, digest_size=16).digest()
    whole = _readable(source)
    source = whole if shown is None else _readable(shown)
    if len(source) != len(whole):  # a secret with bytes in it that are no UTF-8, which are not shown
        whole = source
    language = languages.for_source(language, source)
    compiled = languages.compiled(language.name)
    deadline = time.monotonic() + seconds
    seen = language.hidden(whole) if language.hidden else whole
    root = _tree(compiled.grammar, seen, path, deadline, watched=language.watched).root_node
    if root.has_error and language.mended:
        root = _mended(language, compiled.grammar, seen, root, path, deadline)
    hopeless = root.has_error and _is_hopeless(root)
    captures = {} if hopeless else _cursor(compiled.query).captures(root)
    if language.refine:
        language.refine(compiled.grammar, source, captures)
    bare = blanked(source, _spans(captures, "comment"))
    found = outline(language, source, bare, captures, unseen(whole, seen))
    imports = _imports(language, bare, captures)
    uses, module_uses = uses_of(source, bare, captures, found, language, imports, root)
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
        mistakes = len(_cursor(languages.mistakes(language.name)).captures(root).get("mistake", ()))
    return ParsedFile(
        path=path,
        language=language.name,
        content_hash=content_hash,
        imports=imports,
        chunks=with_own_tokens(chunks, source),
        syntax_errors=mistakes,
    )


def _tree(grammar: Grammar, source: bytes, path: str, deadline: float, *, watched: bool) -> Tree:
    """Syntax tree of a source, within its time: on some input (random bytes as C++, say) a grammar takes minutes."""
    if len(source) <= _SMALL and not watched:
        return Parser(grammar).parse(source)
    is_late = _lateness(deadline, len(source) if watched else None)
    # Bytes, not a memoryview: text predicates of queries read the source through this too, and crash on any other type.
    try:
        return Parser(grammar).parse(
            lambda offset, _: source[offset : offset + _READ],
            progress_callback=is_late,
        )
    except ValueError as error:
        raise ParseTimeout(f"{path}: its grammar takes too long; name it in .auroraignore to leave it out") from error


def _lateness(deadline: float, watched_bytes: int | None) -> Callable[..., bool]:
    """Whether a parse has gone on for too long, to be asked at every hundredth of its steps.

    Only where the grammar is watched is the thread's own time read too: it takes a system call each time.
    """
    if watched_bytes is None:
        return lambda *_: time.monotonic() > deadline
    # Of the processor's time, which a busy machine does not shorten.
    worked = time.thread_time() + _PATIENCE + watched_bytes / _SLOWEST
    return lambda *_: time.monotonic() > deadline or time.thread_time() > worked


def _cursor(query: Query) -> QueryCursor:
    """Query cursor of tree-sitter, bounded in depth and in matches."""
    cursor = QueryCursor(query, match_limit=_MAX_MATCHES)
    cursor.set_max_start_depth(_MAX_DEPTH)
    return cursor


def _is_hopeless(root: Node) -> bool:
    """Whether querying would take too long: in an error, a query looks ahead to the next named node at every token."""
    todo = [root]
    while todo:
        node = todo.pop()
        children = node.children
        if node.is_error and len(children) ** 2 > _MAX_PUNCTUATION:
            runs = groupby(child.is_named for child in children)
            if sum(sum(1 for _ in run) ** 2 for named, run in runs if not named) > _MAX_PUNCTUATION:
                return True
        todo.extend(child for child in children if child.has_error)
    return False


def _mended(language: Language, grammar: Grammar, seen: bytes, root: Node, path: str, deadline: float) -> Node:
    """The root of the source as its language mends it, where that leaves less unread than `root`."""

    def root_of(some: bytes) -> Node | None:
        try:
            return _tree(grammar, some, path, deadline, watched=True).root_node
        except ParseTimeout:
            return None

    def is_read(some: bytes) -> bool:
        read = root_of(some)
        return read is not None and not read.has_error

    mended = language.mended(seen, is_read) if language.mended else seen
    again = root_of(mended) if mended != seen else None
    return again if again is not None and _unread(again) < _unread(root) else root


def _unread(root: Node) -> int:
    """Bytes of a tree that are in a syntax error, and one for each node that is missing."""
    unread = 0
    todo = [root]
    while todo:
        node = todo.pop()
        if node.is_error:
            unread += node.end_byte - node.start_byte
        elif node.is_missing:
            unread += 1
        elif node.has_error:
            todo.extend(node.children)
    return unread


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
    """Imports of a file, each once."""
    spans = sorted({node.byte_range for label in ("import", "import.inner") for node in captures.get(label, ())})
    found: dict[Import, None] = {}
    for start, end in spans:
        found.update(dict.fromkeys(language.read_imports(bare[start:end].decode("utf-8", "replace"))))
    return tuple(found)


def _known_suffixes() -> str:
    return ", ".join(suffix for language in languages.all_languages() for suffix in language.suffixes)
