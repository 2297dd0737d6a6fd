"""Which models a run gets, and what it is told when it gets none."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any, Literal

import pytest

from aurora_orchestration.llm.completion import Ask, Models, Unavailable
from aurora_orchestration.llm.models import open_models
from aurora_orchestration.llm.providers.editor import EditorReply
from aurora_orchestration.model_settings import LlmSettings, ModelSettings, PreferenceRouting, Tier
from tests.orchestration.llm.loopback import LoopbackProvider

ASK = Ask(phase="assess", purpose="assess", system="You judge.", prompt="{}", max_tokens=100)
CLAUDE = ModelSettings(provider="anthropic", model="claude-sonnet-4.5")


def opened(settings: LlmSettings, environ: dict[str, str] | None = None, **more: Any) -> Models:
    about = {"run": "run", "budget": None, "journal": None, "heard": lambda call: None, **more}
    return open_models(settings, environ or {}, about.pop("complexity", None), **about)


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (None, "no model is configured"),
        (CLAUDE, r"\$ANTHROPIC_API_KEY is not set"),
        (ModelSettings(provider="openai", model="gpt-4o"), r"\$OPENAI_API_KEY is not set"),
        (ModelSettings(provider="openai", model="gpt-4o", api_key_env="MY_KEY"), r"\$MY_KEY is not set"),
        (ModelSettings(provider="nonesuch", model="x"), r"nonesuch is not known .*base_url"),
        (ModelSettings(provider="ollama", model="x", base_url="file:///etc"), "no http"),
        (ModelSettings(provider="anthropic", model="x", base_url="https://proxy.example"), "api_key_env is not set"),
        (ModelSettings(provider="editor", model="x"), "no editor that lends its model"),
    ],
)
def test_without_a_model_one_line_says_what_to_configure(model: ModelSettings | None, told: str) -> None:
    models = opened(LlmSettings(reasoning_llm=model))
    assert models.reasoning is None and models.solving is None
    with pytest.raises(AssertionError, match=told):
        raise AssertionError(models.why)
    assert "\n" not in models.why


def test_the_usual_key_is_not_sent_to_another_host() -> None:
    elsewhere = ModelSettings(provider="anthropic", model="x", base_url="https://proxy.example/v1")
    assert opened(LlmSettings(reasoning_llm=elsewhere), {"ANTHROPIC_API_KEY": "k"}).reasoning is None
    assert opened(LlmSettings(reasoning_llm=CLAUDE), {"ANTHROPIC_API_KEY": "k"}).reasoning is not None
    spec = ModelSettings(provider="anthropic", model="x", base_url="https://api.anthropic.com/v1")
    assert opened(LlmSettings(reasoning_llm=spec), {"ANTHROPIC_API_KEY": "k"}).reasoning is not None


async def test_a_local_server_wants_no_key(provider: LoopbackProvider) -> None:
    settings = provider.settings("openai", provider="vllm", api_key_env=None)
    models = opened(LlmSettings(reasoning_llm=settings), {"OPENAI_API_KEY": "secret"})
    assert models.reasoning
    with pytest.raises(Exception, match="key"):
        await models.reasoning.ask(ASK)  # the loopback wants one, and ours was not sent to it
    assert "secret" not in str(provider.requests[0].headers)


@pytest.mark.parametrize("key", ["two words\nand a line", "schlüssel"])
def test_a_key_that_is_none_is_not_shown(key: str) -> None:
    models = opened(LlmSettings(reasoning_llm=CLAUDE), {"ANTHROPIC_API_KEY": key})
    assert models.reasoning is None and key not in models.why and "ANTHROPIC_API_KEY" in models.why


async def test_thinking_and_doing_are_configured_apart(provider: LoopbackProvider) -> None:
    provider.otherwise = "x"
    doing = provider.settings("openai", max_tokens=77, temperature=0.7)
    models = opened(provider.llm_settings("anthropic", solving_llm=doing), provider.environ)
    assert models.reasoning and models.solving
    assert (models.reasoning.model, models.solving.model) == ("claude-sonnet-4-5", "gpt-4o")
    await models.solving.ask(Ask(phase="collect", purpose="solve", system="s", prompt="p"))
    (request,) = provider.requests
    assert (request.max_tokens, request.body["temperature"]) == (77, 0.7)
    await models.solving.ask(
        Ask(phase="collect", purpose="solve", system="s", prompt="p", temperature=0.1, max_tokens=9)
    )
    assert (provider.requests[1].max_tokens, provider.requests[1].body["temperature"]) == (9, 0.1), (
        "a question's own first"
    )


Complexity = Literal["simple", "medium", "complex", "critical"]


@pytest.mark.parametrize(
    ("complexity", "model"),
    [("simple", "claude-3-haiku-20240307"), ("critical", "best-1"), ("medium", "gpt-4o"), (None, "gpt-4o")],
)
def test_a_tier_is_chosen_by_complexity(provider: LoopbackProvider, complexity: Complexity | None, model: str) -> None:
    tiers = {
        "fast": Tier(model="claude-3-haiku-20240307", use_for=("simple",)),
        "best": Tier(model="best-1", use_for=("complex", "critical")),
    }
    for enabled in (True, False):
        routing = PreferenceRouting(enabled=enabled, tiers=tiers)
        models = opened(
            provider.llm_settings("openai", preference_routing=routing), provider.environ, complexity=complexity
        )
        assert models.reasoning and models.solving
        assert models.reasoning.model == (model if enabled else "gpt-4o")
        assert models.solving.model == "gpt-4o", "tiers are for thinking"


def test_of_two_tiers_that_are_meant_for_it_the_first_is_taken() -> None:
    tiers = {"b": Tier(model="first-1", use_for=("simple",)), "a": Tier(model="second-1", use_for=("simple",))}
    settings = LlmSettings(reasoning_llm=CLAUDE, preference_routing=PreferenceRouting(enabled=True, tiers=tiers))
    reasoning = opened(settings, {"ANTHROPIC_API_KEY": "k"}, complexity="simple").reasoning
    assert reasoning is not None and reasoning.model == "first-1"


def test_where_neither_can_be_opened_the_thinking_one_s_reason_is_told_by_the_setting_it_is_in() -> None:
    doing = ModelSettings(provider="nonesuch", model="x")
    assert "$ANTHROPIC_API_KEY is not set" in opened(LlmSettings(reasoning_llm=CLAUDE, solving_llm=doing)).why
    thinking = LlmSettings(reasoning_llm=CLAUDE, solving_llm=doing)
    both = opened(thinking, {"ANTHROPIC_API_KEY": "k"})
    assert both.reasoning is not None and "llm.solving_llm.provider nonesuch" in both.why
    assert "llm.reasoning_llm.provider nonesuch" in opened(LlmSettings(reasoning_llm=doing)).why


def test_what_is_odd_about_prices_is_noticed(provider: LoopbackProvider) -> None:
    settings = provider.llm_settings("openai", prices_file="/gone.yaml", solving_llm=provider.settings(model="new-1"))
    models = opened(settings, provider.environ)
    assert models.reasoning
    gone, unknown = models.notices
    assert "/gone.yaml" in gone and "new-1" in unknown and "llm.prices_file" in unknown


class Editor:
    """An editor that lends its model."""

    def __init__(self, reply: EditorReply, delay: float = 0.0) -> None:
        self.reply, self.delay = reply, delay
        self.asked: list[tuple[str, str, dict[str, Any] | None, int]] = []

    async def complete(self, system: str, prompt: str, schema: dict[str, Any] | None, max_tokens: int) -> EditorReply:
        self.asked.append((system, prompt, schema, max_tokens))
        await asyncio.sleep(self.delay)
        return self.reply


async def test_the_editors_model_costs_nothing_and_is_counted_all_the_same() -> None:
    settings = LlmSettings(reasoning_llm=ModelSettings(provider="editor", model="any"))
    editor = Editor(EditorReply(text="hello there", model="copilot-x"))
    llm = opened(settings, editor=editor).reasoning
    assert llm
    reply = await llm.ask(ASK)
    assert (reply.text, reply.model, reply.provider, reply.cost_usd) == ("hello there", "copilot-x", "editor", 0.0)
    assert reply.usage.input_tokens > 0 and reply.usage.output_tokens > 0
    assert editor.asked == [("You judge.", "{}", None, 100)]


async def test_an_editor_that_does_not_answer_is_not_waited_for() -> None:
    settings = LlmSettings(reasoning_llm=ModelSettings(provider="editor", model="any", timeout_seconds=0.1))
    llm = opened(settings, editor=Editor(EditorReply(text="", model=""), delay=60)).reasoning
    assert llm
    with pytest.raises(Unavailable, match="editor"):
        await llm.ask(ASK)


def test_opening_models_imports_no_sdk() -> None:
    code = (
        "import sys, pkgutil, importlib, aurora_orchestration.llm as llm\n"
        "for module in pkgutil.walk_packages(llm.__path__, 'aurora_orchestration.llm.'):\n"
        "    importlib.import_module(module.name)\n"
        "from aurora_orchestration.llm.models import open_models\n"
        "from aurora_orchestration.model_settings import LlmSettings, ModelSettings\n"
        "settings = LlmSettings(reasoning_llm=ModelSettings(provider='anthropic', model='claude-opus-5'))\n"
        "models = open_models(settings, {'ANTHROPIC_API_KEY': 'k'}, None, run='r', budget=None, journal=None,\n"
        "                     heard=print)\n"
        "assert models.reasoning is not None\n"
        "print(*{name.split('.')[0] for name in sys.modules})\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {"anthropic", "openai", "httpx2", "tenacity", "pydantic", "numpy"} & set(done.stdout.split()) == set()
