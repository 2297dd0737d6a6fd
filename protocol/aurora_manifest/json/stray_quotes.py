"""Stray quotes: one too many behind a string, and quotes of a text that were to be written `\\"`."""

from __future__ import annotations

import re

from aurora_manifest.json.document import Problem

_SEEN = 400
"""Characters of a line that are looked at: a text on one line would be searched again and again."""

_ENDS_HERE = re.compile(r'"[ \t]*+(?:[,}\]\n\r]|\Z)').match
_WITHIN = re.compile(r'((?:[^"\n\r]*+")+?)[ \t]*+,?+[ \t]*+[\n\r]').match
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
