"""Phrasal verbs: what people say with two words, code says with one, and a name that is spelled so comes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory.recall import parse_question, recall
from aurora_memory.recall.phrasal_verbs import meanings, phrases_in, taken_apart
from aurora_memory.store import FileStat, IndexedFile, Store
from aurora_memory.tokens import stem_word
from tests.memory.stores import new_store

NOW = 1_765_540_800.0

SOURCES = {
    "shop/users.py": (
        'def authenticate(name, secret):\n    """Whether a user may come in: the secret matches the stored hash."""\n'
        "    return compare(hash_of(secret), stored(name))\n\n\n"
        "def invalidate_session(token):\n    del SESSIONS[token]\n\n\n"
        "def register(name, secret):\n    STORED[name] = hash_of(secret)\n"
    ),
    "shop/signatures.py": (
        "def sign(document, key):\n    return key.sign(document)\n\n\n"
        "def verify_sign(document):\n    return document.sign\n"
    ),
    "shop/logs.py": "def log(line):\n    OUT.write(line)\n\n\ndef log_file(path):\n    return open(path)\n",
    "shop/engine.py": (
        "class Engine:\n    def initialize(self, options):\n        self.options = options\n\n"
        "    def destroy(self):\n        self.options = None\n\n"
        "    def set_options(self, options):\n        self.options.update(options)\n\n"
        "    def up(self, step):\n        self.level += step\n\n"
        "    def down(self, step):\n        self.level -= step\n\n"
        "    def terminate(self):\n        self.running = False\n\n"
        "    def disable(self):\n        self.enabled = False\n\n"
        "    def turn(self, degrees):\n        self.angle += degrees\n"
    ),
    "shop/basket.ts": (
        "export function revert(basket: Basket): Basket {\n  return basket.before\n}\n\n"
        "export function roll(dice: number): number {\n  return dice\n}\n\n"
        "export function discard(basket: Basket): void {\n  basket.items = []\n}\n\n"
        "export function thrown(error: Error): void {\n  throw error\n}\n"
    ),
}


async def filled(path: Path, sources: dict[str, str]) -> Store:
    store = await new_store(path / "memory.db")
    await store.write(
        [IndexedFile(FileStat(len(text), 1), parse_file(name, text.encode())) for name, text in sources.items()]
    )
    return store


async def names(store: Store, query: str, *, by_meaning: bool = True) -> list[str]:
    hits = await store.read(recall, parse_question(query), 10, NOW, by_meaning=by_meaning)
    return [hit.chunk.name for hit in hits if hit.chunk.kind in {"function", "method"}]


PAIRS = [
    ("sign in", "authenticate"),
    ("Log in", "authenticate"),
    ("log out", "invalidate_session"),
    ("sign up", "register"),
    ("set up", "Engine.initialize"),
    ("tear down", "Engine.destroy"),
    ("shut down", "Engine.terminate"),
    ("turn off", "Engine.disable"),
    ("roll back", "revert"),
    ("throw away", "discard"),
]


@pytest.mark.parametrize(("query", "wanted"), PAIRS, ids=[query for query, _ in PAIRS])
async def test_two_plain_words_find_what_code_calls_it(tmp_path: Path, query: str, wanted: str) -> None:
    store = await filled(tmp_path, SOURCES)
    try:
        assert (await names(store, query))[0] == wanted
        assert (await names(store, query, by_meaning=False))[0] == wanted
    finally:
        await store.close()


@pytest.mark.parametrize("spelled", ["sign_in", "signIn", "SignIn", "signin"])
async def test_a_name_that_is_spelled_so_comes_first(tmp_path: Path, spelled: str) -> None:
    store = await filled(tmp_path, SOURCES | {"shop/door.py": f"def {spelled}(visitor):\n    greet(visitor)\n"})
    try:
        found = await names(store, "sign in")
        assert found[0] == spelled
        assert "authenticate" in found
        assert (await names(store, spelled))[0] == spelled
    finally:
        await store.close()


async def test_a_phrase_in_a_question_and_one_that_is_spelled_as_one_word_mean_it_too(tmp_path: Path) -> None:
    store = await filled(tmp_path, SOURCES)
    try:
        assert "authenticate" in await names(store, "how do visitors sign in", by_meaning=False)
        assert (await names(store, "logout", by_meaning=False))[0] == "invalidate_session"
        assert (await names(store, "sign"))[0] == "sign", "one word is a name"
    finally:
        await store.close()


def test_two_words_that_are_none_stay_what_they_were() -> None:
    assert parse_question("sign document").kind == "topic"
    assert parse_question("log").by_name
    assert parse_question("sign_in").by_name
    assert parse_question("sign in").kind == "task"


def test_every_phrase_is_told_once_and_means_something_else() -> None:
    for phrase in phrases_in("please sign in then tear down".split()):
        as_one, *others = meanings(*phrase)
        assert as_one == "".join(phrase)
        assert others and as_one not in others
        assert taken_apart(as_one) == phrase


def test_what_the_question_says_itself_counts_no_less_because_a_verb_may_mean_it() -> None:
    said, meant = parse_question("authenticate those who sign in").weights, parse_question("those who sign in").weights
    (term,) = set(stem_word("authenticate"))
    assert (said[term], meant[term] < 1.0) == (1.0, True)
