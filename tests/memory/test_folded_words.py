"""Memory files whose words were not folded: brought to today's shape, with all that was learned."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

import aiosqlite
import msgspec

from aurora_memory.chunks import ChunkPart
from aurora_memory.recall import parse_question, recall
from aurora_memory.store import Store, chunk_reader
from aurora_memory.store.integrity import checked
from aurora_memory.term_counts import Field, packed, together
from tests.memory.chunks import chunk, file

OLD: dict[str, dict[Field, list[str]]] = {
    "CaféMenu": {"name": ["caf", "é", "menu", "cafémenu"], "body": ["caf", "é", "café", "serv"]},
    "verify": {"name": ["verifi"], "body": ["ユーザー認証を行う", "login"]},
    "plain": {"name": ["plain"], "body": ["ascii"]},
}
"""Terms as they were counted before letters folded."""


async def _old_memory(path: Path) -> None:
    store = await Store.open(path)
    chunks = []
    for n, (name, fields) in enumerate(OLD.items()):
        words = together(packed(field, Counter(terms)) for field, terms in fields.items())
        part = ChunkPart(n * 9 + 1, n * 9 + 5, words, 4, len(fields["name"]))
        chunks.append(msgspec.structs.replace(chunk("users.py", name, line=n * 9 + 1), parts=(part,)))
    await store.write([file("users.py", *chunks)])
    (view, *_) = await store.read(chunk_reader.by_name, "users.py", "CaféMenu")
    await store.record_accesses([view.id], "success", 1e9)
    await store.close()
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO git_messages (rowid, terms) VALUES (7, 'caf é café menu')")
        db.execute("INSERT INTO git_messages (rowid, terms) VALUES (8, 'fix menu')")
        for table in (
            "row_sums",
            "unrecorded",
            "unread_entries",
            "heard_changes",
            "others_accesses",
            "others_runs",
            "others_patterns",
            "former_places",
        ):
            db.execute(f"DROP TABLE {table}")
        db.execute("DROP TRIGGER chunks_former_places")
        db.execute("DROP INDEX chunks_gone")
        db.execute("ALTER TABLE chunks DROP COLUMN lead")
        db.execute("PRAGMA user_version = 4")


async def _found(store: Store, query: str) -> list[str]:
    return [hit.chunk.name for hit in await store.read(recall, parse_question(query), 3, 2e9)]


async def test_an_older_memory_finds_folded_letters_and_text_without_spaces(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    await _old_memory(path)
    store = await Store.open(path)
    assert (await _found(store, "cafe"))[:1] == ["CaféMenu"]
    assert (await _found(store, "認証"))[:1] == ["verify"]
    assert (await _found(store, "ascii"))[:1] == ["plain"]
    ids = [view.id for view in await store.read(chunk_reader.of_file, "users.py")]
    assert list((await store.read(chunk_reader.accesses, ids)).values()) == [[1e9]]
    await store.close()
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT rowid FROM git_messages WHERE git_messages MATCH 'cafe'").fetchall() == [(7,)]
        assert db.execute("SELECT terms FROM git_messages WHERE rowid = 8").fetchone() == ("fix menu",)
        assert db.execute("SELECT count(*), count(DISTINCT chunk_id) FROM parts").fetchone() == (3, 3)
        assert db.execute("PRAGMA quick_check").fetchone() == ("ok",)


async def test_what_is_written_anew_is_what_the_index_says(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    await _old_memory(path)
    await (await Store.open(path)).close()
    async with aiosqlite.connect(path) as db:
        assert (await checked(db)).faults == ()
