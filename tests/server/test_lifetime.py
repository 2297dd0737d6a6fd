"""The end of a process that serves: what cannot be closed keeps nothing else from being closed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aurora_server.daemon.lifetime import close_core


async def test_each_step_of_closing_is_taken_whatever_became_of_the_others(caplog: pytest.LogCaptureFixture) -> None:
    taken: list[str] = []

    async def fine() -> None:
        taken.append("fine")

    async def broken() -> None:
        taken.append("broken")
        raise OSError("the disk is full")

    core: Any = SimpleNamespace(last_steps=lambda: (fine, broken, fine))
    await close_core(core)
    assert taken == ["fine", "broken", "fine"]
    assert [each.message for each in caplog.records] == ["something could not be closed"]
