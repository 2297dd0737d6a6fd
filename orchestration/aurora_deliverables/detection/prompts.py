"""Prompt of a user as a spec: one implicit requirement, from the prompt to the accepted output (AURA-M §7)."""

from __future__ import annotations

from aurora_deliverables.detection import change_title
from aurora_deliverables.events import AgentIdentity, Ended, Event, PhaseStarted, Revived, SpecSource, Started
from aurora_deliverables.evidence import event_id

SOURCE = "prompt"


def change_of(session: str) -> str:
    """What the deliverable of a session's prompt is called."""
    return f"prompt-{''.join(c for c in session if c.isalnum() or c == '-')[:36]}"


def events_of(
    prompt: str, session: str, now: float, *, keep_text: bool, agent: AgentIdentity | None = None
) -> list[Event]:
    """A deliverable begins with a session's first prompt. Of its text only the first sentence is kept, without
    secrets, and that only where `keep_text` says so.
    """
    change_id = change_of(session)
    words = len(prompt.split())
    description = change_title.summary(prompt[:2000]) if keep_text else f"a prompt of {words} words"
    evidence = f"a prompt of {words} words"
    started = Started(description=description, spec_source=SpecSource(SOURCE, session[:200], 1), agent=agent)
    return [
        Event(event_id(change_id, "deliverable_start"), change_id, now, started, session, agent, SOURCE, evidence),
        Event(
            event_id(change_id, "phase_start:propose"),
            change_id,
            now,
            PhaseStarted("propose"),
            session,
            agent,
            SOURCE,
            evidence,
        ),
    ]


def resumed(session: str, at: float) -> list[Event]:
    """The session of a prompt that was over is asked for more: it goes on."""
    change_id = change_of(session)
    evidence = "the session was resumed"
    return [Event(event_id(change_id, "revival", at), change_id, at, Revived(), session, None, SOURCE, evidence)]


def ended(session: str, at: float, *, failed: bool) -> list[Event]:
    """The session of a prompt is over, and its output was taken as it is; `failed` where tests said otherwise."""
    change_id = change_of(session)
    what = Ended("failed", "incomplete", "tests failed when the session ended") if failed else Ended("completed")
    evidence = "the session ended"
    return [Event(event_id(change_id, "deliverable_end", at), change_id, at, what, session, None, SOURCE, evidence)]
