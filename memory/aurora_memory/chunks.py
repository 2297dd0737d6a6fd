"""Chunks: what memory holds of code and of documents, as plain frozen data (AURORA §6.3.5, §6.6).

The indexer makes these, the store keeps them, recall returns them. Identity is (path, qualified name, ordinal), so an
edit that moves lines keeps a chunk's history; the id people see carries the lines as well.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

ChunkKind = Literal[
    "function",
    "method",
    "class",
    "interface",
    "struct",
    "trait",
    "enum",
    "type",
    "namespace",
    "macro",
    "module",
    "section",
    "schema",
    "operation",
    "table",
    "view",
]
"""Kind of a chunk, by what it defines.

`module` is what is left of a source file between its definitions; from `section` on it is knowledge: a passage of a
document, a data type, something an API or a database can be asked to do, a table, a view.
"""

ChunkType = Literal["code", "know", "reas"]
"""The prefix of a chunk's id, and what `--type` asks for."""

CHUNK_TYPES: tuple[ChunkType, ...] = ("code", "know", "reas")
"""In this order: the store keeps a type as its place here."""

KNOWLEDGE_KINDS = frozenset({"section", "schema", "operation", "table", "view"})

REASONING = "reasoning"
"""The kind of chunks that stand in no file: what finished runs taught."""

ReferenceKind = Literal[
    "calls", "may call", "hands on", "inherits", "may inherit", "mentions", "links", "returns", "holds"
]
"""`hands on` is a name that a call is given. `mentions` is a name written in a document; `links` a path in the
workspace (qualifier) and a fragment (name). `may call` and `may inherit` are noted when references are resolved: a name
that is called or inherited from, and that too many definitions have for some of them to be told.

`returns` says in its qualifier what a function gives back (`Client()`, an instance; `open().conn`, what is reached so),
`holds` what a field of a class, or a variable of a module, is; `#Client()` is a list of these, `#` an element of one.
"""

NOTES: frozenset[ReferenceKind] = frozenset({"inherits", "returns", "holds"})
"""Kinds of references that say what other chunks' references can mean."""

MODULE_NAME = "<module>"
"""The qualified name of a file's module-level remainder."""


class ComplexityCounts(Struct, frozen=True, array_like=True, gc=False):
    """Complexity (cyclomatic) of a definition: its branch and loop counts, and what they amount to."""

    complexity: Literal["low", "medium", "high"]
    branches: int
    loops: int


class Reference(Struct, frozen=True, array_like=True, gc=False):
    """Reference: a name a chunk uses, as written: `self.db.get_user(…)` is name `get_user`, qualifier `self.db`."""

    kind: ReferenceKind
    name: str
    qualifier: str = ""


class Import(Struct, frozen=True, array_like=True, gc=False):
    """Import: one imported name of a file.

    `from a.b import c as d` is module `a.b`, name `c`, alias `d`; `import a.b as x` is module `a.b`, no name,
    alias `x`. Relative modules keep their dots or slashes (`.auth`, `./auth`). Where nothing is named, the last segment
    is bound.
    """

    module: str
    name: str = ""
    alias: str = ""


class ChunkPart(Struct, frozen=True, array_like=True, gc=False):
    """Part of a chunk, searched as one: the whole of it, or a piece cut on syntax borders (cAST).

    `occurrences` has, for each term, its counts by field (`aurora_memory.term_counts`); `length` and `name_length` are
    how many terms the part, and its chunk's name, have.
    """

    line_start: int
    line_end: int
    occurrences: dict[str, int]
    length: int
    name_length: int


class CodeChunk(Struct, frozen=True, array_like=True, gc=False):
    """Chunk: a definition, the module-level remainder of a file, or a piece of a document.

    Lines are 1-based and inclusive.

    `name` is qualified within the file with dots in every language (`AuthService.login`). `ordinal` counts earlier
    definitions of the same qualified name in the file (overloads, `if`/`else` variants). `parent` is the qualified name
    of the definition around it. `body_hash` changes with any edit; `shape_hash` ignores white space, comments' layout
    and the chunk's own name, so that a moved, renamed or reformatted chunk is known again. `tokens` is an estimate of
    what the text costs a language model. `lead` is how many of its lines stand before the one of its name: comments,
    attributes, decorators.
    """

    path: str
    name: str
    kind: ChunkKind
    language: str
    line_start: int
    line_end: int
    signature: str
    docstring: str
    parent: str | None
    references: tuple[Reference, ...]
    ast_summary: ComplexityCounts
    keywords: tuple[str, ...]
    body_hash: bytes
    shape_hash: bytes
    tokens: int
    parts: tuple[ChunkPart, ...]
    ordinal: int = 0
    lead: int = 0

    @property
    def line(self) -> int:
        """Line of its name: where one is led."""
        return self.line_start + self.lead

    @property
    def id(self) -> str:
        """The id people see: `code:src/auth.py:AuthService.login:45-78`."""
        return chunk_id(self.path, self.name, self.line_start, self.line_end, self.kind)


class ParsedFile(Struct, frozen=True, array_like=True, gc=False):
    """Source file or document, cut into chunks. `syntax_errors` counts what its parser had to skip or invent."""

    path: str
    language: str
    content_hash: bytes
    imports: tuple[Import, ...]
    chunks: tuple[CodeChunk, ...]
    syntax_errors: int = 0


def type_of(kind: str) -> ChunkType:
    """Type of chunks of a kind: code, knowledge or reasoning."""
    if kind == REASONING:
        return "reas"
    return "know" if kind in KNOWLEDGE_KINDS else "code"


def chunk_id(path: str, name: str, line_start: int, line_end: int, kind: str) -> str:
    """Spell a chunk's id (AURORA §6.6): `code:src/auth.py:login:45-78`, `reas:token-expiry:v2`."""
    return f"reas:{name}" if kind == REASONING else f"{type_of(kind)}:{path}:{name}:{line_start}-{line_end}"
