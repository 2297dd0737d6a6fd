"""Choices of what a call of a model may cost and is counted at, a rule each."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aurora_orchestration.llm.completion import Ask, ModelRefused, ModelReply, Truncated
from aurora_orchestration.llm.metered_model import CapReached, RunSpending, _believable, _checked
from aurora_orchestration.llm.providers.editor import EditorProvider, EditorReply
from aurora_orchestration.llm.providers.provider import Completion, Wanted
from aurora_orchestration.model_settings import Caps
from aurora_orchestration.types import Usage

WANTED = Wanted(system="s" * 10, prompt="p" * 90, schema=None, max_tokens=50, temperature=None)
"""A question of a hundred bytes; with what a provider puts around it at most 1,100 tokens."""


@pytest.mark.parametrize(
    ("said", "believed"),
    [
        pytest.param((1000, 50, 0, 0), (1000, 50, 0, 0), id="what is possible"),
        pytest.param((9000, 900, 0, 0), (1100, 50, 0, 0), id="and no more than that"),
        pytest.param((9000, 5, 1000, 50), (50, 5, 1000, 50), id="what was in a cache or put there was not asked anew"),
        pytest.param((9000, 5, 9000, 9000), (0, 5, 1100, 0), id="what was read first of all"),
        pytest.param((0, 0, 0, 0), (77, 3, 0, 0), id="an estimate, where nothing is said"),
    ],
)
def test_what_is_believed_of_what_a_provider_says_it_used(said: tuple[int, ...], believed: tuple[int, ...]) -> None:
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    told = Completion(text="an answer", model="m", usage=Usage(**dict(zip(names, said, strict=True))))
    assert _believable(told, WANTED, 77) == Usage(**dict(zip(names, believed, strict=True)))


def reply(stop: Any, text: str = "") -> ModelReply:
    return ModelReply(text=text, model="m", provider="p", usage=Usage(), stop=stop, cost_usd=None, took_ms=1.0)


@pytest.mark.parametrize(
    ("stop", "schema", "error"),
    [
        pytest.param("end", {}, None, id="an answer that ended"),
        pytest.param("length", None, None, id="a text that was cut can be read"),
        pytest.param("length", {"type": "object"}, Truncated, id="a document that was cut cannot"),
        pytest.param("refusal", None, ModelRefused, id="a refusal is no answer"),
    ],
)
def test_which_answers_are_none(stop: Any, schema: Any, error: type[Exception] | None) -> None:
    ask = Ask(phase="assess", purpose="assess", system="", prompt="", schema=schema)
    if error is None:
        assert _checked(ask, WANTED, reply(stop)).stop == stop
    else:
        with pytest.raises(error):
            _checked(ask, WANTED, reply(stop))


def test_a_cap_may_be_reached_and_not_passed() -> None:
    spending = RunSpending(Caps(run_usd=1.0, max_calls=2, phase_usd={"verify": 0.5}))
    spending.set_aside("verify", 0.5)
    with pytest.raises(CapReached, match=r"phase_usd\.verify"):
        spending.set_aside("verify", 0.01)
    spending.set_aside("assess", 0.5)
    with pytest.raises(CapReached, match="2 calls were made"):
        spending.set_aside("assess", 0.0)
    spending.not_made("assess", 0.5)
    with pytest.raises(CapReached, match="run_usd"):
        spending.set_aside("assess", 0.51)
    spending.set_aside("assess", 0.5)


def test_a_model_is_given_up_after_two_answers_without_json_in_a_row_and_not_of_all() -> None:
    spending = RunSpending(Caps())
    for any_json in (False, True, False):
        spending.heard_json("m", any_json=any_json)
    assert not spending.is_wordy("m")
    spending.heard_json("m", any_json=False)
    assert spending.is_wordy("m") and not spending.is_wordy("other")


@pytest.mark.parametrize(
    ("schema", "shaped"),
    [
        pytest.param({"type": "object"}, True, id="the shape in words, where one is asked for"),
        pytest.param(None, False, id="and nothing more, where none is"),
    ],
)
async def test_what_an_editors_model_is_asked(schema: Any, shaped: bool) -> None:
    """Editors take no schema: one that lends a model may leave it out."""
    asked: list[str] = []

    class Editor:
        async def complete(self, system: str, *_: Any) -> EditorReply:
            asked.append(system)
            return EditorReply(text="{}", model="", input_tokens=None)

    answer = await EditorProvider("wished-for", Editor(), 5.0).complete(replace(WANTED, schema=schema))
    assert ("Its JSON Schema" in asked[0]) is shaped and asked[0].startswith(WANTED.system)
    assert (answer.model, answer.usage.total) == ("wished-for", 0), "what it does not tell"
