"""Transferred patterns (cross-repository knowledge): what was solved in other repositories that this machine has
records of, for a workspace.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from aurora_indexer.files.gitdir import find_git_directory, is_work_tree, named_work_tree, work_tree_marks
from aurora_memory import StoreError
from aurora_memory.activation import base_level
from aurora_memory.chunk_text import cost
from aurora_memory.documents import CitedSpan
from aurora_memory.record.record_file import FileMarks, Record, file_marks
from aurora_memory.record.repositories import Repositories
from aurora_memory.record.transfer import PatternMatch, TransferablePattern, matching, patterns_of, suffix_of
from aurora_memory.store import file_reader
from aurora_memory.store.reader import Reader
from aurora_memory.store.reader_thread import ReaderThread
from aurora_protocol.methods import ActivationTerms, Recalled
from aurora_protocol.provenance_text import drifted_at
from aurora_server.workspace.record_place import FOLDER, RecordPlace, record_place
from aurora_server.workspace.wire import iso

logger = logging.getLogger(__name__)

MOST = 3
"""Patterns of other repositories in one answer."""


class TransferredPatterns:
    """Patterns of other repositories for the workspace at `root`. A record is read again only when it has changed."""

    def __init__(self, root: Path, home: Path, read: ReaderThread) -> None:
        self._root = root
        self._home = home
        self._read = read
        self._turn = asyncio.Lock()
        self._place: RecordPlace | None = None
        self._known: dict[Path, tuple[FileMarks, list[TransferablePattern]]] = {}

    async def matching(self, query: str) -> list[PatternMatch]:
        """Matching of patterns to a question; none where no other repository's record has any."""
        async with self._turn:
            if not await asyncio.to_thread((self._home / FOLDER).is_dir):
                return []
            if self._place is None:
                try:
                    self._place = await record_place(self._root, self._home)
                except StoreError as error:  # one of the records is one's own, and which it is is not known now
                    logger.warning("other records not read", extra={"root": str(self._root), "error": str(error)})
                    return []
            suffixes, weight = await self._read(_here)
            await asyncio.to_thread(self._refresh, self._place)
            patterns = [each for _, some in self._known.values() for each in some]
            found = await asyncio.to_thread(matching, patterns, query, suffixes, weight, MOST)
            return await asyncio.to_thread(self._with_drift, found)

    def _with_drift(self, found: Sequence[PatternMatch]) -> list[PatternMatch]:
        """The same with what of the lines that they cite has changed since, where their repository is still here."""
        told: list[PatternMatch] = []
        repositories = Repositories(self._home / FOLDER)
        for each in found:
            cites = each.pattern.document.content.cites
            if cites:
                try:
                    tree = work_tree_in_use(repositories.common_folders(each.pattern.repository_id))
                except StoreError as error:
                    logger.warning("drift not looked for", extra={"error": str(error)})
                    tree = None
                each = replace(each, drifted=_drifted(cites, tree) if tree is not None else ())
            told.append(each)
        return told

    def _refresh(self, own: RecordPlace) -> None:
        """Read the records that are new or have changed. One that cannot be read is left out, and logged."""
        found: dict[Path, tuple[FileMarks, list[TransferablePattern]]] = {}
        for each in Repositories(self._home / FOLDER).records():
            if each.taken_over or each.repository == own.repository:
                continue
            marks = file_marks(each.path)
            known = self._known.get(each.path)
            if known is not None and known[0] == marks:
                found[each.path] = known
                continue
            try:
                with closing(Record.open(each.path, each.repository, own.author, own.machine)) as record:
                    found[each.path] = marks, patterns_of(record, each.name)
            except StoreError as error:
                logger.warning("record not read", extra={"path": str(each.path), "error": str(error)})
        self._known = found


def work_tree_in_use(commons: Iterable[Path]) -> Path | None:
    """Of all work trees of these git directories that where git was at work last: another clone may lie at what was
    months ago. A folder without git is its own. None where all are gone. Blocks.
    """
    trees: dict[Path, Path] = {}
    for common in commons:
        if common.name == ".git":
            trees[common.parent] = common / "index"
        elif (named := named_work_tree(common)) is not None:  # a submodule
            trees[named] = common / "index"
        elif not (common / "HEAD").exists():
            trees[common] = common
        for mark in work_tree_marks(common):
            found = find_git_directory(mark.parent)
            if found is not None and is_work_tree(found):
                trees[found.work_tree] = found.directory / "index"
    return max((tree for tree in trees if tree.is_dir()), key=lambda tree: _touched(trees[tree]), default=None)


def _touched(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _drifted(cites: Sequence[CitedSpan], tree: Path) -> tuple[str, ...]:
    # Only where a pattern cites something: of questions to models, recall needs no more.
    from aurora_orchestration.soar.cited_spans import drifted_of
    from aurora_orchestration.soar.workspace_text import WorkspaceText

    return tuple(drifted_of(cites, WorkspaceText(tree)))


def recalled(match: PatternMatch, now: float, *, content: bool) -> Recalled:
    """A match for the wire: a pattern that stands in no file here, and says where it is from and whose it is."""
    pattern = match.pattern
    document = pattern.document
    text = steps(match)
    level = base_level([pattern.learned_at], now)
    return Recalled(
        id=document.id,
        type="reas",
        kind="reasoning",
        name=document.id.removeprefix("reas:"),
        file="",
        line_start=0,
        line_end=0,
        line=0,
        language="",
        signature=document.content.original_query,
        score=match.score,
        activation=ActivationTerms(
            total=round(level, 6), base_level=round(level, 6), spreading=0.0, context_boost=0.0, decay=0.0
        ),
        last_used=None,
        last_modified=iso(pattern.learned_at),
        tokens=cost(text),
        summary="; ".join(step.description for step in document.content.subgoals),
        callers=0,
        workspace="",
        transferred_from=pattern.repository,
        learned_by=pattern.learned_by,
        drifted=list(match.drifted),
        content=text if content else UNSET,
    )


def steps(match: PatternMatch) -> str:
    """What was done there, step by step, with where that was, and what there has changed since."""
    pattern = match.pattern
    content = pattern.document.content
    who = "You" if pattern.learned_by == "" else pattern.learned_by or "A colleague"
    lines = [f"{who} solved this in another repository, {pattern.repository}, on {iso(pattern.learned_at)[:10]}:"]
    if match.drifted:
        lines.append(f"({drifted_at(match.drifted)} there)")
    return "\n".join([*lines, content.original_query, *(f"- {step.description}" for step in content.subgoals)])


def _here(reader: Reader) -> tuple[frozenset[str], float]:
    """Endings of the files that are indexed here, and what somebody else's knowledge counts beside one's own."""
    suffixes = frozenset(suffix_of(path) for path in file_reader.files(reader)) - {""}
    return suffixes, reader.weighing.others_weight
