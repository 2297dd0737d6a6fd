"""Which files are checked, and what is found in those that are no manifests."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from typing import Any

import pytest

from aurora_manifest.findings import Finding
from aurora_manifest.json.parser import parse
from aurora_manifest.kind_checks import schema_of
from aurora_manifest.kinds import (
    AGENTS,
    CONFIGURATION,
    DELIVERABLE,
    DELIVERABLE_STATE,
    MANIFEST,
    METRICS_OUTPUT,
    DocumentKind,
    kind_of,
)
from tests.manifests import check_text, damaged, manifest, mutated
from tests.shares import examples

STATE = {"change_id": "add-dark-mode", "status": "executing", "started_at": "2026-02-26T10:00:00Z"}
METRICS = {
    "schema_version": "0.1.0",
    "change_id": "add-dark-mode",
    "status": "completed",
    "started_at": "2026-02-26T10:00:00Z",
    "completed_at": "2026-02-26T10:45:00Z",
    "metrics": {"conformance": {"overall": 0.97}},
}


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/site/.well-known/aura.json", MANIFEST),
        ("file:///w%20s/.aurora/config.json", CONFIGURATION),
        ("C:\\w\\.aurora\\agents.json", AGENTS),
        (".aurora/config.json", CONFIGURATION),
        ("/own/home/config.json", CONFIGURATION),
        ("/own/home/deliverables/dark.json", DELIVERABLE),
        ("/w/.aurora/deliverables/dark.json", DELIVERABLE),
        ("/w/deliverable-state.json", DELIVERABLE_STATE),
        ("/w/dark-mode.metrics-output.json", METRICS_OUTPUT),
        ("/w/metrics-output-failed.json", METRICS_OUTPUT),
        ("/w/.aurora/deliverables/metrics-output.json", METRICS_OUTPUT),
        ("/w/config.json", None),
        ("/w/.aurora/sub/config.json", None),
        ("/w/agents.json", None),
        ("/w/deliverables/dark.json", None),
        ("/w/metrics-output.schema.json", None),
        ("/w/mymetrics-output.json", None),
        ("/w/metrics-output.jsonl", None),
        ("/w/xaura.json", None),
    ],
)
def test_files_are_known_by_name_and_folder(path: str, kind: DocumentKind | None) -> None:
    assert kind_of(path, "/own/home") is kind


def test_knowing_them_imports_no_checks() -> None:
    code = "import sys, aurora_manifest.kinds; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"jsonschema", "aurora_schemas", "aurora_manifest.json.parser"} & set(loaded)


def only(text: str, kind: DocumentKind) -> Finding:
    findings = check_text(text, kind)
    assert len(findings) == 1, findings
    return findings[0]


def agent(**changes: Any) -> dict[str, Any]:
    return {"agent_registry": {"agents": [{"id": "coder", "type": "builtin", **changes}]}}


@pytest.mark.parametrize(
    ("kind", "document", "rule", "severity", "covers", "message"),
    [
        (CONFIGURATION, {"daemon": {"idle_minuts": 5}}, "schema-unknown-member", "warning", '"idle_minuts"',
         '"idle_minuts" is not a member here; did you mean "idle_minutes"?'),
        (CONFIGURATION, {"daemon": {"idle_minutes": 0}}, "schema-constraint", "error", "0",
         '"idle_minutes" must be more than 0, not the number 0'),
        (CONFIGURATION, {"logging": {"level": "LOUD"}}, "schema-enum", "error", '"LOUD"',
         '"LOUD" is not a level: use DEBUG, INFO, WARNING or ERROR'),
        (CONFIGURATION, {"memory": {"lifespan_policies": {"enabld": True}}}, "schema-unknown-member", "error",
         '"enabld"', '"enabld" is not a member here; did you mean "enabled"?'),
        (CONFIGURATION, {"llm": {"reasoning_llm": {"api_key_env": "sk-ant-a1"}}}, "schema-constraint", "error",
         '"sk-ant-a1"',
         '"api_key_env" has not the form it needs: write it like "ANTHROPIC_API_KEY" or "OPENAI_API_KEY"'),
        (CONFIGURATION, {"complexity": {"keyword_classifier": {"borderline_range": [0.4]}}}, "schema-constraint",
         "error", "[0.4]", '"borderline_range" must have at least 2 items'),
        (AGENTS, agent(type="mpc"), "schema-enum", "error", '"mpc"',
         '"mpc" is not a type: use mcp, executable, http, builtin or built_in'),
        (AGENTS, agent(type="http"), "schema-required", "error", "{",
         'item 1 of "agents" lacks the required member "endpoint"'),
        (AGENTS, agent(type="mcp", path=None), "schema-type", "error", "null", '"path" must be a string, not null'),
        (AGENTS, agent(capabilties=[]), "schema-unknown-member", "warning", '"capabilties"',
         '"capabilties" is not a member here; did you mean "capabilities"?'),
        (AGENTS, agent(id=""), "schema-constraint", "error", '""', '"id" must not be empty'),
        (DELIVERABLE_STATE, {**STATE, "apply_iterations": 0}, "schema-constraint", "error", "0",
         '"apply_iterations" must be at least 1, not the number 0'),
        (DELIVERABLE, {**STATE, "phases": {"aply": {}}}, "schema-unknown-member", "error", '"aply"',
         '"aply" is not a member here; did you mean "apply"?'),
        (METRICS_OUTPUT, {**METRICS, "metrics": {"conformance": {"overall": 97}}}, "schema-constraint", "error", "97",
         '"overall" must be at most 1, not the number 97'),
        (DELIVERABLE, {**METRICS, "status": "executing"}, "schema-enum", "error", '"executing"',
         '"executing" is not a status: use completed or failed'),
    ],
)  # fmt: skip
def test_findings_say_what_is_wrong_and_where(
    kind: DocumentKind, document: Any, rule: str, severity: str, covers: str, message: str
) -> None:
    text = json.dumps(document)
    found = only(text, kind)
    assert (found.rule, found.severity, found.message) == (rule, severity, message)
    assert text[found.start : found.end] == covers


def test_good_documents_have_no_findings() -> None:
    assert check_text("{}", CONFIGURATION) == []
    assert check_text(json.dumps(agent()), AGENTS) == []
    for kind, document in ((DELIVERABLE_STATE, STATE), (METRICS_OUTPUT, METRICS), (DELIVERABLE, STATE)):
        assert check_text(json.dumps(document), kind) == []
    assert check_text(json.dumps(METRICS), DELIVERABLE) == []
    assert check_text(json.dumps(manifest()), MANIFEST) == []


def test_their_errors_of_syntax_are_told_and_recovered_from() -> None:
    findings = check_text('{"daemon": {"idle_minutes": "5",}, "logging": {level: "INFO"}}', CONFIGURATION)
    assert {each.rule for each in findings} == {"json-trailing-comma", "json-syntax", "schema-type"}


def test_what_stands_where_can_be_looked_up_for_hover_and_completion() -> None:
    daemon = schema_of(CONFIGURATION).shapes.root.members["daemon"]
    assert daemon.members["idle_minutes"].description.startswith("The daemon ends after")
    models = schema_of(CONFIGURATION).shapes.root.members["llm"].members
    assert "model" in models["solving_llm"].members
    assert "metrics" in schema_of(DELIVERABLE, parse('{"metrics": {}}')).shapes.root.members
    assert "phases" in schema_of(DELIVERABLE, parse("{")).shapes.root.members


@pytest.mark.hypothesis
def test_damaged_documents_are_answered_with_findings_inside_the_text() -> None:
    chance = random.Random(11)
    config = {"memory": {"lifespan_policies": {"policies": {"a": {"condition": "x", "lifespan": "decay"}}}}}
    originals = [(CONFIGURATION, config), (AGENTS, agent()), (DELIVERABLE, STATE), (METRICS_OUTPUT, METRICS)]
    some = 0
    many = examples(1200)
    for number in range(many):
        kind, document = originals[number % len(originals)]
        changed = mutated(document, chance) if number % 2 else document
        text = damaged(json.dumps(changed, ensure_ascii=False), chance)
        for each in check_text(text, kind):
            assert 0 <= each.start <= each.end <= len(text)
            assert each.message.isprintable()
            some += 1
    assert some > many * 5 // 6
