"""Sections of conversation logs (chat transcripts in Markdown), parsed: what a conversation log tells of, section by
section (AURORA §6.8.2.1). Pure; the store keeps the index.

A log is Markdown with JSON blocks (§9.7). A section is a heading with the text up to the next heading; headings within
code blocks are none. Keys of JSON blocks name the format, so only their values are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from aurora_memory.semantic_tags import domain_of, keywords_of
from aurora_memory.tag_lexicon import GENERAL
from aurora_memory.tokens import MAX_WORD, stem_word, terms

MAX_LOG = 4 << 20
"""Characters of a log that are indexed; what follows can still be read, only not found."""

MAX_SECTIONS = 500
MAX_SECTION_TITLE = 200

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_PHASE = re.compile(r"Phase (\d{1,2})(?!\d)", re.IGNORECASE)
_QUERY_ID = re.compile(r"\bID:\s*([^\s|]{1,200})")
_JSON_KEY = re.compile(r'"[^"\\\n]{0,100}"[ \t]*:')
_OPAQUE = re.compile(
    r"\b(?:\d{4}-\d{2}-\d{2}[T\d:.Z+-]*|aurora-\d{8}-[\w-]+|SG\d+|https?://)|\{[\w ]{1,60}\}|^ {0,3}(?:```|~~~).*"
)

_EVERY_LOG = frozenset(
    terms(
        """
        phase query user keywords agent subgoal output input summary status success pass fail verdict score overall
        confidence complexity complex medium simple critical route mode always on option duration timestamp metadata
        turn assess retrieve decompose verify verification route collect synthesize synthesis record respond execution
        total tokens estimated cost yes claude sonnet opus haiku gpt model would follow format id aurora code reas know
        stored storage interactions interaction full decomposition from content threshold act answer final natural
        language seconds guard guardrails recomposition response timing invoked executor llm interrupted
        """
    )
)
"""Stems that every log has, whatever it is about."""


class IndexedLogSection(Struct, frozen=True):
    """Section of a conversation log as the index has it.

    Lines are 1-based, inclusive; `phase` is None outside of phases.
    """

    title: str
    line_start: int
    line_end: int
    phase: int | None
    query_id: str
    topic: str
    keywords: tuple[tuple[str, str], ...]
    """(term to look for, word as written), best first; a word with a number is found without it as well."""


class LogReference(Struct, frozen=True):
    """Reference to a section of a conversation log that tells of what was asked.

    `file` is its path below the folder of logs; a higher `score` is better.
    """

    file: str
    section: str
    line_start: int
    line_end: int
    phase: int | None
    query_id: str
    topic: str
    keywords: tuple[str, ...]
    score: float


def index_of(file: str, text: str, query_id: str = "", topic: str = "") -> list[IndexedLogSection]:
    """Index entries of a log: its sections with five to seven keywords of each; sections without any are left out.

    `query_id` holds where no heading above names one; `topic` is what a model called the run, else the log's domain,
    else its best keyword.
    """
    lines = text[:MAX_LOG].splitlines()
    prose = [_prose(line) for line in lines]
    whole = keywords_of(_prose(file), prose, silent=_EVERY_LOG)
    if not topic:
        domain = domain_of(((" ".join(whole), 2.0), (_prose(file), 2.0)))
        topic = domain if domain != GENERAL else next(iter(whole), GENERAL)
    found: list[IndexedLogSection] = []
    current = query_id
    for title, start, end in _sections(lines):
        if named := _QUERY_ID.search(title):
            current = named.group(1)
        words = keywords_of(_prose(title), prose[start:end], silent=_EVERY_LOG)
        if not words:
            continue
        phase = _PHASE.search(title)
        found.append(
            IndexedLogSection(
                title=title[:MAX_SECTION_TITLE],
                line_start=start,
                line_end=end,
                phase=int(phase.group(1)) if phase else None,
                query_id=current,
                topic=topic[:MAX_SECTION_TITLE],
                keywords=tuple({term: (term, word) for word in words for term in _sought(word)}.values()),
            )
        )
    return found[:MAX_SECTIONS]


def _sections(lines: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """(title, first line, last line) of each heading's own text; what stands above the first heading is left out."""
    heads: list[tuple[str, int]] = []
    fence = ""
    for number, line in enumerate(lines, start=1):
        mark = _FENCE.match(line)
        if mark:
            marker = mark.group(1)
            if not fence:
                fence = marker
            elif marker.startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif not fence and (heading := _HEADING.match(line)):
            heads.append((heading.group(2).strip().rstrip("#").strip(), number))
    following = [number for _, number in heads[1:]] + [len(lines) + 1]
    for (title, start), end in zip(heads, following, strict=bool(heads)):
        last = end - 1
        while last > start and lines[last - 1].strip() in ("", "---"):
            last -= 1
        yield title, start, last


def _sought(word: str) -> list[str]:
    """Terms that a keyword is looked for by: `oauth2` by itself and by `oauth`."""
    return [term for term in stem_word(word[:MAX_WORD]) if len(term) > 1 and not term.isdigit()]


def _prose(line: str) -> str:
    """A line without JSON keys, times, ids and placeholders; nothing of the fence of a code block."""
    return _OPAQUE.sub(" ", _JSON_KEY.sub(" ", line))
