"""What stays in mind of specs that were seen: nothing more of one that was archived than what it amounts to."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from aurora_deliverables.deliverables import Deliverables
from aurora_memory.store import Store
from aurora_server.configuration.settings import DetectSettings
from aurora_server.workspace.open_deliverables import OpenDeliverables
from aurora_server.workspace.spec_checks import SpecChecks
from aurora_server.workspace.spec_files import OPENSPEC, Specs
from aurora_server.workspace.spec_observations import SpecObservations
from tests.growth import bytes_kept

TASKS = "# Tasks\n\n" + "".join(f"- [x] 1.{number} Step {number}\n" for number in range(20))


async def _no_branch() -> str | None:
    return None


@pytest.mark.long
async def test_of_a_change_that_was_archived_stays_what_it_amounts_to(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    changes = root / "openspec" / "changes"
    settings = DetectSettings(git=False)
    store = await Store.open(tmp_path / "memory.db")
    deliverables = Deliverables(store, time.time)
    open_ = OpenDeliverables(deliverables)
    specs = Specs(root, settings)
    observations = SpecObservations(
        root, settings, specs, SpecChecks(root, store, specs, open_), open_, _no_branch, time.time
    )
    deliverables.listen(open_.hear)
    await open_.begin(store)

    async def change(number: int) -> None:
        name = f"add-thing-{number}"
        folder = changes / name
        folder.mkdir(parents=True)
        for file in ("proposal.md", "design.md"):
            (folder / file).write_text(f"# {name}\n\n## Why\n\nIt is wanted.\n")
        (folder / "tasks.md").write_text(TASKS)
        await observations.see([(OPENSPEC, name)])
        (changes / "archive").mkdir(exist_ok=True)
        await asyncio.to_thread(folder.rename, changes / "archive" / f"2026-01-01-{name}")
        for ended in await observations.see([(OPENSPEC, name)]):
            await observations.look_at(ended)
        assert name not in open_

    try:
        await change(0)
        kept = await bytes_kept(lambda number: change(number + 1), 10, 30)
        assert kept < 7_000, "its observation, of all its files, is 4 KB more"
    finally:
        await deliverables.close()
        await store.close()
