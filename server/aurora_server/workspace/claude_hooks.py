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
from aurora_deliverables.transitions import was_under_way
from aurora_server.workspace.deliverable_detection import DeliverableDetection

KEPT_SESSIONS = 1000


class _Session(Struct):
    """Session of an agent: what it works on, what a person is waited for, how far transcripts were read.

    `folder` is the deliverable whose spec it edited last, and the branch on which it did.
    """

    change_id: str | None = None
    folder: tuple[str, str | None] | None = None
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
        session = await self._session(hook.session_id)
        waited, now = self._waited(hook, session), self._now()
        path = self._edited_path(hook)
        change_id = await self._change_of(hook, session, path)
        if change_id is None:
            session.change_id = None
            return await self._prompted(hook, session, now)
        session.change_id = change_id
        if change_id not in self._detecting.open_ids:  # over: what its last turn spent is told after that
            if hook.hook_event_name in claude_code.TURN_ENDS:
                return await self._tokens(hook, session, change_id)
            return await self._last_call(hook, change_id)
        self._detecting.worked_on(change_id, path)
        at = await self._deliverables.moment(change_id)
        events = claude_code.events_of(hook, change_id, at, waited)
        if hook.hook_event_name in claude_code.TURN_ENDS:
            events += await self._tokens(hook, session, change_id)
        if hook.hook_event_name == "SessionEnd" and change_id == prompts.change_of(hook.session_id):
            failed = (await self._detecting.known(change_id)).tests_passed is False
            events += prompts.ended(hook.session_id, await self._deliverables.moment(change_id), failed=failed)
        return events

    def _edited_path(self, hook: Hook) -> str | None:
        """The file that a hook says was edited, relative to the workspace; None of others."""
        edited = claude_code.edited_file(hook)
        if edited is None:
            return None
        path = Path(edited)
        if path.is_absolute():
            return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else None
        return path.as_posix()

    async def _change_of(self, hook: Hook, session: _Session, path: str | None) -> str | None:
        """The deliverable that a hook belongs to: by the file it edited, the spec that its session edited last, the
        branch, then what the session worked on.

        A spec that was edited counts until another branch is checked out. What a session worked on is still its own
        after the end, until it is asked for something else.
        """
        change_id = self._detecting.change_at(path) if path is not None else None
        if change_id is not None:
            session.folder = (change_id, await self._detecting.branch())
            return change_id
        if session.folder is not None:
            change_id, branch = session.folder
            if change_id in self._detecting.open_ids and await self._detecting.branch() == branch:
                return change_id
        own = session.change_id
        found = await self._detecting.at_work(own)
        # It may have ended while the branch was asked for: the turn that archives it is its own.
        if own is not None and own not in self._detecting.open_ids and hook.hook_event_name != "UserPromptSubmit":
            return own
        if found is None or await self._is_of_another(found.change_id, hook.session_id):
            return None
        return found.change_id

    async def _is_of_another(self, change_id: str, session: str) -> bool:
        """Whether a deliverable is what another session's prompt began, and so that session's alone."""
        spec = (await self._detecting.known(change_id)).spec
        return spec.framework == prompts.SOURCE and change_id != prompts.change_of(session)

    async def _last_call(self, hook: Hook, change_id: str) -> list[Event]:
        """The call of a tool during which a deliverable ended: that is what archives it."""
        ended, took = (await self._detecting.known(change_id)).ended_at, claude_code.duration(hook)
        at = await self._deliverables.moment(change_id)
        if not was_under_way(at, took, ended):
            return []
        return claude_code.call_of(hook, change_id, at)

    async def _prompted(self, hook: Hook, session: _Session, now: float) -> list[Event]:
        """A prompt while nothing is open but what other sessions' prompts began begins a deliverable, where that is
        wanted; in a session that was over it goes on.
        """
        settings = self._detecting.settings
        if not settings.prompts or hook.hook_event_name != "UserPromptSubmit" or not (hook.prompt or "").strip():
            return []
        for each in self._detecting.open_ids:
            if not await self._is_of_another(each, hook.session_id):
                return []
        session.change_id = prompts.change_of(hook.session_id)
        if (await self._detecting.known(session.change_id)).ended:
            return prompts.resumed(hook.session_id, await self._deliverables.moment(session.change_id))
        agent = claude_code.agent_of(hook)
        text = hook.prompt or ""
        return prompts.events_of(text, hook.session_id, now, keep_text=settings.prompt_texts, agent=agent)

    def _waited(self, hook: Hook, session: _Session) -> tuple[str, float] | None:
        """Time that a person was waited for (human in the loop), since the hook that asked."""
        waited = None
        if claude_code.answers(hook):
            waited, session.waiting = session.waiting, None
        why = claude_code.waits_for(hook)
        if why is not None and session.waiting is None:
            session.waiting = (why, self._now())
        return waited

    async def _tokens(self, hook: Hook, session: _Session, change_id: str) -> list[Event]:
        """Token usage read from the session's transcripts, from where reading stopped."""
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

    async def _session(self, name: str) -> _Session:
        """The session of that name; of many the least recently used is forgotten (LRU)."""
        session = self._sessions.get(name) or self._sessions.setdefault(name, _Session(await self._worked_on(name)))
        self._sessions.move_to_end(name)
        while len(self._sessions) > KEPT_SESSIONS:
            self._sessions.popitem(last=False)
        return session

    async def _worked_on(self, name: str) -> str | None:
        """The deliverable that the log last told of in this session: of before this daemon began."""
        last: tuple[float, str] | None = None
        for each in await self._deliverables.all():
            if name[:200] in each.sessions:
                events = await self._deliverables.events(each.change_id)
                at = max((event.at for event in events if event.session == name[:200]), default=0.0)
                last = max(last or (at, each.change_id), (at, each.change_id))
        return None if last is None else last[1]
