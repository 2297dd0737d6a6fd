"""The languages AURORA cuts into chunks: one row here and one `.scm` query file each (AURORA §6.3.5).

A query file names what it captures, and nothing else in the indexer knows a grammar's node types:

- `@function @method @class @interface @struct @trait @enum @type @namespace @macro`: a definition, its chunk's kind. A
  `function` directly inside something class-like (`class_like`) is a method. With `.outer` it counts only outside of
  functions, with `.member` only directly inside a class or `@members`.
- `@scope`: names what is in it without being a chunk (Rust's `impl`, a named object literal); `@members`: an object
  literal whose functions are definitions.
- `@name`, `@qualifier`, `@body`: belong to the innermost definition or scope around them. The signature ends where the
  body starts. A qualifier is put before the name (`Repo` in `func (r *Repo) Find`).
- `@fields`: the name and the body are this node's fields of these names, as far as none was captured before it.
- `@valued`, `.member` and `.outer` as above, `.default`, `.field`: a definition or a scope by its value (values.py).
- `@wrapper`: `export`, `template<…>`, decorators' node: its one definition starts and ends where it does.
- `@comment`, `@attribute`: belong to the definition directly below them.
- `@doc`: a string that documents the definition whose body, or the file, it starts; `@doc.inner`: a comment that
  documents the file; `@documented`: the comment above it documents the file.
- `@call`, `@component`, `@inherits`: names in use; `@receiver`: what a `@call` of a last name only is called on.
- `@branch`, `@loop`: counted. `@import`: one import statement, read by `read_imports`; `@trivia`: not worth a chunk.

What else is captured, the language's `refine` makes some of these of: frequent nodes of large grammars, whose inside is
looked up faster than queried.

A first line `; inherits: c, jsx` puts those query files before this one. A pattern starts best at what it captures: one
that waits for a child anywhere in a block is kept for every block that is open.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from aurora_indexer import IndexerError
from aurora_indexer.parse import cpp_headers, ecmascript, imports, macros
from aurora_memory.chunks import Import

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Query

ReadImports = Callable[[str], list[Import]]

CLASS_LIKE = frozenset({"class", "interface", "struct", "trait", "enum"})


class UnsupportedLanguage(IndexerError):
    """No row of the table takes this file."""


class Language(Struct, frozen=True):
    """One language: which files it takes, and how its names are put together."""

    name: str
    suffixes: tuple[str, ...]
    read_imports: ReadImports
    words: frozenset[str]
    """Words of the language that say nothing about a chunk (keywords, ubiquitous names)."""
    grammar: str = ""
    """The grammar's name in tree-sitter-language-pack, where it isn't `name`."""
    file_names: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    """First words of a `#!` line's program that run this language."""
    class_like: frozenset[str] = CLASS_LIKE
    separator: str = r"\."
    """A regular expression between the segments of a qualified name as written."""
    unqualified: str = r"(?!)"
    """What to drop from a qualifier: the segments matched say nothing about where a name belongs."""
    hidden: Callable[[bytes], bytes] | None = None
    """Makes of a source what its grammar gets to see, byte for byte as long."""
    refine: Callable[[Grammar, bytes, dict[str, list[Node]]], None] | None = None
    """Makes of captures of a source, in place, what its query leaves to be looked up in them."""
    really: tuple[Callable[[bytes], bool], str] | None = None
    """What tells a source that is in another language, and that language (C headers in C++)."""


class Compiled(Struct, frozen=True):
    """A language's grammar and query, ready to run. Shared between parses; never leaves the process."""

    grammar: Grammar
    query: Query


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ECMASCRIPT_WORDS = _words(
    "abstract any arguments as async await boolean class const constructor debugger default delete export exports"
    " extends false finally function implements import instanceof interface let module new null number object"
    " private promise protected public readonly require return static string super switch this throw true try type"
    " typeof undefined unknown var void yield props keyof namespace declare enum"
)
_C_WORDS = _words(
    "auto bool char const double enum extern float inline int long register return short signed sizeof static"
    " struct switch typedef union unsigned void volatile null size uint int8 int16 int32 int64 uint8 uint16 uint32"
    " uint64"
)
_EXPORTS = r"^(?:module\.)?exports$|^(?:module\.)?exports\.|^module$|^(?:this|window|globalThis)$|\.prototype$"

LANGUAGES: tuple[Language, ...] = (
    Language(
        name="python",
        suffixes=(".py", ".pyi"),
        interpreters=("python",),
        read_imports=imports.python,
        words=_words(
            "args async await bool class cls def dict elif except float import init int kwargs lambda list none"
            " object pass raise return self set str super true false tuple typing union optional any yield"
        ),
    ),
    Language(
        name="typescript",
        suffixes=(".ts", ".mts", ".cts"),
        interpreters=("ts-node", "deno", "tsx"),
        read_imports=imports.ecmascript,
        words=_ECMASCRIPT_WORDS,
        unqualified=_EXPORTS,
        refine=ecmascript.refine,
    ),
    Language(
        name="tsx",
        suffixes=(".tsx",),
        read_imports=imports.ecmascript,
        words=_ECMASCRIPT_WORDS,
        unqualified=_EXPORTS,
        refine=ecmascript.refine,
    ),
    Language(
        name="javascript",
        suffixes=(".js", ".jsx", ".mjs", ".cjs"),
        interpreters=("node", "bun"),
        read_imports=imports.ecmascript,
        words=_ECMASCRIPT_WORDS,
        unqualified=_EXPORTS,
        refine=ecmascript.refine,
    ),
    Language(
        name="go",
        suffixes=(".go",),
        read_imports=imports.go,
        words=_words(
            "any bool byte chan const defer err error fallthrough float32 float64 func go int int32 int64"
            " interface len make map nil package range return rune select string struct switch type uint var"
        ),
    ),
    Language(
        name="rust",
        suffixes=(".rs",),
        separator=r"::",
        read_imports=imports.rust,
        words=_words(
            "async await bool box const crate dyn enum err extern fn impl let match mod mut none ok option pub"
            " ref result return self some static str string struct super trait type u8 u32 u64 i32 i64 unsafe"
            " usize vec where"
        ),
    ),
    Language(
        name="java",
        suffixes=(".java",),
        read_imports=imports.java,
        words=_words(
            "abstract boolean byte char class double extends final float implements import int interface long new"
            " null object override package private protected public return short static string super synchronized"
            " this throw throws void volatile"
        ),
    ),
    Language(
        name="c",
        suffixes=(".c", ".h"),
        read_imports=imports.c,
        hidden=macros.hidden,
        words=_C_WORDS,
        separator=r"::",
        really=(cpp_headers.is_cpp, "cpp"),
    ),
    Language(
        name="cpp",
        suffixes=(".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".h++", ".c++"),
        read_imports=imports.c,
        hidden=macros.hidden,
        words=_C_WORDS
        | _words(
            "class constexpr delete explicit final friend mutable namespace new noexcept nullptr operator"
            " override private protected public std string template this throw typename using virtual"
        ),
        separator=r"::",
    ),
    Language(
        name="ruby",
        suffixes=(".rb", ".rake", ".gemspec", ".ru"),
        file_names=("Gemfile", "Rakefile"),
        interpreters=("ruby",),
        read_imports=imports.ruby,
        words=_words("begin class def do elsif end ensure module nil rescue return self super then unless yield"),
        class_like=CLASS_LIKE | {"namespace"},
        separator=r"::",
    ),
)

_BY_NAME = {language.name: language for language in LANGUAGES}
_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
_BY_FILE_NAME = {name: language for language in LANGUAGES for name in language.file_names}
_SHEBANG = re.compile(rb"#![ \t]*(?:\S*/)?([\w.+-]+)(?:[ \t]+-\S+)*(?:[ \t]+([\w.+-]+))?")


def for_path(path: str, first_line: bytes = b"") -> Language | None:
    """Tell the language of a file from its name, or from a `#!` line where the name has no suffix."""
    name = path[path.rfind("/") + 1 :]
    dot = name.rfind(".")
    suffix = name[dot:] if 0 < dot < len(name) - 1 else ""
    found = _BY_FILE_NAME.get(name) or _BY_SUFFIX.get(suffix.lower())
    if found or suffix or not first_line.startswith(b"#!"):
        return found
    match = _SHEBANG.match(first_line)
    if match is None:
        return None
    program = (match[2] if match[1] == b"env" and match[2] else match[1]).decode()
    stem = re.sub(r"[\d.]+$", "", program)
    return next((language for language in LANGUAGES if stem in language.interpreters), None)


def for_source(language: Language, source: bytes) -> Language:
    """Tell the language a source is really in, where the file's name leaves it open."""
    if language.really is None:
        return language
    is_other, other = language.really
    return _BY_NAME[other] if is_other(source) else language


@cache
def compiled(name: str) -> Compiled:
    """Load a language's grammar and compile its query, once per process."""
    import tree_sitter_language_pack  # here: telling a file's language takes no grammar
    from tree_sitter import Query

    language = _BY_NAME[name]
    # The pack types its names as literals of every grammar it bundles; ours come from the table above.
    grammar: Grammar = tree_sitter_language_pack.get_language(language.grammar or language.name)  # type: ignore[arg-type]
    return Compiled(
        grammar=grammar,
        query=Query(grammar, _query_text(name)),
    )


@cache
def mistakes(name: str) -> Query:
    """Compile what finds a grammar's errors, once per process; most files have none, and large grammars take long."""
    from tree_sitter import Query

    return Query(compiled(name).grammar, "(ERROR) @mistake (MISSING) @mistake")


def _query_text(name: str) -> str:
    text = Path(__file__).with_name(f"{name}.scm").read_text(encoding="utf-8")
    first = text.partition("\n")[0]
    if not first.startswith("; inherits:"):
        return text
    inherited = "\n".join([_query_text(part.strip()) for part in first.removeprefix("; inherits:").split(",")])
    return f"{inherited}\n{text}"
