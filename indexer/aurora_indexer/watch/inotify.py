"""Inotify watches (Linux file system events) of a tree: one for each folder that counts, none for those the rules leave
out.

watchdog's own recursive watch takes every folder below its root (20,000 in a `node_modules` at once), does not tell
when the system's limit is reached below the root, and hides lost events. So its reader of the inotify device is used,
and the watches are placed here. Paths are relative to the root, with `/`.
"""

from __future__ import annotations

import errno
import itertools
import os
import threading
from pathlib import Path
from typing import Final

from watchdog.observers.inotify_c import (
    CallbackId,
    InotifyConstants,
    InotifyEvent,
    InotifyFD,
    Mask,
    WatchDescriptor,
)

from aurora_indexer.files.gitdir import GitDirectory
from aurora_indexer.files.ignore import MARKERS, IgnoreRules
from aurora_indexer.files.scan import may_be_source, walk
from aurora_indexer.watch.cookie import Cookies
from aurora_indexer.watch.event_buffer import EventBuffer

_CONTENT = (
    InotifyConstants.IN_CREATE
    | InotifyConstants.IN_DELETE
    | InotifyConstants.IN_MOVED_FROM
    | InotifyConstants.IN_MOVED_TO
    | InotifyConstants.IN_CLOSE_WRITE
    | InotifyConstants.IN_MODIFY
    | InotifyConstants.IN_ATTRIB  # what could not be read can be now
    | InotifyConstants.IN_ONLYDIR
    | InotifyConstants.IN_EXCL_UNLINK
)
_FOLDER: Final = Mask(_CONTENT | InotifyConstants.IN_DONT_FOLLOW)
_ROOT: Final = Mask(_CONTENT | InotifyConstants.IN_DELETE_SELF | InotifyConstants.IN_MOVE_SELF)

_LIMITS = frozenset({errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
_COOKIE: Final = Mask(InotifyConstants.IN_CREATE | InotifyConstants.IN_ONLYDIR | InotifyConstants.IN_DONT_FOLLOW)
_GIT_NAMES = frozenset({b"HEAD", b"index", b"index.lock"})


class InotifyTree:
    """Inotify watches below `rules.root`; events go into `events`. `start` raises OSError at the system's limits."""

    def __init__(
        self, rules: IgnoreRules, events: EventBuffer, repository: GitDirectory | None, cookies: Cookies | None = None
    ) -> None:
        self._rules = rules
        self._events = events
        self._repository = repository
        self._lock = threading.RLock()
        self._new_ids = map(CallbackId, itertools.count())
        self._ids: dict[WatchDescriptor, CallbackId] = {}
        self._paths: dict[WatchDescriptor, str] = {}
        self._watches: dict[str, WatchDescriptor] = {}
        self._git: set[WatchDescriptor] = set()
        self._cookies = cookies
        self._cookie_watch: WatchDescriptor | None = None
        self._reader: InotifyFD | None = None

    @property
    def watches(self) -> int:
        """Number of the system's inotify watches in use."""
        return len(self._paths) + len(self._git)

    def start(self) -> None:
        """Place all watches; what happens from then on is noted. Takes as long as listing every folder."""
        self._reader = InotifyFD()
        self._reader.start()
        try:
            with self._lock:
                self._place_watches()
                self._watch_git()
                self._watch_cookies()
        except OSError:
            self.stop()
            raise

    def stop(self) -> None:
        """Remove all watches and end the reading thread. Not to be called from that thread."""
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.stop()
            reader.join()

    def on_event(self, event: InotifyEvent) -> None:
        """Called by the reading thread."""
        with self._lock:
            if self._reader is None:
                return
            try:
                self._handle(event)
            except OSError as error:
                self._events.failed(error)

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        """Called by the reading thread when a watched folder is gone."""
        with self._lock:
            self._git.discard(wd)
            self._ids.pop(wd, None)
            path = self._paths.pop(wd, None)
            if path is not None and self._watches.get(path) == wd:
                del self._watches[path]

    def on_queue_overflow(self) -> None:
        """Called by the reading thread when the kernel dropped events: watches may be missing, or at old paths."""
        with self._lock:
            if self._reader is None:
                return
            self._remove(list(self._paths))
            self._paths.clear()
            self._watches.clear()
            self._renew()

    def _handle(self, event: InotifyEvent) -> None:
        """Dispatch of one event: a cookie, `.git`, an ignore file, a folder or a file."""
        if event.wd == self._cookie_watch and self._cookies is not None:
            self._cookies.heard(os.fsdecode(event.name))
            return
        if event.wd in self._git:
            if event.name in _GIT_NAMES:
                self._events.git_moved()
            return
        above = self._paths.get(event.wd)
        if above is None:
            return
        if not event.name:
            if not above and event.is_attrib:
                self._renew()  # the root can be read, or not any more
            if not above and (event.is_delete_self or event.is_move_self):
                self._events.failed(FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self._rules.root)))
            return
        name = os.fsdecode(event.name)
        path = f"{above}/{name}" if above else name
        is_folder = bool(event.mask & InotifyConstants.IN_ISDIR)
        gone = event.is_delete or event.is_moved_from
        if name in MARKERS:
            if is_folder or gone or event.is_moved_to or event.is_close_write:
                self._renew()
            return
        if self._rules.folder(above).ignores(name, is_folder):
            return
        if is_folder:
            if gone:
                self._forget(path)
                self._events.removed(path, is_folder=True)
            elif event.is_create or event.is_moved_to or event.is_attrib:
                self._adopt(path)
        elif may_be_source(name):
            if gone:
                self._events.removed(path)
            else:
                self._events.changed(path, fresh=event.is_create)

    def _renew(self) -> None:
        """The rules changed, or events were lost."""
        self._rules.refresh()
        self._events.overflowed()
        try:
            self._place_watches()
        except OSError as error:
            self._events.failed(error)

    def _place_watches(self) -> None:
        """Watch every folder that counts, and no other."""
        wanted: set[str] = set()
        for walked in walk(self._rules, before_listing=self._watch):
            if not walked.folder.closed:
                wanted.add(walked.folder.path)
        for path in self._watches.keys() - wanted:
            self._unwatch([path])

    def _adopt(self, path: str) -> None:
        """A folder came, by itself or with all its content: watch first, then look, so that nothing is missed."""
        for walked in walk(self._rules, path, before_listing=self._watch):
            folder = walked.folder
            if folder.closed:
                self._unwatch([folder.path])
                if folder.closed.reason == "nested-repository":
                    self._events.overflowed()
                continue
            for entry in walked.files:
                if may_be_source(entry.name) and not folder.ignores(entry.name, is_folder=False):
                    self._events.changed(folder.prefix + entry.name)

    def _forget(self, path: str) -> None:
        """Removal of the watches of a folder and all below it."""
        below = f"{path}/"
        self._unwatch([other for other in self._watches if other == path or other.startswith(below)])

    def _watch(self, path: str) -> None:
        """Watch on one folder, known by path and by number."""
        if path in self._watches:
            return
        watch = self._add(self._rules.root / path, _FOLDER if path else _ROOT, required=not path)
        if watch is not None:
            before = self._paths.get(watch)
            if before is not None:  # renamed, and not heard of yet: when it is, the watch is this path's
                self._watches.pop(before, None)
            self._paths[watch] = path
            self._watches[path] = watch

    def _unwatch(self, paths: list[str]) -> None:
        """Removal of the watches of some folders."""
        watches = [watch for path in paths if (watch := self._watches.pop(path, None)) is not None]
        for watch in watches:
            self._paths.pop(watch, None)
        self._remove(watches)

    def _remove(self, watches: list[WatchDescriptor]) -> None:
        """Removal of watches from the reader."""
        ids = [(watch, id_) for watch in watches if (id_ := self._ids.pop(watch, None)) is not None]
        if self._reader is not None and ids:
            self._reader.remove_callbacks(ids)

    def _watch_git(self) -> None:
        """Watches on `.git`: HEAD, the index and the reflog."""
        if self._repository is None:
            return
        for folder in (self._repository.directory, self._repository.directory / "logs"):
            watch = self._add(folder, Mask(_CONTENT))
            if watch is not None:
                self._git.add(watch)

    def _watch_cookies(self) -> None:
        if self._cookies is not None:
            self._cookie_watch = self._add(self._cookies.folder, _COOKIE)

    def _add(self, folder: Path, mask: Mask, *, required: bool = False) -> WatchDescriptor | None:
        """None where the folder is gone, or is not ours to look into."""
        if self._reader is None:
            return None
        id_ = next(self._new_ids)
        try:
            watch = self._reader.add_callback(os.fsencode(folder), mask, self, id_)
        except OSError as error:
            if required or error.errno in _LIMITS:
                raise
            return None
        if watch < 0:
            # What the library makes of a folder without read permission.
            self._reader.remove_callbacks([(watch, id_)])
            return None
        self._remove([watch])  # what a renamed folder had: the system gives it the same watch again
        self._ids[watch] = id_
        return watch
