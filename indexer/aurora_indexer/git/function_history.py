"""History of functions (`git log -L`, blame by function): which functions each commit changed: today's chunks followed
backwards through the log, all at once.

What `git log -L` does for one function, in one pass: newest commit first, every chunk's lines are carried through each
commit's hunks into the coordinates before it. A chunk whose lines a commit touched was changed by it; one of which
nothing is left was brought in by it and leaves the walk. Pure; `log_parser` reads the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from aurora_indexer.git.line_moves import Hunk, LineMap, LineSpan
from aurora_indexer.git.log_parser import LoggedCommit

SWEEPING_FILES = 100
SWEEPING_LINES = 10_000
"""A commit that changes more than this (a reformatting, a new licence header) says little about any one function."""


class WalkedCommit(Struct, frozen=True):
    """A commit and the chunks it changed, by row id."""

    hash: str
    at: int
    parents: tuple[str, ...]
    subject: str
    body: str
    files: int
    sweeping: bool
    chunk_ids: tuple[int, ...]


class FunctionWalk:
    """Spans of the chunks in the commit reached. `files` maps paths, as git has them, to the chunks' spans there."""

    def __init__(self, files: Mapping[bytes, Sequence[LineSpan]]) -> None:
        self.files: dict[bytes, list[LineSpan]] = {path: list(spans) for path, spans in files.items() if spans}
        self.commits = 0
        self._walked: list[WalkedCommit] = []

    def edited(self, path: bytes, hunks: Iterable[Hunk]) -> None:
        """Step back over edits that are not committed yet."""
        lines = LineMap(hunks)
        self._keep(path, [lines.before(span)[1] for span in self.files.pop(path, ())])

    def take(self, commit: LoggedCommit) -> None:
        """Step back over the next older commit."""
        self.commits += 1
        touched: set[int] = set()
        # Two files may swap names in one commit: all are taken out before any is put back.
        moved: list[tuple[bytes, list[LineSpan]]] = []
        for change in commit.changes:
            spans = self.files.pop(change.path, None) if change.path is not None else None
            if spans is None:
                continue
            if change.old_path is None:
                touched.update(span.chunk_id for span in spans)
                continue
            lines = LineMap(change.hunks)
            before = [(span.chunk_id, *lines.before(span)) for span in spans]
            touched.update(chunk_id for chunk_id, changed, _ in before if changed)
            moved.append((change.old_path, [span for _, _, span in before]))
        for path, kept in moved:
            self._keep(path, kept)
        self._walked.append(
            WalkedCommit(
                commit.hash,
                commit.at,
                tuple(commit.parents),
                commit.subject,
                commit.body,
                commit.files,
                commit.files > SWEEPING_FILES or commit.lines > SWEEPING_LINES,
                tuple(sorted(touched)),
            )
        )

    def lose(self, paths: Iterable[bytes]) -> None:
        """Follow these files no further: what changed them cannot be read."""
        for path in paths:
            self.files.pop(path, None)

    def walked(self) -> list[WalkedCommit]:
        """The commits since the last call, newest first."""
        walked, self._walked = self._walked, []
        return walked

    def survivors(self) -> set[int]:
        """The chunks that are older than the commit reached."""
        return {span.chunk_id for spans in self.files.values() for span in spans}

    def only(self, chunk_ids: set[int]) -> None:
        """Go on with these chunks alone."""
        for path, spans in list(self.files.items()):
            del self.files[path]
            self._keep(path, [span for span in spans if span.chunk_id in chunk_ids])

    def _keep(self, path: bytes, spans: Iterable[LineSpan]) -> None:
        """Spans of a path that are followed further."""
        left = [span for span in spans if span.end >= span.start]
        if left:
            self.files.setdefault(path, []).extend(left)
