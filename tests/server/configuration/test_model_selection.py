"""Which model is asked, and with which key, where several places have a say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from aurora_orchestration.llm import USUAL_MODELS
from aurora_orchestration.settings import SoarSettings
from aurora_server.configuration.config_file import ConfigFile, SettingsError
from aurora_server.configuration.model_selection import FLAGS, ModelChoice, choice_of, chosen_model, models_laid_over
from aurora_server.configuration.soar import built

OURS = {
    "provider": "openai",
    "model": "gpt-x",
    "base_url": "https://o.example",
    "api_key_env": "MY_KEY",
    "headers": {"a": "b"},
}
KEY = {"AURORA_API_KEY": "k"}
USERS = ConfigFile(Path("config.json"))


@pytest.mark.parametrize(
    ("below", "provider", "model", "environ", "made"),
    [
        pytest.param(OURS, None, None, KEY, OURS, id="nothing is said"),
        pytest.param(OURS, None, "gpt-y", KEY, {**OURS, "model": "gpt-y"}, id="another model of the same provider"),
        pytest.param(OURS, "openai", None, KEY, OURS, id="the same provider: its own variable holds the key"),
        pytest.param(
            {"provider": "openai", "model": "gpt-x"},
            "openai",
            None,
            KEY,
            {"provider": "openai", "model": "gpt-x", "api_key_env": "AURORA_API_KEY"},
            id="where it names none, the key is in AURORA_API_KEY",
        ),
        pytest.param(
            {"provider": "openai", "model": "gpt-x"},
            "openai",
            None,
            {"AURORA_API_KEY": ""},
            {"provider": "openai", "model": "gpt-x"},
            id="unless that is empty",
        ),
        pytest.param(
            {**OURS, "max_tokens": 5},
            "anthropic",
            None,
            KEY,
            {
                "provider": "anthropic",
                "model": USUAL_MODELS["anthropic"],
                "max_tokens": 5,
                "api_key_env": "AURORA_API_KEY",
            },
            id="another provider is not sent the address, the key and the model of this one",
        ),
        pytest.param(
            OURS,
            "vllm",
            "mine",
            {},
            {"provider": "vllm", "model": "mine"},
            id="a provider without a usual model, and a model",
        ),
    ],
)
def test_what_is_asked_instead(
    below: dict[str, Any], provider: str | None, model: str | None, environ: Mapping[str, str], made: dict[str, Any]
) -> None:
    found = chosen_model({"reasoning_llm": below, "timeout": 1}, provider, model, environ, FLAGS)
    assert found == {"reasoning_llm": made, "timeout": 1}
    both = chosen_model({"reasoning_llm": below, "solving_llm": below}, provider, model, environ, FLAGS)
    assert both == {"reasoning_llm": made, "solving_llm": made}, "the one that does is changed with the one that thinks"


def test_a_key_that_is_said_with_its_provider_weighs_more_than_the_one_that_a_file_names() -> None:
    found = chosen_model({"reasoning_llm": OURS}, "openai", None, KEY, FLAGS, with_key=True)
    assert found == {"reasoning_llm": {**OURS, "api_key_env": "AURORA_API_KEY"}}
    said = {"llm": {"reasoning_llm": OURS}}
    variables = {"AURORA_LLM_PROVIDER": "openai", **KEY}
    assert key_of(built(said, USERS, variables)) == "AURORA_API_KEY"
    assert key_of(built(said, USERS, {}, {"llm_provider": "openai", "api_key": "mine"})) == "AURORA_API_KEY"
    assert key_of(built(said, USERS, KEY, {"llm_provider": "openai", "api_key": ""})) == "MY_KEY"
    assert key_of(built(said, USERS, KEY, {"llm_provider": "openai"})) == "MY_KEY", "the key is not that flag's"


def key_of(settings: SoarSettings) -> str | None:
    assert settings.llm.reasoning_llm is not None
    return settings.llm.reasoning_llm.api_key_env


def test_a_provider_alone_is_enough_where_none_is_configured() -> None:
    made = chosen_model({}, "anthropic", None, {}, FLAGS)
    assert made == {"reasoning_llm": {"provider": "anthropic", "model": USUAL_MODELS["anthropic"]}}


@pytest.mark.parametrize(
    ("below", "provider", "model", "said"),
    [
        ({}, None, "mine", "--llm-model=mine says no provider, and none is configured; set --llm-provider"),
        ({}, "vllm", None, "--llm-provider=vllm says no model; set --llm-model as well"),
        ({"reasoning_llm": OURS}, "vllm", None, "--llm-provider=vllm says no model; set --llm-model as well"),
    ],
)
def test_what_is_missing_is_said_as_it_was_spelled(
    below: dict[str, Any], provider: str | None, model: str | None, said: str
) -> None:
    with pytest.raises(SettingsError, match=said):
        chosen_model(below, provider, model, {}, FLAGS)


@pytest.mark.parametrize(
    ("upper", "made"),
    [
        pytest.param({"model": "gpt-y"}, {**OURS, "model": "gpt-y"}, id="the same provider keeps its address and key"),
        pytest.param({"provider": "openai", "model": "y"}, {**OURS, "model": "y"}, id="also where it is said again"),
        pytest.param(
            {"provider": "ollama", "model": "y"}, {"provider": "ollama", "model": "y"}, id="another one gets neither"
        ),
        pytest.param(
            {"provider": "ollama", "base_url": "http://localhost"},
            {"provider": "ollama", "model": "gpt-x", "base_url": "http://localhost"},
            id="but its own",
        ),
    ],
)
def test_of_two_files_a_model_of_another_provider_inherits_no_address_and_no_key(
    upper: dict[str, Any], made: dict[str, Any]
) -> None:
    assert models_laid_over({"reasoning_llm": OURS}, {"reasoning_llm": upper}) == {"reasoning_llm": made}
    assert models_laid_over({"reasoning_llm": OURS}, {"solving_llm": upper})["reasoning_llm"] == OURS


@pytest.mark.parametrize(
    ("environ", "choice"),
    [
        ({}, None),
        (KEY, None),
        ({"AURORA_LLM_PROVIDER": "", "AURORA_LLM_MODEL": ""}, None),
        ({"AURORA_LLM_PROVIDER": "openai"}, ModelChoice(provider="openai")),
        ({"AURORA_LLM_MODEL": "m", **KEY}, ModelChoice(model="m", api_key="k")),
    ],
)
def test_a_clients_variables_are_a_choice_once_they_name_a_provider_or_a_model(
    environ: Mapping[str, str], choice: ModelChoice | None
) -> None:
    assert choice_of(environ) == choice


def test_a_file_that_a_flag_names_counts_more_than_a_clients_variables() -> None:
    assert choice_of({"AURORA_LLM_PROVIDER": "openai", "AURORA_CONFIG_FLAG": "/mine.json"}) is None


def test_a_clients_key_goes_before_the_daemons() -> None:
    assert ModelChoice(api_key="mine").variables({"AURORA_API_KEY": "daemon's", "A": "b"}) == {
        "AURORA_API_KEY": "mine",
        "A": "b",
    }
    assert ModelChoice(model="m").variables(KEY) == KEY, "where it has none, the daemon's is used"
    assert ModelChoice(model="m").flags == {"api_key": "", "llm_model": "m"}
