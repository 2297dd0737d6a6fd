"""SQL definitions (DDL, `CREATE TABLE`): a chunk for each table, view, routine, trigger and type; the rest of a file is
one more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from aurora_indexer.documents.knowledge_chunk import Builder, DocumentPiece, Span, clean_name
from aurora_indexer.parse.signature import docstring_of_comments
from aurora_memory.chunks import MODULE_NAME, ChunkKind, Reference

_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?)
      | (?P<text>'(?:[^']|'')*+'?)
      | (?P<dollar>\$\w{0,60}\$)
      | (?P<quoted>"(?:[^"]|"")*+"?|`[^`]*+`?|\[[^\[\]\n]{0,128}+\])
      | (?P<word>[^\W\d][\w$]*+)
      | (?P<mark>[;(),.])""",
    re.VERBOSE,
)
_ROUTINES = frozenset({"FUNCTION", "PROCEDURE", "TRIGGER"})
_MAX_UNCLOSED = 20
"""Dollar quotes without an end; each costs a look through the rest of the text."""

_NOT_OPENED = frozenset({"IF", "LOOP", "WHILE", "REPEAT", "FOR"})
"""Words that `END` may close and that are not counted when they open."""


class Token(NamedTuple):
    """Token of a SQL lexer; `text` is upper case for words, without its quotes for quoted names."""

    kind: Literal["comment", "text", "quoted", "word", "mark"]
    text: str
    start: int
    end: int


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a text in order; what is none (numbers, operators) is passed over. Linear in its length."""
    at = 0
    unclosed: set[str] = set()
    while match := _TOKEN.search(text, at):
        found, start, at = match.lastgroup, match.start(), match.end()
        said = match[0]
        if found == "dollar":
            searched = said not in unclosed and len(unclosed) < _MAX_UNCLOSED
            close = text.find(said, at) if searched else -1
            if close < 0:
                unclosed.add(said)
                continue
            at = close + len(said)
            yield Token("text", said, start, at)
        elif found == "word":
            yield Token("word", said.upper(), start, at)
        elif found == "quoted":
            yield Token("quoted", said.strip('"`[]'), start, at)
        elif found == "comment":
            yield Token("comment", said, start, at)
        elif found == "text":
            yield Token("text", said, start, at)
        else:
            yield Token("mark", said, start, at)


def statements(found: Iterable[Token]) -> Iterator[list[Token]]:
    """Statement splitting: tokens up to each `;`, which is left out; the bodies of routines and triggers hold some of
    their own."""
    current: list[Token] = []
    heads: list[str] = []
    depth = 0
    after_end = False
    for token in found:
        if token.kind == "mark" and token.text == ";" and depth <= 0:
            yield current
            current, heads, depth = [], [], 0
            continue
        current.append(token)
        if token.kind != "word":
            after_end = False
            continue
        if len(heads) < 8:
            heads.append(token.text)
        if heads[0] == "CREATE" and not _ROUTINES.isdisjoint(heads):
            if after_end:
                depth += token.text in _NOT_OPENED
            elif token.text in ("BEGIN", "CASE"):
                depth += 1
            elif token.text == "END":
                depth -= 1
        after_end = token.text == "END" and not after_end
    if current:
        yield current


_KINDS: dict[str, ChunkKind] = {
    "TABLE": "table",
    "VIEW": "view",
    "FUNCTION": "operation",
    "PROCEDURE": "operation",
    "TRIGGER": "operation",
    "TYPE": "schema",
    "DOMAIN": "schema",
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BEFORE_KIND = _words(
    "OR REPLACE ALTER TEMP TEMPORARY GLOBAL LOCAL UNLOGGED EXTERNAL FOREIGN VIRTUAL MATERIALIZED RECURSIVE CONSTRAINT"
    " EDITIONABLE NONEDITIONABLE TRANSIENT AGGREGATE"
)
_BEFORE_NAME = _words("IF NOT EXISTS")
_NOT_COLUMNS = _words("PRIMARY FOREIGN UNIQUE CHECK CONSTRAINT KEY INDEX EXCLUDE LIKE PERIOD FULLTEXT SPATIAL")
_REFERRING = _words("REFERENCES FROM JOIN INTO UPDATE")
_NO_NAMES = _words("ON OF OR")
"""What may follow `UPDATE` in the events of a trigger."""

_BODY = _words("AS BEGIN IS")

_SHOWN = 16
"""Columns named in a signature."""

_DASHES = re.compile(r"^--+")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")


def add_sql(builder: Builder, path: str, text: str) -> None:
    """Make the chunks of a file of SQL."""
    left: list[Span] = []
    pieces: list[DocumentPiece] = []
    header: list[Token] | None = None
    for statement in statements(tokens(text)):
        if header is None:
            header = _header(text, statement)
        if piece := _piece(text, statement):
            pieces.append(piece)
        elif any(token.kind == "word" for token in statement):
            first = next(token for token in statement if token.kind != "comment")
            left.append((first.start, statement[-1].end))
    if header or left:
        spans = [*((token.start, token.end) for token in header or ()), *left]
        builder.add(
            DocumentPiece(
                name=MODULE_NAME,
                kind="section",
                start=spans[0][0],
                end=spans[-1][1],
                doc=_said(text, header or []),
                silent=spans[: len(header or ())],
                apart=[(piece.start, piece.end) for piece in pieces],
                borders=[low for low, _ in left],
            )
        )
    for piece in pieces:
        builder.add(piece)


def _piece(text: str, statement: Sequence[Token]) -> DocumentPiece | None:
    """Definition of a `CREATE` of a kind we know."""
    code = [token for token in statement if token.kind != "comment"]
    if not code or code[0].text != "CREATE" or code[0].kind != "word":
        return None
    at = 1
    while at < len(code) and code[at].text in _BEFORE_KIND:
        at += 1
    kind = _KINDS.get(code[at].text) if at < len(code) else None
    at += 1
    while at < len(code) and code[at].kind == "word" and code[at].text in _BEFORE_NAME:
        at += 1
    named = code[at].start if at < len(code) else None
    segments, at = _name(text, code, at)
    if kind is None or not segments:
        return None
    comments = _leading(text, statement, code[0])
    start = comments[0].start if comments else code[0].start
    return DocumentPiece(
        name=".".join(clean_name(segment) for segment in segments),
        kind=kind,
        start=start,
        end=code[-1].end,
        heading=_heading(text, code, at, kind),
        doc=_said(text, comments),
        references=list(_references(text, code, at, is_trigger="TRIGGER" in {token.text for token in code[:at]})),
        silent=[(start, code[0].start)],
        named=named,
        borders=[token.end for token in code if token.text in (",", ";") and token.kind == "mark"],
    )


def _name(text: str, code: Sequence[Token], at: int) -> tuple[list[str], int]:
    """A name with its qualifiers as written, and where it ends."""
    segments: list[str] = []
    while at < len(code) and code[at].kind in ("word", "quoted"):
        token = code[at]
        segments.append(token.text if token.kind == "quoted" else text[token.start : token.end])
        at += 1
        if at >= len(code) or code[at].text != "." or code[at].kind != "mark":
            break
        at += 1
    return segments, at


def _leading(text: str, statement: Sequence[Token], first: Token) -> list[Token]:
    """The comments directly above a statement, each on lines of its own."""
    found: list[Token] = []
    below = first.start
    for token in reversed(statement[: statement.index(first)]):
        line = text[text.rfind("\n", 0, token.start) + 1 : token.start]
        if line.strip() or _BLANK_LINE.search(text, token.end, below):
            break
        found.append(token)
        below = token.start
    return found[::-1]


def _header(text: str, statement: Sequence[Token]) -> list[Token]:
    """The comments a file begins with, as far as its first statement does not claim them."""
    count = next((number for number, token in enumerate(statement) if token.kind != "comment"), len(statement))
    claimed = len(_leading(text, statement, statement[count])) if count < len(statement) else 0
    return list(statement[: count - claimed])


def _said(text: str, comments: Sequence[Token]) -> str:
    """Text of comments, without their marks."""
    written = [_DASHES.sub("//", text[token.start : token.end]) for token in comments]
    return docstring_of_comments([comment.encode("utf-8", "replace") for comment in written])


def _heading(text: str, code: Sequence[Token], at: int, kind: ChunkKind) -> str:
    """`CREATE TABLE users (id, email)`, or all that stands before a routine's or a view's body."""
    if kind == "table":
        head = text[code[0].start : code[at - 1].end]
        columns = _columns(text, code, at)
        more = ", …" if len(columns) > _SHOWN else ""
        return f"{head} ({', '.join(columns[:_SHOWN])}{more})" if columns else head
    body = next((token.start for token in code[at:] if token.kind == "text" or token.text in _BODY), code[-1].end)
    return text[code[0].start : body]


def _columns(text: str, code: Sequence[Token], at: int) -> list[str]:
    """Columns of a table: the first name of each entry in the outer brackets that is no constraint."""
    depth = 0
    expected = False
    found: list[str] = []
    for token in code[at:]:
        if token.kind == "mark" and token.text in "()":
            depth += 1 if token.text == "(" else -1
            expected = depth == 1 and token.text == "("
            if depth <= 0:
                break
        elif token.kind == "mark":
            expected = depth == 1 and token.text == ","
        elif depth == 0:
            break
        elif expected:
            expected = False
            if token.kind == "quoted" or (token.kind == "word" and token.text not in _NOT_COLUMNS):
                found.append(token.text if token.kind == "quoted" else text[token.start : token.end])
    return found


def _references(text: str, code: Sequence[Token], at: int, *, is_trigger: bool) -> Iterator[Reference]:
    """Dependencies (foreign keys): the tables and views that a definition names; `ON` names one in a trigger, and
    conditions elsewhere."""
    for number in range(at, len(code)):
        token = code[number]
        if token.kind != "word" or code[number - 1].text == "ON":  # ON UPDATE CASCADE
            continue
        if token.text in _REFERRING or (is_trigger and token.text == "ON"):
            segments, after = _name(text, code, number + 1)
            if segments and (code[after - 1].kind != "word" or code[after - 1].text not in _NO_NAMES):
                yield Reference("mentions", segments[-1])
