"""Wrappings of JSON (code fences, assignments): what other languages put around it, as `module.exports = {…};` and
Markdown's fences."""

from __future__ import annotations

import re

from aurora_manifest.json.document import Problem
from aurora_manifest.json.value_text import excerpt

_BEFORE = re.compile(
    r"(?:```[a-z0-9]*[ \t]*\r?\n\s*|export[ \t]+default[ \t]+|(?:module\.)?exports[ \t]*=[ \t]*"
    r"|(?:(?:export[ \t]+)?(?:const|let|var)[ \t]+)?[A-Za-z_$][\w$.]{0,60}[ \t]*=[ \t]*"
    r"|\)\]\}'[^\n]{0,20}\n\s*)(?=[{\[])"
).match
_AFTER = re.compile(r"\s*(?:;|```)\s*\Z").search
_LONGEST = 40


def wrapping(text: str, at: int) -> Problem | None:
    """Code fence or assignment to be stripped: what stands before the JSON and is none, with what belongs to it behind:
    `also` has that place, or the end."""
    before = _BEFORE(text, at)
    if before is None:
        return None
    start = max(before.end(), len(text) - _LONGEST)
    after = _AFTER(text, start)
    behind = after.start() if after else len(text)
    while behind < len(text) and text[behind].isspace():
        behind += 1
    message = f"{excerpt(before[0].strip())} is no part of JSON"
    return Problem(
        "json-syntax", message, at, before.end(), "", also=((behind, len(text.rstrip()) if after else behind, ""),)
    )
