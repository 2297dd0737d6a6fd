"""Answers of an OTLP collector over HTTP (Retry-After, partial success): what it said beside its status: how long to
wait, what it rejected, and whether it is a collector at all.

The SDK's exporters look at the status alone. https://opentelemetry.io/docs/specs/otlp/#otlphttp-response
"""

from __future__ import annotations

import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any, Literal

import requests
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

MAX_BODY = 64 << 10
LONGEST_WAIT = 24 * 3600.0


class Answers:
    """Answers of a collector, the last of one signal."""

    def __init__(self, signal: Literal["traces", "metrics"], now: Callable[[], float] = time.time) -> None:
        self._signal = signal
        self._now = now
        self.begin()

    def begin(self) -> None:
        """Forget what was answered before."""
        self.why: str | None = None
        self.not_before = 0.0
        self.rejected = 0

    def session(self) -> requests.Session:
        """A session whose responses are heard here."""
        session = requests.Session()
        session.hooks["response"].append(self.hear)
        return session

    def hear(self, response: requests.Response, *_: Any, **__: Any) -> None:
        """Take in a response; one that is followed by another, as a redirect is, is overruled by that."""
        self.why, self.rejected = None, 0
        if response.status_code >= 300:
            self.why = f"HTTP {response.status_code} {response.reason or ''}".strip()
            self.not_before = self._wait(response.headers.get("retry-after"))
        elif response.request.method != "POST":
            self.why = "the endpoint redirects elsewhere"
        elif response.headers.get("content-type", "").partition(";")[0].strip().lower() in ("text/html", "text/xml"):
            self.why = "the endpoint answers with a page, so it is no collector"
        else:
            self._partial(response.content[:MAX_BODY])

    def _partial(self, body: bytes) -> None:
        """Partial success: how many spans or data points the collector rejected."""
        try:
            if self._signal == "traces":
                rejected = ExportTraceServiceResponse.FromString(body).partial_success.rejected_spans
            else:
                rejected = ExportMetricsServiceResponse.FromString(body).partial_success.rejected_data_points
        except DecodeError:
            return  # a 200 says that it was taken; some say so in words of their own
        self.rejected = max(0, rejected)

    def _wait(self, said: str | None) -> float:
        """Until when the collector asks to be left alone, in Unix seconds; 0 where it does not."""
        if said is None:
            return 0.0
        text = said.strip()
        if text.isascii() and text.isdigit():
            return self._now() + min(float(text[:12]), LONGEST_WAIT)
        try:
            until = parsedate_to_datetime(text).timestamp()
        except (ValueError, OverflowError):
            return 0.0
        return min(until, self._now() + LONGEST_WAIT)
