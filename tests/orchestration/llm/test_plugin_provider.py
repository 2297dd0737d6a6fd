"""Providers of plug-ins: how settings name them, what they are given, and that their faults are lines."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from aurora_orchestration.llm.completion import Ask, LlmError, Models, Rejected, Unavailable
from aurora_orchestration.llm.models import open_models
from aurora_orchestration.llm.providers import plugin_provider
from aurora_orchestration.llm.providers.plugin_provider import Connection, ProviderKind
from aurora_orchestration.llm.providers.provider import Completion, Passing, Wanted
from aurora_orchestration.model_settings import LlmSettings, ModelSettings
from aurora_orchestration.types import Usage
from aurora_protocol import plugins
from aurora_protocol.plugins import Plugin

ASK = Ask(phase="assess", purpose="assess", system="You judge.", prompt="{}", max_tokens=100)
GOOD = Completion(text="{}", model="grey", usage=Usage(input_tokens=1, output_tokens=1))
Offered = Callable[..., None]


class Model:
    """Answers one thing after the other: an answer, or an error that it raises."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.connections: list[Connection] = []

    def open(self, connection: Connection) -> Model:
        self.connections.append(connection)
        return self

    async def complete(self, wanted: Wanted) -> Any:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> Iterator[Offered]:
    """Installs kinds of providers, as plug-ins of one distribution each."""

    def offer(*kinds: ProviderKind) -> None:
        found = [Plugin(kind.name, kind, f"dist-{number}") for number, kind in enumerate(kinds)]
        monkeypatch.setattr(plugins, "load", lambda group, kind: found if group == "aurora.providers" else [])
        monkeypatch.setattr(plugins, "_left_out", {})
        plugin_provider.plugged.cache_clear()

    yield offer
    plugin_provider.plugged.cache_clear()


def opened(environ: dict[str, str] | None = None, retries: int = 0, **model: Any) -> Models:
    settings = ModelSettings(**{"provider": "parrot", "model": "grey", **model})
    llm = LlmSettings(reasoning_llm=settings, max_retries=retries, retry_seconds=5.0)
    return open_models(llm, environ or {}, None, run="run", budget=None, journal=None, heard=lambda call: None)


async def test_it_is_opened_with_what_settings_and_variables_say(offered: Offered) -> None:
    model = Model(GOOD)
    offered(ProviderKind(name="parrot", open=model.open, base_url="perch://here", key_variable="PARROT_KEY"))
    assert "$PARROT_KEY is not set" in opened().why
    models = opened({"PARROT_KEY": "k"}, headers={"a": "b"}, timeout_seconds=7.0)
    assert models.reasoning is not None
    usual = Connection(model="grey", base_url="perch://here", key="k", headers={"a": "b"}, timeout=7.0)
    assert model.connections == [usual] * 2, "the thinking model and the doing one"
    assert (await models.reasoning.ask(ASK)).text == "{}"


def test_its_usual_key_is_not_handed_over_for_another_address(offered: Offered) -> None:
    model = Model()
    offered(ProviderKind(name="parrot", open=model.open, base_url="https://perch.example", key_variable="PARROT_KEY"))
    opened({"PARROT_KEY": "k"}, base_url="https://elsewhere.example")
    assert {each.key for each in model.connections} == {None}


def test_an_unknown_provider_is_told_all_there_are(offered: Offered) -> None:
    offered(ProviderKind(name="parrot", open=Model().open))
    assert "groq, editor, parrot)" in opened(provider="nobody").why


@pytest.mark.parametrize("name", ["anthropic", "openai", "editor", "parrot", ""])
def test_names_that_are_taken_are_left_out_with_a_line(
    offered: Offered, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    mine, other = Model(), Model()
    offered(ProviderKind(name="parrot", open=mine.open), ProviderKind(name=name, open=other.open))
    with caplog.at_level(logging.WARNING):
        assert opened().reasoning is not None
    assert other.connections == [] and mine.connections
    why = f"there is a provider {name} already" if name else "it has no name"
    told = f"plug-in {name} of dist-1 (aurora.providers) is left out: {why}"
    assert [record.getMessage() for record in caplog.records] == [told]


def test_one_that_cannot_be_opened_says_so_in_a_line(offered: Offered) -> None:
    def fails(connection: Connection) -> Model:
        raise ImportError("no module\nnamed parrot")

    offered(ProviderKind(name="parrot", open=fails))
    models = opened()
    assert models.reasoning is None
    assert models.why == "provider parrot: ImportError: no module named parrot; it is a plug-in's"


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (KeyError("beak"), Unavailable, "parrot failed (KeyError: 'beak')"),
        ("hello", Unavailable, "parrot answered a str, which is no Answer"),
        (None, Unavailable, "parrot answered a NoneType"),
        (Rejected("not for parrots"), Rejected, "not for parrots"),
    ],
)
async def test_whatever_it_does_is_an_error_of_one_line(
    offered: Offered, answer: object, error: type[LlmError], said: str
) -> None:
    model = Model(answer)
    offered(ProviderKind(name="parrot", open=model.open))
    models = opened(retries=3)
    assert models.reasoning is not None
    with pytest.raises(error) as raised:
        await models.reasoning.ask(ASK)
    assert said in str(raised.value) and "\n" not in str(raised.value)
    assert model.answers == [], "such things are not tried again"


@pytest.mark.parametrize(("retries", "fine"), [(0, False), (1, False), (2, True)])
async def test_what_may_be_over_soon_is_tried_again_as_often_as_settings_say(
    offered: Offered, retries: int, fine: bool
) -> None:
    offered(ProviderKind(name="parrot", open=Model(Passing("busy", 0.0), Passing("busy", 0.0), GOOD).open))
    models = opened(retries=retries)
    assert models.reasoning is not None
    if fine:
        assert (await models.reasoning.ask(ASK)).text == "{}"
    else:
        with pytest.raises(Passing, match="busy"):
            await models.reasoning.ask(ASK)
