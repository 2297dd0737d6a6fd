"""Work phase (state machine of apply, verify, recovery): code that changes shows `apply`, test runs show `verify`, code
after that `apply` again.

An event is told when a phase begins, not for each save. `verify` → `apply` is a recovery (AURA-M §2.4); what failed is
told with it where tests showed it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from aurora_deliverables.detection.recorded_state import RecordedState, kind_of, passed
from aurora_deliverables.events import Event, EventBody, PhaseStarted, RecoveryBegan, TestsRan
from aurora_deliverables.evidence import event_id, shown

SOURCE = "workspace"

NEEDS_TASKS = frozenset({"openspec", "speckit"})
"""Specs that plan tasks: code that changes before there are any is not yet work on them."""


def edited(paths: Sequence[str], told: RecordedState, now: float, why: str) -> list[Event]:
    """Source files changed last at `now`, and belong to a deliverable for the reason `why`."""
    if told.ended or told.phase in ("apply", "archive"):
        return []
    if told.phase == "verify" and now <= told.phase_at:
        return []  # noticed late: it is what was tested
    if told.planning and told.spec.framework in NEEDS_TASKS and not told.tasks_total:
        return []
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    evidence = f"{min(paths)}{more} changed, {why}"
    events = [_event(told, now, PhaseStarted("apply"), evidence)]
    if told.phase == "verify" and told.tests_passed is False:
        events.append(_event(told, now, RecoveryBegan(reason="tests failed"), evidence))
    return events


def tested(run: TestsRan, told: RecordedState, at: float) -> list[Event]:
    """Tests ran; `told` is what was told before. Passing while tasks are open, they check the way, not the whole."""
    if told.ended or told.phase in ("verify", "archive") or (told.planning and "apply" not in told.phases):
        return []
    if passed(run) and told.all_done is False:
        return []
    outcome = {True: "passed", False: "failed", None: "ran"}[passed(run)]
    return [_event(told, at, PhaseStarted("verify"), f"{run.command or 'tests'}: {outcome}")]


def finished(told: RecordedState, now: float) -> list[Event]:
    """The last task was checked off: tests that passed since the last edit verified the whole."""
    if told.ended or told.phase != "apply" or not told.all_done or not told.tests_passed:
        return []
    said = f"all {told.tasks_total} tasks are checked, and tests passed since the last edit"
    return [_event(told, now, PhaseStarted("verify"), said)]


def _event(told: RecordedState, at: float, what: EventBody, evidence: str) -> Event:
    draft = Event(
        "",
        told.change_id,
        max(at, told.phase_at, told.started_at or 0.0),
        what,
        source=SOURCE,
        evidence=shown(evidence),
    )
    kind = kind_of(draft)
    return replace(draft, id=event_id(told.change_id, kind, told.count(kind)))
