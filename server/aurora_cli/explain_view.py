"""Explanation view: how `aur mem --explain` looks: two to five lines that say why a result stands where it does."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from aurora_protocol.human_text import ago, count, plain, shorten

MAX_SIGNALS = 6
MAX_MATCHES = 8
MAX_EPISODES = 2
LONGEST_SUBJECT = 50

_FROM = {"answers": "use", "git": "commit", "edits": "edit", "file": "file time"}


def explanation(item: dict[str, Any], now: datetime) -> list[str]:
    """The terms of a chunk's activation (AURORA §6.3) with where each comes from, what matched, what ranked it."""
    evidence = item.get("evidence")
    if not isinstance(evidence, dict):
        return [_activation(item["activation"], {}, now)]
    lines = [
        _asked(evidence),
        _activation(item["activation"], evidence, now),
        _matches(evidence),
        _reached(item, evidence),
        _told_otherwise(evidence),
        _signals(evidence),
    ]
    return [plain(line) for line in lines if line]


def _asked(evidence: dict[str, Any]) -> str:
    """The kind of question that the query was taken for, which decides how answers are ordered."""
    return f"asked for {evidence['question']}" if evidence.get("question") else ""


def _activation(terms: dict[str, Any], evidence: dict[str, Any], now: datetime) -> str:
    learned = evidence.get("learned") or []
    days = evidence.get("days_since_access")
    aged = f" ({days:.0f} d)" if days is not None and days >= 1 else ""
    line = (
        f"activation {terms['total']:.2f} = base level {terms['base_level']:.2f}{_history(evidence, now)} "
        f"+ spreading {terms['spreading']:.2f} + context {terms['context_boost']:.2f} "
        f"− decay {terms['decay']:.2f}{aged}"
    )
    if terms.get("learned") or learned:
        line += f" + learned {terms.get('learned', 0.0):.2f}" + (f" ({count(len(learned), 'run')})" if learned else "")
    return line


def _history(evidence: dict[str, Any], now: datetime) -> str:
    accesses, noun = evidence.get("accesses"), _FROM.get(evidence.get("accesses_from", ""))
    if not accesses or noun is None:
        return ""
    last = ago(accesses[-1], now)
    return f" ({noun} {last})" if noun == "file time" else f" ({count(evidence['access_count'], noun)}, last {last})"


def _matches(evidence: dict[str, Any]) -> str:
    matches = evidence.get("matches") or []
    said = [
        f"{match['term']} ({', '.join(match['fields'])})" if match["fields"] else match["term"] for match in matches
    ]
    more = f" and {len(said) - MAX_MATCHES} more" if len(said) > MAX_MATCHES else ""
    return f"words: {' · '.join(said[:MAX_MATCHES])}{more}" if said else ""


def _reached(item: dict[str, Any], evidence: dict[str, Any]) -> str:
    """`expand ← calls ← Action.request (0.21)`: the arrow points from who calls to what is called."""
    steps = evidence.get("reached") or []
    if not steps:
        return ""
    line = str(item["name"])
    for step in reversed(steps):
        arrow = "←" if step["forward"] else "→"
        line += f" {arrow} {step['relation']} {arrow} {step['name']}"
    return f"reached: {line} ({steps[-1]['amount']:.2f})"


def _told_otherwise(evidence: dict[str, Any]) -> str:
    """Commits like the question, and what an embedding says."""
    said = [f"{each['commit']} {shorten(each['subject'], LONGEST_SUBJECT)}" for each in evidence.get("episodes") or []]
    parts = [f"commits like it: {' · '.join(said[:MAX_EPISODES])}"] if said else []
    if near := evidence.get("semantic"):
        parts.append(f"by meaning: number {near['rank']}, similarity {near['similarity']:.2f}")
    return " · ".join(parts)


def _signals(evidence: dict[str, Any]) -> str:
    told = [each for each in evidence.get("signals") or [] if abs(each["contribution"]) >= 0.05][:MAX_SIGNALS]
    if not told:
        return ""
    return "ranked by: " + " · ".join(
        f"{each['name']} {'+' if each['contribution'] > 0 else '−'}{abs(each['contribution']):.1f}" for each in told
    )
