"""Stray quotes (unbalanced, unescaped): one too many behind a string, one too few around a name, and quotes of a text
that were to be written `\"`.
"""

from __future__ import annotations

import re

from msgspec import Struct

from aurora_manifest.json.document import Problem
from aurora_manifest.json.value_text import excerpt

_SEEN = 400
"""Characters of a line that are looked at: a text on one line would be searched again and again."""

_ENDS_HERE = re.compile(r'"[ \t]*+(?:[,}\]\n\r]|\Z)').match
_WITHIN = re.compile(r'((?:[^"\n\r]*+")+?)[ \t]*+,?+[ \t]*+[\n\r]').match
_VALUE = r'(?:"[^"\n\r]*+"|-?[0-9][0-9.eE+-]*+|true\b|false\b|null\b)'
_FOLLOWS = r'[ \t]*+(?:,?+[ \t]*+(?:[\n\r]|\Z)|,[ \t]*+"[^"\n\r]*+"[ \t]*+:|[}\]])'
_NAME = r"[A-Za-z_$][\w$-]{0,60}+"
_HALF = re.compile(
    rf'"(?P<begun>{_NAME})(?=[ \t]*+:[ \t]*+(?:{_VALUE}{_FOLLOWS}|[\[{{][ \t]*+(?:[\n\r]|"[^"\n\r]*+"[ \t]*+[:,\]])))'
    rf'|(?P<ended>{_NAME})"(?=[ \t]*+:)',
    re.ASCII,
).match
_ONLY_ENDED = re.compile(r'[A-Za-z][^"\\\n\r{}\[\],:]*+"(?=[ \t]*+(?:[\n\r]|[,}\]][ \t]*+[\n\r"}\],]))', re.ASCII).match
_LINE_ENDED = re.compile(r'[A-Za-z][^"\\\n\r{}\[\]:]*+"(?=[ \t]*+,?+[ \t]*+[\n\r])', re.ASCII).match
_WORDS = re.compile(
    r"([A-Za-z][\w-]*+(?:(?:[ \t]|[,.;!?\'](?=[ \t]))++[\w-]++[.!?]?)++)(?=[ \t]*+,?+[ \t]*+[\n\r])"
).match
_NO_TEXT = re.compile(r"(?:true|false|null|undefined|none)\b", re.I).match
_MORE = re.compile(r'(?:\s*\+\s*"[^"\\\n\r]*+")++').match
_BEFORE = re.compile(r'"[^"\\\n\r]*"\s*\Z').search
_WHOLE = re.compile(r'"(?:[^"\\\n\r]|\\[^\n\r])*+"[ \t\n\r]*+:').match
_NAMES_ONE = re.compile(r'"[ \t]*+:').search


def one_too_many(text: str, at: int) -> Problem | None:
    """The quote at `at`, where it directly follows a string and nothing is in it."""
    if text[at - 1 : at + 1] != '""' or _ENDS_HERE(text, at) is None:
        return None
    return Problem("json-syntax", 'this " is one too many', at, at + 1, "")


def quotes_within(text: str, at: int) -> Problem | None:
    """Quotes of a string that seems to have ended before `at`, and in truth goes on to the end of its line."""
    if text[at - 1] != '"' or text[at] in ' \t\n\r,:}]"':
        return None
    found = _WITHIN(text, at, at + _SEEN)
    if found is None or found[1].count('"') % 2 or _NAMES_ONE(found[1]):
        return None
    end = at + len(found[1]) - 1
    instead = text[at - 1 : end].replace('"', '\\"')
    return Problem("json-syntax", r"a quote within a string is written \"", at - 1, end, instead)


def put_together(text: str, at: int) -> Problem | None:
    """Texts with `+` between them, as other languages put them together, up to the last one; the first ends at `at`."""
    more = _MORE(text, at)
    if more is None or not (quoted := _BEFORE(text[max(0, at - _SEEN) : at])):
        return None
    start = at - len(quoted[0])
    whole = re.sub(r'"\s*\+\s*"', "", text[start : more.end()])
    return Problem("json-syntax", 'JSON has no "+": a text is written in one piece', start, more.end(), whole)


def text_without_quote(text: str, at: int, *, in_object: bool) -> Problem | None:
    """Words at `at` that are a value and lack their first quote, or both of them; None for a single word without any.

    Without any quote they go on to the end of their line, and only a member's value has more words than one.
    """
    end = at + _SEEN
    if found := _ONLY_ENDED(text, at, end) or (_LINE_ENDED(text, at, end) if in_object else None):
        return Problem("json-syntax", "this text lacks its first quote", at, found.end(), f'"{found[0]}')
    found = _WORDS(text, at, end) if in_object else None
    if found is None or _NO_TEXT(found[1]):
        return None
    return Problem(
        "json-syntax", f"{excerpt(found[1])} is text: it needs double quotes", at, found.end(1), f'"{found[1]}"'
    )


class HalfQuotedName(Struct, frozen=True):
    """A name that has a quote on one side only; `end` is where it ends."""

    name: str
    end: int
    message: str


def half_quoted_name(text: str, at: int) -> HalfQuotedName | None:
    """The name of a member at `at` whose other quote is missing: `"name: "Notes"` or `name": "Notes"`.

    Of a first quote alone it is told where the value that follows on its line says that the name ends at the colon.
    """
    found = _HALF(text, at)
    if found is None or _WHOLE(text, at):
        return None
    name = found["begun"] or found["ended"]
    side = "after" if found["begun"] else "before"
    return HalfQuotedName(name, found.end(), f"a quote is missing {side} the name {name}")
