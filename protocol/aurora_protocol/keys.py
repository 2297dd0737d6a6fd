"""Keys of JSON: camelCase on the wire, snake_case on the command line and in documents.

Below some keys, keys are data (a language, a tool's name, an agent): they stay as they are in both directions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

DATA = frozenset(
    {
        "kinds",
        "languages",
        "skipped",
        "content",
        "metadata",
        "toolCalls",
        "toolMix",
        "phaseDurations",
        "phaseSeconds",
        "failureTypes",
        "failure_types",
        "tool_calls",
        "tool_mix",
        "phase_durations",
        "phase_seconds",
    }
)
"""Keys, in either spelling, whose value has keys that are data."""


def snake_keys(value: Any) -> Any:
    """Turn camelCase keys into snake_case, all the way down; keys that are data stay as they are."""
    return _respelled(value, snake)


def camel_keys(value: Any) -> Any:
    """Turn snake_case keys into camelCase, all the way down; keys that are data stay as they are."""
    return _respelled(value, camel)


def snake(name: str) -> str:
    """`lineStart` is `line_start`."""
    return "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name)


def camel(name: str) -> str:
    """`line_start` is `lineStart`."""
    first, *others = name.split("_")
    return first + "".join(other[:1].upper() + other[1:] for other in others)


def _respelled(value: Any, spell: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {
            spell(key): item if key in DATA and isinstance(item, dict) else _respelled(item, spell)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_respelled(item, spell) for item in value]
    return value
