"""Inline markup: what stands inside a line of Markdown or reStructuredText: names in code marks, links, and the words
without marks.

Every pattern is bounded, so that no text makes them slow.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from urllib.parse import unquote

from aurora_memory.chunks import Reference

_CODE = re.compile(r"(?<!`)(``?)(?!`)([^`\n]{1,200})\1(?!`)")
_NAME = re.compile(r"([A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$][\w$]*){0,8})(?:\([^()]{0,100}\))?")
_JOINTS = re.compile(r"\.|::|#|->")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\(<?([^()\s<>]{0,500})>?(?:[ \t][^()\n]{0,200})?\)")
_LINK_TO_NAME = re.compile(r"!?\[([^\[\]\n]{1,300})\](?:\[[^\[\]\n]{0,100}\])?")
_ROLE = re.compile(r":[\w:]{1,40}:(?=`)")
_BARE_URL = re.compile(r"https?://[^\s<>()\[\]\"'`]{1,500}")
_TAG = re.compile(r"</?[A-Za-z][\w-]{0,60}(?:[\s/][^<>\n]{0,300})?>|<!--[^<>]{0,500}-->")
_EMPHASIS = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)|~~")
_HEADING_ID = re.compile(r"[ \t]*\{#[\w.-]{1,100}\}[ \t]*$")
_SCHEME = re.compile(r"[A-Za-z][\w+.-]{0,20}:|//")
_PATH = re.compile(r"(?:[\w@.-]+/){1,20}[\w@-][\w@.-]*\.\w{1,8}")

_SHORTEST_NAME = 3


def plain(text: str) -> str:
    """The words of a line as a reader sees them: links by their text, no marks, no tags."""
    if "[" in text:
        text = _LINK.sub(r"\1", text)
    if ":`" in text:
        text = _ROLE.sub("", text)
    if "[" in text:
        text = _LINK_TO_NAME.sub(r"\1", text)
    if "{#" in text:
        text = _HEADING_ID.sub("", text)
    if "<" in text:
        text = _TAG.sub("", text)
    if "`" in text or "*" in text or "_" in text or "~~" in text:
        text = _EMPHASIS.sub("", text)
    return " ".join(text.split())


def references(text: str, path: str) -> Iterator[Reference]:
    """References of a passage of the document at `path`: identifiers in code marks, files of the workspace."""
    for match in _CODE.finditer(text) if "`" in text else ():
        code = match[2].strip()
        if name := _NAME.fullmatch(code):
            *around, last = _JOINTS.split(name[1])
            if len(last) >= _SHORTEST_NAME:
                yield Reference("mentions", last, ".".join(around))
        elif _PATH.fullmatch(code):
            yield Reference("links", "", code)
    for match in _LINK.finditer(text) if "](" in text else ():
        if target := within(match[2], path):
            yield target


def within(target: str, path: str) -> Reference | None:
    """A link's target as a file of the workspace and a fragment; None where it leads out of it."""
    if not target or _SCHEME.match(target):
        return None
    file, _, fragment = target.partition("#")
    file = unquote(file.partition("?")[0])
    here = posixpath.dirname(path)
    joined = posixpath.normpath(posixpath.join(here, file)) if not file.startswith("/") else file.lstrip("/")
    if not file:
        joined = path
    if joined.startswith("../") or joined in ("", ".", ".."):
        return None
    return Reference("links", unquote(fragment), joined)


def web_links(text: str) -> list[str]:
    """The addresses a passage names, in order, each once."""
    return list(dict.fromkeys(match[0].rstrip(".,;:!?*_") for match in _BARE_URL.finditer(text)))
