"""Signature and documentation (docstrings, doc comments): what people read of a chunk first: its signature in one line,
and its documentation without markers.
"""

from __future__ import annotations

import re

MAX_SIGNATURE = 300
MAX_DOCSTRING = 2000

_RAW = 4 * MAX_DOCSTRING
"""Bytes of a docstring worth looking at, before white space and markers are gone."""

_IN_BRACKETS = (("( ", "("), ("[ ", "["), (" )", ")"), (" ]", "]"), (",)", ")"), (",]", "]"))
"""What a header of several lines has too much once it is one."""

_QUOTES = re.compile(r"[a-zA-Z]{0,2}(\"\"\"|'''|\"|')")
_ADJACENT = re.compile(r"(\"\"\"|'''|\"|')\s+[a-zA-Z]{0,2}(?:\"\"\"|'''|\"|')")
_MARKER = re.compile(r"(?:/\*[*!]?|//[/!]?|\*(?!/)|#+!?|=begin|=end)\s?")
_CLOSER = re.compile(r"\s*\*+/\s*$")
_DASHES = re.compile(r"--+(?:\[=*\[)?-*\s?")
_DASHES_CLOSER = re.compile(r"\s*(?:--)?\]=*\]\s*$")
"""Lua's markers; elsewhere dashes begin an item of a list."""

_XML = ("<summary", "<inheritdoc", "<remarks", "<param", "<returns", "<typeparam", "<exception")
_TAG = re.compile(
    r"</?(?:summary|remarks|para|param|typeparam|returns|value|exception|example|see|seealso|c|code|inheritdoc|paramref"
    r"|typeparamref|list|listheader|item|term|description)\b[^<>]{0,300}>"
)
_REFERENCE = re.compile(r"<(?:see|seealso|paramref|typeparamref)\s+\w+=\"(?:\w:)?([^\"<>]{1,300})\"\s*/>")
"""C#'s documentation is XML: what is referred to is kept, tags are not."""

_DIRECTIVE = re.compile(
    r"(?:go:|nolint|eslint|tslint|@ts-|prettier-|rubocop:|clang-|noqa|type: ignore|pylint:|NOSONAR)"
)
_RULE = re.compile(r"[-=*#/~_+\s]{3,}")


def signature(header: bytes) -> str:
    """Signature: what stands before a body, in one line of at most 300 characters, without what opens the body."""
    text = " ".join(header[: 8 * MAX_SIGNATURE].decode("utf-8", "replace").split())
    text = text.rstrip(" {:=;")
    if text.endswith((" end", " do", ";end")):
        text = text[:-3].rstrip(" ;")
    if "( " in text or " )" in text or "[ " in text or " ]" in text:
        for written, wanted in _IN_BRACKETS:
            text = text.replace(written, wanted)
    return text if len(text) <= MAX_SIGNATURE else text[: MAX_SIGNATURE - 1] + "…"


def docstring_of_string(literal: bytes) -> str:
    """Docstring that is a string literal: quotes off, dedented, at most 2,000 characters. Escapes stay as written."""
    text = literal[:_RAW].decode("utf-8", "replace")
    if match := _QUOTES.match(text):
        quote = match[1]
        text = text[match.end() :]
        if text.endswith(quote):
            text = text[: -len(quote)]
        if len(quote) == 1 or '"\n' in text or "'\n" in text:
            text = _ADJACENT.sub("", text)
    return _shortened(_dedented(text))


def docstring_of_comments(comments: list[bytes]) -> str:
    """Docstring that is comments above a definition: markers and rules off, at most 2,000 characters."""
    lines: list[str] = []
    size = 0
    for comment in comments:
        marker, closer = (_DASHES, _DASHES_CLOSER) if comment.startswith(b"--") else (_MARKER, _CLOSER)
        for line in comment[:_RAW].decode("utf-8", "replace").rstrip().split("\n"):
            line = closer.sub("", line.strip())
            if match := marker.match(line):
                line = line[match.end() :]
            if not _RULE.fullmatch(line) and not _DIRECTIVE.match(line):
                lines.append(line.rstrip())
                size += len(line)
        if size > _RAW:
            break
    text = "\n".join(lines).strip()
    if text.startswith(_XML):
        text = _TAG.sub("", _REFERENCE.sub(r"\1", text))
        text = "\n".join(line.strip() for line in text.split("\n") if line.strip())
    return _shortened(text)


def _dedented(text: str) -> str:
    """As `inspect.cleandoc`: the first line stripped, the common indent off the rest."""
    if "\n" not in text:
        return text.strip()
    lines = text.replace("\r", "").expandtabs().split("\n")
    rest = lines[1:]
    margins = [len(line) - len(bare) for line in rest if (bare := line.lstrip())]
    margin = min(margins, default=0)
    return "\n".join([lines[0].strip(), *(line[margin:].rstrip() for line in rest)]).strip()


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_DOCSTRING else text[: MAX_DOCSTRING - 1].rstrip() + "…"
