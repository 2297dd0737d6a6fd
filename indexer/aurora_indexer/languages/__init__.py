"""Languages that are cut into chunks: a row each, in `built_in.py` or of a plug-in, and a `.scm` query file beside it.

A plug-in is a distribution with an entry point in the group `aurora.languages` whose value is a `Language`; the name,
suffixes and file names of built-in languages are not to be had. AURORA §6.3.5.

A query file names what it captures, and nothing else in the indexer knows a grammar's node types:

- `@function @method @class @interface @struct @trait @enum @type @namespace @macro`: a definition, its chunk's kind. A
  `function` directly inside something class-like (`class_like`) is a method. With `.outer` it counts only outside of
  functions, with `.member` only directly inside a class or `@members`, with `.named` only where it is not the value of
  one that counts.
- `@scope`: names what is in it without being a chunk (Rust's `impl`, a named object literal); `@members`: an object
  literal whose functions are definitions.
- `@name`, `@qualifier`, `@body`: belong to the innermost definition or scope around them. The signature ends where the
  body starts. A qualifier is put before the name (`Repo` in `func (r *Repo) Find`).
- `@fields`: the name and the body are this node's fields of these names, as far as none was captured before it.
- `@valued`, `.member` as above, `.assigned`, `.default`, `.field`: a definition or a scope by its value
  (`parse.definitions`).
- `@wrapper`: `export`, `template<…>`, decorators' node: its one definition starts and ends where it does.
- `@comment`, `@attribute`: belong to the definition directly below them.
- `@doc`: a string that documents the definition whose body, or the file, it starts; `@doc.inner`: a comment that
  documents the file; `@documented`: the comment above it documents the file.
- `@tokens`: what a grammar reads no further, in which the language's `token_calls` finds calls.
- `@literal`: a function without a name, whose parameters hold in it only.
- `@call`, `@component`, `@inherits`: names in use; `@receiver`: what a `@call` of a last name only is called on.
- `@branch`, `@loop`: counted. `@import`: one import statement, read by `read_imports`; `@trivia`: not worth a chunk.

What else is captured, the language's `refine` makes some of these of: frequent nodes of large grammars, whose inside is
looked up faster than queried.

A first line `; inherits: c, jsx` puts those query files before this one. A pattern starts best at what it captures: one
that waits for a child anywhere in a block is kept for every block that is open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from aurora_indexer import IndexerError
from aurora_indexer.languages.built_in import LANGUAGES
from aurora_indexer.languages.language import Language
from aurora_protocol import plugins

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Query

__all__ = ["LANGUAGES", "Language", "UnsupportedLanguage", "all_languages", "compiled", "for_path", "for_source"]


GROUP = "aurora.languages"

_SHEBANG = re.compile(rb"#![ \t]*(?:\S*/)?([\w.+-]+)(?:[ \t]+-\S+)*(?:[ \t]+([\w.+-]+))?")


class UnsupportedLanguage(IndexerError):
    """Error of a file that no language's row takes."""


class Compiled(Struct, frozen=True):
    """Grammar and query of a language, ready to run. Shared between parses; never leaves the process."""

    grammar: Grammar
    query: Query


class _LanguageTable:
    """Rows of languages, to be found by what they take."""

    def __init__(self, languages: Iterable[Language]) -> None:
        self.rows = tuple(languages)
        self.by_name = {language.name: language for language in self.rows}
        self.by_suffix = {suffix: language for language in self.rows for suffix in language.suffixes}
        self.by_file_name = {name: language for language in self.rows for name in language.file_names}

    def named(self, name: str, suffix: str) -> Language | None:
        return self.by_file_name.get(name) or self.by_suffix.get(suffix.lower())


_built_in = _LanguageTable(LANGUAGES)


@cache
def _plugged() -> _LanguageTable:
    """The languages of plug-ins, looked for when the first file comes that is in none of ours."""
    found: dict[str, Language] = {}
    for plugin in plugins.load(GROUP, Language):
        name = plugin.value.name
        if name in _built_in.by_name or name in found:
            plugins.leave_out(GROUP, plugin, f"there is a language {name} already")
        elif plugin.value.query is None:
            plugins.leave_out(GROUP, plugin, f"its language {name} names no query file")
        else:
            found[name] = plugin.value
    return _LanguageTable(found.values())


def all_languages() -> tuple[Language, ...]:
    """Every language there is, ours first."""
    return (*_built_in.rows, *_plugged().rows)


FIRST_LINE_BYTES = 256
"""Bytes of a file in which its `#!` line is looked for."""


def first_line(source: bytes) -> bytes:
    """The first line of a source, as far as a `#!` line is read."""
    return source[:FIRST_LINE_BYTES].partition(b"\n")[0]


def for_path(path: str, first_line: bytes = b"") -> Language | None:
    """Language detection: from a file's name (extension), or from a `#!` line (shebang) where the name has no
    suffix.
    """
    name = path[path.rfind("/") + 1 :]
    dot = name.rfind(".")
    suffix = name[dot:] if 0 < dot < len(name) - 1 else ""
    found = _built_in.named(name, suffix) or _plugged().named(name, suffix)
    if found or suffix or not first_line.startswith(b"#!"):
        return found
    match = _SHEBANG.match(first_line)
    if match is None:
        return None
    program = (match[2] if match[1] == b"env" and match[2] else match[1]).decode()
    stem = re.sub(r"[\d.]+$", "", program)
    return next((language for language in all_languages() if stem in language.interpreters), None)


def for_source(language: Language, source: bytes) -> Language:
    """Tell the language a source is really in, where the file's name leaves it open."""
    if language.really is None:
        return language
    is_other, other = language.really
    return _by_name(other) if is_other(source) else language


@cache
def compiled(name: str) -> Compiled:
    """Load a language's grammar and compile its query, once per process."""
    import tree_sitter_language_pack  # here: telling a file's language takes no grammar
    from tree_sitter import Query

    language = _by_name(name)
    grammar: Grammar
    if callable(language.grammar):
        grammar = language.grammar()
    else:
        # The pack types its names as literals of every grammar it bundles; ours come from the table.
        grammar = tree_sitter_language_pack.get_language(language.grammar or language.name)  # type: ignore[arg-type]
    return Compiled(grammar=grammar, query=Query(grammar, _query_text(language.query or _own_query(name))))


@cache
def mistakes(name: str) -> Query:
    """Compile what finds a grammar's errors, once per process; most files have none, and large grammars take long."""
    from tree_sitter import Query

    return Query(compiled(name).grammar, "(ERROR) @mistake (MISSING) @mistake")


def _by_name(name: str) -> Language:
    return _built_in.by_name.get(name) or _plugged().by_name[name]


def _own_query(name: str) -> Path:
    return Path(__file__).with_name(f"{name}.scm")


def _query_text(path: Path) -> str:
    """Text of a query, after those that it inherits from."""
    text = path.read_text(encoding="utf-8")
    first = text.partition("\n")[0]
    if not first.startswith("; inherits:"):
        return text
    names = [part.strip() for part in first.removeprefix("; inherits:").split(",")]
    return "\n".join((*(_query_text(_own_query(name)) for name in names), text))
