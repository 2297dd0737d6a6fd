"""What the standard variables and the user's settings make of telemetry."""

from __future__ import annotations

import subprocess
import sys

import pytest

from aurora_deliverables.telemetry.export_settings import Choice, Wish, choose


def told(environ: dict[str, str], wish: Wish | None = None) -> list[tuple[str, str, str, str]]:
    choice = choose(environ, wish or Wish())
    assert not choice.problems
    return [(each.signal, each.name, each.protocol, each.place) for each in choice.exporters]


def test_it_is_off_unless_told() -> None:
    assert choose({}, Wish()) == Choice()
    assert choose({"OTEL_SERVICE_NAME": "x", "OTEL_RESOURCE_ATTRIBUTES": "a=b"}, Wish()) == Choice()


def test_an_endpoint_turns_both_signals_on() -> None:
    assert told({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:1"}) == [
        ("traces", "otlp", "http/protobuf", "http://c:1"),
        ("metrics", "otlp", "http/protobuf", "http://c:1"),
    ]


def test_each_signal_has_variables_of_its_own() -> None:
    assert told({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:1/t"}) == [
        ("traces", "otlp", "http/protobuf", "http://c:1/t")
    ]
    both = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:1", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t:2/t"}
    assert [each[3] for each in told(both)] == ["http://t:2/t", "http://c:1"], "which count more than those of both"
    said = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:1", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "grpc"}
    assert [each[2] for each in told(said)] == ["http/protobuf", "grpc"]


def test_exporters_are_chosen_by_name() -> None:
    assert told({"OTEL_TRACES_EXPORTER": "console, otlp", "OTEL_METRICS_EXPORTER": "none"}) == [
        ("traces", "console", "http/protobuf", "standard error"),
        ("traces", "otlp", "http/protobuf", "http://localhost:4318"),
    ]
    assert told({"OTEL_METRICS_EXPORTER": "prometheus", "OTEL_EXPORTER_PROMETHEUS_PORT": "9999"}) == [
        ("metrics", "prometheus", "http/protobuf", "http://localhost:9999/metrics")
    ]


@pytest.mark.parametrize("environ", [{"OTEL_SDK_DISABLED": "true"}, {"OTEL_SDK_DISABLED": "TRUE"}])
def test_disabled_is_disabled(environ: dict[str, str]) -> None:
    said = {**environ, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:1"}
    assert choose(said, Wish(endpoint="http://d:2")) == Choice()


@pytest.mark.parametrize(
    ("preference", "is_delta"),
    [("delta", True), (" LowMemory ", True), ("cumulative", False), ("", False), ("deltas", False)],
)
def test_metrics_are_told_as_the_variable_prefers_and_traces_are_no_sums(preference: str, is_delta: bool) -> None:
    said = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:1"}
    said["OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"] = preference
    assert [(each.signal, each.delta) for each in choose(said, Wish()).exporters] == [
        ("traces", False),
        ("metrics", is_delta),
    ]


@pytest.mark.parametrize(
    ("environ", "wish", "signals"),
    [
        pytest.param({"OTEL_TRACES_EXPORTER": "otlp"}, Wish(metrics="console"), ["otlp", "console"], id="by its own"),
        pytest.param({"OTEL_TRACES_EXPORTER": "otlp"}, Wish(traces="none"), [], id="what settings say of one wins"),
        pytest.param(
            {"OTEL_TRACES_EXPORTER": " "}, Wish(endpoint="http://d:2"), ["otlp", "otlp"], id="blanks are none"
        ),
        pytest.param({"OTEL_TRACES_EXPORTER": "none,console"}, Wish(), ["console"], id="none beside others is no word"),
    ],
)
def test_which_exporters_are_used(environ: dict[str, str], wish: Wish, signals: list[str]) -> None:
    assert [each.name for each in choose(environ, wish).exporters] == signals


def test_settings_win_over_variables() -> None:
    said = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    assert choose(said, Wish(enabled=False)) == Choice()
    exporter = choose(said, Wish(protocol="http/protobuf", endpoint="http://d:2/", headers={"a": "b"})).exporters[0]
    assert (exporter.endpoint, exporter.headers) == ("http://d:2/v1/traces", {"a": "b"})


@pytest.mark.parametrize(
    ("environ", "wish", "word"),
    [
        ({"OTEL_TRACES_EXPORTER": "jaeger"}, Wish(), "jaeger"),
        ({"OTEL_TRACES_EXPORTER": "prometheus"}, Wish(), "prometheus"),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}, Wish(), "http/protobuf or grpc"),
        ({}, Wish(endpoint="file:///etc", metrics="none"), "telemetry.endpoint"),
        ({"OTEL_METRICS_EXPORTER": "prometheus", "OTEL_EXPORTER_PROMETHEUS_PORT": "x"}, Wish(), "port number"),
    ],
)
def test_what_cannot_be_followed_is_said_and_nothing_is_sent(environ: dict[str, str], wish: Wish, word: str) -> None:
    choice = choose(environ, wish)
    assert choice.exporters == ()
    assert [word in problem for problem in choice.problems] == [True]


def test_choosing_imports_no_opentelemetry() -> None:
    code = "import sys, aurora_server.workspace.telemetry, aurora_server.workspace.workspace\n"
    code += "import aurora_server.daemon.daemon\n"
    code += "print([each for each in sys.modules if each.startswith(('opentelemetry', 'grpc', 'prometheus'))])"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
