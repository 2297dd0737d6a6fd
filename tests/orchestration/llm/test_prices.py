"""What calls cost."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
import yaml

from aurora_orchestration.llm import prices as module
from aurora_orchestration.llm.completion import LlmError
from aurora_orchestration.llm.prices import load_prices
from aurora_orchestration.types import Usage

USED = Usage(input_tokens=1_000_000, output_tokens=1_000_000, cache_read_tokens=1_000_000, cache_write_tokens=1_000_000)


@pytest.mark.parametrize(
    ("model", "provider", "usd"),
    [
        ("claude-sonnet-4-5", "anthropic", 3 + 15 + 0.3 + 3.75),
        ("claude-sonnet-4.5", "anthropic", 22.05),
        ("claude-sonnet-4-5-20250929", "anthropic", 22.05),
        ("anthropic/claude-sonnet-4.5", "openrouter", 22.05),
        ("claude-3-5-sonnet-latest", "anthropic", 22.05),
        ("claude-sonnet-4-5-latest-20250929", "anthropic", 22.05),
        ("claude-opus-4-5-20251101", "anthropic", 5 + 25 + 0.5 + 6.25),
        ("claude-opus-4-1", "anthropic", 15 + 75 + 1.5 + 18.75),
        ("claude-3-haiku-20240307", "anthropic", 0.25 + 1.25 + 0.03 + 0.3),
        ("gpt-4o-2024-08-06", "openai", 2.5 + 10 + 1.25 + 2.5),
        ("gpt-4o-mini", "openai", 0.15 + 0.6 + 0.075 + 0.15),
        ("claude-sonnet-4-5-nonesuch", "anthropic", None),
        ("gpt-4", "openai", None),
        ("llama3", "ollama", 0.0),
        ("gpt-4o", "llama.cpp", 0.0),
        ("whatever", "editor", 0.0),
    ],
)
def test_the_price_of_a_model(model: str, provider: str, usd: float | None) -> None:
    cost = load_prices().cost_of(USED, model, provider)
    assert cost is None if usd is None else cost == pytest.approx(usd)


def test_a_long_prompt_has_a_price_of_its_own() -> None:
    prices = load_prices()
    assert prices.cost_of(Usage(input_tokens=100_000), "claude-haiku-5-5", "anthropic") == pytest.approx(0.01)
    long = Usage(input_tokens=50_000, cache_read_tokens=50_001)
    assert prices.cost_of(long, "claude-haiku-5-5", "anthropic") == pytest.approx(0.025 + 0.0025, rel=1e-3)
    whole, parts = (
        Usage(input_tokens=100_000, output_tokens=1_000),
        [Usage(input_tokens=100_000), Usage(output_tokens=1_000)],
    )
    apart = [prices.cost_of(each, "claude-haiku-5-5", "anthropic") or 0.0 for each in parts]
    assert prices.cost_of(whole, "claude-haiku-5-5", "anthropic") == pytest.approx(sum(apart)), (
        "an answer makes no prompt longer"
    )


def test_names_as_people_write_them_are_sent_as_the_provider_spells_them() -> None:
    prices = load_prices()
    assert prices.spelled("claude-sonnet-4.5") == "claude-sonnet-4-5"
    assert prices.spelled("gpt-5.4") == "gpt-5.4"
    assert prices.spelled("my-own-model") == "my-own-model"


def test_at_most_is_never_less_than_what_is_paid() -> None:
    prices = load_prices()
    for usage in (
        Usage(input_tokens=1000, output_tokens=500),
        Usage(cache_write_tokens=1000, output_tokens=500),
        Usage(cache_read_tokens=1000, output_tokens=10),
    ):
        for model in ("claude-opus-4-5", "gpt-4o", "unheard-of"):
            assert prices.at_most(model, "x", 1000, 500) >= prices.assumed_cost(usage, model, "x")


def test_every_row_of_the_table_hangs_together() -> None:
    rows = yaml.safe_load(Path(module.__file__).with_name("prices.yaml").read_text())["models"]
    assert len({row["name"] for row in rows}) == len(rows)
    for row in rows:
        assert row["as_of"] == "unknown" or isinstance(row["as_of"], datetime.date), row
        assert 0 < row.get("cache_read", 0.01) <= row["input"] < row["output"] <= 200, row
        assert row["input"] <= row.get("cache_write", row["input"]) <= 2 * row["input"], row


def test_a_file_of_the_users_overlays_the_table(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(
        "unknown: {input: 1, output: 2}\nfree: [home]\nmodels:\n"
        "  - {name: claude-sonnet-4.5, input: 1, output: 1, as_of: 2026-01-01}\n"
        "  - {name: mine, aliases: [ours], input: 2, output: 4, as_of: 2026-01-01}\n"
    )
    prices = load_prices(str(file))
    asked = Usage(input_tokens=1_000_000)
    assert prices.cost_of(asked, "claude-sonnet-4-5", "anthropic") == 1
    assert prices.cost_of(asked, "ours", "x") == 2 and prices.spelled("ours") == "mine"
    assert prices.cost_of(asked, "x", "home") == 0 and prices.cost_of(asked, "x", "ollama") == 0
    assert prices.cost_of(asked, "claude-opus-4-5", "anthropic") == 5
    assert prices.assumed_cost(asked, "nobody-knows", "x") == 1


def test_a_model_of_that_name_comes_before_one_that_is_called_so_as_well(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(
        "models:\n"
        "  - {name: ours, input: 1, output: 1, as_of: 2026-01-01}\n"
        "  - {name: mine, aliases: [ours, theirs], input: 2, output: 2, as_of: 2026-01-01}\n"
        "  - {name: last, aliases: [theirs], input: 4, output: 4, as_of: 2026-01-01}\n"
    )
    prices = load_prices(str(file))
    costs = {name: prices.cost_of(Usage(input_tokens=1_000_000), name, "x") for name in ("ours", "mine", "theirs")}
    assert costs == {"ours": 1, "mine": 2, "theirs": 2}, "of two that are called so the first counts"


@pytest.mark.parametrize(
    "content",
    [
        "models: 3",
        "models: [{name: x}]",
        "- a",
        "{",
        "models: [{name: x, input: -1, output: 1, as_of: d}]",
        "a: &a [*a]",
        "!!python/object/apply:os.system [echo]",
        "modles: []",
        "\x00",
        "[" * 5000,
    ],
)
def test_a_file_that_is_no_table_is_named(tmp_path: Path, content: str) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(content)
    with pytest.raises(LlmError, match=r"prices\.yaml.*llm\.prices_file"):
        load_prices(str(file))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LlmError, match="gone"):
        load_prices(str(tmp_path / "gone.yaml"))
