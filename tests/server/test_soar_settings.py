"""Where the settings of a question come from: files, variables, flags, and a workspace that nobody trusts yet."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict

from aurora_orchestration.model_settings import Caps
from aurora_orchestration.settings import SoarSettings
from aurora_server.configuration.config_file import CONFIG_VARIABLE
from aurora_server.configuration.effective import effective
from aurora_server.configuration.layers import settings_for
from aurora_server.configuration.settings import SettingsError, load
from aurora_server.configuration.soar import SECTIONS
from aurora_server.workspace.memory_settings import database_path


def write(path: Path, document: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def environ(home: Path, **variables: str) -> dict[str, str]:
    return {"AURORA_HOME": str(home), **variables}


def soar(home: Path, document: object, **variables: str) -> SoarSettings:
    write(home / "config.json", document)
    return load(environ(home, **variables)).soar


MODEL = {"provider": "anthropic", "model": "claude-sonnet-4-5", "api_key_env": "ANTHROPIC_API_KEY"}


def test_every_section_that_is_given_is_looked_at(home: Path) -> None:
    for name, _ in SECTIONS.values():
        document: Any = 5
        for step in reversed(name.split(".")):
            document = {step: document}
        with pytest.raises(SettingsError, match=f"'{name}' must be an object"):
            soar(home, document)


def test_starting_up_imports_nothing_of_answering(home: Path) -> None:
    code = "import sys, aurora_server.daemon.daemon; from aurora_server.configuration import settings"
    code += "; settings.load({'AURORA_HOME': '/nowhere'})"
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"{code}; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "aurora_server.configuration.live_settings" in loaded
    assert not loaded & {"aurora_orchestration.settings", "aurora_server.configuration.soar", "jsonschema", "difflib"}


def test_with_nothing_configured_no_model_is(home: Path) -> None:
    assert load(environ(home)).soar.llm.reasoning_llm is None


def test_every_section_is_read(home: Path) -> None:
    read = soar(
        home,
        {
            "llm": {"reasoning_llm": MODEL, "caps": {"phase_usd": {"verify": 0.5}}},
            "aurora": {"always_on": True},
            "scoring": {"weighted_scoring": {"synthesis": {"traceable": 0.5}}},
            "complexity": {"routing": {"medium": {"verification": "option_b", "cost_multiplier": 4}}},
            "agents": {"default_agent": {"id": "fixer", "type": "built_in"}, "max_parallel": 2},
            "signals": {"confidence_threshold": 0.9},
            "guardrails": {"pii": "reject"},
            "cost_budgets": {"hard_limit_usd": 7},
            "headless": {"required_branch": "robots"},
            "logging": {"conversations": {"retention_days": 3}},
            "reporting": {"daily": {"enabled": False}},
            "retrieval": {"max_chunks": 5},
        },
    )
    assert read.llm.reasoning_llm is not None
    assert (read.llm.reasoning_llm.api_key_env, read.llm.caps.phase_usd) == ("ANTHROPIC_API_KEY", {"verify": 0.5})
    assert (read.aurora.always_on, read.scoring.weighted_scoring.synthesis.traceable) == (True, 0.5)
    assert (read.complexity.routing.medium.verification, read.complexity.routing.simple.verification) == (
        "option_b",
        "none",
    )
    assert (read.agents.default_agent.id, read.agents.max_parallel) == ("fixer", 2)
    assert (read.signals.confidence_threshold, read.guardrails.pii) == (0.9, "reject")
    assert (read.cost_budgets.hard_limit_usd, read.headless.required_branch) == (7.0, "robots")
    assert (read.conversations.retention_days, read.retrieval.max_chunks) == (3.0, 5)
    assert not read.reporting.daily.enabled


def test_what_is_given_in_part_keeps_the_rest(home: Path) -> None:
    routing = soar(home, {"complexity": {"routing": {"critical": {"cost_multiplier": 9}}}}).complexity.routing
    assert (routing.critical.verification, routing.critical.cost_multiplier) == ("option_c", 9.0)


def test_signals_are_read_in_both_spellings(home: Path) -> None:
    nested = {"patterns": {"positive": {"keywords": ["yay"], "action": "boost_confidence"}, "abort": {}}}
    read = soar(home, {"signals": nested}).signals
    assert read.positive == ("yay",)
    assert read.abort == SoarSettings().signals.abort
    assert soar(home, {"signals": {**nested, "positive": ["hey"]}}).signals.positive == ("hey",)


def test_home_is_where_aurora_home_says(home: Path) -> None:
    read = soar(home, {"cost_budgets": {"tracking_file": "~/.aurora/b.json"}, "llm": {"prices_file": "/p.json"}})
    assert read.cost_budgets.tracking_file == str(home / "b.json")
    assert read.conversations.path == str(home / "logs" / "conversations")
    assert read.reporting.monthly.output_path == str(home / "reports" / "monthly")
    assert str(home / "agents.json") in read.agents.discovery_paths
    assert "~/.claude/agents" in read.agents.discovery_paths
    assert read.llm.prices_file == "/p.json"


def test_variables_reach_every_depth(home: Path) -> None:
    read = soar(
        home,
        {"llm": {"reasoning_llm": {**MODEL, "headers": {"a": "1"}}}, "signals": {"positive": ["x"]}},
        AURORA_LLM_REASONING_LLM_MODEL="claude-opus-4-1",
        AURORA_LLM_REASONING_LLM_HEADERS="b=2",
        AURORA_COST_BUDGETS_HARD_LIMIT_USD="3.5",
        AURORA_COMPLEXITY_KEYWORD_CLASSIFIER_BORDERLINE_RANGE="0.3,0.5",
        AURORA_LOGGING_CONVERSATIONS_ENABLED="false",
        AURORA_SIGNALS_POSITIVE="well done, neat",
        AURORA_LLM_CAPS_PHASE_USD='{"verify": 0.25}',
    )
    assert read.llm.reasoning_llm is not None
    assert (read.llm.reasoning_llm.model, read.llm.reasoning_llm.headers) == ("claude-opus-4-1", {"b": "2"})
    assert (read.cost_budgets.hard_limit_usd, read.conversations.enabled) == (3.5, False)
    assert read.complexity.keyword_classifier.borderline_range == (0.3, 0.5)
    assert read.signals.positive == ("well done", "neat")
    assert read.llm.caps.phase_usd == {"verify": 0.25}


def test_a_provider_in_a_variable_is_enough(home: Path) -> None:
    read = soar(home, {}, AURORA_LLM_PROVIDER="anthropic", AURORA_API_KEY="k").llm
    assert read.reasoning_llm is not None
    assert (read.reasoning_llm.provider, read.reasoning_llm.api_key_env) == ("anthropic", "AURORA_API_KEY")
    read = soar(home, {}, AURORA_LLM_PROVIDER="ollama", AURORA_LLM_MODEL="llama3:70b").llm
    assert read.reasoning_llm is not None
    assert (read.reasoning_llm.model, read.reasoning_llm.api_key_env) == ("llama3:70b", None)


def test_variables_that_name_no_whole_model_say_what_is_missing(home: Path) -> None:
    with pytest.raises(SettingsError, match="set AURORA_LLM_MODEL as well"):
        soar(home, {}, AURORA_LLM_PROVIDER="vllm")
    with pytest.raises(SettingsError, match="set AURORA_LLM_PROVIDER"):
        soar(home, {}, AURORA_LLM_MODEL="x")


def test_another_provider_is_not_sent_what_the_configured_one_gets(home: Path) -> None:
    there = {**MODEL, "base_url": "https://proxy.example", "headers": {"x": "secret"}}
    for variables in (
        {"AURORA_LLM_PROVIDER": "openai"},
        {"AURORA_LLM_REASONING_LLM_PROVIDER": "openai", "AURORA_LLM_SOLVING_LLM_PROVIDER": "openai"},
    ):
        read = soar(home, {"llm": {"reasoning_llm": there, "solving_llm": there}}, **variables).llm
        for model in (read.reasoning_llm, read.solving_llm):
            assert model is not None
            assert (model.provider, model.base_url, model.api_key_env, model.headers) == ("openai", None, None, {})


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (
            {"cost_budgets": {"period": "yearly"}},
            "cost_budgets.period: invalid enum value 'yearly'; it may be one of d",
        ),
        ({"scoring": {"max_retries": "2"}}, "scoring.max_retries: expected `int`, got `str`; it may be a whole number"),
        ({"scoring": {"pass_threshold": 2}}, "scoring.pass_threshold: .* it may be a number from 0 to 1"),
        ({"logging": {"conversations": []}}, "'logging.conversations' must be an object"),
        ({"llm": {"reasoning_llm": {"model": "x"}}}, "llm.reasoning_llm: object missing required field `provider`"),
        ({"signals": {"abort": ["stop", 5]}}, r"signals.abort\[1\]: expected `str`, got `int`; it may be a text"),
        ('{"llm": {"caps": {"run_usd": NaN}}}', "not valid JSON: NaN"),
    ],
)
def test_what_cannot_be_used_is_one_line_with_file_member_and_what_may_be(
    home: Path, document: object, said: str
) -> None:
    with pytest.raises(SettingsError, match=said) as failed:
        soar(home, document)
    assert "\n" not in str(failed.value)
    assert str(home / "config.json") in str(failed.value)


def test_a_variable_that_cannot_be_used_is_named(home: Path) -> None:
    with pytest.raises(SettingsError, match=r"^AURORA_SCORING_MAX_RETRIES: scoring.max_retries: .* whole number"):
        soar(home, {}, AURORA_SCORING_MAX_RETRIES="many")


# Of a workspace


def test_each_source_weighs_more_than_the_one_before(home: Path, root: Path) -> None:
    def limit(**variables: str) -> int:
        return settings_for(root, True, environ(home, **variables))[0].retrieval.max_chunks

    assert limit() == 24
    write(home / "config.json", {"retrieval": {"max_chunks": 1}})
    assert limit() == 1
    write(root / ".aurora" / "config.json", {"retrieval": {"max_chunks": 2}})
    assert limit() == 2
    named = root.parent / "named.json"
    write(named, {"retrieval": {"max_chunks": 5}})
    assert limit(**{CONFIG_VARIABLE: str(named)}) == 5, "a file that the user names counts more than the workspace's"
    assert limit(AURORA_RETRIEVAL_MAX_CHUNKS="3") == 3
    flags = {"llm_provider": "ollama", "llm_model": "flag"}
    chosen, _ = settings_for(root, True, environ(home, AURORA_LLM_PROVIDER="anthropic"), None, flags)
    assert chosen.llm.reasoning_llm is not None
    assert (chosen.llm.reasoning_llm.provider, chosen.llm.reasoning_llm.model) == ("ollama", "flag")


def test_a_file_that_a_flag_names_counts_more_than_variables_and_one_that_a_variable_names_less(
    home: Path, root: Path, tmp_path: Path
) -> None:
    model = {"provider": "openai", "model": "of-the-file", "api_key_env": "MY_KEY"}
    said = {"retrieval": {"max_chunks": 4}, "llm": {"reasoning_llm": model}, "daemon": {"idle_minutes": 7}}
    named = write(tmp_path / "mine.json", said)
    write(root / ".aurora" / "config.json", {"retrieval": {"max_chunks": 2, "max_lines": 9}})
    variables = environ(
        home,
        AURORA_RETRIEVAL_MAX_CHUNKS="3",
        AURORA_SCORING_MAX_RETRIES="1",
        AURORA_DAEMON_IDLE_MINUTES="60",
        AURORA_LLM_PROVIDER="anthropic",
        AURORA_LLM_MODEL="of-a-variable",
        AURORA_API_KEY="k",
    )

    def said_by(environ: dict[str, str], config_file: Path | None = None) -> tuple[Any, ...]:
        chosen, _ = settings_for(root, True, environ, config_file)
        model = chosen.llm.reasoning_llm
        assert model is not None
        return chosen.retrieval.max_chunks, chosen.scoring.max_retries, model.provider, model.model, model.api_key_env

    by_variable = (3, 1, "anthropic", "of-a-variable", "AURORA_API_KEY")
    by_flag = (4, 1, "openai", "of-the-file", "MY_KEY")
    assert said_by({**variables, "AURORA_CONFIG": str(named)}) == by_variable
    assert said_by(variables, named) == by_flag
    started = {**variables, "AURORA_CONFIG": str(named), "AURORA_CONFIG_FLAG": str(named)}
    assert said_by(started) == by_flag, "as a daemon is told that a command with the flag starts"
    assert said_by({**started, "AURORA_CONFIG": str(write(tmp_path / "other.json", said))}) == by_variable
    values, _ = effective(root, True, variables, named)
    told = {name: (values[name].source, values[name].value) for name in ("retrieval.max_chunks", "scoring.max_retries")}
    assert told == {"retrieval.max_chunks": ("user", 4), "scoring.max_retries": ("environment", 1)}
    for daemons, said_here in ((load(variables, named), 7), (load(variables | {"AURORA_CONFIG": str(named)}), 60)):
        assert daemons.daemon.idle_minutes == said_here


REDIRECTING: dict[str, Any] = {
    "llm": {
        "reasoning_llm": {**MODEL, "base_url": "https://evil.example", "headers": {"k": "v"}, "api_key_env": "PATH"}
    },
    "agents": {"discovery_paths": ["./evil.json"]},
    "aurora": {"always_on": True},
    "headless": {"prompt_file": "/etc/passwd"},
    "scoring": {"max_retries": 1, "calibration_examples": {"external_path": "/etc/passwd"}},
}


def test_what_redirects_waits_until_the_workspace_is_trusted(home: Path, root: Path) -> None:
    path = write(root / ".aurora" / "config.json", REDIRECTING)
    chosen, notices = settings_for(root, False, environ(home))
    usual = load(environ(home)).soar
    assert (chosen.llm, chosen.agents, chosen.aurora, chosen.headless) == (
        usual.llm,
        usual.agents,
        usual.aurora,
        usual.headless,
    )
    assert chosen.scoring.calibration_examples.external_path is None
    assert chosen.scoring.max_retries == 1, "what neither runs nor redirects is the workspace's own"
    (notice,) = notices
    assert "llm.reasoning_llm.base_url" in notice.line
    assert str(path) in notice.line
    assert "aurora trust" in notice.line
    assert {"llm.reasoning_llm.api_key_env", "agents.discovery_paths", "aurora.always_on"} <= set(notice.members)

    chosen, notices = settings_for(root, True, environ(home))
    assert notices == []
    assert chosen.llm.reasoning_llm is not None
    assert chosen.llm.reasoning_llm.base_url == "https://evil.example"
    assert chosen.agents.discovery_paths == ("./evil.json",)


def test_names_with_dots_slip_through_nowhere(home: Path, root: Path) -> None:
    write(root / ".aurora" / "config.json", {"llm.reasoning_llm": MODEL, "llm": {"reasoning_llm.base_url": "x"}})
    assert settings_for(root, False, environ(home))[0].llm == load(environ(home)).soar.llm


@pytest.mark.parametrize("trusted", [False, True])
def test_a_workspace_makes_guardrails_stricter_only(home: Path, root: Path, trusted: bool) -> None:
    lax = {"pii": "off", "enabled": False, "max_query_length": 20_000, "secrets": "reject"}
    write(root / ".aurora" / "config.json", {"guardrails": lax})
    chosen, notices = settings_for(root, trusted, environ(home))
    guard = chosen.guardrails
    assert (guard.pii, guard.enabled, guard.max_query_length, guard.secrets) == ("redact", True, 10_000, "reject")
    assert notices[0].members == ("guardrails.pii", "guardrails.enabled", "guardrails.max_query_length")
    write(root / ".aurora" / "config.json", {"guardrails": {"pii": "reject"}})
    assert settings_for(root, trusted, environ(home))[0].guardrails.pii == "reject"


def test_what_a_workspace_makes_as_strict_as_it_is_holds_and_is_no_matter_to_tell(home: Path, root: Path) -> None:
    said = {"pii": "redact", "enabled": True, "max_query_length": 10_000}
    write(root / ".aurora" / "config.json", {"guardrails": said})
    assert settings_for(root, False, environ(home))[1] == []
    write(home / "config.json", {"guardrails": {"pii": "reject", "max_query_length": 500}})
    chosen, notices = settings_for(root, False, environ(home))
    assert (chosen.guardrails.pii, chosen.guardrails.max_query_length) == ("reject", 500)
    assert [each.members for each in notices] == [("guardrails.pii", "guardrails.max_query_length")]


def test_of_many_members_that_do_not_hold_a_dozen_are_named_and_the_others_counted(home: Path, root: Path) -> None:
    many = {"daemon": {f"member{n:02}": n for n in range(15)}}
    write(root / ".aurora" / "config.json", many)
    (notice,) = settings_for(root, True, environ(home))[1]
    assert len(notice.members) == 15
    assert "daemon.member11 and 3 more are" in notice.what and "member12" not in notice.what


def test_a_trusted_workspace_lowers_caps_and_raises_none(home: Path, root: Path) -> None:
    caps = {name: getattr(Caps(), name) for name in Caps.__struct_fields__} | {"phase_usd": {"collect": 1.0}}
    write(home / "config.json", {"llm": {"caps": caps}})
    raised = {name: 2 * value for name, value in caps.items() if name != "phase_usd"} | {"phase_usd": {"collect": 2.0}}
    write(root / ".aurora" / "config.json", {"llm": {"caps": raised}})
    chosen, notices = settings_for(root, True, environ(home))
    assert asdict(chosen.llm.caps) == caps
    told = {"llm.caps.run_usd", "llm.caps.max_calls", "llm.caps.run_seconds", "llm.caps.phase_usd.collect"}
    assert set(notices[0].members) == told, "every cap, also those that are yet to come"
    lowered = {"run_usd": 0.5, "max_calls": 6, "run_seconds": 60.0, "phase_usd": {"collect": 0.5, "verify": 0.25}}
    write(root / ".aurora" / "config.json", {"llm": {"caps": lowered}})
    chosen, notices = settings_for(root, True, environ(home))
    assert (asdict(chosen.llm.caps), notices) == (lowered, [])


@pytest.mark.parametrize("trusted", [False, True])
def test_budgets_and_logs_are_the_users(home: Path, root: Path, trusted: bool) -> None:
    write(
        root / ".aurora" / "config.json",
        {"cost_budgets": {"hard_limit_usd": 1e9}, "logging": {"conversations": {"path": "/tmp/x"}}},
    )
    chosen, notices = settings_for(root, trusted, environ(home))
    usual = load(environ(home)).soar
    assert (chosen.cost_budgets, chosen.conversations) == (usual.cost_budgets, usual.conversations)
    assert notices[0].members == ("cost_budgets.hard_limit_usd", "logging.conversations.path")


@pytest.mark.parametrize(
    "content",
    ["{", "[]", {"scoring": {"max_retries": "x"}}, {"scoring": 5}, '{"scoring":' * 3000 + "1" + "}" * 3000],
)
def test_a_workspaces_bad_file_is_a_notice(home: Path, root: Path, content: object) -> None:
    write(home / "config.json", {"scoring": {"max_retries": 1}})
    write(root / ".aurora" / "config.json", content)
    chosen, (notice,) = settings_for(root, True, environ(home))
    assert chosen.scoring.max_retries == 1
    assert str(root) in notice.line
    assert "\n" not in notice.line


def test_a_provider_that_a_workspace_names_is_not_sent_the_users_key(home: Path, root: Path) -> None:
    write(home / "config.json", {"llm": {"reasoning_llm": {**MODEL, "base_url": "https://mine.example"}}})
    theirs = {"provider": "openai", "model": "gpt", "base_url": "https://theirs.example"}
    write(root / ".aurora" / "config.json", {"llm": {"reasoning_llm": theirs}})
    chosen, _ = settings_for(root, True, environ(home))
    assert chosen.llm.reasoning_llm is not None
    assert chosen.llm.reasoning_llm.api_key_env is None


def test_calibration_examples_are_looked_for_in_the_workspace(home: Path, root: Path) -> None:
    examples = {"external_path": "./.aurora/calibration.json"}
    write(root / ".aurora" / "config.json", {"scoring": {"calibration_examples": examples}})
    chosen, _ = settings_for(root, True, environ(home))
    assert chosen.scoring.calibration_examples.external_path == str(root / ".aurora" / "calibration.json")


def test_memory_is_kept_below_aurora_home_as_well(home: Path, root: Path) -> None:
    write(home / "config.json", {"memory": {"database_path": "~/.aurora/mine/{workspace}.db"}})
    assert database_path(root, load(environ(home))).parent == home / "mine"
