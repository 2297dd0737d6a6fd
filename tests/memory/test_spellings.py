"""Words that British and American English spell differently find each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from aurora_memory.recall import parse_question, recall
from aurora_memory.recall.spellings import other_spelling
from tests.memory.chunks import chunk, file
from tests.memory.stores import new_store


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("synchronised", "synchronized"),
        ("normalisation", "normalization"),
        ("serialiser", "serializer"),
        ("initialising", "initializing"),
        ("analyse", "analyze"),
        ("behaviour", "behavior"),
        ("colours", "colors"),
    ],
)
def test_a_word_has_one_spelling_on_each_side(british: str, american: str) -> None:
    assert other_spelling(british) == american
    assert other_spelling(american) == british


@pytest.mark.parametrize("word", ["size", "rise", "hour", "four", "for", "error_code", "isolation", "list", "wisely"])
def test_most_words_are_spelled_alike(word: str) -> None:
    assert other_spelling(word) is None


@pytest.mark.parametrize(
    ("asked", "called"),
    [("how are records synchronised", "synchronize_records"), ("how are records synchronized", "synchronise_records")],
)
async def test_code_is_found_in_either_spelling(tmp_path: Path, asked: str, called: str) -> None:
    store = await new_store(tmp_path / "memory.db")
    try:
        names = ["count_records", "print_records", "sort_records", called]
        await store.write([file(f"shop/{n}.py", chunk(f"shop/{n}.py", name)) for n, name in enumerate(names)])
        hits = await store.read(recall, parse_question(asked), 3, 1_800_000_000.0)
    finally:
        await store.close()
    assert hits[0].chunk.name == called
