"""Words on what came from colleagues, the same in a terminal, an editor and an agent's tool, of plain JSON values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aurora_protocol.human_text import count, plain, shorten

NAMED = 3
_LONGEST_NAME = 40
_LONGEST_PLACE = 60


def learned_by(provenance: Mapping[str, Any]) -> str:
    """`Bob learned this on 2026-11-02`, of a pattern's provenance."""
    return f"{_name(provenance['name'])} learned this on {provenance['at'][:10]}"


def drifted_at(places: Sequence[str]) -> str:
    """`drifted: a.py:3 changed since`; "" where nothing has."""
    if not places:
        return ""
    named = ", ".join(shorten(plain(each), _LONGEST_PLACE) for each in places[:NAMED])
    more = f" and {len(places) - NAMED} more" if len(places) > NAMED else ""
    return f"drifted: {named}{more} changed since"


def parts_of(colleagues: Sequence[Mapping[str, Any]]) -> str:
    """`of colleagues: Bob (2 uses, last 2026-11-02), others (1 boost, …)`; "" where none has a part."""
    told = [f"{_named(each)} ({_part(each)})" for each in colleagues[:NAMED]]
    more = f" and {len(colleagues) - NAMED} more" if len(colleagues) > NAMED else ""
    return f"of colleagues: {', '.join(told)}{more}" if told else ""


def _named(part: Mapping[str, Any]) -> str:
    return _name(part["name"]) if part["name"] else "who do not share their names"


def _part(part: Mapping[str, Any]) -> str:
    counts = [count(part[many], one) for many, one in (("uses", "use"), ("boosts", "boost")) if part[many]]
    return ", ".join([*counts, f"last {part['last'][:10]}"])


def _name(name: str | None) -> str:
    return shorten(plain(name), _LONGEST_NAME) if name else "a colleague"
