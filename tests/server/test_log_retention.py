"""The daemon keeps conversation logs in order, and memory forgets those that are deleted."""

from __future__ import annotations

import asyncio
import gzip
import os
import random
import time
from collections.abc import Sequence
from pathlib import Path

from aurora_memory.store import Store, conversation_log_index
from aurora_orchestration.conversations.log_reader import gone
from aurora_orchestration.conversations.log_secrets import CleanedLogs, clean_logs
from aurora_orchestration.settings import ConversationSettings
from aurora_server.workspace.maintenance import LogRetention
from tests.orchestration.runs import run
from tests.orchestration.written_log import write_log
from tests.protocol.test_secrets import ALL
from tests.wait_limits import HANG

DAY = 86_400


async def test_what_is_due_is_done_at_the_start_and_memory_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    settings = ConversationSettings(path=str(folder))
    store = await Store.open(tmp_path / "memory.db")
    kept = []
    for days in (200, 20, 1):
        at = time.time() - days * DAY
        path = write_log(run(started_at=at, ended_at=at + 5), folder, settings)
        os.utime(path, (at, at))
        kept.append(path.relative_to(folder).as_posix())
        await store.index_log(kept[-1], path.read_text(), "aurora-1")
    told = asyncio.Event()

    async def forget(files: Sequence[str]) -> None:
        await store.forget_logs(files)
        told.set()

    upkeep = LogRetention(lambda: settings, forget, tmp_path)
    keeping = asyncio.create_task(upkeep.go_on())
    try:
        await asyncio.wait_for(told.wait(), HANG)
        assert await store.read(conversation_log_index.logs) == sorted(kept[1:])
        assert gone(folder, kept) == kept[:1], "the compressed one is still there"
        assert (folder / f"{kept[1]}.gz").exists() and (folder / kept[2]).exists()
        again = await upkeep.once()
        assert (again.deleted, again.compressed) == ((), ())
    finally:
        keeping.cancel()
        await asyncio.wait({keeping})
        await store.close()


async def test_secrets_of_older_rules_leave_logs_and_files_set_aside_once(tmp_path: Path) -> None:
    folder, memory = tmp_path / "logs", tmp_path / "memory"
    settings = ConversationSettings(path=str(folder))
    secret = next(sample for _, sample in ALL if sample.startswith("ghp_"))
    place = folder / "2026" / "01"
    place.mkdir(parents=True)
    said = f'## Query: x | ID: a\n\n> use {secret} now\n\n```json\n{{"key": "{secret}"}}\n```\n'
    plain, packed, sound = (place / f"{name}-2026-01-02.md" for name in ("one", "two", "three"))
    plain.write_text(said)
    Path(f"{packed}.gz").write_bytes(gzip.compress(said.encode()))
    sound.write_text("## Query: y | ID: b\n\nwords\n")
    for path in place.iterdir():
        os.utime(path, (1.7e9, 1.7e9))
    memory.mkdir(mode=0o700)
    aside = memory / "w.db.damaged-20260101T000000Z"
    chance = random.Random(19)
    raw = chance.randbytes(1 << 20) + b"\0\x17" + f"query {secret} end".encode() + chance.randbytes(5000)
    aside.write_bytes(raw)
    live = memory / "w.db"
    live.write_bytes(raw)

    async def forget(files: Sequence[str]) -> None:
        raise AssertionError("no log is gone")

    upkeep = LogRetention(lambda: settings, forget, memory)
    done = await upkeep.clean()
    assert (set(done.cleaned), done.complete) == ({"2026/01/one-2026-01-02.md", "2026/01/two-2026-01-02.md"}, True)
    for text in (plain.read_text(), gzip.decompress(Path(f"{packed}.gz").read_bytes()).decode()):
        assert text == said.replace(secret, "[REDACTED]")
    assert {path.stat().st_mtime for path in place.iterdir()} == {1.7e9}, "retention counts from there"
    assert plain.stat().st_mode & 0o777 == 0o600
    assert aside.read_bytes() == raw.replace(secret.encode(), b" " * len(secret))
    assert live.read_bytes() == raw, "a memory that is used is cleaned row by row"
    plain.write_text(said)
    aside.write_bytes(raw)
    assert (await upkeep.clean()).cleaned == () and aside.read_bytes() == raw, "once for each number of the rules"


async def test_a_log_that_is_written_to_is_left_for_the_next_time(tmp_path: Path) -> None:
    folder = tmp_path / "2026" / "01"
    folder.mkdir(parents=True)
    secret = next(sample for _, sample in ALL if sample.startswith("ghp_"))
    path = folder / "one-2026-01-02.md"
    path.write_text(f"## Query: x | ID: a\n\n> {secret}\n")
    now = path.stat().st_mtime
    assert clean_logs(tmp_path, now + 60) == CleanedLogs(complete=False)
    assert secret in path.read_text()
    assert clean_logs(tmp_path, now + 7200).cleaned == ("2026/01/one-2026-01-02.md",)
    assert secret not in path.read_text()
