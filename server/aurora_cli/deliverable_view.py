"""Deliverables rendered for people in the terminal: one line each, one in full, its events, its final numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from aurora_cli.output import TerminalStyle
from aurora_protocol.human_text import ago, count, lasting, plain, shorten

_COLORS = {"completed": "green", "failed": "red"}
_TOOLS = 5
_DESCRIPTION = 60
_ABOUT = frozenset(
    {"id", "event", "event_type", "timestamp", "at", "change_id", "phase", "source", "evidence", "session"}
)
"""What of an event is not said among its details."""


def state_line(state: Mapping[str, Any], style: TerminalStyle, name: str | None = None) -> str:
    """`add-search · apply · 4/8 tasks`, from a deliverable's state; `find-products (add-search) · …` where its `name`
    is another one now.
    """
    status = state["status"]
    stage = status if status in _COLORS else state.get("current_phase") or status
    words = [
        _called(plain(state["change_id"]), plain(name or ""), style),
        style.colored(stage, _COLORS.get(status, "yellow")),
    ]
    if state.get("tasks_total"):
        words.append(f"{state.get('tasks_completed') or 0}/{state['tasks_total']} tasks")
    return " · ".join(words)


def _called(change_id: str, name: str, style: TerminalStyle) -> str:
    """What it is called now, and what it began as where that was another name."""
    return style.bold(change_id) if name in ("", change_id) else f"{style.bold(name)} {style.dim(f'({change_id})')}"


def list_lines(
    states: Sequence[Mapping[str, Any]],
    style: TerminalStyle,
    now: datetime,
    filtered: bool,
    names: Mapping[str, str] | None = None,
) -> list[str]:
    """A line per deliverable, with its age and what it is; `names` are those that began as something else."""
    if not states:
        return (
            ["no deliverable is like that; see: aurora deliverable list"]
            if filtered
            else ["no deliverables; begin one with: aurora deliverable start CHANGE"]
        )
    lines = []
    for state in states:
        words = [state_line(state, style, (names or {}).get(state["change_id"]))]
        if state.get("updated_at"):
            words.append(style.dim(ago(state["updated_at"], now)))
        if state.get("description"):
            words.append(style.dim(shorten(plain(state["description"]), _DESCRIPTION)))
        lines.append("  ".join(words))
    return lines


def show_lines(
    state: Mapping[str, Any],
    style: TerminalStyle,
    now: datetime,
    name: str | None = None,
    final: Mapping[str, Any] | None = None,
) -> list[str]:
    """All that a deliverable's state says; with the `final` record of one that has ended, its numbers."""
    durations = None if final is None else final["metrics"].get("phase_durations")
    lines = [state_line(state, style, name)]
    if state.get("description"):
        lines.append(f"  {plain(state['description'])}")
    spec = state.get("spec_source") or {}
    if spec:
        requirements = spec.get("requirements_count")
        counted = [count(requirements, "requirement")] if requirements is not None else []
        parts = [plain(spec[key]) for key in ("framework", "spec_id") if spec.get(key)]
        lines.append(f"  spec       {' · '.join(parts + counted)}")
    heard = f" · last event {ago(state['updated_at'], now)}" if state.get("updated_at") else ""
    lines.append(f"  begun      {ago(state['started_at'], now)}{heard}")
    if phases := phase_words(state.get("phases") or {}, now, durations):
        lines.append(f"  phases     {phases}")
    if tools := tool_words(state.get("tool_calls") or {}, state.get("tool_calls_total")):
        lines.append(f"  tools      {tools}")
    rework = []
    if state.get("apply_iterations"):
        rework.append(count(state["apply_iterations"], "iteration"))
    if state.get("recovery_attempts"):
        rework.append(recoveries(state["recovery_attempts"]))
    if state.get("human_interventions"):
        rework.append(count(state["human_interventions"], "intervention"))
    if rework:
        lines.append(f"  rework     {' · '.join(rework)}")
    if usage := token_words(state.get("token_usage") or {}):
        lines.append(f"  tokens     {usage}")
    if state.get("sessions"):
        lines.append(f"  sessions   {', '.join(plain(each) for each in state['sessions'])}")
    told = {line.split(maxsplit=1)[0] for line in lines}
    ended = [] if final is None else ended_lines(final, style)
    return lines + [line for line in ended if line.split(maxsplit=1)[0] not in told]


def ended_lines(final: Mapping[str, Any], style: TerminalStyle) -> list[str]:
    """The numbers of a deliverable that has ended, and what was slow."""
    metrics = final.get("metrics") or {}
    lines = []
    latency = metrics.get("resolution_latency_seconds")
    durations = metrics.get("phase_durations") or {}
    if latency is not None:
        slowest = max(durations, key=lambda phase: durations[phase]) if durations else None
        why = f", longest in {slowest} ({lasting(durations[slowest])})" if slowest is not None else ""
        lines.append(f"  latency      {lasting(latency)}{why}")
    if metrics.get("recovery_attempts") is not None:
        iterations = f" in {count(metrics['apply_iterations'], 'iteration')}" if metrics.get("apply_iterations") else ""
        lines.append(f"  rework       {recoveries(metrics['recovery_attempts'])}{iterations}")
    conformance = metrics.get("conformance") or {}
    if conformance.get("overall") is not None:
        parts = [
            f"{name.replace('iteration_penalty', 'iterations')} {conformance[name]:.2f}"
            for name in ("functional", "correctness", "constraints", "iteration_penalty")
            if conformance.get(name) is not None
        ]
        lines.append(f"  conformance  {conformance['overall']:.2f}  {style.dim(', '.join(parts))}")
    if metrics.get("deliverable_failed"):
        kind = metrics.get("failure_type")
        lines.append(f"  failed       {style.colored(kind.replace('_', ' ') if kind else 'yes', 'red')}")
    tools = dict(metrics.get("tool_calls") or {})
    total = tools.pop("total", None)
    if words := tool_words(tools, total):
        lines.append(f"  tools        {words}")
    if usage := token_words(metrics.get("token_usage") or {}):
        lines.append(f"  tokens       {usage}")
    return lines


_MARKS = {True: ("✓", "green"), False: ("✗", "red"), None: ("?", "yellow")}


def criteria_lines(reply: Mapping[str, Any], style: TerminalStyle) -> list[str]:
    """A spec's requirements and constraints with what shows whether they are met, then what nothing tells."""
    scores = reply.get("conformance") or {}
    known = [f"{name.replace('_', ' ')} {value:.2f}" for name, value in scores.items() if value is not None]
    called = _called(plain(reply["change_id"]), plain(reply.get("name") or ""), style)
    lines = [f"{called} · conformance {', '.join(known) or 'unknown'}"]
    if reply["criteria"] is None:
        lines.append("  no spec was looked at: it is when tests are told, and at the end")
    for each in reply["criteria"] or ():
        mark, color = _MARKS[each["met"]]
        kind = "" if each["kind"] == "requirement" else f"{each['kind']}: "
        lines.append(f"  {style.colored(mark, color)} {kind}{plain(each['name'])}")
        if each.get("evidence"):
            lines.append(f"      {style.dim(plain(each['evidence']))}")
    return [*lines, *gap_lines(reply.get("gaps") or (), style)]


def gap_lines(gaps: Sequence[Mapping[str, Any]], style: TerminalStyle) -> list[str]:
    """What nothing tells of a deliverable, and what would."""
    return [f"  unmeasured   {each['what'].replace('_', ' ')}: {style.dim(each['fix'])}" for each in gaps]


def event_line(event: Mapping[str, Any], style: TerminalStyle) -> str:
    """When, what and by whom, of one event."""
    told = {**event, **(event.get("data") or event.get("what") or {})}
    kind = str(event.get("event_type") or told.get("event"))
    said = [str(event["phase"])] if event.get("phase") else []
    said += [
        f"{key}={plain(str(value))}"
        for key, value in told.items()
        if key not in _ABOUT and not isinstance(value, dict | list)
    ]
    by = [plain(str(told[key])) for key in ("source", "evidence") if told.get(key)]
    when = str(event.get("timestamp") or event.get("at"))[:19].replace("T", " ") + "Z"
    return f"{when}  {style.bold(f'{kind:<18}')} {' '.join(said)}  {style.dim(' · '.join(by))}".rstrip()


def phase_words(
    phases: Mapping[str, Mapping[str, Any]], now: datetime, durations: Mapping[str, float] | None = None
) -> str:
    """`specs 3 min → apply 20 min …`, an ellipsis for what lasts.

    A phase's time is what `durations` (seconds) has of it, where it is known; else from its begin to its end, unless
    it was taken up again while another went on: then that is no time it took.
    """
    spans = {
        name: (datetime.fromisoformat(record["started_at"]), _moment(record.get("completed_at"), now))
        for name, record in phases.items()
        if record.get("started_at")
    }
    words = []
    for name, (begun, over) in spans.items():
        shared = any(begun < other[1] and other[0] < over for each, other in spans.items() if each != name)
        seconds = (durations or {}).get(name, None if shared else max(0.0, (over - begun).total_seconds()))
        lasts = "" if phases[name].get("completed_at") else " …"
        words.append(f"{name}{'' if seconds is None else f' {lasting(seconds)}'}{lasts}")
    return " → ".join(words)


def _moment(text: str | None, now: datetime) -> datetime:
    return datetime.fromisoformat(text) if text else now


def tool_words(tools: Mapping[str, int], total: int | None = None) -> str:
    """`45: Edit 24, Bash 15, …`; `total` counts calls of unnamed tools too."""
    ranked = sorted(tools.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{plain(name)} {number:,}" for name, number in ranked[:_TOOLS]]
    more = ["…"] if len(ranked) > _TOOLS else []
    together = sum(tools.values()) if total is None else total
    if not ranked:
        return f"{together:,}" if together else ""
    return f"{together:,}: {', '.join(named + more)}"


def token_words(usage: Mapping[str, Any]) -> str:
    """`20,500 (12,000 in, 8,500 out) · $0.14`, without what nobody told."""
    words = []
    total = usage.get("total_tokens")
    if total is not None:
        parts = [
            f"{usage[name]:,} {way}"
            for name, way in (("input_tokens", "in"), ("output_tokens", "out"))
            if usage.get(name) is not None
        ]
        words.append(f"{total:,} ({', '.join(parts)})" if parts else f"{total:,}")
    if usage.get("estimated_cost_usd") is not None:
        words.append(f"${usage['estimated_cost_usd']:,.2f}")
    return " · ".join(words)


def recoveries(number: int) -> str:
    """`1 recovery`, `2 recoveries`."""
    return f"{number} recover{'y' if number == 1 else 'ies'}"
