"""Placeholders: how many values stand in one SQL statement, and terms in one FTS5 query. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec


def as_list(values: Sequence[int] | Sequence[str]) -> str:
    """Values for `json_each`: however many there are, the statement is the same and is compiled once."""
    return msgspec.json.encode(values).decode()


def marks(values: Sequence[Any]) -> str:
    """As many places for values as there are."""
    return ", ".join("?" * len(values))


def any_of(terms: Sequence[str]) -> str:
    """An FTS5 query for any of the terms; what they are made of is never taken for syntax."""
    return " OR ".join('"' + term.replace('"', '""').replace("\0", "") + '"' for term in terms)
