"""Detection of deliverables in a workspace (background task): what is new in its specs, commits, test runs and hooks is
recorded as events.

One task per workspace works off what others only note: paths, test runs, that HEAD may have moved. Files are read in
threads; a save outside of specs costs a look at its name and, while something is open, one at the branch.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.deliverables import Deliverables
from aurora_deliverables.detection import commits, junit, work_phase
from aurora_deliverables.detection.attribution import ONLY_ONE, Attributed, Open, attribute
from aurora_deliverables.detection.names_in_tests import TestTitle
from aurora_deliverables.detection.recorded_state import RecordedState
from aurora_deliverables.events import Event, TestsRan
from aurora_indexer.files.gitdir import Head, find_git_directory, read_head
from aurora_indexer.git import commands
from aurora_indexer.git.commands import GitSilent
from aurora_indexer.index_runs import ChangedFiles, IndexProgress
from aurora_indexer.indexer import Indexer
from aurora_memory import StoreError
from aurora_memory.store import Store, file_reader
from aurora_server.configuration.settings import DetectSettings
from aurora_server.workspace.change_history import LOG_SECONDS
from aurora_server.workspace.open_deliverables import OpenDeliverables
from aurora_server.workspace.spec_checks import SpecChecks
from aurora_server.workspace.spec_files import Specs
from aurora_server.workspace.spec_observations import SpecObservations

logger = logging.getLogger(__name__)

QUIET_SECONDS = 0.25
"""How long nothing may be noted before it is looked at: an agent writes several files at once …"""

LONGEST_HOLD = 1.0
"""… and this is how long it may take at most."""

HOOK_SECONDS = 3.0
"""How long after an edit its agent's hook may still say whose it is …"""

AGENT_SECONDS = 600.0
"""… where an agent has told of work so lately."""

ASK_AGAIN = 1.0
"""Seconds after which a git that did not answer is asked again, twice as many each time …"""

LONGEST_PAUSE = 600.0
"""… and this many at most."""

MAX_PATHS = 5000
HEAD_FACT = "deliverables_head"
"""The commit up to which commits were looked at …"""

NO_COMMIT = ""
"""… and what it is where there was none yet."""


class _PendingChanges(Struct):
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

    def take_back(self, earlier: _PendingChanges) -> None:
        """Note again what could not be looked at."""
        self.specs |= earlier.specs
        self.edits |= earlier.edits
        self.unsure |= earlier.unsure
        self.tests = [*earlier.tests, *self.tests]
        self.head = self.head or earlier.head


async def remember_start(root: Path, store: Store) -> None:
    """Remember the commit HEAD is at when a workspace is opened for the first time: those after it are looked at."""
    if await store.read(file_reader.fact, HEAD_FACT) is None:
        commit = await asyncio.to_thread(commands.head, root)
        await store.remember(HEAD_FACT, commit or NO_COMMIT)


class DeliverableDetection:
    """Detection of one workspace's deliverables. `close` it before the store. Belongs to the event loop's thread."""

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
        self._specs = Specs(root, settings)
        self._open = OpenDeliverables(deliverables)
        self._checks = SpecChecks(root, store, self._specs, self._open)
        self._observations = SpecObservations(root, settings, self._specs, self._checks, self._open, self.branch, now)
        self._noted = _PendingChanges(set(), {}, {}, [])
        self._claimed: dict[str, str] = {}
        self._agents: dict[str, float] = {}
        self._wake = asyncio.Event()
        self._last_note = 0.0
        self._head: Head | None = None
        self._head_before: Head | None = None
        self._ask_at: float | None = None
        self._pause = ASK_AGAIN
        self._begun = False
        self._leave = [deliverables.listen(self._told_of)]
        if self._specs.any or settings.work:
            self._leave.append(indexer.on_files_changed(self._files_changed))
        if settings.git or settings.work:
            self._leave.append(indexer.on_progress(self._run_ended))
        self._task = asyncio.create_task(self._work(), name=f"detect deliverables of {root}")

    async def close(self) -> None:
        """Stop; what was noted and not looked at is found again when the workspace is opened next."""
        for leave in self._leave:
            leave()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def forget(self) -> None:
        """Look at everything anew: the memory file was exchanged, or more came into it."""
        self._open.forget()
        self._begun = False
        self._wake.set()

    @property
    def open_ids(self) -> list[str]:
        """The deliverables that are open."""
        return self._open.ids

    def change_at(self, path: str) -> str | None:
        """The deliverable whose spec the file at `path` (relative, `/`) is a part of, where one is known."""
        names = (self._specs.change_id(source, key) for source, key in self._specs.of(path))
        return next((each for name in names if (each := self._deliverables.named(name)) in self._open), None)

    def worked_on(self, change_id: str, path: str | None) -> None:
        """Note that an agent works on this deliverable, and edited the file at `path` (relative, `/`) for it."""
        self._agents = {each: at for each, at in self._agents.items() if each in self._open}
        self._agents[change_id] = time.monotonic()
        if path is not None and self.settings.work and self._specs.is_work(path) and len(self._noted.edits) < MAX_PATHS:
            self._claimed[path] = change_id
            self._noted.edits[path] = None
            self._note()

    async def at_work(self, sticky: str | None = None) -> Attributed | None:
        """The deliverable that is worked on now: the branch's, else `sticky` while it is open, else the only one.

        The only one counts while its spec is where the work is: on a branch without it, or after it was removed, nobody
        can say that it is what is worked on.
        """
        if not self._open:
            return None
        branch = await self.branch()
        open_ = [Open(each.change_id, each.names) for each in self._open]
        found = attribute(open_, branch)
        if sticky is not None and sticky in self._open and (found is None or not found.why.startswith("on branch")):
            return Attributed(sticky, "the session's")
        if found is not None and found.why == ONLY_ONE and self._observations.is_missing(found.change_id):
            return None
        return found

    async def known(self, change_id: str) -> RecordedState:
        """Recorded state of a deliverable: what was told of it so far."""
        return await self._open.known(change_id)

    async def check_spec(self, change_id: str, tests: Sequence[TestTitle] = ()) -> list[Event]:
        """What of a deliverable's spec is met, by these tests or those that ran last: events to be recorded, if any."""
        return await self._checks.events_of(change_id, tests)

    def _files_changed(self, files: ChangedFiles) -> None:
        """Sort what changed: by name alone, as this is asked of every save."""
        for path in (*files.changed, *files.removed):
            self._noted.specs.update(self._specs.of(path))
        if self.settings.work and (self._open or self._noted.specs):
            noted = self._noted.edits if files.edited else self._noted.unsure
            work = (path for path in files.changed if self._specs.is_work(path))
            for path, _ in zip(work, range(MAX_PATHS - len(noted)), strict=False):
                noted[path] = None
        self._note()

    def _run_ended(self, progress: IndexProgress | None) -> None:
        if progress is None:
            self._noted.head = True
            self._note()

    def _told_of(self, events: Sequence[Event], changed: Sequence[Deliverable]) -> None:
        self._open.hear(events, changed)
        for event in events:
            if isinstance(event.what, TestsRan) and self.settings.work:
                self._noted.tests.append(event)
                self._note()

    def _note(self) -> None:
        """Wake-up of the task, where something was noted."""
        if self._noted:
            self._last_note = time.monotonic()
            self._wake.set()

    async def _work(self) -> None:
        """Loop of the task: wait until something was noted, and look at it."""
        await self._indexer.first_run()
        trouble = ""
        while True:
            noted = None
            try:
                if not self._begun:
                    self._begun = True
                    await self._begin()
                await self._wait()
                noted, self._noted = self._noted, _PendingChanges(set(), {}, {}, [])
                await self._look(noted)
                trouble = ""
            except StoreError as error:
                if str(error) != trouble:  # it is tried again and again: a full disk would fill the log, too
                    trouble = str(error)
                    logger.warning("deliverables not looked at", extra={"root": str(self._root), "error": trouble})
                if noted is None:
                    self._begun = False
                else:
                    self._noted.take_back(noted)
                self._wake.set()
                await asyncio.sleep(LONGEST_HOLD)
            except OSError as error:
                logger.warning("deliverables not looked at", extra={"root": str(self._root), "error": str(error)})
                await asyncio.sleep(LONGEST_HOLD)
            except Exception:  # detection goes on, whatever one file or commit did to it
                logger.exception("deliverables not looked at", extra={"root": str(self._root)})
                await asyncio.sleep(LONGEST_HOLD)

    async def _begin(self) -> None:
        """Look at every spec there is, and at open deliverables whose spec may have moved meanwhile."""
        await self._open.begin(self._store)
        self._head = await asyncio.to_thread(self._read_head)
        files = await self._store.read(file_reader.files)
        found = await asyncio.to_thread(self._specs.all, list(files))
        for each in self._open:
            spec = each.spec_source
            if spec is not None and spec.framework in self._specs.sources:
                name = (each.change_id, *each.names)[-1]
                found.add((spec.framework, self._specs.key_of(spec.framework, name, spec.spec_id)))
        await self._look(_PendingChanges(found, {}, {}, [], head=self.settings.git))

    async def _wait(self) -> None:
        """Debounce: until something was noted and then nothing for a moment (LONGEST_HOLD at most), a folder is gone
        for too long, or git is asked again.
        """
        due = min((at for at in (self._observations.due, self._ask_at) if at is not None), default=None)
        try:
            async with asyncio.timeout(None if due is None else max(0.0, due - time.monotonic())):
                await self._wake.wait()
        except TimeoutError:
            self._noted.specs.update(self._observations.overdue())
        self._wake.clear()
        first = time.monotonic()
        while self._noted and time.monotonic() - self._last_note < QUIET_SECONDS:
            if time.monotonic() - first >= LONGEST_HOLD:
                break
            await asyncio.sleep(QUIET_SECONDS / 2)

    async def _look(self, noted: _PendingChanges) -> None:
        ended = await self._observations.see(noted.specs)
        if waits := self._ask_at is not None and time.monotonic() < self._ask_at:
            self._noted.take_back(_PendingChanges(set(), {}, noted.unsure, [], noted.head))
        else:
            self._ask_at = None
            waits = not await self._sort_unsure(noted)
        if noted.edits or noted.tests:
            await self._look_at_work(noted)
        for seen in ended:  # what was done before the end, and noted with it, counts
            await self._observations.look_at(seen)
        if noted.head and not waits:
            await self._look_at_head(noted)

    async def _sort_unsure(self, noted: _PendingChanges) -> bool:
        """Take files for edited that changed when HEAD moved by commits alone; False where git did not say."""
        try:
            if noted.unsure and await self._only_committed():
                noted.edits.update(noted.unsure)
        except GitSilent as error:
            self._ask_later(error, _PendingChanges(set(), {}, noted.unsure, [], noted.head))
            return False
        return True

    async def _look_at_head(self, noted: _PendingChanges) -> None:
        """Commits and history, since HEAD may have moved."""
        before = self._head
        try:
            self._head = await self._look_at_commits()
            # Git moves HEAD before the indexer sees it: the files of that run may come with the next look.
            self._head_before = before if before != self._head and not noted.unsure else None
            await self._observations.look_at_history()
        except GitSilent as error:
            self._ask_later(error, _PendingChanges(set(), {}, {}, [], head=True))
        else:
            self._pause = ASK_AGAIN

    def _ask_later(self, error: GitSilent, noted: _PendingChanges) -> None:
        """Git did not answer, as on a busy machine: this is tried again later, with exponential backoff."""
        logger.warning("commits not looked at", extra={"root": str(self._root), "error": str(error)})
        self._noted.take_back(noted)
        self._ask_at = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE)

    async def _look_at_work(self, noted: _PendingChanges) -> None:
        """Edits and test runs in the order in which they happened."""
        edited_at = await asyncio.to_thread(_last_change, self._root, list(noted.edits)) if noted.edits else None
        earlier = [run for run in noted.tests if edited_at is None or run.at < edited_at]
        await self._tested(earlier)
        for change_id, paths in self._by_claim(noted.edits).items():
            if change_id is not None:
                await self._edited(paths, Attributed(change_id, "for it"))
                continue
            found = await self.at_work()
            lately = edited_at is not None and time.time() - edited_at < HOOK_SECONDS
            if lately and found is not None and self._may_be_claimed(found.change_id):
                self._noted.edits.update(dict.fromkeys(paths))
                self._note()
            else:
                await self._edited(paths, found)
        await self._tested([run for run in noted.tests if run not in earlier])

    def _by_claim(self, edits: Iterable[str]) -> dict[str | None, list[str]]:
        """Edited files by the deliverable that an agent claimed to edit them for; None where nobody did."""
        found: dict[str | None, list[str]] = {}
        for path in edits:
            change_id = self._claimed.pop(path, None)
            found.setdefault(change_id if change_id in self._open else None, []).append(path)
        return found

    def _may_be_claimed(self, change_id: str) -> bool:
        """Whether an agent is at work on another deliverable than this one."""
        now = time.monotonic()
        return any(each != change_id and now - at < AGENT_SECONDS for each, at in self._agents.items())

    async def _edited(self, paths: Sequence[str], found: Attributed | None) -> None:
        at = await asyncio.to_thread(_last_change, self._root, paths)
        if found is not None and at is not None:
            self._open.edited_at[found.change_id] = at
            state = await self._open.known(found.change_id)
            await self._open.record(work_phase.edited(paths, state, at, found.why))

    async def _tested(self, runs: Iterable[Event]) -> None:
        for run in sorted(runs, key=lambda event: event.at):
            assert isinstance(run.what, TestsRan), "only test runs are noted"
            state = await self._open.known(run.change_id)
            if run.at >= state.phase_at:  # what is told afterwards of long ago is no phase that begins now
                await self._open.record(work_phase.tested(run.what, state, run.at))
            if run.source != junit.SOURCE:  # who tells the names of tests has them looked at with it
                await self._open.record(await self.check_spec(run.change_id))

    async def _look_at_commits(self) -> Head | None:
        """Commits that came since HEAD was looked at last, the oldest first; answers HEAD. Raises GitSilent."""
        head = await asyncio.to_thread(self._read_head)
        if not self.settings.git:
            return head
        last = await self._store.read(file_reader.fact, HEAD_FACT)
        commit = head.commit if head is not None else None
        if commit is None or commit == last:
            return head
        said = None
        if last is not None:
            new = f"{last}..{commit}" if last != NO_COMMIT else commit
            said = await commands.told(self._root, [*commits.LOG, new], seconds=LOG_SECONDS)
        found = await asyncio.to_thread(commits.read_log, said) if said else []
        if found:
            made_here = commits.read_reflog(await commands.told(self._root, commits.REFLOG) or b"")
            for each in found:
                if last != NO_COMMIT or each.hash in made_here:  # what came with a first pull is not today's work
                    await self._look_at_commit(each, each.hash in made_here)
        await self._store.remember(HEAD_FACT, commit)
        return head

    async def _only_committed(self) -> bool:
        """Whether HEAD moved since the indexer's run before, and only by commits made here: those change no file.

        Raises GitSilent.
        """
        head, last = await asyncio.to_thread(self._read_head), self._head
        if head == last:
            last = self._head_before
        if head is None or last is None or head.ref != last.ref or head.commit in (None, last.commit):
            return False
        said = await commands.told(self._root, commits.REFLOG)
        return said is not None and commits.only_commits(said, last.commit)

    async def _look_at_commit(self, commit: commits.Commit, made_here: bool) -> None:
        """Commit attributed to a deliverable: by trailer, by its spec's files, or by the branch."""
        name, why = commits.named(commit, self._open.ids), "which names it"
        specs = {each for path in commit.files if (each := self.change_at(path)) is not None}
        if name is None and made_here and len(specs) == 1:
            name, why = specs.pop(), "which has files of its spec"
        if name is None and made_here:
            found = await self.at_work()
            if found is None or commit.at + 1 < (await self._open.known(found.change_id)).phase_at:
                return
            name, why = found.change_id, found.why
        if name is not None:
            code = any(self._specs.is_work(path) for path in commit.files)
            await self._open.record(commits.events_of(commit, await self._open.known(name), why, touches_code=code))

    async def branch(self) -> str | None:
        """The branch that is checked out; None where none is."""
        head = await asyncio.to_thread(self._read_head)
        return head.ref.removeprefix("refs/heads/") or None if head is not None else None

    def _read_head(self) -> Head | None:
        repository = find_git_directory(self._root)
        return read_head(repository) if repository is not None else None


def _last_change(root: Path, paths: Sequence[str]) -> float | None:
    """Latest mtime of some files, or now for what has none."""
    latest = None
    for path in paths:
        try:
            at = (root / path).stat(follow_symlinks=False).st_mtime
        except OSError:
            continue
        latest = at if latest is None else max(latest, at)
    return min(latest, time.time()) if latest is not None else None
