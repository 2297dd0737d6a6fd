"""Readers of foreign bytes: what once failed, and a few new tries by Hypothesis each time."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.shares import examples, long
from tests.torture.inputs import CORPORA, Input, inputs, mutated

KEPT = sorted(path for path in CORPORA.rglob("*") if path.is_file() and path.name != "README.md")
QUICK = ("frames", "manifests", "ignore_rules", "git_log", "transcripts", "hooks")


@pytest.fixture(scope="module")
def readers() -> dict[str, Input]:
    return inputs(exported=lambda: b"")  # of exports no sample is changed here


# To read a source as each of twenty languages, their queries are compiled. `test_hostile_source.py` has them at hand,
# and reads what is no UTF-8 as each, and what is nested deeper.
@pytest.mark.parametrize(
    "path",
    [long(path) if path.parent.name == "chunkers" else path for path in KEPT],
    ids=lambda path: f"{path.parent.name}-{path.name}",
)
def test_what_once_failed_is_read(readers: dict[str, Input], path: Path) -> None:
    readers[path.parent.name].read(path.read_bytes())


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", QUICK)
def test_samples_with_anything_changed_are_read(readers: dict[str, Input], name: str) -> None:
    reader = readers[name]

    @settings(max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
    @given(st.randoms(use_true_random=False), st.sampled_from(reader.samples))
    def changed(chance: random.Random, sample: bytes) -> None:
        reader.read(mutated(chance, sample))

    changed()


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", QUICK)
def test_any_bytes_are_read(readers: dict[str, Input], name: str) -> None:
    reader = readers[name]

    @settings(max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
    @given(st.binary(max_size=300))
    @example(b"")
    def anything(raw: bytes) -> None:
        reader.read(raw)

    anything()
