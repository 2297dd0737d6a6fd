"""Where lifespan policies come from, and that a bad one stops nothing."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from aurora_memory.lifespans.policies import BUILT_IN
from aurora_protocol.client import Client
from aurora_server.configuration.settings import load
from aurora_server.workspace.memory_settings import policies_of
from tests.programs import COMMAND, run
from tests.server.daemons import Daemon
from tests.wait_limits import HANG


def days(number: int, **more: Any) -> dict[str, Any]:
    return {"policies": {"default": {"condition": "score >= 0.5", "lifespan": f"{number}_days"}, **more}}


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


def lifespan(home: Path, root: Path, **variables: str) -> int:
    found = policies_of(root, load({"AURORA_HOME": str(home), **variables}))
    assert found.problems == ()
    return found.policies.default.lifespan.days


def test_each_source_weighs_more_than_the_one_before(home: Path, root: Path, tmp_path: Path) -> None:
    assert policies_of(root, load({"AURORA_HOME": str(home)})).policies == BUILT_IN
    write(home / "config.json", {"memory": {"lifespan_policies": days(1)}})
    assert lifespan(home, root) == 1
    write(root / ".aurora" / "config.json", {"memory": {"lifespan_policies": days(2)}})
    assert lifespan(home, root) == 2
    named = write(tmp_path / "policies.json", days(3))
    assert lifespan(home, root, AURORA_LIFESPAN_POLICIES=str(named)) == 3
    write(tmp_path / "policies.json", {"memory": {"lifespan_policies": days(4)}})
    assert lifespan(home, root, AURORA_LIFESPAN_POLICIES=str(named)) == 4


def test_a_configuration_without_policies_changes_none(home: Path, root: Path) -> None:
    write(home / "config.json", {"memory": {"database_path": "/x"}})
    write(root / ".aurora" / "config.json", {"indexing": {}})
    found = policies_of(root, load({"AURORA_HOME": str(home)}))
    assert (found.policies, found.problems) == (BUILT_IN, ())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "config.json is not valid JSON"),
        ("[]", "config.json must hold a JSON object"),
        ("[" * 100_000, "config.json is not valid JSON"),
        (" " * ((1 << 20) + 1), "larger than 1 MiB"),
        ({"memory": {"lifespan_policies": 5}}, "config.json: lifespan_policies must be an object"),
        ({"memory": {"lifespan_policies": days(0)}}, "config.json: policy 'default', lifespan: must be indefinite"),
    ],
)
def test_a_workspaces_bad_configuration_is_one_line(home: Path, root: Path, content: object, message: str) -> None:
    write(home / "config.json", {"memory": {"lifespan_policies": days(1)}})
    write(root / ".aurora" / "config.json", content)
    found = policies_of(root, load({"AURORA_HOME": str(home)}))
    (problem,) = found.problems
    assert message in problem
    assert "\n" not in problem
    assert found.policies.default.lifespan.days == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_place_of_the_configuration_does_not_hold_anybody_up(home: Path, root: Path) -> None:
    (root / ".aurora").mkdir()
    os.mkfifo(root / ".aurora" / "config.json")
    found = policies_of(root, load({"AURORA_HOME": str(home)}))
    assert "not a regular file" in found.problems[0]
    assert found.policies == BUILT_IN


def test_a_folder_in_place_of_the_configuration_is_told_and_leaves_nothing_open(home: Path, root: Path) -> None:
    (root / ".aurora" / "config.json").mkdir(parents=True)
    assert "Is a directory" in policies_of(root, load({"AURORA_HOME": str(home)})).problems[0]


def test_a_folder_that_is_a_file_has_no_configuration(home: Path, root: Path) -> None:
    (root / ".aurora").write_text("")
    assert policies_of(root, load({"AURORA_HOME": str(home)})).problems == ()


def test_a_named_file_that_is_missing_or_has_no_policies_is_told_of(home: Path, root: Path, tmp_path: Path) -> None:
    settings = load({"AURORA_HOME": str(home), "AURORA_LIFESPAN_POLICIES": str(tmp_path / "p.json")})
    assert "check AURORA_LIFESPAN_POLICIES" in policies_of(root, settings).problems[0]
    write(tmp_path / "p.json", {"daemon": {}})
    assert "has no lifespan policies" in policies_of(root, settings).problems[0]


def test_the_workspace_opens_and_doctor_tells_of_a_bad_policy(home: Path, root: Path) -> None:
    bad = {"condition": "domian == 'security'", "lifespan": "90_days"}
    write(root / ".aurora" / "config.json", {"memory": {"lifespan_policies": {"policies": {"mine": bad}}}})
    with Daemon(home) as daemon, Client.connect(daemon.address) as client:
        client.initialize(root, "tests", os.getpid())
        findings = client.request("aurora/doctor", {})["findings"]
    (finding,) = [each for each in findings if "policy" in each["what"]]
    assert finding["level"] == "warning"
    assert (
        "policy 'mine', condition, column 1: no property is called 'domian'; did you mean 'domain'?" in finding["what"]
    )


def test_a_file_named_on_the_command_line_reaches_the_daemon(home: Path, root: Path, tmp_path: Path) -> None:
    named = write(tmp_path / "policies.json", {"policies": {"mine": {}}})
    arguments = ["--workspace", str(root), "--lifespan-policies", str(named), "doctor"]
    environment = {**os.environ, "AURORA_HOME": str(home), "AURORA_LIFESPAN_POLICIES": "/no/such/file"}
    try:
        done = run([*COMMAND, *arguments], env=environment, capture_output=True, text=True, timeout=HANG, check=False)
        again = run([*COMMAND, *arguments], env=environment, capture_output=True, text=True, timeout=HANG, check=False)
    finally:
        run([*COMMAND, "daemon", "stop"], env=environment, capture_output=True, timeout=HANG, check=False)
    assert "policy 'mine' lacks its condition" in " ".join(done.stdout.split())
    assert "stop it for --lifespan-policies" in again.stderr
