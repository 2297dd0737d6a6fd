"""Outbox of a memory file: each learned row's line is in it with the row, once, and none that came from the record."""

from __future__ import annotations

import gzip
import math
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import aiosqlite
import pytest

from aurora_memory import StoreError
from aurora_memory.activation import Weighing, decay_penalty
from aurora_memory.recall import parse_question, recall, signals, with_uses_of_others
from aurora_memory.recall.access_history import levels_of, with_others
from aurora_memory.record.line_key import KINDS
from aurora_memory.store import (
    LoggedEvent,
    Store,
    chunk_reader,
    learned_reader,
    others_rows,
    record_outbox,
    record_position,
)
from aurora_memory.store.export_format import AccessLine, BoostLine, ChunkKey, ExportLine, write_line
from aurora_memory.store.index_copy import copy_index
from aurora_memory.store.record_position import RecordPosition
from aurora_memory.store.tables import TABLES
from tests.memory.runs import DAY, NOON, run
from tests.memory.stores import new_store
from tests.memory.test_export import FILES, learned, taught

SAMPLES = Path(__file__).parent / "samples"
RECORDED = {table.carried.tag for table in TABLES if table.carried and table.carried.told_by is not None}
HERE = RecordPosition("r" * 32, tuple(sorted(KINDS)), 1)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await new_store(tmp_path / "memory.db")
    await store.write(FILES, first_time=True)
    yield store
    await store.close()


async def waiting(store: Store) -> list[ExportLine]:
    lines, problems = record_outbox.lines_of(await store.read(record_outbox.waiting, 0, 10_000))
    assert problems == []
    return [each.line for each in lines]


async def test_every_learned_table_fills_the_outbox_and_its_lines_make_the_same_memory(
    store: Store, tmp_path: Path
) -> None:
    told: list[int] = []
    store.on_learned(lambda: told.append(1))
    await taught(store)
    lines = await waiting(store)
    assert {str(each.__struct_config__.tag) for each in lines} == RECORDED == KINDS, (
        "a learned table says in `tables.TABLES` what tells its rows (`told_by`), and `taught` teaches it"
    )
    assert told
    await store.export_learned(tmp_path / "out.jsonl", "shop", NOON)
    exported = set((tmp_path / "out.jsonl").read_bytes().splitlines(keepends=True)[1:])
    logs = {each for each in exported if b'"type":"log"' in each}
    assert exported - logs <= {write_line(each) for each in lines}
    there = await new_store(tmp_path / "there.db")
    await there.write(FILES, first_time=True)
    await there.take_in_record(list(enumerate(lines, 1)), HERE, NOON)
    assert learned(there.path) | {"log_index": []} == learned(store.path) | {"log_index": []}
    assert await waiting(there) == [], "what came from the record is not recorded again"
    assert await there.read(record_position.position) == HERE
    await there.learn(run(9))
    assert await waiting(there) != []
    await there.close()


async def test_what_is_not_committed_is_not_in_the_outbox_and_nobody_hears_of_it(store: Store) -> None:
    told: list[int] = []
    store.on_learned(lambda: told.append(1))
    with pytest.raises(StoreError):
        async with store._transaction() as db:
            await db.execute("INSERT INTO accesses (chunk_id, at, kind) VALUES (1, 1.0, 'x')")
            raise sqlite3.OperationalError("killed")
    assert (await waiting(store), told) == ([], [])
    await store.write(FILES)
    assert (await waiting(store), told) == ([], [])


async def test_a_taking_in_that_fails_does_not_silence_what_is_learned_next(store: Store) -> None:
    nowhere = ChunkKey("", "login", "reasoning", "no hash")
    with pytest.raises(ValueError, match="hexadecimal"):
        await store.take_in_record([(1, AccessLine(nowhere, NOON, "success"))], HERE)
    await store.record_accesses([1], "success", NOON)
    assert len(await waiting(store)) == 1


async def test_a_move_of_history_is_nothing_new_and_times_are_exact(store: Store) -> None:
    at = NOON + 0.123456789
    await store.record_accesses([1], "success", at)
    async with store._transaction() as db:
        await db.execute("UPDATE accesses SET chunk_id = 2")
    (line,) = await waiting(store)
    assert isinstance(line, AccessLine) and line.at == at


async def test_a_memory_of_before_is_taken_over_whole_with_a_backup_beside(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    path.write_bytes(gzip.decompress((SAMPLES / "memory-6.db.gz").read_bytes()))
    before = learned(path)
    store = await Store.open(path)
    await store.begin_record(HERE)
    lines = await waiting(store)
    assert {str(each.__struct_config__.tag) for each in lines} == KINDS
    assert learned(path) == before == learned(tmp_path / "old.db.v6.bak")
    there = await new_store(tmp_path / "there.db")
    await there.write(FILES, first_time=True)
    await there.take_in_record(list(enumerate(lines, 1)), HERE, NOON)
    assert learned(there.path) | {"log_index": []} == before | {"log_index": []}
    assert (await store.check()).faults == ()
    await there.close()
    await store.close()


async def test_a_damaged_file_keeps_its_outbox_and_reads_the_record_anew(store: Store) -> None:
    await taught(store)
    lines = await waiting(store)
    await store.keep_record_position(HERE)
    await store.salvage(NOON)
    assert await waiting(store) == lines
    assert await store.read(record_position.position) is None
    await store.keep_record_position(HERE)
    await store.rebuild()
    assert await store.read(record_position.position) is None


async def test_a_copy_for_another_work_tree_leaves_the_outbox_to_the_first(store: Store, tmp_path: Path) -> None:
    await taught(store)
    await store.keep_record_position(HERE)
    copy = tmp_path / "copy.db"
    assert copy_index(store.path, copy, tmp_path)
    with closing(sqlite3.connect(copy)) as db:
        assert db.execute("SELECT count(*) FROM unrecorded").fetchone() == (0,)
    there = await Store.open(copy)
    assert await there.read(record_position.position) == HERE
    assert (await there.check()).faults == ()
    await there.close()


async def test_what_a_colleague_told_counts_by_its_weight_and_what_was_known_stays_ones_own(tmp_path: Path) -> None:
    now = NOON + 400 * DAY
    levels: dict[str, float] = {}
    boosts: dict[str, float] = {}
    key = ChunkKey("src/cache.py", "evict", "function", "")
    told = [AccessLine(key, NOON, "success"), BoostLine(key, "r1", NOON, 0.4)]
    for name, authors in (("own", {}), ("others", {1: "bob", 2: "bob"})):
        store = await new_store(tmp_path / f"{name}.db", Weighing(others_weight=0.25))
        await store.write(FILES, first_time=True)
        await store.take_in_record(list(enumerate(told, 1)), HERE, NOON, authors)
        (evict,) = await store.read(chunk_reader.by_name, "src/cache.py", "evict")
        (times,) = (await store.read(chunk_reader.weighed_accesses, [evict.id], now)).values()
        (levels[name],) = levels_of([tuple(times)], now)
        (boosts[name],) = (await store.read(learned_reader.boosts, [evict.id])).values()
        assert await store.read(chunk_reader.accesses, [evict.id]) == {evict.id: [NOON]}
        await store.take_in_record(list(enumerate(told, 1)), HERE, NOON, {1: "eve", 2: "eve"})
        assert await store.read(chunk_reader.weighed_accesses, [evict.id], now) == {evict.id: times}
        await store.salvage(NOON)
        assert await store.read(chunk_reader.weighed_accesses, [evict.id], now) == {evict.id: times}
        assert (await store.check()).faults == ()
        await store.close()
    assert math.exp(levels["others"]) == pytest.approx(0.25 * math.exp(levels["own"]))
    assert boosts == {"own": 0.4, "others": pytest.approx(0.1)}


async def test_a_colleagues_use_counts_less_and_not_as_if_it_were_old_as_well(store: Store) -> None:
    now = NOON + 10 * DAY
    told = AccessLine(ChunkKey("src/cache.py", "evict", "function", ""), NOON, "success")
    await store.take_in_record([(1, told)], HERE, NOON, {1: "bob"})
    (hit,) = [each for each in await store.read(recall, parse_question("evict"), 5, now) if each.chunk.name == "evict"]
    assert hit.activation.decay == pytest.approx(decay_penalty(10.0)), "it was used ten days ago, whoever did"
    assert hit.signals[signals.changes] == pytest.approx(math.log1p(1))


async def test_what_one_used_after_a_colleague_was_used_last_by_oneself(store: Store) -> None:
    now = NOON + 10 * DAY
    told = AccessLine(ChunkKey("src/cache.py", "evict", "function", ""), NOON, "success")
    await store.take_in_record([(1, told)], HERE, NOON, {1: "bob"})
    (evict,) = await store.read(chunk_reader.by_name, "src/cache.py", "evict")
    await store.record_accesses([evict.id], "success", NOON + 9 * DAY)
    (hit,) = [each for each in await store.read(recall, parse_question("evict"), 5, now) if each.chunk.id == evict.id]
    assert (hit.last_used, hit.activation.decay) == (NOON + 9 * DAY, pytest.approx(decay_penalty(1.0)))
    assert hit.signals[signals.changes] == pytest.approx(math.log1p(2)), "a use of each"


async def test_what_is_forgotten_is_taken_out_in_pieces_that_hold_nobody_up(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    (evict,) = await store.read(chunk_reader.by_name, "src/cache.py", "evict")
    for start in range(5):
        await store.record_accesses([evict.id] * 700, "success", NOON + start)
    pieces: list[int] = []
    given = aiosqlite.Connection.executemany

    def counted(self: aiosqlite.Connection, sql: str, rows: Sequence[Any]) -> Any:
        if "accesses" in sql:
            pieces.append(len(rows))
        return given(self, sql, rows)

    monkeypatch.setattr(aiosqlite.Connection, "executemany", counted)
    assert await store.forget_rows(lambda lines: [True] * len(lines), HERE) >= 3500
    assert await store.read(chunk_reader.accesses, [evict.id]) == {}
    assert max(pieces) <= 1000


async def test_colleagues_uses_that_are_summed_up_come_to_what_each_of_them_does(tmp_path: Path) -> None:
    now = NOON + 400 * DAY
    key = ChunkKey("src/cache.py", "evict", "function", "")
    store = await new_store(tmp_path / "memory.db", Weighing(others_weight=0.25, decay_rate=0.4))
    await store.write(FILES, first_time=True)
    told = [AccessLine(key, NOON + 0.5 * day * DAY, "success") for day in range(900)]
    authors = dict.fromkeys(range(7, 901, 7), "bob")
    await store.take_in_record(list(enumerate(told, 1)), HERE, NOON, authors)
    (evict,) = await store.read(chunk_reader.by_name, "src/cache.py", "evict")
    own, others = await store.read(chunk_reader.summed_accesses, [evict.id], now)
    parts = await store.read(chunk_reader.parted_accesses, [evict.id], now)
    assert (own, len(own[evict.id])) == (parts[0], 900 - 900 // 7)
    uses = others[evict.id]
    assert (uses.count, uses.last) == (len(parts[1][evict.id]), NOON + 447.5 * DAY)
    history = tuple(own[evict.id])
    (level,) = with_others(levels_of([history], now, 0.4), [history], [uses], 0.25)
    (each,) = levels_of([tuple(sorted((*history, *parts[1][evict.id])))], now, 0.4)
    assert level == pytest.approx(each, abs=1e-9)
    await store.close()


async def test_colleagues_uses_are_looked_up_one_by_one_only_where_someone_asks_why(store: Store) -> None:
    """Ranking takes their sums: each list that an answer gathers costs every question of who joined a team."""
    now = NOON + 10 * DAY
    told = [AccessLine(ChunkKey("src/cache.py", "evict", "function", ""), NOON + n, "success") for n in range(3)]
    await store.take_in_record(list(enumerate(told, 1)), HERE, NOON, {1: "bob", 2: "bob"})
    (hit,) = [each for each in await store.read(recall, parse_question("evict"), 5, now) if each.chunk.name == "evict"]
    assert hit.history == (NOON + 2,)
    (whole,) = await store.read(with_uses_of_others, [hit], now)
    (times,) = (await store.read(chunk_reader.weighed_accesses, [hit.chunk.id], now)).values()
    assert whole.history == tuple(times) and len(times) == 3
    assert await store.read(with_uses_of_others, [whole][:0], now) == []


async def test_uses_that_were_read_are_read_again_when_more_come_and_when_some_go(tmp_path: Path) -> None:
    now = NOON + 400 * DAY
    store = await new_store(tmp_path / "memory.db")
    await store.write(FILES, first_time=True)
    (evict,) = await store.read(chunk_reader.by_name, "src/cache.py", "evict")
    key = ChunkKey("src/cache.py", "evict", "function", "")

    async def known() -> tuple[int, int]:
        own, others = await store.read(chunk_reader.summed_accesses, [evict.id], now)
        return len(own.get(evict.id, ())), others[evict.id].count if evict.id in others else 0

    await store.take_in_record([(1, AccessLine(key, NOON, "success"))], HERE, NOON, {1: "bob"})
    assert await known() == (0, 1)
    await store.record_accesses([evict.id], "success", NOON + DAY)
    assert await known() == (1, 1)
    await store.take_in_record([(1, AccessLine(key, NOON + 2 * DAY, "success"))], HERE, NOON, {1: "eve"})
    assert await known() == (1, 2)
    parts = (await store.read(others_rows.parts, [evict.id]))[evict.id]
    assert [(each.author, each.uses, each.last) for each in parts] == [("eve", 1, NOON + 2 * DAY), ("bob", 1, NOON)]
    async with store._transaction() as db:
        await db.execute("DELETE FROM accesses WHERE at = ?", (NOON,))
    assert await known() == (1, 1)
    await store.close()


async def test_an_old_event_that_is_told_now_is_learned_now(store: Store) -> None:
    """What was forgotten in between is not it: told again afterwards, it stays."""
    await store.log_deliverable_events([LoggedEvent("e1", "change-1", NOON - 900 * DAY, NOON, "cli", "{}")])
    rows = await store.read(record_outbox.waiting, 0, 9)
    assert [each.at for each in record_outbox.lines_of(rows)[0]] == [NOON]
