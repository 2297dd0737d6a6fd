"""Specs as they are seen in the work tree and in git's log: what is new of one is told, with git's times.

One that is gone is renamed, on another branch, archived elsewhere, or given up.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from msgspec.structs import replace

from aurora_deliverables.detection import change_history, work_phase
from aurora_deliverables.detection.observation import Observation, news
from aurora_deliverables.events import Ended, Event, Renamed, TasksCounted
from aurora_deliverables.evidence import event_id, shown
from aurora_indexer.git.commands import GitSilent
from aurora_server.configuration.settings import DetectSettings
from aurora_server.workspace.change_history import WorkspaceGit
from aurora_server.workspace.open_deliverables import OpenDeliverables
from aurora_server.workspace.spec_checks import SpecChecks
from aurora_server.workspace.spec_files import OPENSPEC, Specs

MAX_LOOKED_FOR = 100
"""Removed changes that are looked for on other branches at a time: each costs three calls of git."""

ASK_AGAIN = 2.0
"""Seconds, at the least, after which git is asked again for a spec that lies on another branch."""


class SpecObservations:
    """Observations of the specs of the workspace at `root`, and since when one is gone. `branch` answers HEAD's."""

    def __init__(
        self,
        root: Path,
        settings: DetectSettings,
        specs: Specs,
        checks: SpecChecks,
        open_: OpenDeliverables,
        branch: Callable[[], Awaitable[str | None]],
        now: Callable[[], float],
    ) -> None:
        self.settings = settings
        self._specs = specs
        self._checks = checks
        self._open = open_
        self._deliverables = open_.deliverables
        self._branch = branch
        self._now = now
        self._git = WorkspaceGit(root)
        self._last_seen: dict[tuple[str, str], Observation] = {}
        self._gone: dict[tuple[str, str], float] = {}
        self._seen_on: dict[str, str | None] = {}
        self._looked_for = 0
        self._cut: set[str] = set()

    @property
    def due(self) -> float | None:
        """When the first of those that are gone has been gone for long enough, by `time.monotonic`."""
        return min(self._gone.values(), default=None)

    def overdue(self) -> list[tuple[str, str]]:
        """Those that are gone for long enough to be looked for."""
        return [key for key, at in self._gone.items() if at <= time.monotonic()]

    def is_missing(self, change_id: str) -> bool:
        """Whether the spec of a deliverable was looked for and is not in the work tree."""
        return any(self._deliverables.named(self._specs.change_id(*mark)) == change_id for mark in self._gone)

    async def see(self, noted: Iterable[tuple[str, str]]) -> list[Observation]:
        """Look at these specs and tell what is new of them; those that ended are handed back, to be told last."""
        ended: list[Observation] = []
        found: dict[tuple[str, str], Observation] = {}
        missed: list[tuple[str, str]] = []
        for source, key in sorted(noted):
            seen = await asyncio.to_thread(self._specs.see, source, key)
            if seen is None:
                missed.append((source, key))
            else:
                found[source, key] = seen
        for mark in missed:
            await self._renamed(mark, found)
        self._forget_ended()
        for mark, seen in found.items():
            self._gone.pop(mark, None)
            self._seen_on[mark[1]] = await self._branch()
            self._last_seen[mark] = seen
            if seen.ending is not None:
                ended.append(seen)
            else:
                await self.look_at(seen)
        for source, key in missed:
            await self._missed(source, key)
        return ended

    def _forget_ended(self) -> None:
        """Let go of those that ended: one that comes back is looked at again."""
        for (source, key), seen in list(self._last_seen.items()):
            if (
                seen.ending is not None
                and self._deliverables.named(self._specs.change_id(source, key)) not in self._open
            ):
                del self._last_seen[source, key]

    async def look_at(self, seen: Observation) -> None:
        """Tell what is new of a spec as it is seen now."""
        if seen.source == OPENSPEC and self.settings.git:
            dated = await self._dated_by_git(seen)
            if dated is None:
                return
            seen = dated
        seen = replace(seen, change_id=self._deliverables.named(seen.change_id))
        if seen.ending is None:
            await self._open.is_here(seen.change_id)
        before = await self._open.known(seen.change_id)
        if seen.ending is not None and before.started_at is not None and (not before.ended or before.abandoned):
            seen = replace(seen, checked=await self._checks.checked(seen.change_id, seen))
        events = news(seen, before, self._now())
        if not events:
            return
        await self._deliverables.record(events)
        if any(isinstance(event.what, TasksCounted) for event in events):
            after = await self._open.known(seen.change_id)
            run = after.tests_at
            if run is not None and self._open.edited_at.get(seen.change_id, 0.0) <= run:
                await self._open.record(work_phase.finished(after, self._now()))

    async def _missed(self, source: str, key: str) -> None:
        """A spec is not there. It may be on another branch; where it is not, it is given some time to come back."""
        name = self._specs.change_id(source, key)
        change_id = self._deliverables.named(name)
        mark = (source, key)
        known = self._open.get(change_id)
        if known is None or name != (known.names[-1] if known.names else change_id):
            self._gone.pop(mark, None)
            return
        minutes = self.settings.abandoned_minutes
        due = self._gone.setdefault(mark, time.monotonic() + minutes * 60)
        if time.monotonic() < due:
            return
        place = self._specs.place(source, key)
        elsewhere = None if self._specs.is_plugged(source) else await self._git.elsewhere(place)
        if elsewhere is None and self._seen_on.get(key, "") != await self._branch():
            self._gone.pop(mark, None)
            return
        history = None
        try:
            if not elsewhere and source == OPENSPEC and self.settings.git:
                history = (await self._git.history_now()).get(name)
        except GitSilent:
            elsewhere = True  # it may have been archived since the log was read: nothing is said to be given up
        if elsewhere:
            self._gone[mark] = time.monotonic() + max(ASK_AGAIN, minutes * 60)
            return
        self._gone.pop(mark, None)
        if history is not None:
            await self._told_by_git(history)
            if change_id not in self._open or history.name != name:
                return
        removed = None if history is None else history.removed
        before = await self._open.known(change_id)
        said = f"{place} was removed and not archived" + ("" if removed else f", {minutes:g} min ago")
        ended = Ended("failed", "incomplete", said)
        id_ = event_id(change_id, "deliverable_end", before.count("deliverable_end"))
        at = max(self._now() - minutes * 60 if removed is None else removed.at, before.told_at)
        await self._open.record([Event(id_, change_id, at, ended, source=source, evidence=shown(said))])

    async def _renamed(self, gone: tuple[str, str], found: dict[tuple[str, str], Observation]) -> None:
        """A spec is not there, and one that nobody knew is, with the same files as they were: that has a new name."""
        source, key = gone
        name, was = self._specs.change_id(source, key), self._last_seen.get(gone)
        change_id = self._deliverables.named(name)
        if was is None or change_id not in self._open:
            return
        files = {(each.phase, each.at) for each in was.artefacts}
        for mark, seen in found.items():
            if (
                mark[0] != source
                or seen.change_id == name
                or not files & {(one.phase, one.at) for one in seen.artefacts}
            ):
                continue
            if (await self._open.known(self._deliverables.named(seen.change_id))).started_at is not None:
                continue
            said = f"{self._specs.place(source, key)} is {self._specs.place(*mark)} now"
            id_ = event_id(change_id, "rename", seen.change_id)
            what = Renamed(seen.change_id)
            await self._open.record([Event(id_, change_id, self._now(), what, source=source, evidence=shown(said))])
            self._last_seen.pop(gone, None)
            self._gone.pop(gone, None)
            return

    async def _dated_by_git(self, seen: Observation) -> Observation | None:
        """An observation with the times that git's log has, where its files are as they were committed.

        None of one whose begin is before what a shallow clone has: how long it takes would be made up. And of one that
        was given up, where an old state of the work is looked at: it is there because it was there.
        """
        change_id = self._deliverables.named(seen.change_id)
        told = await self._open.known(change_id)
        if told.ended and not told.abandoned:
            return seen
        history = (await self._git.history()).get(seen.change_id)
        if history is None:
            return seen
        if history.cut:
            if told.started_at is None:
                self._cut.add(seen.change_id)
            return seen if told.started_at is not None else None
        folder = {each.path.rpartition("/")[0] for each in seen.artefacts}
        if told.started_at is not None and seen.ending is None and not await self._came_with_git(folder):
            return seen
        gone = history.removed
        if (
            told.abandoned
            and gone is not None
            and await self._came_with_git(folder)
            and not await self._git.touched_since(gone.commit, self._specs.place(OPENSPEC, seen.change_id))
        ):
            return None
        archived = history.archived if seen.ending is not None else None
        await self._told_by_git(history, until_end=False)
        if not await self._came_with_git(folder):
            return seen
        dates = {phase: dated.at for phase, dated in history.phases}
        artefacts = tuple(replace(each, at=min(each.at, dates.get(each.phase, each.at))) for each in seen.artefacts)
        tasks = seen.tasks
        if tasks is not None and history.tasks_at is not None:
            tasks = replace(tasks, at=min(tasks.at, history.tasks_at))
        ending = seen.ending
        if ending is not None and archived is None and history.reopened is not None:
            return None  # it was taken back out of the archive elsewhere since
        if ending is not None and archived is not None:
            ending = replace(ending, at=min(ending.at, archived.at))
        returned = history.returned.at if history.returned is not None else None
        return replace(seen, artefacts=artefacts, tasks=tasks, ending=ending, returned_at=returned)

    async def _came_with_git(self, places: Iterable[str]) -> bool:
        return await self._git.is_clean(sorted(places))

    async def look_at_history(self) -> None:
        """What git's log tells of changes that nobody told of, or told otherwise: of every branch, by its own times.

        Raises GitSilent.
        """
        if not self.settings.git or OPENSPEC not in self._specs.sources or not await self._git.moved():
            return
        if not await asyncio.to_thread(self._specs.has_changes) and not self._open:
            return  # a long history is not searched for what is not in use
        history = await self._git.history_now()
        for name in [name for name in self._cut if name in history and not history[name].cut]:
            self._cut.discard(name)  # more of the log was fetched
            seen = await asyncio.to_thread(self._specs.see, OPENSPEC, name)
            if seen is not None:
                await self.look_at(seen)
        self._looked_for = 0
        for each in {id(one): one for one in history.values()}.values():
            await self._told_by_git(each)

    async def _told_by_git(self, history: change_history.ChangeHistory, *, until_end: bool = True) -> None:
        """Tell what the log tells of a change: of one that nobody knows only where it is over, or here to be seen.

        One that is open on a branch which nobody checked out here is nobody's work here until then.
        """
        given_up = False
        change_id = self._deliverables.named(history.change_id)
        for name, _ in history.names:  # what was noticed under a later name first has that one
            if (await self._open.known(change_id)).started_at is None:
                change_id = self._deliverables.named(name)
        told = await self._open.known(change_id)
        if told.started_at is None:
            if history.cut:
                return
            change_id = history.change_id
            given_up = until_end and history.archived is None and await self._is_given_up(history)
            if until_end and history.archived is None and not given_up:
                return
            if until_end and not given_up:
                seen = await asyncio.to_thread(self._specs.see, OPENSPEC, history.name)
                if seen is not None and seen.ending is not None:
                    await self.look_at(seen)
                    return
        deliverable = await self._deliverables.get(change_id)
        names = deliverable.names if deliverable is not None else ()
        if not until_end:
            history = replace(history, archived=None)
        before = await self._open.known(change_id)
        await self._open.record(change_history.events_of(history, before, change_id, names, given_up=given_up))

    async def _is_given_up(self, history: change_history.ChangeHistory) -> bool:
        """Whether a change's folder was removed and not archived, and is on no other branch and in no stash."""
        if history.removed is None or self._looked_for >= MAX_LOOKED_FOR:
            return False
        self._looked_for += 1
        if await asyncio.to_thread(self._specs.see, OPENSPEC, history.name) is not None:
            return False
        return await self._git.elsewhere(self._specs.place(OPENSPEC, history.name)) is False
