"""Query view: what is said of a run in the terminal, line by line (AURORA §9.5). Pure; what was found is made
printable here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aurora_cli.output import TerminalStyle
from aurora_cli.table import table_lines
from aurora_protocol.human_text import count, plain, shorten, took

STAGES = {
    "guard": "checking the question",
    "assess": "assessing complexity",
    "retrieve": "retrieving context",
    "decompose": "decomposing",
    "verify": "verifying",
    "route": "routing to agents",
    "collect": "collecting answers",
    "synthesize": "synthesizing",
    "record": "recording",
    "respond": "responding",
}
"""What each stage is called while it goes on."""

OPTIONS = {"option_a": "self", "option_b": "adversarial", "option_c": "deep reasoning", "deterministic": "by rule"}
STATES = {
    "partial": "done, in part",
    "failed": "failed",
    "blocked": "blocked",
    "cancelled": "cancelled",
    "interrupted": "interrupted",
    "no_provider": "no model",
    "dry_run": "dry run",
}
_WIDE = 160
_MOST = 40


def stage_name(notice: Mapping[str, Any]) -> str:
    """`verifying (adversarial)`."""
    data = notice.get("data") or {}
    name = STAGES.get(str(notice.get("stage")), plain(str(notice.get("stage"))))
    option = OPTIONS.get(str(data.get("option") or data.get("by")))
    if notice.get("stage") == "verify" and data.get("of"):
        name = f"{name} the {plain(str(data['of']))}"
    return f"{name} ({option})" if option and notice.get("stage") == "verify" else name


def outcome(notice: Mapping[str, Any]) -> str:
    """What a stage came to in a few words: `COMPLEX (0.82)`, `3 subgoals`, `PASS (0.85)`; else its own sentence."""
    data = notice.get("data") or {}
    status = str(notice.get("status"))
    score = _number(data.get("score"), data.get("overall_score"), data.get("confidence"))
    shown = f" ({score:.2f})" if score is not None else ""
    if status == "complete" and isinstance(data.get("complexity"), str):
        sure = _number(data.get("confidence"), score)
        return plain(data["complexity"]).upper() + (f" ({sure:.2f})" if sure is not None else "")
    if isinstance(data.get("verdict"), str):
        return f"{plain(data['verdict']).upper()}{shown}"
    if status == "retry":
        return f"RETRY{shown}"
    if status == "failed":
        return f"FAILED{shown}" + (f": {plain(str(notice['detail']))}" if notice.get("detail") else "")
    if notice.get("detail"):
        return shorten(plain(str(notice["detail"])), _WIDE)
    subgoals = data.get("subgoals")
    if isinstance(subgoals, int) and not isinstance(subgoals, bool):
        return count(subgoals, "subgoal")
    if isinstance(subgoals, list):
        return count(len(subgoals), "subgoal")
    if isinstance(data.get("chunks"), Mapping):
        return ", ".join(f"{plain(str(kind))}: {number}" for kind, number in data["chunks"].items()) or "nothing"
    return "skipped" if status == "skipped" else "done"


def stage_line(notice: Mapping[str, Any]) -> str | None:
    """The line of `-v` for something that is over; None for what only begins."""
    if notice.get("status") == "in_progress" or notice.get("stage") == "done":
        return None
    return f"aurora: {stage_name(notice)}... {outcome(notice)}"


def stage_details(notice: Mapping[str, Any]) -> list[str]:
    """The lines that `-vv` puts below: everything the stage found; what its specification shows as there (§9.5)."""
    data = dict(notice.get("data") or {})
    first: list[str] = []
    if notice.get("stage") == "assess" and isinstance(data.get("keywords"), list):
        words = ", ".join(map(_said, data.pop("keywords")))
        score = data.pop("score", None)
        first.append(f"keywords: [{words}]" + (f" → score: {_said(score)}" if score is not None else ""))
    if isinstance(data.get("plan"), list):
        data.pop("subgoals", None)
        first += [
            f'subgoal {number}: "{_said(each.get("description"))}" → {_said(each.get("agent"))}'
            for number, each in enumerate(data.pop("plan"), 1)
        ]
    if isinstance(data.get("checks"), Mapping):
        first += [f"{plain(str(name)).replace('_', ' ')}: {_said(each)}" for name, each in data.pop("checks").items()]
        verdict = f" → {plain(str(data.pop('verdict'))).upper()}" if data.get("verdict") else ""
        first.append(f"overall: {_said(data.pop('score', None))}{verdict}")
        for told in ("option", "by", "of"):  # the line above names it
            data.pop(told, None)
    return [f"  {line}" for line in (*first, *_listed(data))][:_MOST]


def done_line(result: Mapping[str, Any], *, verbose: bool) -> str:
    """`aurora: done (score: 0.85, cached: yes)`."""
    said = []
    if result.get("score") is not None:
        said.append(f"score: {result['score']:.2f}")
    if verbose:
        said.append(f"cached: {'yes' if result.get('cached') else 'no'}")
    state = STATES.get(str(result.get("state")), "done")
    return f"aurora: {state}" + (f" ({', '.join(said)})" if said else "")


def sure_line(result: Mapping[str, Any]) -> str:
    """How sure the answer is and why, and what it took: `score 0.93 · weakest: calibrated 0.90 · $0.01 · 12.8 s`."""
    said = []
    if result.get("score") is not None:
        said.append(f"score {result['score']:.2f}")
    if result.get("confidence") is not None:
        said.append(f"confidence {result['confidence']:.2f}")
    checks = [each for each in result.get("checks") or () if isinstance(each.get("score"), int | float)]
    if checks:
        weakest = min(checks, key=lambda each: each["score"])
        why = f" ({shorten(plain(str(weakest['issues'][0])), 80)})" if weakest.get("issues") else ""
        said.append(f"weakest: {plain(str(weakest['name'])).replace('_', ' ')} {weakest['score']:.2f}{why}")
    said += [cost(result), took(result.get("took_ms") or 0.0)]
    return " · ".join(said)


def cost(result: Mapping[str, Any]) -> str:
    """`$0.0234`; that memory answered for nothing is said, and that a price is not known."""
    if not result.get("calls"):
        return "no model asked, no cost"
    unknown = result.get("unpriced_calls") or 0
    paid, counted = result.get("cost_usd") or 0.0, result.get("counted_usd") or 0.0
    if not unknown:
        return f"${paid:.4f}"
    said = f"{count(unknown, 'call')} of unknown price (limits count ${max(0.0, counted - paid):.4f} for that)"
    return said if unknown == result["calls"] else f"${paid:.4f} and {said}"


def claim_lines(result: Mapping[str, Any]) -> list[str]:
    """Each claim with what it rests on."""
    lines = [
        f"  - {plain(str(each['text']))}  [{plain(', '.join(map(str, each['sources']))) or 'no source'}]"
        for each in result.get("claims") or ()
    ]
    return lines + [f"  ? {plain(str(each))}  [no source]" for each in result.get("untraced") or ()]


def detail_lines(result: Mapping[str, Any]) -> list[str]:
    """What `-vv` tells at the end: checks, what memory gave with activations, time, tokens, the log."""
    lines = []
    if result.get("checks"):
        lines.append("checks:")
        for each in result["checks"]:
            issues = "".join(f"\n    {plain(str(issue))}" for issue in each.get("issues") or ())
            lines += f"  {plain(str(each['name']))}: {each['score']:.2f}{issues}".split("\n")
    if result.get("sources"):
        lines.append("from memory:")
        lines += [
            f"  {plain(str(each['id']))}  score {each['score']:.2f}, activation {each.get('activation') or 0.0:.2f}"
            for each in result["sources"][:_MOST]
        ]
    if result.get("timing"):
        lines += timing_lines(result["timing"])
    tokens = result.get("tokens") or {}
    if tokens.get("total"):
        lines.append(
            f"tokens: {tokens['total']:,} ({tokens.get('input', 0):,} in, {tokens.get('output', 0):,} out, "
            f"{tokens.get('cache_read', 0):,} cached) in {count(result.get('calls') or 0, 'call')}"
        )
    if result.get("estimated_usd"):
        lines.append(f"cost: {cost(result)}; ${result['estimated_usd']:.4f} were expected")
    if result.get("reasoning_id"):
        runs = result.get("runs") or 0
        alike = f" (with {count(runs - 1, 'run')} like it)" if runs > 1 else ""
        lines.append(f"kept as: {plain(str(result['reasoning_id']))}{alike}")
    if result.get("log"):
        lines.append(f"log: {plain(str(result['log']))}")
    return lines


def timing_lines(timing: Mapping[str, Any]) -> list[str]:
    """The breakdown of §9.4.1 as a table."""
    phases: Sequence[Mapping[str, Any]] = timing.get("phases") or ()
    rows = []
    for each in phases:
        waited = f"  {took(each['llm_ms'])} in models" if each.get("llm_ms") else ""
        rows.append([plain(str(each["phase"])), took(each["duration_ms"]), f"{each['percentage']:>5.1f} %{waited}"])
    total = timing.get("total_duration_ms") or 0.0
    split = " · ".join(
        f"{took(timing.get(key) or 0.0)} {what}"
        for key, what in (("llm_ms", "in models"), ("agents_ms", "in agents"), ("own_ms", "of our own"))
    )
    rows.append(["total", took(total), split])
    return ["time:", *table_lines(rows, TerminalStyle(), right={1}, least={1: 10})]


def _listed(value: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    """Nested values as lines, for people."""
    for key, item in value.items():
        name = plain(str(key)).replace("_", " ")
        if isinstance(item, Mapping):
            if all(not isinstance(each, Mapping | list) for each in item.values()):
                members = ", ".join(f"{plain(str(inner))} {_said(each)}" for inner, each in item.items())
                yield f"{name}: {members or 'none'}"
            elif depth < 2:
                yield f"{name}:"
                yield from (f"  {line}" for line in _listed(item, depth + 1))
        elif isinstance(item, list):
            if any(isinstance(each, Mapping) for each in item):
                yield f"{name}:"
                yield from (f"  {_row(each)}" for each in item[:_MOST])
            else:
                yield f"{name}: {', '.join(_said(each) for each in item) or 'none'}"
        elif item not in (None, ""):
            yield f"{name}: {_said(item)}"


def _row(item: Any) -> str:
    """One of a list: `SG1: Compare providers → research-agent`, else its members."""
    if not isinstance(item, Mapping):
        return _said(item)
    named = item.get("id") or item.get("subgoal_id") or item.get("name")
    text, to = item.get("description") or item.get("text"), item.get("agent") or item.get("agent_id")
    rest = {"id", "subgoal_id", "name", "description", "text", "agent", "agent_id"}
    parts = [f"{_said(named)}:" if named else "", f'"{_said(text)}"' if text else "", f"→ {_said(to)}" if to else ""]
    parts += [
        f"{plain(str(key)).replace('_', ' ')} {_said(each)}"
        for key, each in item.items()
        if key not in rest and not isinstance(each, Mapping | list) and each is not None
    ]
    return " ".join(part for part in parts if part)


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2f}"
    return shorten(plain(str(value)), _WIDE)


def _number(*values: Any) -> float | None:
    return next((float(each) for each in values if isinstance(each, int | float) and not isinstance(each, bool)), None)
