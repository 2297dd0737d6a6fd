"""Export record of telemetry (at-least-once export of traces and metrics, deduplicated across restarts): what of each
deliverable went out by which signal, what instruments have counted, and how the last attempts went; kept in one file,
so that a restart neither sends nor counts anything again.

A cumulative series goes on with the start and the value it had. Whoever loses the file begins a new series, and sends
again what no collector has taken in whole.
"""

from __future__ import annotations

import os
import tempfile
import threading
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, field

from aurora_deliverables.telemetry.instruments import Measurement
from aurora_protocol import typed
from aurora_protocol.strict_modes import make_private_folder

FILE = "telemetry.json"
MAX_BYTES = 16 << 20
KEPT = 2000
"""Deliverables of which is kept what of them went out: far more than wait at once."""
MAX_SERIES = 2000
"""Cardinality limit: series of attributes that are counted; what has further ones is counted without any."""


class InstrumentSeries(Struct):
    """Series of one instrument: what it has counted under some labels. `buckets` are a histogram's, else empty."""

    labels: dict[str, str]
    value: float = 0.0
    count: int = 0
    buckets: list[int] = field(default_factory=list)
    least: float = 0.0
    most: float = 0.0


class Totals(Struct):
    """Totals of instruments, what they have counted since a moment (Unix seconds), by their names."""

    since: float
    series: dict[str, list[InstrumentSeries]] = field(default_factory=dict)

    def add(self, measured: Iterable[Measurement]) -> None:
        """Count some measurements, within the cardinality limit of their attributes (`MAX_SERIES`)."""
        for each in measured:
            instrument = each.instrument
            known = self.series.setdefault(instrument.name, [])
            labels = dict(each.labels)
            found = next((one for one in known if one.labels == labels), None)
            if found is None and len(known) >= MAX_SERIES:
                labels = {}
                found = next((one for one in known if not one.labels), None)
            if found is None:
                found = InstrumentSeries(labels, least=each.value, most=each.value)
                known.append(found)
            found.value += each.value
            found.count += 1
            found.least, found.most = min(found.least, each.value), max(found.most, each.value)
            if instrument.kind == "histogram":
                if len(found.buckets) != len(instrument.boundaries) + 1:
                    found.buckets = [0] * (len(instrument.boundaries) + 1)
                found.buckets[bisect_left(instrument.boundaries, each.value)] += 1


class SignalOutcome(Struct):
    """Outcome of the last attempts to export one signal: Unix seconds, None where there was none; `why` is of the
    failure.

    `rejected` counts what a collector took only in part: that is not sent again (OTLP's partial success).
    """

    last_success: float | None = None
    last_failure: float | None = None
    why: str | None = None
    rejected: int = 0


class _Kept(Struct):
    version: int = 1
    done: dict[str, list[str]] = field(default_factory=dict)
    totals: dict[str, Totals] = field(default_factory=dict)
    signals: dict[str, SignalOutcome] = field(default_factory=dict)


_decoder = typed.decoder(_Kept)


class ExportRecord:
    """Export record, in mind and in its file. `path` None keeps it in mind only. For the sender's thread, but
    `outcomes`.

    Raises OSError where it cannot be written.
    """

    def __init__(self, path: Path | None, now: float) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._now = now
        self._kept = _read(path)

    def done(self, keys: Sequence[str]) -> Sequence[str]:
        """What was done for a deliverable under any of its keys: `traces`, `metrics`, and `counted` in the totals."""
        return tuple(dict.fromkeys(what for key in keys for what in self._kept.done.get(key, ())))

    def mark(self, keys: Sequence[str], what: str) -> None:
        """Acknowledgement (at-least-once delivery): take note that this was done for a deliverable."""
        for key in keys:
            said = self._kept.done.pop(key, [])
            self._kept.done[key] = said if what in said else [*said, what]
        while len(self._kept.done) > KEPT:
            del self._kept.done[next(iter(self._kept.done))]

    def totals(self, stream: str) -> Totals:
        """What a stream has counted; begun now where there is none."""
        return self._kept.totals.setdefault(stream, Totals(self._now))

    def begin_anew(self, stream: str, now: float) -> None:
        """Count from 0 again: what there was is with the collector (delta temporality)."""
        self._kept.totals[stream] = Totals(now)

    def outcome(self, signal: str, at: float, why: str | None, rejected: int = 0) -> None:
        """Take note of how an attempt went: `why` it failed, None where it did not."""
        with self._lock:
            known = self._kept.signals.setdefault(signal, SignalOutcome())
            known.rejected += rejected
            if why is None:
                known.last_success = at
            else:
                known.last_failure, known.why = at, why[:300]

    def outcomes(self) -> dict[str, SignalOutcome]:
        """How the last attempts went, by signal. For any thread."""
        with self._lock:
            return {name: msgspec.structs.replace(each) for name, each in self._kept.signals.items()}

    def save(self) -> None:
        """Write it atomically: all of it or nothing, readable by its user alone."""
        if self._path is None:
            return
        with self._lock:
            content = msgspec.json.encode(self._kept)
        make_private_folder(self._path.parent)
        handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=".telemetry-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(name).replace(self._path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def _read(path: Path | None) -> _Kept:
    """What the file says; nothing where there is none, or none that can be read."""
    if path is None:
        return _Kept()
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        kept = _decoder.decode(content) if len(content) <= MAX_BYTES else _Kept()
    except (OSError, msgspec.MsgspecError, RecursionError):
        return _Kept()
    return kept if kept.version == 1 else _Kept()
