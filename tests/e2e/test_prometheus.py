"""A real Prometheus scrapes a real daemon: metrics have the names, types, units and values of the conventions."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.server.daemons import Daemon, until
from tests.wait_limits import HANG

CONVENTIONS = Path(__file__).parents[2] / "orchestration/aurora_deliverables/telemetry/conventions.yaml"
PHASES = ("propose", "specs", "design", "tasks", "apply", "verify", "archive")

pytestmark = pytest.mark.skipif(shutil.which("prometheus") is None, reason="no Prometheus is installed")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as there:
        port: int = there.getsockname()[1]
        return port


class Prometheus:
    """A server that scrapes one page every second."""

    def __init__(self, folder: Path, page: int) -> None:
        self.port = free_port()
        folder.mkdir()
        config = folder / "prometheus.yml"
        config.write_text(
            "global: {scrape_interval: 1s}\n"
            "scrape_configs:\n"
            f"  - {{job_name: aurora, static_configs: [{{targets: ['127.0.0.1:{page}']}}]}}\n"
        )
        self.process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={config}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{self.port}",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, path: str, **query: str) -> Any:
        """The `data` of an API answer; None while nothing answers."""
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return json.load(answer)["data"]
        except OSError:
            return None

    def value(self, query: str) -> float | None:
        """What a query of one series amounts to now."""
        data = self.ask("query", query=query)
        return float(data["result"][0]["value"][1]) if data and data["result"] else None


@contextmanager
def scraping(folder: Path, page: int) -> Iterator[Prometheus]:
    server = Prometheus(folder, page)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait(HANG)


def in_prometheus(metric: dict[str, Any]) -> str:
    """The name under which OpenTelemetry's exposition has a metric: its unit is part of it."""
    name: str = metric["metric_name"].replace(".", "_")
    return f"{name}_seconds" if metric["unit"] == "s" else name


@pytest.mark.timeout(120)
def test_prometheus_reads_what_was_delivered(tmp_path: Path) -> None:
    page = free_port()
    workspace = tmp_path / "ws"
    workspace.mkdir()
    variables = {"OTEL_METRICS_EXPORTER": "prometheus", "OTEL_EXPORTER_PROMETHEUS_PORT": str(page)}
    now = time.time()
    with Daemon(tmp_path / "home", **variables) as daemon, daemon.client(workspace) as client:

        def tell(change: str, action: str, seconds_ago: float, **more: Any) -> None:
            at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - seconds_ago))
            client.request("aurora/deliverable", {"action": action, "change_id": change, "at": at, **more})

        for change, took in (("add-search", 1200), ("add-login", 600)):
            tell(change, "start", took, type="feature")
            for step, phase in enumerate(PHASES):
                tell(change, "phase", took - step, phase=phase)
            tell(change, "complete", 0)
        tell("mend-cache", "start", 300, type="bugfix")
        tell("mend-cache", "phase", 290, phase="apply")
        tell("mend-cache", "fail", 0, reason="the cache is gone", phase="apply")

        with scraping(tmp_path / "prometheus", page) as prometheus:
            until(lambda: prometheus.value("aura_deliverables_count_total{aura_deliverable_type='feature'}") == 2)
            assert prometheus.value("sum(aura_deliverables_count_total)") == 3
            assert prometheus.value("sum(aura_deliverables_accepted_total)") == 2
            assert prometheus.value("sum(aura_deliverables_failed_total)") == 1
            assert prometheus.value("aura_resolution_latency_seconds_count{aura_deliverable_type='feature'}") == 2
            total = prometheus.value("aura_resolution_latency_seconds_sum{aura_deliverable_type='feature'}")
            assert total == pytest.approx(1800, abs=3)
            assert prometheus.value("aura_resolution_latency_seconds_bucket{le='900'}") == 1
            known = prometheus.ask("metadata")
    metrics = [each for each in yaml.safe_load(CONVENTIONS.read_text())["groups"] if each["type"] == "metric"]
    assert metrics
    seen = 0
    for metric in metrics:
        name = in_prometheus(metric)
        if name not in known:
            continue  # nothing of what was told is measured by it
        seen += 1
        assert known[name][0]["type"] == metric["instrument"]
        assert metric["brief"].startswith(known[name][0]["help"])
        assert known[name][0]["unit"] == ("seconds" if metric["unit"] == "s" else "")
    assert seen >= 5
