"""Synonyms: who asks how or where in the field's words finds what the code calls otherwise; names and changes are told
in the code's own words.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory.recall import parse_question, recall
from aurora_memory.recall.synonyms import synonyms_of
from aurora_memory.store import FileStat, IndexedFile
from aurora_memory.tokens import stem_word
from tests.memory.stores import new_store

NOW = 1_765_540_800.0
FILE = Path(__file__).parents[2] / "memory/aurora_memory/recall/synonyms.txt"


def suggested(query: str) -> set[str]:
    question = parse_question(query)
    return set(question.weights) - set(question.terms)


def test_synonyms_are_weighed_in_one_order_whatever_order_a_process_gives_its_sets() -> None:
    question = parse_question("where are expired sessions evicted after authentication errors and retries")
    besides = [term for term in question.weights if term in question.synonyms]
    in_order = dict.fromkeys(synonyms_of(question.text.split()))
    assert besides == [term for term in in_order if term in question.synonyms] and len(besides) > 5


@pytest.mark.parametrize(
    ("query", "meant", "not_meant"),
    [
        pytest.param("eviction of old sessions", "purge", "", id="a topic"),
        pytest.param(
            "where are sessions evicted", "purge", "", id="a place that is asked for, in any form of the word"
        ),
        pytest.param("how does leader election work", "primary", "", id="two words that follow each other"),
        pytest.param("how is split brain avoided", "quorum", "", id="two such words of which neither says it"),
        pytest.param("how is the brain of a bus split", "", "quorum", id="not two words apart"),
        pytest.param("fix eviction of old sessions", "", "purge", id="a change says what is to be changed"),
        pytest.param("eviction", "", "purge", id="a word alone may be a name"),
        pytest.param("`eviction`", "", "purge", id="a name"),
    ],
)
def test_what_is_looked_for_besides(query: str, meant: str, not_meant: str) -> None:
    assert {*stem_word(meant)} <= suggested(query)
    assert not {*stem_word(not_meant)} & suggested(query)


def test_what_the_question_says_counts_more() -> None:
    weights = parse_question("how are listeners told").weights
    (listener,), (observer,) = stem_word("listener"), stem_word("observer")
    assert 0 < weights[observer] < weights[listener]
    both = parse_question("how are listeners and observers told").weights
    assert both[observer] == both[listener], "a word that is said is no suggestion"


async def test_code_that_has_another_word_is_found_and_what_has_the_questions_comes_first(tmp_path: Path) -> None:
    """Where nothing at all is here of what is said, a synonym alone is no answer."""
    sources = {
        "shop/sessions.py": "def purge(sessions, most):\n    while len(sessions) > most:\n        sessions.popitem()\n",
        "shop/basket.py": "def total(basket):\n    return sum(basket.prices)\n",
    }
    said = "def evict(prices):\n    prices.popitem()\n"

    async def first(query: str, **more: str) -> list[str]:
        store = await new_store(tmp_path / f"{len(more)}.db")
        try:
            files = {**sources, **{f"shop/{name}.py": text for name, text in more.items()}}
            await store.write(
                [IndexedFile(FileStat(len(text), 1), parse_file(path, text.encode())) for path, text in files.items()]
            )
            question = parse_question(query)
            return [hit.chunk.name for hit in await store.read(recall, question, 10, NOW, by_meaning=False)]
        finally:
            await store.close()

    assert (await first("where are the sessions evicted"))[0] == "purge"
    assert (await first("where are the sessions evicted", prices=said))[:2] == ["purge", "evict"]
    assert (await first("where are old prices evicted", prices=said))[0] == "evict"
    assert await first("how does eviction of visitors work") == []


def test_each_line_of_the_file_says_something_new_of_one_or_two_words() -> None:
    lines = [line for line in FILE.read_text("utf-8").splitlines() if not line.startswith("#")]
    assert lines == sorted(lines)
    said = [" ".join(stem_word(word)[-1] for word in line.partition(": ")[0].split()) for line in lines]
    assert len(set(said)) == len(said), "no words twice, in whatever form"
    for line in lines:
        words, _, meant = line.partition(": ")
        assert 1 <= len(words.split()) <= 2, line
        stems = [stem_word(word)[-1] for word in meant.split()]
        assert stems and len(set(stems)) == len(stems), line
        own = {stem_word(word)[-1] for word in words.split()}
        assert len(words.split()) == 2 or own.isdisjoint(stems), line
        assert set(synonyms_of(words.split())) >= {term for word in meant.split() for term in stem_word(word)}, line
