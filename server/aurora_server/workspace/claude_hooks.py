"""Claude Code hooks: what Claude Code's hooks tell of a workspace's deliverables: to which one it belongs, and what
is new of it.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from aurora_deliverables.deliverables import Deliverables
from aurora_deliverables.detection import claude_code, prompts, transcripts
from aurora_deliverables.detection.claude_code import Hook
from aurora_deliverables.events import Event
from aurora_server.workspace.deliverable_detection import DeliverableDetection

KEPT_SESSIONS = 1000


class _Session(Struct):
    """Session of an agent: what it works on, what a person is waited for, how far transcripts were read."""

    change_id: str | None = None
    waiting: tuple[str, float] | None = None
    offsets: dict[str, int] = {}


class ClaudeHooks:
    """Hooks of Claude Code, turned into events. Belongs to the event loop's thread."""

    def __init__(
        self,
        root: Path,
        deliverables: Deliverables,
        detecting: DeliverableDetection,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._root = root
        self._deliverables = deliverables
        self._detecting = detecting
        self._now = now
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    def unattributed(self, payload: object) -> str | None:
        """A sentence where a hook's work cannot be told apart: several deliverables are open, and nothing names one."""
        session = self._sessions.get(claude_code.decode(payload).session_id)
        open_ = self._detecting.open_ids
        if not self._detecting.settings.hooks or len(open_) < 2 or (session is not None and session.change_id):
            return None
        return f"unattributed: {len(open_)} deliverables are open, and no file, branch or session tells which it is for"

    async def events_of(self, payload: object) -> list[Event]:
        """The events that a hook's JSON tells, to be recorded; none while no deliverable is open.

        Raises `claude_code.NotAHook`.
        """
        hook = claude_code.decode(payload)
        if not self._detecting.settings.hooks:
            return []
        session = self._session(hook.session_id)
        waited, now = self._waited(hook, session), self._now()
        change_id = await self._change_of(hook, session)
        if change_id is None:
            session.change_id = None
            return self._prompted(hook, session, now)
        session.change_id = change_id
        if change_id not in self._detecting.open_ids:  # over: what its last turn spent is told after that
            return await self._tokens(hook, session, change_id) if hook.hook_event_name in claude_code.TURN_ENDS else []
        at = await self._deliverables.moment(change_id)
        events = claude_code.events_of(hook, change_id, at, waited)
        if hook.hook_event_name in claude_code.TURN_ENDS:
            events += await self._tokens(hook, session, change_id)
        if hook.hook_event_name == "SessionEnd" and change_id == prompts.change_of(hook.session_id):
            failed = (await self._detecting.known(change_id)).tests_passed is False
            events += prompts.ended(hook.session_id, await self._deliverables.moment(change_id), failed=failed)
        return events

    async def _change_of(self, hook: Hook, session: _Session) -> str | None:
        """The deliverable that a hook belongs to: by the file it edited, the branch, then what the session worked on.

        What a session worked on is still its own after the end, until it is asked for something else.
        """
        edited = claude_code.edited_file(hook)
        if edited is not None:
            path = Path(edited)
            if path.is_absolute() and path.is_relative_to(self._root):
                path = path.relative_to(self._root)
            change_id = self._detecting.change_at(path.as_posix())
            if change_id is not None:
                return change_id
        own = session.change_id
        found = await self._detecting.at_work(own)
        # It may have ended while the branch was asked for: the turn that archives it is its own.
        if own is not None and own not in self._detecting.open_ids and hook.hook_event_name != "UserPromptSubmit":
            return own
        return found.change_id if found is not None else None

    def _prompted(self, hook: Hook, session: _Session, now: float) -> list[Event]:
        """A prompt while nothing is open begins a deliverable, where that is wanted."""
        settings = self._detecting.settings
        if not settings.prompts or hook.hook_event_name != "UserPromptSubmit" or not (hook.prompt or "").strip():
            return []
        session.change_id = prompts.change_of(hook.session_id)
        agent = claude_code.agent_of(hook)
        text = hook.prompt or ""
        return prompts.events_of(text, hook.session_id, now, keep_text=settings.prompt_texts, agent=agent)

    def _waited(self, hook: Hook, session: _Session) -> tuple[str, float] | None:
        waited = None
        if claude_code.answers(hook):
            waited, session.waiting = session.waiting, None
        why = claude_code.waits_for(hook)
        if why is not None and session.waiting is None:
            session.waiting = (why, self._now())
        return waited

    async def _tokens(self, hook: Hook, session: _Session, change_id: str) -> list[Event]:
        events: list[Event] = []
        since = (await self._detecting.known(change_id)).started_at
        for path in (hook.transcript_path, hook.agent_transcript_path):
            if path is None or since is None:
                continue
            calls, offset = await asyncio.to_thread(transcripts.calls_in, Path(path), session.offsets.get(path, 0))
            session.offsets[path] = offset
            agent = claude_code.agent_of(hook)
            name = hook.session_id[:200]
            events += transcripts.events_of(calls, change_id, name, agent, since, claude_code.SOURCE)
        return events

    def _session(self, name: str) -> _Session:
        session = self._sessions.setdefault(name, _Session())
        self._sessions.move_to_end(name)
        while len(self._sessions) > KEPT_SESSIONS:
            self._sessions.popitem(last=False)
        return session
