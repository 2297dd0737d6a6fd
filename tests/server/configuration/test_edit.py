"""What may be set, a rule each: how a value is read, what of a file changes, and what looks like a key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aurora_server.configuration import edit, effective, layers, schema_lookup, soar
from aurora_server.configuration.config_file import SettingsError
from aurora_server.configuration.model_selection import KEY_VARIABLE, _rather

PATH = Path("/c.json")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        pytest.param("llm.reasoning_llm.model", "5", "5", id="a text is a text, whatever it looks like"),
        pytest.param("llm.reasoning_llm.model", "null", None, id="but for null, which removes it"),
        pytest.param("scoring.max_retries", "3", 3, id="a number is one"),
        pytest.param("team.share", "names, people ,", ["names", "people"], id="a list also with commas"),
        pytest.param("team.share", '["people"]', ["people"], id="or as JSON has it"),
        pytest.param("scoring.max_retries", "many", "many", id="what is none is told by the schema"),
    ],
)
def test_how_a_value_is_read(name: str, text: str, value: Any) -> None:
    assert edit.parsed(name, text) == value


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("scoring.max_retry", "3", "did you mean 'scoring.max_retries'"),
        ("", "3", "'' is not a setting"),
        ("team.share", '["people"', "is no JSON: .*; mind the shell's quotes"),
        ("scoring.max_retries", "1e999", "cannot be that"),
    ],
)
def test_what_is_no_value_is_told_with_what_to_look_at(name: str, text: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        edit.parsed(name, text)


def test_a_long_text_that_is_no_json_is_not_said_again_whole() -> None:
    with pytest.raises(SettingsError) as refused:
        edit.parsed("team.share", "[" + "x" * 5000)
    assert len(str(refused.value)) < 500


@pytest.mark.parametrize(
    ("document", "steps", "value", "after"),
    [
        pytest.param({"a": 1, "b": 2}, ["a"], 3, {"a": 3, "b": 2}, id="one member, in its place"),
        pytest.param({"a": 1, "b": 2}, ["a"], None, {"b": 2}, id="or none"),
        pytest.param({"a": {"x": 1, "y": 2}}, ["a", "x"], None, {"a": {"y": 2}}, id="of a section that has others"),
        pytest.param({"a": {"x": 1}, "b": 2}, ["a", "x"], None, {"b": 2}, id="a section that is empty goes with it"),
        pytest.param({}, ["a", "x"], 1, {"a": {"x": 1}}, id="one that is not there comes with it"),
    ],
)
def test_what_of_a_file_changes(document: Any, steps: list[str], value: Any, after: Any) -> None:
    found = edit._with(document, steps, value, PATH)
    assert found == after and list(found) == list(after)


def test_a_section_that_is_none_is_to_be_mended_first() -> None:
    with pytest.raises(SettingsError, match="'a' must be an object; mend the file first"):
        edit._with({"a": 1}, ["a", "x"], 2, PATH)


LONG = "abcdefgh12345678abcdefgh12345678"


@pytest.mark.parametrize(
    ("name", "value", "is_key"),
    [
        ("llm.reasoning_llm.model", "sk-abc", True),
        ("llm.reasoning_llm.model", "ghp_abc", True),
        ("llm.reasoning_llm.model", "gpt-5", False),
        ("llm.reasoning_llm.api_key_env", LONG, True),
        ("llm.reasoning_llm.api_key_env", LONG[:31], False),
        ("llm.reasoning_llm.api_key_env", LONG.upper(), False),
        pytest.param("llm.reasoning_llm.model", LONG, False, id="a model may be called anything"),
        pytest.param("llm.reasoning_llm", {"api_key_env": LONG}, True, id="within a section, too"),
        pytest.param("llm.reasoning_llm.headers", {"x": "sk-abc"}, False, id="headers are there for keys"),
        pytest.param("scoring.max_retries", 3, False, id="a number is none"),
    ],
)
def test_what_looks_like_a_key_is_not_kept_in_a_file(name: str, value: Any, is_key: bool) -> None:
    if is_key:
        with pytest.raises(SettingsError, match="looks like a key itself"):
            edit._refuse_secrets(name, value)
    else:
        edit._refuse_secrets(name, value)


# Where a value comes from


@pytest.mark.parametrize(
    ("name", "value", "filed", "environ", "variable"),
    [
        pytest.param("budget.limit", 1, 1, {"AURORA_BUDGET_LIMIT": "1"}, "AURORA_BUDGET_LIMIT", id="its own variable"),
        pytest.param("budget.limit", 1, 2, {}, None, id="none"),
        pytest.param("llm.reasoning_llm.model", "m", "n", {"AURORA_LLM_MODEL": "m"}, "AURORA_LLM_MODEL", id="a role"),
        pytest.param("llm.solving_llm.model", "m", "n", {"AURORA_LLM_PROVIDER": "p", "AURORA_LLM_MODEL": "m"},
                     "AURORA_LLM_PROVIDER", id="the provider's first"),
        pytest.param("llm.reasoning_llm.model", "m", "m", {"AURORA_LLM_MODEL": "m"}, None, id="where the file says so"),
        pytest.param("scoring.max_retries", 1, 2, {"AURORA_LLM_MODEL": "m"}, None, id="nothing else is a model's"),
    ],
)  # fmt: skip
def test_which_variable_a_value_is_of(
    name: str, value: Any, filed: Any, environ: dict[str, str], variable: str | None
) -> None:
    assert effective._variable(name, value, filed, environ) == variable


# What a setting may be


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"minimum": 1, "maximum": 9}, " from 1 to 9"),
        ({"exclusiveMinimum": 0}, " above 0"),
        ({"exclusiveMinimum": 0, "maximum": 9}, " above 0, at most 9"),
        ({"minimum": 1}, ", at least 1"),
        ({"maximum": 9}, ", at most 9"),
        ({"minimum": 0, "maximum": 0}, " from 0 to 0"),
        ({}, ""),
    ],
)
def test_bounds_are_told_in_one_phrase(said: dict[str, Any], words: str) -> None:
    assert schema_lookup._bounds(said) == words


def test_of_members_that_nothing_reads_fifty_are_told_and_each_below_its_section() -> None:
    document = {"scoring": {"max_retry": 1}, **{f"x{n}": {"y": n} for n in range(60)}}
    found = schema_lookup.unknown(document)
    assert len(found) == schema_lookup.MAX_UNKNOWN
    assert (found[0].member, found[0].meant) == ("scoring.max_retry", "scoring.max_retries")
    assert (found[1].member, found[1].meant) == ("x0", None) and "lists all" in found[1].line


@pytest.mark.parametrize(
    ("value", "held", "laxer"), [(5, 3, True), (3, 3, False), (1, 3, False), (5, None, False), ("x", 3, False)]
)
def test_what_is_laxer_than_what_holds(value: Any, held: Any, laxer: bool) -> None:
    """As strict is not laxer; what cannot be compared is told by whoever reads it."""
    assert layers._laxer(value, held, lambda limit: -limit) is laxer


# Which model


@pytest.mark.parametrize(
    ("below", "provider", "model", "environ", "with_key", "found"),
    [
        pytest.param({"provider": "a", "model": "m", "base_url": "u"}, "b", "n", {}, False,
                     {"provider": "b", "model": "n"}, id="another provider is not sent to this one's address"),
        pytest.param({"provider": "a", "model": "m", "base_url": "u"}, "a", None, {}, False,
                     {"provider": "a", "model": "m", "base_url": "u"}, id="the same one is"),
        pytest.param({"provider": "a", "model": "m", "temperature": 1}, None, "n", {}, False,
                     {"provider": "a", "model": "n", "temperature": 1}, id="a model alone changes the model"),
        pytest.param({"provider": "a", "model": "m", "api_key_env": "K"}, "a", None, {KEY_VARIABLE: "k"}, False,
                     {"provider": "a", "model": "m", "api_key_env": "K"}, id="the key that a file names holds"),
        pytest.param({"provider": "a", "model": "m", "api_key_env": "K"}, "a", None, {KEY_VARIABLE: "k"}, True,
                     {"provider": "a", "model": "m", "api_key_env": KEY_VARIABLE}, id="unless it was said along"),
        pytest.param({"provider": "a", "model": "m"}, "a", None, {KEY_VARIABLE: "k"}, False,
                     {"provider": "a", "model": "m", "api_key_env": KEY_VARIABLE}, id="or none is named"),
        pytest.param({"provider": "a", "model": "m"}, None, "n", {KEY_VARIABLE: "k"}, True,
                     {"provider": "a", "model": "n"}, id="a model alone says nothing of keys"),
    ],
)  # fmt: skip
def test_what_of_a_model_holds_where_another_is_named(
    below: Any, provider: Any, model: Any, environ: dict[str, str], with_key: bool, found: Any
) -> None:
    assert _rather(below, provider, model, environ, ("P", "M"), with_key) == found


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"code": ["a"]}, {"code": ["a"]}),
        ({"patterns": {"code": {"keywords": ["b"]}, "x": {"weight": 1}, "y": 2}}, {"code": ["b"]}),
        pytest.param(
            {"code": ["a"], "patterns": {"code": {"keywords": ["b"]}}}, {"code": ["a"]}, id="the shorter weighs more"
        ),
        ({"patterns": 5}, {"patterns": 5}),
    ],
)
def test_keywords_are_read_in_both_spellings(values: dict[str, Any], found: dict[str, Any]) -> None:
    assert soar._flat_signals(values) == found


def test_members_go_by_the_names_that_lead_to_them_and_no_deeper_than_settings_do() -> None:
    deep: dict[str, Any] = {"end": 1}
    for _ in range(layers.DEEPEST + 2):
        deep = {"x": deep}
    found = list(layers._members({"a": {"b": {"c": 1}, "d": {}}, "e": [1], "f": deep}))
    assert found[:3] == [("a", "b", "c"), ("a", "d"), ("e",)]
    assert found[3] == ("f", *("x" for _ in range(layers.DEEPEST))), "what lies too deep to be a setting is one member"
