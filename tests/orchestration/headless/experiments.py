"""Experiments of headless mode, and runs that give what they are told to: without what a test needs besides, since a
process of its own makes some.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from aurora_orchestration.headless.loop import Headless
from aurora_orchestration.run_record import Mode, RunRecord
from aurora_orchestration.settings import HeadlessSettings
from aurora_orchestration.types import ModelCall, Usage

NOON = datetime(2026, 1, 2, 12, 0, 0)


def headless(root: Path, **changes: Any) -> Headless:
    usual = Headless(
        root=root,
        settings=HeadlessSettings(),
        prompt=root / "headless" / "prompt.md",
        scratchpad=root / "headless" / "scratchpad.md",
        lock=root.parent / "locks" / "headless.lock",
        now=lambda: NOON,
    )
    return msgspec.structs.replace(usual, **changes)


def answered(answer: str, cost: float = 0.1, **changes: Any) -> RunRecord:
    call = ModelCall(
        phase="synthesize",
        purpose="synthesize",
        role="reasoning",
        provider="anthropic",
        model="m",
        usage=Usage(),
        cost_usd=cost,
        counted_usd=cost,
        started_at=0.0,
        took_ms=1.0,
    )
    record = RunRecord(
        id="aurora-1",
        query="q",
        workspace="w",
        started_at=0,
        ended_at=1,
        state="complete",
        answer=answer,
        calls=(call,),
    )
    return msgspec.structs.replace(record, **changes)


class Runs:
    """A run that gives these answers in turn, the last one for ever, and keeps what it was asked."""

    def __init__(self, *records: RunRecord, then: Callable[[], None] = lambda: None) -> None:
        self.records = list(records)
        self.asked: list[str] = []
        self.then = then

    async def __call__(self, query: str, mode: Mode) -> RunRecord:
        assert mode == "headless"
        self.asked.append(query)
        self.then()
        return self.records[min(len(self.asked), len(self.records)) - 1]
