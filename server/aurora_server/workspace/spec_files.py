"""The specs of one workspace: which path belongs to which, by name alone, and what is seen of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from aurora_deliverables.detection import checklists, files, openspec, speckit
from aurora_deliverables.detection import detector as detectors
from aurora_deliverables.detection.observation import Observation
from aurora_server.configuration.settings import DetectSettings

MAX_SPECS = 2000
"""Specs of one source that are looked at when a workspace is opened."""

OPENSPEC, SPECKIT, MARKDOWN = openspec.SOURCE, speckit.SOURCE, checklists.SOURCE


def plugged_detectors() -> Mapping[str, detectors.GuardedDetector]:
    """Detectors of plug-ins by source, those with the name of a built-in one aside."""
    return detectors.plugged(frozenset((OPENSPEC, SPECKIT, MARKDOWN)))


class Specs:
    """Knows specs by source and key: a change's or feature's id, or the path of a document. Reading blocks."""

    def __init__(self, root: Path, settings: DetectSettings) -> None:
        self._root = root
        wanted = {OPENSPEC: settings.openspec, SPECKIT: settings.speckit, MARKDOWN: settings.markdown}
        self._plugged = plugged_detectors() if settings.plugins else {}
        self.sources = frozenset((*(name for name, on in wanted.items() if on), *self._plugged))
        named = (settings.markdown_files or "").split(",")
        self._patterns = tuple(each for part in named if (each := part.strip())) or checklists.PATTERNS

    @property
    def any(self) -> bool:
        """Whether any source is on."""
        return bool(self.sources)

    def has_changes(self) -> bool:
        """Whether OpenSpec is in use here. Blocks for a look at the disk."""
        return OPENSPEC in self.sources and files.is_folder(self._root, openspec.CHANGES)

    def is_plugged(self, source: str) -> bool:
        """Whether a plug-in's detector looks after this source: where its specs lie nobody else knows."""
        return source in self._plugged

    def of(self, path: str) -> Iterator[tuple[str, str]]:
        """The specs that the file at `path` belongs to; hardly ever any."""
        if path.startswith("openspec/"):
            change = openspec.change_of(path) if OPENSPEC in self.sources else None
            if change is not None:
                yield OPENSPEC, change
            return
        feature = speckit.feature_of(path) if SPECKIT in self.sources else None
        if feature is not None:
            yield SPECKIT, feature
        elif MARKDOWN in self.sources and path.endswith(".md") and checklists.is_spec(path, self._patterns):
            yield MARKDOWN, path
        else:
            for source, detector in self._plugged.items():
                if key := detector.key_of(path):
                    yield source, key

    def is_work(self, path: str) -> bool:
        """Whether changing the file at `path` is work on a deliverable, not on its spec or on tools' own files."""
        if path.startswith(("openspec/", ".")) or speckit.feature_of(path) is not None:
            return False
        return not (path.endswith(".md") and checklists.is_spec(path, self._patterns))

    def all(self, indexed: Iterable[str]) -> set[tuple[str, str]]:
        """Every spec there is; `indexed` are the files that memory knows."""
        found: set[tuple[str, str]] = set()
        if OPENSPEC in self.sources:
            found.update((OPENSPEC, id_) for id_ in openspec.open_changes(self._root)[:MAX_SPECS])
        if SPECKIT in self.sources:
            found.update((SPECKIT, id_) for id_ in speckit.features(self._root)[:MAX_SPECS])
        if MARKDOWN in self.sources:
            documents = (path for path in indexed if path.endswith(".md") and checklists.is_spec(path, self._patterns))
            found.update((MARKDOWN, path) for path in sorted(documents)[:MAX_SPECS])
        for source, detector in self._plugged.items():
            found.update((source, key) for key in detector.keys(self._root, MAX_SPECS))
        return found

    def see(self, source: str, key: str) -> Observation | None:
        """Observation of a spec as it is now; None where it is not there, or shows nothing yet."""
        if source in self._plugged:
            return self._plugged[source].see(self._root, key)
        if source == OPENSPEC:
            change = openspec.see(self._root, key)
            return openspec.observation(change) if change is not None else None
        if source == SPECKIT:
            feature = speckit.see(self._root, key)
            return speckit.observation(feature) if feature is not None else None
        file = files.see(self._root, key)
        return checklists.observation(file) if file is not None else None

    def change_id(self, source: str, key: str) -> str:
        """Name of the deliverable of a spec."""
        return checklists.change_of(key) if source == MARKDOWN else key

    def key_of(self, source: str, change_id: str, spec_id: str | None) -> str:
        """By what a deliverable's spec is known here."""
        return spec_id or change_id if source == MARKDOWN else change_id

    def place(self, source: str, key: str) -> str:
        """Where a spec is looked for, for people."""
        if source in self._plugged:
            return f"{source} {key}"
        folder = {OPENSPEC: f"{openspec.CHANGES}/", SPECKIT: f"{speckit.FEATURES}/"}.get(source, "")
        return f"{folder}{key}/" if folder else key
