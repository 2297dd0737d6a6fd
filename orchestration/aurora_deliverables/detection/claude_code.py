"""Claude Code's hooks, parsed: what one hook's JSON payload (on its stdin) tells of the deliverable at work.

Every payload has `session_id`, `transcript_path`, `cwd` and `hook_event_name`; those about tools have `tool_name`,
`tool_input`, `tool_use_id` and, afterwards, `tool_response` or `error` (code.claude.com/docs/en/hooks). Taken from them
are names, numbers and test summaries. Prompts, file contents and outputs are never kept.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from aurora_deliverables.detection import test_runs
from aurora_deliverables.events import (
    AgentIdentity,
    Event,
    EventBody,
    HumanIntervened,
    SessionJoined,
    TestsRan,
    ToolCalled,
)
from aurora_deliverables.evidence import event_id, shown
from aurora_protocol import typed

SOURCE = "claude-code-hook"
TURN_ENDS = frozenset({"Stop", "SubagentStop", "SessionEnd", "PreCompact", "StopFailure"})
"""Hooks at which the transcript has the usage of finished model calls."""

_WAITING = {"permission_prompt": "permission asked", "idle_prompt": "input awaited", "elicitation_dialog": "asked"}
_ASKS = frozenset({"AskUserQuestion", "ExitPlanMode"})
_ANSWERED = frozenset({"PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionEnd", "PermissionDenied"})


class NotAHook(ValueError):
    """Error of a hook's payload that is none; the message says what is wrong with it."""


class Hook(Struct):
    """Hook's payload: the fields that are looked at; of all others nothing is read."""

    session_id: str
    hook_event_name: str
    transcript_path: str | None = None
    agent_transcript_path: str | None = None
    cwd: str | None = None
    tool_name: str | None = None
    tool_input: Any = None
    tool_response: Any = None
    tool_use_id: str | None = None
    error: Any = None
    is_interrupt: bool | None = None
    duration_ms: float | None = None
    message: str | None = None
    notification_type: str | None = None
    prompt: str | None = None
    model: Any = None
    source: str | None = None


def decode(payload: object) -> Hook:
    """A payload from its JSON, as it was decoded. Raises NotAHook."""
    try:
        hook = typed.convert(payload, Hook)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise NotAHook(f"this is no payload of a Claude Code hook: {error}") from error
    if not hook.session_id or not hook.hook_event_name:
        raise NotAHook("this is no payload of a Claude Code hook: session_id or hook_event_name is empty")
    return hook


def agent_of(hook: Hook) -> AgentIdentity:
    """Who runs the hook; the model where the payload names one."""
    model = hook.model.get("id") if isinstance(hook.model, dict) else hook.model
    return AgentIdentity("claude-code", model[:100] if isinstance(model, str) and model else None, "claude-code")


def waits_for(hook: Hook) -> str | None:
    """What a person is waited for from this hook on, if for anything."""
    if hook.hook_event_name == "PermissionRequest":
        return "permission asked"
    if hook.hook_event_name == "PreToolUse" and hook.tool_name in _ASKS:
        return "asked"
    if hook.hook_event_name != "Notification":
        return None
    if hook.notification_type is not None:
        return _WAITING.get(hook.notification_type)
    message = (hook.message or "").lower()  # what versions before the types said
    if "permission" in message:
        return _WAITING["permission_prompt"]
    return _WAITING["idle_prompt"] if "waiting for your input" in message else None


def answers(hook: Hook) -> bool:
    """Whether this hook shows that the person who was waited for has answered, or that nobody will."""
    return hook.hook_event_name in _ANSWERED


def events_of(hook: Hook, change_id: str, now: float, waited: tuple[str, float] | None = None) -> list[Event]:
    """What a hook tells of a deliverable. `waited`: for what, and since when, a person was waited for until now.

    Where Claude Code gives a tool call an id, the same hook twice is the same events.
    """
    session, name = hook.session_id[:200], hook.hook_event_name
    events = [_event(hook, change_id, now, SessionJoined(session), f"{name} hook", session)]
    if waited is not None:
        why, since = waited
        seconds = max(0.0, now - since)
        what = HumanIntervened(waited_seconds=round(seconds, 3), note=why)
        events.append(_event(hook, change_id, now, what, f"{why}, answered after {seconds:.0f} s", session, since))
    events += call_of(hook, change_id, now)
    run = test_run(hook) if is_call(hook) else None
    if run is not None:
        call = hook.tool_use_id or now
        events.append(_event(hook, change_id, now, run, f"{name} hook: {run.command}", session, call))
    return events


def call_of(hook: Hook, change_id: str, now: float) -> list[Event]:
    """The call of a tool that a hook tells of, if it does."""
    name = hook.hook_event_name
    if not is_call(hook):
        return []
    tool = shown(hook.tool_name or "", 100)
    called = ToolCalled(tool, succeeded=_went_well(hook), duration_seconds=duration(hook))
    return [
        _event(
            hook,
            change_id,
            now,
            called,
            f"{name} hook: {tool}",
            hook.session_id[:200],
            hook.tool_use_id or now,
        )
    ]


def is_call(hook: Hook) -> bool:
    """Whether a hook tells of a tool's call that is over."""
    return hook.hook_event_name in ("PostToolUse", "PostToolUseFailure") and bool(hook.tool_name)


def duration(hook: Hook) -> float | None:
    """Seconds that a tool's call took, where the payload says."""
    return hook.duration_ms / 1000 if hook.duration_ms is not None and hook.duration_ms >= 0 else None


def test_run(hook: Hook) -> TestsRan | None:
    """The test run that a shell tool's call was, if it was one."""
    command = hook.tool_input.get("command") if isinstance(hook.tool_input, dict) else None
    if hook.tool_name not in ("Bash", "PowerShell") or not isinstance(command, str):
        return None
    in_background = hook.tool_input.get("run_in_background") is True
    if in_background or hook.is_interrupt or not test_runs.is_test_run(command):
        return None
    return test_runs.run_of(command, _output(hook), exited_well=_went_well(hook))


def edited_file(hook: Hook) -> str | None:
    """The file that a tool's call wrote, as the payload names it."""
    if hook.hook_event_name != "PostToolUse" or hook.tool_name not in ("Edit", "MultiEdit", "Write", "NotebookEdit"):
        return None
    given = hook.tool_input if isinstance(hook.tool_input, dict) else {}
    path = given.get("file_path") or given.get("notebook_path")
    return path if isinstance(path, str) else None


def _went_well(hook: Hook) -> bool | None:
    """Outcome of a tool's call: success, failure, or None where it was interrupted."""
    if hook.hook_event_name == "PostToolUseFailure":
        return None if hook.is_interrupt else False
    response = hook.tool_response
    if isinstance(response, dict):
        if response.get("interrupted") is True:
            return None
        code = response.get("exitCode", response.get("exit_code"))
        if isinstance(code, int):
            return code == 0
    return True


def _output(hook: Hook) -> str:
    """What the tool wrote, its end: looked at, not kept."""
    said: list[str] = []
    if isinstance(hook.tool_response, str):
        said.append(hook.tool_response)
    elif isinstance(hook.tool_response, dict):
        said += [text for key in ("stdout", "stderr") if isinstance(text := hook.tool_response.get(key), str)]
    if isinstance(hook.error, str):
        said.append(hook.error)
    return "\n".join(said)[-test_runs.MAX_OUTPUT :]


def _event(
    hook: Hook, change_id: str, now: float, what: EventBody, evidence: str, session: str, *facts: object
) -> Event:
    tag = str(type(what).__struct_config__.tag)
    return Event(
        id=event_id(change_id, tag, session, *facts),
        change_id=change_id,
        at=now,
        what=what,
        session=session,
        agent=agent_of(hook),
        source=SOURCE,
        evidence=shown(evidence),
    )
