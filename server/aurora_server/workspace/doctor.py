"""Health checks of one workspace (`aurora doctor`): of index, watcher, database, record and model: what is wrong, how
to mend it, and why files are left out.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from aurora_indexer import IndexerError
from aurora_indexer.files.gitdir import find_git_directory, is_shallow
from aurora_indexer.git.commands import is_installed
from aurora_indexer.git.history import BROKEN
from aurora_indexer.indexer import Indexer
from aurora_memory import StoreCorrupt, StoreForeign
from aurora_memory.store import Store, commit_reader, file_reader, lifespans, record_outbox
from aurora_memory.store.integrity import Fault, IntegrityReport
from aurora_memory.store.lifespans import ChunkStatus
from aurora_memory.store.memory_files import MemoryFile
from aurora_protocol.human_text import CLOCKS_APART, count
from aurora_protocol.methods import DoctorFinding, DoctorResult, Skipped
from aurora_server.workspace.wire import iso

if TYPE_CHECKING:
    from aurora_indexer.embedding.embedder import Embedder
    from aurora_server.workspace.record_exchange import RecordExchange

MAX_EXAMPLES = 1000
MAX_NAMED = 20
LITTLE_SPACE = 100 << 20
UNKNOWN = "no-language"
"""The one reason that is counted by suffix: most files of a workspace may have it."""


async def checkup(
    root: Path,
    store: Store,
    indexer: Indexer,
    policy_problems: Sequence[str],
    older: MemoryFile | None = None,
    embedder: Embedder | None = None,
    record: RecordExchange | None = None,
) -> DoctorResult:
    """Health check of index, watcher, memory file and its disk, record, policies and model. Reads only.

    `older` is the memory that is offered to this workspace, if there is one.
    """
    checked = await store.check()
    memory = await _memory_file(store, checked)
    if not checked.version:  # nothing else that it says can be relied on, or even read
        return DoctorResult(findings=[*_index(root, indexer), *memory], skipped={}, examples=[])
    scan = indexer.last_scan
    looked_into = await store.read(file_reader.skips)
    unknown = Counter(PurePosixPath(path).suffix for path, (why, _, _) in looked_into.items() if why == UNKNOWN)
    examples = [
        Skipped(path=path, reason=why, detail=detail)
        for path, (why, detail, _) in looked_into.items()
        if why != UNKNOWN
    ]
    skipped = Counter(example.reason for example in examples)
    if scan is not None:
        unknown.update(scan.other_files)
        examples += [Skipped(path=skip.path, reason=skip.reason, detail=skip.detail) for skip in scan.skips]
        examples += [
            Skipped(path=path, reason="ignored", detail="An ignore rule names it.") for path in scan.ignored_paths
        ]
        skipped.update(skip.reason for skip in scan.skips)
        skipped.update({"ignored": scan.ignored})
    examples += [
        Skipped(
            path=f"*{suffix}" if suffix else "(no ending)",
            reason=UNKNOWN,
            detail=f"{count(number, 'file')}, neither code nor documents known here.",
        )
        for suffix, number in unknown.most_common()
    ]
    skipped[UNKNOWN] += unknown.total()
    return DoctorResult(
        findings=[
            *_index(root, indexer),
            *await _history(root, store, indexer),
            *memory,
            *([await _record(record, store)] if record is not None else []),
            *await _lifespans(store),
            *([_older(older)] if older else []),
            *map(_policy, policy_problems),
            *([await _semantic(embedder)] if embedder is not None else []),
        ],
        skipped={reason: count for reason, count in skipped.most_common() if count},
        examples=examples[:MAX_EXAMPLES],
    )


def _index(root: Path, indexer: Indexer) -> list[DoctorFinding]:
    """Findings on the index: errors, files pending, files skipped."""
    findings: list[DoctorFinding] = []
    if indexer.state == "error":
        findings.append(DoctorFinding(level="error", what=f"indexing stopped: {indexer.last_error}"))
    elif indexer.pending:
        findings.append(DoctorFinding(level="warning", what=f"{count(indexer.pending, 'file')} still to be indexed"))
    counts = indexer.counts
    if counts is not None:
        findings.append(DoctorFinding(level="ok", what=f"memory holds {counts.chunks} chunks of {counts.files} files"))
    if counts is not None and not counts.files and indexer.state == "ready":
        findings.append(
            DoctorFinding(
                level="warning",
                what=f"no code and no document of a known kind in {root}",
                fix="open the folder that holds the code, or check .gitignore and .auroraignore",
            )
        )
    if indexer.warning:
        findings.append(DoctorFinding(level="warning", what=indexer.warning, fix="changes are still found, only later"))
    return findings


async def _history(root: Path, store: Store, indexer: Indexer) -> list[DoctorFinding]:
    """Histories that are cut off, cannot be read, or are still being read: dates are unknown there."""
    findings: list[DoctorFinding] = []
    repository = find_git_directory(root)
    if repository is None:
        return findings
    if not is_installed():
        findings.append(
            DoctorFinding(
                level="warning",
                what="there is no git on the daemon's PATH: when, by whom and with what code changed is not known",
                fix="install git, then aurora daemon stop; the next command starts it",
            )
        )
    if await asyncio.to_thread(is_shallow, repository):
        findings.append(
            DoctorFinding(
                level="warning",
                what="this is a shallow clone: what changed before it begins, and when, is not known",
                fix="git fetch --unshallow",
            )
        )
    broken = (await store.read(file_reader.fact, BROKEN) or "").split()
    if broken:
        more = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
        findings.append(
            DoctorFinding(
                level="warning",
                what=f"git cannot read commit {broken[0][:10]}{more}: an object is missing, older dates may be unknown",
                fix="git fsck names what is missing; git fetch --refetch, or a fresh clone, brings it back",
            )
        )
    ahead = await store.read(commit_reader.dated_after, time.time() + CLOCKS_APART)
    if ahead:
        (commit, at), more = ahead[0], f" and {len(ahead) - 1} more" if len(ahead) > 1 else ""
        dated = f"commit {commit[:10]}{more} is dated {iso(at)[:10]}"
        findings.append(
            DoctorFinding(
                level="warning",
                what=f"{dated}, yet to come: the age of its changes is unknown",
                fix="set the clock, if it is this machine's; git commit --amend --no-edit dates the last commit anew",
            )
        )
    if indexer.history_problem is not None:
        findings.append(
            DoctorFinding(
                level="warning",
                what=f"history could not be read, dates are missing: {indexer.history_problem}",
                fix="it is tried again by itself, and at once by aurora index",
            )
        )
    if indexer.history_percent is not None:
        findings.append(DoctorFinding(level="ok", what=f"reading history, {indexer.history_percent} % done"))
    return findings


async def _memory_file(store: Store, checked: IntegrityReport) -> list[DoctorFinding]:
    """Findings on the database: integrity, free disk space."""
    findings = [_fault(store.path, fault) for fault in checked.faults]
    if not findings:
        findings.append(DoctorFinding(level="ok", what=f"{store.path} is sound (shape {checked.version})"))
    free = (await asyncio.to_thread(shutil.disk_usage, store.path.parent)).free
    if free < LITTLE_SPACE:
        findings.append(
            DoctorFinding(level="warning", what=f"only {free >> 20} MiB free for {store.path}", fix="free some space")
        )
    return findings


def _fault(path: Path, fault: Fault) -> DoctorFinding:
    """Finding of a damaged database, with the repair for it."""
    if fault.mend == "salvage":
        fix = "aurora doctor --repair keeps the file, saves what was learned from it and indexes anew"
        return DoctorFinding(level="error", what=f"{path} is damaged: {fault.what}", fix=fix)
    if fault.mend == "rebuild":
        fix = "aurora doctor --repair makes the index anew and keeps what was learned"
        return DoctorFinding(level="error", what=f"{path}: {fault.count} {fault.what}", fix=fix)
    return DoctorFinding(level="error", what=f"{path}: {fault.what}", fix="upgrade aurora-context, or report this")


def unopened(error: StoreCorrupt) -> DoctorResult:
    """Checkup of a workspace whose memory file cannot be opened."""
    what, _, fix = str(error).rpartition("; ")
    if not isinstance(error, StoreForeign):
        fix = "aurora doctor --repair keeps the file, saves what was learned from it and indexes anew"
    return DoctorResult(findings=[DoctorFinding(level="error", what=what, fix=fix)], skipped={}, examples=[])


async def _lifespans(store: Store) -> list[DoctorFinding]:
    """Archived and flagged chunks; nothing of it is wrong."""
    findings: list[DoctorFinding] = []
    archived = await store.read(lifespans.in_archive)
    if archived:
        fix = "aurora memory restore ID brings one back"
        findings.append(DoctorFinding(level="ok", what=f"{len(archived)} in the archive: {_few(archived)}", fix=fix))
    flagged: dict[str, list[ChunkStatus]] = {}
    for each in await store.read(lifespans.escalated):
        flagged.setdefault(each.what, []).append(each)
    for action, chunks in flagged.items():
        findings.append(DoctorFinding(level="ok", what=f"{len(chunks)} flagged {action}: {_few(chunks)}"))
    return findings


async def _record(record: RecordExchange, store: Store) -> DoctorFinding:
    """The repository's record, and how much of what was learned is not in it yet."""
    waiting = await store.read(record_outbox.count)
    later = f"; {waiting} lines wait for it, and nothing of them is lost" if waiting else ""
    if record.problem is not None:
        told, _, step = record.problem.rpartition("; ")
        what = f"what is learned here stays in this memory: {told or step}{later}"
        if record.passing:
            return DoctorFinding(level="warning", what=what, fix="nothing: it is tried again within half a minute")
        return DoctorFinding(level="error", what=what, fix=step if told else "aurora doctor --repair")
    if record.place is None:
        return DoctorFinding(level="ok", what=f"the repository's record was not opened yet{later}")
    found = await record.checked()
    if found is not None:
        fix = "aurora doctor --repair sets it aside and makes it anew from the memories of this repository"
        return DoctorFinding(level="error", what=f"{record.place.path} is damaged: {found}", fix=fix)
    return DoctorFinding(level="ok", what=f"the repository's record {record.place.path} is sound{later}")


def _older(older: MemoryFile) -> DoctorFinding:
    what = (
        f"memory of {older.root}, the same repository, can be adopted: its folder is gone and nothing is learned here"
    )
    return DoctorFinding(level="warning", what=what, fix="aurora memory adopt")


def _few(chunks: Sequence[ChunkStatus]) -> str:
    named = ", ".join(each.shown for each in chunks[:MAX_NAMED])
    return named if len(chunks) <= MAX_NAMED else f"{named} and {len(chunks) - MAX_NAMED} more"


def _policy(problem: str) -> DoctorFinding:
    fix = "correct it and open the workspace again; until then the policies below it hold"
    return DoctorFinding(level="warning", what=problem, fix=fix)


async def _semantic(embedder: Embedder) -> DoctorFinding:
    """Finding on the embedding model."""
    try:
        return DoctorFinding(level="ok", what=await embedder.state())
    except IndexerError as error:
        fix = "then restart the daemon; until then recall goes by words alone"
        return DoctorFinding(level="warning", what=f"no semantic recall: {error}", fix=fix)
