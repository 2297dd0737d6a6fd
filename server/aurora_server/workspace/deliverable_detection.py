"""Noticing deliverables: the indexer's changes, commits and hooks are looked at, and what is new of them is recorded.

One task per workspace works off what others only note: paths, test runs, that HEAD may have moved. Files are read in
threads; a save outside of specs costs a look at its name and, while something is open, one at the branch.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.deliverables import Deliverables
from aurora_deliverables.detection import change_history, commits, junit, work_phase
from aurora_deliverables.detection.attribution import Attributed, Open, attribute
from aurora_deliverables.detection.names_in_tests import TestTitle
from aurora_deliverables.detection.observation import Observation, news, summed
from aurora_deliverables.detection.recorded_state import RecordedState, passed, told
from aurora_deliverables.detection.spec_check import check, told_by_tests
from aurora_deliverables.events import (
    MAX_CRITERIA,
    Ended,
    Event,
    Renamed,
    SpecChecked,
    TasksCounted,
    TestsRan,
    ToolCalled,
)
from aurora_deliverables.evidence import event_id, shown
from aurora_indexer.files.gitdir import Head, find_git_directory, read_head
from aurora_indexer.git import commands
from aurora_indexer.index_runs import IndexProgress, Touched
from aurora_indexer.indexer import Indexer
from aurora_memory import StoreError
from aurora_memory.store import Store, deliverable_log, file_reader
from aurora_server.configuration.settings import DetectSettings
from aurora_server.workspace.change_history import WorkspaceGit
from aurora_server.workspace.spec_files import OPENSPEC, Specs
from aurora_server.workspace.titles_of_tests import placed_titles, test_titles

logger = logging.getLogger(__name__)

QUIET_SECONDS = 0.25
"""How long nothing may be noted before it is looked at: an agent writes several files at once …"""

LONGEST_HOLD = 1.0
"""… and this is how long it may take at most."""

KEPT_TOLD = 256
MAX_PATHS = 5000
HEAD_FACT = "deliverables_head"
MAX_LOOKED_FOR = 100
"""Removed changes that are looked for on other branches at a time: each costs three calls of git."""

ASK_AGAIN = 2.0
"""Seconds, at the least, after which git is asked again for a spec that lies on another branch."""


class _Noted(Struct):
    """Work that is noted: specs by source and id, edited files, test runs, and whether HEAD may have moved.

    `unsure` are files that changed when HEAD did: by a checkout, or edited just before or after a commit.
    """

    specs: set[tuple[str, str]]
    edits: dict[str, None]
    unsure: dict[str, None]
    tests: list[Event]
    head: bool = False

    def __bool__(self) -> bool:
        return bool(self.specs or self.edits or self.unsure or self.tests or self.head)


class DeliverableDetection:
    """Watches over one workspace's deliverables. `close` it before the store. Belongs to the event loop's thread."""

    def __init__(
        self,
        root: Path,
        store: Store,
        deliverables: Deliverables,
        indexer: Indexer,
        settings: DetectSettings,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.settings = settings
        self._root = root
        self._store = store
        self._deliverables = deliverables
        self._indexer = indexer
        self._now = now
        self._specs = Specs(root, settings)
        self._git = WorkspaceGit(root)
        self._last_seen: dict[tuple[str, str], Observation] = {}
        self._noted = _Noted(set(), {}, {}, [])
        self._wake = asyncio.Event()
        self._last_note = 0.0
        self._told: OrderedDict[str, RecordedState] = OrderedDict()
        self._open: dict[str, Deliverable] = {}
        self._head: Head | None = None
        self._head_before: Head | None = None
        self._gone: dict[tuple[str, str], float] = {}
        self._heard: set[str] = set()
        self._seen_on: dict[str, str | None] = {}
        self._edited_at: dict[str, float] = {}
        self._looked_for = 0
        self._cut: set[str] = set()
        self._begun = False
        self._leave = [deliverables.listen(self._told_of)]
        if self._specs.any or settings.work:
            self._leave.append(indexer.hear(self._touched))
        if settings.git or settings.work:
            self._leave.append(indexer.listen(self._run_ended))
        self._task = asyncio.create_task(self._work(), name=f"detect deliverables of {root}")

    async def close(self) -> None:
        """Stop; what was noted and not looked at is found again when the workspace is opened next."""
        for leave in self._leave:
            leave()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def forget(self) -> None:
        """Look at everything anew: the memory file was exchanged, or more came into it."""
        self._told.clear()
        self._begun = False
        self._wake.set()

    @property
    def open_ids(self) -> list[str]:
        """The deliverables that are open."""
        return list(self._open)

    def change_at(self, path: str) -> str | None:
        """The deliverable whose spec the file at `path` (relative, `/`) is a part of, where one is known."""
        names = (self._specs.change_id(source, key) for source, key in self._specs.of(path))
        return next((each for name in names if (each := self._deliverables.named(name)) in self._open), None)

    async def at_work(self, sticky: str | None = None) -> Attributed | None:
        """The deliverable that is worked on now: the branch's, else `sticky` while it is open, else the only one."""
        if not self._open:
            return None
        branch = await self._branch()
        open_ = [Open(each.change_id, each.names) for each in self._open.values()]
        found = attribute(open_, branch)
        if sticky in self._open and (found is None or not found.why.startswith("on branch")):
            return Attributed(sticky, "the session's")
        return found

    async def known(self, change_id: str) -> RecordedState:
        """Recorded state of a deliverable: what was told of it so far."""
        state = self._told.get(change_id)
        if state is None:
            events = await self._deliverables.events(change_id)
            state = await asyncio.to_thread(told, change_id, events) if len(events) > 500 else told(change_id, events)
            self._told[change_id] = state
            while len(self._told) > KEPT_TOLD:
                self._told.popitem(last=False)
        return state

    async def check_spec(
        self, change_id: str, tests: Sequence[TestTitle] = (), seen: Observation | None = None
    ) -> list[Event]:
        """What of a deliverable's spec is met, by these tests or those that ran last: events to be recorded, if any."""
        known = await self._deliverables.get(change_id)
        spec = known.spec_source if known is not None else None
        if known is None or (seen is None and (spec is None or spec.framework not in self._specs.sources)):
            return []
        if seen is None:
            assert spec is not None and spec.framework is not None, "one of those that are looked for"
            name = (known.change_id, *known.names)[-1]
            key = self._specs.key_of(spec.framework, name, spec.spec_id)
            seen = await asyncio.to_thread(self._specs.see, spec.framework, key)
        checked = await self._checked(known.change_id, seen, tests) if seen is not None else None
        state = await self.known(known.change_id)
        if seen is None or checked is None or checked == state.checked:
            return []
        at = await self._deliverables.moment(known.change_id)
        id_ = event_id(known.change_id, "spec_check", checked, state.count("spec_check"))
        return [Event(id_, known.change_id, at, checked, source=seen.source, evidence=shown(summed(checked)))]

    async def _checked(self, change_id: str, seen: Observation, tests: Sequence[TestTitle] = ()) -> SpecChecked | None:
        """What a spec's criteria are found to be; None where it states none."""
        many = len(seen.criteria.requirements) + len(seen.criteria.constraints)
        if not seen.criteria.stated or many > MAX_CRITERIA:  # of a part of them nothing follows
            return None
        state = await self.known(change_id)
        events = await self._deliverables.events(change_id)
        runs = [event for event in events if isinstance(event.what, TestsRan)]
        last = runs[-1] if runs else None
        whole = last is not None and isinstance(last.what, TestsRan) and passed(last.what)
        indexed = await self._store.read(file_reader.files)

        def look() -> SpecChecked:
            titles = test_titles(self._root, indexed)
            # Who tells no names tells of all: where nothing failed, whatever is named there passed.
            by_names = tests or (last is not None and last.source == junit.SOURCE)
            placed = (
                placed_titles(tests, titles) if by_names else [replace(each, passed=whole or None) for each in titles]
            )
            return check(seen.criteria, placed, told_by_tests(state.checked) if by_names else {})

        return await asyncio.to_thread(look)

    def _touched(self, touched: Touched) -> None:
        """Sort what changed: by name alone, as this is asked of every save."""
        for path in (*touched.changed, *touched.removed):
            self._noted.specs.update(self._specs.of(path))
        if self.settings.work and (self._open or self._noted.specs):
            noted = self._noted.edits if touched.edited else self._noted.unsure
            work = (path for path in touched.changed if self._specs.is_work(path))
            for path, _ in zip(work, range(MAX_PATHS - len(noted)), strict=False):
                noted[path] = None
        self._note()

    def _run_ended(self, progress: IndexProgress | None) -> None:
        if progress is None:
            self._noted.head = True
            self._note()

    def _told_of(self, events: Sequence[Event], changed: Sequence[Deliverable]) -> None:
        for deliverable in changed:
            if deliverable.status in ("completed", "failed") or deliverable.kind == "run":
                self._open.pop(deliverable.change_id, None)
                self._edited_at.pop(deliverable.change_id, None)
            else:
                self._open[deliverable.change_id] = deliverable
        for event in events:
            if not isinstance(event.what, ToolCalled):
                self._told.pop(event.change_id, None)
            if isinstance(event.what, TestsRan) and self.settings.work:
                self._noted.tests.append(event)
                self._note()

    def _note(self) -> None:
        if self._noted:
            self._last_note = time.monotonic()
            self._wake.set()

    async def _work(self) -> None:
        await self._indexer.first_run()
        while True:
            try:
                if not self._begun:
                    self._begun = True
                    await self._begin()
                await self._wait()
                noted, self._noted = self._noted, _Noted(set(), {}, {}, [])
                await self._look(noted)
            except (StoreError, OSError) as error:
                logger.warning("deliverables not looked at", extra={"root": str(self._root), "error": str(error)})
                await asyncio.sleep(LONGEST_HOLD)
            except Exception:  # detection goes on, whatever one file or commit did to it
                logger.exception("deliverables not looked at", extra={"root": str(self._root)})
                await asyncio.sleep(LONGEST_HOLD)

    async def _begin(self) -> None:
        """Look at every spec there is, and at open deliverables whose spec may have moved meanwhile.

        What was told of in another work tree first, or by a colleague, is none of this folder unless its spec is here.
        """
        self._heard = await self._store.read(deliverable_log.heard_changes)
        self._open = {
            each.change_id: each
            for each in await self._deliverables.all()
            if each.status not in ("completed", "failed") and each.kind == "change"
            if each.change_id not in self._heard
        }
        self._head = await asyncio.to_thread(self._read_head)
        files = await self._store.read(file_reader.files)
        found = await asyncio.to_thread(self._specs.all, list(files))
        for each in self._open.values():
            spec = each.spec_source
            if spec is not None and spec.framework in self._specs.sources:
                found.add(
                    (
                        spec.framework,
                        self._specs.key_of(spec.framework, (each.change_id, *each.names)[-1], spec.spec_id),
                    )
                )
        await self._look(_Noted(found, {}, {}, [], head=self.settings.git))

    async def _wait(self) -> None:
        """Until something was noted and then nothing for a moment, or a folder is gone for too long."""
        due = min(self._gone.values(), default=None)
        try:
            async with asyncio.timeout(None if due is None else max(0.0, due - time.monotonic())):
                await self._wake.wait()
        except TimeoutError:
            self._noted.specs.update(key for key, at in self._gone.items() if at <= time.monotonic())
        self._wake.clear()
        first = time.monotonic()
        while self._noted and time.monotonic() - self._last_note < QUIET_SECONDS:
            if time.monotonic() - first >= LONGEST_HOLD:
                break
            await asyncio.sleep(QUIET_SECONDS / 2)

    async def _look(self, noted: _Noted) -> None:
        ended: list[Observation] = []
        found: dict[tuple[str, str], Observation] = {}
        missed: list[tuple[str, str]] = []
        for source, key in sorted(noted.specs):
            seen = await asyncio.to_thread(self._specs.see, source, key)
            if seen is None:
                missed.append((source, key))
            else:
                found[source, key] = seen
        for mark in missed:
            await self._renamed(mark, found)
        for mark, seen in found.items():
            self._gone.pop(mark, None)
            self._seen_on[mark[1]] = await self._branch()
            self._last_seen[mark] = seen
            if seen.ending is not None:
                ended.append(seen)
            else:
                await self._look_at_spec(seen)
        for source, key in missed:
            await self._missed(source, key)
        if noted.unsure and await self._only_committed():
            noted.edits.update(noted.unsure)
        if noted.edits or noted.tests:
            await self._look_at_work(noted)
        for seen in ended:  # what was done before the end, and noted with it, counts
            await self._look_at_spec(seen)
        if noted.head:
            before = self._head
            await self._look_at_commits()
            # Git moves HEAD before the indexer sees it: the files of that run may come with the next look.
            self._head_before = before if before != self._head and not noted.unsure else None
            await self._look_at_history()

    async def _look_at_spec(self, seen: Observation) -> None:
        if seen.source == OPENSPEC and self.settings.git:
            dated = await self._dated_by_git(seen)
            if dated is None:
                return
            seen = dated
        seen = replace(seen, change_id=self._deliverables.named(seen.change_id))
        if seen.change_id in self._heard and seen.ending is None:
            known = await self._deliverables.get(seen.change_id)
            if known is not None and known.status not in ("completed", "failed"):
                self._open.setdefault(seen.change_id, known)
        before = await self.known(seen.change_id)
        if seen.ending is not None and before.started_at is not None and (not before.ended or before.abandoned):
            seen = replace(seen, checked=await self._checked(seen.change_id, seen))
        events = news(seen, before, self._now())
        if not events:
            return
        await self._deliverables.record(events)
        if any(isinstance(event.what, TasksCounted) for event in events):
            after = await self.known(seen.change_id)
            run = after.tests_at
            if run is not None and self._edited_at.get(seen.change_id, 0.0) <= run:
                await self._record(work_phase.finished(after, self._now()))

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
        if elsewhere:
            self._gone[mark] = time.monotonic() + max(ASK_AGAIN, minutes * 60)
            return
        self._gone.pop(mark, None)
        removed = None
        if source == OPENSPEC and self.settings.git:
            history = (await self._git.history()).get(name)
            if history is not None:
                await self._told_by_git(history)
                if change_id not in self._open or history.name != name:
                    return
                removed = history.removed
        before = await self.known(change_id)
        said = f"{place} was removed and not archived" + ("" if removed else f", {minutes:g} min ago")
        ended = Ended("failed", "incomplete", said)
        id_ = event_id(change_id, "deliverable_end", before.count("deliverable_end"))
        at = max(self._now() - minutes * 60 if removed is None else removed.at, before.told_at)
        await self._record([Event(id_, change_id, at, ended, source=source, evidence=shown(said))])

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
            if (await self.known(self._deliverables.named(seen.change_id))).started_at is not None:
                continue
            said = f"{self._specs.place(source, key)} is {self._specs.place(*mark)} now"
            id_ = event_id(change_id, "rename", seen.change_id)
            what = Renamed(seen.change_id)
            await self._record([Event(id_, change_id, self._now(), what, source=source, evidence=shown(said))])
            self._last_seen.pop(gone, None)
            self._gone.pop(gone, None)
            return

    async def _dated_by_git(self, seen: Observation) -> Observation | None:
        """An observation with the times that git's log has, where its files are as they were committed.

        None of one whose begin is before what a shallow clone has: how long it takes would be made up.
        """
        change_id = self._deliverables.named(seen.change_id)
        told = await self.known(change_id)
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

    async def _look_at_history(self) -> None:
        """What git's log tells of changes that nobody told of, or told otherwise: of every branch, by its own times."""
        if not self.settings.git or OPENSPEC not in self._specs.sources or not await self._git.moved():
            return
        if not await asyncio.to_thread(self._specs.has_changes) and not self._open:
            return  # a long history is not searched for what is not in use
        history = await self._git.history()
        for name in [name for name in self._cut if name in history and not history[name].cut]:
            self._cut.discard(name)  # more of the log was fetched
            seen = await asyncio.to_thread(self._specs.see, OPENSPEC, name)
            if seen is not None:
                await self._look_at_spec(seen)
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
            if (await self.known(change_id)).started_at is None:
                change_id = self._deliverables.named(name)
        told = await self.known(change_id)
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
                    await self._look_at_spec(seen)
                    return
        deliverable = await self._deliverables.get(change_id)
        names = deliverable.names if deliverable is not None else ()
        if not until_end:
            history = replace(history, archived=None)
        before = await self.known(change_id)
        await self._record(change_history.events_of(history, before, change_id, names, given_up=given_up))

    async def _is_given_up(self, history: change_history.ChangeHistory) -> bool:
        """Whether a change's folder was removed and not archived, and is on no other branch and in no stash."""
        if history.removed is None or self._looked_for >= MAX_LOOKED_FOR:
            return False
        self._looked_for += 1
        if await asyncio.to_thread(self._specs.see, OPENSPEC, history.name) is not None:
            return False
        return await self._git.elsewhere(self._specs.place(OPENSPEC, history.name)) is False

    async def _look_at_work(self, noted: _Noted) -> None:
        """Edits and test runs in the order in which they happened."""
        edited_at = await asyncio.to_thread(_last_change, self._root, list(noted.edits)) if noted.edits else None
        earlier = [run for run in noted.tests if edited_at is None or run.at < edited_at]
        await self._tested(earlier)
        if edited_at is not None:
            found = await self.at_work()
            if found is not None:
                self._edited_at[found.change_id] = edited_at
                state = await self.known(found.change_id)
                await self._record(work_phase.edited(list(noted.edits), state, edited_at, found.why))
        await self._tested([run for run in noted.tests if run not in earlier])

    async def _tested(self, runs: Iterable[Event]) -> None:
        for run in sorted(runs, key=lambda event: event.at):
            assert isinstance(run.what, TestsRan), "only test runs are noted"
            state = await self.known(run.change_id)
            if run.at >= state.phase_at:  # what is told afterwards of long ago is no phase that begins now
                await self._record(work_phase.tested(run.what, state, run.at))
            if run.source != junit.SOURCE:  # who tells the names of tests has them looked at with it
                await self._record(await self.check_spec(run.change_id))

    async def _look_at_commits(self) -> None:
        """Commits that came since HEAD was looked at last, the oldest first."""
        head = self._head = await asyncio.to_thread(self._read_head)
        if not self.settings.git:
            return
        last = await self._store.read(file_reader.fact, HEAD_FACT)
        commit = head.commit if head is not None else None
        if commit is None or commit == last:
            return
        said = await commands.answer(self._root, [*commits.LOG, f"{last}..{commit}"]) if last else None
        found = await asyncio.to_thread(commits.read_log, said) if said else []
        if found:
            reflog = await commands.answer(self._root, commits.REFLOG) or b""
            made_here = commits.read_reflog(reflog)
            for each in found:
                await self._look_at_commit(each, each.hash in made_here)
        await self._store.remember(HEAD_FACT, commit)

    async def _only_committed(self) -> bool:
        """Whether HEAD moved since the indexer's run before, and only by commits made here: those change no file."""
        head, last = await asyncio.to_thread(self._read_head), self._head
        if head == last:
            last = self._head_before
        if head is None or last is None or head.ref != last.ref or head.commit in (None, last.commit):
            return False
        said = await commands.answer(self._root, commits.REFLOG)
        return said is not None and commits.only_commits(said, last.commit)

    async def _look_at_commit(self, commit: commits.Commit, made_here: bool) -> None:
        name, why = commits.named(commit, self._open), "which names it"
        if name is None and made_here:
            found = await self.at_work()
            if found is None or commit.at + 1 < (await self.known(found.change_id)).phase_at:
                return
            name, why = found.change_id, found.why
        if name is not None:
            code = any(self._specs.is_work(path) for path in commit.files)
            await self._record(commits.events_of(commit, await self.known(name), why, touches_code=code))

    async def _record(self, events: Sequence[Event]) -> None:
        if events:
            recorded = await self._deliverables.record(events)
            for refusal in recorded.refused:
                logger.info("event refused", extra={"event": refusal.event_id, "reason": refusal.reason})

    async def _branch(self) -> str | None:
        head = await asyncio.to_thread(self._read_head)
        return head.ref.removeprefix("refs/heads/") or None if head is not None else None

    def _read_head(self) -> Head | None:
        repository = find_git_directory(self._root)
        return read_head(repository) if repository is not None else None


def _last_change(root: Path, paths: Sequence[str]) -> float | None:
    """The latest mtime of some files, or now for what has none."""
    latest = None
    for path in paths:
        try:
            at = (root / path).stat(follow_symlinks=False).st_mtime
        except OSError:
            continue
        latest = at if latest is None else max(latest, at)
    return min(latest, time.time()) if latest is not None else None
