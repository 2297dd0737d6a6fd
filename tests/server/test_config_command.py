"""`aurora config` and `aurora trust`: real processes, real files."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from aurora_memory.lifespans.policies import BUILT_IN, DOCUMENT, Layer, Merged, merged
from aurora_server.configuration.edit import put
from aurora_server.configuration.settings import SettingsError
from aurora_server.configuration.trust import Trust, trusted_by_editor
from tests.programs import COMMAND, run
from tests.wait_limits import HANG


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    return tmp_path / "work"


def aurora(home: Path, root: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("AURORA_")}
    environ.update(AURORA_HOME=str(home), **variables)
    command = [*COMMAND, *arguments]
    return run(command, cwd=root, env=environ, capture_output=True, text=True, timeout=HANG)


def document(home: Path) -> Any:
    return json.loads((home / "config.json").read_text())


def got(home: Path, root: Path, key: str, **variables: str) -> Any:
    done = aurora(home, root, "config", "get", key, "--json", **variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["settings"]


def test_get_says_the_value_and_where_it_comes_from(home: Path, root: Path) -> None:
    key = "retrieval.max_chunks"
    assert got(home, root, key) == {key: {"value": 24, "source": "default", "place": None}}
    assert aurora(home, root, "config", "set", key, "5").returncode == 0
    assert got(home, root, key)[key] == {"value": 5, "source": "user", "place": str(home / "config.json")}
    assert aurora(home, root, "config", "set", key, "6", "--project").returncode == 0
    assert got(home, root, key)[key]["source"] == "workspace"
    assert got(home, root, key, AURORA_RETRIEVAL_MAX_CHUNKS="7")[key] == {
        "value": 7,
        "source": "environment",
        "place": "AURORA_RETRIEVAL_MAX_CHUNKS",
    }
    told = aurora(home, root, "config", "get", "retrieval").stdout
    assert "retrieval.max_chunks = 6  (workspace" in told
    assert "retrieval.simple_tokens = 2000  (default)" in told


@pytest.mark.parametrize(
    ("arguments", "variables", "told"),
    [
        (["retrieval.max_chunks", "5"], {}, "retrieval.max_chunks is 6 here: {file} weighs more than what was set"),
        (
            ["retrieval.max_chunks", "5", "--project"],
            {"AURORA_RETRIEVAL_MAX_CHUNKS": "7"},
            "retrieval.max_chunks is 7 here: the variable AURORA_RETRIEVAL_MAX_CHUNKS weighs more than what was set",
        ),
        (
            ["aurora.always_on", "true", "--project"],
            {},
            "aurora.always_on is not used while this workspace is not trusted; look at the file, then",
        ),
        (
            ["cost_budgets.enabled", "false", "--project"],
            {},
            "cost_budgets.enabled is not read from a workspace; set it for all of them: aurora config set",
        ),
        (
            ["guardrails.max_query_length", "999999", "--project"],
            {},
            "guardrails.max_query_length is not used: a workspace can only make that stricter",
        ),
    ],
)
def test_set_says_what_does_not_hold_here(
    home: Path, root: Path, arguments: list[str], variables: dict[str, str], told: str
) -> None:
    file = root / ".aurora" / "config.json"
    file.parent.mkdir()
    file.write_text('{"retrieval": {"max_chunks": 6}}')
    done = aurora(home, root, "config", "set", *arguments, **variables)
    assert done.returncode == 0
    assert told.format(file=file) in done.stderr
    assert "Bearer" not in done.stderr
    quiet = aurora(home, root, "config", "set", "retrieval.simple_tokens", "2001", "--project")
    assert "simple_tokens" not in quiet.stderr


def test_a_model_of_a_variable_is_told_to_be_of_it(home: Path, root: Path) -> None:
    held = got(home, root, "llm.reasoning_llm", AURORA_LLM_PROVIDER="anthropic")
    assert held["llm.reasoning_llm.provider"] == {
        "value": "anthropic",
        "source": "environment",
        "place": "AURORA_LLM_PROVIDER",
    }


def test_get_shows_no_header_and_what_is_not_trusted(home: Path, root: Path) -> None:
    model = {"provider": "ollama", "model": "m", "headers": {"Authorization": "Bearer secret-token"}}
    home.mkdir()
    (home / "config.json").write_text(json.dumps({"llm": {"reasoning_llm": model}, "scorings": {}}))
    (root / ".aurora").mkdir()
    (root / ".aurora" / "config.json").write_text(json.dumps({"llm": {"reasoning_llm": {"base_url": "http://x"}}}))
    done = aurora(home, root, "config", "get")
    assert "Authorization" in done.stdout
    assert "secret-token" not in done.stdout + done.stderr
    assert "llm.reasoning_llm.base_url is not used while this workspace is not trusted" in done.stderr
    assert "'scorings' is not a setting; did you mean 'scoring'?" in done.stderr


def test_set_keeps_everything_else_and_its_order(home: Path, root: Path) -> None:
    home.mkdir()
    (home / "config.json").write_text('{"version": "1.0", "mine": [1], "scoring": {"max_retries": 1}, "llm": {}}')
    (home / "config.json").chmod(0o640)
    assert aurora(home, root, "config", "set", "scoring.pass_threshold", "0.75").returncode == 0
    assert list(document(home)) == ["version", "mine", "scoring", "llm"]
    assert document(home)["scoring"] == {"max_retries": 1, "pass_threshold": 0.75}
    assert stat.S_IMODE((home / "config.json").stat().st_mode) == 0o640
    assert aurora(home, root, "config", "set", "scoring.max_retries", "null").returncode == 0
    assert document(home)["scoring"] == {"pass_threshold": 0.75}


def test_a_new_file_is_private_and_a_link_stays_one(home: Path, root: Path, tmp_path: Path) -> None:
    assert aurora(home, root, "config", "set", "signals.positive", "yay, hooray").returncode == 0
    assert document(home) == {"signals": {"positive": ["yay", "hooray"]}}
    assert stat.S_IMODE((home / "config.json").stat().st_mode) == 0o600
    (home / "config.json").rename(tmp_path / "dotfile.json")
    (home / "config.json").symlink_to(tmp_path / "dotfile.json")
    assert aurora(home, root, "config", "set", "signals.enabled", "false").returncode == 0
    assert (home / "config.json").is_symlink()
    assert json.loads((tmp_path / "dotfile.json").read_text())["signals"]["enabled"] is False


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (["scoring.max_retry", "3"], "did you mean 'scoring.max_retries'?"),
        (["llm.reasoning_llm", '{"provider":'], "llm.reasoning_llm: '{\"provider\":' is no JSON: "),
        (["scoring.max_retries", "x"], "scoring.max_retries cannot be that; it may be a whole number, at least 0"),
        (["cost_budgets.period", "yearly"], "it may be one of daily, weekly, monthly"),
        (["llm.reasoning_llm.provider", "openai"], "set them together"),
        (["llm.reasoning_llm.api_key_env", "ghp_abcdefghijklmnop"], "looks like a key itself"),
        (["llm.reasoning_llm.api_key_env", "sk-ant-api03-x"], "looks like a key itself"),
        (["llm.reasoning_llm", '{"provider": "openai", "model": "m", "api_key_env": "sk-1"}'], "looks like a key"),
        (["scoring.max_retries"], "every KEY needs a VALUE"),
        (["scoring", "null", "llm", "5"], "it may be an object"),
        (["scoring.max_retries", "-5"], "scoring.max_retries cannot be that"),
        (
            ["cost_budgets.soft_limit_usd", "1e999"],
            "cost_budgets.soft_limit_usd cannot be that: 1e999 is too large a number",
        ),
        (["scoring", '{"max_retries": -1E+999}'], "-1E+999 is too large a number"),
        (["--projct", "scoring.max_retries", "5"], "No such option '--projct'"),
    ],
)
def test_what_may_not_be_set_changes_nothing(home: Path, root: Path, pairs: list[str], said: str) -> None:
    home.mkdir()
    (home / "config.json").write_text('{"scoring": {}}')
    done = aurora(home, root, "config", "set", *pairs)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not any(secret in done.stderr for secret in ("ghp_abc", "sk-ant", "sk-1"))
    assert (home / "config.json").read_text() == '{"scoring": {}}'


def test_a_value_may_be_negative(home: Path, root: Path) -> None:
    done = aurora(home, root, "config", "set", "memory.learning.failure_penalty", "-0.2")
    assert done.returncode == 0, done.stderr
    assert document(home) == {"memory": {"learning": {"failure_penalty": -0.2}}}


def test_a_file_that_is_no_json_is_not_replaced(home: Path, root: Path) -> None:
    home.mkdir()
    (home / "config.json").write_text("{ mine, with care")
    done = aurora(home, root, "config", "set", "scoring.max_retries", "1")
    assert done.returncode == 2
    assert "not valid JSON" in done.stderr
    assert (home / "config.json").read_text() == "{ mine, with care"


def test_a_number_that_python_takes_for_infinity_is_no_configuration(home: Path, root: Path) -> None:
    home.mkdir()
    (home / "config.json").write_text('{"cost_budgets": {"soft_limit_usd": 1e999}}')
    done = aurora(home, root, "config", "set", "scoring.max_retries", "3")
    assert done.returncode == 2
    assert "1e999 is too large a number" in done.stderr
    assert "1e999" in (home / "config.json").read_text()


def test_a_model_is_set_in_one_call(home: Path, root: Path) -> None:
    pairs = ("llm.reasoning_llm.provider", "openai", "llm.reasoning_llm.model", "5")
    assert aurora(home, root, "config", "set", *pairs).returncode == 0
    assert document(home)["llm"]["reasoning_llm"] == {"provider": "openai", "model": "5"}, "a text needs no quotes"


def test_two_at_once_lose_nothing(home: Path) -> None:
    names = [f"headers.h{number}" for number in range(12)]
    base = ("llm.reasoning_llm", {"provider": "ollama", "model": "m"})
    put(home / "config.json", home, [base])
    with ThreadPoolExecutor(6) as pool:
        for each in [pool.submit(put, home / "config.json", home, [(f"{base[0]}.{name}", "v")]) for name in names]:
            each.result(HANG)
    assert len(document(home)["llm"]["reasoning_llm"]["headers"]) == 12
    assert [each.name for each in home.glob(".*")] == []


def test_path_names_the_files_in_their_order(home: Path, root: Path) -> None:
    files = json.loads(aurora(home, root, "config", "path", "--json").stdout)["files"]
    assert [(each["layer"], each["exists"]) for each in files] == [("user", False), ("workspace", False)]
    assert files[1]["path"] == str(root / ".aurora" / "config.json")


def test_the_file_with_every_default_is_valid_and_changes_nothing(home: Path, root: Path) -> None:
    before = got(home, root, "")
    assert aurora(home, root, "config", "init").returncode == 0
    assert "config.json" in aurora(home, root, "config", "path").stdout
    assert document(home)["version"] == "1.0"
    assert json.loads(aurora(home, root, "config", "show-defaults").stdout) == document(home)
    after = aurora(home, root, "config", "get", "--json")
    assert after.stderr == ""
    values = json.loads(after.stdout)["settings"]
    assert {name: each["value"] for name, each in values.items()} == {
        name: each["value"] for name, each in before.items()
    }
    assert aurora(home, root, "config", "init").returncode == 1


def test_the_five_policies_that_are_built_in_are_shown_and_mean_themselves(home: Path, root: Path) -> None:
    shown = json.loads(aurora(home, root, "config", "show-defaults").stdout)["memory"]["lifespan_policies"]
    assert list(shown["policies"]) == ["patterns", "security_critical", "high_usage", "inactive", "default"]
    assert list(shown["policies"].values()) == [DOCUMENT[name] for name in shown["policies"]]
    assert merged([Layer("shown", shown)]) == Merged(BUILT_IN), "what is shown, written to a file, changes nothing"
    said = aurora(home, root, "config", "get", "memory.lifespan_policies.policies.default.lifespan")
    assert said.stdout == '"180_days"  (default)\n'
    brief = {**DOCUMENT["default"], "lifespan": "30_days"}
    put(home / "config.json", home, [("memory.lifespan_policies.policies.default", brief)])
    said = aurora(home, root, "config", "get", "memory.lifespan_policies.policies.default.lifespan")
    assert said.stdout.startswith('"30_days"  (user ')


# Trust


def test_trust_is_given_and_taken_back(home: Path, root: Path) -> None:
    assert aurora(home, root, "trust", "--status").returncode == 1
    done = aurora(home, root, "trust", "--json")
    assert json.loads(done.stdout) == {"root": str(root), "trusted": True, "changed": True}
    assert aurora(home, root, "trust", "--status").returncode == 0
    assert stat.S_IMODE((home / "trusted.json").stat().st_mode) == 0o600
    assert json.loads(aurora(home, root, "config", "path", "--json").stdout)["files"][1]["trusted"] is True
    done = aurora(home, root, "trust", "--revoke", "--json")
    assert json.loads(done.stdout) == {"root": str(root), "trusted": False, "changed": True}
    assert not Trust(home).is_trusted(root)


def test_home_is_never_trusted(home: Path, tmp_path: Path) -> None:
    done = aurora(home, tmp_path, "trust", "--workspace", str(tmp_path), HOME=str(tmp_path))
    assert done.returncode == 2
    assert "your home folder" in done.stderr


def test_trust_is_in_a_folder_itself_by_whatever_name(home: Path, root: Path, tmp_path: Path) -> None:
    trust = Trust(home)
    (tmp_path / "link").symlink_to(root)
    assert trust.trust(tmp_path / "link")
    assert not trust.trust(root), "it is already"
    assert trust.is_trusted(root)
    (root / "cloned").mkdir()
    assert not trust.is_trusted(root / "cloned")
    assert not trust.is_trusted(tmp_path)


def test_trusting_again_says_so_and_keeps_the_day_it_was_trusted(home: Path, root: Path) -> None:
    assert Trust(home, lambda: 0.0).trust(root)
    assert not Trust(home, lambda: 86_400.0).trust(root)
    assert Trust(home).roots() == {os.path.realpath(root): "1970-01-01T00:00:00Z"}


@pytest.mark.parametrize("content", ["{", "[]", '{"trusted": ["/"]}', '{"trusted": {"/": 1}}'])
def test_a_broken_file_trusts_nothing_and_is_not_replaced(home: Path, root: Path, content: str) -> None:
    home.mkdir()
    (home / "trusted.json").write_text(content)
    assert not Trust(home).is_trusted(root)
    with pytest.raises(SettingsError, match=r"trusted\.json"):
        Trust(home).trust(root)
    assert (home / "trusted.json").read_text() == content


def test_what_an_editor_says_of_trust() -> None:
    assert trusted_by_editor({"workspaceTrusted": True})
    assert not any(map(trusted_by_editor, ({"workspaceTrusted": "true"}, {"workspaceTrusted": 1}, {}, None, [True])))
