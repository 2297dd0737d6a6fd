"""Collectors for tests: real OTLP receivers on loopback, and ones that do not do what they should."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from concurrent import futures
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.wait_limits import HANG


def plain(value: AnyValue) -> Any:
    """An attribute's value as Python has it."""
    return getattr(value, value.WhichOneof("value"))


def attributes(given: Any) -> dict[str, Any]:
    """Attributes as a dictionary."""
    return {pair.key: plain(pair.value) for pair in given}


class Received:
    """What a collector was sent, unpacked."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.metrics: dict[str, Metric] = {}
        self.told: list[Metric] = []
        self.scopes: list[tuple[str, str]] = []
        self.resources: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.requests = 0

    def traces(self, request: trace_service_pb2.ExportTraceServiceRequest, headers: dict[str, str]) -> None:
        self.requests += 1
        self.headers.append(headers)
        for resource in request.resource_spans:
            self.resources.append(attributes(resource.resource.attributes))
            for scope in resource.scope_spans:
                self.spans.extend(scope.spans)
                self.scopes.append((scope.scope.name, scope.schema_url))

    def measured(self, request: metrics_service_pb2.ExportMetricsServiceRequest, headers: dict[str, str]) -> None:
        self.requests += 1
        self.headers.append(headers)
        for resource in request.resource_metrics:
            for scope in resource.scope_metrics:
                self.told += scope.metrics
                self.scopes.append((scope.scope.name, scope.schema_url))
                self.metrics.update({metric.name: metric for metric in scope.metrics})

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]

    def path(self, span: Span) -> list[str]:
        """The names from the root to a span, by its parent links."""
        by_id = {each.span_id: each for each in self.spans}
        names = [span.name]
        while span.parent_span_id:
            span = by_id[span.parent_span_id]
            names.insert(0, span.name)
        return names


class HttpCollector:
    """OTLP over HTTP, protobuf. Answers `status` to everything, or to what `of` has another for (by signal).

    `headers` and `body` (with its content type) go with every answer; `hang` has it wait until it is set.
    """

    def __init__(self, port: int = 0) -> None:
        self.received = received = Received()
        self.status = 200
        self.of: dict[str, int] = {}
        self.headers: dict[str, str] = {}
        self.body: dict[str, bytes] = {}
        self.hang: threading.Event | None = None
        self.asked: list[tuple[str, float]] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                headers = {name.lower(): value for name, value in self.headers.items()}
                signal = self.path.rpartition("/")[2]
                collector.asked.append((signal, time.time()))
                if collector.hang is not None:
                    collector.hang.wait(HANG)
                status = collector.of.get(signal, collector.status)
                if status == 200 and signal == "traces":
                    received.traces(trace_service_pb2.ExportTraceServiceRequest.FromString(body), headers)
                elif status == 200 and signal == "metrics":
                    received.measured(metrics_service_pb2.ExportMetricsServiceRequest.FromString(body), headers)
                answer = collector.body.get(signal, b"")
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                for name, value in collector.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def __enter__(self) -> HttpCollector:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class GrpcCollector:
    """OTLP over gRPC."""

    def __init__(self) -> None:
        self.received = received = Received()

        class Traces(trace_service_pb2_grpc.TraceServiceServicer):
            def Export(self, request: Any, context: Any) -> Any:
                received.traces(request, dict(context.invocation_metadata()))
                return trace_service_pb2.ExportTraceServiceResponse()

        class Metrics(metrics_service_pb2_grpc.MetricsServiceServicer):
            def Export(self, request: Any, context: Any) -> Any:
                received.measured(request, dict(context.invocation_metadata()))
                return metrics_service_pb2.ExportMetricsServiceResponse()

        self._server = grpc.server(futures.ThreadPoolExecutor(2))
        trace_service_pb2_grpc.add_TraceServiceServicer_to_server(Traces(), self._server)
        metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(Metrics(), self._server)
        port = self._server.add_insecure_port("127.0.0.1:0")
        self.endpoint = f"http://127.0.0.1:{port}"
        self._server.start()

    def __enter__(self) -> GrpcCollector:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop(0).wait()


class SilentCollector:
    """Accepts connections and never answers."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._kept: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def connections(self) -> int:
        return len(self._kept)

    def _accept(self) -> None:
        while True:
            try:
                self._kept.append(self._socket.accept()[0])
            except OSError:
                return

    def __enter__(self) -> SilentCollector:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for each in self._kept:
            each.close()
        self._thread.join()


def closed_endpoint() -> str:
    """An address of this machine where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as there:
        return f"http://127.0.0.1:{there.getsockname()[1]}"


def within(seconds: float, condition: Any) -> bool:
    """Whether `condition()` comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
