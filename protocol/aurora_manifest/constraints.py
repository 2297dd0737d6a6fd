"""Conditions of a schema that a value breaks, in words: bounds, lengths, forms."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aurora_manifest.json.value_text import alternatives, excerpt, quoted

_BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
    "multipleOf": "a multiple of",
}
_AMOUNTS = {
    "minLength": ("at least", "character"),
    "maxLength": ("at most", "character"),
    "minItems": ("at least", "item"),
    "maxItems": ("at most", "item"),
    "minProperties": ("at least", "member"),
    "maxProperties": ("at most", "member"),
}
_MOST_EXAMPLES = 4


def broken_constraint(keyword: str, expected: Any, schema: Mapping[str, Any], described: str) -> str:
    """What is wrong with a value, to be read behind its name: `must be at least 0, not the number -1`.

    `described` is the value in words. It is not told where the value breaks a pattern: that may be a secret that was
    put where its name belongs.
    """
    if keyword in _BOUNDS:
        return f"must be {_BOUNDS[keyword]} {expected}, not {described}"
    if keyword in ("minLength", "minItems", "minProperties") and expected == 1:
        return "must not be empty"
    if keyword in _AMOUNTS:
        bound, noun = _AMOUNTS[keyword]
        return f"must have {bound} {expected:,} {noun}{'' if expected == 1 else 's'}"
    if keyword == "uniqueItems":
        return "has an item twice"
    if keyword == "pattern":
        examples = [quoted(each) for each in schema.get("examples", ()) if isinstance(each, str)][:_MOST_EXAMPLES]
        if examples:
            return f"has not the form it needs: write it like {alternatives(examples)}"
    return f"does not meet {quoted(keyword)}: {excerpt(json.dumps(expected, ensure_ascii=False))}"
