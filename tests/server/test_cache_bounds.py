"""Caches of a daemon that lives for weeks: each has a bound, and full, all together take a few megabytes."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterator
from functools import _lru_cache_wrapper
from inspect import isclass, signature
from types import ModuleType
from typing import Any

import pytest

from aurora_indexer.parse import parts, references, summary
from aurora_memory import tokens
from aurora_memory.lifespans import condition_parser
from aurora_orchestration.guardrails import redaction
from aurora_orchestration.soar import concepts

PACKAGES = ("memory", "indexer", "orchestration", "deliverables", "protocol", "manifest", "server", "team")
ALL_TOGETHER = 12 << 20
"""Bytes that all bounded caches may take when they are full."""

KINDS_OF = {
    "_validator": "documents of chunks",
    "_stemmed": "tables of the module",
    "_weights": "sizes of blocks",
    "_fields": "lines of exports",
    "compiled": "languages",
    "mistakes": "languages",
    "pattern": "patterns of languages",
    "_field_ids": "grammars",
    "_keywords": "languages",
    "plugged": "names that are built in",
    "members": "actions",
    "request_of": "actions",
    "snapshot_mark": "settings",
    "_compiled": "shapes of secrets",
    "certificates": "whether the environment counts",
    "_schema": "kinds of documents",
    "describe": "types",
    "field_docstrings": "types",
}
"""Caches without a bound that take something: what there are only so many of, whatever a daemon is asked."""


def modules() -> Iterator[ModuleType]:
    """Modules that a daemon may import."""
    for room in PACKAGES:
        package = importlib.import_module(f"aurora_{room}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def caches() -> Iterator[tuple[str, _lru_cache_wrapper[Any]]]:
    """Caches of the modules that a daemon may import, by name."""
    for module in modules():
        for name, value in vars(module).items():
            if isinstance(value, _lru_cache_wrapper) and value.__module__ == module.__name__:
                yield f"{module.__name__}.{name}", value


@pytest.fixture(scope="module", autouse=True)
def imported() -> None:
    """All of them are there, and no collection of garbage below looks through them again."""
    deque(modules(), maxlen=0)
    gc.collect()
    gc.freeze()


WORD = "parse{}HttpResponse"
SENTENCE = "The parser {} must read every header of a response before its body, and never closes the connection itself."
ARGUMENTS: dict[str, Callable[[int], tuple[Any, ...]]] = {
    "aurora_memory.lifespans.condition_parser.parse": lambda number: (f"access_count < {number} and type == 'code'",),
    "aurora_memory.lifespans.predicates.matcher": lambda number: (
        condition_parser.parse.__wrapped__(f"access_count < {number} and type == 'code'"),
    ),
    "aurora_memory.recall.candidates._name_terms": lambda number: (f"src/pack_{number % 40}/deep/module_{number}.py",),
    "aurora_memory.recall.declarations._declaration": lambda number: (f"handler_{number}", "c"),
    "aurora_memory.store.lifespans.understood_rules": lambda number: (((f"access_count < {number}", "archive"),),),
    "aurora_orchestration.soar.contradictions._spelt": lambda number: (SENTENCE.format(number),),
    "aurora_orchestration.soar.self_contradictions._said": lambda number: (SENTENCE.format(number),),
    "aurora_manifest.templates.parse_template": lambda number: (f"/api/things{number}/{{id}}/parts{{?limit,offset}}",),
}
"""What a cache is asked for, where it is not an identifier."""

FEW = 64
"""Settings, processes and the like: of these there are never many."""


def identifier(number: int) -> tuple[str]:
    return (WORD.format(number),)


def filled(name: str, cache: _lru_cache_wrapper[Any]) -> int:
    """Bytes that a cache takes when it is full."""
    most = cache.cache_parameters()["maxsize"]
    assert most is not None
    given = ARGUMENTS.get(name, identifier)
    cache.cache_clear()
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(most):
            cache(*given(number))
        gc.collect()
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert cache.cache_info().currsize == most, name
    cache.cache_clear()
    return taken


@pytest.mark.long
def test_full_caches_take_a_few_megabytes_together() -> None:
    taken = {
        name: filled(name, each)
        for name, each in caches()
        if (each.cache_parameters()["maxsize"] or 0) > FEW or name in ARGUMENTS
    }
    assert len(taken) > 15
    assert sum(taken.values()) < ALL_TOGETHER, sorted(taken.items(), key=lambda each: -each[1])[:8]


def test_what_is_kept_for_ever_is_of_a_few_kinds() -> None:
    unbounded = [(name, each) for name, each in caches() if each.cache_parameters()["maxsize"] is None]
    taking = [name for name, each in unbounded if signature(each).parameters]
    assert [name for name in taking if name.rpartition(".")[2] not in KINDS_OF] == []


def word(number: int) -> str:
    return WORD.format(number)


def _names_in_use(number: int) -> None:
    references._calls.forget_some()
    references._calls[f"self.session.{word(number)}".encode()]


KEYWORDS = summary.Keywords(frozenset())

TABLES: dict[str, tuple[Callable[[int], object], int]] = {
    "_Stems": (lambda number: tokens._stem_of(word(number)), tokens._MAX_STEMS),
    "_SplitWords": (lambda number: parts._terms_of(word(number).encode()), parts.MAX_REMEMBERED),
    "_Read": (_names_in_use, references.MAX_REMEMBERED),
    "_Telling": (lambda number: KEYWORDS._telling(word(number)), summary.MAX_REMEMBERED),
    "_Told": (lambda number: concepts.telling(SENTENCE.format(number)), concepts.MOST_LETTERS // len(SENTENCE)),
    "_known_clean": (lambda number: redaction.redact(SENTENCE.format(number)), redaction.MOST_KNOWN),
}
"""Caches that are tables of a module: how they are filled by a number, and by how many."""

TABLES_TOGETHER = 16 << 20


@pytest.mark.long
def test_tables_that_remember_take_a_few_megabytes_together_however_much_they_meet() -> None:
    taken = {name: remembered(*row) for name, row in TABLES.items()}
    assert sum(taken.values()) < TABLES_TOGETHER, taken


def remembered(fill: Callable[[int], object], most: int) -> int:
    """Bytes that a table takes at its fullest, when twice as much was met as it is to keep."""
    for _, cache in caches():
        cache.cache_clear()
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(2 * most):
            fill(number)
        gc.collect()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_every_table_that_fills_itself_is_among_them() -> None:
    found = {
        name
        for module in modules()
        for name, value in vars(module).items()
        if isclass(value) and value.__module__ == module.__name__ and "__missing__" in vars(value)
    }
    assert found <= set(TABLES)
