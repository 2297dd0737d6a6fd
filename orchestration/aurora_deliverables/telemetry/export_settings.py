"""Export settings of telemetry (OTLP endpoint, headers, protocol): whether it is exported, and where to: the standard
`OTEL_*` variables, and what the user's settings say.

Off unless told: nothing is exported, and `opentelemetry` is not even imported, where neither names an exporter or an
endpoint. What the settings say wins over the variables; `OTEL_SDK_DISABLED=true` wins over all.
Variables that are not named here (timeouts, compression, certificates, resource attributes, sampling, batching) are
read by OpenTelemetry's SDK itself. https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

ExporterName = Literal["otlp", "console", "prometheus"]
Protocol = Literal["http/protobuf", "grpc"]

PROMETHEUS_PORT = 9464

_EXPORTERS: dict[str, tuple[ExporterName, ...]] = {
    "traces": ("otlp", "console"),
    "metrics": ("otlp", "console", "prometheus"),
}
_PROTOCOLS: tuple[Protocol, ...] = ("http/protobuf", "grpc")
_DEFAULT_ENDPOINT = {"http/protobuf": "http://localhost:4318", "grpc": "http://localhost:4317"}


class Wish(Struct, frozen=True):
    """Wish of the user's settings for telemetry (`telemetry.*`); None leaves it to the variables."""

    enabled: bool = True
    traces: str | None = None
    metrics: str | None = None
    protocol: str | None = None
    endpoint: str | None = None
    headers: Mapping[str, str] = {}


class Exporter(Struct, frozen=True):
    """Exporter (OTLP, Prometheus, console), one way out for one signal.

    `endpoint` and `headers` are None where the SDK is to read them from the variables; `place` is for people.
    For Prometheus `host` and `port` are where it can fetch.
    """

    name: ExporterName
    signal: Literal["traces", "metrics"]
    place: str
    protocol: Protocol = "http/protobuf"
    endpoint: str | None = None
    headers: Mapping[str, str] | None = None
    delta: bool = False
    """Of metrics: each time what is new, instead of all there was."""
    host: str = "localhost"
    port: int = PROMETHEUS_PORT


class Choice(Struct, frozen=True):
    """Choice of exporters: those to use, and what was said that cannot be followed, one sentence each."""

    exporters: tuple[Exporter, ...] = ()
    problems: tuple[str, ...] = ()


def choose(environ: Mapping[str, str], wish: Wish) -> Choice:
    """Decide by the variables and the user's settings; no exporters means that nothing is to be imported or sent."""
    if not wish.enabled or environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return Choice()
    exporters: list[Exporter] = []
    problems: list[str] = []
    signal: Literal["traces", "metrics"]
    for signal in ("traces", "metrics"):
        for name in _names(signal, environ, wish):
            try:
                exporters.append(_exporter(name, signal, environ, wish))
            except ValueError as problem:
                problems.append(str(problem))
    return Choice(tuple(exporters), tuple(problems))


def _names(signal: str, environ: Mapping[str, str], wish: Wish) -> list[str]:
    """Names of exporters for a signal, by settings, then by the standard variables."""
    said = wish.traces if signal == "traces" else wish.metrics
    if said is None:
        said = environ.get(f"OTEL_{signal.upper()}_EXPORTER", "").strip() or None
    if said is None:
        variables = ("OTEL_EXPORTER_OTLP_ENDPOINT", f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT")
        said = "otlp" if wish.endpoint or any(environ.get(each, "").strip() for each in variables) else "none"
    return [each for each in (part.strip() for part in said.split(",")) if each and each != "none"]


def _exporter(name: str, signal: Literal["traces", "metrics"], environ: Mapping[str, str], wish: Wish) -> Exporter:
    """Exporter by its name, with endpoint, headers and protocol. Raises ValueError."""
    known = next((each for each in _EXPORTERS[signal] if each == name), None)
    if known is None:
        legal = ", ".join((*_EXPORTERS[signal], "none"))
        raise ValueError(f"there is no exporter '{name}' for {signal}; OTEL_{signal.upper()}_EXPORTER can be {legal}")
    if known == "console":
        return Exporter(known, signal, "standard error")
    if known == "prometheus":
        host = environ.get("OTEL_EXPORTER_PROMETHEUS_HOST", "").strip() or "localhost"
        port = environ.get("OTEL_EXPORTER_PROMETHEUS_PORT", "").strip() or str(PROMETHEUS_PORT)
        if not port.isdecimal() or int(port) > 65535:
            raise ValueError(f"OTEL_EXPORTER_PROMETHEUS_PORT is '{port}'; it must be a port number")
        return Exporter(known, signal, f"http://{host}:{port}/metrics", host=host, port=int(port))

    def variable(what: str) -> str | None:
        for each in (f"OTEL_EXPORTER_OTLP_{signal.upper()}_{what}", f"OTEL_EXPORTER_OTLP_{what}"):
            if value := environ.get(each, "").strip():
                return value
        return None

    spoken = wish.protocol or variable("PROTOCOL") or "http/protobuf"
    protocol = next((each for each in _PROTOCOLS if each == spoken), None)
    if protocol is None:
        raise ValueError(f"OTLP cannot be spoken as '{spoken}' here; the protocol can be {' or '.join(_PROTOCOLS)}")
    endpoint = wish.endpoint
    if endpoint is not None and not endpoint.startswith(("http://", "https://")):
        raise ValueError(f"telemetry.endpoint is '{endpoint}'; it must begin with http:// or https://")
    place = endpoint or variable("ENDPOINT") or _DEFAULT_ENDPOINT[protocol]
    if endpoint is not None and protocol == "http/protobuf":
        endpoint = f"{endpoint.rstrip('/')}/v1/{signal}"
    headers = dict(wish.headers) or None
    return Exporter(known, signal, place, protocol, endpoint, headers, signal == "metrics" and _is_delta(environ))


def _is_delta(environ: Mapping[str, str]) -> bool:
    """What the standard variable prefers: counters and histograms are delta under `lowmemory` too."""
    said = environ.get("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "").strip().lower()
    return said in ("delta", "lowmemory")
