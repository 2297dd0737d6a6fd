"""Agents' answers parsed, whatever shape they came in (JSON, fenced JSON, plain text), as the one envelope of AURORA
§7.2.1.

A full envelope, the simple `{"summary", "data", "confidence"}`, an object with its answer under another usual name, or
plain text. JSON that answers nothing in words (`[1, 2, 3]`, `{"foo": 1}`) is no answer. What an agent says that is not
so (another's subgoal, a confidence of 7) is put right and noted; secrets are removed, size and depth bounded.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from aurora_orchestration.guardrails.redaction import redact
from aurora_orchestration.types import AgentMetadata, AgentResponse, Interaction, Output
from aurora_protocol.human_text import without_controls

MAX_REPLY = 4 << 20
"""Bytes of an answer that are read at all."""

MAX_SUMMARY = 40_000
MAX_DATA = 200_000
MAX_DEPTH = 24
MAX_TOOLS = 100
PLAIN_CONFIDENCE = 0.5
"""What an answer that does not say how sure it is counts as."""

_ANSWERS = ("answer", "result", "response", "text", "message", "content")
"""Members under which an object without a summary may have its answer in words."""

_NO_SUMMARY = "answered JSON without a summary, which is no answer; see the format of agents' answers (§7.2.1)"
_STATUSES = ("success", "partial", "error")
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


class CallFacts(Struct, frozen=True, kw_only=True):
    """Facts known of an answer from here: who was asked, what for, and what was seen of the work.

    `exit_code` is that of the agent's process, None where it is none of ours. `can_act`: False for a model alone.
    """

    subgoal_id: str
    agent_id: str
    interactions: tuple[Interaction, ...] = ()
    duration_ms: float = 0.0
    tools_used: tuple[str, ...] = ()
    model_used: str | None = None
    exit_code: int | None = None
    can_act: bool = True


def response_of(answer: str, told: CallFacts) -> AgentResponse:
    """An agent's answer as an envelope. Never raises: an answer that is none has the status `error`."""
    if len(answer) > MAX_REPLY:
        return failed(told, f"answered {len(answer):,} characters; at most {MAX_REPLY:,} are read")
    text = answer.strip()
    if not text:
        return failed(told, "answered nothing")
    value = _json_in(text)
    words = any(character.isalpha() for character in _FENCE.sub("", text))
    if value is None or (words and _parsed(text) is None and not _is_envelope(value)):
        return _enveloped({"output": {"summary": text}}, told, ["answered in plain text"])
    if not isinstance(value, dict):
        return failed(told, _NO_SUMMARY)
    return response_of_value(value, told)


def response_of_value(value: dict[str, Any], told: CallFacts) -> AgentResponse:
    """The same for an answer that is a JSON object already."""
    if isinstance(value.get("output"), dict) or "status" in value:
        return _enveloped(value, told, [])
    if _is_envelope(value):
        return _enveloped({**value, "output": value}, told, [])
    for name in _ANSWERS:
        said = value.get(name)
        if isinstance(said, str) and any(character.isalpha() for character in said):
            data = {key: each for key, each in value.items() if key not in (name, "confidence")}
            output = {"summary": said, "data": data, "confidence": value.get("confidence")}
            return _enveloped({**value, "output": output}, told, [f"answered under {name!r}, not as a summary"])
    return failed(told, _NO_SUMMARY)


def says_something(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Whether there is a word anywhere in the values of some JSON."""
    if isinstance(value, str):
        return any(character.isalpha() for character in value)
    if depth and isinstance(value, dict | list):
        return any(says_something(each, depth - 1) for each in (value.values() if isinstance(value, dict) else value))
    return False


def failed(told: CallFacts, why: str, notes: Sequence[str] = ()) -> AgentResponse:
    """The envelope of an agent that gave no answer. `why` is one line."""
    return AgentResponse(
        subgoal_id=told.subgoal_id,
        agent_id=told.agent_id,
        status="error",
        user_interactions=told.interactions,
        metadata=_metadata({}, told),
        error=_clean(" ".join(why.split()))[:1_000] or "failed without saying why",
        notes=tuple(notes),
    )


def question_in(line: str) -> str | None:
    """The question in a line of output that is one: `{"question": "…"}`, and no answer beside it."""
    if '"question"' not in line or len(line) > 100_000:
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not {"summary", "output", "status"}.isdisjoint(value):
        return None
    question = value.get("question")
    return question if isinstance(question, str) and question.strip() else None


def _enveloped(value: dict[str, Any], told: CallFacts, notes: list[str]) -> AgentResponse:
    """Envelope of a JSON answer, validated; what had to be put right is noted."""
    for name, own in (("subgoal_id", told.subgoal_id), ("agent_id", told.agent_id)):
        if name in value and value[name] != own:
            notes.append(f"said {name} {_short(value[name])}, which is {own}")
    status = value.get("status", "success")
    if status not in _STATUSES:
        notes.append(f"said status {_short(status)}, which is none of {', '.join(_STATUSES)}; taken as partial")
        status = "partial"
    given = value.get("output")
    inner: dict[str, Any] = given if isinstance(given, dict) else {}
    summary = inner.get("summary")
    if status == "error" or not isinstance(summary, str) or not summary.strip():
        error = value.get("error")
        said = error if isinstance(error, str) and error.strip() else "answered without a summary"
        if status == "error" and said != error:
            said = summary if isinstance(summary, str) and summary.strip() else "failed without saying why"
        return failed(told, said, notes)
    if len(summary) > MAX_SUMMARY:
        notes.append(f"its summary of {len(summary):,} characters was cut to {MAX_SUMMARY:,}")
    return AgentResponse(
        subgoal_id=told.subgoal_id,
        agent_id=told.agent_id,
        status=status,
        output=Output(
            summary=_clean(summary[:MAX_SUMMARY]),
            confidence=_confidence(inner.get("confidence"), notes),
            data=_data(inner.get("data", {}), notes),
        ),
        user_interactions=(*told.interactions, *_claimed(value.get("user_interactions"), told, notes)),
        metadata=_metadata(value.get("metadata"), told),
        notes=tuple(notes),
    )


def _confidence(said: Any, notes: list[str]) -> float:
    """Confidence that an agent states, in [0, 1]; what cannot be one is noted."""
    number = said
    if isinstance(said, str):
        try:
            number = float(said)
        except ValueError:
            number = None
    if isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number) and 0 <= number <= 1:
        return float(number)
    shown = "no confidence" if said is None else f"confidence {_short(said)}, which is not in [0, 1]"
    notes.append(f"said {shown}; taken as {PLAIN_CONFIDENCE}")
    return PLAIN_CONFIDENCE


def _data(said: Any, notes: list[str]) -> Any:
    """Data of an answer, bounded in depth and size."""
    cut: list[str] = []
    data = _bounded(said, MAX_DEPTH, cut)
    if cut:
        notes.append(f"its data was nested more than {MAX_DEPTH} deep, and was cut there")
    if (size := len(json.dumps(data, ensure_ascii=False))) > MAX_DATA:
        notes.append(f"its data of {size:,} characters was left out; at most {MAX_DATA:,} are kept")
        return {}
    return data


def _bounded(value: Any, depth: int, cut: list[str]) -> Any:
    """Sanitized JSON, cut at a depth (recursion limit)."""
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, dict | list) and depth == 0:
        cut.append("")
        return "…"
    if isinstance(value, dict):
        return {without_controls(str(key)[:1_000]): _bounded(each, depth - 1, cut) for key, each in value.items()}
    if isinstance(value, list):
        return [_bounded(each, depth - 1, cut) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _claimed(said: Any, told: CallFacts, notes: list[str]) -> tuple[Interaction, ...]:
    """Talks with the user that the agent tells of and nobody here has seen: kept, and said to be its own account."""
    found: list[Interaction] = []
    for each in said[:20] if isinstance(said, list) else ():
        question = each.get("agent_question") if isinstance(each, dict) else None
        if not isinstance(question, str) or question in {one.agent_question for one in told.interactions}:
            continue
        found.append(
            Interaction(
                turn=len(told.interactions) + len(found) + 1,
                agent_question=_clean(question[:2_000]),
                user_response=_clean(str(each.get("user_response", ""))[:20_000]),
                timestamp=without_controls(str(each.get("timestamp", ""))[:40]),
            )
        )
    if found:
        notes.append(f"{len(found)} of its user interactions are by its own account")
    return tuple(found)


def _metadata(said: Any, told: CallFacts) -> AgentMetadata:
    said = said if isinstance(said, dict) else {}
    listed = said.get("tools_used")
    tools = [_clean(tool[:200]) for tool in listed if isinstance(tool, str)] if isinstance(listed, list) else []
    model = said.get("model_used")
    return AgentMetadata(
        tools_used=tuple(dict.fromkeys((*told.tools_used, *tools)))[:MAX_TOOLS],
        duration_ms=told.duration_ms,
        model_used=told.model_used or (without_controls(model[:200]) if isinstance(model, str) else None),
        exit_code=told.exit_code,
        can_act=told.can_act,
    )


def _json_in(text: str) -> Any:
    """The JSON an answer is, or ends with, or has in a fence; None where it is words."""
    lines = text.splitlines()
    fenced = _FENCE.findall(text)
    for candidate in (text, lines[-1], *fenced[-1:]):
        value = _parsed(candidate)
        if value is not None:
            return value
    return None


def _parsed(text: str) -> Any:
    """The JSON object or array that a text is, else None."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_envelope(value: Any) -> bool:
    return isinstance(value, dict) and not {"summary", "output", "status"}.isdisjoint(value)


def _short(value: Any) -> str:
    return repr(value)[:60]


def _clean(text: str) -> str:
    return redact(without_controls(text), pii=False).text
