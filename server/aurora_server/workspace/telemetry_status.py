"""State of telemetry for doctor: where each signal goes, when it was taken or refused last, and what waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aurora_deliverables.timestamps import timestamp
from aurora_protocol.methods import DoctorFinding

if TYPE_CHECKING:
    from aurora_deliverables.telemetry.sender import Sender, SignalStatus

_ADDRESS = "correct telemetry.endpoint or OTEL_EXPORTER_OTLP_ENDPOINT, then: aurora daemon stop"


def telemetry_findings(sender: Sender | None, waiting: int, problems: Sequence[str]) -> list[DoctorFinding]:
    """What is to be said of telemetry; nothing where none is configured.

    `waiting` is how many deliverables were not taken yet, `problems` what was configured that cannot be followed.
    """
    findings = [
        DoctorFinding(level="warning", what=f"telemetry: {problem}", fix="correct it, then: aurora daemon stop")
        for problem in problems
    ]
    if sender is None:
        return findings
    if sender.off is not None:
        findings.append(DoctorFinding(level="warning", what=f"telemetry is off: {sender.off}", fix=_ADDRESS))
        return findings
    findings += [_signal(each) for each in sender.status()]
    if waiting:
        some = "1 deliverable waits" if waiting == 1 else f"{waiting:,} deliverables wait"
        what = f"telemetry: {some} to be taken; what is not is tried again every few minutes and at each start"
        findings.append(DoctorFinding(level="ok", what=what))
    return findings


def _signal(status: SignalStatus) -> DoctorFinding:
    exporter, outcome = status.exporter, status.outcome
    what = f"telemetry: {exporter.signal} go to {exporter.place}"
    if exporter.name == "otlp":
        what += f" (OTLP, {exporter.protocol})"
    if exporter.name == "prometheus":
        return DoctorFinding(level="ok", what=f"telemetry: {exporter.signal} can be fetched at {exporter.place}")
    taken = "never yet" if outcome.last_success is None else timestamp(round(outcome.last_success))
    what += f"; taken last: {taken}"
    if outcome.rejected:
        what += f"; {outcome.rejected:,} rejected by the collector so far"
    if outcome.last_failure is None:
        return DoctorFinding(level="ok", what=what)
    what += f"; refused last: {timestamp(round(outcome.last_failure))} ({outcome.why})"
    if outcome.last_success is not None and outcome.last_success >= outcome.last_failure:
        return DoctorFinding(level="ok", what=what)
    return DoctorFinding(level="warning", what=what, fix=_ADDRESS)
