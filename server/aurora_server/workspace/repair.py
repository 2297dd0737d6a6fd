"""Repair (recovery), `aurora doctor --repair`: what is done to a workspace's memory file, and how it is told."""

from __future__ import annotations

import time
from pathlib import Path

from aurora_indexer.indexer import Indexer
from aurora_memory import StoreCorrupt, StoreError, StoreForeign
from aurora_memory.store import Store
from aurora_memory.store.maintenance import salvage_file
from aurora_memory.store.salvage import Salvaged
from aurora_protocol.methods import DoctorFinding
from aurora_server.configuration.settings import Settings
from aurora_server.workspace.memory_settings import database_path
from aurora_server.workspace.record_exchange import RecordExchange


async def mend(root: Path, store: Store, indexer: Indexer) -> list[DoctorFinding]:
    """Save what is readable of a damaged file, or make the derived tables of a sound one anew; then index everything.

    Recall goes on meanwhile, and finds again what is indexed again.
    """
    async with indexer.between_runs:
        told: list[DoctorFinding] = []
        if store.lost:
            aside = await store.write_back()
            what = f"{store.path} was removed while it was in use and was written back"
            told.append(DoctorFinding(level="ok", what=what + (f"; {aside.name} lay in its place" if aside else "")))
        found = await store.check()
        if found.damaged:
            salvaged = await store.salvage()
            await store.remember("root", str(root))
            told += _salvaged(store.path, salvaged)
        else:
            done = await store.rebuild()
            told += [DoctorFinding(level="ok", what=f"the index of {store.path} was dropped and made anew")]
            if done.recovered:
                told.append(DoctorFinding(level="ok", what=f"{done.recovered} reasoning chunks were found again"))
            if done.dropped:
                told.append(
                    DoctorFinding(
                        level="warning", what=f"{done.dropped} learned rows spoke of nothing and were dropped"
                    )
                )
    await indexer.run(None, edited=False)
    return told


async def mend_unopened(root: Path, settings: Settings) -> list[DoctorFinding]:
    """Do the same where the workspace cannot be opened for what its file is. A sound file is left alone."""
    path = database_path(root, settings)
    try:
        store = await Store.open(path)
        try:
            damaged = (await store.check()).damaged  # what is read right after a file was opened may be what is damaged
        finally:
            await store.close()
    except StoreForeign:
        raise
    except StoreCorrupt:
        damaged = True
    return _salvaged(path, await salvage_file(path, time.time())) if damaged else []


async def mend_record(record: RecordExchange) -> list[DoctorFinding]:
    """Make the repository's record anew where it is damaged, and bring it and this memory together."""
    try:
        renewed = await record.repair()
        if renewed is None:
            await record.settled()
            return []
    except StoreError as error:
        return [DoctorFinding(level="warning", what=f"the repository's record was not mended: {error}")]
    what = (
        f"the repository's record was damaged and is kept as {renewed.aside.name}; {renewed.saved} entries were read "
        "from it, the rest comes from the memories of its work trees and clones, and from a team's hub with 'aurora "
        "team sync --again'"
    )
    return [DoctorFinding(level="ok", what=what)]


def _salvaged(path: Path, done: Salvaged) -> list[DoctorFinding]:
    parts = ", ".join(f"{count} {table}" for table, count in done.saved.items())
    told = [
        DoctorFinding(level="ok", what=f"{path} was damaged and is kept as {done.aside.name}"),
        DoctorFinding(level="ok", what=f"saved from it: {parts or 'nothing was learned in it that can be read'}"),
    ]
    if done.mended:
        told.append(DoctorFinding(level="ok", what=f"{done.mended} rows had one changed bit and were mended"))
    if done.left_out:
        what = f"{done.left_out} learned rows are not what was written and were left out; {done.aside.name} has them"
        told.append(DoctorFinding(level="warning", what=what))
    if done.unreadable:
        told.append(
            DoctorFinding(
                level="warning", what=f"could not be read to the end: {', '.join(done.unreadable)}; the rest is lost"
            )
        )
    return told
