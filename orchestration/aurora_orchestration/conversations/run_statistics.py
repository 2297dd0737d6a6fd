"""Run statistics (success rate, averages, cost by month): what the runs of a stretch of time came to: questions,
scores, cost, errors, patterns (AURORA §9.4).

Drawn from conversation logs. What a log comes to is written down before it is deleted, and when it is compressed, in
`.figures/YYYY-MM.json` beside the logs: figures of all time outlive the logs, and old ones need not be read again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean, median
from typing import Any

import msgspec
from msgspec import Struct

from aurora_orchestration.conversations.log_reader import Conversation, conversation, files
from aurora_orchestration.private_file import write_private
from aurora_protocol import typed

KEPT = ".figures"
MAX_KEPT_BYTES = 16 << 20
ERRORS = frozenset({"failed", "interrupted", "unfinished"})


class RunRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Row of a run. `at` in Unix seconds, `file` its log's path below the folder of logs; None is what nobody knows."""

    file: str
    at: float
    state: str
    complexity: str | None = None
    score: float | None = None
    cost_usd: float | None = None
    tokens: int | None = None
    duration_ms: float | None = None
    llm_calls: int = 0
    retries: int = 0
    stored: bool = False
    is_pattern: bool = False
    reasoning_id: str | None = None
    patterns_used: int = 0
    workspace: str | None = None


def row_of(told: Conversation) -> RunRow:
    """A log's figures."""
    facts = told.facts
    retries = facts.get("retries")
    workspace, reasoning_id = facts.get("workspace"), facts.get("chunk_id")
    return RunRow(
        file=told.file,
        at=_moment(told.started_at or f"{told.day}T00:00:00Z"),
        state=told.state,
        complexity=told.complexity,
        score=told.score,
        cost_usd=told.cost_usd,
        tokens=told.tokens,
        duration_ms=told.duration_ms,
        llm_calls=_count(facts.get("llm_calls")),
        retries=sum(_count(each) for each in retries.values()) if isinstance(retries, dict) else 0,
        stored=facts.get("stored") is True,
        is_pattern=facts.get("is_pattern") is True,
        reasoning_id=reasoning_id if isinstance(reasoning_id, str) else None,
        patterns_used=_count(facts.get("patterns_used")),
        workspace=workspace if isinstance(workspace, str) else None,
    )


def keep(folder: Path, logs: Iterable[tuple[str, str, Path]]) -> None:
    """Write down what logs come to; those known already stay as they are. Under upkeep's lock. Raises OSError."""
    months: dict[str, list[tuple[str, str, Path]]] = {}
    for each in logs:
        months.setdefault(each[1][:7], []).append(each)
    for month, those in months.items():
        known = {row.file: row for row in _kept(folder, month)}
        missing = {file: row_of(conversation(file, day, path)) for file, day, path in those if file not in known}
        if missing:
            write_private(folder / KEPT / f"{month}.json", msgspec.json.encode([*known.values(), *missing.values()]))


def rows(folder: Path, start: float, end: float) -> list[RunRow]:
    """The runs begun from `start` up to `end` (Unix seconds), the first first. Compressed logs known are not read."""
    first, last = _day(start - 86_400), _day(end + 86_400)
    months = sorted({each.stem for each in (folder / KEPT).glob("????-??.json")})
    found = {each.file: each for month in months if first[:7] <= month <= last[:7] for each in _kept(folder, month)}
    for file, day, path in files(folder, first, last):
        if file not in found or not path.name.endswith(".gz"):
            found[file] = row_of(conversation(file, day, path))
    return sorted((each for each in found.values() if start <= each.at < end), key=lambda each: each.at)


def figures(runs: Sequence[RunRow]) -> dict[str, Any]:
    """Aggregates of some runs. `accuracy` is the mean verification score; what nothing is known of is None.

    A cache hit is a run that was given a pattern; `learning` compares the scores of those with the others'.
    """
    scores = [each.score for each in runs if each.score is not None]
    lasted = [each.duration_ms for each in runs if each.duration_ms is not None]
    costs = [each.cost_usd for each in runs if each.cost_usd is not None]
    helped = [each.score for each in runs if each.score is not None and each.patterns_used]
    alone = [each.score for each in runs if each.score is not None and not each.patterns_used]
    hits = sum(each.patterns_used > 0 for each in runs)
    return {
        "queries": len(runs),
        "states": dict(Counter(each.state for each in runs).most_common()),
        "complexity": dict(Counter(each.complexity for each in runs if each.complexity).most_common()),
        "accuracy": _mean(scores),
        "scored": len(scores),
        "cache_hits": hits,
        "cache_hit_rate": round(hits / len(runs), 4) if runs else None,
        "errors": sum(each.state in ERRORS for each in runs),
        "cost_usd": round(sum(costs), 6) if costs else None,
        "cost_per_query_usd": round(sum(costs) / len(costs), 6) if costs else None,
        "tokens": sum(each.tokens or 0 for each in runs),
        "llm_calls": sum(each.llm_calls for each in runs),
        "retries": sum(each.retries for each in runs),
        "duration_ms": {"mean": _mean(lasted, 1), "median": round(median(lasted), 1) if lasted else None},
        "patterns": {
            "stored": len({_kept_as(each) for each in runs if each.stored}),
            "marked": len({_kept_as(each) for each in runs if each.is_pattern}),
        },
        "learning": {
            "with_patterns": _mean(helped),
            "without": _mean(alone),
            "improvement": round(fmean(helped) - fmean(alone), 4) if helped and alone else None,
        },
    }


def _kept_as(run: RunRow) -> tuple[str | None, str]:
    """What a run was kept as: like runs are one pattern. A log that does not name it (an older one's) is one itself."""
    return run.workspace, run.reasoning_id or run.file


def report(folder: Path, start: float, end: float, parts: Sequence[tuple[float, float]] = ()) -> dict[str, Any]:
    """The figures of a stretch of time, over all workspaces and by workspace, with a trend over `parts`.

    `patterns` in the trend are those there were at each part's end, counted from the first.
    """
    runs = rows(folder, start, end)
    trend = []
    for first, last in parts:
        told = figures([each for each in runs if first <= each.at < last])
        grown = figures([each for each in runs if each.at < last])["patterns"]["stored"]
        trend.append(
            {
                "from": _iso(first),
                "to": _iso(last),
                **{key: told[key] for key in ("queries", "accuracy", "cache_hits", "errors", "cost_usd", "tokens")},
                "patterns": grown,
            }
        )
    by_workspace = Counter(each.workspace for each in runs if each.workspace)
    spent: dict[str, float] = {}
    for each in runs:
        if each.workspace:
            spent[each.workspace] = spent.get(each.workspace, 0.0) + (each.cost_usd or 0.0)
    return {
        **figures(runs),
        "workspaces": [
            {"workspace": name, "queries": number, "cost_usd": round(spent[name], 6)}
            for name, number in by_workspace.most_common(50)
        ],
        "trend": trend,
    }


def first_at(folder: Path) -> float | None:
    """When the first run known began: the first day that a log or a kept figure is of."""
    days = [day for _, day, _ in files(folder)]
    months = sorted(each.stem for each in (folder / KEPT).glob("????-??.json"))
    days += [_day(each.at) for month in months[:1] for each in _kept(folder, month)]
    return _moment(f"{min(days)}T00:00:00Z") if days else None


def _kept(folder: Path, month: str) -> list[RunRow]:
    path = folder / KEPT / f"{month}.json"
    try:
        if path.stat().st_size > MAX_KEPT_BYTES:
            return []
        return typed.decode(path.read_bytes(), list[RunRow])
    except (OSError, msgspec.MsgspecError):  # none yet, or edited by hand: the logs still tell
        return []


def _moment(text: str) -> float:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _day(at: float) -> str:
    bounded = min(max(at, 0.0), 253_402_000_000.0)
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=bounded)).strftime("%Y-%m-%d")


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _mean(values: Sequence[float], digits: int = 4) -> float | None:
    return round(fmean(values), digits) if values else None


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
