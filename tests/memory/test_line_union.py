"""Union of what was learned in several memories: any order, repetition and split of lines makes the same memory."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aurora_memory.learning import fingerprint, lesson_of
from aurora_memory.record.entry import EntryDraft
from aurora_memory.record.line_key import line_of
from aurora_memory.record.places import in_repository, in_workspace
from aurora_memory.record.record_file import Record
from aurora_memory.store import Store
from aurora_memory.store.export_format import (
    AccessLine,
    ArchivedLine,
    BoostLine,
    ChunkKey,
    DeliverableLine,
    DifficultLine,
    EscalatedLine,
    ExportLine,
    ReasoningLine,
    RunLine,
    UseLine,
    write_line,
)
from tests.memory.runs import NOON, STEPS, run
from tests.memory.stores import new_store
from tests.memory.test_export import learned
from tests.shares import examples

_CODE = [ChunkKey("a.py", name, "function", "00" * 8) for name in ("f", "g")]


def _pattern(steps: int, score: float, at: float, text: str) -> ReasoningLine:
    lesson = lesson_of(run(1, score, at=NOON + at, subgoals=STEPS[:steps], query=f"Implement {text} authentication"))
    assert lesson.document is not None
    return ReasoningLine(NOON + at, msgspec.structs.replace(lesson.document, id="reas:login"))


_PATTERNS = [
    _pattern(steps, score, at, text)
    for steps in (1, 2)
    for score, at, text in ((0.85, 1.0, "OAuth2"), (0.95, 2.0, "basic"), (0.95, 2.0, "token"), (0.85, 8.0, "OAuth1"))
]
_REASONING = [
    ChunkKey("", "login", "reasoning", fingerprint(line.document.content.subgoals).hex()) for line in _PATTERNS[::4]
]

_moments = st.integers(0, 3).map(lambda at: NOON + at)
_shares = st.sampled_from([0.25, 1.0])


def _about(chunk: ChunkKey) -> tuple[st.SearchStrategy[ExportLine], ...]:
    return (
        st.builds(AccessLine, st.just(chunk), _moments, st.sampled_from(["success", "partial"])),
        st.builds(BoostLine, st.just(chunk), st.just("r1"), _moments, _shares),
        st.builds(ArchivedLine, st.just(chunk), _moments),
        st.builds(EscalatedLine, st.just(chunk), st.just("look"), _moments),
    )


def _run(id_: str, at: float, outcome: Literal["success", "failure"], score: float) -> RunLine:
    reasoning = _REASONING[0] if at > NOON + 1 else None
    return RunLine(id_, at, outcome, score, "Why does the login page flicker?", reasoning)


_outcomes: st.SearchStrategy[Literal["success", "failure"]] = st.sampled_from(["success", "failure"])
_families: tuple[tuple[st.SearchStrategy[ExportLine], ...], ...] = (
    _about(_CODE[0])[:2],
    _about(_CODE[0])[2:],
    (_about(_CODE[1])[0], _about(_CODE[1])[2]),
    (st.sampled_from(_PATTERNS[:4]), _about(_REASONING[0])[0], _about(_REASONING[0])[2]),
    (st.sampled_from(_PATTERNS), *_about(_REASONING[1])),
    (st.builds(UseLine, st.sampled_from(_REASONING), st.just(_CODE[0]), _shares), st.sampled_from(_PATTERNS)),
    (st.builds(_run, st.just("r1"), _moments, _outcomes, _shares), st.just(_PATTERNS[0])),
    (
        st.builds(
            DifficultLine,
            st.just("flicker login page"),
            st.just("Why does the login page flicker?"),
            st.integers(1, 3),
            _shares,
            _moments,
        ),
        st.builds(_run, st.just("r2"), _moments, _outcomes, _shares),
    ),
    (
        st.builds(
            DeliverableLine,
            st.sampled_from(["e1", "e2"]),
            st.just("c"),
            st.just(NOON),
            st.just(NOON),
            st.just("cli"),
            st.just(msgspec.Raw(b"{}")),
        ),
    ),
)
"""Kinds of line that speak of the same rows: two of one family are likely to be of two minds."""

_lines = st.sampled_from(_families).flatmap(lambda family: st.lists(st.one_of(*family), min_size=2, max_size=6))
_all_lines = st.lists(_lines, min_size=1, max_size=3).map(lambda several: [each for some in several for each in some])


async def _taught(path: Path, parts: Sequence[Sequence[ExportLine]]) -> tuple[dict[str, Any], int]:
    """What a memory knows that took some lines in, and how many wait still."""
    store = await Store.open(path)
    try:
        waiting: tuple[ExportLine, ...] = ()
        for part in parts:
            waiting = (await store.take_in_lines((*waiting, *part), NOON + 100)).waiting
    finally:
        await store.close()
    return _versionless(learned(path)), len(set(map(write_line, waiting)))


def _versionless(known: dict[str, Any]) -> dict[str, Any]:
    """Versions of a pattern are numbered in the order of their coming: what tells them apart is their fingerprint."""
    tell = {row[1]: f"#{row[4].hex()}" for row in known["documents"]}
    known = known | {"documents": [(*row[:3], *row[4:]) for row in known["documents"]]}

    def told(value: Any) -> Any:
        if isinstance(value, str):
            for name in sorted(tell, key=len, reverse=True):
                if value == name:
                    return tell[name]
                value = value.replace(f'"reas:{name}"', f'"{tell[name]}"')
        return "" if value is None else value

    return {name: sorted(tuple(told(each) for each in row) for row in rows) for name, rows in known.items()}


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_all_lines, st.randoms(use_true_random=False), st.data())
def test_any_order_repetition_and_split_makes_the_same_memory(
    tmp_path_factory: pytest.TempPathFactory, lines: list[ExportLine], chance: random.Random, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("union")
    shuffled = lines * 2
    chance.shuffle(shuffled)
    parts: list[list[ExportLine]] = []
    while shuffled:
        size = data.draw(st.integers(1, 12))
        parts.append(shuffled[:size])
        shuffled = shuffled[size:]
    whole = asyncio.run(_taught(folder / "whole.db", [lines]))
    assert asyncio.run(_taught(folder / "parts.db", parts)) == whole


async def test_lines_go_through_a_record_into_another_memory_and_wait_for_their_pattern(tmp_path: Path) -> None:
    boost = BoostLine(_REASONING[1], "r1", NOON, 0.5)
    use = AccessLine(_CODE[0], NOON, "success")
    drafts = [
        EntryDraft(str(each.__struct_config__.tag), write_line(each).decode().rstrip(), NOON) for each in (boost, use)
    ]
    record = await asyncio.to_thread(Record.open, tmp_path / "records" / "r.db", "a" * 32, "ann", "m")
    store = await new_store(tmp_path / "there.db")
    try:
        await asyncio.to_thread(record.append, drafts)
        came = [line_of(entry.body) for _, entry in await asyncio.to_thread(record.after, 0)]
        first = await store.take_in_lines(came, NOON)
        assert first.waiting == (boost,)
        assert first.added == {"access": 1}
        second = await store.take_in_lines([*first.waiting, *came, _PATTERNS[4]], NOON)
        assert second.waiting == ()
        assert second.added == {"reasoning": 1, "boost": 1}
        assert (await store.take_in_lines([*came, _PATTERNS[4]], NOON)).added == {}
    finally:
        await store.close()
        await asyncio.to_thread(record.close)


def test_a_workspace_below_the_top_takes_what_is_below_it() -> None:
    use = UseLine(_REASONING[0], ChunkKey("a.py", "f", "function", "00"), 0.5)
    there = in_repository(use, "services/pay")
    assert isinstance(there, UseLine)
    assert (there.chunk.path, there.reasoning) == ("services/pay/a.py", use.reasoning)
    assert in_workspace(there, "services/pay") == use
    assert in_workspace(there, "services/pa") is None
    assert in_workspace(there, "") == there == in_repository(there, "")
    assert in_workspace(_PATTERNS[0], "services/pay") == _PATTERNS[0]
