"""Language of source files, as data: the type of a row, ours or a plug-in's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from aurora_indexer.languages.name_syntax import NameSyntax
from aurora_memory.chunks import Import

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node

    Captures = dict[str, list[Node]]

ReadImports = Callable[[str], list[Import]]
"""From an import statement, as written, to what it imports."""

CLASS_LIKE = frozenset({"class", "interface", "struct", "trait", "enum"})


class Language(Struct, frozen=True):
    """Language of source files: which it takes, and how its names are put together."""

    name: str
    suffixes: tuple[str, ...]
    read_imports: ReadImports
    words: frozenset[str]
    """Words of the language that say nothing about a chunk (keywords, ubiquitous names)."""
    grammar: str | Callable[[], Grammar] = ""
    """The grammar's name in tree-sitter-language-pack, where it isn't `name`, or what loads a plug-in's own."""
    query: Path | None = None
    """A plug-in's query file, which may stand on ours (`; inherits: c`); ours are found by `name`."""
    file_names: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    """First words of a `#!` line's program that run this language."""
    class_like: frozenset[str] = CLASS_LIKE
    separator: str = r"\."
    """A regular expression between the segments of a qualified name as written."""
    unqualified: str = r"(?!)"
    """Segments to drop from a qualifier: the segments matched say nothing about where a name belongs."""
    names: NameSyntax | None = None
    """Syntax of names in use, where they are read with what their receivers hold; without it, as they are written."""
    token_calls: Callable[[bytes, int, int], Iterator[tuple[int, int]]] | None = None
    """Finds what is called, as spans of a source without comments, between two places where its grammar has tokens."""
    hidden: Callable[[bytes], bytes] | None = None
    """Makes of a source what its grammar gets to see, byte for byte as long."""
    mended: Callable[[bytes, Callable[[bytes], bool]], bytes] | None = None
    """Makes of what its grammar saw, and found wrong, what it may read better, byte for byte as long. The second
    argument tells whether the grammar reads some source without an error.
    """
    watched: bool = False
    """Whether the time of even a small source is watched: of some that no one writes its grammar makes a great deal of
    memory, and the longer the more."""
    refine: Callable[[Grammar, bytes, Captures], None] | None = None
    """Makes of captures of a source, in place, what its query leaves to be looked up in them."""
    really: tuple[Callable[[bytes], bool], str] | None = None
    """Test for a source that is in another language, and that language (C headers in C++)."""
