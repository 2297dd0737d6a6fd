"""Watchdog backend (FSEvents, ReadDirectoryChangesW, polling): a tree watched where the system reports trees (macOS,
Windows), polled where it reports none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from watchdog.events import (
    EVENT_TYPE_CLOSED_NO_WRITE,
    EVENT_TYPE_CREATED,
    EVENT_TYPE_DELETED,
    EVENT_TYPE_MOVED,
    EVENT_TYPE_OPENED,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserverVFS

from aurora_indexer.files.ignore import MARKERS, IgnoreRules
from aurora_indexer.files.scan import may_be_source, walk
from aurora_indexer.watch.event_buffer import EventBuffer

_GIT_NAMES = frozenset({"HEAD", "index", "index.lock", "logs"})
_GIT_PATHS = frozenset({".git/HEAD", ".git/index", ".git/index.lock", ".git/logs/HEAD"})


class ObservedTree:
    """Watchdog observer of `rules.root`, which puts what happens into `events`."""

    def __init__(self, rules: IgnoreRules, events: EventBuffer, make: Callable[[], BaseObserver]) -> None:
        self._rules = rules
        self._make = make
        self._handler = _Handler(rules, events)
        self._observer: BaseObserver | None = None

    @property
    def watches(self) -> int:
        """The system's watches in use: one for the whole tree."""
        return 1 if self._observer else 0

    def start(self) -> None:
        """Begin. Raises OSError."""
        observer = self._make()
        observer.schedule(self._handler, str(self._rules.root), recursive=True)
        observer.start()
        self._observer = observer

    def stop(self) -> None:
        """End the observer and its threads."""
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            observer.join()


def polling(rules: IgnoreRules, seconds: float) -> Callable[[], BaseObserver]:
    """An observer that lists, every so many seconds, the folders that count (and what matters of `.git`)."""
    root = rules.root

    def listing(path: str | None) -> Iterator[os.DirEntry[str]]:
        relative = "" if path is None else Path(path).relative_to(root).as_posix()
        relative = "" if relative == "." else relative
        with os.scandir(path) as found:
            entries = list(found)
        if relative.partition("/")[0] == ".git":
            wanted = _GIT_NAMES if relative == ".git" else {"HEAD"}
            return iter([entry for entry in entries if entry.name in wanted])
        folder = rules.folder(relative)
        return iter([entry for entry in entries if _counts(folder.ignores, entry)])

    return lambda: PollingObserverVFS(os.lstat, listing, polling_interval=seconds)


def _counts(ignores: Callable[[str, bool], bool], entry: os.DirEntry[str]) -> bool:
    """Filter of a listing: folders, source files and ignore files that count."""
    name = entry.name
    if name in MARKERS:
        return True
    is_folder = entry.is_dir(follow_symlinks=False)
    return (is_folder or may_be_source(name)) and not ignores(name, is_folder)


class _Handler(FileSystemEventHandler):
    """Event handler of watchdog: what the ignore rules leave goes into the buffer."""

    def __init__(self, rules: IgnoreRules, events: EventBuffer) -> None:
        self._rules = rules
        self._events = events
        # A system that resolves links reports paths below the resolved root.
        self._roots = tuple(f"{root}{os.sep}" for root in {str(rules.root), os.path.realpath(rules.root)})

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Called by the observer's thread."""
        kind = event.event_type
        if kind in (EVENT_TYPE_OPENED, EVENT_TYPE_CLOSED_NO_WRITE):
            return
        source = os.fsdecode(event.src_path)
        if kind == EVENT_TYPE_DELETED and source == str(self._rules.root):
            self._events.failed(FileNotFoundError(2, os.strerror(2), source))
            return
        if kind in (EVENT_TYPE_DELETED, EVENT_TYPE_MOVED):
            self._note(source, event.is_directory, gone=True)
        if kind == EVENT_TYPE_MOVED:
            self._note(os.fsdecode(event.dest_path), event.is_directory, gone=False)
        elif kind != EVENT_TYPE_DELETED and not (event.is_directory and kind != EVENT_TYPE_CREATED):
            self._note(source, event.is_directory, gone=False)

    def _note(self, absolute: str, is_folder: bool, *, gone: bool) -> None:
        """Dispatch of one path: of `.git`, an ignore file, ignored, a folder or a file."""
        root = next((root for root in self._roots if absolute.startswith(root)), None)
        if root is None:
            return
        path = absolute[len(root) :].replace(os.sep, "/")
        name = path.rpartition("/")[2]
        if path.startswith(".git/"):
            if path in _GIT_PATHS:
                self._events.git_moved()
        elif name in MARKERS:
            if not self._rules.folder(path.rpartition("/")[0]).closed:
                self._rules.refresh()
                self._events.overflowed()
        elif self._rules.is_ignored(path, is_folder):
            return
        elif gone:
            if is_folder or may_be_source(name):
                self._events.removed(path, is_folder=is_folder)
        elif is_folder:
            self._note_content(path)
        elif may_be_source(name):
            self._events.changed(path)

    def _note_content(self, path: str) -> None:
        """Files of a folder that came with all its content."""
        for walked in walk(self._rules, path):
            for entry in walked.files:
                if may_be_source(entry.name) and not walked.folder.ignores(entry.name, is_folder=False):
                    self._events.changed(walked.folder.prefix + entry.name)
