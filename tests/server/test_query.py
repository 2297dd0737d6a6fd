"""`aurora/query` through a real daemon: stages, answers, what is asked back, what is refused, and what survives."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aurora_protocol import RequestFailed
from aurora_protocol.client import Client
from tests.orchestration.llm.loopback import Kind, LoopbackProvider, Request
from tests.orchestration.soar.minds import Mind
from tests.programs import COMMAND, run
from tests.server.client_requests import MEDIUM, TWO, asked, configure, workspace
from tests.server.daemons import Daemon, until
from tests.wait_limits import HANG


def initialized(daemon: Daemon, root: Path, **options: Any) -> Client:
    client = Client.connect(daemon.address)
    client.initialize(root, "test", None, options=options)
    return client


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
def test_a_question_is_worked_on_phase_by_phase_and_leaves_what_it_learned(tmp_path: Path, kind: Kind) -> None:
    with asked(tmp_path, Mind(TWO), kind=kind) as (daemon, _, root), daemon.client(root) as client:
        stages: list[dict[str, Any]] = []
        params = {"query": MEDIUM, "partialResultToken": "stages"}
        result = client.request("aurora/query", params, on_progress=stages.append)
        assert (result["state"], result["complexity"], result["error"]) == ("complete", "medium", None)
        assert result["score"] >= 0.8 and result["cached"] and result["cost_usd"] > 0
        order = list(dict.fromkeys(stage["stage"] for stage in stages))
        wanted = ["guard", "assess", "retrieve", "decompose", "verify", "route", "collect", "synthesize", "record"]
        assert [each for each in order if each in wanted] == wanted
        assert order[-1] == "done"
        progress = [stage["progress"] for stage in stages]
        assert progress == sorted(progress) and progress[-1] == 1.0
        assert Path(result["log"]).read_text().count("### Phase") >= 9
        recalled = client.request("aurora/recall", {"query": MEDIUM, "types": ["reas"]})["results"]
        assert [each["id"] for each in recalled] == [result["reasoning_id"]]
        assert client.request("aurora/deliverable", {"action": "list"})["deliverables"] == [], "a question is no change"
        told = client.request("aurora/deliverable", {"action": "list", "kind": "run"})["deliverables"]
        assert [(each["status"], each["spec_source"]["framework"]) for each in told] == [("completed", "prompt")]


def test_questions_are_told_apart_from_what_was_delivered_and_are_in_no_metric(tmp_path: Path) -> None:
    mind = Mind(TWO)
    with asked(tmp_path, mind) as (daemon, _, root), daemon.client(root) as client:
        for what in ("expand", "fill", "escape"):
            result = client.request("aurora/query", {"query": f"{MEDIUM} and {what}"}, timeout=HANG)
            assert result["state"] == "complete" and not result["from_memory"]
        told = client.request("aurora/metrics")
    assert told["runs"]["count"] == 3 and told["runs"]["failed"] == 0
    assert (told["window"]["deliverables"], told["in_progress"]) == (0, 0)
    assert {(each["value"], each["tier"]) for each in told["metrics"].values()} == {(None, None)}


def test_without_a_provider_memory_answers_and_one_line_says_how_to_configure_one(tmp_path: Path) -> None:
    root = workspace(tmp_path / "ws")
    with Daemon(tmp_path / "home") as daemon, daemon.client(root) as client:
        client.request("aurora/index", {})
        result = client.request("aurora/query", {"query": "where is a template filled"})
    assert result["state"] == "no_provider"
    assert "src/template.py" in result["answer"]
    assert "aurora config set llm.reasoning_llm" in result["error"] and "\n" not in result["error"]


def test_a_cancelled_question_ends_at_once_and_drops_its_request(tmp_path: Path) -> None:
    mind = Mind(TWO)
    mind.waits = 90.0
    with asked(tmp_path, mind) as (daemon, provider, root), daemon.wire() as wire:
        wire.initialize(root)
        identity = wire.post("aurora/query", {"query": MEDIUM})
        until(lambda: len(provider.requests) > 0, what="the provider is asked")
        wire.notify("$/cancelRequest", {"id": identity})
        answer = wire.answer(identity, HANG)
        assert answer["error"]["code"] == -32800
        until(lambda: len(provider.dropped) > 0, what="the provider sees the client leave")


def test_an_agent_may_ask_the_user_of_a_client_that_answers(tmp_path: Path) -> None:
    mind = Mind(TWO)

    def work(request: Request) -> Any:
        told = json.dumps(request.json)
        if "RFC 6570" in told:
            return None
        return {"status": "partial", "summary": "unclear", "data": {}, "confidence": 0.3, "needs_user": "Which RFC?"}

    mind.instead["work"] = work
    with asked(tmp_path, mind) as (daemon, provider, root), initialized(daemon, root, askUser=True) as client:
        questions: list[str] = []

        def answer(params: dict[str, Any]) -> dict[str, Any]:
            questions.append(params["question"])
            return {"answer": "RFC 6570"}

        client.answer("aurora/askUser", answer)
        result = client.request("aurora/query", {"query": MEDIUM})
        assert result["state"] == "complete", result["error"]
        assert "llm-executor (SG1): Which RFC?" in questions
        assert any("RFC 6570" in json.dumps(request.json) for request in provider.requests)


def test_the_editors_own_model_is_asked_over_the_channel(tmp_path: Path) -> None:
    root, mind = workspace(tmp_path / "ws"), Mind(TWO)
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.json").write_text(json.dumps({"llm": {"reasoning_llm": {"provider": "editor", "model": "own"}}}))
    with Daemon(home) as daemon, initialized(daemon, root, languageModel=True) as client:

        def answer(params: dict[str, Any]) -> dict[str, Any]:
            request = Request("/v1/messages", {}, {"messages": [{"role": "user", "content": params["prompt"]}]})
            return {"text": mind(request).said, "model": "the editor's"}

        client.answer("aurora/languageModel", answer)
        client.request("aurora/index", {})
        result = client.request("aurora/query", {"query": MEDIUM})
    assert (result["state"], result["cost_usd"]) == ("complete", 0.0)
    assert mind.asked.count("work") == 2


def test_a_client_without_a_model_is_told_what_is_missing(tmp_path: Path) -> None:
    root = workspace(tmp_path / "ws")
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.json").write_text(json.dumps({"llm": {"reasoning_llm": {"provider": "editor", "model": "own"}}}))
    with Daemon(home) as daemon, daemon.client(root) as client:
        result = client.request("aurora/query", {"query": MEDIUM})
    assert result["state"] == "no_provider" and "editor" in result["error"]


def test_an_untrusted_workspace_redirects_nothing(tmp_path: Path) -> None:
    with LoopbackProvider() as thief, asked(tmp_path, Mind(TWO)) as (daemon, provider, root):
        hostile = {**msgspec.to_builtins(thief.settings()), "headers": {"X-Stolen": "yes"}}
        marker = tmp_path / "ran"
        (root / ".aurora").mkdir()
        (root / ".aurora/config.json").write_text(json.dumps({"llm": {"reasoning_llm": hostile}}))
        program = root / "agent.sh"
        program.write_text(f"#!/bin/sh\ntouch {marker}\n")
        program.chmod(0o755)
        agent = {"id": "template-expert", "type": "executable", "path": "./agent.sh", "capabilities": ["templates"]}
        (root / ".aurora/agents.json").write_text(json.dumps({"agents": [agent]}))
        with daemon.client(root) as client:
            result = client.request("aurora/query", {"query": MEDIUM})
            assert result["state"] == "complete"
            assert any("aurora trust" in notice for notice in result["notices"])
        assert thief.requests == [] and provider.requests != []
        assert not marker.exists()


def test_what_was_paid_is_not_paid_twice_after_a_kill(tmp_path: Path) -> None:
    root, mind, over = workspace(tmp_path / "ws"), Mind(TWO), threading.Event()
    home = tmp_path / "home"
    with LoopbackProvider() as provider:
        provider.otherwise = mind
        configure(home, provider)
        with Daemon(home, **provider.environ) as daemon:
            with daemon.client(root) as client:
                client.request("aurora/index", {})
            mind.instead["work"] = lambda request: over.wait(HANG) and None
            with daemon.wire() as wire:
                wire.initialize(root)
                wire.post("aurora/query", {"query": MEDIUM})
                until(lambda: "work" in mind.asked, what="the agents work")
                daemon.process.send_signal(signal.SIGKILL)
                daemon.process.wait(HANG)
        over.set()
        paid = list(mind.asked)
        del mind.instead["work"]
        runs = [path.stem for path in (home / "runs").glob("aurora-*.json")]
        assert len(runs) == 1
        with Daemon(home, **provider.environ) as daemon, daemon.client(root) as client:
            log = next((home / "logs/conversations").rglob("*.md"))
            until(lambda: "nterrupted" in log.read_text(), what="the run is marked as interrupted")
            result = client.request("aurora/query", {"resume": runs[0]})
            assert (result["id"], result["state"]) == (runs[0], "complete")
        again = mind.asked[len(paid) :]
        assert again.count("decompose") == 0 and again.count("verify") == 0
        assert again.count("work") >= 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [((), 0), (("--dry-run",), 0), (("--verification", "option_z"), 2)],
)
def test_the_command_ends_as_it_should(tmp_path: Path, arguments: tuple[str, ...], code: int) -> None:
    with asked(tmp_path, Mind(TWO)) as (_, provider, root):
        environment = {**os.environ, **provider.environ, "AURORA_HOME": str(tmp_path / "home")}
        command = [*COMMAND, "--workspace", str(root), "--json", "query", *arguments, MEDIUM]
        done = run(command, env=environment, capture_output=True, text=True, timeout=HANG, check=False)
        assert done.returncode == code, done.stderr
        if code == 0:
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            assert lines[-1]["stage"] == "done" and lines[-1]["answer"]
            assert {"assess", "retrieve"} <= {line["stage"] for line in lines}
        if "--dry-run" in arguments:
            assert provider.requests == []


def test_over_the_hard_limit_nothing_is_sent(tmp_path: Path) -> None:
    with asked(tmp_path, Mind(TWO), cost_budgets={"hard_limit_usd": 0.000001}) as (_, provider, root):
        environment = {**os.environ, **provider.environ, "AURORA_HOME": str(tmp_path / "home")}
        command = [*COMMAND, "--workspace", str(root), "query", MEDIUM]
        done = run(command, env=environment, capture_output=True, text=True, timeout=HANG, check=False)
        assert done.returncode == 4
        assert "budget" in done.stderr and provider.requests == []


def test_a_limit_that_is_set_while_the_daemon_runs_holds_for_the_next_question(tmp_path: Path) -> None:
    with asked(tmp_path, Mind(TWO)) as (daemon, provider, root), daemon.client(root) as client:
        assert client.request("aurora/query", {"query": MEDIUM})["state"] == "complete"
        paid = len(provider.requests)
        config = tmp_path / "home/config.json"
        budget = {"cost_budgets": {"hard_limit_usd": 0.000001}}
        config.write_text(json.dumps({**json.loads(config.read_text()), **budget}))
        blocked = client.request("aurora/query", {"query": f"{MEDIUM} again"})
        assert (blocked["state"], len(provider.requests)) == ("blocked", paid)


@pytest.mark.parametrize(
    ("given", "answered"),
    [
        ("what is expand", False),
        (json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": "what is expand"}), False),
        (json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": ""}), False),
        (json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": "aur what is expand"}), True),
        ("aur what is expand", True),
    ],
)
def test_a_hooks_payload_is_read_and_what_is_not_called_for_leaves_no_word(
    tmp_path: Path, given: str, answered: bool
) -> None:
    with asked(tmp_path, Mind(TWO)) as (_, provider, root):
        environment = {**os.environ, **provider.environ, "AURORA_HOME": str(tmp_path / "home")}
        command = [*COMMAND, "--workspace", str(root), "query", "--auto", "--if-called", "-"]
        done = run(command, input=given, env=environment, capture_output=True, text=True, timeout=HANG, check=False)
        assert done.returncode == 0, done.stderr
        assert bool(provider.requests) == answered
        assert answered or (done.stdout, done.stderr) == ("", "")
        assert not answered or "It expands templates." in done.stdout


def test_a_hook_has_only_those_prompts_answered_that_call_for_it(tmp_path: Path) -> None:
    mind = Mind(TWO)
    with asked(tmp_path, mind) as (daemon, _, root), daemon.client(root) as client:
        left = client.request("aurora/query", {"query": MEDIUM, "if_called": True})
        assert (left["id"], left["answer"], mind.asked) == ("", "", [])
        config = tmp_path / "home/config.json"
        config.write_text(json.dumps({**json.loads(config.read_text()), "aurora": {"always_on": True}}))
        thanks = client.request("aurora/query", {"query": "thanks", "if_called": True})
        assert (thanks["id"], mind.asked) == ("", [])
        direct = client.request("aurora/query", {"query": MEDIUM, "if_called": True})
        assert direct["state"] == "complete" and mind.asked == ["direct"], "medium, and nobody asked for more"
        called = client.request("aurora/query", {"query": f"aurora: {MEDIUM}", "if_called": True})
        assert called["query"] == MEDIUM and "decompose" in mind.asked


def test_each_phase_is_told_as_over_once_and_with_its_run(tmp_path: Path) -> None:
    with asked(tmp_path, Mind(TWO)) as (daemon, _, root), daemon.client(root) as client:
        stages: list[dict[str, Any]] = []
        params = {"query": MEDIUM, "partialResultToken": "stages"}
        result = client.request("aurora/query", params, on_progress=stages.append)
        over = [stage["stage"] for stage in stages if stage["status"] == "complete" and stage["stage"] != "verify"]
        assert len(over) == len(set(over)), over
        assert {stage["run"] for stage in stages} == {result["id"]}


def test_a_synthesis_that_had_nothing_to_go_on_is_told_as_failed_and_not_as_done(tmp_path: Path) -> None:
    mind = Mind(TWO)
    mind.scores["output"] = [0.3]
    with asked(tmp_path, mind) as (daemon, _, root), daemon.client(root) as client:
        stages: list[dict[str, Any]] = []
        params = {"query": MEDIUM, "partialResultToken": "stages"}
        result = client.request("aurora/query", params, on_progress=stages.append)
        assert result["state"] == "failed" and "None of the steps" in result["answer"]
        assert [each["status"] for each in stages if each["stage"] == "synthesize"] == ["failed"]


def test_a_cancelled_question_is_answered_with_the_id_to_go_on_with(tmp_path: Path) -> None:
    mind = Mind(TWO)
    mind.waits = 90.0
    with asked(tmp_path, mind) as (daemon, provider, root), daemon.wire() as wire:
        wire.initialize(root)
        identity = wire.post("aurora/query", {"query": MEDIUM})
        until(lambda: len(provider.requests) > 0, what="the provider is asked")
        wire.notify("$/cancelRequest", {"id": identity})
        run = wire.answer(identity, HANG)["error"]["data"]["run"]
        mind.waits = 0.0
        with daemon.client(root) as client:
            resumed = client.request("aurora/query", {"resume": run})
        assert (resumed["id"], resumed["query"]) == (run, MEDIUM)


def test_a_question_may_name_another_model(tmp_path: Path) -> None:
    with asked(tmp_path, Mind(TWO)) as (daemon, provider, root), daemon.client(root) as client:
        client.request("aurora/query", {"query": MEDIUM, "llm_model": "claude-haiku-4.5"})
        assert provider.requests and all("haiku" in request.model for request in provider.requests)
        with pytest.raises(RequestFailed, match="nobody"):
            client.request("aurora/query", {"query": MEDIUM, "llm_provider": "nobody"})
