"""A provider on loopback, and models that ask it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from aurora_orchestration.llm.completion import Llm
from aurora_orchestration.llm.models import open_models
from aurora_orchestration.types import ModelCall
from tests.orchestration.llm.loopback import Kind, LoopbackProvider

Opened = Callable[..., Llm]


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    with LoopbackProvider() as provider:
        yield provider


@pytest.fixture
def calls() -> list[ModelCall]:
    """What was heard of the calls that were made."""
    return []


@pytest.fixture
def reasoning(provider: LoopbackProvider, calls: list[ModelCall]) -> Opened:
    """Opens a reasoning model; further settings of `LlmSettings` and arguments of `open_models` by name."""

    def opened(kind: Kind = "anthropic", *, model: dict[str, Any] | None = None, **chosen: Any) -> Llm:
        about = {key: chosen.pop(key, None) for key in ("budget", "journal", "spending", "editor")}
        settings = provider.llm_settings(kind, reasoning_llm=provider.settings(kind, **(model or {})), **chosen)
        models = open_models(settings, provider.environ, None, run="run", heard=calls.append, **about)
        assert models.reasoning is not None, models.why
        return models.reasoning

    return opened
