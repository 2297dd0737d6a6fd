"""What is found beside the words of a question, what goes under an answer, and when word vectors are asked."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_memory.recall import Focus, parse_question, recall, weigh
from aurora_memory.recall.search import Findings
from aurora_memory.store import Store, chunk_reader
from aurora_memory.store.commit_writer import ChangingCommit
from tests.memory.chunks import chunk, file
from tests.memory.stores import new_store
from tests.memory.test_ranking_choices import NOW, Chunk, remember


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    made = await new_store(tmp_path / "memory.db")
    yield made
    await made.close()


async def test_what_a_commit_changed_that_did_as_much_is_found_though_it_has_none_of_the_words(store: Store) -> None:
    ids = await remember(store, [Chunk("a.py", "post_amount", "euros"), Chunk("b.py", "charge_card", "amount")])
    said = ["Charge the card twice", *(f"Paint wall number {n}" for n in range(9))]
    changed = [(ids["a.py:post_amount"],), *[()] * 9]
    commits = [ChangingCommit(f"{n:040x}", n, said[n], said[n], 1, False, changed[n]) for n in range(10)]
    await store.history.save(commits, {ids["a.py:post_amount"]: "post_amount"})
    question = parse_question("charge the card")
    found = await store.read(lambda reader: recall(reader, question, 5, NOW, by_meaning=False))
    assert [hit.chunk.name for hit in found] == ["charge_card", "post_amount"]


@pytest.mark.parametrize(
    ("question", "at_cursor", "wanted", "asked"),
    [
        pytest.param("cookies of sessions", False, True, True, id="a topic"),
        pytest.param("cookies of sessions", True, True, True, id="an editor's cursor takes nothing away"),
        pytest.param("cookies of sessions", False, False, False, id="nor where a model does"),
        pytest.param("Session.login", False, True, False, id="nor for a name"),
    ],
)
async def test_word_vectors_are_asked_for_what_they_count_for(
    store: Store, monkeypatch: pytest.MonkeyPatch, question: str, at_cursor: bool, wanted: bool, asked: bool
) -> None:
    told: list[bool] = []

    def heard(*_: object, by_meaning: bool) -> Findings:
        told.append(by_meaning)
        return Findings()

    monkeypatch.setattr(sys.modules[recall.__module__], "search", heard)
    focus = Focus({1: 1.0}) if at_cursor else None
    await store.read(lambda reader: recall(reader, parse_question(question), 5, NOW, focus, by_meaning=wanted))
    assert told == [asked]


@pytest.mark.parametrize(("behind", "is_told"), [(1, True), (20, False)])
async def test_a_near_duplicate_a_little_below_what_is_asked_for_goes_under_it(
    store: Store, behind: int, is_told: bool
) -> None:
    said = "draft order lines prices taxes discounts coupons notes totals weights names places euros"
    first = Chunk("a.py", "add_draft_order_lines", said, doc=said)
    more = [Chunk(f"m{n}.py", f"draft_order_{'abcdefghijklmnopqrstuvw'[n]}", "lines") for n in range(behind)]
    await remember(store, [first, *more, Chunk("z.py", "copy", said, doc=said)])
    (hit,) = await store.read(recall, parse_question("add draft order lines"), 1, NOW)
    assert hit.chunk.name == first.name
    assert [each.name for each in hit.similar] == (["copy"] if is_told else [])


async def test_a_use_that_a_wrong_clock_dated_ahead_is_none(store: Store) -> None:
    await store.write([file("used.py", chunk("used.py", "parse_invoice", "read the lines of an invoice"))])
    (invoice,) = await store.read(chunk_reader.of_file, "used.py")
    await store.record_accesses([invoice.id], "opened", NOW - 5.0)
    await store.record_accesses([invoice.id], "opened", NOW + 1e8)
    (hit,) = await store.read(weigh, [invoice], NOW)
    assert (hit.history, hit.last_used) == ((NOW - 5.0,), NOW - 5.0)
