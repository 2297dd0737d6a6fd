"""Caches of a daemon that lives for weeks: each has a bound, and full, all together take a few megabytes."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import tracemalloc
from collections.abc import Callable, Iterator
from functools import _lru_cache_wrapper
from inspect import signature
from typing import Any

from aurora_memory.lifespans import condition_parser

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
    "_field_ids": "grammars",
    "_keywords": "languages",
    "plugged": "names that are built in",
    "members": "actions",
    "request_of": "actions",
    "snapshot_mark": "settings",
    "_compiled": "shapes of secrets",
    "_schema": "kinds of documents",
    "describe": "types",
    "field_docstrings": "types",
}
"""Caches without a bound that take something: what there are only so many of, whatever a daemon is asked."""


def caches() -> Iterator[tuple[str, _lru_cache_wrapper[Any]]]:
    """Caches of the modules that a daemon may import, by name."""
    for room in PACKAGES:
        package = importlib.import_module(f"aurora_{room}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name.endswith("__main__"):
                continue
            module = importlib.import_module(found.name)
            for name, value in vars(module).items():
                if isinstance(value, _lru_cache_wrapper) and value.__module__ == found.name:
                    yield f"{found.name}.{name}", value


WORD = "parse{}HttpResponse"
SENTENCE = "The parser {} must read every header of a response before its body, and never closes the connection itself."
ARGUMENTS: dict[str, Callable[[int], tuple[Any, ...]]] = {
    "aurora_memory.lifespans.condition_parser.parse": lambda number: (f"access_count < {number} and type == 'code'",),
    "aurora_memory.lifespans.predicates.matcher": lambda number: (
        condition_parser.parse.__wrapped__(f"access_count < {number} and type == 'code'"),
    ),
    "aurora_memory.recall.candidates._name_terms": lambda number: (f"src/pack_{number % 40}/deep/module_{number}.py",),
    "aurora_memory.recall.declarations._declaration": lambda number: (f"handler_{number}", "c"),
    "aurora_memory.recall.signals._last_names": lambda number: ((f"Site.load_{number}", f"Page.show_{number}"),),
    "aurora_memory.store.lifespans._rules": lambda number: (((f"access_count < {number}", "archive"),),),
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
