"""Questions in OpenTelemetry: the counters of §9.4, from a daemon to a collector, with no word of what was asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from aurora_server.workspace.query_telemetry import run_measurements
from tests.orchestration.collectors import HttpCollector, attributes, within
from tests.orchestration.llm.loopback import LoopbackProvider
from tests.orchestration.runs import run
from tests.orchestration.soar.minds import Mind
from tests.server.client_requests import MEDIUM, TWO, configure, workspace
from tests.server.daemons import Daemon
from tests.wait_limits import HANG


def test_questions_hits_retries_calls_and_tokens_are_counted(tmp_path: Path) -> None:
    root, mind = workspace(tmp_path / "ws"), Mind(TWO)
    mind.scores["decomposition"] = [0.6, 0.9]
    with LoopbackProvider() as provider, HttpCollector() as there:
        provider.otherwise = mind
        configure(tmp_path / "home", provider)
        said = {"OTEL_EXPORTER_OTLP_ENDPOINT": there.endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}
        with Daemon(tmp_path / "home", **provider.environ, **said) as daemon, daemon.client(root) as client:
            client.request("aurora/index", {})
            for _ in range(2):
                assert client.request("aurora/query", {"query": MEDIUM})["state"] == "complete"
            assert within(HANG, lambda: "aurora_cache_hits" in there.received.metrics)
            metrics = there.received.metrics
            queries = {
                tuple(sorted(attributes(p.attributes).items())): p.as_int
                for p in metrics["aurora_queries_total"].sum.data_points
            }
            assert queries == {(("complexity", "medium"), ("state", "complete")): 2}
            (hit,) = metrics["aurora_cache_hits"].sum.data_points
            assert (attributes(hit.attributes), hit.as_int) == ({"kind": "answer"}, 1)
            (retry,) = metrics["aurora_retry_count"].sum.data_points
            assert (attributes(retry.attributes), retry.as_int) == ({"checkpoint": "decomposition"}, 1)
            assert sum(point.as_int for point in metrics["aurora_llm_calls"].sum.data_points) == len(provider.requests)
            tokens = {attributes(p.attributes)["kind"] for p in metrics["aurora_tokens_used"].sum.data_points}
            assert tokens == {"input", "output"}
            assert {"aurora_query_complexity", "aurora_verification_score", "aurora_agent_latency_ms"} <= set(metrics)
            assert "template" not in str(metrics)


@pytest.mark.parametrize(
    ("changed", "instrument", "sums"),
    [
        pytest.param({}, "aurora_queries_total", {("complex", "complete"): 1}, id="a question by its level and end"),
        pytest.param({"complexity": None, "assessment": None}, "aurora_queries_total", {("unknown", "complete"): 1},
                     id="or of no known level"),
        pytest.param({}, "aurora_llm_calls", {("collect", "solving"): 1, ("decompose", "reasoning"): 1,
                     ("synthesize", "reasoning"): 2, ("verify", "reasoning"): 1}, id="calls by phase and role"),
        pytest.param({"calls": tuple(replace(each, replayed=each.phase != "verify") for each in run().calls)},
                     "aurora_llm_calls", {("verify", "reasoning"): 1}, id="not those that were paid for before"),
        pytest.param({"calls": tuple(replace(each, replayed=True) for each in run().calls)}, "aurora_tokens_used", {},
                     id="nor their tokens"),
        pytest.param({"from_memory": "reas:x"}, "aurora_cache_hits", {("answer",): 1}, id="an answer of memory"),
        pytest.param({"from_memory": "reas:x"}, "aurora_verification_score", {}, id="is not scored again"),
        pytest.param({}, "aurora_retry_count", {}, id="what was done once was not tried again"),
    ],
)  # fmt: skip
def test_what_a_run_adds(changed: dict[str, Any], instrument: str, sums: dict[tuple[str, ...], float]) -> None:
    found = [each for each in run_measurements(run(**changed)) if each.instrument.name == instrument]
    assert {tuple(value for _, value in sorted(each.labels.items())): each.value for each in found} == sums
