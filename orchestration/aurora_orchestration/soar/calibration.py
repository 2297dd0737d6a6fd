"""Calibration examples (few-shot) that show a model how strictly to judge (AURORA App. C.1): built in, replaced or
joined by a user's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from aurora_memory.token_cost import estimated_tokens
from aurora_orchestration import OrchestrationError
from aurora_orchestration.scoring_settings import CalibrationSettings
from aurora_orchestration.types import LEVELS, Complexity
from aurora_protocol import typed

Prompt = Literal["decomposition", "decomposition_verification", "agent_output_verification", "synthesis_verification"]
Share = Annotated[float, Meta(ge=0, le=1)]
MOST_BYTES = 1_000_000
CHECKS: Mapping[str, frozenset[str]] = {
    "decomposition_verification": frozenset({"completeness", "consistency", "groundedness", "routability"}),
    "agent_output_verification": frozenset({"relevance", "completeness", "groundedness"}),
    "synthesis_verification": frozenset({"addresses_query", "traceable", "consistent", "calibrated"}),
}
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "decomposition": ("query", "decomposition"),
    "decomposition_verification": ("query", "decomposition", "expected_scores", "overall_score"),
    "agent_output_verification": ("subgoal", "agent_response", "expected_scores", "overall_score"),
    "synthesis_verification": ("agent_summaries", "synthesis", "expected_scores", "overall_score"),
}


class CalibrationError(OrchestrationError):
    """A file of examples that cannot be used; the message names the file, the member and what is wrong."""


class Examples(Struct, frozen=True):
    """The examples of one prompt, in the order they are shown, and what happened on the way to them."""

    shown: tuple[Mapping[str, Any], ...]
    notices: tuple[str, ...] = ()


class _Scores(Struct, frozen=True):
    expected_scores: dict[str, Share]
    overall_score: Share


def examples(settings: CalibrationSettings, prompt: Prompt, complexity: Complexity) -> Examples:
    """Examples for a prompt of this complexity: the user's own first, edge cases first where they are in focus.

    Those longer than `example_max_tokens` stay out. A file that is missing, or an example in it that lacks a member,
    becomes a notice; a file that is no JSON raises `CalibrationError` (App. C.1).
    """
    told: list[str] = []
    found = list(_builtin()[prompt])
    if settings.external_path:
        own = _external(settings.external_path, told)
        if own is not None and prompt in own:
            good = _checked(own[prompt], prompt, settings.external_path, told)
            if settings.merge_strategy == "merge":
                found = [*good, *found]
            elif good:
                found = good
            else:
                told.append(f"{settings.external_path}: {prompt} has no usable example; the built-in ones are used")
    short = [one for one in found if estimated_tokens(_written(one)) <= settings.example_max_tokens]
    if len(short) < len(found) and settings.external_path:
        told.append(
            f"{len(found) - len(short)} examples of {prompt} are longer than {settings.example_max_tokens} tokens"
        )
    if settings.focus_on_edge_cases:
        short.sort(key=lambda one: not one.get("edge_case", False))
    if settings.scale_by_complexity:
        short.sort(key=lambda one: _distance(one, complexity))
        short = short[: getattr(settings.counts, complexity)]
    return Examples(tuple({key: one[key] for key in one if key != "edge_case"} for one in short), tuple(told))


def examples_told(settings: CalibrationSettings, complexity: Complexity) -> tuple[str, ...]:
    """Notices on a user's own examples once per run, over all prompts. Raises `CalibrationError`."""
    if not settings.external_path:
        return ()
    prompts: tuple[Prompt, ...] = tuple(_builtin())
    return tuple(dict.fromkeys(text for each in prompts for text in examples(settings, each, complexity).notices))


def load(path: str) -> tuple[str, ...]:
    """Read a user's file as a start-up would and tell what is wrong with single examples. Raises `CalibrationError`."""
    told: list[str] = []
    own = _external(path, told) or {}
    for prompt, listed in own.items():
        _checked(listed, prompt, path, told)
    return tuple(told)


def _distance(example: Mapping[str, Any], complexity: Complexity) -> int:
    level = example.get("complexity", complexity)
    return abs(LEVELS.index(level) - LEVELS.index(complexity)) if level in LEVELS else len(LEVELS)


@lru_cache(maxsize=1)
def _builtin() -> Mapping[Prompt, tuple[Mapping[str, Any], ...]]:
    data = files("aurora_orchestration.soar").joinpath("calibration.json").read_bytes()
    return typed.decode(data, dict[Prompt, tuple[dict[str, Any], ...]])


def _external(path: str, told: list[str]) -> Mapping[str, Any] | None:
    """User's file of examples, read; None where it cannot be, which is told."""
    file = Path(path).expanduser()
    if not file.is_absolute():
        raise CalibrationError(f"scoring.calibration_examples.external_path: {path} is not an absolute path")
    try:
        with file.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except OSError as error:
        told.append(f"{path} cannot be read ({error.strerror}); the built-in examples are used")
        return None
    if len(data) > MOST_BYTES:
        raise CalibrationError(f"{path}: larger than {MOST_BYTES} bytes; keep only the examples that matter")
    try:
        return typed.decode(data, dict[str, Any])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise CalibrationError(f"{path}: {error}; it has to be a JSON object of lists of examples") from None


def _checked(listed: Any, prompt: str, path: str, told: list[str]) -> list[Mapping[str, Any]]:
    """Examples of one prompt that are valid; the others are told of."""
    if prompt not in _NEEDED:
        told.append(f"{path}: {prompt[:80]} is none of {', '.join(_NEEDED)}; it is ignored")
        return []
    if not isinstance(listed, list):
        told.append(f"{path}: {prompt} is no list; it is ignored")
        return []
    good = []
    for number, one in enumerate(listed):
        wrong = _wrong(one, prompt)
        if wrong:
            told.append(f"{path}: {prompt}[{number}]{wrong}; it is left out")
        else:
            good.append(one)
    return good


def _wrong(example: Any, prompt: str) -> str:
    """Validation of one example: what it lacks."""
    if not isinstance(example, dict):
        return " is no object"
    missing = [name for name in _NEEDED[prompt] if name not in example]
    # what is judged for its own sake needs no query (App. C.1's own examples of outputs have none)
    if missing:
        return f" lacks {', '.join(missing)}"
    if prompt in CHECKS:
        try:
            scores = typed.convert(example, _Scores)
        except msgspec.ValidationError as error:
            return f": {error}"
        if set(scores.expected_scores) != CHECKS[prompt]:
            return f".expected_scores has to have {', '.join(sorted(CHECKS[prompt]))}"
    if example.get("complexity", "medium") not in LEVELS:
        return f".complexity has to be one of {', '.join(LEVELS)}"
    return ""


def _written(example: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(example, order="sorted")
