"""Knowledge content (extraction of facts): what a knowledge chunk says, as the content of AURORA §6.3.5: topic,
summary, facts, sources, confidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aurora_indexer.documents.inline_markup import plain, references, web_links
from aurora_indexer.documents.knowledge_chunk import shortened
from aurora_memory.documents import Fact, KnowledgeContent

MAX_FACTS = 20
MAX_SUMMARY = 300
MAX_TEXT = 200_000
_MAX_STATEMENT = 400
_SHORTEST = 12
"""Characters of a statement in prose; what is shorter is a label."""

CONFIDENCE = {"openapi": 1.0, "json-schema": 1.0, "sql": 1.0}
"""Machine-readable definitions are what they say. Prose is believed by its purpose: see `confidence_of`."""

PROSE_CONFIDENCE = 0.7
TAG_CONFIDENCE = {"convention": 0.9, "decision": 0.85, "changelog": 0.6}

_BULLET = re.compile(r"[ \t]{0,12}(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(.*)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9`\"'(])")
_FENCE = re.compile(r"[ \t>]{0,12}(?:`{3,}|~{3,})")
_NO_SENTENCE = re.compile(r"[ \t]{0,3}(?:#{1,6}[ \t]|\||[=~+-]{2,}|\.\.[ \t]|:\w+:|<!--|---)")


def knowledge_content(
    *, path: str, name: str, language: str, signature: str, docstring: str, keywords: tuple[str, ...], text: str
) -> KnowledgeContent:
    """Read a chunk's text as statements. Pure; `text` is the chunk's lines as they stand in its file.

    Facts are bullet points and sentences, at most 20, code left out. Sources are the document itself and what it links
    to.
    """
    text = text[:MAX_TEXT]
    topic = plain(signature.lstrip("#").strip()) if language in ("markdown", "restructuredtext") else signature
    first = next((line for line in docstring.split("\n") if line.strip()), "")
    if language in CONFIDENCE:
        statements = list(_definitions(signature, docstring))
    else:
        statements = [each for each in _prose(text) if len(each) >= _SHORTEST]
    facts = dict.fromkeys(shortened(each, _MAX_STATEMENT) for each in statements)
    return KnowledgeContent(
        topic=topic or name,
        summary=shortened(first.strip() or signature or name, MAX_SUMMARY),
        facts=tuple(Fact(id=f"F{number}", statement=each) for number, each in enumerate(list(facts)[:MAX_FACTS], 1)),
        sources=tuple(dict.fromkeys([path, *web_links(text), *_files(text, path)])),
        confidence=confidence_of(language, keywords),
    )


def confidence_of(language: str, tags: tuple[str, ...]) -> float:
    """Confidence in a document, by what it is: nothing is measured.

    1.0 for schemas, APIs and SQL definitions; 0.9 for conventions, which are kept; 0.85 for decisions, which are dated;
    0.6 for changelogs, which tell of the past; 0.7 for other prose.
    """
    if language in CONFIDENCE:
        return CONFIDENCE[language]
    return next((TAG_CONFIDENCE[tag] for tag in tags if tag in TAG_CONFIDENCE), PROSE_CONFIDENCE)


def _definitions(signature: str, docstring: str) -> Iterator[str]:
    """Statements of a definition: its heading, and the sentences about it."""
    if signature:
        yield signature
    for paragraph in docstring.split("\n\n"):
        yield from _sentences(paragraph.split("\n"))


def _prose(text: str) -> Iterator[str]:
    """Bullet points and sentences, in order; headings, tables, directives and code are neither."""
    paragraph: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        bullet = _BULLET.match(line)
        if fenced or bullet or not line.strip() or _NO_SENTENCE.match(line):
            yield from _sentences(paragraph)
            paragraph = [bullet[1]] if bullet and not fenced else []
        elif not _FENCE.match(line):
            paragraph.append(line)
    yield from _sentences(paragraph)


def _sentences(lines: list[str]) -> Iterator[str]:
    """Sentence splitting of prose."""
    text = " ".join(" ".join(map(plain, lines)).split())
    yield from (sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence.strip())


def _files(text: str, path: str) -> Iterator[str]:
    """The workspace's files that a text links to."""
    for reference in references(text, path):
        if reference.kind == "links":
            yield reference.qualifier
